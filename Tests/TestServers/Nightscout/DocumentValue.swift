// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A document of a Nightscout site, as in its database.
package typealias NightscoutDocument = [String: DocumentValue]

/// One JSON value.
package enum DocumentValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  /// An `_id` that the database made. JSON shows it as text, but it never equals a text with the same
  /// digits.
  case id(String)
  case array([DocumentValue])
  case object(NightscoutDocument)

  /// The error for invalid JSON.
  package struct Unreadable: Error {}

  /// Reads one JSON text with any value.
  package init(json: [UInt8]) throws {
    self = try Self(JSONSerialization.jsonObject(with: Data(json), options: [.fragmentsAllowed]))
  }

  private init(_ value: Any) throws {
    switch value {
    case is NSNull: self = .null
    case let text as String: self = .string(text)
    // Foundation decodes a JSON Boolean as a one-byte number, which distinguishes it from other numbers.
    case let number as NSNumber where number.objCType.pointee == CChar(UInt8(ascii: "c")):
      self = .bool(number.boolValue)
    case let number as NSNumber: self = .number(number.doubleValue)
    case let array as [Any]: self = .array(try array.map(Self.init))
    case let object as [String: Any]: self = .object(try object.mapValues(Self.init))
    default: throw Unreadable()
    }
  }

  /// A whole number, for example a time in milliseconds.
  package init(_ whole: Int64) { self = .number(Double(whole)) }
}

extension DocumentValue {
  /// The text of a string, or the digits of an `_id`; nil for any other value.
  package var text: String? {
    switch self {
    case .string(let text), .id(let text): text
    default: nil
    }
  }
  package var number: Double? { if case .number(let number) = self { number } else { nil } }
  package var whole: Int64? { number.flatMap { Int64(exactly: $0.rounded(.down)) } }
  package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
  package var array: [DocumentValue]? { if case .array(let array) = self { array } else { nil } }
  package var object: NightscoutDocument? { if case .object(let object) = self { object } else { nil } }

  /// A field of an object.
  package subscript(field: String) -> DocumentValue? { object?[field] }

  /// The JSON text, with the fields in the order of their names.
  package var json: String {
    switch self {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .number(let number): Self.text(number)
    case .string(let text), .id(let text): Self.quoted(text)
    case .array(let array): "[" + array.map(\.json).joined(separator: ",") + "]"
    case .object(let object):
      "{"
        + object.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + $0.value.json }
        .joined(separator: ",") + "}"
    }
  }

  /// The text of a number, without a fraction if it has none.
  static func text(_ number: Double) -> String {
    guard number.isFinite else { return "null" }
    return Int64(exactly: number).map(String.init) ?? String(number)
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\" + String(scalar)
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .number(Double(number)) }
  package init(floatLiteral number: Double) { self = .number(number) }
  package init(booleanLiteral bool: Bool) { self = .bool(bool) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral values: DocumentValue...) { self = .array(values) }
  package init(dictionaryLiteral fields: (String, DocumentValue)...) {
    self = .object(NightscoutDocument(fields) { $1 })
  }
}
