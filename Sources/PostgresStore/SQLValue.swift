// SPDX-License-Identifier: Apache-2.0

/// A parameter of an SQL statement in PostgreSQL's binary format.
struct SQLValue {
  /// The object id of the value's type; see `pg_type.dat` of PostgreSQL.
  let type: UInt32
  /// The bytes of the value; nil for NULL.
  let bytes: [UInt8]?

  private enum TypeNumber {
    static let (bytes, int8, text, double): (UInt32, UInt32, UInt32, UInt32) = (17, 20, 25, 701)
    static let (bytesArray, int8Array, textArray, doubleArray): (UInt32, UInt32, UInt32, UInt32) = (
      1001, 1016, 1009, 1022
    )
  }

  /// A whole number; NULL for nil.
  static func integer(_ value: Int64?) -> SQLValue {
    SQLValue(type: TypeNumber.int8, bytes: value.map { bigEndian(UInt64(bitPattern: $0)) })
  }

  /// A text; NULL for nil.
  static func text(_ value: String?) -> SQLValue {
    SQLValue(type: TypeNumber.text, bytes: value.map { Array($0.utf8) })
  }

  /// A value of type `bytea`.
  static func data(_ value: [UInt8]) -> SQLValue { SQLValue(type: TypeNumber.bytes, bytes: value) }

  /// An array of whole numbers.
  static func integers(_ values: [Int64]) -> SQLValue {
    SQLValue(
      type: TypeNumber.int8Array,
      bytes: array(of: TypeNumber.int8, count: values.count, elementBytes: 12) { out in
        for value in values {
          append(UInt32(8), to: &out)
          append(UInt64(bitPattern: value), to: &out)
        }
      })
  }

  /// An array of numbers of type `double precision`; nil becomes NULL.
  static func numbers(_ values: [Double?]) -> SQLValue {
    SQLValue(
      type: TypeNumber.doubleArray,
      bytes: array(of: TypeNumber.double, count: values.count, elementBytes: 12, hasNull: true) { out in
        for value in values {
          guard let value else {
            append(UInt32.max, to: &out)
            continue
          }
          append(UInt32(8), to: &out)
          append(value.bitPattern, to: &out)
        }
      })
  }

  /// An array of texts.
  static func texts(_ values: [String]) -> SQLValue {
    SQLValue(
      type: TypeNumber.textArray,
      bytes: array(of: TypeNumber.text, count: values.count, elementBytes: 40) { out in
        for value in values {
          append(UInt32(value.utf8.count), to: &out)
          out += value.utf8
        }
      })
  }

  /// An array of values of type `bytea`.
  static func data(_ values: [[UInt8]]) -> SQLValue {
    SQLValue(
      type: TypeNumber.bytesArray,
      bytes: array(of: TypeNumber.bytes, count: values.count, elementBytes: 36) { out in
        for value in values {
          append(UInt32(value.count), to: &out)
          out += value
        }
      })
  }
}

extension SQLValue {
  /// An array with one dimension, whose first index is 1; see `array_recv` of PostgreSQL.
  private static func array(
    of element: UInt32, count: Int, elementBytes: Int, hasNull: Bool = false,
    _ elements: (inout [UInt8]) -> Void
  ) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(20 + count * elementBytes)
    append(UInt32(count == 0 ? 0 : 1), to: &out)
    append(UInt32(hasNull ? 1 : 0), to: &out)
    append(element, to: &out)
    guard count > 0 else { return out }
    append(UInt32(count), to: &out)
    append(UInt32(1), to: &out)
    elements(&out)
    return out
  }

  private static func append(_ value: some FixedWidthInteger, to out: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { out.append(contentsOf: $0) }
  }

  private static func bigEndian(_ value: UInt64) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
