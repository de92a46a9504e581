// SPDX-License-Identifier: Apache-2.0

/// A HID report of FreeStyle meters: a type, a length, and at most 62 bytes. The rest of the report holds bytes of
/// earlier ones and is ignored.
struct FreeStyleReport: Hashable {
  /// The number of bytes that one report carries.
  static let maxPayload = 62
  /// Begins a session; the answer is `ready`.
  static let begin: UInt8 = 0x01
  /// A part of a text.
  static let text: UInt8 = 0x60
  /// The type of text reports in the manufacturer's software, and the only one known to work with a Libre Pro.
  static let vendorText: UInt8 = 0x21
  /// May arrive between any two reports, and is ignored.
  static let keepAlive: UInt8 = 0x22
  /// The meter does not know messages of that type.
  static let unknownType: UInt8 = 0x30
  /// The answer about an encrypted session. Readers that require one answer all texts with it.
  static let encryption: UInt8 = 0x33
  /// The answer to `begin`.
  static let ready: UInt8 = 0x71

  let type: UInt8
  let payload: [UInt8]

  /// A report with this payload of at most `maxPayload` bytes.
  init(_ type: UInt8, _ payload: [UInt8] = []) {
    self.type = type
    self.payload = Array(payload.prefix(Self.maxPayload))
  }

  /// Parses a report; nil if it is shorter than it states.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[1] <= Self.maxPayload, bytes.count >= 2 + Int(bytes[1]) else { return nil }
    type = bytes[0]
    payload = Array(bytes[2..<2 + Int(bytes[1])])
  }

  /// The report as sent, without padding.
  var bytes: [UInt8] { [type, UInt8(truncatingIfNeeded: payload.count)] + payload }
}
