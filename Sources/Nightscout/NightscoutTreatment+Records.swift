// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Converts treatments to records. Records of glucoport are complete in our member, with the identity that they have in
/// every store. Records of other programs are made from the treatment's content.
extension NightscoutTreatment {
  /// The state of a part, with later edits of other programs.
  package static func edited(
    _ part: NightscoutPart, in document: some NightscoutFields, _ zone: NightscoutZone
  ) -> RecordState {
    var state = zone.placed(part.state)
    guard !state.isDeleted else { return state }
    for (member, field) in fields(state.kind) {
      let seen = plain(part.seen[member.name] ?? .null, member)
      let found = plain(document[member], member)
      if seen == found || (member == .duration && isRounded(seen, found)) { continue }
      state.fields[field] = found
    }
    guard let seen = part.seen[NightscoutMember.createdAt.name]?.instant?.milliseconds,
      let found = document[.createdAt].instant, found.milliseconds != seen
    else { return state }
    let offset = state.statedOffset ?? zone.offset(atUTC: found.seconds)
    state.deviceTime = DeviceTime(seconds: found.seconds + Int64(offset))
    state.placement = Placement(utcOffset: offset, source: .stated)
    return state
  }

  /// A value without the server's changes: a missing value, 0 and an empty text are equal, and escaped HTML is restored.
  private static func plain(_ value: some NightscoutValue, _ member: NightscoutMember) -> FieldValue? {
    guard member == .notes else { return value.jsonNumber.flatMap { $0 == 0 ? nil : .number($0) } }
    let text = NightscoutText.unescaped(value.plainText)
    return text.isEmpty ? nil : .text(text)
  }

  /// Whether the site itself changed one into the other: each write of a document rounds its duration to whole minutes.
  private static func isRounded(_ seen: FieldValue?, _ found: FieldValue?) -> Bool {
    guard case .number(let seen)? = seen else { return false }
    let rounded = seen.rounded(.toNearestOrAwayFromZero)
    return found == (rounded == 0 ? nil : .number(rounded))
  }
}

// MARK: - Of a site

extension NightscoutTreatment {
  /// The content of the members that every program reads: records with the ids that an import of the site's export
  /// gives them, and a blood glucose value that a person entered.
  package static func foreign(_ document: NightscoutDocument, _ zone: NightscoutZone) -> NightscoutContents {
    guard let instant = document.treatmentInstant else {
      return NightscoutContents(rejections: [NightscoutRefusal.noDate])
    }
    let content = content(of: document, unit: nil)
    let shown = document.shown(instant, zone.offset)
    var foreign = NightscoutContents(rejections: content.rejections)
    foreign.records = content.records.map { kind, fields in
      let state = RecordState(
        kind: kind, entryGuid: nil, deviceTime: shown.deviceTime, placement: zone.place(shown),
        fields: RecordFields(fields), isDeleted: false, editedAt: document.modified.map { $0 / 1000 },
        provenance: Provenance(format: "nightscout", source: source(of: document)))
      return NightscoutRecord(
        guid: guid(document.identifier, kind), state: state, isOwn: false, identifier: document.identifier)
    }
    foreign.reading = content.glucose.map { measurement, marks in
      (
        NightscoutEntry.reading(.smbg, measurement, marks, at: instant, document, zone),
        NightscoutEntry.device(document)
      )
    }
    return foreign
  }

  /// The program that another program's treatment states as its writer; empty if it states none. API v1 stores it with
  /// escaped HTML.
  package static func source(of document: some NightscoutFields) -> String {
    let names = [document[.enteredBy], document[.app]].map { NightscoutText.unescaped($0.plainText) }
    return names.first { !NightscoutText.trimmed($0).isEmpty } ?? ""
  }

  /// The id that an import of the site's export gives to a treatment's record.
  static func guid(_ identifier: String, _ kind: RecordKind) -> String {
    Digest.uuid(of: ["record", "nightscout", "\(identifier)/\(kind.rawValue)"])
  }

  /// The records of a document, including tombstones.
  package static func records(_ document: NightscoutDocument, _ zone: NightscoutZone) -> [NightscoutRecord] {
    contents(document, zone).records
  }

  /// The contents of a treatment.
  static func contents(_ document: NightscoutDocument, _ zone: NightscoutZone) -> NightscoutContents {
    // The event is in another document, or will return to this one.
    if document.isMoved || document.isWithdrawn { return NightscoutContents() }
    let parts = parts(document)
    var contents = NightscoutContents(records: parts.map { record($0, document, zone) })
    let isOurs = document[.app].text == NightscoutDocument.app
    if !isOurs || parts.isEmpty {
      let foreign = foreign(document, zone)
      contents.rejections = foreign.rejections
      contents.reading = isOurs ? nil : foreign.reading
      let guids = Set(parts.map(\.guid))
      for record in foreign.records where !guids.contains(record.guid) {
        // If a part has replaced it with another id, the record made from the document's key no longer exists.
        let isTaken = parts.contains { $0.state.kind == record.state.kind }
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
    if !isOwn { state.editedAt = editTime(part, document) }
    return NightscoutRecord(guid: part.guid, state: state, isOwn: isOwn, identifier: document.identifier)
  }

  /// The time at which another program changed the document by API v3; nil for API v1, which does not change the
  /// server's mark.
  private static func editTime(_ part: NightscoutPart, _ document: NightscoutDocument) -> Int64? {
    guard let writtenAt = part.writtenAt, let modified = document.modified,
      modified > writtenAt + NightscoutTime.slack
    else { return nil }
    return modified / 1000
  }
}
