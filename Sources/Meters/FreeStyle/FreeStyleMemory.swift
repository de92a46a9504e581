// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Collects the contents of a meter's rows. The meter sends rows newest first; they are added oldest first.
struct FreeStyleMemory {
  private(set) var contents: MeterContents
  private var clock = ClockSetBack()
  private var number: Int64 = 0

  init(_ identity: MeterIdentity) { contents = MeterContents(identity) }

  /// Adds each row of a table, in the order of the record numbers.
  ///
  /// - Parameter field: the index of the field that contains a row's record number.
  mutating func add(
    _ rows: [FreeStyleRow], numberedBy field: Int, _ read: (FreeStyleRow, inout FreeStyleMemory) -> Void
  ) {
    clock = ClockSetBack()
    let first = number
    let numbered = rows.enumerated().map { offset, row in
      (id: row.number(field) ?? 0, line: first + Int64(offset) + 1, row: row)
    }
    // Rows with the same number come newest first, so their order is reversed.
    for (_, line, row) in numbered.sorted(by: { ($0.id, $1.line) < ($1.id, $0.line) }) {
      number = line
      read(row, &self)
    }
    number = first + Int64(rows.count)
  }

  /// Adds a reading.
  ///
  /// - Parameter timeIsValid: whether the meter reports its clock as valid at that moment.
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

  mutating func add(
    _ kind: RecordKind, _ row: FreeStyleRow, timeIn field: Int = 2, _ fields: [String: FieldValue]
  ) {
    guard let time = row.time(field) else { return reject(row, "invalid time") }
    contents.records.append(MeterRecord(kind, at: time, RecordFields(fields)))
  }

  mutating func reject(_ row: FreeStyleRow, _ reason: String) {
    contents.rejections.append(Rejection(line: number, reason: reason, source: String(row.text.prefix(1024))))
  }

  /// Counts a row that holds neither glucose nor an action of the person.
  mutating func skip(_ name: String) { contents.skipped[name, default: 0] += 1 }

  /// Adds a warning once.
  mutating func warn(_ warning: String) {
    if !contents.warnings.contains(warning) { contents.warnings.append(warning) }
  }
}

extension FreeStyleRow {
  /// The shown time in month, day, year of the century, hour and minute from this field on; nil for an
  /// invalid date.
  ///
  /// The meter stores seconds, too. They are ignored, since its screen and LibreView omit them, and the
  /// identities of readings must match.
  func time(_ index: Int) -> DeviceTime? {
    guard let month = number(index), let day = number(index + 1), let year = number(index + 2),
      (0...99).contains(year), let hour = number(index + 3), let minute = number(index + 4)
    else { return nil }
    return DeviceTime(year: 2000 + year, month: month, day: day, hour: hour, minute: minute)
  }
}

extension Measurement {
  /// The glucose for a strip's value: whole mg/dL, `HI` or `LO`; nil for anything else. Meters show values
  /// from 20 to 500 mg/dL.
  static func stripGlucose(_ text: String, _ number: Int?) -> Measurement? {
    switch text {
    case "HI": .high(above: 500, .milligramsPerDecilitre)
    case "LO": .low(below: 20, .milligramsPerDecilitre)
    default: number.flatMap { $0 > 0 ? .value(Quantity(Double($0), .milligramsPerDecilitre)) : nil }
    }
  }

  /// The ketone value for a number in eighteenths of mmol/L, or `HI` above 8.0. Meters and LibreView show it
  /// with one decimal.
  static func stripKetone(_ text: String, _ number: Int?) -> Measurement? {
    if text == "HI" { return .high(above: 8, .millimolesPerLitre) }
    return number.flatMap { number in
      number >= 0 ? .value(Quantity((Double(number) / 1.8).rounded() / 10, .millimolesPerLitre)) : nil
    }
  }
}
