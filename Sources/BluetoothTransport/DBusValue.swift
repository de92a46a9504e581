// SPDX-License-Identifier: Apache-2.0

/// A value in a D-Bus message, of one of the types that BlueZ uses.
indirect enum DBusValue: Hashable, Sendable {
  case string(String)
  case objectPath(String)
  case bool(Bool)
  case byte(UInt8)
  case uint16(UInt16)
  case uint32(UInt32)
  /// Any other whole number.
  case integer(Int64)
  case bytes([UInt8])
  case array([DBusValue])
  /// A dictionary whose keys are texts. BlueZ uses no other keys.
  case dictionary([String: DBusValue])
  case variant(DBusValue)
  /// Objects by path, with their interfaces and properties. Values of this type are only sent, not received.
  case objects([String: [String: [String: DBusValue]]])
  /// A file descriptor that the receiver must close.
  case descriptor(Int32)
  /// A value of a type that BlueZ does not use.
  case other

  /// The text or the path; nil for a value of another type.
  var text: String? {
    switch plain {
    case .string(let text), .objectPath(let text): text
    default: nil
    }
  }

  /// The Boolean; nil for a value of another type.
  var flag: Bool? { if case .bool(let flag) = plain { flag } else { nil } }

  /// The bytes; nil for a value of another type.
  var bytes: [UInt8]? { if case .bytes(let bytes) = plain { bytes } else { nil } }

  /// The entries of a dictionary; nil for a value of another type.
  var entries: [String: DBusValue]? {
    if case .dictionary(let entries) = plain { entries } else { nil }
  }

  /// The texts of an array; nil for a value of another type.
  var texts: [String]? {
    if case .array(let values) = plain { values.compactMap(\.text) } else { nil }
  }

  /// The value inside a variant; any other value itself.
  private var plain: DBusValue { if case .variant(let value) = self { value.plain } else { self } }
}

struct DBusMessage: Sendable {
  enum MessageKind: Int32, Sendable {
    case call = 1
    case answer = 2
    case error = 3
    case signal = 4
  }

  let kind: MessageKind
  let path: String
  let interface: String
  let member: String
  /// The serial number of the call to which it is an answer.
  let replySerial: UInt32
  /// The name of an error, such as `org.bluez.Error.AuthenticationFailed`.
  let errorName: String
  let arguments: [DBusValue]
}

/// The error of a failed method call.
struct DBusError: Error, Hashable {
  /// The name of the error.
  let name: String
  /// The message of the service about the error.
  let words: String
}
