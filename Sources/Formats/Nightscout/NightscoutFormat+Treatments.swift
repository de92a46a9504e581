// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Treatments: one row may hold insulin, food and a blood glucose value; what it holds shares its moment.
extension NightscoutFormat {
  /// Events that are notes; a text beside any other event becomes a note as well.
  private static let noteEvents: Set<String> = ["", "<none>", "Note", "Announcement", "Question"]

  /// One treatment on its way into records.
  private struct Treatment {
    let row: Row
    let event: String
    let time: ShownTime
    let instant: Instant
    let owner: String
    let sourceID: String
    /// The kinds of which a record stands whole beside what the treatment says in its own members.
    let taken: Set<RecordKind>
    /// The text, until a record has taken it.
    var notes: String
    var isUsed = false
  }

  mutating func readTreatment(_ row: Row, into out: inout Collector) {
    guard let taken = readOwnRecords(row, into: &out) else { return }
    guard let instant = treatmentInstant(row) else {
      return out.reject(row, "a time that no calendar has, or none")
    }
    let event = row[columns[Name.eventType]].trimmed.text
    var treatment = Treatment(
      row: row, event: event, time: shown(instant, row), instant: instant,
      owner: row[columns[Name.device]].text,
      sourceID: sourceID(row, event), taken: taken, notes: row[columns[Name.notes]].trimmed.text)
    addFood(&treatment, into: &out)
    if event == "Temp Basal" {
      addBasal(&treatment, into: &out)
    } else {
      addInsulin(&treatment, into: &out)
    }
    if event == "Exercise" { addExercise(&treatment, into: &out) }
    addGlucose(&treatment, into: &out)
    addNote(&treatment, into: &out)
    if !treatment.isUsed { out.skip(event.isEmpty ? "treatment without content" : String(event.prefix(40))) }
  }

  private func treatmentInstant(_ row: Row) -> Instant? {
    let names = [Name.createdAt, Name.date, Name.timestamp, Name.mills]
    return definite(row, names) ?? names.lazy.compactMap { row[columns[$0]].instant }.first
  }

  /// The server's own key. A document of API v1 has no `identifier` there, and its `_id` as one in API v3.
  private func sourceID(_ row: Row, _ event: String) -> String {
    for name in [Name.identifier, Name.id] where row[columns[name]].shape != .composite {
      if !row[columns[name]].isEmpty { return row[columns[name]].text }
    }
    return row[columns[Name.createdAt]].text + event
  }

  private func add(
    _ kind: RecordKind, _ treatment: inout Treatment, _ fields: [String: FieldValue],
    into out: inout Collector
  ) {
    var fields = fields
    if !treatment.notes.isEmpty { fields["text"] = .text(treatment.notes) }
    treatment.notes = ""
    treatment.isUsed = true
    if treatment.taken.contains(kind) { return }
    out.add(
      kind, at: treatment.time, owner: treatment.owner, sourceID: "\(treatment.sourceID)/\(kind.rawValue)",
      line: treatment.row.line, byClock: treatment.instant.isWallClock, fields)
  }

  /// A number in this range; nil where there is none. Another is refused.
  private func number(
    _ name: Int, in range: ClosedRange<Double>, _ treatment: inout Treatment, _ what: String,
    into out: inout Collector
  ) -> Double? {
    let cell = treatment.row[columns[name]]
    if cell.isEmpty { return nil }
    guard let number = cell.jsonNumber, range.contains(number) else {
      treatment.isUsed = true
      out.reject(treatment.row, "\(what) that is no number from 0 to \(plainNumber(range.upperBound))")
      return nil
    }
    return number
  }

  /// The same, where 0 means that there is none.
  private func amount(
    _ name: Int, in range: ClosedRange<Double>, _ treatment: inout Treatment, _ what: String,
    into out: inout Collector
  ) -> Double? {
    let number = number(name, in: range, &treatment, what, into: &out)
    return number == 0 ? nil : number
  }

  private func minutes(_ treatment: inout Treatment, into out: inout Collector) -> Double? {
    if let minutes = amount(Name.duration, in: PlausibleAmounts.minutes, &treatment, "a duration", into: &out)
    {
      return minutes
    }
    let span = amount(
      Name.milliseconds, in: PlausibleAmounts.milliseconds, &treatment, "a duration", into: &out)
    return span.map { ($0 / 600).rounded() / 100 }
  }

  private func addFood(_ treatment: inout Treatment, into out: inout Collector) {
    var fields: [String: FieldValue] = [:]
    for (name, field) in [(Name.carbs, "carbs"), (Name.protein, "protein"), (Name.fat, "fat")] {
      let grams = amount(name, in: PlausibleAmounts.grams, &treatment, "an amount of food", into: &out)
      if let grams { fields[field] = .number(grams) }
    }
    if !fields.isEmpty { add(.food, &treatment, fields, into: &out) }
  }

  /// A bolus: `units` at once, and of a combination bolus `extended` units over the minutes.
  private func addInsulin(_ treatment: inout Treatment, into out: inout Collector) {
    var fields: [String: FieldValue] = [:]
    let units = amount(Name.insulin, in: PlausibleAmounts.units, &treatment, "an insulin dose", into: &out)
    if let units { fields["units"] = .number(units) }
    if treatment.event == "Combo Bolus", let minutes = minutes(&treatment, into: &out) {
      if let extended = extendedUnits(&treatment, minutes, into: &out) {
        fields["extended"] = .number(extended)
        fields["minutes"] = .number(minutes)
      }
    }
    guard !fields.isEmpty else { return }
    let isBasal = treatment.row[columns[Name.isBasalInsulin]].equals("true")
    fields["subtype"] = .text(isBasal ? "long" : "rapid")
    add(.insulin, &treatment, fields, into: &out)
  }

  /// The extended part of a combination bolus: a share of all, else a rate over the minutes.
  private func extendedUnits(
    _ treatment: inout Treatment, _ minutes: Double, into out: inout Collector
  ) -> Double? {
    let all = amount(
      Name.enteredInsulin, in: PlausibleAmounts.units, &treatment, "an insulin dose", into: &out)
    let percent = amount(Name.splitExtended, in: 0...100, &treatment, "a share", into: &out)
    let rate = amount(Name.relative, in: PlausibleAmounts.units, &treatment, "a rate", into: &out)
    let units: Double? =
      if let all, let percent { all * percent / 100 } else { rate.map { $0 * minutes / 60 } }
    return units.map { ($0 * 1000).rounded() / 1000 }
  }

  /// A temporary basal rate, in U/h or as a change in percent of the programmed one. Without a duration it
  /// ends one.
  private func addBasal(_ treatment: inout Treatment, into out: inout Collector) {
    guard let minutes = minutes(&treatment, into: &out) else { return }
    var fields: [String: FieldValue] = ["subtype": .text("basal"), "minutes": .number(minutes)]
    let percent = treatment.row[columns[Name.percent]].jsonNumber
    if let rate = number(
      Name.absolute, in: PlausibleAmounts.unitsPerHour, &treatment, "a basal rate", into: &out)
      ?? number(Name.rate, in: PlausibleAmounts.unitsPerHour, &treatment, "a basal rate", into: &out)
    {
      fields["rate"] = .number(rate)
    } else if percent == -100 {
      fields["rate"] = .number(0)
    } else if let percent, percent != 0 {
      let change = (percent > 0 ? "+" : "") + plainNumber(percent) + " %"
      treatment.notes = [change, treatment.notes].filter { !$0.isEmpty }.joined(separator: "\n")
    }
    add(.insulin, &treatment, fields, into: &out)
  }

  private func addExercise(_ treatment: inout Treatment, into out: inout Collector) {
    let minutes = minutes(&treatment, into: &out)
    add(.exercise, &treatment, minutes.map { ["minutes": .number($0)] } ?? [:], into: &out)
  }

  /// A blood glucose value that a person entered. Beside other events it may be a copy of the sensor's.
  private mutating func addGlucose(_ treatment: inout Treatment, into out: inout Collector) {
    let row = treatment.row
    let cell = row[columns[Name.glucose]]
    let type = row[columns[Name.glucoseType]]
    if cell.isEmpty || cell.equals("0") { return }
    let isManual = type.equalsFolded("Manual")
    guard
      treatment.event == "BG Check" ? !type.equalsFolded("Sensor") : isManual || type.equalsFolded("Finger")
    else {
      if treatment.event == "BG Check" { treatment.isUsed = true }
      return out.skip("glucose copied from a sensor")
    }
    treatment.isUsed = true
    guard let unit = GlucoseUnit(name: row[columns[Name.units]].text) ?? unit else {
      return out.reject(row, "a glucose value without a unit; say --unit")
    }
    let reader = GlucoseReader(unit: unit)
    switch cell.jsonNumber.map(reader.check) ?? reader.read(cell) {
    case .measurement(let measurement):
      add(
        .smbg, measurement, at: treatment.instant, treatment.time, marks: isManual ? .manual : [], row,
        into: &out)
    case .empty: out.skip("entry without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  private func addNote(_ treatment: inout Treatment, into out: inout Collector) {
    guard !treatment.notes.isEmpty else { return }
    let isNote = Self.noteEvents.contains(treatment.event)
    let wasUsed = treatment.isUsed
    add(
      .note, &treatment, treatment.event == "Announcement" ? ["subtype": .text("announcement")] : [:],
      into: &out)
    // The event itself is counted where it left nothing but its text.
    treatment.isUsed = wasUsed || isNote
  }
}
