// SPDX-License-Identifier: Apache-2.0

extension MeterDriver {
  /// Whether the driver reads meters by Bluetooth. They have no USB ids, so it lists no models.
  public static var usesBluetooth: Bool { models.isEmpty }

  /// The model with these ids; nil if the driver does not know them.
  public static func knownModel(_ vendorID: UInt16, _ productID: UInt16) -> MeterModel? {
    models.first { $0.vendorID == vendorID && $0.productID == productID }
  }

  /// A model for ids that the driver does not know, over a link of this kind; nil if the driver has no such link.
  ///
  /// The bytes for one serial line are correct for another with the same settings. The chip in a cable is not part of
  /// the protocol.
  public static func model(_ vendorID: UInt16, _ productID: UInt16, over kind: MeterLink.Kind) -> MeterModel?
  {
    let alike = models.filter { $0.link.kind == kind }
    let template = alike.first { $0.obstacle == nil } ?? alike.first
    let line = models.lazy.compactMap(\.link.line).first
    let link =
      switch kind {
      case .cdc: template?.link ?? line.map { .cdc($0) }
      case .terminal: template?.link ?? line.map { .terminal($0) }
      default: template?.link
      }
    return link.map {
      MeterModel(name, vendorID: vendorID, productID: productID, link: $0, obstacle: template?.obstacle)
    }
  }
}

extension MeterModel {
  /// USB ids in the notation that is usual on Linux: `1a79:7410`.
  package static func ids(_ vendorID: UInt16, _ productID: UInt16) -> String {
    digits(vendorID) + ":" + digits(productID)
  }

  /// A USB id in the notation of udev.
  package static func digits(_ id: UInt16) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
