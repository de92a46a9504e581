// SPDX-License-Identifier: Apache-2.0

extension MeterDriver {
  /// The model with these ids; nil where the driver does not know them.
  public static func knownModel(_ vendorID: UInt16, _ productID: UInt16) -> MeterModel? {
    models.first { $0.vendorID == vendorID && $0.productID == productID }
  }

  /// A model with ids that the driver does not know, reached over a link of this kind; nil where it has none like it.
  ///
  /// Bytes for one serial line suit another that is set the same: a cable's chip is no part of the protocol.
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
  /// USB ids as everything else on Linux writes them: `1a79:7410`.
  package static func ids(_ vendorID: UInt16, _ productID: UInt16) -> String {
    digits(vendorID) + ":" + digits(productID)
  }

  /// A USB id as udev writes it.
  package static func digits(_ id: UInt16) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
