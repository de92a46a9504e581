// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Sends records that have no valid document on the site. The document never existed, or was deleted or
/// pruned.
extension NightscoutRemote {
  func afterDeletion(
    _ change: RecordChange, _ base: NightscoutRevision?, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let identifier = base.map(\.path) ?? change.guid
    // The record may be in another document, since it was moved or another node has restored it. A store that
    // imported the record does not know the key of that document.
    if let document = try await moved(change) {
      return try await write(change, into: document, writer)
    }
    let withdrawn = try await withdrawnKey(NightscoutDocument.escaped(identifier))
    if change.state.isDeleted {
      if let withdrawn { try await deleteWithdrawn(change, identifier: withdrawn, writer) }
      return .accepted(revision: tombstone(change).text(guid: change.guid))
    }
    // A change restores a deleted record only if it is based on the tombstone. A withdrawn record is always
    // restored.
    guard base?.isDeleted == true || withdrawn != nil else { return conflict(with: change) }
    return try await create(
      change, identifier: withdrawn ?? identifier, nextTo: neighbours(of: change), writer)
  }

  func afterAbsence(
    _ change: RecordChange, _ base: NightscoutRevision?, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    if change.state.isDeleted {
      return base == nil
        ? try await createDeleted(change, writer)
        : .accepted(revision: tombstone(change).text(guid: change.guid))
    }
    if base != nil, let document = try await moved(change) {
      return try await write(change, into: document, writer)
    }
    if let base, !base.isDeleted {
      if try await hasTreatments(before: NightscoutTreatment.milliseconds(change.state)) {
        return conflict(with: change)
      }
      return .refused(reason: "the site does not keep treatments of this age")
    }
    return try await createUnlessKnown(change, base, writer)
  }

  /// How long after the deletion of a record that the site never had its deleted document is created. After
  /// that time, few copies of the store can still have the record pending. A store that sends all its records
  /// to a new site would create such a document for each old deletion.
  private static let deletionMilliseconds: Int64 = 30 * 86_400_000

  /// The answer to the deletion of a record that the site never had. A copy of the store may still have the
  /// record pending, and would create it. So a document without content is created and deleted, by which the
  /// copy recognises the deletion. None is created for an old deletion, and if another program's document
  /// contains the record. Nil if another program created a document with this key in the meantime.
  private func createDeleted(
    _ change: RecordChange, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let accepted = RecordVerdict.accepted(revision: tombstone(change).text(guid: change.guid))
    let start = try await session.now() - Self.deletionMilliseconds
    guard let deleted = change.state.editedAt, deleted > start / 1000 else { return accepted }
    let others = try await neighbours(of: change)
    let isKnown = others.contains { document in
      NightscoutTreatment.records(document, zone).contains { $0.guid == change.guid }
    }
    if isKnown { return accepted }
    switch try await create(change, identifier: change.guid, nextTo: others, writer) {
    case .accepted: try await softDelete(change.guid)
    case nil: return nil
    // The site takes no document with this time or type, so that no copy can create the record there, either.
    case .refused, .conflict: break
    }
    return accepted
  }

  /// Whether the site has treatments before this time. If it has none, its autoprune may have removed the
  /// missing document, which is not a deletion.
  func hasTreatments(before milliseconds: Int64) async throws(ServiceError) -> Bool {
    try await !search(
      .treatments, [("created_at$lt", NightscoutTime.utcText(milliseconds)), ("limit", "1")]
    ).isEmpty
  }

  private func tombstone(_ change: RecordChange) -> NightscoutRevision {
    var state = change.state
    state.isDeleted = true
    let identifier = change.base.map { NightscoutRevision($0, guid: change.guid).path } ?? change.guid
    return NightscoutRevision(state, path: identifier)
  }

  /// The answer to a change of a record that is deleted on the site: `conflict`, or `accepted` if the change
  /// is a deletion.
  func conflict(with change: RecordChange) -> RecordVerdict {
    if change.state.isDeleted { return .accepted(revision: tombstone(change).text(guid: change.guid)) }
    var state = change.state
    (state.fields, state.isDeleted, state.editedAt, state.export) = (RecordFields(), true, nil, nil)
    return .conflict(
      revision: tombstone(change).text(guid: change.guid), state: state, isBaseKnown: change.base != nil)
  }

  /// Creates a document for a record. If a document of another program already contains the record, none is
  /// created. Such a document contains the same guid if the store imported the record from an export of the
  /// site.
  private func createUnlessKnown(
    _ change: RecordChange, _ base: NightscoutRevision?, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let others = try await neighbours(of: change)
    for document in others {
      // The insulin of this document only fills a reservoir or a tube. In a treatment written by glucoport,
      // it would count as a bolus on the site.
      if NightscoutTreatment.isFilling(change.guid, of: document) {
        return .refused(reason: NightscoutTreatment.filling + " is not a dose")
      }
      guard let theirs = NightscoutTreatment.records(document, zone).first(where: { $0.guid == change.guid })
      else {
        continue
      }
      return theirs.state.agrees(with: change.state)
        ? .accepted(revision: theirs.revision)
        : .conflict(revision: theirs.revision, state: theirs.state, isBaseKnown: change.base != nil)
    }
    var identifier = change.guid
    // If a move was interrupted, a document with the record's guid as its key still exists. So the second
    // document of this record gets another key.
    if let base, base.path != identifier, case .document = try await find(.treatments, identifier) {
      identifier = movedKey(change)
    }
    return try await create(change, identifier: identifier, nextTo: others, writer)
  }

  /// The valid treatments whose time is in the same second as the event of the change.
  func neighbours(of change: RecordChange) async throws(ServiceError) -> [NightscoutDocument] {
    let date = NightscoutTreatment.milliseconds(change.state)
    // One pattern matches the whole second. Two conditions would not work, since the site applies only the
    // last condition on a field.
    let second = NightscoutTime.utcText(date).prefix(19)
    return try await list(
      Self.path(.treatments), [("created_at$re", "^\(second)")], limit: Self.maxDocuments
    ).items.compactMap(NightscoutDocument.init)
  }

  /// Creates a document for a record. Nil if another program created a document with this key in the
  /// meantime.
  func create(
    _ change: RecordChange, identifier: String, nextTo others: [NightscoutDocument],
    _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let date = NightscoutTreatment.milliseconds(change.state)
    if let refusal = NightscoutTreatment.refusal(change.state) { return .refused(reason: refusal) }
    // If two events have the same type and time and one of them has no key, the server treats them as the
    // same. So the time of this event is moved by some milliseconds.
    let event = NightscoutTreatment.eventType(change.state)
    let taken = Set(
      others.filter { $0["eventType"]?.text == event }.compactMap { $0.treatmentInstant?.milliseconds })
    let shift = (0..<1000).first { !taken.contains(date + $0) } ?? 0
    var part = NightscoutPart(guid: change.guid, state: change.state, seen: [:], sent: [])
    part.recordAccepted(change, at: try await session.now())
    var members = NightscoutTreatment.members(part, identifier: identifier, shift: shift, writer)
    // A POST can replace an existing valid document. If the POST has another `srvModified` than that
    // document, it replaces nothing and can only create a document.
    members["srvModified"] = .number(1)
    let answer = try await session.send(.POST, Self.path(.treatments), body: .object(members))
    if NightscoutAnswer.isStored(answer) {
      return .accepted(
        revision: NightscoutRevision(change.state, identifier: identifier).text(guid: change.guid))
    }
    switch NightscoutAnswer.status(answer) {
    case 400, 422:
      let words = await session.message(in: answer)
      return words.contains("cannot be modified") ? nil : .refused(reason: words)
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
  }
}
