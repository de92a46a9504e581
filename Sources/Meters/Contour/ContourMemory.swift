// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Turns a meter's result records into readings and diary records, in the order received: the oldest first.
struct ContourMemory {
  private(set) var contents: MeterContents
  private let range: ContourRange?
  private var clock = ClockSetBack()
  private var number: Int64 = 0

  /// Texts for a person's marks that have no equivalent among marks of readings. One source reads the letter D as "don't
  /// feel right", another as a logbook mark.
  private static let tags: [Substring: String] = ["D": "don't feel right", "I": "illness", "S": "stress"]

  /// The kinds of insulin. Other programs quote these from the vendor's text.
  private static let insulins: [Substring: String] = ["1": "rapid", "2": "long", "3": "mix"]

  init(_ identity: MeterIdentity, range: ContourRange?) {
    contents = MeterContents(identity)
    self.range = range
  }

  /// The number of results received.
  var count: Int { Int(number) }

  /// Adds one result record.
  mutating func take(_ record: ASTMRecord) {
    number += 1
    guard let time = record.time(8) else {
      return reject(record, "invalid time; expected YYYYMMDDhhmm")
    }
    switch record.components(2).last {
    case "Glucose": takeGlucose(record, at: time)
    case "Carb": takeFood(record, at: time)
    case "Insulin": takeInsulin(record, at: time)
    default: contents.skipped["result of unknown type", default: 0] += 1
    }
  }
}

extension ContourMemory {
  private mutating func reject(_ record: ASTMRecord, _ reason: String) {
    contents.rejections.append(
      Rejection(line: number, reason: reason, source: String(record.text.prefix(1024))))
  }

  private mutating func takeGlucose(_ record: ASTMRecord, at time: DeviceTime) {
    guard let unit = record.components(4).first.flatMap({ GlucoseUnit(name: $0) }) else {
      return reject(record, "the unit is neither mg/dL nor mmol/L")
    }
    let markers = record[6].split(separator: "/")
    let setBack = clock.mark(time)
    guard let measurement = measurement(record, unit, markers) else {
      return reject(record, "the value is not a number")
    }
    contents.readings.append(
      MeterReading(.smbg, at: time, measurement, marks: marks(markers).union(setBack)))
    takeTags(markers, at: time)
  }

  /// The measurement of a result. The number with LO and HI is one step outside the range, and is not a measurement.
  private func measurement(
    _ record: ASTMRecord, _ unit: GlucoseUnit, _ markers: [Substring]
  ) -> Measurement? {
    if markers.contains("<") { return .low(below: range?.low, range?.unit ?? unit) }
    if markers.contains(">") { return .high(above: range?.high, range?.unit ?? unit) }
    return record.number(3).map { .value(Quantity($0, unit)) }
  }

  private func marks(_ markers: [Substring]) -> ReadingMarks {
    var marks: ReadingMarks = []
    for marker in markers {
      switch marker {
      case "C": marks.insert(.controlSolution)
      case "B": marks.insert(.beforeMeal)
      case "A": marks.insert(.afterMeal)
      case "F": marks.insert(.fasting)
      default: continue
      }
    }
    return marks
  }

  private mutating func takeTags(_ markers: [Substring], at time: DeviceTime) {
    let tags = markers.compactMap { Self.tags[$0] }
    if !tags.isEmpty {
      contents.records.append(MeterRecord(.note, at: time, RecordFields(["tags": .words(tags)])))
    }
    if markers.contains("X") { contents.records.append(MeterRecord(.exercise, at: time, RecordFields())) }
    if markers.contains(where: { $0.count == 2 && $0.hasPrefix("Z") }) {
      contents.skipped["time since a meal", default: 0] += 1
    }
  }

  /// Points and choices are exchanges; a person sets their size in grams elsewhere.
  private mutating func takeFood(_ record: ASTMRecord, at time: DeviceTime) {
    guard let number = record.number(3) else { return reject(record, "the carbohydrates are not a number") }
    let fields: [String: FieldValue] =
      switch record.components(4).first {
      case "1": ["carbs": .number(number)]
      case "2": ["servings": .number(number), "text": .text("points")]
      case "3": ["servings": .number(number), "text": .text("choices")]
      default: ["text": .text("\(plainNumber(number)), in a unit that the meter does not state")]
      }
    contents.records.append(MeterRecord(.food, at: time, RecordFields(fields)))
  }

  /// Doses are tenths of a unit. A single source observed it on one meter.
  private mutating func takeInsulin(_ record: ASTMRecord, at time: DeviceTime) {
    guard let tenths = record.number(3) else { return reject(record, "the dose is not a number") }
    var fields: [String: FieldValue] = ["units": .number(tenths / 10)]
    if let kind = record.components(4).first.flatMap({ Self.insulins[$0] }) {
      fields["subtype"] = .text(kind)
    }
    contents.records.append(MeterRecord(.insulin, at: time, RecordFields(fields)))
  }
}
