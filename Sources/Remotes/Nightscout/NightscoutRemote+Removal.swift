// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

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
