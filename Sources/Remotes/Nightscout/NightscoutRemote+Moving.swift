// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Moving what a change of zone placed elsewhere. The server lets nobody change the time of a document, so that it is
/// removed, and sent again as a new one.
extension NightscoutRemote: MovingService {
  var moving: (any MovingService)? { self }

  /// Keys in one request: the path stays below what proxies take.
  private static let maxKeys = 50

  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]] {
    let keys = batch.readings.map { ReadingIdentity($0, batch.devices[Int($0.device.number)]).uuid }
    var found: [String: [Int64]] = [:]
    for start in stride(from: 0, to: keys.count, by: Self.maxKeys) {
      let some = keys[start..<min(start + Self.maxKeys, keys.count)]
      let page = try await list(
        Self.path(.entries), [("identifier$in", some.joined(separator: "|"))], limit: Self.maxDocuments)
      for document in page.items.compactMap(NightscoutDocument.init) {
        // Documents that share a time are some milliseconds apart.
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
      state: zone.placed(change.state, of: change.guid))
    let writer = NightscoutWriter(run)
    for _ in 0..<Self.maxMoves {
      guard let standing = try await standing(change) else { return conflict(with: change) }
      if let verdict = try await move(change, from: standing, writer) { return verdict }
    }
    throw .serverFailure("\(hostName): a treatment changes too fast to be moved")
  }

  private static let maxMoves = 3

  /// Where a record stands.
  private struct Standing {
    /// The document in which it goes on.
    let document: NightscoutDocument
    /// Older ones in which it stands, too: two stores of different zones moved it at a time.
    var doubles: [NightscoutDocument] = []
  }

  /// Looks for every valid document of the record, since a pull may have brought the new one of a move that was
  /// interrupted before it removed the old one: then no revision leads there, and a dose would act twice. What such moves
  /// left is removed first, whatever comes of this one. Nil where the record stands nowhere.
  private func standing(_ change: RecordChange) async throws(ServiceError) -> Standing? {
    let found = try await documents(of: change.guid).filter { !$0.isWithdrawn }
    let open = found.filter { !$0.isMoved }
    guard let document = open.first ?? found.first else {
      // Another program's document under its own id.
      let path = change.base.map { NightscoutRevision($0, guid: change.guid).path }
      guard let path, case .document(let document) = try await find(.treatments, path), !document.isMoved,
        !document.isWithdrawn
      else { return nil }
      return Standing(document: document)
    }
    for left in found where left.isMoved && left.identifier != document.identifier && isOurs(left, change) {
      try await retire(left)
    }
    if let target = document.own?["moved"]?.text,
      case .deleted = try await find(.treatments, NightscoutDocument.escaped(target))
    {
      // Others deleted or hid it where it went.
      if isOurs(document, change) { try await retire(document) }
      return nil
    }
    return Standing(
      document: document, doubles: open.dropFirst().filter { $0.identifier != document.identifier })
  }

  /// Whether a document is this program's and holds nothing but the record.
  func isOurs(_ document: NightscoutDocument, _ change: RecordChange) -> Bool {
    document["app"]?.text == NightscoutDocument.app && isOnly(change.guid, in: document)
  }

  /// The valid documents in which a record was written, those of interrupted moves and removals, too, the newest first.
  func documents(of guid: String) async throws(ServiceError) -> [NightscoutDocument] {
    try await search(
      .treatments, [("\(NightscoutDocument.ownName).parts.guid", guid), ("limit", "10")]
    ).filter { document in NightscoutTreatment.parts(document).contains { $0.guid == guid } }
      .sorted { ($0.modified ?? 0, $0.identifier) > ($1.modified ?? 0, $1.identifier) }
  }

  /// Nil when somebody changed the document meanwhile.
  private func move(
    _ change: RecordChange, from standing: Standing, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let document = standing.document
    // A store that deleted the record looks only for what moves left.
    if change.state.isDeleted {
      if document.isMoved, isOurs(document, change) { try await retire(document) }
      return conflict(with: change)
    }
    let mine =
      NightscoutTreatment.records(document, zone).first { $0.guid == change.guid }
      ?? moving(change, document)
    guard let mine, !mine.state.isDeleted else { return conflict(with: change) }
    guard mine.state.agrees(with: change.state) else {
      return .conflict(revision: mine.revision, state: mine.state, isBaseKnown: true)
    }
    for double in standing.doubles where isOurs(double, change) {
      guard try await leave(double, for: document, writer) else { return nil }
    }
    let stands = document.treatmentInstant.map { $0.milliseconds / 1000 }
    if stands == NightscoutTreatment.milliseconds(change.state) / 1000, !document.isMoved {
      return .accepted(revision: mine.revision)
    }
    // What is refused is not marked as moved before.
    if let refusal = NightscoutTreatment.refusal(change.state) { return .refused(reason: refusal) }
    return try await move(change, document, isOnly: isOnly(change.guid, in: document), writer)
  }

  /// Removes a document whose record stands in another one. It says so first, so that no store takes it for a deletion.
  /// False when somebody changed it meanwhile.
  private func leave(
    _ document: NightscoutDocument, for other: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> Bool {
    guard case .object(var own)? = document.own else { return true }
    own["moved"] = .text(other.identifier)
    switch try await patch(document, [NightscoutDocument.ownName: .object(own)], writer) {
    case .done: try await retire(document)
    case .changed: return false
    case .refused: break
    }
    return true
  }
}
