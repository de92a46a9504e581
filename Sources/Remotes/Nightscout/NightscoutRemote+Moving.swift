// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Moves documents whose time changed, since the person set another time zone. The server does not allow
/// changing the time of a document. So the document is removed, and one with the changed time is sent.
extension NightscoutRemote: MovingService {
  var moving: (any MovingService)? { self }

  /// The maximum number of keys in one request. With more keys, the path would be longer than proxies accept.
  private static let maxKeys = 50

  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]] {
    let keys = batch.readings.map { ReadingIdentity($0, batch.devices[Int($0.device.number)]).uuid }
    var found: [String: [Int64]] = [:]
    for start in stride(from: 0, to: keys.count, by: Self.maxKeys) {
      let some = keys[start..<min(start + Self.maxKeys, keys.count)]
      let page = try await list(
        Self.path(.entries), [("identifier$in", some.joined(separator: "|"))], limit: Self.maxDocuments)
      for document in page.items.compactMap(NightscoutDocument.init) {
        // Documents of the same second have times that differ by some milliseconds, so the time is rounded
        // down to seconds.
        guard let date = document["date"]?.integer else { continue }
        found[document.identifier, default: []].append(Int64((Double(date) / 1000).rounded(.down)))
      }
    }
    return keys.map { found[$0] ?? [] }
  }

  func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    let change = RecordChange(
      guid: change.guid, node: change.node, version: change.version, base: change.base,
      state: zone.recalculated(change.state, of: change.guid))
    let writer = NightscoutWriter(run)
    for _ in 0..<Self.maxMoves {
      guard let valid = try await validDocuments(change) else { return conflict(with: change) }
      if let verdict = try await move(change, from: valid, writer) { return verdict }
    }
    throw .serverFailure("\(hostName): a treatment changes too fast to be moved")
  }

  private static let maxMoves = 3

  /// The valid documents of one record.
  private struct ValidDocuments {
    /// The document that is kept, or moved to another time.
    let document: NightscoutDocument
    /// Older valid documents of the same record. They exist if two stores with different zones moved the
    /// record at the same time.
    var doubles: [NightscoutDocument] = []
  }

  /// Finds all valid documents of a record; nil if there are none. An interrupted move may have left the old
  /// document, so that a dose counts twice. After the next pull, the store knows only one of both documents.
  /// So the documents are searched by the record's guid, and old ones are removed.
  private func validDocuments(_ change: RecordChange) async throws(ServiceError) -> ValidDocuments? {
    let found = try await documents(of: change.guid).filter { !$0.isWithdrawn }
    let open = found.filter { !$0.isMoved }
    guard let document = open.first ?? found.first else {
      // A document of another program is found by the id that this program gave it.
      let path = change.base.map { NightscoutRevision($0, guid: change.guid).path }
      guard let path, case .document(let document) = try await find(.treatments, path), !document.isMoved,
        !document.isWithdrawn
      else { return nil }
      return ValidDocuments(document: document)
    }
    for left in found where left.isMoved && left.identifier != document.identifier && isOurs(left, change) {
      try await clearAndDelete(left)
    }
    if let target = document.own?["moved"]?.text,
      case .deleted = try await find(.treatments, NightscoutDocument.escaped(target))
    {
      // After a move to another document, the record was deleted or withdrawn in that document.
      if isOurs(document, change) { try await clearAndDelete(document) }
      return nil
    }
    return ValidDocuments(
      document: document, doubles: open.dropFirst().filter { $0.identifier != document.identifier })
  }

  /// Whether glucoport wrote the document and it contains only this record.
  func isOurs(_ document: NightscoutDocument, _ change: RecordChange) -> Bool {
    document["app"]?.text == NightscoutDocument.app && isOnly(change.guid, in: document)
  }

  /// The valid documents that contain a record, newest first. They include documents that interrupted moves
  /// and removals left on the site.
  func documents(of guid: String) async throws(ServiceError) -> [NightscoutDocument] {
    try await search(
      .treatments, [("\(NightscoutDocument.ownName).parts.guid", guid), ("limit", "10")]
    ).filter { document in NightscoutTreatment.parts(document).contains { $0.guid == guid } }
      .sorted { ($0.modified ?? 0, $0.identifier) > ($1.modified ?? 0, $1.identifier) }
  }

  /// Moves a record to its changed time. Nil if another program changed its document in the meantime.
  private func move(
    _ change: RecordChange, from valid: ValidDocuments, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let document = valid.document
    // If the record is deleted in the store, only a document that an interrupted move left is removed.
    if change.state.isDeleted {
      if document.isMoved, isOurs(document, change) { try await clearAndDelete(document) }
      return conflict(with: change)
    }
    let mine =
      NightscoutTreatment.records(document, zone).first { $0.guid == change.guid }
      ?? recordOfInterruptedMove(change, document)
    guard let mine, !mine.state.isDeleted else { return conflict(with: change) }
    guard mine.state.agrees(with: change.state) else {
      return .conflict(revision: mine.revision, state: mine.state, isBaseKnown: true)
    }
    for double in valid.doubles where isOurs(double, change) {
      guard try await removeMovedDocument(double, for: document, writer) else { return nil }
    }
    let present = document.treatmentInstant.map { $0.milliseconds / 1000 }
    if present == NightscoutTreatment.milliseconds(change.state) / 1000, !document.isMoved {
      return .accepted(revision: mine.revision)
    }
    // A document must not be marked as moved if the change is refused, so the refusal is checked first.
    if let refusal = NightscoutTreatment.refusal(change.state) { return .refused(reason: refusal) }
    return try await move(change, document, isOnly: isOnly(change.guid, in: document), writer)
  }

  /// Removes a document whose record is in the document `other`. The removed document is first marked as
  /// moved, so that no store takes the removal for a deletion. Returns false if it was changed in the
  /// meantime.
  private func removeMovedDocument(
    _ document: NightscoutDocument, for other: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> Bool {
    guard case .object(var own)? = document.own else { return true }
    own["moved"] = .text(other.identifier)
    switch try await patch(document, [NightscoutDocument.ownName: .object(own)], writer) {
    case .done: try await clearAndDelete(document)
    case .changed: return false
    case .refused: break
    }
    return true
  }
}

/// Removes withdrawn items from the site, since other programs that read the site do not know withdrawals.
extension NightscoutRemote: RemovalService {
  private static let maxRemovals = 3
  /// The maximum number of documents that are searched if a record was moved several times.
  private static let maxWithdrawnKeys = 10

  var removal: (any RemovalService)? { self }

  /// Removes entries without tombstones. With a tombstone, the reading could not be sent again after the
  /// withdrawal is undone. Entries of other programs are kept. Returns false if the login may not delete.
  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool {
    for reading in batch.readings {
      let identity = ReadingIdentity(reading, batch.devices[Int(reading.device.number)])
      let answer = try await session.send(
        .DELETE, Self.path(.entries, "/\(identity.uuid)?permanent=true"))
      switch NightscoutAnswer.status(answer) {
      case 200, 404, 410: break
      case 403: return false
      default: throw await session.serviceError(for: answer, isWrite: true)
      }
    }
    return true
  }

  /// Marks each document that glucoport wrote for the record as withdrawn, then deletes the document
  /// normally. Other stores keep the record, which the withdrawal hides there. Documents that interrupted
  /// moves left are removed, too.
  func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    let writer = NightscoutWriter(run)
    for _ in 0..<Self.maxRemovals {
      var isDone = true
      for document in try await documents(of: change.guid) where isOurs(document, change) {
        if try await !withdraw(document, writer) { isDone = false }
      }
      if isDone { return }
    }
    throw .serverFailure("\(hostName): a treatment changes too fast to be removed")
  }

  /// Marks a document as withdrawn and deletes it. Returns false if another program changed the document in
  /// the meantime.
  private func withdraw(
    _ document: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> Bool {
    if !document.isWithdrawn {
      guard case .object(var own)? = document.own else { return true }
      own["withdrawn"] = .flag(true)
      own["moved"] = nil
      switch try await patch(document, [NightscoutDocument.ownName: .object(own)], writer) {
      case .done: break
      case .changed: return false
      case .refused: return true
      }
    }
    try await clearAndDelete(document)
    return true
  }

  /// The key of the deleted document in which a record was withdrawn; nil if the record was deleted without a
  /// withdrawal. The search begins at an earlier document of the record, and follows its moves.
  ///
  /// A site answers 410 for a deleted document. If the request lists fields and `isValid` is not among them,
  /// the site returns the deleted document instead. So the request lists fields.
  func withdrawnKey(_ path: String) async throws(ServiceError) -> String? {
    var path = path
    for _ in 0..<Self.maxWithdrawnKeys {
      let answer = try await session.send(
        .GET, Self.path(.treatments, "/\(path)?fields=identifier,\(NightscoutDocument.ownName)"))
      let isOwn = NightscoutAnswer.status(answer) != nil
      switch answer.status {
      case 200:
        guard let result = NightscoutAnswer.value(answer)?["result"] else { throw session.unknownAnswer }
        guard let document = NightscoutDocument(result) else { return nil }
        if document.isWithdrawn { return document.identifier }
        guard let target = document.own?["moved"]?.text else { return nil }
        path = NightscoutDocument.escaped(target)
      case 404 where isOwn, 410 where isOwn: return nil
      default: throw await session.serviceError(for: answer)
      }
    }
    return nil
  }

  /// Restores a withdrawn document and deletes it normally, so that other stores also delete the record.
  func deleteWithdrawn(
    _ change: RecordChange, identifier: String, _ writer: NightscoutWriter
  ) async throws(ServiceError) {
    if case .accepted? = try await create(
      change, identifier: identifier, nextTo: neighbours(of: change), writer)
    {
      try await softDelete(identifier)
    }
  }
}
