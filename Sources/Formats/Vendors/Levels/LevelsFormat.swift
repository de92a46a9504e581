// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of the Levels app. Each row states one instant twice: in UTC and in local time. The difference
/// is the offset.
struct LevelsFormat: ExportFormat {
  static let id = "levels"
  static let title = "Levels CSV"
  static let summary = "sensor readings and scans"

  enum Column: Int, CaseIterable { case utc, local, value, type }

  /// The header line and the unit that it names.
  struct Found {
    fileprivate let columns: KnownColumns<Column>
    fileprivate let unit: GlucoseUnit

    init?(_ cells: [String]) {
      columns = KnownColumns(cells) { names[$0] ?? ($0.hasPrefix(valueName) ? .value : nil) }
      guard columns.has(.utc, .local, .value, .type), let unit = Self.unit(cells[columns[.value]]) else {
        return nil
      }
      self.unit = unit
    }

    private static func unit(_ cell: String) -> GlucoseUnit? {
      let name = foldedHeader(cell).dropFirst(valueName.count)
      return name.last == ")" ? GlucoseUnit(name: name.dropLast()) : nil
    }
  }

  private static let valueName = "glucose reading ("
  private static let names: [String: Column] = [
    "time (utc)": .utc, "time (local)": .local, "type of reading": .type,
  ]
  /// The maximum offset of any zone, in seconds.
  private static let maxOffset: Int64 = 18 * 3600

  private let found: Found
  private var header: SingleHeader
  private var kinds = OtherKinds()
  private let model: String
  let joinMark: String?

  private static let app: StaticString = "Levels"

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    AppTitle.persons(head.rowsAbove { Found($0) != nil }, of: app)
  }

  static func statedPersons(named names: [String]) -> [StatedPerson] {
    names.compactMap { StatedPerson(name: $0) }
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow { AppTitle.personRow(row, of: app) }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Found>>? {
    head.firstRow(Found.init)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Found>>, head: InputHead, options: ExportOptions) {
    self.found = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Levels")
    model = options.device ?? "Levels"
    joinMark = Self.statedPersons(in: head).isEmpty ? nil : Self.app.description
  }

  var decisions: [Decision] { [.units([found.unit]), .yearFirst] }

  var warnings: [String] { found.columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let columns = found.columns
    if let verdict = header.verdict(row, key: columns[.utc]) { return verdict }
    let type = row[columns[.type]].trimmed
    let kind = Self.kind(type)
    guard let kind else {
      out.skip(kinds.name(type))
      return .data
    }
    guard let (shown, utc) = Self.time(row[columns[.utc]], row[columns[.local]]) else {
      out.reject(row, "invalid times; expected YYYY-MM-DDThh:mm:ssZ and the same instant as local time")
      return .data
    }
    switch GlucoseReader(unit: found.unit).read(row[columns[.value]].trimmed) {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      out.add(
        Reading(
          device: out.device(Device(vendor: "Levels", model: model, format: Self.id)), kind: kind, tick: utc,
          at: shown.deviceTime, placement: out.placement(of: shown), measurement, line: row.line))
    }
    return .data
  }

  private static func kind(_ type: Field) -> ReadingKind? {
    if type.equals("timeseries") { return .cbg }
    return type.equals("directRead") ? .scan : nil
  }

  private static func time(_ utc: Field, _ local: Field) -> (shown: ShownTime, utc: Int64)? {
    guard let instant = utc.yearFirstTime, instant.utcOffset == 0, let local = local.yearFirstTime else {
      return nil
    }
    let seconds = instant.deviceTime.seconds
    let offset = local.deviceTime.seconds - seconds
    guard abs(offset) <= maxOffset, local.utcOffset.map({ Int64($0) == offset }) ?? true else { return nil }
    return (ShownTime(local.deviceTime, utcOffset: Int32(offset)), seconds)
  }
}

extension LevelsFormat {
  static let page = FormatPage(
    origin: [
      "in the Levels app: the glucose data, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the glucose column"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings and scans, each with the offset of its local time"
    ],
    notRead: [
      "the name of the person",
      "readings of other types, which are counted",
    ])
}
