// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The tab-separated tables of Juggluco: history, stream and scans of a sensor, and amounts that a person
/// entered.
///
/// Each row has its instant and the offset of its local time. The name of the column of values is their unit.
struct JugglucoFormat: ExportFormat {
  static let id = "juggluco"
  static let title = "Juggluco TSV"
  static let summary = "sensor readings, and amounts as notes"

  enum Column: Int, CaseIterable {
    case sensor, source, number, instant, local, offset, age, milligrams, millimoles, both, raw, difference
    case rate, label, value, name

    fileprivate var name: String {
      switch self {
      case .sensor: "sensorid"
      case .source: "source"
      case .number: "nr"
      case .instant: "unixtime"
      case .local: "yyyy-mm-ddthh:mm:ss"
      case .offset: "tz"
      case .age: "min"
      case .milligrams: "mg/dl"
      case .millimoles: "mmol/l"
      case .both: "both"
      case .raw: "raw"
      case .difference: "diff"
      case .rate: "rate"
      case .label: "changelabel"
      case .value: "value"
      case .name: "label"
      }
    }
  }

  /// The last instant that is accepted, in UTC seconds: the end of the year 9999.
  private static let maxInstant: Int64 = 253_402_300_799

  /// A header line: the columns, and the unit of the values. The unit is nil for a table of amounts.
  struct Found {
    let columns: KnownColumns<Column>
    let unit: GlucoseUnit?
    /// The index of the column of values.
    let value: Int

    init?(_ cells: [String]) {
      columns = KnownColumns(cells) { JugglucoFormat.byName[$0] }
      guard columns[.instant] == 2, columns[.number] == 1, columns.has(.local, .offset) else { return nil }
      if columns[.source] == 0, columns.has(.value, .name) {
        (unit, value) = (nil, columns[.value])
        return
      }
      let units: [(Column, GlucoseUnit)] = [
        (.milligrams, .milligramsPerDecilitre), (.both, .milligramsPerDecilitre),
        (.millimoles, .millimolesPerLitre),
      ]
      guard columns[.sensor] == 0,
        let (column, unit) = units.first(where: { [columns] in columns[$0.0] >= 0 })
      else { return nil }
      self.unit = unit
      // In calibrated history, the app writes the sensor's value to the column of the unit, and the
      // calibrated value to Raw. So Raw is read.
      value = columns[.raw] >= 0 && columns[.rate] < 0 ? columns[.raw] : columns[column]
    }
  }

  private static let byName: [String: Column] = {
    var names = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0.name, $0) })
    // Older versions have a hyphen before the time of day.
    names["yyyy-mm-dd-hh:mm:ss"] = .local
    return names
  }()

  private var header: Found
  private var hasHeader = false
  private var units: [GlucoseUnit]
  private let givenKind: ReadingKind?

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Found>>? {
    head.firstRow(Found.init)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Found>>, head: InputHead, options: ExportOptions) {
    header = found.header.meaning
    units = header.unit.map { [$0] } ?? []
    givenKind = options.kind
  }

  var decisions: [Decision] {
    guard !units.isEmpty else { return [] }
    // Scans, the stream and the history have the same columns, and may contain the same reading. So all of
    // them have one kind.
    let kind = givenKind.map { Decision("kind", $0.name, .given) } ?? Decision("kind", "cbg", .fixed)
    return [.units(units), kind]
  }

  var warnings: [String] { header.columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if !hasHeader || row[2].equalsFolded("unixtime") { return readOther(row) }
    if row.count < 6 { return .unknown("not a row of Juggluco") }
    guard let instant = row[header.columns[.instant]].integer, (1...Self.maxInstant).contains(instant),
      let hours = row[header.columns[.offset]].number(), abs(hours) <= 18
    else {
      out.reject(row, "UnixTime is not a number of seconds, or TZ none of hours")
      return .data
    }
    let time = ShownTime(utc: instant, offset: Int32(hours * 3600))
    if let unit = header.unit {
      readGlucose(row, unit, at: time, instant, into: &out)
    } else {
      readAmount(row, at: time, instant, into: &out)
    }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let header = Found(row.fields.prefix(32).map(\.text)) else {
      return .unknown("before the header, or not a row of Juggluco")
    }
    (self.header, hasHeader) = (header, true)
    if let unit = header.unit, !units.contains(unit) { units.append(unit) }
    return .header
  }

  private func readGlucose(
    _ row: Row, _ unit: GlucoseUnit, at time: ShownTime, _ instant: Int64, into out: inout BatchBuilder
  ) {
    let cell = row[header.value]
    if cell.number() == 0 { return out.skip("row without a value") }
    switch GlucoseReader(unit: unit).read(cell) {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      let device = out.device(
        vendor: "Juggluco", model: .fixed("Juggluco"), serial: row[header.columns[.sensor]])
      out.add(
        Reading(
          device: device, kind: givenKind ?? .cbg, tick: instant, at: time.deviceTime,
          placement: out.placement(of: time), measurement, line: row.line))
    }
  }

  /// Adds an amount as a note. Only its label, in a person's own words, states whether it is insulin, food or
  /// anything else.
  private func readAmount(_ row: Row, at time: ShownTime, _ instant: Int64, into out: inout BatchBuilder) {
    let words = [row[header.columns[.name]], row[header.value]].map { $0.trimmed.text }
      .filter { !$0.isEmpty }
    if words.isEmpty { return out.skip("row without a value") }
    let (source, number) = (row[header.columns[.source]].text, row[header.columns[.number]].text)
    out.add(
      .note, at: time, owner: source, sourceID: "\(source) \(number) \(instant)", line: row.line,
      ["text": .text(words.joined(separator: " "))])
  }
}

extension JugglucoFormat {
  static let page = FormatPage(
    origin: [
      "in Juggluco: left middle menu > Export, and choose history, stream, scans or amounts",
      "or from its web server, with Local only off: curl 'http://PHONE:17580/x/stream?header' | glucoport"
        + " import -",
    ],
    variants: [
      "tables of history, stream and scans, calibrated or not",
      "tables of amounts",
      "mg/dL or mmol/L in the name of the column; a table with both is read in mg/dL",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings with their instant and the serial number of the sensor, of calibrated tables "
        + "the calibrated value",
      "amounts as notes, since their labels are your own words",
    ],
    notRead: [
      "values before the calibration, the rate of change, the age of the sensor",
      "tables without a header",
    ])
}
