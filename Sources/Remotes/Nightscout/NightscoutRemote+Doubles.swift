// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Removes doubles: two documents with the same key. A site looks up a key and stores the document in two
/// separate steps. So if two stores upload the same import at the same moment, two documents are created, and
/// the dose counts twice.
extension NightscoutRemote {
  /// The maximum number of doubles of one document that are removed after its deletion.
  private static let maxDoubles = 10

  /// Removes doubles among these documents, if this is the task of this node. If both documents are valid, it
  /// is the task of the writer with the largest node id. If one is deleted, it is the task of the writer of
  /// the valid one. If two nodes did this at the same time, they would remove both documents.
  func removeDoubles(
    among documents: [NightscoutDocument], _ writer: NightscoutWriter
  ) async throws(ServiceError) {
    let valid = documents.filter { !$0.isDeleted && $0.own != nil }
    for (identifier, doubles) in Dictionary(grouping: valid, by: \.identifier).sorted(by: { $0.key < $1.key })
    where doubles.count > 1 {
      guard doubles.compactMap({ NightscoutWriter($0.own)?.node }).max() == writer.node else { continue }
      try await removeDoubles(of: identifier)
    }
    let deleted = Dictionary(grouping: documents.filter(\.isDeleted), by: \.identifier)
    for document in valid
    where deleted[document.identifier]?.contains(where: { $0.isLater(than: document) }) == true {
      guard NightscoutWriter(document.own)?.node == writer.node else { continue }
      try await removeLiveDouble(document)
    }
  }

  /// Deletes the remaining valid documents with the key of a deleted document. A deletion affects only one of
  /// two documents, and the dose of the other one would still count. A document that another node has
  /// restored is kept.
  ///
  /// - Parameter time: the server's clock before the deletion.
  func removeLiveDoubles(
    of document: NightscoutDocument, deletedAfter time: Int64
  ) async throws(ServiceError) {
    for _ in 0..<Self.maxDoubles {
      let live = try await search(.treatments, [("identifier", document.identifier), ("limit", "1")]).first
      guard let live, live["srvCreated"] != document["srvCreated"] || (live.modified ?? time) < time else {
        return
      }
      guard try await removeLiveDouble(live) else { return }
    }
  }

  /// Permanently removes the deleted document that has the same key as this valid one and hides it. Then
  /// deletes the valid one normally, so that one tombstone remains. Returns false if the login may not
  /// delete.
  @discardableResult
  private func removeLiveDouble(_ live: NightscoutDocument) async throws(ServiceError) -> Bool {
    guard try await removeOne(live.identifier) else { return false }
    try await clear(live)
    try await softDelete(live.identifier)
    return true
  }

  /// Keeps one of several documents with this key, and removes the others. The content of the newest document
  /// is written into the remaining one, since each edit or deletion has changed only one of the documents.
  private func removeDoubles(of identifier: String) async throws(ServiceError) {
    // The same document may be in a list twice, or another run may have removed the doubles already.
    let doubles = try await search(.treatments, [("identifier", identifier), ("limit", "10")])
    guard doubles.count > 1,
      let newest = doubles.max(by: { ($0.modified ?? 0) < ($1.modified ?? 0) })
    else { return }
    for _ in doubles.dropFirst() {
      guard try await removeOne(identifier) else { return }
    }
    guard doubles.contains(where: { !haveSameContent($0, newest) }),
      case .document(let left) = try await find(.treatments, NightscoutDocument.escaped(identifier)),
      !haveSameContent(left, newest)
    else { return }
    var members: [String: JSONValue] = [:]
    for name in NightscoutTreatment.acting where left[name] != newest[name] {
      members[name] = newest[name] ?? .null
    }
    members[NightscoutDocument.ownName] = newest.own
    members.merge(Self.instant(of: left)) { own, _ in own }
    let answer = try await session.send(
      .PATCH, Self.path(.treatments, "/\(NightscoutDocument.escaped(identifier))"), body: .object(members))
    switch NightscoutAnswer.status(answer) {
    case 200, 403, 404, 410: return
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
  }

  /// Removes the deleted document of a key that also has a valid document, since it hides the valid one from
  /// writes. Only the node that last wrote the valid document does this.
  func removeDeletedDouble(_ identifier: String, _ writer: NightscoutWriter) async throws(ServiceError) {
    let valid = try await search(.treatments, [("identifier", identifier), ("limit", "1")]).first
    guard let valid, NightscoutWriter(valid.own)?.node == writer.node else { return }
    _ = try await removeOne(identifier)
  }

  private func haveSameContent(_ one: NightscoutDocument, _ other: NightscoutDocument) -> Bool {
    one.own?["moved"] == other.own?["moved"]
      && NightscoutTreatment.records(one, zone).map(\.remote)
        == NightscoutTreatment.records(other, zone).map(\.remote)
  }

  /// Permanently removes one of several documents with this key, without a tombstone. A normal deletion would
  /// also delete the others. Returns false if the login may not delete.
  private func removeOne(_ identifier: String) async throws(ServiceError) -> Bool {
    let path = NightscoutDocument.escaped(identifier)
    let answer = try await session.send(.DELETE, Self.path(.treatments, "/\(path)?permanent=true"))
    switch NightscoutAnswer.status(answer) {
    case 200, 404, 410: return true
    // This login may not delete, so the removal is left to a node that may.
    case 403: return false
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
  }
}

extension NightscoutDocument {
  /// Whether the server stored this document later than another one.
  fileprivate func isLater(than other: NightscoutDocument) -> Bool {
    (modified ?? 0) > (other.modified ?? 0)
  }
}
