// SPDX-License-Identifier: Apache-2.0

/// How a simulated meter is connected.
package enum SimulatedConnection {
  case usb(any SimulatedMeter)
  /// A serial line. Its USB chip has a driver in the kernel, which provides a terminal.
  case line(any SimulatedLine)
  /// A connection by Bluetooth.
  case radio(SimulatedGlucoseMeter)
}

/// The simulated meters of one driver.
package struct SimulatedFamily: Sendable, CustomStringConvertible {
  /// The driver's id.
  package let driver: String
  /// The name that distinguishes several meters of one driver.
  package let variant: String
  /// The number of readings in a full memory, or a smaller number for which a test has time.
  package let capacity: Int
  /// Whether a driver can detect a changed bit of a reading. A protocol without checksums relies on those of
  /// USB.
  package let hasChecksums: Bool
  /// Whether the meter answers only one session after it was plugged in.
  package let answersOnce: Bool
  /// Whether the meter can store an item.
  package let holds: @Sendable (SimulatedItem) -> Bool
  /// Makes a meter with this memory.
  package let make: @Sendable (SimulatedMemory) -> SimulatedConnection

  package init(
    _ driver: String, variant: String = "", capacity: Int = 300, hasChecksums: Bool = true,
    answersOnce: Bool = false,
    holds: @escaping @Sendable (SimulatedItem) -> Bool,
    make: @escaping @Sendable (SimulatedMemory) -> SimulatedConnection
  ) {
    self.driver = driver
    self.variant = variant
    self.capacity = capacity
    self.hasChecksums = hasChecksums
    self.answersOnce = answersOnce
    self.holds = holds
    self.make = make
  }

  package var description: String { variant.isEmpty ? driver : "\(driver) (\(variant))" }
}

/// Every simulated meter. The driver suite tests each meter in this list.
package enum SimulatedRegister {
  package static let all = plugged + radio

  /// Every meter with a plug.
  package static let plugged: [SimulatedFamily] = [
    SimulatedFamily("contour", holds: SimulatedContour.holds) { .usb(SimulatedContour($0)) },
    SimulatedFamily("contour", variant: "Next Link, mmol/L", holds: SimulatedContour.holds) {
      .usb(SimulatedContour($0, variant: .nextLinkMillimoles))
    },
    SimulatedFamily("contour", variant: "Next One", holds: SimulatedContour.holds) {
      .usb(SimulatedContour($0, variant: .nextOne))
    },
    freeStyle("freestyle-libre", .libre),
    freeStyle("freestyle-libre", .librePro),
    libre(fieldCount: 29), libre(fieldCount: 41), freeStyle("freestyle-neo", .precisionNeo),
    freeStyle("freestyle-insulinx", .insuLinx),
    SimulatedFamily("onetouch-verio", holds: SimulatedOneTouchDisk.holds) {
      .usb(SimulatedOneTouchDisk($0))
    },
    SimulatedFamily("onetouch-verio", variant: "with a product text", holds: SimulatedOneTouchDisk.holds) {
      .usb(SimulatedOneTouchDisk($0, model: .verioFlex, product: "OneTouch Verio"))
    },
    SimulatedFamily("onetouch-verio-iq", holds: SimulatedVerioIQ.holds) { .line(SimulatedVerioIQ($0)) },
    SimulatedFamily("onetouch-ultra2", capacity: 150, holds: SimulatedUltra2.holds) {
      .line(SimulatedUltra2($0))
    },
    SimulatedFamily("onetouch-ultra2", variant: "Ultra", capacity: 150, holds: SimulatedUltra2.holds) {
      .line(SimulatedUltra2($0, model: .ultra))
    },
    SimulatedFamily("onetouch-ultraeasy", holds: SimulatedUltraEasy.holds) { .line(SimulatedUltraEasy($0)) },
    SimulatedFamily(
      "accu-chek-guide", hasChecksums: false, answersOnce: true, holds: SimulatedRochePHDC.holds
    ) {
      .usb(SimulatedRochePHDC($0))
    },
    SimulatedFamily(
      "accu-chek-guide", variant: "0 for every part", hasChecksums: false, answersOnce: true,
      holds: SimulatedRochePHDC.holds
    ) {
      .usb(SimulatedRochePHDC($0, namesInstances: false))
    },
    SimulatedFamily("accu-chek-mobile", hasChecksums: false, holds: SimulatedAccuChekMobile.holds) {
      .usb(SimulatedAccuChekMobile($0))
    },
    SimulatedFamily(
      "accu-chek-mobile", variant: "12 columns, ready late", hasChecksums: false,
      holds: SimulatedAccuChekMobile.holds
    ) {
      .usb(SimulatedAccuChekMobile($0, columns: .twelve, refusals: 11))
    },
    SimulatedFamily("taidoc", holds: SimulatedTaiDoc.holds) { .usb(SimulatedTaiDoc($0)) },
    SimulatedFamily("true-metrix", holds: SimulatedTrueMetrix.holds) { .usb(SimulatedTrueMetrix($0)) },
    SimulatedFamily("glucomen-areo", holds: SimulatedAreo.holds) { .line(SimulatedAreo($0)) },
    SimulatedFamily("glucomen-areo", variant: "GK", holds: SimulatedAreoGK.holds) {
      .usb(SimulatedAreoGK($0))
    },
    SimulatedFamily("dexcom-g4", holds: SimulatedDexcomG4.holds) { .usb(SimulatedDexcomG4($0)) },
  ]

  private static func libre(fieldCount: Int) -> SimulatedFamily {
    SimulatedFamily(
      "freestyle-libre", variant: "rows of \(fieldCount) fields",
      holds: { SimulatedFreeStyle.holds($0, variant: .libre) }
    ) {
      let meter = SimulatedFreeStyle($0, variant: .libre)
      meter.libreFieldCount = fieldCount
      return .usb(meter)
    }
  }

  private static func freeStyle(_ driver: String, _ variant: SimulatedFreeStyle.Variant) -> SimulatedFamily {
    SimulatedFamily(driver, variant: "\(variant)", holds: { SimulatedFreeStyle.holds($0, variant: variant) })
    {
      .usb(SimulatedFreeStyle($0, variant: variant))
    }
  }
}
