// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import Nightscout

/// The backup of xDrip+: an SQLite database, usually in a ZIP archive. Times are in milliseconds of UTC.
/// Values are in mg/dL whatever the app shows, and 0 is not a value.
///
/// A calibration usually has a blood test within a minute, so calibrations are not read. Before its first
/// calibration a sensor reports 0 or a few milligrams. The app's own CSV leaves out values that are not above
/// 13, and so does this format.
struct XDripFormat: ExportFormat {
  static let id = "xdrip"
  static let title = "xDrip+ backup"
  static let summary = "sensor readings, finger sticks, insulin, carbohydrates, notes of the SQLite database"
  static var emptyList: Void? { () }
  static let database: DatabaseShape? = DatabaseShape(
    name: "xdrip",
    needed: [InputDatabase.Table("BgReadings", ["timestamp", "calculated_value"])],
    optionalColumns: ["BgReadings": ["snyced"]],
    others: [
      InputDatabase.Table("BloodTest", ["timestamp", "mgdl", "source", "state"]),
      InputDatabase.Table(
        "Treatments",
        ["timestamp", "carbs", "insulin", "insulinJSON", "eventType", "notes", "uuid"]),
      InputDatabase.Table("Calibration", ["timestamp"]),
    ])

  private static let names = [
    "database", "table", "timestamp", "calculated_value", "mgdl", "source", "state", "carbs", "insulin",
    "eventType", "notes", "uuid", "insulinJSON", "snyced",
  ]
  private enum Name {
    static let database = 0, table = 1, time = 2, sensor = 3, blood = 4, source = 5, state = 6
    static let carbs = 7, insulin = 8, event = 9, notes = 10, id = 11, injections = 12, ignored = 13
  }

  /// The bit in a blood test's state that the app removes if a person deletes the test.
  private static let isValid: Int64 = 1
  /// The bit in a blood test's state for a test that calibrated a sensor.
  private static let calibrates: Int64 = 2
  /// The highest number that means no value; the app uses only higher numbers as values of a sensor.
  private static let noValue = 13.0
  /// The value that the app stores if it calculates less than 10 mg/dL (`BG_READING_ERROR_VALUE`).
  private static let errorValue = 38.0

  private let model: String
  private let glucose = GlucoseReader(unit: .milligramsPerDecilitre)
  private var zoneOffsets: ZoneOffsets
  /// The number of sensor readings that the app leaves out of its statistics. Its column is named `snyced`.
  private var ignored = 0
  /// The number of sensor readings with `errorValue`.
  private var errors = 0

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    database?.isFirst(in: head) == true ? Recognition(.objects(columns: names)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    model = options.device ?? "xDrip+"
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] { [.unit(.milligramsPerDecilitre)] }

  var warnings: [String] {
    [
      (ignored, "left out of the app's statistics, as a person chose"),
      (errors, "with 38 mg/dL, which the app writes if it could not calculate a value"),
    ].filter { $0.0 > 0 }.map { count, reason in
      "\(counted(count, "sensor reading")) \(reason), \(count == 1 ? "counts" : "count") here; "
        + "'glucoport reading hide' hides readings"
    }
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if row[Name.database].equals("xdrip") { return .header }
    let table = row[Name.table]
    guard !table.isEmpty else { return .unknown("not a row of xDrip+") }
    if table.equals("Calibration") {
      out.skip("calibration")
      return .data
    }
    guard let milliseconds = row[Name.time].integer, let instant = Self.instant(milliseconds) else {
      out.reject(row, "invalid or missing timestamp; expected milliseconds since 1970")
      return .data
    }
    let time = zoneOffsets.shown(utc: instant)
    if table.equals("BgReadings") {
      readSensor(row, tick: milliseconds, at: time, into: &out)
    } else if table.equals("BloodTest") {
      readBloodTest(row, tick: milliseconds, at: time, into: &out)
    } else if table.equals("Treatments") {
      readTreatment(row, at: time, into: &out)
    } else {
      return .unknown("a table that is not read")
    }
    return .data
  }

  /// The UTC seconds of a time in milliseconds; nil outside the years 2000 to 9999.
  private static func instant(_ milliseconds: Int64) -> Int64? {
    guard (946_684_800_000...253_402_300_799_999).contains(milliseconds) else { return nil }
    return Instant(milliseconds: milliseconds).seconds
  }
}

extension XDripFormat {
  private mutating func readSensor(_ row: Row, tick: Int64, at time: ShownTime, into out: inout BatchBuilder)
  {
    let cell = row[Name.sensor]
    if cell.isEmpty { return out.skip("sensor reading without a value") }
    let number = cell.jsonNumber
    if let number, number <= Self.noValue { return out.skip("sensor reading without a value") }
    if number == Self.errorValue { errors += 1 }
    if row[Name.ignored].equals("1") { ignored += 1 }
    add(.cbg, cell, tick: tick, at: time, row, into: &out)
  }

  private func readBloodTest(_ row: Row, tick: Int64, at time: ShownTime, into out: inout BatchBuilder) {
    let cell = row[Name.blood]
    if cell.isEmpty || cell.jsonNumber == 0 { return out.skip("blood test without a value") }
    var marks: ReadingMarks = row[Name.source].equals("Manual Entry") ? .manual : []
    if let state = row[Name.state].integer {
      if state & Self.isValid == 0 { return out.skip("deleted blood test") }
      if state & Self.calibrates != 0 { marks.insert(.calibration) }
    }
    add(.smbg, cell, tick: tick, at: time, marks: marks, row, into: &out)
  }

  private func add(
    _ kind: ReadingKind, _ cell: Field, tick: Int64, at time: ShownTime, marks: ReadingMarks = [], _ row: Row,
    into out: inout BatchBuilder
  ) {
    // A number in quotes is text in the database. The app does not write text, so the value is rejected.
    let value = cell.shape == .quoted ? .rejected("the glucose value is not a number") : glucose.read(cell)
    switch value {
    case .empty: out.skip("reading without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      let device = out.device(Device(vendor: "xDrip+", model: model, format: Self.id))
      out.add(
        Reading(
          device: device, kind: kind, tick: tick, at: time.deviceTime, placement: out.placement(of: time),
          measurement, marks: marks, line: row.line))
    }
  }

  /// Adds the dose, the carbohydrates and the note of a treatment, each as a separate record.
  private func readTreatment(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    if ["Sensor Start", "Sensor Stop"].contains(row[Name.event].text) {
      return out.skip("sensor start or stop")
    }
    let amounts: [(Int, RecordKind, String, ClosedRange<Double>)] = [
      (Name.insulin, .insulin, "units", PlausibleAmounts.units),
      (Name.carbs, .food, "carbs", PlausibleAmounts.grams),
    ]
    var records: [(kind: RecordKind, part: String, fields: [String: FieldValue])] = []
    for (name, kind, field, range) in amounts where !row[name].isEmpty {
      guard let number = row[name].jsonNumber, range.contains(number), row[name].shape != .quoted else {
        return out.reject(row, "an amount is not a number from 0 to \(plainNumber(range.upperBound))")
      }
      if kind == .insulin, case let doses = Self.doses(row[Name.injections].text, of: number), !doses.isEmpty
      {
        records += doses.map { (.insulin, $0.part, $0.fields) }
      } else if number > 0 {
        records.append((kind, kind.rawValue, [field: .number(number)]))
      }
    }
    let notes = row[Name.notes].trimmed.text
    if !notes.isEmpty { records.append((.note, RecordKind.note.rawValue, ["text": .text(notes)])) }
    if records.isEmpty { return out.skip("treatment without content") }
    let id = row[Name.id].text
    for (kind, part, fields) in records {
      out.add(
        kind, at: time, owner: model, sourceID: id.isEmpty ? "" : "\(id) \(part)", line: row.line, fields)
    }
  }

  /// The doses of a treatment that lists injections. There is one for each name of an insulin, with the part
  /// that its id adds to the treatment's id. Empty if their sum is not equal to the units of the treatment.
  private static func doses(
    _ injections: String, of units: Double
  ) -> [(part: String, fields: [String: FieldValue])] {
    let injections = InsulinInjection.all(injections)
    guard !injections.isEmpty, abs(injections.reduce(0) { $0 + $1.units } - units) < 0.005 else { return [] }
    let byName = Dictionary(grouping: injections, by: \.name).sorted { $0.key < $1.key }
    return byName.enumerated().map { place, named in
      let units = (named.value.reduce(0) { $0 + $1.units } * 10_000).rounded() / 10_000
      var fields: [String: FieldValue] = ["units": .number(units)]
      if !named.key.isEmpty {
        fields["text"] = .text(named.key)
        fields["subtype"] = .text(named.value[0].subtype)
      }
      // The first dose has the id of a treatment without a list, as older versions of the app wrote it.
      return (place == 0 ? "insulin" : "insulin \(named.key)", fields)
    }
  }
}

extension XDripFormat {
  static let page = FormatPage(
    origin: [
      "in xDrip+: menu > Import / Export features > Export database",
      "import the ZIP archive, or the file with the end .sqlite in it",
    ],
    variants: [
      "the SQLite database alone or in its archive",
      "its rows as JSON, as --rejects writes them",
    ],
    languages: "English only; the tables have fixed names",
    reads: [
      "sensor readings (BgReadings) above 13 mg/dL, with the offset of the logbook's zone",
      "blood tests (BloodTest)",
      "insulin, each of several with its name, carbohydrates, notes (Treatments)",
    ],
    notRead: [
      "calibrations, which are counted: most are a blood test, too",
      "raw values, predictions and settings",
      "start and stop of a sensor, and deleted blood tests, which are counted",
      "that a person left a value out of the app's statistics, and that 38 mg/dL is an error, which warnings report",
    ])
}
