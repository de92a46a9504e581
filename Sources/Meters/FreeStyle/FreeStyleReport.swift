// SPDX-License-Identifier: Apache-2.0

/// One HID report of the family: a type, a length, and at most 62 bytes. What follows them is left over from earlier
/// reports and means nothing.
struct FreeStyleReport: Hashable {
  /// How many bytes one report carries.
  static let maxPayload = 62
  /// Begins a session; the answer is `ready`.
  static let begin: UInt8 = 0x01
  /// A piece of a text.
  static let text: UInt8 = 0x60
  /// The form in which the maker's own software sends texts, the only one known of a Libre Pro.
  static let vendorText: UInt8 = 0x21
  /// Comes between any two reports and means nothing to a host.
  static let keepAlive: UInt8 = 0x22
  /// The meter knows no message of that type.
  static let unknownType: UInt8 = 0x30
  /// The answer about an encrypted session; a reader that wants one refuses all texts by it.
  static let encryption: UInt8 = 0x33
  /// The answer to `begin`.
  static let ready: UInt8 = 0x71

  let type: UInt8
  let payload: [UInt8]

  /// A report that carries these bytes, which are few enough for it.
  init(_ type: UInt8, _ payload: [UInt8] = []) {
    self.type = type
    self.payload = Array(payload.prefix(Self.maxPayload))
  }

  /// The report in these bytes; nil where it is too short or claims too much.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[1] <= Self.maxPayload, bytes.count >= 2 + Int(bytes[1]) else { return nil }
    type = bytes[0]
    payload = Array(bytes[2..<2 + Int(bytes[1])])
  }

  /// The report as it is sent, without padding.
  var bytes: [UInt8] { [type, UInt8(truncatingIfNeeded: payload.count)] + payload }
}
