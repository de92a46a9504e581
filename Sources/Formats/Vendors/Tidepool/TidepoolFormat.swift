// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Tidepool's data model, from its export, its API or tools that keep its names: JSON, CSV and the sheets of
/// XLSX.
///
/// One measurement has another `id` in each upload, so a reading is identified by its instant in UTC. Values
/// are in mmol/L unless a row states another unit.
struct TidepoolFormat: ExportFormat {
  static let id = "tidepool"
  static let title = "Tidepool JSON, CSV or XLSX"
  static let summary =
    "sensor and meter readings, ketones, insulin, basal rates, carbohydrates, exercise, notes"
  static var emptyList: Void? { () }

  /// The indexes of the members in `names`.
  enum Name {
    static let type = 0, subType = 1, time = 2, deviceTime = 3, timezoneOffset = 4, deviceId = 5, id = 6
    static let units = 7, value = 8, annotations = 9, transmitter = 10, payload = 11, notes = 12
    static let normal = 13, extended = 14, duration = 15, rate = 16, deliveryType = 17
    static let carbInput = 18, carbUnits = 19, nutrition = 20, dose = 21, formulation = 22
    static let name = 23, intensity = 24, step = 25, states = 26, location = 27, percent = 28
    static let deliveryContext = 29
  }

  private static let names = [
    "type", "subType", "time", "deviceTime", "timezoneOffset", "deviceId", "id",
    "units", "value", "annotations", "payload.transmitterId", "payload", "notes",
    "normal", "extended", "duration", "rate", "deliveryType",
    "carbInput", "carbUnits", "nutrition", "dose", "formulation",
    "name", "reportedIntensity", "step", "states", "location", "percent", "deliveryContext",
  ]

  /// The title of durations in minutes in the workbook of the web app.
  private static let minutesTitle = "duration (mins)"

  /// The names of the columns by their titles in the workbook of the web app (config.json of
  /// tidepool-org/node-data-tools). Most titles are the name in words, such as `Device Time` for
  /// `deviceTime`.
  private static let namesOfTitles: [String: String] = {
    let titles = names.map { name in (foldedHeader(name.replacing(/[A-Z]/) { " \($0.output)" }), name) }
    let other = [
      ("zulu time", "time"), ("tidepool data type", "type"), ("tidepool wizard type", "type"),
      (minutesTitle, "duration"),
    ]
    return Dictionary(titles + other, uniquingKeysWith: { first, _ in first })
  }()

  private static let types: Set<String> = [
    "cbg", "smbg", "bloodKetone", "bolus", "basal", "wizard", "food", "insulin", "physicalActivity",
    "reportedState", "deviceEvent", "pumpSettings", "cgmSettings", "upload", "water", "dosingDecision",
    "controllerSettings", "controllerStatus", "pumpStatus", "alert",
  ]

  var columns: NamedColumns
  private let isTable: Bool
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private var zoneOffsets: ZoneOffsets
  private var unnamed: (transmitter: [UInt8], device: DeviceIndex)?
  var durations = TidepoolDurations()

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    if head.isJSON {
      return head.objects.contains(where: isItem) ? Recognition(.objects(columns: names)) : nil
    }
    return head.firstRow(where: isHeader).map { Recognition(.table(delimiter: $0.delimiter)) }
  }

  private static func isItem(_ object: [String: String]) -> Bool {
    guard let type = object["type"], types.contains(type), object["time"] != nil else { return false }
    return ["uploadId", "deviceId", "deviceTime", "origin"].contains { object[$0] != nil }
  }

  private static func isHeader(_ cells: [String]) -> Bool {
    if cells.contains("zulu time") {
      return cells.contains("tidepool data type") || cells.contains("tidepool wizard type")
    }
    return cells.contains("type") && cells.contains("time")
      && (cells.contains("uploadid") || cells.contains("devicetime"))
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    zoneOffsets = ZoneOffsets(options.zone)
    if case .table = found.layout {
      isTable = true
      columns = NamedColumns(
        cells: Self.names, marks: ["type", "tidepool data type", "tidepool wizard type"],
        otherWords: Self.namesOfTitles)
    } else {
      isTable = false
      columns = NamedColumns(members: Self.names)
    }
  }

  var decisions: [Decision] {
    [
      Decision("unit", "as each row says, else \(GlucoseUnit.millimolesPerLitre.name)", .read),
      .yearFirst,
    ]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if isTable {
      if columns.readHeader(row, isHeader: Self.isHeader) {
        durations.finish(into: &out)
        let hasMinutes = row.fields.contains { $0.folded == Self.minutesTitle }
        durations = TidepoolDurations(hasMinutes ? .minutes : nil)
        return .header
      }
      if columns.count == 0 { return .unknown("before the header, or not a row of Tidepool") }
    }
    let type = row[columns[Name.type]]
    if type.equals("cbg") {
      readGlucose(row, .cbg, into: &out)
    } else if type.isEmpty {
      return .unknown("not an item of Tidepool")
    } else if type.equals("smbg") {
      readGlucose(row, row[columns[Name.subType]].equals("scanned") ? .scan : .smbg, into: &out)
    } else if type.equals("bloodKetone") {
      readKetone(row, into: &out)
    } else if type.equals("deviceEvent"), row[columns[Name.subType]].equals("calibration"),
      !row[columns[Name.value]].isEmpty
    {
      readGlucose(row, .smbg, marks: .calibration, into: &out)
    } else {
      readRecord(row, type: type.text, into: &out)
    }
    return .data
  }

  mutating func finish(into out: inout BatchBuilder) { durations.finish(into: &out) }

  private mutating func readGlucose(
    _ row: Row, _ kind: ReadingKind, marks: ReadingMarks = [], into out: inout BatchBuilder
  ) {
    let value = row[columns[Name.value]]
    if value.isEmpty, row[columns[Name.annotations]].isEmpty { return skip(kind, row, into: &out) }
    guard let reader = reader(for: row[columns[Name.units]]) else {
      return out.reject(row, "the unit is neither mmol/L nor mg/dL")
    }
    var cell = reader.read(value)
    if let limit = outOfRange(row, cell, threshold: Self.glucoseLimit) { cell = .measurement(limit) }
    if case .empty = cell { return skip(kind, row, into: &out) }
    var marks = marks
    let subType = row[columns[Name.subType]]
    if subType.equals("manual") { marks.insert(.manual) }
    if subType.equals("linked") { marks.insert(.linked) }
    add(kind, cell, marks: marks, row, into: &out)
  }

  /// Counts a reading without a value and keeps its notes.
  private mutating func skip(_ kind: ReadingKind, _ row: Row, into out: inout BatchBuilder) {
    addNotes(row, into: &out)
    out.skip(kind == .cbg ? "cbg without value" : "smbg without value")
  }

  private mutating func readKetone(_ row: Row, into out: inout BatchBuilder) {
    var cell = GlucoseReader.ketone(row[columns[Name.value]], mark: .point)
    if let limit = outOfRange(row, cell, threshold: { Quantity($0, .millimolesPerLitre) }) {
      cell = .measurement(limit)
    }
    add(.ketone, cell, row, into: &out)
  }

  @inline(__always)
  private func reader(for units: Field) -> GlucoseReader? {
    if units.isEmpty || units.equals("mmol/L") { return millimoles }
    return switch GlucoseUnit(name: units.text) {
    case .millimolesPerLitre: millimoles
    case .milligramsPerDecilitre: milligrams
    case nil: nil
    }
  }

  @inline(__always)
  private mutating func add(
    _ kind: ReadingKind, _ cell: CellValue, marks: ReadingMarks = [], _ row: Row, into out: inout BatchBuilder
  ) {
    switch cell {
    case .measurement(let measurement):
      guard let (instant, shown) = moment(row) else {
        return out.reject(row, "invalid or missing time")
      }
      out.add(
        Reading(
          device: device(row, in: &out), kind: kind, tick: instant.milliseconds, at: shown.deviceTime,
          placement: out.placement(of: shown), measurement, marks: marks, line: row.line))
      addNotes(row, into: &out)
    case .empty: out.skip("\(kind.name) without value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// The instant, and the time that the device showed then. If the device's clock was wrong, they differ by
  /// more than the offset of any zone.
  ///
  /// `time` is in UTC even if a program saved it without the `Z`. device-data/common.md of Tidepool's data
  /// model defines it as the device's time converted to UTC.
  @inline(__always)
  mutating func moment(_ row: Row) -> (instant: Instant, shown: ShownTime)? {
    guard let instant = row[columns[Name.time]].instant else { return nil }
    let seconds = instant.seconds
    if let shown = row[columns[Name.deviceTime]].yearFirstTime?.deviceTime {
      let offset = shown.seconds - seconds
      if abs(offset) < 86400 { return (instant, ShownTime(shown, utcOffset: Int32(offset))) }
    }
    if let minutes = row[columns[Name.timezoneOffset]].jsonNumber, abs(minutes) < 1440 {
      return (instant, ShownTime(utc: seconds, offset: Int32(minutes * 60)))
    }
    if let written = instant.utcOffset, written != 0 {
      return (instant, ShownTime(utc: seconds, offset: written))
    }
    return (instant, zoneOffsets.shown(utc: seconds))
  }

  /// The device by its id, or without an id by its transmitter. The id holds maker, model and serial number
  /// in one text.
  @inline(__always)
  private mutating func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let id = row[columns[Name.deviceId]]
    if !id.isEmpty { return out.device(vendor: "Tidepool", model: id, serial: .absent) }
    let (transmitter, payload) = (row[columns[Name.transmitter]], row[columns[Name.payload]])
    // Only an object is read by the names of its members. Tables and the export of the web app have it as
    // text.
    let isRead = payload.isEmpty || payload.shape == .composite
    if let unnamed, isRead, transmitter.hasSameBytes(as: unnamed.transmitter) { return unnamed.device }
    let name = transmitter.isEmpty ? nested(row, Name.payload)["transmitterId"] ?? "" : transmitter.text
    let device = out.device(
      Device(vendor: "Tidepool", model: name.isEmpty ? "Tidepool" : "Tidepool \(name)", format: Self.id))
    if isRead { unnamed = (Array(transmitter.bytes), device) }
    return device
  }
}

extension TidepoolFormat {
  /// The plain values of a nested member: JSON, or text with JSON or a Python dictionary.
  func nested(_ row: Row, _ name: Int) -> [String: String] {
    let cell = row[columns[name]]
    return cell.isEmpty ? [:] : NestedText.members(of: cell)
  }

  /// LO or HI if an annotation states it, with the annotation's threshold. If the annotation has none, the
  /// value is the threshold: in Tidepool it is the end of the range, or one step beyond it.
  @inline(__always)
  private func outOfRange(
    _ row: Row, _ cell: CellValue, threshold: (Double) -> Quantity?
  ) -> Measurement? {
    row[columns[Name.annotations]].isEmpty ? nil : annotatedLimit(row, cell, threshold)
  }

  private func annotatedLimit(
    _ row: Row, _ cell: CellValue, _ threshold: (Double) -> Quantity?
  ) -> Measurement? {
    let members = nested(row, Name.annotations)
    for index in 0..<8 {
      guard let code = members["\(index).code"] else { return nil }
      guard code == "bg/out-of-range" || code == "ketone/out-of-range" else { continue }
      let stated = members["\(index).threshold"].flatMap(Double.init).flatMap(threshold)
      let limit = stated ?? Self.quantity(cell)
      let unit = limit?.unit ?? .millimolesPerLitre
      switch members["\(index).value"] {
      case "low": return .low(below: limit?.number, unit)
      case "high": return .high(above: limit?.number, unit)
      default: continue
      }
    }
    return nil
  }

  private static func quantity(_ cell: CellValue) -> Quantity? {
    if case .measurement(let measurement) = cell { measurement.quantity } else { nil }
  }

  /// The glucose at a threshold. Thresholds are in mg/dL whatever the row's unit
  /// (docs/device-data/oor-values.md of TidepoolApi). A number below 10, or from 20 to 36 with a fraction, is
  /// taken as mmol/L.
  private static func glucoseLimit(_ number: Double) -> Quantity? {
    guard number.isFinite, number > 0, number <= 1000 else { return nil }
    let isMillimoles = number < 10 || (number > 20 && number < 36 && number != number.rounded())
    return Quantity(number, isMillimoles ? .millimolesPerLitre : .milligramsPerDecilitre)
  }
}

extension TidepoolFormat {
  static let page = FormatPage(
    origin: [
      "sign in at app.tidepool.org",
      "Account Settings > Export My Data, and choose Excel or JSON",
    ],
    variants: [
      "JSON, NDJSON, CSV",
      "XLSX, with a sheet for each kind",
      "tables that programs made of it, with nested members as text",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, finger sticks, ketones",
      "boluses, basal rates, carbohydrates, food",
      "exercise, reported states, notes",
    ],
    notRead: [
      "settings of pumps, uploads, device events",
      "the insulin and glucose that a bolus calculator was given",
      "location",
    ])
}
