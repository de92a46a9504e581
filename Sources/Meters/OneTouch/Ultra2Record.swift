// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One line of an Ultra2's dump: `P "DOW","mm/dd/yy","hh:mm:ss   ","cvvvvf","m","nn", 00`.
enum Ultra2Record: Hashable {
  /// A reading and the person's remark, which may be empty.
  case reading(MeterReading, remark: String)
  /// A record that is not a reading, with the name under which it is counted.
  case skipped(String)
  /// A line that could not be parsed.
  case rejected(String)

  /// The texts of a person's remarks, by their numbers from 01 on.
  private static let remarks = [
    "not enough food", "too much food", "mild exercise", "hard exercise", "medication", "stress", "illness",
    "feel hypo", "menses", "vacation", "other",
  ]

  /// Parses a line without its checksum. Older meters write neither meal nor remark.
  init(_ text: String) {
    guard text.hasPrefix("P "), let fields = Ultra2Line.quoted(text), fields.count == 4 || fields.count == 6
    else {
      self = .rejected("the line has an unknown form")
      return
    }
    guard let time = Ultra2Line.time(fields[1], fields[2]) else {
      self = .rejected("invalid time")
      return
    }
    self = Self.result(fields[3], at: time, meal: fields.count > 4 ? fields[4] : "N")
    if case .reading(let reading, _) = self, fields.count > 5, let number = Int(fields[5]),
      Self.remarks.indices.contains(number - 1)
    {
      self = .reading(reading, remark: Self.remarks[number - 1])
    }
  }
}

extension Ultra2Record {
  /// Parses the six characters of a result: the tested item, a blank, three digits, and `?` if the record is
  /// damaged.
  private static func result(_ text: String, at time: DeviceTime, meal: String) -> Self {
    if text.hasSuffix("?") { return .rejected("a record that the meter marks as damaged") }
    // The word for a value above the range may follow the code without a blank.
    let isHigh = ["HIGH", "REXC"].contains { text.trimmed.hasSuffix($0) }
    let code = isHigh ? text.trimmed.dropLast(4).trimmed : text.prefix(1).trimmed
    if code == "!" { return .skipped("check strip") }
    if code == "I" { return .skipped("entry of insulin or carbohydrates") }
    let measurement =
      isHigh
      ? high(code)
      : text.hasPrefix("MM") ? millimoles(text.dropFirst(2)) : milligrams(text.dropFirst().trimmed)
    guard let measurement else { return .rejected("the result is not a number") }
    var marks: ReadingMarks = []
    // Two languages of older meters spell the word for control with a K.
    if code == "C" || code == "K" { marks.insert(.controlSolution) }
    if meal == "B" { marks.insert(.beforeMeal) }
    if meal == "A" { marks.insert(.afterMeal) }
    return .reading(MeterReading(.smbg, at: time, measurement, marks: marks), remark: "")
  }

  /// The measurement of a value above the range; nil if the word for it follows an unknown code.
  private static func high(_ code: String) -> Measurement? {
    ["", "C", "K"].contains(code) ? OneTouchRecord.measurement(.max) : nil
  }

  private static func milligrams(_ text: String) -> Measurement? {
    guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text).map(OneTouchRecord.measurement)
  }

  private static func millimoles(_ text: Substring) -> Measurement? {
    let text = text.trimmed
    guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
      let number = Double(text)
    else { return nil }
    return .value(Quantity(number, .millimolesPerLitre))
  }
}

extension StringProtocol {
  /// The text without blanks at both ends.
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

/// One line of a OneTouch Ultra2: a text, a blank and the checksum, which is the sum of the text's
/// characters.
enum Ultra2Line {
  /// The maximum length of a line in bytes. The longest known line has 67.
  static let maxBytes = 128

  /// The text before the checksum; nil if the checksum is missing or wrong.
  static func text(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
    let line = Array(bytes)
    guard line.count > 5, line.count <= maxBytes, line[line.count - 5] == 0x20,
      let digits = line.suffix(4).printableText, !digits.contains(where: { "+-".contains($0) }),
      let sum = UInt16(digits, radix: 16)
    else { return nil }
    let text = line.dropLast(5)
    guard text.reduce(UInt16(0), { $0 &+ UInt16($1) }) == sum else { return nil }
    return text.printableText
  }

  /// The texts in quotes; nil if a quote is not closed.
  static func quoted(_ text: String) -> [String]? {
    let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count % 2 == 1 else { return nil }
    return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
  }

  /// The shown time of `mm/dd/yy` and `hh:mm:ss`; nil for anything else. Older meters write leading zeros as
  /// blanks.
  static func time(_ date: String, _ clock: String) -> DeviceTime? {
    guard let date = numbers(date, "/"), let clock = numbers(clock, ":"), date[2] < 100 else { return nil }
    return DeviceTime(
      year: 2000 + date[2], month: date[0], day: date[1], hour: clock[0], minute: clock[1], second: clock[2])
  }

  private static func numbers(_ text: String, _ separator: Character) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false).map { part in
      part.filter { $0 != " " }
    }
    let numbers = parts.compactMap {
      $0.utf8.count <= 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil
    }
    return parts.count == 3 && numbers.count == 3 ? numbers : nil
  }
}
