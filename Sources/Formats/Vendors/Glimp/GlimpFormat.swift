// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The file of measurements of Glimp. It has no header. Newer versions write the instant after the local
/// time, so that all later columns are shifted by one. No column states the unit.
struct GlimpFormat: ExportFormat {
  static let id = "glimp"
  static let title = "Glimp CSV"
  static let summary = "sensor history, scans, finger sticks, insulin, notes"

  /// The indices of the columns in rows of either layout.
  private struct Columns {
    let instant: Int
    let glucose, kind, serial, insulin, insulinName, note: Int

    static let older = Columns(
      instant: -1, glucose: 5, kind: 6, serial: -1, insulin: 8, insulinName: 9, note: 12)
    static let newer = Columns(
      instant: 2, glucose: 6, kind: 8, serial: 9, insulin: 10, insulinName: 11, note: 14)
  }

  private static let delimiter = UInt8(ascii: ";")
  private static let widths = 13...16

  private var units: UnitSurvey
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    let rows = head.rows(delimiter)
    // The last row of the head may be truncated, so it is not examined. A file of one row is complete.
    let whole = rows.count > 1 ? rows.dropLast() : rows[...]
    guard !whole.isEmpty, whole.allSatisfy(isRow) else { return nil }
    return Recognition(.table(delimiter: delimiter))
  }

  /// Whether the row begins like `5;17/03/2024 20.46.30;…`. No other table has dots in the time.
  private static func isRow(_ cells: [String]) -> Bool {
    guard widths.contains(cells.count), (1...2).contains(cells[0].count),
      cells[0].allSatisfy({ $0.isASCII && $0.isNumber })
    else { return false }
    let pattern = "00/00/0000 00.00.00"
    return cells[1].count == pattern.count
      && zip(cells[1], pattern).allSatisfy { $1 == "0" ? $0.isASCII && $0.isNumber : $0 == $1 }
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    units = UnitSurvey(given: options.unit, isForced: options.force)
    model = options.device ?? "Glimp"
  }

  var needsSurvey: Bool { units.isUndecided }

  var benefitsFromSurvey: Bool { units.comparesGiven }

  mutating func survey(_ row: Row) {
    if let number = row[columns(row).glucose].number(mark(row)) { units.observe(number) }
  }

  mutating func decide() throws { try units.decide() }

  var decisions: [Decision] { [units.decision, .dateOrder(.dayFirst, .fixed)] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard Self.widths.contains(row.count) else {
      return .unknown("not a row of Glimp: another number of cells")
    }
    guard let open = row[1].ambiguousTime, let time = open.time(.dayFirst) else {
      out.reject(row, "invalid time; expected DD/MM/YYYY hh.mm.ss")
      return .data
    }
    let columns = columns(row)
    let (shown, instant) = Self.addingOffset(to: time, from: row[columns.instant])
    var hasItem = readGlucose(row, columns, at: shown, instant, into: &out)
    hasItem = readRecords(row, columns, at: shown, into: &out) || hasItem
    if !hasItem { out.skip("row without a value") }
    return .data
  }

  /// The layout of the row. In newer rows, ten digits after the local time are the instant; older rows have
  /// the name of a location or nothing there.
  private func columns(_ row: Row) -> Columns {
    row[2].count == 10 && row[2].integer != nil ? .newer : .older
  }

  private func mark(_ row: Row) -> DecimalMark {
    row[columns(row).glucose].bytes.contains(DecimalMark.comma.rawValue) ? .comma : .point
  }

  /// The shown time, with the offset that follows from the instant in the cell. If their difference is not a
  /// possible offset, the time has no offset, and the instant is not used.
  private static func addingOffset(to time: DeviceTime, from cell: Field) -> (ShownTime, instant: Int64?) {
    guard let instant = cell.integer, instant > 0 else { return (ShownTime(time), nil) }
    let difference = time.seconds - instant
    // Offsets of zones are multiples of a quarter of an hour, so the difference is rounded to such a
    // multiple.
    let offset = Int64((Double(difference) / 900).rounded()) * 900
    guard abs(offset) <= 18 * 3600, abs(difference - offset) <= 60 else { return (ShownTime(time), nil) }
    return (ShownTime(time, utcOffset: Int32(offset)), instant)
  }
}

extension GlimpFormat {
  /// The kind of reading for a code: 0 is a finger stick or a typed value, 3 the sensor's history, 5 a scan.
  /// Older rows have no code for a sensor's value.
  private func kind(_ cell: Field) -> ReadingKind? {
    if cell.isEmpty || cell.equals("3") { return .cbg }
    if cell.equals("5") { return .scan }
    return cell.equals("0") ? .smbg : nil
  }

  private func readGlucose(
    _ row: Row, _ columns: Columns, at time: ShownTime, _ instant: Int64?, into out: inout BatchBuilder
  ) -> Bool {
    let cell = row[columns.glucose].trimmed
    if cell.isEmpty || cell.number(mark(row)) == 0 { return false }
    guard let kind = kind(row[columns.kind].trimmed) else {
      out.skip("glucose of a kind that glucoport does not know")
      return true
    }
    let reader = GlucoseReader(unit: units.unit, mark: mark(row))
    switch reader.read(cell) {
    case .empty: return false
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      // For a finger stick, the column of the sensor's serial number names the finger.
      let serial = kind == .smbg ? "" : row[columns.serial].trimmed.text
      let device = out.device(Device(vendor: "Glimp", model: model, serial: serial, format: Self.id))
      out.add(reading(device, kind, time, instant, measurement, row, &out))
    }
    return true
  }

  private func reading(
    _ device: DeviceIndex, _ kind: ReadingKind, _ time: ShownTime, _ instant: Int64?,
    _ measurement: Measurement, _ row: Row, _ out: inout BatchBuilder
  ) -> Reading {
    let placement = out.placement(of: time)
    guard let instant else {
      return Reading(
        device: device, kind: kind, at: time.deviceTime, placement: placement, measurement, line: row.line)
    }
    return Reading(
      device: device, kind: kind, tick: instant, at: time.deviceTime, placement: placement, measurement,
      line: row.line)
  }

  private func readRecords(
    _ row: Row, _ columns: Columns, at time: ShownTime, into out: inout BatchBuilder
  ) -> Bool {
    let units = row[columns.insulin].trimmed
    var hasItem = false
    if !units.isEmpty {
      hasItem = true
      let mark = units.bytes.contains(DecimalMark.comma.rawValue) ? DecimalMark.comma : .point
      guard
        var fields = out.amounts(
          row, [AmountColumn(columns.insulin, "units", PlausibleAmounts.units)], mark)
      else { return true }
      let name = row[columns.insulinName].trimmed
      if fields.isEmpty {
        out.skip("dose of 0 units")
      } else {
        if name.equalsFolded("rapid") { fields["subtype"] = .text("rapid") }
        if name.equalsFolded("basal") { fields["subtype"] = .text("long") }
        if fields["subtype"] == nil, !name.isEmpty { fields["text"] = .text(name.text) }
        out.add(.insulin, at: time, owner: model, line: row.line, fields)
      }
    }
    let note = row[columns.note].trimmed
    if !note.isEmpty {
      out.add(.note, at: time, owner: model, line: row.line, ["text": .text(note.text)])
      hasItem = true
    }
    return hasItem
  }
}

extension GlimpFormat {
  static let page = FormatPage(
    origin: [
      "the file GlicemiaMisurazioni.csv.gz, which Glimp keeps in its folder of Dropbox; import it as it is"
    ],
    variants: [
      "the older layout of 13 columns, and the one of 15 with the instant",
      "UTF-16 and UTF-8, compressed or not",
      "mg/dL and mmol/L: no column names the unit, so all values decide it, or --unit",
    ],
    languages: "every language, as the file has no header; insulin named Rapid or Basal is stored as such",
    reads: [
      "calibrated glucose: sensor history, scans, finger sticks",
      "the serial number of the sensor, in the newer layout",
      "insulin, notes",
    ],
    notRead: [
      "raw glucose, body weight, places",
      "glucose of other kinds and doses of 0 units, which are counted",
    ])
}
