// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of the Sibio ketone sensor. Its header is nearly that of the glucose sensor, so at least two of
/// three signs must distinguish it.
struct SibioFormat: ExportFormat {
  static let id = "sibio"
  static let title = "Sibio ketone sensor"
  static let summary = "ketones of a sensor"

  private static let value = "Sensor reading(mmol/L)"
  /// The value in mmol/L from which values are counted as too high for ketones. Ketones are rarely this high
  /// for long, and nearly all glucose is higher.
  private static let highForKetones = 3.0

  /// The indexes of the columns of time and value.
  struct Columns {
    let time: Int
    let value: Int
  }

  private let columns: Columns
  private var header: SingleHeader
  private var high = 0
  private var count = 0
  private let kindIsGiven: Bool
  private let model: String
  /// The options of the commands that a refusal suggests, and the names of the columns in these commands.
  private let hint: ImportHint
  private let names: (time: String, value: String)

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Columns>>? {
    if let kind = options.kind, kind != .ketone { return nil }
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      for (index, cells) in rows.enumerated() {
        let below = rows[(index + 1)...]
        guard let columns = columns(cells, below) else { continue }
        return HeaderRow(delimiter: delimiter, cells: cells, rows: below, meaning: columns).recognition
      }
    }
    return nil
  }

  /// The columns; nil unless at least two signs of the ketone sensor are present. The signs are a first
  /// column `No.`, a small letter in the value's name, and times without an offset.
  private static func columns(_ cells: [String], _ rows: ArraySlice<[String]>) -> Columns? {
    var names = cells
    while names.last?.isEmpty == true { names.removeLast() }
    let folded = names.map(foldedHeader)
    guard (2...3).contains(names.count), folded.last == foldedHeader(value),
      folded[names.count - 2] == "time", names.count == 2 || folded[0] == "no."
    else { return nil }
    let time = names.count - 2
    let isPlain = rows.first { $0.count > time && !$0[time].isEmpty }.map { cells in
      Field.withText(cells[time]) { $0.yearFirstTime?.utcOffset == nil && $0.yearFirstTime != nil }
    }
    let signs = [names.count == 3, names.last == value, isPlain == true]
    return signs.count { $0 } >= 2 ? Columns(time: time, value: names.count - 1) : nil
  }

  init(_ found: Recognition<HeaderRow<Columns>>, head: InputHead, options: ExportOptions) {
    columns = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Sibio")
    kindIsGiven = options.kind != nil
    model = options.device ?? "Sibio"
    hint = ImportHint(options: options)
    names = (found.header.cells[columns.time], found.header.cells[columns.value])
  }

  var needsSurvey: Bool { !kindIsGiven }

  mutating func survey(_ row: Row) {
    guard let number = row[columns.value].number() else { return }
    count += 1
    if number >= Self.highForKetones { high += 1 }
  }

  /// - Throws: `Failure` of category `badInput` for values that may be glucose.
  mutating func decide() throws {
    guard high * 2 > count else { return }
    let names = names
    let roles = ["ketone", "value"].map { role in
      { (options: inout ExportOptions) in options.columns = ["time": names.time, role: names.value] }
    }
    throw Failure(
      .badInput,
      "the table is that of a ketone sensor, but most values are 3 mmol/L or more; "
        + "import it with one of these, as ketones or as glucose:" + hint.lines(roles))
  }

  var decisions: [Decision] {
    [
      .units([.millimolesPerLitre]), Decision("kind", ReadingKind.ketone.name, .read),
      .yearFirst,
    ]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: columns.time) { return verdict }
    guard let time = row[columns.time].trimmed.yearFirstTime else {
      out.reject(row, "invalid time; expected YYYY-MM-DD hh:mm:ss")
      return .data
    }
    let cell = row[columns.value].trimmed
    if cell.isEmpty {
      out.skip("row without a value")
      return .data
    }
    let device = out.device(Device(vendor: "Sibionics", model: model, format: Self.id))
    out.add(.ketone, GlucoseReader.ketone(cell, mark: .point), device: device, at: time, row: row)
    return .data
  }
}

extension SibioFormat {
  static let page = FormatPage(
    origin: [
      "in the app of the Sibio ketone sensor (KetoCheck): the sensor's data, exported as CSV or XLSX"
    ],
    variants: [
      "CSV, and a workbook whose sheet is named like the sensor",
      "a table with most values of 3 mmol/L or more, which may be glucose, is refused until a person says what it is",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "ketones in mmol/L, which are never glucose"
    ],
    notRead: [
      "the number of each row"
    ])
}
