// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The content of a treatment, written by any program. It may contain insulin, food and a glucose value at
/// the same time.
extension NightscoutTreatment {
  /// What the usual members contain. Every program reads these members.
  package struct Content {
    /// For each record: its kind, the part of its id after the document's identifier, and its fields. There
    /// is at most one record of each kind, and a further dose for each insulin of another use.
    package fileprivate(set) var records: [(kind: RecordKind, part: String, fields: [String: FieldValue])] =
      []
    /// A glucose value that a person entered; nil without one.
    package fileprivate(set) var glucose: (measurement: Measurement, marks: ReadingMarks)?
    /// The kinds of data in the treatment that glucoport does not store, by name.
    package fileprivate(set) var skipped: [String] = []
    /// The reasons why parts of the treatment were rejected.
    package fileprivate(set) var rejections: [String] = []
  }

  /// The content of a document.
  ///
  /// - Parameters:
  ///   - unit: the unit of glucose values that state none; nil if it is unknown.
  ///   - hasOwnDose: whether a `NightscoutPart` of the document has its dose. Then a missing `insulin` does
  ///     not mean that the injections are void.
  package static func content(
    of document: some NightscoutFields, unit: GlucoseUnit?, hasOwnDose: Bool = false
  ) -> Content {
    var reader = TreatmentReader(document, hasOwnDose: hasOwnDose)
    reader.read(unit)
    return reader.content
  }

  /// Whether a record is a further dose of another program's document. Only the list of injections has it, so
  /// no member for other programs shows its fields.
  package static func isFurtherDose(_ guid: String, of document: NightscoutDocument) -> Bool {
    guard document[.app].text != NightscoutDocument.app else { return false }
    return content(of: document, unit: nil, hasOwnDose: true).records.contains { record in
      record.part != record.kind.rawValue && self.guid(document.identifier, record.part) == guid
    }
  }

  /// The name under which an import counts insulin that only fills a reservoir or a tube.
  package static let filling = "insulin that fills a reservoir or a tube"
  /// The event types whose insulin only fills a reservoir or a tube.
  fileprivate static let fillingEvents: Set<String> = [
    "Insulin Change", "Insulin Cartridge Change", "Prime", "Pump Battery Change", "Site Change",
  ]

  /// Whether another program's document states insulin that only fills a reservoir or a tube. No record is
  /// made from it. So the document must not be deleted with another record that it contains.
  package static func hasFilling(_ document: NightscoutDocument) -> Bool {
    guard document[.app].text != NightscoutDocument.app,
      !parts(document).contains(where: { $0.state.kind == .insulin })
    else { return false }
    return content(of: document, unit: nil).skipped.contains(filling)
  }

  /// Whether the insulin of this document only fills a reservoir or a tube, and a record made from this
  /// insulin would have this guid.
  package static func isFilling(_ guid: String, of document: NightscoutDocument) -> Bool {
    guid == self.guid(document.identifier, RecordKind.insulin.rawValue) && hasFilling(document)
  }

  /// The text as a person typed it. API v1 escapes characters of HTML. A document with a `subject` was
  /// written by API v3, which does not escape them.
  static func notes(_ document: some NightscoutFields) -> String {
    let text = document[.notes].plainText
    let plain = document[.subject].isEmpty ? NightscoutText.unescaped(text) : text
    return NightscoutText.trimmed(plain)
  }
}

/// Reads one treatment.
private struct TreatmentReader<Document: NightscoutFields> {
  /// Events of a temporary basal rate. All of them end the rate that runs at their time.
  private static var basalEvents: Set<String> { ["Temp Basal", "Temp Basal End", "Suspend Pump"] }

  /// Events that are notes. A text with any other event becomes a note as well.
  private static var noteEvents: Set<String> { ["", "<none>", "Note", "Announcement", "Question"] }

  var content = NightscoutTreatment.Content()
  private let document: Document
  private let event: String
  /// The text of the treatment; empty when a record has used it.
  private var notes: String
  /// Whether a part of the treatment was used or rejected. If not, the event is counted as skipped.
  private var isUsed = false
  private let hasOwnDose: Bool

  init(_ document: Document, hasOwnDose: Bool) {
    self.document = document
    self.hasOwnDose = hasOwnDose
    event = NightscoutText.trimmed(document[.eventType].plainText)
    notes = NightscoutTreatment.notes(document)
  }

  mutating func read(_ unit: GlucoseUnit?) {
    addFood()
    if Self.basalEvents.contains(event) {
      addBasal()
    } else if isFilling {
      skipFilling()
    } else {
      addInsulin()
    }
    if event == "Exercise", !isOverride {
      add(.exercise, minutes().map { ["minutes": .number($0)] } ?? [:])
    }
    addGlucose(unit)
    if !notes.isEmpty {
      let wasUsed = isUsed
      add(.note, event == "Announcement" ? ["subtype": .text("announcement")] : [:])
      // If only the text of an event was used, the event itself is counted as skipped, unless it is a note.
      isUsed = wasUsed || Self.noteEvents.contains(event)
    }
    if !isUsed {
      let name = isOverride ? "override" : event.isEmpty ? "treatment without content" : event
      content.skipped.append(String(name.prefix(40)))
    }
  }

  private mutating func add(_ kind: RecordKind, _ fields: [String: FieldValue]) {
    var fields = fields
    if !notes.isEmpty { fields["text"] = .text(notes) }
    notes = ""
    isUsed = true
    content.records.append((kind, kind.rawValue, fields))
  }

  private mutating func reject(_ reason: String) {
    isUsed = true
    content.rejections.append(reason)
  }

  /// The number in a member; nil if it is missing or outside of the range. A number outside is rejected.
  private mutating func number(
    _ member: NightscoutMember, in range: ClosedRange<Double>, _ what: String
  ) -> Double? {
    let value = document[member]
    if value.isEmpty { return nil }
    guard let number = value.jsonNumber, range.contains(number) else {
      reject("\(what) is not a number from 0 to \(plainNumber(range.upperBound))")
      return nil
    }
    return number
  }

  /// The amount in a member; nil if it is missing, 0 or outside of the range.
  private mutating func amount(
    _ member: NightscoutMember, in range: ClosedRange<Double>, _ what: String
  ) -> Double? {
    let number = number(member, in: range, what)
    return number == 0 ? nil : number
  }

  private mutating func minutes() -> Double? {
    if let minutes = amount(.duration, in: PlausibleAmounts.minutes, "a duration") { return minutes }
    return amount(.milliseconds, in: PlausibleAmounts.milliseconds, "a duration").map {
      ($0 / 600).rounded() / 100
    }
  }

  /// Programs of an algorithm that write an override of its settings as exercise.
  private static var writersOfOverrides: Set<String> { ["freeaps-x", "iaps", "trio"] }

  /// Whether the treatment is an override of an algorithm's settings. Nightscout has no event for it.
  private var isOverride: Bool {
    event == "Exercise" && Self.writersOfOverrides.contains(document[.enteredBy].plainText.lowercased())
  }

  private mutating func addFood() {
    var fields: [String: FieldValue] = [:]
    for (member, field) in [(NightscoutMember.carbs, "carbs"), (.protein, "protein"), (.fat, "fat")] {
      if let grams = amount(member, in: PlausibleAmounts.grams, "the amount of food") {
        fields[field] = .number(grams)
      }
    }
    if !fields.isEmpty { add(.food, fields) }
  }

  /// Whether the insulin only fills a reservoir or a tube. AAPS calls this a bolus, with a special type.
  private var isFilling: Bool {
    NightscoutTreatment.fillingEvents.contains(event) || document[.type].equals("PRIMING")
  }

  /// Skips the insulin of an event that only fills a reservoir or a tube. No total must count it.
  private mutating func skipFilling() {
    guard amount(.insulin, in: PlausibleAmounts.units, "the insulin dose") != nil else { return }
    isUsed = true
    content.skipped.append(NightscoutTreatment.filling)
  }

  /// Adds a bolus: `units` at once and, for a combination bolus, `extended` units over the minutes.
  private mutating func addInsulin() {
    var fields: [String: FieldValue] = [:]
    if let units = amount(.insulin, in: PlausibleAmounts.units, "the insulin dose") {
      fields["units"] = .number(units)
    }
    if event == "Combo Bolus", let minutes = minutes(), let extended = extendedUnits(minutes) {
      fields["extended"] = .number(extended)
      fields["minutes"] = .number(minutes)
    }
    let injections = InsulinInjection.all(document[.insulinInjections].plainText)
    let kinds = Set(injections.map(\.subtype))
    let main =
      kinds.contains("rapid")
      ? "rapid" : kinds.contains("mix") ? "mix" : kinds.contains("long") ? "long" : nil
    if !fields.isEmpty {
      if kinds.count > 1 {
        guard let units = units(injections.filter { $0.subtype == main }) else { return }
        fields["units"] = .number(units)
      }
      fields["subtype"] = .text(main ?? insulinKind())
      if isAutomatic { fields["automatic"] = .flag(true) }
      add(.insulin, fields)
    }
    guard kinds.count > 1, !fields.isEmpty || hasOwnDose else { return }
    addFurtherDoses(injections.filter { $0.subtype != main })
  }

  /// The sum of injections. If the sum cannot be a dose, it is rejected, and the result is nil.
  private mutating func units(_ injections: [InsulinInjection]) -> Double? {
    let units = (injections.reduce(0) { $0 + $1.units } * 10_000).rounded() / 10_000
    if PlausibleAmounts.units.contains(units) { return units }
    reject("the insulin dose is not a number from 0 to \(plainNumber(PlausibleAmounts.units.upperBound))")
    return nil
  }

  /// Adds a dose for each insulin with another use than the main dose. The id of the dose contains the name
  /// of the insulin, so that it stays the same record whatever the order of the list.
  private mutating func addFurtherDoses(_ injections: [InsulinInjection]) {
    for (name, named) in Dictionary(grouping: injections, by: \.name).sorted(by: { $0.key < $1.key }) {
      guard let units = units(named) else { continue }
      let fields: [String: FieldValue] = [
        "units": .number(units), "subtype": .text(named[0].subtype), "text": .text(name),
      ]
      content.records.append((.insulin, "\(RecordKind.insulin.rawValue)/\(name)", fields))
      isUsed = true
    }
  }

  /// The subtype of a dose without a list of injections. People who inject basal insulin often state it only
  /// by the name of the insulin in the text, or by the name of the event.
  private func insulinKind() -> String {
    if let kind = InsulinName.treatmentSubtype(document[.insulinType].plainText) { return kind }
    if document[.isBasalInsulin].equals("true") { return "long" }
    if let kind = InsulinName.subtypeOfBrand(NightscoutTreatment.notes(document)) { return kind }
    return InsulinName.subtype(event) == "long" ? "long" : "rapid"
  }

  /// Whether an algorithm gave the dose. In iAPS, Trio and AAPS, the event shows it. Older versions of AAPS,
  /// and Loop, write a member.
  private var isAutomatic: Bool {
    event == "SMB" || document[.type].equals("SMB") || document[.isMicroBolus].equals("true")
      || document[.isAutomatic].equals("true")
  }

  /// The units of a combination bolus's extended part, from its share of the total or from its rate and
  /// duration.
  private mutating func extendedUnits(_ minutes: Double) -> Double? {
    let all = amount(.enteredInsulin, in: PlausibleAmounts.units, "the insulin dose")
    let percent = amount(.splitExtended, in: 0...100, "a share")
    let rate = amount(.relative, in: PlausibleAmounts.units, "a rate")
    let units: Double? =
      if let all, let percent { all * percent / 100 } else { rate.map { $0 * minutes / 60 } }
    return units.map { ($0 * 1000).rounded() / 1000 }
  }

  /// Adds a temporary basal rate, in U/h or as a change in percent. A rate without a duration ends a
  /// temporary rate.
  private mutating func addBasal() {
    if let kind = injectedKind { return addInjectedBasal(kind) }
    let wasRejected = content.rejections.count
    let minutes = minutes() ?? 0
    if content.rejections.count > wasRejected || minutes == 0 && !endsRate { return }
    var fields: [String: FieldValue] = ["subtype": .text("basal"), "minutes": .number(minutes)]
    let percent = document[.percent].jsonNumber
    if let rate = number(.absolute, in: PlausibleAmounts.unitsPerHour, "the basal rate")
      ?? number(.rate, in: PlausibleAmounts.unitsPerHour, "the basal rate")
    {
      guard rate * minutes / 60 <= PlausibleAmounts.units.upperBound else {
        return reject(
          "the basal rate is more than \(plainNumber(PlausibleAmounts.units.upperBound)) units in its minutes"
        )
      }
      fields["rate"] = .number(rate)
    } else if percent == -100 || minutes == 0 {
      fields["rate"] = .number(0)
    } else if let percent, percent != 0 {
      let change = (percent > 0 ? "+" : "") + plainNumber(percent) + " %"
      notes = [change, notes].filter { !$0.isEmpty }.joined(separator: "\n")
    }
    add(.insulin, fields)
  }

  /// The subtype of the insulin in a basal rate that Spike wrote for an injection; nil for a rate. The type
  /// of the insulin may be `Unknown`. Then its name shows the subtype, or the duration, which Spike computes
  /// from the hours for which the insulin works. Rapid insulin works for at most `maxRapidHours`.
  private var injectedKind: String? {
    for member in [NightscoutMember.insulinType, .insulinName] {
      guard let kind = InsulinName.subtype(document[member].plainText) else { continue }
      return kind == "rapid" ? nil : kind
    }
    guard let hours = document[.insulinHours].jsonNumber, hours > Self.maxRapidHours,
      let minutes = document[.duration].jsonNumber, abs(minutes - hours * 60) < 1
    else { return nil }
    return "long"
  }

  private static var maxRapidHours: Double { 8 }

  /// Adds an injection of long-acting insulin, which Spike writes as a temporary basal rate. `absolute` is
  /// the number of units, and the duration is the time for which the insulin works. Pumps use rapid insulin
  /// only.
  private mutating func addInjectedBasal(_ kind: String) {
    guard let units = amount(.absolute, in: PlausibleAmounts.units, "the insulin dose") else { return }
    add(.insulin, ["units": .number(units), "subtype": .text(kind)])
  }

  /// Whether an event without minutes ends the current basal rate. A `Temp Basal` with no other members, as
  /// in a table that has only the names of events, states neither a rate nor an end.
  private var endsRate: Bool {
    let members: [NightscoutMember] = [.duration, .milliseconds, .absolute, .rate, .percent]
    return event != "Temp Basal" || members.contains { !document[$0].isEmpty }
  }

  /// Whether the glucose value is from a pump of Medtronic's 600 series, mostly from its bolus calculator.
  /// The uploader marks all of these values as `Finger`. On one such site, 39 % of them equal a sensor value
  /// of the 11 minutes before; by chance it would be 0.3 to 3 %.
  private var isOfPump: Bool { document[.pumpKey].plainText.hasPrefix("BG") }

  /// Adds a glucose value that a person entered. In events other than `BG Check` it may be a copy of a
  /// sensor's value, so its type must be `Finger` or `Manual`.
  private mutating func addGlucose(_ unit: GlucoseUnit?) {
    let value = document[.glucose]
    let type = document[.glucoseType]
    if value.isEmpty || value.jsonNumber == 0 { return }
    let isManual = type.equalsFolded("Manual")
    guard event == "BG Check" ? !type.equalsFolded("Sensor") : isManual || type.equalsFolded("Finger")
    else {
      if event == "BG Check" { isUsed = true }
      return content.skipped.append("glucose copied from a sensor")
    }
    isUsed = true
    guard let unit = GlucoseUnit(name: document[.units].plainText) ?? unit else {
      return reject(NightscoutRefusal.unknownUnit)
    }
    switch value.jsonNumber.map({ CellValue(glucose: $0, unit) }) ?? value.glucoseWord(unit) {
    case .measurement(let measurement):
      content.glucose = (measurement, isManual ? .manual : isOfPump ? .calculator : [])
    case .empty: content.skipped.append("entry without a value")
    case .rejected(let reason): reject(reason)
    }
  }
}

/// One injection of a dose. xDrip+ stores a list of them as JSON text, and writes it to Nightscout.
package struct InsulinInjection: Hashable, Sendable {
  /// The name of the insulin, as the person named it in the app.
  package let name: String
  package let units: Double

  /// The injections in a text; empty if the text is invalid. API v1 may have escaped characters of HTML in
  /// it.
  package static func all(_ text: String) -> [InsulinInjection] {
    guard text.contains("{") else { return [] }
    do throws(JSONError) {
      let value = try JSONValue.read(Array(NightscoutText.unescaped(text).utf8))
      return (value.items ?? []).compactMap { item in
        guard let units = item["units"]?.jsonNumber, units > 0 else { return nil }
        return InsulinInjection(name: NightscoutText.trimmed(item["insulin"]?.text ?? ""), units: units)
      }
    } catch {
      return []
    }
  }

  /// The subtype of the dose.
  package var subtype: String { InsulinName.treatmentSubtype(name) ?? "rapid" }
}

extension InsulinName {
  /// The subtype for the insulin of a treatment; nil for an empty name. Unknown names are rapid, since
  /// Nightscout's programs treat all insulin as rapid.
  static func treatmentSubtype(_ name: String) -> String? {
    let name = NightscoutText.trimmed(name)
    return name.isEmpty ? nil : subtype(name) ?? "rapid"
  }
}
