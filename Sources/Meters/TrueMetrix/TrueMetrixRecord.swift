// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One record of the TRUE METRIX: twelve characters.
///
/// The tags 1 (before a meal), 2 (after a meal) and 5 (medication) are those of a capture that agrees with the vendor's
/// own log-book in 86 of 86 rows. Tidepool's reader takes every tag but 0 for a control test, which cannot be right for
/// these; so the tag of a control test is not known.
struct TrueMetrixRecord: Hashable {
  /// The test.
  let reading: MeterReading
  /// What else the tag says, for people; empty where it says nothing.
  let remark: String
  /// The tag where its meaning is not known: one hexadecimal digit; else nil.
  let unknownTag: String?

  /// The record in these characters, or why they are none.
  static func parse(_ text: String) -> Result<TrueMetrixRecord, TrueMetrixRejection> {
    let digits = text.utf8.compactMap(hexadecimal)
    guard digits.count == 12, text.utf8.count == 12 else {
      return .failure(TrueMetrixRejection("the record has an unknown form"))
    }
    // Day and year, then hour and minute: each pair as one number whose decimal digits count.
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

  /// The sum that the meter states behind its records: of the characters of all of them, in 16 bits.
  static func checksum(_ records: [String]) -> UInt16 {
    records.reduce(0) { $1.utf8.reduce($0) { $0 &+ UInt16($1) } }
  }

  /// mg/dL whatever the meter shows; its manual says LO below 20 and HI above 600.
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

/// Why a record is not taken.
struct TrueMetrixRejection: Error, Hashable {
  /// What is wrong, without the record's values.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
