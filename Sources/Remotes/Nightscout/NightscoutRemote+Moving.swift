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
      state: zone.placed(change.state))
    let writer = NightscoutWriter(run)
    for _ in 0..<Self.maxMoves {
      guard var document = try await standing(change) else { return conflict(with: change) }
      if let there = try await afterMove(change, document) { document = there }
      if let verdict = try await move(change, from: document, writer) { return verdict }
    }
    throw .serverFailure("\(hostName): a treatment changes too fast to be moved")
  }

  private static let maxMoves = 3

  /// Nil when somebody changed the document meanwhile.
  private func move(
    _ change: RecordChange, from document: NightscoutDocument, _ writer: NightscoutWriter
  ) async throws(ServiceError) -> RecordVerdict? {
    let mine =
      NightscoutTreatment.records(document, zone).first { $0.guid == change.guid }
      ?? moving(change, document)
    guard let mine, !mine.state.isDeleted else { return conflict(with: change) }
    guard mine.state.agrees(with: change.state) else {
      return .conflict(revision: mine.revision, state: mine.state, isBaseKnown: true)
    }
    let stands = document.treatmentInstant.map { $0.milliseconds / 1000 }
    if stands == NightscoutTreatment.milliseconds(change.state) / 1000, !document.isMoved {
      return .accepted(revision: mine.revision)
    }
    return try await move(change, document, isOnly: isOnly(change.guid, in: document), writer)
  }
}
