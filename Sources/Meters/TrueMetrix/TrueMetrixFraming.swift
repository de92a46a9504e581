// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A message of the TRUE METRIX: `(content)CC`. CC is the low byte of the sum of all characters up to the
/// closing bracket, inclusive, in two upper-case hexadecimal digits.
enum TrueMetrixMessage: Hashable {
  /// The text between the brackets.
  case content(String)
  /// A message with a wrong checksum or without an end.
  case broken

  /// The maximum number of characters between the brackets. The longest known content, which sets the clock,
  /// has 15.
  private static let maxContent = 64

  /// A message with this content, as sent to the meter.
  static func bytes(_ content: String) -> [UInt8] {
    let text = Array("(\(content))".utf8)
    return text + sum(text)
  }

  /// The first complete message, which is removed with the bytes before it; nil if there is none.
  static func next(in bytes: inout [UInt8]) -> TrueMetrixMessage? {
    bytes.removeFirst(bytes.firstIndex(of: 0x28) ?? bytes.count)
    guard let end = bytes.firstIndex(of: 0x29) else {
      guard bytes.count > maxContent else { return nil }
      bytes.removeFirst()
      return .broken
    }
    guard end + 2 < bytes.count else { return nil }
    let text = Array(bytes[...end])
    let stated = Array(bytes[end + 1...end + 2])
    let isWhole = end <= maxContent && stated == sum(text)
    bytes.removeFirst(isWhole ? end + 3 : 1)
    return isWhole ? .content(String(decoding: text.dropFirst().dropLast(), as: UTF8.self)) : .broken
  }

  private static func sum(_ text: [UInt8]) -> [UInt8] {
    let sum = text.reduce(UInt8(0), &+)
    return Array(((sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true)).utf8)
  }
}

/// One record of the TRUE METRIX: twelve characters.
///
/// The known tags are 1 (before a meal), 2 (after a meal) and 5 (medication). They are from a capture that
/// agrees with the vendor's logbook in 86 of 86 rows. Tidepool's program takes every tag except 0 for a
/// control test, which contradicts these rows. So the tag of a control test is unknown.
struct TrueMetrixRecord: Hashable {
  /// The reading of the test.
  let reading: MeterReading
  /// The part of the tag's meaning that no mark expresses, as text for people; may be empty.
  let remark: String
  /// The tag as one hexadecimal digit if its meaning is unknown; else nil.
  let unknownTag: String?

  static func parse(_ text: String) -> Result<TrueMetrixRecord, TrueMetrixRejection> {
    let digits = text.utf8.compactMap(hexadecimal)
    guard digits.count == 12, text.utf8.count == 12 else {
      return .failure(TrueMetrixRejection("the record has an unknown form"))
    }
    // Day and year are one number, hour and minute another; their decimal digits are split.
    let date = number(digits[1...3])
    let clock = number(digits[4...6])
    guard
      let time = DeviceTime(
        year: 2000 + date % 100, month: digits[0], day: date / 100, hour: clock / 100, minute: clock % 100)
    else { return .failure(TrueMetrixRejection("invalid time")) }
    guard let measurement = measurement((digits[7] & 7) << 8 | digits[8] << 4 | digits[9]) else {
      return .failure(TrueMetrixRejection("the value is zero"))
    }
    let tag = digits[11]
    let marks: ReadingMarks = tag == 1 ? .beforeMeal : tag == 2 ? .afterMeal : []
    let unknown = [0, 1, 2, 5].contains(tag) ? nil : String(tag, radix: 16, uppercase: true)
    let remark = tag == 5 ? "medication" : unknown.map { "unknown tag \($0)" } ?? ""
    return .success(
      TrueMetrixRecord(
        reading: MeterReading(.smbg, at: time, measurement, marks: marks), remark: remark, unknownTag: unknown
      ))
  }

  /// The 16-bit sum of the characters of all records, which the meter states after them.
  static func checksum(_ records: [String]) -> UInt16 {
    records.reduce(0) { $1.utf8.reduce($0) { $0 &+ UInt16($1) } }
  }

  /// The measurement for a value in mg/dL, whatever unit the meter shows; nil for 0. The meter's manual
  /// states LO below 20 and HI above 600.
  private static func measurement(_ value: Int) -> Measurement? {
    switch value {
    case 0: nil
    case ..<20: .low(below: 20, .milligramsPerDecilitre)
    case ...600: .value(Quantity(Double(value), .milligramsPerDecilitre))
    default: .high(above: 600, .milligramsPerDecilitre)
    }
  }

  private static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 << 4 | $1 } }

  private static func hexadecimal(_ byte: UInt8) -> Int? { Character(UnicodeScalar(byte)).hexDigitValue }
}

/// Why a record is rejected.
struct TrueMetrixRejection: Error, Hashable {
  /// The reason, without the record's values.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
