// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The CSV of JugglucoNG. Readings are identified by their instants. A value that the app derived by a
/// calibration does not replace the measured one.
struct JugglucoNGFormat: ExportFormat {
  static let id = "juggluco-ng"
  static let title = "JugglucoNG CSV"
  static let summary = "sensor readings"

  enum Column: Int, CaseIterable {
    case instant, date, value, unit, serial, type

    fileprivate var name: String {
      switch self {
      case .instant: "timestamp"
      case .date: "date"
      case .value: "value"
      case .unit: "unit"
      case .serial: "sensorserial"
      case .type: "recordtype"
      }
    }
  }

  typealias Columns = KnownColumns<Column>

  private static let byName = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0.name, $0) })
  private static let unread: Set<String> = [
    "rawvalue", "calibratedvalue", "journalid", "journaltype", "journaltitle",
  ]
  /// The last instant that is accepted, in UTC milliseconds: the end of the year 9999.
  private static let maxMilliseconds: Int64 = 253_402_300_799_999

  private var columns: Columns
  private var hasHeader = false
  private var kinds = OtherKinds()
  private var zoneOffsets: ZoneOffsets
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)

  private static func columns(_ cells: [String]) -> Columns? {
    let columns = Columns(cells, unread: unread) { byName[$0] }
    return columns[.instant] == 0 && columns.has(.date, .value, .unit, .serial) ? columns : nil
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Columns>>? {
    head.firstRow(columns)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Columns>>, head: InputHead, options: ExportOptions) {
    columns = found.header.meaning
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] { [.unitOfEachRow] }

  var warnings: [String] { columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if !hasHeader || row[columns[.instant]].equalsFolded("timestamp") {
      guard let columns = Self.columns(row.fields.map(\.text)) else {
        return .unknown("before the header, or not a row of JugglucoNG")
      }
      (self.columns, hasHeader) = (columns, true)
      return .header
    }
    let type = row[columns[.type]]
    if !type.isEmpty, !type.equals("glucose") {
      out.skip(kinds.name(type))
      return .data
    }
    guard let milliseconds = row[columns[.instant]].integer,
      (1...Self.maxMilliseconds).contains(milliseconds)
    else {
      out.reject(row, "Timestamp is not a number of milliseconds")
      return .data
    }
    readGlucose(row, at: milliseconds, into: &out)
    return .data
  }

  private mutating func readGlucose(_ row: Row, at milliseconds: Int64, into out: inout BatchBuilder) {
    let reader: GlucoseReader
    switch GlucoseUnit(name: row[columns[.unit]].trimmed.text) {
    case .milligramsPerDecilitre: reader = milligrams
    case .millimolesPerLitre: reader = millimoles
    case nil: return out.reject(row, "the unit is neither mg/dL nor mmol/L")
    }
    switch reader.read(row[columns[.value]].trimmed) {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      let seconds = milliseconds / 1000
      let shown = zoneOffsets.shown(utc: seconds)
      let device = out.device(
        vendor: "Juggluco", model: .fixed("Juggluco"), serial: row[columns[.serial]])
      out.add(
        Reading(
          device: device, kind: .cbg, tick: seconds, at: shown.deviceTime,
          placement: out.placement(of: shown),
          measurement, line: row.line))
    }
  }
}

extension JugglucoNGFormat {
  static let page = FormatPage(
    origin: [
      "in JugglucoNG: the readings, exported as CSV"
    ],
    variants: [
      "columns up to SensorSerial, or with the kind of each row and the journal",
      "mg/dL and mmol/L, by the unit of each row",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings with their instant and the serial number of the sensor"
    ],
    notRead: [
      "entries of the journal, which are counted by kind",
      "raw and calibrated values in columns of their own",
    ])
}
