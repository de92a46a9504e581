// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Contour meters of Ascensia, once Bayer's: records of ASTM E1394 in frames of E1381 in HID reports.
///
/// A single source states that limits may be printed in tenths of mmol/L, and that doses are tenths of a unit. How a
/// Contour Next One ends a session also has one source. No source states the number that accompanies LO and HI.
struct ContourDriver: MeterDriver {
  static let id = "contour"
  static let name = "Ascensia (Bayer) Contour"
  static let canSetClock = true
  static let models: [MeterModel] = [
    model("Contour USB", product: 0x6002), model("Contour Next Link", product: 0x6200),
    model("Contour Next Link 2.4", product: 0x6210),
    model("Contour Next Link", product: 0x6300), model("Contour Next", product: 0x7350),
    model("Contour Next USB", product: 0x7410),
    model("Contour Next One or Plus One", product: 0x7800),
    model("Contour Next", product: 0x7900),
    model("Contour Plus Blue or Care", product: 0x7950),
    MeterModel(
      "Contour with Bayer's serial cable", vendorID: vendor, productID: 0x6001,
      link: .terminal(LineSettings(baud: 9600)),
      obstacle: "no recorded session of such a meter is known; 'glucoport meter record' can make one"),
  ]

  private static let vendor: UInt16 = 0x1A79

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let session = ContourSession(meter)
    defer { session.abandon() }
    return identity(try session.open(), meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = ContourSession(meter)
    do {
      let header = try session.open()
      let identity = identity(header, meter)
      try meter.onIdentity(identity)
      var memory = ContourMemory(identity, range: header.range)
      try session.readRecords { record in
        guard record.type == "R" else { return }
        memory.take(record)
        meter.noteProgress(memory.count, of: header.count)
      }
      session.finish()
      return checked(memory, announced: header.count)
    } catch {
      session.abandon()
      throw error
    }
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let parts = time.parts
    guard (2000...2099).contains(parts.year) else {
      throw Failure(.usage, "this meter accepts only the years 2000 to 2099")
    }
    let session = ContourSession(meter)
    defer { session.abandon() }
    _ = try session.open()
    try session.enterCommandMode()
    try set("D|", [parts.year % 100, parts.month, parts.day], session)
    try set("T|", [parts.hour, parts.minute], session)
  }
}

extension ContourDriver {
  private static func model(_ name: String, product: UInt16) -> MeterModel {
    MeterModel(name, vendorID: vendor, productID: product, link: .hid)
  }

  private func identity(_ header: ContourHeader, _ meter: MeterConnection) -> MeterIdentity {
    MeterIdentity(
      device: Device(vendor: "Ascensia", model: header.model, serial: header.serial, format: Self.id),
      firmware: header.firmware, clock: header.clock.map(meter.compareClock), count: header.count)
  }

  private func checked(_ memory: ContourMemory, announced: Int?) -> MeterContents {
    var contents = memory.contents
    if let announced, announced != memory.count {
      contents.warnings.append("the meter announced \(announced) results and sent \(memory.count)")
    }
    return contents
  }

  /// A Contour Next Link that is paired with a pump uses the pump's clock, and refuses to set its own.
  private func set(_ subject: String, _ numbers: [Int], _ session: ContourSession) throws {
    let digits = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
    for text in ["W|", subject, digits + "|\r"] {
      guard try session.command(text, "setting the clock") else {
        throw Failure(
          .usage,
          "setting the clock: the meter does not let it be set; a paired pump sets it, if there is one")
      }
    }
  }
}
