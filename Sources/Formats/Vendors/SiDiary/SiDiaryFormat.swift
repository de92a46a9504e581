// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The CSV of SiDiary, as xDrip+ and Spike export it. A file has blocks of sensor values, finger sticks and
/// treatments, in local time to the minute.
///
/// Rows can be shorter or longer than the header, and the remark at their end is not quoted.
struct SiDiaryFormat: ExportFormat {
  static let id = "sidiary"
  static let title = "SiDiary CSV of xDrip+"
  static let summary = "sensor readings, finger sticks, ketones, insulin, carbohydrates, notes"

  fileprivate enum Column: Int, CaseIterable {
    case day, time, sensor, milligrams, millimoles, ketone, exchanges, grams, bolus, basal, remark

    var name: String {
      switch self {
      case .day: "day"
      case .time: "time"
      case .sensor: "udt_cgms"
      case .milligrams: "bg_level"
      case .millimoles: "bg_level_mmol"
      case .ketone: "ketone"
      case .exchanges: "ch_be_khe"
      case .grams: "ch_gr"
      case .bolus: "bolus"
      case .basal: "basal"
      case .remark: "remark"
      }
    }
  }

  /// Other columns of SiDiary. They are not read.
  private static let others: Set<String> = ["bloodpressure", "weight_lbs", "weight_kg"]

  /// The indexes of the columns, and the names of columns that are not read.
  struct Found {
    fileprivate let columns: [Int]
    let count: Int
    let unknown: [String]

    // Weather stations write `Day;Time`, too. A table is SiDiary's only if it has a column that no other
    // program has.
    fileprivate init?(_ cells: [String]) {
      let folded = cells.map(foldedHeader)
      guard cells.count >= 3, cells[0] == "DAY", cells[1] == "TIME" else { return nil }
      columns = Column.allCases.map { folded.firstIndex(of: $0.name) ?? -1 }
      guard columns[2...].contains(where: { $0 >= 2 }) else { return nil }
      count = cells.count
      let known = Set(Column.allCases.map(\.name)).union(SiDiaryFormat.others)
      unknown = zip(cells, folded).filter { !$1.isEmpty && !known.contains($1) }.map(\.0)
    }

    fileprivate subscript(column: Column) -> Int { columns[column.rawValue] }
  }

  private var found: Found
  private let hasSemicolons: Bool
  private var hasHeader = false
  private let model: String
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)
  private var deviceIndex: DeviceIndex?

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Found>>? {
    head.firstRow(Found.init)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Found>>, head: InputHead, options: ExportOptions) {
    self.found = found.header.meaning
    if case .table(UInt8(ascii: ";")) = found.layout { hasSemicolons = true } else { hasSemicolons = false }
    model = options.device ?? "SiDiary"
  }

  var decisions: [Decision] {
    [Decision("unit", "as each column says", .fixed), .dateOrder(.dayFirst, .fixed)]
  }

  var warnings: [String] { found.unknown.map { HeaderNames.warning($0, readAs: nil) } }

  // Semicolons in a remark in the last column are not quoted, so its text fills any number of cells. In a
  // table with commas, a further cell may also come from an amount with a decimal comma.
  func maxCells(below header: Row?) -> Int? {
    hasSemicolons && found[.remark] == found.count - 1 ? nil : header?.filledCount
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[0].bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard let day = row[0].ambiguousDate, day.length == row[0].count, let clock = row[1].timeOfDay,
      let time = DeviceTime(
        year: day.year, month: day.second, day: day.first, hour: clock.hour, minute: clock.minute,
        second: clock.second)
    else {
      out.reject(row, "invalid date or time; expected DD.MM.YYYY;hh:mm")
      return .data
    }
    let shown = ShownTime(time)
    var hasItem = readValues(row, at: shown, into: &out)
    hasItem = readRecords(row, at: shown, into: &out) || hasItem
    if !hasItem { out.skip("row without a value") }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let found = Found(row.fields.map(\.text)) else {
      return .unknown("before the header, or not a row of SiDiary")
    }
    self.found = found
    hasHeader = true
    return .header
  }
}

extension SiDiaryFormat {
  private mutating func device(in out: inout BatchBuilder) -> DeviceIndex {
    if let deviceIndex { return deviceIndex }
    let index = out.device(Device(vendor: "SiDiary", model: model, format: Self.id))
    deviceIndex = index
    return index
  }

  private mutating func readValues(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    var hasItem = false
    if addSensor(row, at: time, into: &out) { hasItem = true }
    for (column, reader) in [(Column.milligrams, milligrams), (.millimoles, millimoles)] {
      let cell = row[found[column]]
      if cell.isEmpty || cell.number() == 0 { continue }
      out.add(.smbg, reader.read(cell), device: device(in: &out), at: time, row: row)
      hasItem = true
      // If a row states a finger stick in both units, only the value in mg/dL is read.
      break
    }
    let ketone = row[found[.ketone]]
    if !ketone.isEmpty, ketone.number() != 0 {
      out.add(
        .ketone, GlucoseReader.ketone(ketone, mark: .point), device: device(in: &out), at: time, row: row)
      hasItem = true
    }
    return hasItem
  }

  private mutating func addSensor(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let cell = row[found[.sensor]]
    // For a missing value, Spike writes nothing, and other programs write 0.
    if cell.isEmpty || cell.number() == 0 { return false }
    guard case .measurement(let measurement) = milligrams.read(cell) else {
      if case .rejected(let reason) = milligrams.read(cell) { out.reject(row, reason) }
      return true
    }
    out.add(
      Reading(
        device: device(in: &out), kind: .cbg, at: time.deviceTime, placement: out.placement(of: time),
        measurement,
        line: row.line))
    return true
  }

  private func readRecords(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    var hasItem = false
    let amounts: [(Column, RecordKind, String, String?, ClosedRange<Double>)] = [
      (.grams, .food, "carbs", nil, PlausibleAmounts.grams),
      (.exchanges, .food, "servings", nil, PlausibleAmounts.servings),
      (.bolus, .insulin, "units", "rapid", PlausibleAmounts.units),
      (.basal, .insulin, "units", "long", PlausibleAmounts.units),
    ]
    for (column, kind, field, subtype, range) in amounts {
      let cell = row[found[column]]
      if cell.isEmpty || cell.number() == 0 { continue }
      hasItem = true
      guard let number = cell.number(), range.contains(number) else {
        out.reject(row, "an amount is not a number from 0 to \(plainNumber(range.upperBound))")
        continue
      }
      var fields: [String: FieldValue] = [field: .number(number)]
      if let subtype { fields["subtype"] = .text(subtype) }
      out.add(kind, at: time, owner: model, line: row.line, fields)
    }
    let remark = remark(row)
    if remark.isEmpty { return hasItem }
    if ["Started by xDrip", "Stopped by xDrip"].contains(remark) {
      out.skip("sensor start or stop")
    } else {
      out.add(.note, at: time, owner: model, line: row.line, ["text": .text(remark)])
    }
    return true
  }

  /// The remark at the end of a line. Delimiters in it are not quoted, and a line end in it is `||`.
  private func remark(_ row: Row) -> String {
    let start = found[.remark]
    guard start >= 0, start < row.count else { return "" }
    // The remark is one cell if other columns follow it, and in a table with commas.
    if start < found.count - 1 || !hasSemicolons { return row[start].text.replacing("||", with: "\n") }
    // The remark is read from the original bytes, since blanks around the cells of the row were removed.
    var rest = row.source[...]
    for _ in 0..<start { rest = rest.drop { $0 != UInt8(ascii: ";") }.dropFirst() }
    while rest.last == UInt8(ascii: ";") { rest = rest.dropLast() }
    guard let base = rest.base.baseAddress else { return "" }
    let text = Field(start: base + rest.startIndex, count: rest.count, shape: .bare).trimmed.text
    return text.replacing("||", with: "\n")
  }
}

extension SiDiaryFormat {
  static let page = FormatPage(
    origin: [
      "in xDrip+: menu > Import / Export features > Export CSV (SiDiary format), and import the ZIP "
        + "archive as it is",
      "in SiDiary: export as CSV",
    ],
    variants: [
      "of xDrip+, of Spike, and with the general columns of SiDiary"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor values, finger sticks, ketones",
      "insulin, carbohydrates, remarks",
    ],
    notRead: [
      "blood pressure, weight",
      "start and stop of a sensor, which are counted",
    ])
}
