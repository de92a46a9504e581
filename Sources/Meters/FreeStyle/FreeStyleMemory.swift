// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Collects what the rows of a meter say. Rows come newest first and are taken oldest first.
struct FreeStyleMemory {
  private(set) var contents: MeterContents
  private var clock = ClockSetBack()
  private var number: Int64 = 0

  /// The memory of the meter with this identity.
  init(_ identity: MeterIdentity) { contents = MeterContents(identity) }

  /// Takes each row of a table in the order of their numbers, which are in this field.
  mutating func take(
    _ rows: [FreeStyleRow], numberedBy field: Int, _ read: (FreeStyleRow, inout FreeStyleMemory) -> Void
  ) {
    clock = ClockSetBack()
    let first = number
    let numbered = rows.enumerated().map { offset, row in
      (id: row.number(field) ?? 0, line: first + Int64(offset) + 1, row: row)
    }
    // Rows that share a number are newest first.
    for (_, line, row) in numbered.sorted(by: { ($0.id, $1.line) < ($1.id, $0.line) }) {
      number = line
      read(row, &self)
    }
    number = first + Int64(rows.count)
  }

  /// Adds a reading.
  ///
  /// - Parameter timeIsValid: what the meter says of its clock at that moment.
  mutating func add(
    _ kind: ReadingKind, _ measurement: Measurement?, _ row: FreeStyleRow, timeIn field: Int = 2,
    timeIsValid: Bool = true, marks: ReadingMarks = []
  ) {
    guard let time = row.time(field) else { return reject(row, "invalid time") }
    guard let measurement else { return reject(row, "the value is not a number") }
    var marks = marks.union(clock.mark(time))
    if !timeIsValid { marks.insert(.doubtfulTime) }
    contents.readings.append(MeterReading(kind, at: time, measurement, marks: marks))
  }

  /// Adds a diary record.
  mutating func add(
    _ kind: RecordKind, _ row: FreeStyleRow, timeIn field: Int = 2, _ fields: [String: FieldValue]
  ) {
    guard let time = row.time(field) else { return reject(row, "invalid time") }
    contents.records.append(MeterRecord(kind, at: time, RecordFields(fields)))
  }

  /// Rejects a row.
  mutating func reject(_ row: FreeStyleRow, _ reason: String) {
    contents.rejections.append(Rejection(line: number, reason: reason, source: String(row.text.prefix(1024))))
  }

  /// Counts a row that says nothing of glucose or of what a person did.
  mutating func skip(_ name: String) { contents.skipped[name, default: 0] += 1 }

  /// Informs a person, once.
  mutating func warn(_ warning: String) {
    if !contents.warnings.contains(warning) { contents.warnings.append(warning) }
  }
}

extension FreeStyleRow {
  /// Month, day, year of the century, hour and minute from this field on: the time as the meter shows it. nil where
  /// no calendar has it.
  ///
  /// Readers keep seconds, too; neither their screen nor LibreView reports them, and the two have to agree.
  func time(_ index: Int) -> DeviceTime? {
    guard let month = number(index), let day = number(index + 1), let year = number(index + 2),
      (0...99).contains(year), let hour = number(index + 3), let minute = number(index + 4)
    else { return nil }
    return DeviceTime(year: 2000 + year, month: month, day: day, hour: hour, minute: minute)
  }
}

extension Measurement {
  /// A strip's value as meters write it: whole mg/dL, `HI` or `LO`; nil for anything else. They measure from 20 to
  /// 500 mg/dL.
  static func stripGlucose(_ text: String, _ number: Int?) -> Measurement? {
    switch text {
    case "HI": .high(above: 500, .milligramsPerDecilitre)
    case "LO": .low(below: 20, .milligramsPerDecilitre)
    default: number.flatMap { $0 > 0 ? .value(Quantity(Double($0), .milligramsPerDecilitre)) : nil }
    }
  }

  /// A ketone value as meters write it: eighteenths of mmol/L, which they show with one decimal, as LibreView does;
  /// or `HI`, above 8.0.
  static func stripKetone(_ text: String, _ number: Int?) -> Measurement? {
    if text == "HI" { return .high(above: 8, .millimolesPerLitre) }
    return number.flatMap { number in
      number >= 0 ? .value(Quantity((Double(number) / 1.8).rounded() / 10, .millimolesPerLitre)) : nil
    }
  }
}
