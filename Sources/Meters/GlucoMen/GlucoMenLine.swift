// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One line of a GlucoMen areo's memory: `type,value,unit,marks,YYMMDD,HHMM`. Any field may have blanks around it.
enum GlucoMenLine: Hashable {
  case reading(MeterReading)
  /// A reading with marks of an unknown form.
  case readingWithoutMarks(MeterReading)
  /// Neither glucose nor ketone; with its name.
  case skipped(String)
  /// A line that could not be parsed, with the reason.
  case rejected(String)

  init(parsing text: String) {
    let fields = Self.fields(text)
    guard fields.count == 6 else {
      self = .rejected("a line with another number of fields")
      return
    }
    let kind: ReadingKind
    switch fields[0].lowercased() {
    case "glu": kind = .smbg
    case "ket": kind = .ketone
    default:
      let type = fields[0].filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(8)
      self = .skipped("measurement of the type '\(type)'")
      return
    }
    self = Self.reading(kind, fields)
  }

  /// The fields of a line, without the blanks around them.
  static func fields(_ line: String) -> [String] {
    line.split(separator: ",", omittingEmptySubsequences: false).map { field in
      String(field.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
  }

  /// A time in the meter's form: `YYMMDDHHMM`.
  static func text(_ time: DeviceTime) -> String {
    let p = time.parts
    return [p.year % 100, p.month, p.day, p.hour, p.minute].map { ($0 < 10 ? "0" : "") + String($0) }.joined()
  }
}

extension GlucoMenLine {
  private static func reading(_ kind: ReadingKind, _ fields: [String]) -> GlucoMenLine {
    guard let unit = GlucoseUnit(name: fields[2]) else { return .rejected("unknown unit") }
    guard let measurement = measurement(fields[1], unit) else {
      return .rejected("the value is not a number")
    }
    if kind == .smbg, measurement.quantity?.number == 0 { return .rejected("the value is zero") }
    guard let time = time(fields[4], fields[5]) else { return .rejected("invalid time") }
    guard fields[3].utf8.count == 2, let bits = UInt8(fields[3], radix: 16) else {
      return .readingWithoutMarks(MeterReading(kind, at: time, measurement))
    }
    var marks: ReadingMarks = []
    // Bit 01 is a mark of the person's choice and 08 is exercise: neither describes the value.
    if bits & 0x02 != 0 { marks.insert(.beforeMeal) }
    if bits & 0x04 != 0 { marks.insert(.afterMeal) }
    return .reading(MeterReading(kind, at: time, measurement, marks: marks))
  }

  private static func measurement(_ text: String, _ unit: GlucoseUnit) -> Measurement? {
    switch text.uppercased() {
    case "HI": return .high(above: nil, unit)
    case "LO": return .low(below: nil, unit)
    default:
      guard text.utf8.count <= 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
        let number = Double(text), number >= 0
      else { return nil }
      return .value(Quantity(number, unit))
    }
  }

  private static func time(_ date: String, _ clock: String) -> DeviceTime? {
    let digits = (date + clock).utf8.map { Int($0) - 0x30 }
    guard date.utf8.count == 6, clock.utf8.count == 4, digits.allSatisfy({ (0...9).contains($0) }) else {
      return nil
    }
    let pairs = stride(from: 0, to: 10, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
    return DeviceTime(year: 2000 + pairs[0], month: pairs[1], day: pairs[2], hour: pairs[3], minute: pairs[4])
  }
}
