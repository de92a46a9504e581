// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The content of a treatment of any program. It may hold insulin, food and a blood glucose value with the same time.
extension NightscoutTreatment {
  /// The content of the members that every program reads.
  package struct Content {
    /// The fields of each record; each kind occurs at most once.
    package fileprivate(set) var records: [(kind: RecordKind, fields: [String: FieldValue])] = []
    /// A blood glucose value that a person entered.
    package fileprivate(set) var glucose: (measurement: Measurement, marks: ReadingMarks)?
    /// The names of data without a kind in glucoport.
    package fileprivate(set) var skipped: [String] = []
    /// Why parts of it are rejected.
    package fileprivate(set) var rejections: [String] = []
  }

  /// The content of a document.
  ///
  /// - Parameter unit: the unit of glucose values without a stated one; nil if unknown.
  package static func content(of document: some NightscoutFields, unit: GlucoseUnit?) -> Content {
    var reader = TreatmentReader(document)
    reader.read(unit)
    return reader.content
  }

  /// The name with which insulin that fills a reservoir or a tube is counted.
  package static let filling = "insulin that fills a reservoir or a tube"
  /// Events whose insulin fills a reservoir or a tube.
  fileprivate static let fillingEvents: Set<String> = [
    "Insulin Change", "Insulin Cartridge Change", "Prime", "Pump Battery Change", "Site Change",
  ]

  /// Whether another program's document states insulin that fills a reservoir or a tube. It gives no record, so the
  /// document must not be deleted with another record in it.
  package static func hasFilling(_ document: NightscoutDocument) -> Bool {
    guard document[.app].text != NightscoutDocument.app,
      !parts(document).contains(where: { $0.state.kind == .insulin })
    else { return false }
    return content(of: document, unit: nil).skipped.contains(filling)
  }

  /// Whether a record was once made from the insulin of such a document.
  package static func isFilling(_ guid: String, of document: NightscoutDocument) -> Bool {
    guid == self.guid(document.identifier, .insulin) && hasFilling(document)
  }

  /// A person's text as it was typed. API v1 escapes characters of HTML; only API v3 stores the creator of a document,
  /// which identifies the API.
  static func notes(_ document: some NightscoutFields) -> String {
    let text = document[.notes].plainText
    let plain = document[.subject].isEmpty ? NightscoutText.unescaped(text) : text
    return NightscoutText.trimmed(plain)
  }
}

/// Parses one treatment.
private struct TreatmentReader<Document: NightscoutFields> {
  /// Events of a temporary basal rate. All of them end the rate that runs at their time.
  private static var basalEvents: Set<String> { ["Temp Basal", "Temp Basal End", "Suspend Pump"] }

  /// Events that are notes. A text with any other event becomes a note as well.
  private static var noteEvents: Set<String> { ["", "<none>", "Note", "Announcement", "Question"] }

  var content = NightscoutTreatment.Content()
  private let document: Document
  private let event: String
  /// The text, until a record uses it.
  private var notes: String
  /// Whether a part was used or rejected, so that the event is not counted as one without a kind.
  private var isUsed = false

  init(_ document: Document) {
    self.document = document
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
    if event == "Exercise" { add(.exercise, minutes().map { ["minutes": .number($0)] } ?? [:]) }
    addGlucose(unit)
    if !notes.isEmpty {
      let wasUsed = isUsed
      add(.note, event == "Announcement" ? ["subtype": .text("announcement")] : [:])
      // The event itself is counted if only its text was used.
      isUsed = wasUsed || Self.noteEvents.contains(event)
    }
    if !isUsed {
      content.skipped.append(event.isEmpty ? "treatment without content" : String(event.prefix(40)))
    }
  }

  private mutating func add(_ kind: RecordKind, _ fields: [String: FieldValue]) {
    var fields = fields
    if !notes.isEmpty { fields["text"] = .text(notes) }
    notes = ""
    isUsed = true
    content.records.append((kind, fields))
  }

  private mutating func reject(_ reason: String) {
    isUsed = true
    content.rejections.append(reason)
  }

  /// A number in this range; nil if it is missing. A number outside is rejected.
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

  /// Like `number`, with 0 meaning that it is missing.
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

  private mutating func addFood() {
    var fields: [String: FieldValue] = [:]
    for (member, field) in [(NightscoutMember.carbs, "carbs"), (.protein, "protein"), (.fat, "fat")] {
      if let grams = amount(member, in: PlausibleAmounts.grams, "the amount of food") {
        fields[field] = .number(grams)
      }
    }
    if !fields.isEmpty { add(.food, fields) }
  }

  /// Whether its insulin is not for the body. AAPS names a fill of the tube a bolus, with another type.
  private var isFilling: Bool {
    NightscoutTreatment.fillingEvents.contains(event) || document[.type].equals("PRIMING")
  }

  /// Insulin of such an event must not be in any total.
  private mutating func skipFilling() {
    guard amount(.insulin, in: PlausibleAmounts.units, "the insulin dose") != nil else { return }
    isUsed = true
    content.skipped.append(NightscoutTreatment.filling)
  }

  /// A bolus: `units` immediately; for a combination bolus, `extended` units over the minutes.
  private mutating func addInsulin() {
    var fields: [String: FieldValue] = [:]
    if let units = amount(.insulin, in: PlausibleAmounts.units, "the insulin dose") {
      fields["units"] = .number(units)
    }
    if event == "Combo Bolus", let minutes = minutes(), let extended = extendedUnits(minutes) {
      fields["extended"] = .number(extended)
      fields["minutes"] = .number(minutes)
    }
    guard !fields.isEmpty else { return }
    fields["subtype"] = .text(insulinKind(&fields))
    if isAutomatic { fields["automatic"] = .flag(true) }
    add(.insulin, fields)
  }

  /// The kind of insulin of a dose. If injections have several kinds, the rapid one is the dose, and the others become
  /// text: a record has one kind.
  private mutating func insulinKind(_ fields: inout [String: FieldValue]) -> String {
    let injections = NightscoutInjection.all(document[.insulinInjections].plainText)
    let kinds = Set(injections.map(\.subtype))
    if let kind = kinds.first, kinds.count == 1 { return kind }
    if kinds.count > 1 {
      let main = kinds.contains("rapid") ? "rapid" : kinds.contains("mix") ? "mix" : "long"
      let units = injections.filter { $0.subtype == main }.map(\.units).reduce(0, +)
      guard PlausibleAmounts.units.contains(units) else { return main }
      fields["units"] = .number(units)
      let others = injections.filter { $0.subtype != main }
        .map { "\(plainNumber($0.units)) U \(NightscoutText.trimmed($0.name))" }
      notes = (others + [notes]).filter { !$0.isEmpty }.joined(separator: "\n")
      return main
    }
    if let kind = InsulinName.subtype(document[.insulinType].plainText) { return kind }
    return document[.isBasalInsulin].equals("true") ? "long" : "rapid"
  }

  /// Whether an algorithm gave the dose. iAPS, Trio and AAPS name the event; older versions of AAPS and Loop have a
  /// member.
  private var isAutomatic: Bool {
    event == "SMB" || document[.type].equals("SMB") || document[.isMicroBolus].equals("true")
      || document[.isAutomatic].equals("true")
  }

  /// The extended part of a combination bolus: a share of the total, else a rate over the minutes.
  private mutating func extendedUnits(_ minutes: Double) -> Double? {
    let all = amount(.enteredInsulin, in: PlausibleAmounts.units, "the insulin dose")
    let percent = amount(.splitExtended, in: 0...100, "a share")
    let rate = amount(.relative, in: PlausibleAmounts.units, "a rate")
    let units: Double? =
      if let all, let percent { all * percent / 100 } else { rate.map { $0 * minutes / 60 } }
    return units.map { ($0 * 1000).rounded() / 1000 }
  }

  /// A temporary basal rate, in U/h or as a change in percent of the programmed rate. Without a duration it ends a
  /// temporary rate.
  private mutating func addBasal() {
    let wasRejected = content.rejections.count
    let minutes = minutes() ?? 0
    if content.rejections.count > wasRejected || minutes == 0 && !endsRate { return }
    var fields: [String: FieldValue] = ["subtype": .text("basal"), "minutes": .number(minutes)]
    let percent = document[.percent].jsonNumber
    if let rate = number(.absolute, in: PlausibleAmounts.unitsPerHour, "the basal rate")
      ?? number(.rate, in: PlausibleAmounts.unitsPerHour, "the basal rate")
    {
      fields["rate"] = .number(rate)
    } else if percent == -100 || minutes == 0 {
      fields["rate"] = .number(0)
    } else if let percent, percent != 0 {
      let change = (percent > 0 ? "+" : "") + plainNumber(percent) + " %"
      notes = [change, notes].filter { !$0.isEmpty }.joined(separator: "\n")
    }
    add(.insulin, fields)
  }

  /// Whether an event without minutes ends the rate that runs. A table that has only the names of events says neither.
  private var endsRate: Bool {
    let members: [NightscoutMember] = [.duration, .milliseconds, .absolute, .rate, .percent]
    return event != "Temp Basal" || members.contains { !document[$0].isEmpty }
  }

  /// Whether a pump of Medtronic's 600 series had the glucose, mostly in its bolus calculator, and says `Finger` of all.
  /// In a site of such a pump, 39 % equal a sensor value of the 11 minutes before; by chance it would be 0.3 to 3 %.
  private var isOfPump: Bool { document[.pumpKey].plainText.hasPrefix("BG") }

  /// A blood glucose value that a person entered. With other events it may be a copy of the sensor's value.
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

/// The action of an insulin by its name, as programs write it into `insulinType` and `insulinInjections`. Unknown names
/// are rapid: Nightscout's own programs treat every dose so.
private enum InsulinName {
  /// Parts of names of insulins that act for half a day or longer: insulin glargine, detemir, degludec, icodec and NPH.
  private static let long = [
    "abasaglar", "awiqli", "basaglar", "degludec", "detemir", "glargine", "icodec", "insulatard", "isophane",
    "lantus", "levemir", "long", "nph", "protaphan", "rezvoglar", "semglee", "toujeo", "tresiba",
    "humulin i", "humulin n", "novolin n", "ultralente", "basal",
  ]
  private static let mixed = [
    "mix", "ryzodeg", "mixtard", "actraphane", "humulin m3", "70/30", "30/70", "75/25", "25/75", "50/50",
  ]

  /// The subtype of a dose of this insulin; nil for an empty name.
  static func subtype(_ name: String) -> String? {
    let name = NightscoutText.trimmed(name).lowercased()
    if name.isEmpty { return nil }
    if mixed.contains(where: name.contains) { return "mix" }
    return long.contains(where: name.contains) ? "long" : "rapid"
  }
}

/// One injection in a treatment of xDrip, which writes them as JSON text.
private struct NightscoutInjection: Hashable {
  let name: String
  let units: Double

  /// The injections in a text; empty for an invalid text. API v1 may have escaped characters of HTML in it.
  static func all(_ text: String) -> [NightscoutInjection] {
    guard text.contains("{") else { return [] }
    do throws(JSONError) {
      let value = try JSONValue.read(Array(NightscoutText.unescaped(text).utf8))
      return (value.items ?? []).compactMap { item in
        guard let units = item["units"]?.jsonNumber, units > 0 else { return nil }
        return NightscoutInjection(name: item["insulin"]?.text ?? "", units: units)
      }
    } catch {
      return []
    }
  }

  var subtype: String { InsulinName.subtype(name) ?? "rapid" }
}
