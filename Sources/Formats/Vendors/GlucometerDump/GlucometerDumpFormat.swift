// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The dump of glucometerutils: no header, five quoted cells, neither unit nor a distinction between glucose
/// and ketones. Comments are not escaped, so a row is parsed from both ends.
struct GlucometerDumpFormat: ExportFormat {
  static let id = "glucometerutils"
  static let title = "glucometerutils dump"
  static let summary = "finger sticks, ketones, sensor readings and scans of one meter"

  /// The bounds that distinguish glucose from ketones. Ketones are below 10 mmol/L. Glucose is at least 10
  /// mg/dL or 1.1 mmol/L on every meter.
  private static let maxKetone = 10.0
  private static let minMillimoles = 1.1

  /// The cells of a row.
  private struct RowCells {
    let time: Field
    let value: Field
    let meal: Field
    let method: Field
    let comment: Field

    /// Parses a row such as `"2016-05-14 07:31:00","112.00","Before Meal","blood sample","…"`.
    init?(_ line: UnsafeBufferPointer<UInt8>) {
      var line = line
      while let last = line.last, last == 0x0D || last == 0x20 { line = .init(rebasing: line.dropLast()) }
      guard line.count > 2, line.first == 0x22, line.last == 0x22, let base = line.baseAddress else {
        return nil
      }
      var parts: [Field] = []
      var start = 1
      var place = 1
      while parts.count < 4, place + 2 < line.count {
        if line[place] == 0x22, line[place + 1] == 0x2C, line[place + 2] == 0x22 {
          parts.append(Field(start: base + start, count: place - start, shape: .quoted))
          (start, place) = (place + 3, place + 3)
        } else {
          place += 1
        }
      }
      guard parts.count == 4, start <= line.count - 1 else { return nil }
      (time, value, meal, method) = (parts[0], parts[1], parts[2], parts[3])
      comment = Field(start: base + start, count: line.count - 1 - start, shape: .quoted)
      guard time.count == 19, time.yearFirstTime != nil,
        method.equals("blood sample") || method.equals("CGM") || method.equals("time")
      else { return nil }
    }

    /// Whether the row may be of glucose or of ketones.
    var isKindUnknown: Bool { method.equals("blood sample") && meal.isEmpty }
  }

  private var units: UnitSurvey
  /// Whether the meter measures ketones: some value is too low for glucose.
  private var hasKetones = false
  private var lowestUnknown = Double.infinity
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    // The last line may be truncated, so it is not examined. A dump of one line is complete.
    let whole = head.lines.count > 1 ? head.lines.dropLast().prefix(3) : head.lines[...]
    guard !whole.isEmpty, whole.allSatisfy(isRow) else { return nil }
    return Recognition(.lines)
  }

  private static func isRow(_ line: String) -> Bool {
    Array(line.utf8).withUnsafeBufferPointer { RowCells($0) != nil }
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    units = UnitSurvey(given: options.unit, isForced: options.force)
    model = options.device ?? "glucometerutils"
  }

  /// True, since only all rows together show whether the meter measures ketones.
  var needsSurvey: Bool { true }

  mutating func survey(_ row: Row) {
    guard let entry = RowCells(row.source), let number = entry.value.number() else { return }
    // A possible ketone value does not show the unit of glucose.
    if entry.isKindUnknown, number < Self.maxKetone {
      lowestUnknown = min(lowestUnknown, number)
    } else {
      units.observe(number)
    }
  }

  mutating func decide() throws {
    if units.isUndecided, !units.hasValues, lowestUnknown < .infinity {
      throw Failure(
        .badInput, "cannot infer whether the values are glucose in mmol/L or ketones alone; use --unit")
    }
    try units.decide()
    hasKetones = lowestUnknown < (units.unit == .milligramsPerDecilitre ? Self.maxKetone : Self.minMillimoles)
  }

  var decisions: [Decision] {
    [units.decision, .yearFirst]
      + (hasKetones ? [Decision("ketones", "values that are too low for glucose", .inferred)] : [])
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard let entry = RowCells(row.source) else {
      return row.isUnterminated ? .truncated : .unknown("not a row of glucometerutils")
    }
    // In a truncated row, a quote inside the comment looks like the comment's end, so the row counts as
    // truncated.
    if row.isUnterminated, !entry.comment.isEmpty { return .truncated }
    read(entry, row, into: &out)
    return .data
  }
}

extension GlucometerDumpFormat {
  private func read(_ entry: RowCells, _ row: Row, into out: inout BatchBuilder) {
    guard let time = entry.time.yearFirstTime else { return }
    if entry.method.equals("time") { return out.skip("clock change") }
    if entry.value.isEmpty { return out.skip("row without a value") }
    let device = out.device(Device(vendor: "glucometerutils", model: model, format: Self.id))
    switch kind(of: entry) {
    case .ketone:
      out.add(
        .ketone, GlucoseReader.ketone(entry.value, mark: .point), device: device, at: time, row: row)
    case let kind?:
      var marks: ReadingMarks = entry.meal.equals("Before Meal") ? .beforeMeal : []
      if entry.meal.equals("After Meal") { marks = .afterMeal }
      out.add(
        kind, GlucoseReader(unit: units.unit).read(entry.value), device: device, at: time, marks: marks,
        row: row)
    case nil:
      return out.reject(
        row, "a value of glucose or of ketones: the meter measures both, and the file does not say which")
    }
    let comment = entry.comment.trimmed
    if comment.isEmpty || comment.equals("(Sensor)") || comment.equals("(Scan)") { return }
    out.add(.note, at: time, owner: model, line: row.line, ["text": .text(comment.text)])
  }

  /// The kind of a row; nil if the row may be of glucose or of ketones.
  private func kind(of entry: RowCells) -> ReadingKind? {
    if entry.method.equals("CGM") { return entry.comment.starts(with: "(Scan)") ? .scan : .cbg }
    guard hasKetones, entry.isKindUnknown, let number = entry.value.number(), number < Self.maxKetone else {
      return .smbg
    }
    if units.unit == .milligramsPerDecilitre || number < Self.minMillimoles { return .ketone }
    return nil
  }
}

extension GlucometerDumpFormat {
  static let page = FormatPage(
    origin: [
      "glucometer --driver DRIVER dump > FILE, and import the file"
    ],
    variants: [
      "five quoted cells without a header",
      "mg/dL and mmol/L: no row names the unit, so all values decide it, or --unit",
    ],
    languages: "English only; the dump has fixed words",
    reads: [
      "finger sticks, before or after meals, sensor readings, scans",
      "ketones: values that are too low for glucose",
      "comments as notes",
    ],
    notRead: [
      "changes of the clock, which are counted",
      "in mmol/L, if the meter measures ketones: low values without a meal, which are rejected",
      "the model and the serial number, which no row names; --device states the model",
    ])
}
