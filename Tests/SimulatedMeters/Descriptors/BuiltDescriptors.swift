// SPDX-License-Identifier: Apache-2.0

/// Builds USB descriptors from the parts that differ between simulated devices.
enum BuiltDescriptors {
  /// An endpoint: its address with the direction bit, 2 for bulk or 3 for interrupt, and the size of its
  /// packets.
  struct Endpoint {
    var address: UInt8
    var type: UInt8
    var size: UInt8
    /// The bytes after the endpoint's own descriptor.
    var extra: [UInt8] = []

    var bytes: [UInt8] {
      [7, 5, address, type, size, 0, type == 3 ? 1 : 0] + extra
    }
  }

  /// The descriptor of a full-speed device. The index of a missing string is 0.
  static func device(
    vendorID: UInt16, productID: UInt16, deviceClass: UInt8 = 0, maker: UInt8 = 1, product: UInt8 = 2,
    serial: UInt8 = 3
  ) -> [UInt8] {
    [18, 1, 0x00, 0x02, deviceClass, 0, 0, 64] + little(vendorID) + little(productID)
      + [0x00, 0x01, maker, product, serial, 1]
  }

  /// The descriptor of an interface, followed by those of its class and its endpoints.
  static func interface(
    _ number: UInt8 = 0, class codes: (UInt8, UInt8, UInt8), string: UInt8 = 0, extra: [UInt8] = [],
    _ endpoints: [Endpoint]
  ) -> [UInt8] {
    [9, 4, number, 0, UInt8(endpoints.count), codes.0, codes.1, codes.2, string] + extra
      + endpoints.flatMap(\.bytes)
  }

  /// The descriptor of the only configuration, followed by those of its interfaces.
  static func configuration(_ interfaces: [[UInt8]], string: UInt8 = 0, attributes: UInt8 = 0x80) -> [UInt8] {
    let body = interfaces.flatMap { $0 }
    return [9, 2] + little(UInt16(body.count + 9)) + [UInt8(interfaces.count), 1, string, attributes, 50]
      + body
  }

  /// The descriptor of a HID interface, whose report descriptor has this many bytes.
  static func hid(reportBytes: Int) -> [UInt8] {
    [9, 0x21, 0x11, 0x01, 0, 1, 0x22] + little(UInt16(reportBytes))
  }

  private static func little(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }
}

extension [UInt8] {
  /// Takes at most this many bytes from the front.
  mutating func takeFirst(_ maxBytes: Int) -> [UInt8] {
    let taken = Array(prefix(maxBytes))
    removeFirst(taken.count)
    return taken
  }
}
