// SPDX-License-Identifier: Apache-2.0

import Logbook

/// JSON of the app Health Auto Export: metrics of Apple Health, each with its values, called points.
///
/// A point has the same instant and source as the record in Apple Health's `export.xml`, so both become the
/// same reading.
struct HealthAutoExportFormat: ExportFormat {
  static let id = "health-auto-export"
  static let title = "Health Auto Export JSON"
  static let summary = "glucose of every app that wrote it into Apple Health"
  static var emptyList: Void? { () }

  private enum Name { static let name = 0, units = 1, points = 2, date = 3 }
  private static let members = ["name", "units", "data", "date"]
  private enum Point { static let date = 0, value = 1, source = 2, meal = 3 }
  private static let means = 4...9
  private static let pointMembers = [
    "date", "qty", "source", "mealTime", "Min", "Avg", "Max", "min", "avg", "max",
  ]
  /// The minimum number of points that are taken as averages, not measurements, if all are on full hours.
  private static let minOnTheHour = 5

  private var kinds = OtherKinds()
  private let givenKind: ReadingKind?
  private var zoneOffsets: ZoneOffsets
  private var units: [GlucoseUnit] = []
  private var points = 0
  private var pointsOnTheHour = 0
  private var hasMeans = false
  private var sources = HealthSources()

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    guard head.isJSON, ["metrics", "name", "units", "data"].allSatisfy(head.names) else { return nil }
    return Recognition(.objects(columns: members))
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    givenKind = options.kind
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var needsSurvey: Bool { true }

  mutating func survey(_ row: Row) {
    guard row[Name.name].equals("blood_glucose") else { return }
    do {
      try Self.forEachPoint(of: row) { point in
        points += 1
        let date = point[Point.date]
        let isMean =
          Self.means.contains { point[$0].shape != .absent } || (date.count > 0 && date.count <= 10)
          || point[Point.source].bytes.contains(UInt8(ascii: "|"))
        if isMean { hasMeans = true }
        guard let shown = date.yearFirstTime else { return }
        if shown.deviceTime.seconds % 3600 == 0 { pointsOnTheHour += 1 }
        let utc = shown.deviceTime.seconds - Int64(shown.utcOffset ?? 0)
        sources.observe(utc, name: point[Point.source], device: .absent, isMarked: Self.isMarked(point))
      }
    } catch {
      // The error is ignored, since the metric will be rejected when its row is read.
      return
    }
  }

  /// - Throws: `Failure` of category `badInput` for averages, which were not measured.
  mutating func decide() throws {
    sources.decide()
    let areOnTheHour = points >= Self.minOnTheHour && points == pointsOnTheHour
    guard hasMeans || areOnTheHour else { return }
    throw Failure(
      .badInput,
      "the glucose values are aggregated by hour or day, and no readings; "
        + "in Health Auto Export switch 'Aggregate Data' off and export again")
  }

  var decisions: [Decision] {
    let unit =
      units.isEmpty ? Decision("unit", "as each metric says", .read) : Decision.units(units)
    return [
      unit, .yearFirst, HealthSources.decision(given: givenKind),
    ]
  }

  var warnings: [String] { givenKind == nil ? sources.warnings : [] }

  private static func isMarked(_ point: Row) -> Bool {
    point[Point.meal].equals("Before Meal") || point[Point.meal].equals("After Meal")
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard !row[Name.name].isEmpty else {
      // A metric that is too large to be read as a whole is rejected, and its points then arrive as separate
      // rows.
      guard row[Name.date].isEmpty else {
        out.skip("point of a metric that was rejected")
        return .data
      }
      return .unknown("not a metric of Health Auto Export")
    }
    guard row[Name.name].equals("blood_glucose") else {
      out.skip(Self.counted(kinds.name(row[Name.name])))
      return .data
    }
    guard let unit = Self.unit(row[Name.units]) else {
      out.reject(row, "the unit is neither mg/dL nor mmol/L")
      return .data
    }
    if !units.contains(unit) { units.append(unit) }
    do {
      try Self.forEachPoint(of: row) { readPoint($0, unit, into: &out) }
    } catch {
      out.reject(row, "the points of the metric cannot be read")
    }
    return .data
  }

  private static func counted(_ name: String) -> String { name == "other row" ? "other metric" : name }

  /// The unit in a cell: `mg/dL`, `mmol/L`, or `mmol<180.15588…>/L` with the molar mass of glucose.
  private static func unit(_ cell: Field) -> GlucoseUnit? {
    if cell.starts(with: "mmol<180.155"), cell.count > 3,
      cell.slice(cell.count - 3, cell.count).equals(">/L")
    {
      return .millimolesPerLitre
    }
    return GlucoseUnit(name: cell.text)
  }

  private static func forEachPoint(of row: Row, _ body: (Row) -> Void) throws {
    try NestedObjects.forEach(in: row[Name.points], columns: pointMembers, line: row.line, body)
  }

  private mutating func readPoint(_ point: Row, _ unit: GlucoseUnit, into out: inout BatchBuilder) {
    guard let shown = point[Point.date].yearFirstTime, let offset = shown.utcOffset else {
      return out.reject(point, "invalid date; expected YYYY-MM-DD hh:mm:ss +hhmm")
    }
    switch GlucoseReader(unit: unit).read(point[Point.value]) {
    case .empty: return out.skip("glucose without a value")
    case .rejected(let reason): return out.reject(point, reason)
    case .measurement(let measurement):
      let utc = shown.deviceTime.seconds - Int64(offset)
      let shown = zoneOffsets.shown(shown)
      let source = point[Point.source].trimmed.text
      var marks: ReadingMarks = []
      if point[Point.meal].equals("Before Meal") { marks.insert(.beforeMeal) }
      if point[Point.meal].equals("After Meal") { marks.insert(.afterMeal) }
      let device = out.device(
        Device(vendor: "Apple Health", model: source, format: AppleHealthFormat.id))
      out.add(
        Reading(
          device: device,
          kind: givenKind
            ?? sources.kind(
              name: point[Point.source], device: .absent, isMarked: Self.isMarked(point)),
          tick: utc, at: shown.deviceTime,
          placement: out.placement(of: shown), measurement, marks: marks, line: point.line))
    }
  }
}

extension HealthAutoExportFormat {
  static let page = FormatPage(
    origin: [
      "in Health Auto Export: Manual Export or Automations, format JSON, 'Aggregate Data' off"
    ],
    variants: [
      "versions 1 and 2 of its JSON, several answers one after the other",
      "aggregated values are refused: they are averages of an hour or a day, and no readings",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "blood glucose of each source with its offset and meal mark, as in export.xml of Apple Health",
      "sources with the name of a sensor or an app for sensors as cbg, others as smbg, or as --kind says",
    ],
    notRead: [
      "other metrics, such as sugar in food, and workouts; metrics are counted by name"
    ])
}
