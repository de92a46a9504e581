// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Converts records to treatments and back. A treatment has the complete state of each record, and members
/// that other programs read.
package enum NightscoutTreatment {
  /// For a kind of record: the members that other programs read, each with the field whose value it has.
  package static func fields(_ kind: RecordKind) -> [(member: NightscoutMember, field: String)] {
    kind.fields.compactMap { field in
      field.treatmentMember.flatMap(NightscoutMember.init(name:)).map { (member: $0, field: field.name) }
    }
  }

  /// The event type of a treatment for a record with this state. It must not change in later edits.
  package static func eventType(_ state: RecordState) -> String {
    // For a kind that this program does not know, the event type is the name of the kind.
    guard let details = state.kind.details else { return state.kind.rawValue }
    guard state.kind == .insulin else { return details.treatmentEvent }
    return switch state.fields.subtype {
    case "", "rapid": Combination(state) == nil ? details.treatmentEvent : "Combo Bolus"
    case "basal" where state.fields["rate"] != nil && state.fields["minutes"] != nil: "Temp Basal"
    default: "Insulin"
    }
  }

  package static func milliseconds(_ state: RecordState) -> Int64 {
    (state.deviceTime.seconds - Int64(state.placement.utcOffset)) * 1000
  }

  /// The reason why a site would refuse a document with this state's time; nil if the site would accept it.
  package static func refusal(_ state: RecordState) -> String? {
    milliseconds(state) > NightscoutTime.minMilliseconds
      ? nil : "Nightscout accepts no time before the year 2000"
  }

  /// The UTC offset in minutes, since the server stores no seconds.
  package static func minutes(_ state: RecordState) -> Int64 { Int64(state.placement.utcOffset) / 60 }

  /// The members with the values that other programs read. Empty for a tombstone.
  package static func shown(_ state: RecordState) -> [String: JSONValue] {
    guard !state.isDeleted else { return [:] }
    var shown: [String: JSONValue] = [:]
    for (member, field) in fields(state.kind) {
      switch state.fields[field] {
      case .number(let number): shown[member.name] = .number(number)
      case .text(let text) where !text.isEmpty: shown[member.name] = .text(text)
      default: break
      }
    }
    if state.kind == .insulin { hideFromCalculators(&shown, state) }
    if case .number(let servings)? = state.fields["servings"], state.kind == .food {
      let text = [plainNumber(servings) + (servings == 1 ? " serving" : " servings"), shown["notes"]?.text]
      shown["notes"] = .text(text.compactMap(\.self).joined(separator: " · "))
    }
    return shown
  }

  /// The members with the values that other programs read, for an edit of a record in this document.
  ///
  /// Another program may state an amount of long-acting or premixed insulin in a member that `shown` leaves
  /// out. It stays in this member, so that the document does not state two amounts.
  ///
  /// - Parameter former: the state of the record as the document has it.
  package static func shown(
    _ state: RecordState, insteadOf former: RecordState, in document: NightscoutDocument
  ) -> [String: JSONValue] {
    var shown = shown(state)
    guard !state.isDeleted, state.kind == .insulin, document["app"]?.text != NightscoutDocument.app,
      shown["insulin"] == nil, shown["absolute"] == nil, case .number(let units)? = state.fields["units"],
      case .number(let formerUnits)? = former.fields["units"],
      let member = ["insulin", "absolute"].first(where: { document[$0]?.jsonNumber == formerUnits }),
      self.shown(former)[member] == nil
    else { return shown }
    shown[member] = .number(units)
    shown["notes"] = nil
    if case .text(let text)? = state.fields["text"], !text.isEmpty { shown["notes"] = .text(text) }
    return shown
  }

  /// Removes members that other programs would misunderstand. They treat `insulin` as a rapid bolus, and
  /// compute its remaining effect. So other insulin, except a temporary basal rate, is written only as text.
  private static func hideFromCalculators(_ shown: inout [String: JSONValue], _ state: RecordState) {
    let subtype = state.fields.subtype
    if subtype == "basal", shown["absolute"] != nil, shown["duration"] != nil, shown["insulin"] == nil {
      return
    }
    shown["absolute"] = nil
    shown["duration"] = nil
    guard subtype != "", subtype != "rapid" else { return Combination(state)?.write(to: &shown) ?? () }
    let units = shown.removeValue(forKey: "insulin")?.number.map { "\(plainNumber($0)) U " } ?? ""
    shown["notes"] = .text(
      [units + subtype, shown["notes"]?.text].compactMap(\.self).joined(separator: " · "))
  }

  /// A bolus with a part that is delivered over some minutes. Nightscout has separate members for such a
  /// bolus.
  private struct Combination {
    private let units: Double
    private let extended: Double
    private let minutes: Double

    /// Nil for a bolus without an extended part, or without the minutes of that part.
    init?(_ state: RecordState) {
      guard state.kind == .insulin, case .number(let extended)? = state.fields["extended"], extended > 0,
        case .number(let minutes)? = state.fields["minutes"], minutes > 0
      else { return nil }
      (self.extended, self.minutes) = (extended, minutes)
      if case .number(let units)? = state.fields["units"] { self.units = units } else { units = 0 }
    }

    func write(to shown: inout [String: JSONValue]) {
      let total = ((units + extended) * 10_000).rounded() / 10_000
      let share = (extended / total * 1_000_000).rounded() / 10_000
      shown["duration"] = .number(minutes)
      shown["relative"] = .number((extended / minutes * 60 * 1000).rounded() / 1000)
      shown["enteredinsulin"] = .number(total)
      shown["splitNow"] = .number(((100 - share) * 10_000).rounded() / 10_000)
      shown["splitExt"] = .number(share)
    }
  }

  /// The members of a new document for one record.
  ///
  /// - Parameter shift: the number of milliseconds by which the time is moved, since another document of the
  ///   same type has this time.
  package static func members(
    _ part: NightscoutPart, identifier: String, shift: Int64, _ writer: NightscoutWriter
  ) -> [String: JSONValue] {
    let date = milliseconds(part.state) + shift
    var part = part
    part.seen = shown(part.state)
    var members = part.seen
    part.seen["created_at"] = .text(NightscoutTime.utcText(date))
    members["identifier"] = .text(identifier)
    members["app"] = .text(NightscoutDocument.app)
    members["eventType"] = .text(eventType(part.state))
    members["date"] = .number(Double(date))
    // If `mills` is missing, a running site ignores a dose that arrives 15 minutes late when it computes
    // active insulin.
    members["mills"] = .number(Double(date))
    members["created_at"] = part.seen["created_at"]
    members["utcOffset"] = .number(Double(minutes(part.state)))
    members["enteredBy"] = .text(NightscoutDocument.app)
    members[NightscoutDocument.ownName] = ownMember([part], writer)
    return members
  }

  /// The members that have an effect on a site, or that people read. A deleted treatment must not have them.
  package static let acting = [
    "insulin", "enteredinsulin", "carbs", "protein", "fat", "absolute", "rate", "percent", "relative",
    "duration", "glucose", "notes",
  ]

  /// The members to overwrite, so that a document has no effect any more.
  package static func cleared(_ document: NightscoutDocument) -> [String: JSONValue] {
    var blank: [String: JSONValue] = [:]
    for name in acting {
      if let value = document[name], value != .null, value != .number(0) { blank[name] = .null }
    }
    return blank
  }

  /// The value of the member `glucoport` that contains these parts.
  package static func ownMember(_ parts: [NightscoutPart], _ writer: NightscoutWriter) -> JSONValue {
    .object(writer.members.merging(["parts": .list(parts.map(\.json))]) { $1 })
  }

  /// Each `NightscoutPart` in a document; empty for documents of other programs.
  package static func parts(_ document: NightscoutDocument) -> [NightscoutPart] {
    NightscoutPart.parts(document.own?["parts"])
  }
}

/// Converts treatments to records. A record of glucoport is complete in the member `glucoport`, and has the
/// same guid in every store. For other programs, records are made from the usual members.
extension NightscoutTreatment {
  /// The state of a record in a `NightscoutPart`, with edits that other programs made later.
  package static func edited(
    _ part: NightscoutPart, in document: some NightscoutFields, _ zone: NightscoutZone
  ) -> RecordState {
    var state = zone.recalculated(part.state)
    // No member shows a further dose, so no other program can have edited it.
    guard !state.isDeleted, !part.seen.isEmpty else { return state }
    for (member, field) in fields(state.kind) {
      let seen = originalValue(part.seen[member.name] ?? .null, member)
      let found = originalValue(document[member], member)
      if seen == found || (member == .duration && isRounded(seen, found)) { continue }
      state.fields[field] = found
    }
    guard let seen = part.seen[NightscoutMember.createdAt.name]?.instant?.milliseconds,
      let found = document[.createdAt].instant, found.milliseconds != seen
    else { return state }
    let offset = state.statedOffset ?? zone.offset(atUTC: found.seconds)
    state.deviceTime = DeviceTime(seconds: found.seconds + Int64(offset))
    state.placement = Placement(
      utcOffset: offset, source: state.placement.source == .instant ? .instant : .stated)
    return state
  }

  /// The value as it was written, before changes by the server. A missing value, 0 and an empty text are
  /// equal, and escaped HTML is restored.
  private static func originalValue(_ value: some NightscoutValue, _ member: NightscoutMember) -> FieldValue?
  {
    guard member == .notes else { return value.jsonNumber.flatMap { $0 == 0 ? nil : .number($0) } }
    let text = NightscoutText.unescaped(value.plainText)
    return text.isEmpty ? nil : .text(text)
  }

  /// Whether the site itself caused the difference: each write of a document rounds its duration to whole
  /// minutes.
  private static func isRounded(_ seen: FieldValue?, _ found: FieldValue?) -> Bool {
    guard case .number(let seen)? = seen else { return false }
    let rounded = seen.rounded(.toNearestOrAwayFromZero)
    return found == (rounded == 0 ? nil : .number(rounded))
  }
}

// MARK: - Documents of other programs

extension NightscoutTreatment {
  /// The records in the usual members, and a glucose value that a person entered. The records have the same
  /// guids as after an import of the site's export.
  package static func foreignContents(of document: NightscoutDocument, _ zone: NightscoutZone)
    -> NightscoutContents
  {
    guard let instant = document.treatmentInstant else {
      return NightscoutContents(rejections: [NightscoutRefusal.noDate])
    }
    let hasOwnDose = parts(document).contains { $0.state.kind == .insulin }
    let content = content(of: document, unit: nil, hasOwnDose: hasOwnDose)
    let shown = document.shown(instant, zone.offset)
    var foreign = NightscoutContents(rejections: content.rejections)
    foreign.records = content.records.map { kind, part, fields in
      let state = RecordState(
        kind: kind, entryGuid: nil, deviceTime: shown.deviceTime, placement: zone.placement(of: shown),
        fields: RecordFields(fields), isDeleted: false, editedAt: document.modified.map { $0 / 1000 },
        provenance: Provenance(format: "nightscout", source: source(of: document)))
      return NightscoutRecord(
        guid: guid(document.identifier, part), state: state, isOwn: false, identifier: document.identifier)
    }
    foreign.reading = content.glucose.map { measurement, marks in
      (
        NightscoutEntry.reading(.smbg, measurement, marks, at: instant, document, zone),
        NightscoutEntry.device(document)
      )
    }
    return foreign
  }

  /// The program or person that a treatment states as its writer; empty if it states none. Escaped HTML of
  /// API v1 is restored.
  package static func source(of document: some NightscoutFields) -> String {
    let names = [document[.enteredBy], document[.app]].map { NightscoutText.unescaped($0.plainText) }
    return names.first { !NightscoutText.trimmed($0).isEmpty } ?? ""
  }

  /// The guid that an import of the site's export would give to the record of this part, such as `insulin`,
  /// of a treatment.
  package static func guid(_ identifier: String, _ part: String) -> String {
    Digest.uuid(of: ["record", "nightscout", "\(identifier)/\(part)"])
  }

  /// The records in a document, including tombstones.
  package static func records(_ document: NightscoutDocument, _ zone: NightscoutZone) -> [NightscoutRecord] {
    contents(document, zone).records
  }

  /// The reading, records and rejections of a treatment.
  static func contents(_ document: NightscoutDocument, _ zone: NightscoutZone) -> NightscoutContents {
    // A moved item is in another document, and a withdrawn item is hidden. So this document contains nothing.
    if document.isMoved || document.isWithdrawn { return NightscoutContents() }
    let parts = parts(document)
    var contents = NightscoutContents(records: parts.map { record($0, document, zone) })
    let isOurs = document[.app].text == NightscoutDocument.app
    if !isOurs || parts.isEmpty {
      let foreign = foreignContents(of: document, zone)
      contents.rejections = foreign.rejections
      contents.reading = isOurs ? nil : foreign.reading
      let guids = Set(parts.map(\.guid))
      let made = Set(foreign.records.map(\.guid))
      for record in foreign.records where !guids.contains(record.guid) {
        // A `NightscoutPart` has replaced this record under another guid. So the record that was made from
        // the document's identifier no longer exists.
        let kind = record.state.kind
        let isTaken =
          record.guid == guid(document.identifier, kind.rawValue)
          && parts.contains { $0.state.kind == kind && !made.contains($0.guid) }
        contents.records.append(isTaken ? record.tombstone : record)
      }
    }
    if document.isDeleted { contents.records = contents.records.map(\.tombstone) }
    return contents
  }

  private static func record(
    _ part: NightscoutPart, _ document: NightscoutDocument, _ zone: NightscoutZone
  ) -> NightscoutRecord {
    var state = edited(part, in: document, zone)
    let isOwn = state.agrees(with: part.state)
    if !isOwn { (state.editedAt, state.export) = (editTime(part, document), nil) }
    return NightscoutRecord(guid: part.guid, state: state, isOwn: isOwn, identifier: document.identifier)
  }

  /// When another program edited the document by API v3, in UTC seconds. Nil if no program did, and for edits
  /// by API v1, which does not change `srvModified`.
  private static func editTime(_ part: NightscoutPart, _ document: NightscoutDocument) -> Int64? {
    guard let writtenAt = part.writtenAt, let modified = document.modified,
      modified > writtenAt + NightscoutTime.slack
    else { return nil }
    return modified / 1000
  }
}
