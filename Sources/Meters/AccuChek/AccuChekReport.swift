// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The report that an Accu-Chek Mobile keeps on its disk: a table of text.
///
/// The layout is known from one program that reads such reports, and from reports that people quote. How a
/// report writes LO and HI is unknown, so exactly the words `LO` and `HI` are accepted.
struct AccuChekReport {
  /// The meter's serial number: the first field of the second line.
  let serial: String
  /// When the report was made, as the meter showed it.
  let madeAt: DeviceTime?
  /// Glucose readings in the order of the table.
  private(set) var readings: [MeterReading] = []
  /// Rows that could not be parsed.
  private(set) var rejections: [Rejection] = []
  /// The numbers of rows without a value, by the reason.
  private(set) var skipped: [String: Int] = [:]
  /// The number of rows marked both as before and after a meal. Their values are kept without a meal mark.
  private(set) var contradictoryMarks = 0

  private let columns: AccuChekColumns

  /// Parses the bytes of a report's file.
  ///
  /// - Throws: `MalformedReport` if the first lines are not those of a report, or if its columns are unknown.
  init(parsing bytes: [UInt8]) throws(MalformedReport) {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard lines.count >= 3 else { throw MalformedReport("it has fewer than three lines") }
    let head = Self.fields(lines[1])
    guard head.count >= 3, !head[0].isEmpty else {
      throw MalformedReport("its second line does not hold serial number, date and time")
    }
    serial = head[0]
    madeAt = Self.time(head[1], head[2])
    let third = Self.fields(lines[2])
    let hasHeader = third.count < 2 || Self.time(third[0], third[1]) == nil
    columns =
      hasHeader ? try AccuChekColumns(header: third) : try AccuChekColumns(count: third.count)
    for (index, line) in lines.enumerated().dropFirst(hasHeader ? 3 : 2)
    where !Self.fields(line).allSatisfy(\.isEmpty) {
      read(Self.fields(line), line: Int64(index + 1))
    }
  }
}

extension AccuChekReport {
  private mutating func read(_ row: [String], line: Int64) {
    guard row.count >= columns.count else { return reject(line, "a row with too few columns") }
    // Rows have one more semicolon than the header, so empty columns at the end are accepted.
    guard row[columns.count...].allSatisfy(\.isEmpty) else {
      return reject(line, "a row with more columns than the report")
    }
    let result = columns.text(.result, in: row)
    guard !result.isEmpty else { return skipped["row without a result", default: 0] += 1 }
    guard let time = Self.time(columns.text(.date, in: row), columns.text(.time, in: row)) else {
      return reject(line, "invalid time")
    }
    guard let unit = GlucoseUnit(name: columns.text(.unit, in: row)) else {
      return reject(line, "unknown unit")
    }
    guard let measurement = Self.measurement(result, unit) else {
      return reject(line, "the result is not a number")
    }
    readings.append(MeterReading(.smbg, at: time, measurement, marks: marks(of: row)))
  }

  /// The marks of a row. The columns `outOfRange` (outside the person's target range) and `other` (a mark of
  /// the person's choice) are ignored.
  private mutating func marks(of row: [String]) -> ReadingMarks {
    let named: [(AccuChekColumns.ReportColumn, ReadingMarks)] = [
      (.temperatureWarning, .temperatureWarning), (.beforeMeal, .beforeMeal), (.afterMeal, .afterMeal),
      (.fasting, .fasting), (.bedtime, .bedtime), (.controlTest, .controlSolution),
    ]
    var marks: ReadingMarks = []
    for (column, mark) in named where !columns.text(column, in: row).isEmpty { marks.formUnion(mark) }
    if marks.isSuperset(of: [.beforeMeal, .afterMeal]) {
      marks.subtract([.beforeMeal, .afterMeal])
      contradictoryMarks += 1
    }
    return marks
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

  /// The time that a date such as `01.02.2020` (day first) and a time of day such as `07:15` state; nil for
  /// other text.
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

/// The positions of the columns in an Accu-Chek Mobile's report.
///
/// Two layouts are known. The layout of 10 columns is known from one program and from a report of 2015. The
/// layout of 12 columns has "fasting" and "bedtime" before the control test, and is that of German reports of
/// 2016. The meter writes the names in its own language.
private struct AccuChekColumns: Hashable {
  enum ReportColumn: Hashable {
    case date, time, result, unit, temperatureWarning, outOfRange, other, beforeMeal, afterMeal, fasting
    case bedtime, controlTest
  }

  let count: Int
  private let places: [ReportColumn: Int]

  /// The columns that a header names. In an unknown language, the number of columns decides.
  ///
  /// - Throws: `MalformedReport` if neither the names nor their number determine the columns.
  init(header: [String]) throws(MalformedReport) {
    let names = header.reversed().drop(while: \.isEmpty).reversed().map { $0.lowercased() }
    let columns = names.map { Self.names[$0] }
    let known = columns.compactMap(\.self)
    if known.count == columns.count, Set(known).count == known.count,
      Set(known).isSuperset(of: [.date, .time, .result, .unit])
    {
      self.init(known)
      return
    }
    let form = try Self.kinds(ofColumns: names.count)
    // A known name in another position means that the number of columns does not determine their order.
    guard zip(columns, form).allSatisfy({ $0 == nil || $0 == $1 }) else {
      throw MalformedReport("its columns are in an unknown order")
    }
    self.init(form)
  }

  /// The columns of a report without a header.
  ///
  /// - Throws: `MalformedReport` for an unknown number of columns.
  init(count: Int) throws(MalformedReport) { self.init(try Self.kinds(ofColumns: count)) }

  private init(_ columns: [ReportColumn]) {
    count = columns.count
    places = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))
  }

  /// The text of a row in a column; empty if the report has no such column.
  func text(_ column: ReportColumn, in row: [String]) -> String {
    guard let place = places[column], row.indices.contains(place) else { return "" }
    return row[place]
  }
}

extension AccuChekColumns {
  private static func kinds(ofColumns count: Int) throws(MalformedReport) -> [ReportColumn] {
    let front: [ReportColumn] = [
      .date, .time, .result, .unit, .temperatureWarning, .outOfRange, .other, .beforeMeal, .afterMeal,
    ]
    switch count {
    case 10: return front + [.controlTest]
    case 12: return front + [.fasting, .bedtime, .controlTest]
    default:
      throw MalformedReport(
        "it has \(count) columns with unknown names; known reports have 10 or 12")
    }
  }

  /// The names in English and in German, as in reports.
  private static let names: [String: ReportColumn] = [
    "date": .date, "time": .time, "result": .result, "unit": .unit,
    "temperature warning": .temperatureWarning, "out of target range": .outOfRange, "other": .other,
    "before meal": .beforeMeal, "after meal": .afterMeal, "fasting": .fasting, "bedtime": .bedtime,
    "control test": .controlTest,
    "datum": .date, "uhrzeit": .time, "messwert": .result, "einheit": .unit,
    "temperaturwarnung": .temperatureWarning, "außerhalb zielbereich": .outOfRange, "sonstiges": .other,
    "vor mahlzeit": .beforeMeal, "nach mahlzeit": .afterMeal, "nüchtern": .fasting,
    "schlafenszeit": .bedtime, "funktionskontrolle": .controlTest,
  ]
}

/// Why a table is not a report of an Accu-Chek Mobile, or cannot be read.
struct MalformedReport: Error, Hashable {
  /// The reason in words, as part of an error message.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
