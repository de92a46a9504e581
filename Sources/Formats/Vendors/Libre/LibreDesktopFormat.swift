// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The FreeStyle Libre desktop software's tab-separated text, its Spanish variant with semicolons, and Libre
/// Pro CSV.
///
/// The ID of a row counts the entries in the reader's memory. It identifies a reading, since shown times may
/// go back. The file states neither the reader nor its serial number.
struct LibreDesktopFormat: ExportFormat {
  static let id = "libre-desktop"
  static let title = "FreeStyle Libre desktop software"
  static let summary = "sensor history, scans, strips, ketones, insulin, food, exercise, notes of one reader"

  private let options: ExportOptions
  private var header: LibreHeader
  private var hasHeader = false
  private var units: [GlucoseUnit]
  private var glucose: GlucoseReader
  private var mark: DecimalMarkSurvey
  private let model: String
  private var reader: DeviceIndex?
  /// The newest shown time in the repeated hour of autumn. `isSecondPass` is true after the clock went back
  /// within this hour.
  private var newestInOverlap: Int64?
  private var isSecondPass = false

  private static func header(_ cells: [String]) -> LibreHeader? {
    guard let header = LibreHeader(cells, columns: .desktop) else { return nil }
    return header.hasAllUnits || cells.first.map(foldedHeader) == "id" ? header : nil
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<LibreHeader>>? {
    head.firstRow(header)?.recognition
  }

  /// The person in the first line: the patient's name, or the label that a study gave.
  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    guard let cells = head.rowsAbove({ header($0) != nil }).first?.filter({ !$0.isEmpty }), cells.count == 1
    else { return [] }
    return StatedPerson(label: cells[0], of: id).map { [$0] } ?? []
  }

  /// - Throws: `Failure` of category `badInput` for moved columns.
  init(_ found: Recognition<HeaderRow<LibreHeader>>, head: InputHead, options: ExportOptions) throws {
    guard !found.header.meaning.isMoved else { throw HeaderNames.moved(Self.title) }
    self.options = options
    header = found.header.meaning
    units = [header.unit]
    mark = DecimalMarkSurvey(presumed: found.header.delimiter == UInt8(ascii: ";") ? .comma : .point)
    header.columns.look(at: found.header.rows, for: &mark)
    glucose = LibreLimits.reader(header.unit, mark.mark)
    model = options.device ?? "FreeStyle Libre"
  }

  var decisions: [Decision] {
    var decisions: [Decision] = [.units(units), .yearFirst] + mark.decisions
    if header.carbs == .servings {
      decisions.append(Decision("carbohydrates", "servings", header.carbsAreStated ? .read : .inferred))
    }
    return decisions
  }

  var warnings: [String] { header.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let type = row[header.columns.type]
    guard hasHeader, type.count == 1, type[0] &- 0x30 <= 9 else { return readOther(row) }
    guard let id = row[0].integer, id >= 0 else {
      out.reject(row, "invalid ID in the first column; expected a whole number such as 12345")
      return .data
    }
    guard let time = row[header.columns.time].yearFirstTime else {
      out.reject(row, "invalid time; expected YYYY/MM/DD hh:mm")
      return .data
    }
    if !mark.isDecided {
      header.columns.look(at: row, for: &mark)
      glucose.mark = mark.mark
    }
    let filled = header.filled(row, into: &out)
    guard let own = header.columns.usedColumns(ofType: type[0]) else {
      out.reject(row, LibreColumns.unknownType)
      return .data
    }
    guard filled & ~own == 0, row.count <= 64 || row.isEmpty(from: 64) else {
      out.reject(row, "a value in a column that should be empty in rows of this type")
      return .data
    }
    if type[0] <= UInt8(ascii: "3") {
      readReadings(row, id, filled, at: time, into: &out)
    } else {
      readDiary(row, type[0], id, filled, at: time, into: &out)
    }
    return .data
  }
}

extension LibreDesktopFormat {
  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let header = Self.header(LibreHeader.cells(row)) else {
      return .unknown("before the header, or not a row of the desktop software")
    }
    hasHeader = !header.isMoved
    guard hasHeader else { return .unknown(HeaderNames.movedHeader) }
    self.header = header
    if !units.contains(header.unit) { units.append(header.unit) }
    glucose = LibreLimits.reader(header.unit, mark.mark)
    return .header
  }

  @inline(__always)
  private mutating func readReadings(
    _ row: Row, _ id: Int64, _ filled: UInt64, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let columns = header.columns
    if filled & columns.historicBit != 0 {
      add(.cbg, glucose.read(row[columns.historic]), id, row, at: time, into: &out)
    }
    if filled & columns.scanBit != 0 {
      add(.scan, glucose.read(row[columns.scan]), id, row, at: time, into: &out)
    }
    if filled == 0 { return out.skip("row without a value") }
    if filled & ~(columns.historicBit | columns.scanBit) == 0 { return }
    add(.smbg, glucose.read(row[columns.strip]), id, row, at: time, into: &out)
    add(.ketone, GlucoseReader.ketone(row[columns.ketone], mark: mark.mark), id, row, at: time, into: &out)
    if !row[columns.notes].isEmpty { diaryRow(row, id, time).addNote(to: &out) }
  }

  @inline(__always)
  private mutating func add(
    _ kind: ReadingKind, _ cell: CellValue, _ id: Int64, _ row: Row, at time: ShownTime,
    into out: inout BatchBuilder
  ) {
    switch cell {
    case .measurement(let measurement):
      out.add(
        Reading(
          device: device(in: &out), kind: kind, tick: id, at: time.deviceTime,
          placement: placement(of: time, in: &out),
          measurement, marks: LibreLimits.mark(cell, kind, glucose), line: row.line))
    case .empty: return
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  @inline(__always)
  private mutating func device(in out: inout BatchBuilder) -> DeviceIndex {
    if let reader { return reader }
    let index = out.device(Device(vendor: "Abbott", model: model, format: Self.id))
    reader = index
    return index
  }

  /// The placement of a time. In the repeated hour of autumn, a step back in the order of the memory begins
  /// the second pass.
  @inline(__always)
  private mutating func placement(of time: ShownTime, in out: inout BatchBuilder) -> Placement {
    let placement = out.placement(of: time)
    guard placement.source == .zoneOverlap else {
      newestInOverlap = nil
      isSecondPass = false
      return placement
    }
    return placementInOverlap(time.deviceTime.seconds, placement)
  }

  private mutating func placementInOverlap(_ seconds: Int64, _ placement: Placement) -> Placement {
    if let newest = newestInOverlap, seconds < newest - TickClock.setBackSeconds { isSecondPass = true }
    newestInOverlap = max(newestInOverlap ?? seconds, seconds)
    guard isSecondPass else { return placement }
    let later = options.zone.offset(
      of: DeviceTime(seconds: seconds), atUTC: seconds - Int64(placement.utcOffset) + 3 * 3600)
    return Placement(utcOffset: later, source: .ticks)
  }

  private func readDiary(
    _ row: Row, _ type: UInt8, _ id: Int64, _ filled: UInt64, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let columns = header.columns
    let diary = diaryRow(row, id, time)
    let notesBit = columns.bit(columns.notes)
    switch type {
    case UInt8(ascii: "6"):
      if filled & columns.clockBits != 0 { out.skip("clock change") }
      if filled & columns.clockBits == 0 || filled & notesBit != 0 { diary.addNote(to: &out) }
      return
    case _ where filled == 0: return out.skip("row without a value")
    case UInt8(ascii: "4") where filled & ~notesBit != 0: diary.addInsulin(to: &out)
    case UInt8(ascii: "5") where filled & ~notesBit != 0: diary.addFood(to: &out)
    default: break
    }
    if filled & notesBit != 0 { diary.addNote(to: &out) }
  }

  /// The records of a row. Their id consists of the row's ID and its time: two readers use the same IDs, and
  /// the file does not name the reader.
  private func diaryRow(_ row: Row, _ id: Int64, _ time: ShownTime) -> LibreDiaryRow {
    LibreDiaryRow(
      row: row, columns: header.columns, mark: mark.mark, carbs: header.carbs, time: time, owner: "",
      sourceID: "\(id) \(time.deviceTime.text)")
  }
}

extension LibreDesktopFormat {
  static let page = FormatPage(
    origin: [
      "FreeStyle Libre software for Windows and Mac, with the reader connected: File > Export Data"
    ],
    variants: [
      "tab-separated text with or without the name above",
      "with semicolons (Spanish)",
      "CSV of FreeStyle Libre Pro",
    ],
    languages: "English, German, Spanish",
    reads: [
      "sensor history, scans, finger sticks, ketones by the reader's own number",
      "rapid and long-acting insulin, carbohydrates, food, notes",
    ],
    notRead: [
      "changes of the clock, which are counted",
      "the name of the person",
    ])
}
