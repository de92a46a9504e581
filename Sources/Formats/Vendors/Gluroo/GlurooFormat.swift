// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The messages of Gluroo, in both layouts. In the older one a message repeats the last sensor value, so only
/// rows without a message have their own value.
struct GlurooFormat: ExportFormat {
  static let id = "gluroo"
  static let title = "Gluroo CSV"
  static let summary = "sensor readings, finger sticks, insulin, carbohydrates, notes"

  enum Column: Int, CaseIterable { case time, glucose, text, messageType, units, grams, stick, typeName }

  private static let names: [String: Column] = [
    "date": .time, "bgl": .glucose, "text": .text, "msg_type": .messageType, "dose_units": .units,
    "food_g": .grams, "fp_bgl": .stick, "__typename": .typeName, "msgtype": .messageType, "doseunits": .units,
    "foodg": .grams, "fpbgl": .stick, "eventtype": .typeName,
  ]
  /// Columns that are known and not read: row numbers, people, conclusions of the app, and details of food
  /// and exercise.
  private static let unread: Set<String> = [
    "sender_id", "bgl_date_millis", "template", "affects_fob", "affects_iob", "food_glycemic_index",
    "dose_automatic", "message_basal_change", "trend", "senderid", "affectsfob", "affectsiob", "foodsugar",
    "foodfat", "foodprotein", "foodsalt", "foodcal", "doseautomatic", "description", "actionmins",
    "exercisemins", "exerciselevel",
  ]
  /// A name that only the older layout has.
  private static let olderName = "bgl_date_millis"
  /// Names of the later layout. Another program may have a few of them, so a header must have
  /// `minLaterNames`.
  private static let laterNames = [
    "affectsfob", "affectsiob", "doseunits", "foodg", "fpbgl", "doseautomatic",
  ]
  private static let minLaterNames = 3
  /// The use of a dose by the type of its message. The data dictionary of Gluroo lists both types, and public
  /// readers take them as boluses and as long-acting insulin. Other types leave the use open.
  private static let uses = ["DOSE_INSULIN": "rapid", "DOSE_BASAL_INSULIN": "long"]

  private let columns: KnownColumns<Column>
  private var header: SingleHeader
  private var zoneOffsets: ZoneOffsets
  private let model: String

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<KnownColumns<Column>>>? {
    head.firstRow { cells in
      let columns = KnownColumns(cells, unread: unread) { names[$0] }
      return columns.has(.time, .glucose, .messageType) && hasOwnNames(cells) ? columns : nil
    }?.recognition
  }

  private static func hasOwnNames(_ cells: [String]) -> Bool {
    let names = cells.map(foldedHeader)
    return names.contains(olderName) || laterNames.count { names.contains($0) } >= minLaterNames
  }

  init(
    _ found: Recognition<HeaderRow<KnownColumns<Column>>>, head: InputHead, options: ExportOptions
  ) {
    columns = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Gluroo")
    zoneOffsets = ZoneOffsets(options.zone)
    model = options.device ?? "Gluroo"
  }

  var decisions: [Decision] { [.unit(.milligramsPerDecilitre), .yearFirst] }

  var warnings: [String] { columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: columns[.time]) { return verdict }
    guard let stated = row[columns[.time]].trimmed.yearFirstTime, let offset = stated.utcOffset else {
      out.reject(row, "invalid date; expected YYYY-MM-DD hh:mm:ss+hh:mm or YYYY-MM-DDThh:mm:ssZ")
      return .data
    }
    let utc = stated.deviceTime.seconds - Int64(offset)
    let shown = zoneOffsets.localised(stated)
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
    return name.equalsFolded("Message") || !row[columns[.messageType]].trimmed.isEmpty
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
      var dose = ["units": units]
      if let use = Self.uses[row[columns[.messageType]].trimmed.text] { dose["subtype"] = .text(use) }
      out.add(.insulin, at: shown, owner: model, line: row.line, dose)
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
    if !row[columns[.glucose]].trimmed.isEmpty { out.skip("sensor value repeated by a message") }
  }
}

extension GlurooFormat {
  static let page = FormatPage(
    origin: [
      "in the Gluroo app: the data of the group, exported as CSV"
    ],
    variants: [
      "names such as msg_type: local times with their offset",
      "names such as msgType: times in UTC, shown in the zone of the logbook",
      "all values are in mg/dL",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, finger sticks of messages",
      "insulin of messages, rapid or long-acting by the type of the message; other types leave this open",
      "carbohydrates of messages, other messages as notes",
    ],
    notRead: [
      "the sensor value that a message repeats, which is counted",
      "sugar, fat, protein, salt and calories of food, descriptions, and the columns of exercise",
      "who wrote a message, and what the app concluded from it",
    ])
}
