// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The report on an Accu-Chek Mobile's disk, copied to a file. Each row states its unit. Flags are found by
/// the names of their columns, since their positions differ between reports of 10 and of 12 columns.
struct AccuChekMobileFormat: ExportFormat {
  static let id = "accu-chek-mobile"
  static let title = "Accu-Chek Mobile report"
  static let summary = "finger sticks with their flags, tests of control solution"

  enum Column: Int, CaseIterable {
    case date, time, result, unit, temperature, outOfRange, other, beforeMeal, afterMeal, fasting, bedtime
    case control
  }

  typealias Columns = KnownColumns<Column>

  /// The names of the columns in English and German.
  private static let names: [String: Column] = [
    "date": .date, "datum": .date, "time": .time, "uhrzeit": .time, "result": .result, "messwert": .result,
    "unit": .unit, "einheit": .unit, "temperature warning": .temperature,
    "temperaturwarnung": .temperature, "out of target range": .outOfRange,
    "außerhalb zielbereich": .outOfRange, "other": .other, "sonstiges": .other,
    "before meal": .beforeMeal, "vor mahlzeit": .beforeMeal, "after meal": .afterMeal,
    "nach mahlzeit": .afterMeal, "fasting": .fasting, "nüchtern": .fasting, "bedtime": .bedtime,
    "schlafenszeit": .bedtime, "control test": .control, "funktionskontrolle": .control,
  ]
  private static let serialNames: Set<String> = ["serial number", "seriennummer"]
  private static let marks: [(Column, ReadingMarks)] = [
    (.temperature, .temperatureWarning), (.beforeMeal, .beforeMeal), (.afterMeal, .afterMeal),
    (.fasting, .fasting), (.bedtime, .bedtime), (.control, .controlSolution),
  ]

  private var columns: Columns
  private var hasHeader = false
  /// Whether the next row holds the serial number.
  private var isSerialNext = false
  private var serial = ""
  private var madeAt: DeviceTime?
  private var contradictions = 0
  private let options: ExportOptions

  private static func columns(_ cells: [String]) -> Columns? {
    let columns = Columns(cells) { names[$0] }
    return columns.has(.date, .time, .result, .unit, .control) ? columns : nil
  }

  /// Requires the meter's line with the serial number above the header, since many other tables have the same
  /// columns.
  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Columns>>? {
    // The meter writes semicolons; programs that save the table again may write other delimiters.
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      guard
        let top = rows.firstIndex(where: {
          $0.count > 1 && ($0.first.map { serialNames.contains(foldedHeader($0)) } ?? false)
        }),
        let index = rows.indices.first(where: { $0 > top && columns(rows[$0]) != nil }),
        let columns = columns(rows[index])
      else { continue }
      return HeaderRow(
        delimiter: delimiter, cells: rows[index], rows: rows[(index + 1)...], meaning: columns
      ).recognition
    }
    return nil
  }

  init(_ found: Recognition<HeaderRow<Columns>>, head: InputHead, options: ExportOptions) {
    columns = found.header.meaning
    self.options = options
  }

  var decisions: [Decision] { [.unitOfEachRow, .dateOrder(.dayFirst, .fixed)] }

  var warnings: [String] {
    let marked = counted(contradictions, "reading is", "readings are")
    return columns.warnings
      + (contradictions > 0
        ? ["\(marked) marked as before and after a meal: the values are stored without either mark"] : [])
  }

  var generatedAt: Int64? {
    madeAt.map { time in
      var zone = options.zone
      return time.seconds - Int64(zone.placement(of: time).utcOffset)
    }
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[columns[.date]].bytes.first, first &- 0x30 <= 9 else {
      return readOther(row)
    }
    guard let time = Self.time(row[columns[.date]], row[columns[.time]]) else {
      out.reject(row, "invalid date or time; expected DD.MM.YYYY and hh:mm")
      return .data
    }
    let result = row[columns[.result]].trimmed
    if result.isEmpty {
      out.skip("row without a result")
      return .data
    }
    guard let unit = GlucoseUnit(name: row[columns[.unit]].trimmed.text) else {
      out.reject(row, "the unit is neither mg/dL nor mmol/L")
      return .data
    }
    let device = out.device(
      Device(vendor: "Roche", model: options.device ?? "Accu-Chek Mobile", serial: serial, format: Self.id))
    out.add(
      .smbg, GlucoseReader(unit: unit).read(result), device: device, at: ShownTime(time), marks: marks(row),
      row: row)
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    if isSerialNext, row.count >= 3 {
      isSerialNext = false
      serial = row[0].trimmed.text
      madeAt = Self.time(row[1], row[2])
      return .data
    }
    if let columns = Self.columns(row.fields.map(\.text)) {
      (self.columns, hasHeader) = (columns, true)
      return .header
    }
    if row[0].count <= 32, Self.serialNames.contains(row[0].folded) {
      (isSerialNext, hasHeader) = (true, false)
      return .data
    }
    return .unknown("before the header, or not a row of the report")
  }

  /// The marks of a row. A value that is marked both as before and as after a meal gets neither mark, as in
  /// the meter's driver.
  private mutating func marks(_ row: Row) -> ReadingMarks {
    var marks: ReadingMarks = []
    for (column, mark) in Self.marks where !row[columns[column]].trimmed.isEmpty { marks.formUnion(mark) }
    if marks.isSuperset(of: [.beforeMeal, .afterMeal]) {
      marks.subtract([.beforeMeal, .afterMeal])
      contradictions += 1
    }
    return marks
  }

  private static func time(_ date: Field, _ clock: Field) -> DeviceTime? {
    AmbiguousTime(date.trimmed, clock.trimmed)?.time(.dayFirst)
  }
}

extension AccuChekMobileFormat {
  static let page = FormatPage(
    origin: [
      "connect the meter by USB, and copy the CSV file from the folder Reports of its disk",
      "or read the meter itself: glucoport import --meter",
    ],
    variants: [
      "10 columns, and 12 columns with fasting and bedtime",
      "mg/dL and mmol/L, by the unit of each row",
    ],
    languages: "English, German",
    reads: [
      "finger sticks with the serial number of the meter, tests of control solution marked as such",
      "before or after a meal, fasting, bedtime, temperature warning",
    ],
    notRead: [
      "the flag for values out of the target range, and the one for others",
      "before and after a meal where a row has both: the value is stored without them",
    ])
}
