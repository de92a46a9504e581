// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Records as treatments. The members that other programs read stand beside the whole state of each record.
enum NightscoutTreatment {
  /// What of each kind other programs read, and under which field it comes back when they edit it.
  static func fields(_ kind: RecordKind) -> [(member: String, field: String)] {
    switch kind {
    case .insulin: [("insulin", "units"), ("absolute", "rate"), ("duration", "minutes"), ("notes", "text")]
    case .food: [("carbs", "carbs"), ("protein", "protein"), ("fat", "fat"), ("notes", "text")]
    case .exercise: [("duration", "minutes"), ("notes", "text")]
    case .note, .annotation, .attachment: [("notes", "text")]
    }
  }

  /// The type of event, which stays for ever.
  static func eventType(_ state: RecordState) -> String {
    switch state.kind {
    case .insulin:
      switch state.fields.subtype {
      case "", "rapid": "Correction Bolus"
      case "basal" where state.fields["rate"] != nil && state.fields["minutes"] != nil: "Temp Basal"
      default: "Insulin"
      }
    case .food: "Carb Correction"
    case .exercise: "Exercise"
    case .note: "Note"
    case .annotation: "Annotation"
    case .attachment: "Attachment"
    }
  }

  /// The instant of a state in milliseconds.
  static func milliseconds(_ state: RecordState) -> Int64 {
    (state.deviceTime.seconds - Int64(state.placement.utcOffset)) * 1000
  }

  /// Offsets in minutes, as the server keeps them.
  static func minutes(_ state: RecordState) -> Int64 { Int64(state.placement.utcOffset) / 60 }

  /// The members that other programs read of a state.
  static func shown(_ state: RecordState) -> [String: JSONValue] {
    guard !state.isDeleted else { return [:] }
    var shown: [String: JSONValue] = [:]
    for (member, field) in fields(state.kind) {
      switch state.fields[field] {
      case .number(let number): shown[member] = .number(number)
      case .text(let text) where !text.isEmpty: shown[member] = .text(text)
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

  /// Every program takes `insulin` for a rapid bolus and computes what of it still acts; other insulin is told in words.
  private static func hideFromCalculators(_ shown: inout [String: JSONValue], _ state: RecordState) {
    let subtype = state.fields.subtype
    if subtype == "basal", shown["absolute"] != nil, shown["duration"] != nil, shown["insulin"] == nil {
      return
    }
    shown["absolute"] = nil
    shown["duration"] = nil
    guard subtype != "", subtype != "rapid" else { return }
    let units = shown.removeValue(forKey: "insulin")?.number.map { "\(plainNumber($0)) U " } ?? ""
    shown["notes"] = .text(
      [units + subtype, shown["notes"]?.text].compactMap(\.self).joined(separator: " · "))
  }

  /// The members of a new document for one record.
  ///
  /// - Parameter shift: milliseconds by which it is moved away from another document of the type.
  static func members(
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
    // Without it the running site leaves a dose that comes a quarter of an hour late out of what still acts.
    members["mills"] = .number(Double(date))
    members["created_at"] = part.seen["created_at"]
    members["utcOffset"] = .number(Double(minutes(part.state)))
    members["enteredBy"] = .text(NightscoutDocument.app)
    members[NightscoutDocument.ownName] = own([part], writer)
    return members
  }

  /// What a treatment makes act, or tells people: a deleted one says nothing of it any more.
  static let acting = [
    "insulin", "carbs", "protein", "fat", "absolute", "rate", "percent", "relative", "duration", "glucose",
    "notes",
  ]

  /// The members with which a document acts no longer.
  static func blank(_ document: NightscoutDocument) -> [String: JSONValue] {
    var blank: [String: JSONValue] = [:]
    for name in acting {
      if let value = document[name], value != .null, value != .number(0) { blank[name] = .null }
    }
    return blank
  }

  /// Our member with these parts.
  static func own(_ parts: [NightscoutPart], _ writer: NightscoutWriter) -> JSONValue {
    .object(writer.members.merging(["parts": .list(parts.map(\.json))]) { $1 })
  }

  /// The parts that a document holds.
  static func parts(_ document: NightscoutDocument) -> [NightscoutPart] {
    document.own?["parts"]?.items?.compactMap(NightscoutPart.init) ?? []
  }
}

// MARK: - From a document

extension NightscoutTreatment {
  /// The records of a document, tombstones, too.
  static func records(_ document: NightscoutDocument, _ zone: NightscoutZone) -> [NightscoutRecord] {
    // The event was moved in time, which no document can be: it goes on in another one.
    if document.own?["moved"] != nil { return [] }
    let parts = parts(document)
    var records = parts.map { record($0, document) }
    if document["app"]?.text != NightscoutDocument.app || parts.isEmpty {
      let foreign = foreign(document, zone)
      for record in foreign.records where !records.contains(where: { $0.guid == record.guid }) {
        // Where a part took its place under another id, the one made from the document's key is gone.
        let isTaken = parts.contains { $0.state.kind == record.state.kind }
        records.append(isTaken ? tombstone(record) : record)
      }
    }
    return document.isDeleted ? records.map(tombstone) : records
  }

  private static func tombstone(_ record: NightscoutRecord) -> NightscoutRecord {
    var state = record.state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return NightscoutRecord(guid: record.guid, state: state, isOwn: false, identifier: record.identifier)
  }

  /// The state of a part, with what others edited since.
  private static func record(_ part: NightscoutPart, _ document: NightscoutDocument) -> NightscoutRecord {
    var state = part.state
    if !state.isDeleted {
      for (member, field) in fields(state.kind) {
        let (seen, found) = (plain(part.seen[member], member), plain(document[member], member))
        if seen == found || isRounded(seen, found, member) { continue }
        switch found {
        case .number(let number): state.fields[field] = .number(number)
        case .text(let text): state.fields[field] = .text(text)
        default: state.fields[field] = nil
        }
      }
      move(&state, from: part.seen["created_at"], to: document["created_at"])
    }
    let isOwn = state == part.state
    if !isOwn { state.editedAt = part.editTime(document) }
    return NightscoutRecord(guid: part.guid, state: state, isOwn: isOwn, identifier: document.identifier)
  }

  /// A value without what a server adds or takes away: nothing, 0 and an empty text are one, and signs of HTML come back.
  private static func plain(_ value: JSONValue?, _ member: String) -> JSONValue? {
    guard member == "notes" else {
      return value?.number.flatMap { $0 == 0 ? nil : .number($0) }
    }
    guard let text = value?.text.map({ NightscoutDocument.bounded(NightscoutDocument.unescaped($0)) }),
      !text.isEmpty
    else { return nil }
    return .text(text)
  }

  /// Whether the site itself made one of the other: each write of a document rounds its duration to whole minutes.
  private static func isRounded(_ seen: JSONValue?, _ found: JSONValue?, _ member: String) -> Bool {
    guard member == "duration", let seen = seen?.number else { return false }
    return found?.number ?? 0 == seen.rounded(.toNearestOrAwayFromZero)
  }

  private static func move(_ state: inout RecordState, from seen: JSONValue?, to found: JSONValue?) {
    guard let seen = NightscoutTime.instant(seen)?.milliseconds,
      let found = NightscoutTime.instant(found)?.milliseconds, found != seen
    else { return }
    let seconds = found / 1000 + Int64(state.placement.utcOffset)
    state.deviceTime = DeviceTime(seconds: seconds)
    state.placement = Placement(utcOffset: state.placement.utcOffset, source: .stated)
  }
}
