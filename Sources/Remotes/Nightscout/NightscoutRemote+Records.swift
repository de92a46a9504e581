// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Sends records. Each document is read before it is written. Otherwise, edits by API v1 would be
/// overwritten, and deleted documents would be restored by a POST. The write then states the exact
/// `srvModified` that was read.
///
/// These functions end a document:
/// - `clear`: empties the members that still have an effect or that people read.
/// - `softDelete`: marks a document as deleted, with a tombstone in the history.
/// - `clearAndDelete`: does `clear`, then `softDelete`, for a document already marked as deleted, moved or
///   withdrawn.
/// - `removeOne`: removes one of two documents with the same key, without a tombstone.
/// - `removeDeletedDouble`: if a deleted and a valid document have the same key, removes the deleted one.
/// - `deleteWithdrawn`: turns a withdrawn document into a deleted one.
extension NightscoutRemote {
  /// The maximum number of attempts if a document changes between reading and writing it.
  private static let maxAttempts = 3

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    var verdicts: [RecordVerdict] = []
    let changes = changes.map { change in
      RecordChange(
        guid: change.guid, node: change.node, version: change.version, base: change.base,
        state: zone.recalculated(change.state, of: change.guid))
    }
    // Changes are sent one after the other, since two simultaneous requests for one document would create two
    // documents.
    for change in changes {
      verdicts.append(try await verdict(change, NightscoutWriter(run)))
    }
    var sent = NightscoutCursor.sent(run.lastSeenPosition)
    let start = try await session.now() - NightscoutCursor.sweepMilliseconds
    for case (let change, .accepted(let revision)) in zip(changes, verdicts) {
      let isSwept = !change.state.isDeleted && NightscoutTreatment.milliseconds(change.state) > start
      sent[change.guid] = isSwept ? NightscoutCursor.Seen(change.state, revision: revision) : nil
    }
    return RecordAnswer(verdicts: verdicts, position: try NightscoutCursor.mark(sent))
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

  // MARK: An existing document

  /// Writes a change into a document. Nil if the caller must try again: another program changed the document
  /// in the meantime, or the document has an interrupted withdrawal.
  func write(
    _ change: RecordChange, into document: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    // The withdrawal of this document was interrupted, so it is completed first. The next attempt then
    // restores or deletes the record.
    if document.isWithdrawn {
      try await clearAndDelete(document)
      return nil
    }
    let identifier = document.identifier
    let records = NightscoutTreatment.records(document, zone)
    let revision = NightscoutRevision(change.state, identifier: identifier).text(guid: change.guid)
    let parts = NightscoutTreatment.parts(document)
    if let there = try await afterMove(change, document) {
      // If an earlier change moved the record to the document `there`, this change is written there. The old
      // document was removed, so that the record is never in both.
      return try await write(change, into: there, writer)
    }
    let isOnly = isOnly(change.guid, in: document)
    // If the document contains this change, the site accepted the change earlier and the answer was lost.
    // This is also true if the document was changed later. A move that was interrupted is continued below.
    if holds(document, change), document.own?["moved"] == nil {
      // Another node may have restored the record after this change had deleted it. In this case, the
      // document is kept.
      let isStillDeleted = records.contains { $0.guid == change.guid && $0.state.isDeleted }
      if change.state.isDeleted, isStillDeleted, isOnly { try await clearAndDelete(document) }
      return .accepted(revision: revision)
    }
    guard
      let mine = records.first(where: { $0.guid == change.guid }) ?? recordOfInterruptedMove(change, document)
    else {
      return conflict(with: change)
    }
    let isLearned = !mine.state.addsProvenance(to: change.state) || change.base == mine.revision
    if mine.state.agrees(with: change.state), isLearned, !change.state.addsProvenance(to: mine.state) {
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
    if isRemoved { members.merge(NightscoutTreatment.cleared(document)) { own, _ in own } }
    switch try await patch(document, members, writer) {
    case .done:
      if isRemoved { try await softDelete(document) }
      return .accepted(revision: revision)
    case .changed: return nil
    case .refused(let reason): return .refused(reason: reason)
    }
  }

  /// Whether a document contains only this record.
  func isOnly(_ guid: String, in document: NightscoutDocument) -> Bool {
    !NightscoutTreatment.records(document, zone).contains { $0.guid != guid && !$0.state.isDeleted }
      && reading(document, of: .treatments) == nil && !NightscoutTreatment.hasFilling(document)
  }

  /// Whether both states have the same time. The server does not allow changing the time of a document.
  private func isInPlace(_ state: RecordState, _ other: RecordState) -> Bool {
    NightscoutTreatment.milliseconds(state) == NightscoutTreatment.milliseconds(other)
      && NightscoutTreatment.minutes(state) == NightscoutTreatment.minutes(other)
  }

  /// The members of the document that this change changes, including the member `glucoport`.
  private func changed(
    _ change: RecordChange, _ mine: NightscoutRecord, _ document: NightscoutDocument,
    _ parts: [NightscoutPart],
    _ writer: NightscoutWriter, at now: Int64
  ) -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    var part =
      parts.first { $0.guid == change.guid }
      ?? NightscoutPart(guid: change.guid, state: change.state, seen: [:], sent: [])
    part.state = change.state
    part.seen = [:]
    if !NightscoutTreatment.isFurtherDose(change.guid, of: document) {
      let shown = NightscoutTreatment.shown(change.state, insteadOf: mine.state, in: document)
      let before = NightscoutTreatment.shown(mine.state, insteadOf: mine.state, in: document)
      for name in Set(shown.keys).union(before.keys) where shown[name] != before[name] {
        members[name] = shown[name] ?? .null
      }
      for (member, _) in NightscoutTreatment.fields(mine.state.kind) {
        part.seen[member.name] = members[member.name] ?? document[member.name]
      }
      part.seen["created_at"] = document["created_at"]
    }
    part.recordAccepted(change, at: now)
    members[NightscoutDocument.ownName] = NightscoutTreatment.ownMember(
      parts.filter { $0.guid != change.guid } + [part], writer)
    return members
  }

  /// Soft-deletes a document whose members were emptied by `clear`. They must be empty, since API v1 and the
  /// computation of active insulin treat a deleted document as valid.
  private func softDelete(_ document: NightscoutDocument) async throws(ServiceError) {
    let before = try await session.now()
    try await softDelete(document.identifier)
    try await removeLiveDoubles(of: document, deletedAfter: before)
  }

  /// Soft-deletes the document with this key, so that the history contains a tombstone.
  func softDelete(_ identifier: String) async throws(ServiceError) {
    let path = NightscoutDocument.escaped(identifier)
    let answer = try await session.send(.DELETE, Self.path(.treatments, "/\(path)"))
    switch NightscoutAnswer.status(answer) {
    case 200, 404, 410: return
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
  }

  // MARK: Moving in time

  /// The record in a document whose move was interrupted. The member `moved`, which otherwise hides the
  /// record, is ignored.
  func recordOfInterruptedMove(_ change: RecordChange, _ document: NightscoutDocument) -> NightscoutRecord? {
    guard case .object(var members) = document.members, case .object(var own)? = document.own else {
      return nil
    }
    own["moved"] = nil
    members[NightscoutDocument.ownName] = .object(own)
    return NightscoutDocument(.object(members)).flatMap { document in
      NightscoutTreatment.records(document, zone).first { $0.guid == change.guid }
    }
  }

  /// Creates a document with the changed time for the record, and deletes the document with the old time. Nil
  /// if another program changed one of the documents in the meantime.
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
    // If both keys are equal, the record already had this time before another node moved it, and is moved
    // back. So the second document needs a key that differs from that of the existing one.
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
        // An earlier attempt has created the document, but its answer was lost.
        .accepted(revision: NightscoutRevision(change.state, identifier: target).text(guid: change.guid))
      } else { try await create(change, identifier: target, nextTo: neighbours(of: change), writer) }
    if case .accepted? = verdict { try await clearAndDelete(document) }
    return verdict
  }

  /// Completes a move that was interrupted after the second document was created, and returns that document.
  /// Nil if no such move was interrupted.
  func afterMove(
    _ change: RecordChange, _ document: NightscoutDocument
  ) async throws(ServiceError) -> NightscoutDocument? {
    guard let target = document.own?["moved"]?.text,
      case .document(let there) = try await find(.treatments, NightscoutDocument.escaped(target)),
      there.own?["moved"] == nil, holds(there, change) || holds(there, change.guid)
    else { return nil }
    try await clearAndDelete(document)
    return there
  }

  /// Clears and soft-deletes a document whose member `glucoport` already states that its record is deleted,
  /// moved or withdrawn.
  func clearAndDelete(_ document: NightscoutDocument) async throws(ServiceError) {
    try await clear(document)
    try await softDelete(document)
  }

  func movedKey(_ change: RecordChange) -> String {
    Digest.uuid(of: [
      "moved", change.guid, String(NightscoutTreatment.milliseconds(change.state)),
      String(NightscoutTreatment.minutes(change.state)),
    ])
  }

  /// Finds the valid document that contains the record, also if a change has moved the record to another
  /// document. Nil if there is none.
  func moved(_ change: RecordChange) async throws(ServiceError) -> NightscoutDocument? {
    if let document = try await undeletedDocument(change.guid) { return document }
    guard case .document(let document) = try await find(.treatments, movedKey(change)),
      holds(document, change.guid)
    else { return nil }
    return document
  }

  /// A document that contains this record and is not deleted; nil if there is none.
  func undeletedDocument(_ guid: String) async throws(ServiceError) -> NightscoutDocument? {
    try await search(
      .treatments, [("\(NightscoutDocument.ownName).parts.guid", guid), ("limit", "10")]
    ).first { holds($0, guid) }
  }

  /// Whether a document contains this change.
  private func holds(_ document: NightscoutDocument, _ change: RecordChange) -> Bool {
    NightscoutTreatment.parts(document).contains {
      $0.guid == change.guid && $0.sent.contains(NightscoutPart.identifier(of: change))
    }
  }

  private func holds(_ document: NightscoutDocument, _ guid: String) -> Bool {
    NightscoutTreatment.records(document, zone).contains { $0.guid == guid && !$0.state.isDeleted }
  }
}
