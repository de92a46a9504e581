// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Sending records: each document is read first, since API v1 leaves no trace of its edits, a POST brings back what was
/// deleted, and a DELETE looks at nothing; then it is written under its exact mark of change.
extension NightscoutRemote {
  /// A document that changes between reading and writing it is read again so often.
  private static let maxAttempts = 3

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    var verdicts: [RecordVerdict] = []
    let changes = changes.map { change in
      RecordChange(
        guid: change.guid, node: change.node, version: change.version, base: change.base,
        state: zone.placed(change.state, of: change.guid))
    }
    // One after the other: two requests for one document at a time make two documents of it.
    for change in changes {
      verdicts.append(try await verdict(change, NightscoutWriter(run)))
    }
    var sent = NightscoutCursor.sent(run.lastSeenPosition)
    let start = try await session.now() - NightscoutCursor.sweptBack
    for case (let change, .accepted(let revision)) in zip(changes, verdicts) {
      let isSwept = !change.state.isDeleted && NightscoutTreatment.milliseconds(change.state) > start
      sent[change.guid] = isSwept ? NightscoutCursor.Seen(change.state, revision: revision) : nil
    }
    return RecordAnswer(verdicts: verdicts, position: NightscoutCursor.mark(sent))
  }

  private func verdict(
    _ change: RecordChange, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict {
    let base = change.base.map { NightscoutRevision($0, guid: change.guid) }
    let path = base?.path ?? NightscoutDocument.escaped(change.guid)
    for _ in 0..<Self.maxAttempts {
      let verdict: RecordVerdict? =
        switch try await find(.treatments, path) {
        case .document(let document): try await write(change, into: document, writer)
        case .deleted: try await afterDeletion(change, base, writer)
        case .absent: try await afterAbsence(change, base, writer)
        }
      if let verdict { return verdict }
    }
    throw .serverFailure("\(hostName): a treatment changes too fast to be written")
  }

  // MARK: A document that is there

  /// Nil when somebody changed the document meanwhile.
  func write(
    _ change: RecordChange, into document: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    // A removal that was interrupted: behind it the record is brought back, or buried.
    if document.isWithdrawn {
      try await retire(document)
      return nil
    }
    let identifier = document.identifier
    let records = NightscoutTreatment.records(document, zone)
    let revision = NightscoutRevision(change.state, identifier: identifier).text(guid: change.guid)
    let parts = NightscoutTreatment.parts(document)
    if let there = try await afterMove(change, document) {
      // Where the move was another one, what it made is the remote side of a conflict, and is never beside this one's.
      return try await write(change, into: there, writer)
    }
    let isOnly = isOnly(change.guid, in: document)
    // This very change, whose answer was lost: so it was accepted, whatever others wrote since. A move that was
    // interrupted goes on below.
    if holds(document, change), document.own?["moved"] == nil {
      // Another node may have brought the record back meanwhile.
      let isStillDeleted = records.contains { $0.guid == change.guid && $0.state.isDeleted }
      if change.state.isDeleted, isStillDeleted, isOnly { try await retire(document) }
      return .accepted(revision: revision)
    }
    guard let mine = records.first(where: { $0.guid == change.guid }) ?? moving(change, document) else {
      return conflict(with: change)
    }
    let isLearned = !mine.state.teachesProvenance(to: change.state) || change.base == mine.revision
    if mine.state.agrees(with: change.state), isLearned, !change.state.teachesProvenance(to: mine.state) {
      return .accepted(revision: mine.revision)
    }
    guard change.base == mine.revision else {
      return .conflict(revision: mine.revision, state: mine.state, isBaseKnown: change.base != nil)
    }
    guard change.state.isDeleted || isInPlace(change.state, mine.state) else {
      return try await move(change, document, isOnly: isOnly, writer)
    }
    let isRemoved = change.state.isDeleted && isOnly
    var members = changed(change, mine, document, parts, writer, at: try await session.now())
    if isRemoved { members.merge(NightscoutTreatment.blank(document)) { own, _ in own } }
    switch try await patch(document, members, writer) {
    case .done:
      if isRemoved { try await remove(document) }
      return .accepted(revision: revision)
    case .changed: return nil
    case .refused(let reason): return .refused(reason: reason)
    }
  }

  /// Whether a document holds nothing but this record.
  func isOnly(_ guid: String, in document: NightscoutDocument) -> Bool {
    !NightscoutTreatment.records(document, zone).contains { $0.guid != guid && !$0.state.isDeleted }
      && reading(document, of: .treatments) == nil
  }

  /// Whether both states have the same time, which the server lets nobody change in a document.
  private func isInPlace(_ state: RecordState, _ other: RecordState) -> Bool {
    NightscoutTreatment.milliseconds(state) == NightscoutTreatment.milliseconds(other)
      && NightscoutTreatment.minutes(state) == NightscoutTreatment.minutes(other)
  }

  /// The members that change, with our own.
  private func changed(
    _ change: RecordChange, _ mine: NightscoutRecord, _ document: NightscoutDocument,
    _ parts: [NightscoutPart],
    _ writer: NightscoutWriter, at now: Int64
  ) -> [String: JSONValue] {
    let shown = NightscoutTreatment.shown(change.state)
    let before = NightscoutTreatment.shown(mine.state)
    var members: [String: JSONValue] = [:]
    for (member, _) in NightscoutTreatment.fields(mine.state.kind)
    where shown[member.name] != before[member.name] {
      members[member.name] = shown[member.name] ?? .null
    }
    var part =
      parts.first { $0.guid == change.guid }
      ?? NightscoutPart(guid: change.guid, state: change.state, seen: [:], sent: [])
    part.state = change.state
    part.seen = [:]
    for (member, _) in NightscoutTreatment.fields(mine.state.kind) {
      part.seen[member.name] = members[member.name] ?? document[member.name]
    }
    part.seen["created_at"] = document["created_at"]
    part.note(change, at: now)
    members[NightscoutDocument.ownName] = NightscoutTreatment.own(
      parts.filter { $0.guid != change.guid } + [part], writer)
    return members
  }

  /// Takes a document out of what the site shows by API v3. To all else there, be it API v1 or what computes the insulin
  /// that still acts, a deleted document is one like any other: so it has to be blank by then.
  private func remove(_ document: NightscoutDocument) async throws(ServiceError) {
    let before = try await session.now()
    try await hide(document.identifier)
    try await removeLiveDoubles(of: document, deletedAfter: before)
  }

  /// Deletes the document of a key softly, so that the history shows it as deleted.
  func hide(_ identifier: String) async throws(ServiceError) {
    let path = NightscoutDocument.escaped(identifier)
    let answer = try await session.send(.DELETE, Self.path(.treatments, "/\(path)"))
    switch NightscoutAnswer.status(answer) {
    case 200, 404, 410: return
    default: throw await session.problem(answer, isWrite: true)
    }
  }

  // MARK: Moving in time

  /// What a document says that is being moved: its own records are hidden by then.
  func moving(_ change: RecordChange, _ document: NightscoutDocument) -> NightscoutRecord? {
    guard case .object(var members) = document.members, case .object(var own)? = document.own else {
      return nil
    }
    own["moved"] = nil
    members[NightscoutDocument.ownName] = .object(own)
    return NightscoutDocument(.object(members)).flatMap { document in
      NightscoutTreatment.records(document, zone).first { $0.guid == change.guid }
    }
  }

  /// Puts the record into another document, and deletes the one at the old time.
  func move(
    _ change: RecordChange, _ document: NightscoutDocument, isOnly: Bool, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    guard document["app"]?.text == NightscoutDocument.app, isOnly else {
      return .refused(
        reason:
          "the treatment belongs to another program, and Nightscout does not permit to change its time; delete it and add a new one"
      )
    }
    let key = movedKey(change)
    // It was moved by us to this very time, and by others from there.
    let target = key == document.identifier ? Digest.uuid(of: ["moved", key]) : key
    guard case .object(var own)? = document.own else { return nil }
    own["moved"] = .text(target)
    switch try await patch(document, [NightscoutDocument.ownName: .object(own)], writer) {
    case .done: break
    case .changed: return nil
    case .refused(let reason): return .refused(reason: reason)
    }
    let verdict: RecordVerdict? =
      if case .document(let there) = try await find(.treatments, target), holds(there, change) {
        // An earlier attempt, whose answer was lost, came as far as this.
        .accepted(revision: NightscoutRevision(change.state, identifier: target).text(guid: change.guid))
      } else { try await create(change, identifier: target, beside: neighbours(of: change), writer) }
    if case .accepted? = verdict { try await retire(document) }
    return verdict
  }

  /// The end of a move that was interrupted when its new document was there already: that document; nil where there is
  /// no such move.
  func afterMove(
    _ change: RecordChange, _ document: NightscoutDocument
  ) async throws(ServiceError) -> NightscoutDocument? {
    guard let target = document.own?["moved"]?.text,
      case .document(let there) = try await find(.treatments, NightscoutDocument.escaped(target)),
      there.own?["moved"] == nil, holds(there, change) || holds(there, change.guid)
    else { return nil }
    try await retire(document)
    return there
  }

  /// Removes a document whose own member says already that its record is deleted, or was moved out of it.
  func retire(_ document: NightscoutDocument) async throws(ServiceError) {
    try await blank(document)
    try await remove(document)
  }

  func movedKey(_ change: RecordChange) -> String {
    Digest.uuid(of: [
      "moved", change.guid, String(NightscoutTreatment.milliseconds(change.state)),
      String(NightscoutTreatment.minutes(change.state)),
    ])
  }

  /// The document in which the record goes on, where this change or another one moved it in time.
  func moved(_ change: RecordChange) async throws(ServiceError) -> NightscoutDocument? {
    if let document = try await live(change.guid) { return document }
    guard case .document(let document) = try await find(.treatments, movedKey(change)),
      holds(document, change.guid)
    else { return nil }
    return document
  }

  /// A document that holds a record that is not deleted.
  func live(_ guid: String) async throws(ServiceError) -> NightscoutDocument? {
    try await search(
      .treatments, [("\(NightscoutDocument.ownName).parts.guid", guid), ("limit", "10")]
    ).first { holds($0, guid) }
  }

  /// Whether a change was written into a document.
  private func holds(_ document: NightscoutDocument, _ change: RecordChange) -> Bool {
    NightscoutTreatment.parts(document).contains {
      $0.guid == change.guid && $0.sent.contains(NightscoutPart.mark(change))
    }
  }

  private func holds(_ document: NightscoutDocument, _ guid: String) -> Bool {
    NightscoutTreatment.records(document, zone).contains { $0.guid == guid && !$0.state.isDeleted }
  }
}
