// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The messages of Gluroo. A message repeats the last sensor value, so only rows without a message have their
/// own value.
struct GlurooFormat: ExportFormat {
  static let id = "gluroo"
  static let title = "Gluroo CSV"
  static let summary = "sensor readings, finger sticks, insulin, carbohydrates, notes"

  enum Column: Int, CaseIterable { case time, glucose, text, messageType, units, grams, stick, typeName }

  private static let names: [String: Column] = [
    "date": .time, "bgl": .glucose, "text": .text, "msg_type": .messageType, "dose_units": .units,
    "food_g": .grams, "fp_bgl": .stick, "__typename": .typeName,
  ]
  /// Columns that are known and not read: row numbers, people, and conclusions of the app.
  private static let unread: Set<String> = [
    "sender_id", "bgl_date_millis", "template", "affects_fob", "affects_iob", "food_glycemic_index",
    "dose_automatic", "message_basal_change", "trend",
  ]

  private let columns: KnownColumns<Column>
  private var header: SingleHeader
  private let model: String

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<KnownColumns<Column>>>? {
    head.firstRow { cells in
      let columns = KnownColumns(cells, unread: unread) { names[$0] }
      let isOwn =
        columns.has(.time, .glucose, .messageType) && cells.contains { foldedHeader($0) == "bgl_date_millis" }
      return isOwn ? columns : nil
    }?.recognition
  }

  init(
    _ found: Recognition<HeaderRow<KnownColumns<Column>>>, head: InputHead, options: ExportOptions
  ) {
    columns = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Gluroo")
    model = options.device ?? "Gluroo"
  }

  var decisions: [Decision] { [.unit(.milligramsPerDecilitre), .yearFirst] }

  var warnings: [String] { columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: columns[.time]) { return verdict }
    guard let shown = row[columns[.time]].trimmed.yearFirstTime, let offset = shown.utcOffset else {
      out.reject(row, "invalid date; expected YYYY-MM-DD hh:mm:ss+hh:mm")
      return .data
    }
    let utc = shown.deviceTime.seconds - Int64(offset)
    if isMessage(row) {
      readMessage(row, at: shown, utc, into: &out)
    } else if row[columns[.glucose]].trimmed.isEmpty {
      out.skip("row without a value")
    } else {
      add(.cbg, columns[.glucose], row, at: shown, utc, into: &out)
    }
    return .data
  }

  private func isMessage(_ row: Row) -> Bool {
    let name = row[columns[.typeName]].trimmed
    return name.equals("Message") || !row[columns[.messageType]].trimmed.isEmpty
  }

  private func add(
    _ kind: ReadingKind, _ column: Int, _ row: Row, at shown: ShownTime, _ utc: Int64,
    into out: inout BatchBuilder
  ) {
    switch GlucoseReader(unit: .milligramsPerDecilitre).read(row[column].trimmed) {
    case .empty: break
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      out.add(
        Reading(
          device: out.device(Device(vendor: "Gluroo", model: model, format: Self.id)), kind: kind, tick: utc,
          at: shown.deviceTime, placement: out.placement(of: shown), measurement, line: row.line))
    }
  }

  private func readMessage(_ row: Row, at shown: ShownTime, _ utc: Int64, into out: inout BatchBuilder) {
    let amounts = [
      AmountColumn(columns[.units], "units", PlausibleAmounts.units),
      AmountColumn(columns[.grams], "carbs", PlausibleAmounts.grams),
    ]
    guard let fields = out.amounts(row, amounts) else { return }
    if let units = fields["units"] {
      out.add(.insulin, at: shown, owner: model, line: row.line, ["units": units])
    }
    if let carbs = fields["carbs"] {
      out.add(.food, at: shown, owner: model, line: row.line, ["carbs": carbs])
    }
    let stick = row[columns[.stick]].trimmed
    if !stick.isEmpty { add(.smbg, columns[.stick], row, at: shown, utc, into: &out) }
    let text = row[columns[.text]].trimmed
    if fields.isEmpty, stick.isEmpty {
      if text.isEmpty { return out.skip("message without content") }
      out.add(.note, at: shown, owner: model, line: row.line, ["text": .text(text.text)])
    }
    out.skip("sensor value repeated by a message")
  }
}

extension GlurooFormat {
  static let page = FormatPage(
    origin: [
      "in the Gluroo app: the data of the group, exported as CSV"
    ],
    variants: [
      "times with their offset; all values are in mg/dL"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, finger sticks of messages",
      "insulin and carbohydrates of messages, other messages as notes",
    ],
    notRead: [
      "the sensor value that each message repeats, which is counted",
      "who wrote a message, and what the app concluded from it",
    ])
}
