// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The report that an Accu-Chek Mobile keeps on its disk: a table of text.
///
/// The layout rests on one reader, whose rows another one's pattern confirms; the columns are taken by their place,
/// since their names may be in the meter's language. How LO and HI are written is not known: those very words are
/// taken.
struct AccuChekReport {
  /// The first field of the second line.
  var serial = ""
  /// When the report was made, as the meter showed it.
  var madeAt: DeviceTime?
  /// Glucose, in the order of the table.
  var readings: [MeterReading] = []
  /// Rows that cannot be understood.
  var rejections: [Rejection] = []
  /// Rows without a value, counted by name.
  var skipped: [String: Int] = [:]

  /// The report in a file's bytes; nil where its first lines are not those of a report.
  init?(parsing bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard lines.count >= 3 else { return nil }
    let head = Self.fields(lines[1])
    guard head.count >= 3, !head[0].isEmpty, Self.fields(lines[2]).count >= Self.columnCount else {
      return nil
    }
    serial = head[0]
    madeAt = Self.time(head[1], head[2])
    for (index, line) in lines.enumerated().dropFirst(3) where !Self.fields(line).allSatisfy(\.isEmpty) {
      read(Self.fields(line), line: Int64(index + 1))
    }
  }
}

extension AccuChekReport {
  private static var columnCount: Int { 10 }

  private mutating func read(_ row: [String], line: Int64) {
    guard row.count >= Self.columnCount else { return reject(line, "a row with too few columns") }
    guard !row[2].isEmpty else { return skipped["row without a result", default: 0] += 1 }
    guard let time = Self.time(row[0], row[1]) else { return reject(line, "a time that no calendar has") }
    guard let unit = GlucoseUnit(name: row[3]) else { return reject(line, "a unit that is not known") }
    guard let measurement = Self.measurement(row[2], unit) else {
      return reject(line, "a result that is no number")
    }
    var marks: ReadingMarks = []
    // Column 5 says that the value lies outside the person's range, column 6 is a mark of the person's own choice.
    let columns: [(Int, ReadingMarks)] = [
      (4, .temperatureWarning), (7, .beforeMeal), (8, .afterMeal), (9, .controlSolution),
    ]
    for (column, mark) in columns where !row[column].isEmpty { marks.formUnion(mark) }
    if marks.isSuperset(of: [.beforeMeal, .afterMeal]) {
      return reject(line, "marked as before and after a meal")
    }
    readings.append(MeterReading(.smbg, at: time, measurement, marks: marks))
  }

  private mutating func reject(_ line: Int64, _ reason: String) {
    rejections.append(Rejection(line: line, reason: reason))
  }

  private static func measurement(_ text: String, _ unit: GlucoseUnit) -> Measurement? {
    switch text.uppercased() {
    case "HI": return .high(above: nil, unit)
    case "LO": return .low(below: nil, unit)
    default:
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(text),
        number > 0,
        number.isFinite
      else { return nil }
      return .value(Quantity(number, unit))
    }
  }

  /// `01.02.2020` and `07:15`.
  private static func time(_ date: String, _ time: String) -> DeviceTime? {
    let day = date.split(separator: ".", omittingEmptySubsequences: false).map(number)
    let hour = time.split(separator: ":", omittingEmptySubsequences: false).map(number)
    guard day.count == 3, hour.count >= 2, let d = day[0], let m = day[1], let y = day[2], let h = hour[0],
      let minute = hour[1]
    else { return nil }
    return DeviceTime(year: y, month: m, day: d, hour: h, minute: minute)
  }

  private static func number(_ text: Substring) -> Int? {
    guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func fields(_ line: Substring) -> [String] {
    line.split(separator: ";", omittingEmptySubsequences: false).map { field in
      let blank: (Character) -> Bool = { $0.isWhitespace || $0 == "\u{FEFF}" || $0 == "\0" }
      return String(field.drop(while: blank).reversed().drop(while: blank).reversed())
    }
  }
}
