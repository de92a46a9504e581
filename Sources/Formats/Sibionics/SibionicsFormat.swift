// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The workbook of the Sibionics app, whose times have an offset, so that a reading's place is its instant. It also
/// reads the table that hospitals get, whose times are local.
struct SibionicsFormat: ExportFormat {
  static let id = "sibionics"
  static let title = "Sibionics tables"
  static let summary = "sensor readings"

  /// The highest value that the app shows.
  private static let highest: [GlucoseUnit: Double] = [.milligramsPerDecilitre: 450, .millimolesPerLitre: 25]
  /// In mmol/L. At least half of a person's glucose values are higher, and nearly all ketone values are lower.
  private static let fewestOfGlucose = 3.0

  private let table: SibionicsTable
  private var header: SingleHeader
  private var dates: OpenDates
  private var below = 0
  private var count = 0
  private let kind: ReadingKind
  private let kindIsGiven: Bool
  private let model: String

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<SibionicsTable>>? {
    if let kind = options.kind, kind != .cbg, kind != .ketone { return nil }
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      for (index, cells) in rows.enumerated() {
        let below = rows[(index + 1)...]
        guard let table = SibionicsTable(app: cells, rows: below) ?? SibionicsTable(hospital: cells),
          options.kind != .ketone || table.unit == .millimolesPerLitre
        else { continue }
        return HeaderRow(delimiter: delimiter, cells: cells, rows: below, meaning: table).recognition
      }
    }
    return nil
  }

  init(_ found: Recognition<HeaderRow<SibionicsTable>>, head: InputHead, options: ExportOptions) throws {
    table = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Sibionics")
    let time = table.time
    dates = try OpenDates(options, times: found.header.rows.compactMap { $0.count > time ? $0[time] : nil })
    kind = options.kind ?? .cbg
    kindIsGiven = options.kind != nil
    model = options.device ?? "Sibionics"
  }

  private var mayBeKetones: Bool { table.unit == .millimolesPerLitre && !kindIsGiven }

  var isOpen: Bool { dates.isOpen || mayBeKetones }

  mutating func survey(_ row: Row) {
    dates.note(clock(row).openTime, isHistory: true, line: row.line)
    guard let number = row[table.value].number() else { return }
    count += 1
    if number < Self.fewestOfGlucose { below += 1 }
  }

  mutating func settle() throws {
    if mayBeKetones, below * 2 > count {
      throw Failure(
        .badInput,
        "most values are below 3 mmol/L, as those of a ketone sensor are; "
          + "if they are ketones, import the file with --kind ketone")
    }
    try dates.settle(languagePutsDayFirst: table.languagePutsDayFirst)
  }

  var decisions: [Decision] {
    [.units([table.unit]), dates.decision] + (kindIsGiven ? [Decision("kind", kind.name, .given)] : [])
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    if let verdict = header.verdict(row, key: table.time) { return verdict }
    guard let shown = time(row) else {
      out.reject(
        row, table.hasOffsets ? "invalid time; expected a date, a time and GMT±h" : dates.refusal)
      return .data
    }
    let cell = row[table.value].trimmed
    switch kind == .ketone
      ? GlucoseReader.ketone(cell, mark: .point) : GlucoseReader(unit: table.unit).read(cell)
    {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement): out.add(reading(measurement, at: shown, row, &out))
    }
    return .data
  }

  private func clock(_ row: Row) -> Field {
    let cell = row[table.time].trimmed
    return table.hasOffsets ? OffsetTime(cell)?.clock ?? .absent : cell
  }

  private func time(_ row: Row) -> ShownTime? {
    guard table.hasOffsets else { return dates.time(row[table.time].trimmed) }
    guard let text = OffsetTime(row[table.time]), let clock = dates.time(text.clock) else { return nil }
    return ShownTime(clock.deviceTime, utcOffset: text.offset)
  }

  private func reading(
    _ measurement: Measurement, at shown: ShownTime, _ row: Row, _ out: inout Collector
  ) -> Reading {
    let device = out.device(
      Device(vendor: "Sibionics", model: model, serial: table.serial, format: Self.id))
    let isHighest = measurement.quantity?.number == Self.highest[table.unit]
    let marks: ReadingMarks = isHighest ? .atLimit : []
    guard let offset = shown.utcOffset else {
      return Reading(
        device: device, kind: kind, at: shown.deviceTime, placement: out.place(shown), measurement,
        marks: marks, line: row.line)
    }
    return Reading(
      device: device, kind: kind, tick: shown.deviceTime.seconds - Int64(offset), at: shown.deviceTime,
      placement: out.place(shown), measurement, marks: marks, line: row.line)
  }
}
