// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads what people do and what pumps deliver. Items for which glucoport has no kind are counted by type,
/// and only their notes are stored.
extension TidepoolFormat {
  /// The content of an item: a record's kind, fields and duration (see `TidepoolDurations`), or the reason
  /// why there is no record.
  private enum ItemContent {
    case record(RecordKind, [String: FieldValue], duration: Double? = nil)
    case skipped(String)
    case rejected(String)
  }

  mutating func readRecord(_ row: Row, type: String, into out: inout BatchBuilder) {
    switch content(row, type: type) {
    case .record(let kind, var fields, let duration):
      guard let (_, shown) = moment(row) else {
        return out.reject(row, "invalid or missing time")
      }
      let text = ([fields["text"].map(Self.text) ?? ""] + notes(row)).filter { !$0.isEmpty }
      if !text.isEmpty { fields["text"] = .text(text.joined(separator: "\n")) }
      let device = row[columns[Name.deviceId]].text
      if !row[columns[Name.location]].isEmpty { out.skip("location") }
      let record = ImportedRecord(
        kind: kind, at: shown.deviceTime, placement: out.placement(of: shown), fields: RecordFields(fields),
        sourceID: row[columns[Name.id]].text, owner: device, source: device, line: row.line)
      guard let duration else { return out.add(record) }
      durations.add(record, duration, into: &out)
    case .skipped(let name):
      addNotes(row, into: &out)
      out.skip(String(name.prefix(40)))
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// Adds a note with the notes of an item that does not become a record itself.
  mutating func addNotes(_ row: Row, into out: inout BatchBuilder) {
    if row[columns[Name.notes]].isEmpty { return }
    let text = notes(row).joined(separator: "\n")
    guard !text.isEmpty, let (_, shown) = moment(row) else { return }
    let (id, device) = (row[columns[Name.id]].text, row[columns[Name.deviceId]].text)
    out.add(
      .note, at: shown, owner: device, source: device, sourceID: id.isEmpty ? "" : id + "/note",
      line: row.line,
      ["text": .text(text)])
  }

  private func notes(_ row: Row) -> [String] { NestedText.texts(in: row[columns[Name.notes]]) }

  private static func text(_ value: FieldValue) -> String {
    if case .text(let text) = value { text } else { "" }
  }

  private func content(_ row: Row, type: String) -> ItemContent {
    switch type {
    case "bolus": bolus(row)
    case "basal": basal(row)
    case "wizard": wizard(row)
    case "food": food(row)
    case "insulin": dose(row)
    case "physicalActivity": exercise(row)
    case "reportedState": state(row)
    default: .skipped(type)
    }
  }

  /// The number in a cell; nil if there is none, or if it is outside the range.
  private func number(_ row: Row, _ name: Int, in range: ClosedRange<Double>) -> Double? {
    row[columns[name]].jsonNumber.flatMap { range.contains($0) ? $0 : nil }
  }

  /// Whether a cell holds anything other than a number in this range.
  private func isWrong(_ row: Row, _ name: Int, in range: ClosedRange<Double>) -> Bool {
    !row[columns[name]].isEmpty && number(row, name, in: range) == nil
  }

  /// The duration of a basal rate or an extended bolus, as the input has it.
  private func duration(_ row: Row) -> Double? {
    number(row, Name.duration, in: PlausibleAmounts.milliseconds)
  }

  /// The content of a bolus: `units` at once, and `extended` units over `minutes`.
  private func bolus(_ row: Row) -> ItemContent {
    if isWrong(row, Name.normal, in: PlausibleAmounts.units)
      || isWrong(row, Name.extended, in: PlausibleAmounts.units)
    {
      return .rejected("the insulin dose is not a number from 0 to 500")
    }
    var fields: [String: FieldValue] = ["subtype": .text("rapid")]
    if let units = number(row, Name.normal, in: PlausibleAmounts.units), units > 0 {
      fields["units"] = .number(units)
    }
    let extended = number(row, Name.extended, in: PlausibleAmounts.units) ?? 0
    if extended > 0 { fields["extended"] = .number(extended) }
    guard fields.count > 1 else { return .skipped("bolus without insulin") }
    // The second condition is for the newer model of an automatic bolus (device-data/types/bolus of the data
    // model).
    if row[columns[Name.subType]].equals("automated")
      || row[columns[Name.deliveryContext]].equals("algorithm")
    {
      fields["automatic"] = .flag(true)
    }
    return .record(.insulin, fields, duration: extended > 0 ? duration(row) : nil)
  }

  private func basal(_ row: Row) -> ItemContent {
    if isWrong(row, Name.rate, in: PlausibleAmounts.unitsPerHour) {
      return .rejected("the basal rate is not a number from 0 to 100")
    }
    let isSuspended = row[columns[Name.deliveryType]].equals("suspend")
    var fields: [String: FieldValue] = ["subtype": .text("basal")]
    if let rate = number(row, Name.rate, in: PlausibleAmounts.unitsPerHour) ?? (isSuspended ? 0 : nil) {
      fields["rate"] = .number(rate)
    } else if let share = number(row, Name.percent, in: 0...10) {
      // 0.65 is 65 % of the rate that the pump would have given (device-data/types/basal/temp.md of the data
      // model).
      fields["text"] = .text(plainNumber((share * 1000).rounded() / 10) + " %")
    } else {
      return .skipped("basal without a rate")
    }
    return .record(.insulin, fields, duration: duration(row))
  }

  /// The carbohydrates of a bolus calculator. Its glucose is a copy of a reading, and its insulin is in the
  /// bolus that it refers to.
  private func wizard(_ row: Row) -> ItemContent {
    if isWrong(row, Name.carbInput, in: PlausibleAmounts.grams) {
      return .rejected("the carbohydrates are not a number from 0 to 2000")
    }
    guard let carbs = number(row, Name.carbInput, in: PlausibleAmounts.grams), carbs > 0 else {
      return .skipped("wizard without carbohydrates")
    }
    guard let field = Self.carbohydrateField(row[columns[Name.carbUnits]].text) else {
      return .rejected("the carbohydrates are neither grams nor exchanges")
    }
    return .record(.food, [field: .number(carbs)])
  }

  /// The field for a number of carbohydrates in this unit; nil for an unknown unit.
  private static func carbohydrateField(_ unit: String) -> String? {
    switch unit.lowercased() {
    case "", "grams", "gram", "g": "carbs"
    case "exchanges", "servings", "portions": "servings"
    default: nil
    }
  }

  private func food(_ row: Row) -> ItemContent {
    let nutrition = nested(row, Name.nutrition)
    var fields: [String: FieldValue] = [:]
    func copy(_ field: String, _ names: String..., factor: Double = 1) {
      let numbers = names.lazy.compactMap { nutrition[$0].flatMap(Double.init) }
      if let number = numbers.first, (0...20_000).contains(number), number > 0 {
        fields[field] = .number(factor == 1 ? number : (number * factor).rounded())
      }
    }
    if let field = Self.carbohydrateField(nutrition["carbohydrate.units"] ?? "") {
      copy(field, "carbohydrate.net", "carbohydrate.total")
    } else {
      return .rejected("the carbohydrates are neither grams nor exchanges")
    }
    copy("fat", "fat.total")
    copy("protein", "protein.total")
    if let factor = Self.kilocalories[nutrition["energy.units"] ?? "kilocalories"] {
      copy("energy", "energy.value", factor: factor)
    }
    let text = row[columns[Name.name]].text
    if !text.isEmpty { fields["text"] = .text(text) }
    if fields.isEmpty, notes(row).isEmpty { return .skipped("food without content") }
    return .record(.food, fields)
  }

  /// The kilocalories in each of Tidepool's units of energy.
  private static let kilocalories: [String: Double] = [
    "kilocalories": 1, "calories": 0.001, "kilojoules": 1 / 4.184, "joules": 1 / 4184,
  ]

  /// The content of an injection that a person entered.
  private func dose(_ row: Row) -> ItemContent {
    // The export of the web app has no doses of injections.
    if row[columns[Name.dose]].isEmpty { return .skipped("insulin without a dose") }
    let dose = nested(row, Name.dose)
    guard let units = dose["total"].flatMap(Double.init), PlausibleAmounts.units.contains(units) else {
      return .rejected("the insulin dose is not a number from 0 to 500")
    }
    var fields: [String: FieldValue] = ["units": .number(units)]
    let formulation = nested(row, Name.formulation)
    let name = formulation["simple.brand"] ?? formulation["name"]
    switch formulation["simple.actingType"] ?? formulation["actingType"] {
    case "rapid", "short": fields["subtype"] = .text("rapid")
    case "intermediate", "long": fields["subtype"] = .text("long")
    default:
      if formulation["compounds.0.amount"] != nil || formulation["compounds.1.amount"] != nil {
        fields["subtype"] = .text("mix")
      } else if let name, let use = InsulinName.subtype(name) {
        fields["subtype"] = .text(use)
      }
    }
    if let name { fields["text"] = .text(name) }
    return .record(.insulin, fields)
  }

  /// The duration of an exercise. Tidepool's data model has an object with a unit. The export of the web app
  /// has days, or a time in a spreadsheet (config.json of tidepool-org/node-data-tools).
  private func exerciseMinutes(_ row: Row) -> Double? {
    let cell = row[columns[Name.duration]]
    if let days = cell.jsonNumber { return (0...7).contains(days) ? days * 1440 : nil }
    if let time = cell.timeOfDay { return Double(time.hour * 60 + time.minute) + Double(time.second) / 60 }
    let duration = nested(row, Name.duration)
    guard let minutes = ["seconds": 1.0 / 60, "minutes": 1, "hours": 60][duration["units"] ?? "minutes"],
      let span = duration["value"].flatMap(Double.init), (0...1e6).contains(span)
    else { return nil }
    return span * minutes
  }

  private func exercise(_ row: Row) -> ItemContent {
    var fields: [String: FieldValue] = [:]
    if let minutes = exerciseMinutes(row) { fields["minutes"] = .number((minutes * 100).rounded() / 100) }
    if !row[columns[Name.intensity]].isEmpty {
      fields["intensity"] = .text(row[columns[Name.intensity]].text)
    }
    if let steps = nested(row, Name.step)["count"].flatMap(Double.init),
      PlausibleAmounts.steps.contains(steps)
    {
      fields["steps"] = .number(steps)
    }
    if !row[columns[Name.name]].isEmpty { fields["text"] = .text(row[columns[Name.name]].text) }
    return .record(.exercise, fields)
  }

  /// The content of an item about how a person felt: a list of words, with optional notes.
  private func state(_ row: Row) -> ItemContent {
    let states = nested(row, Name.states)
    let words = (0..<32).compactMap { states["\($0).stateOther"] ?? states["\($0).state"] }
    if words.isEmpty, notes(row).isEmpty { return .skipped("reportedState") }
    return .record(.note, words.isEmpty ? [:] : ["tags": .words(words)])
  }
}
