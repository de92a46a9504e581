// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Treatments that are twice under one key. A site looks for a key and stores the document in two steps, so that two
/// stores which import the same file and upload at the same moment leave two documents of one record: a dose counts
/// twice.
extension NightscoutRemote {
  /// Documents of one key that are removed one after the other.
  private static let maxDoubles = 10

  /// Removes the doubles among valid treatments, where that is this run's task: of the nodes that wrote them the one with
  /// the largest id does it, since two that did it at a time would remove them all.
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

  /// Deletes what is left of a record under the key of a document that was deleted: of two documents of a key a deletion
  /// reaches one, and the other would go on acting. What another node brought back meanwhile stays.
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

  /// Puts a live document in the place of the deleted one that answers for it, and deletes it like any other, which leaves
  /// one tombstone. False where the role may not.
  @discardableResult
  private func removeLiveDouble(_ live: NightscoutDocument) async throws(ServiceError) -> Bool {
    guard try await removeOne(live.identifier) else { return false }
    try await blank(live)
    try await hide(live.identifier)
    return true
  }

  /// Leaves the newest of the documents of a key. Whatever is written under the key goes into one of them, which is the one
  /// that a deletion takes, too: so what was edited there is written into the one that is left.
  private func removeDoubles(of identifier: String) async throws(ServiceError) {
    // A list may show one document twice, and another run may have been here.
    let doubles = try await search(.treatments, [("identifier", identifier), ("limit", "10")])
    guard doubles.count > 1,
      let newest = doubles.max(by: { ($0.modified ?? 0) < ($1.modified ?? 0) })
    else { return }
    for _ in doubles.dropFirst() {
      guard try await removeOne(identifier) else { return }
    }
    guard doubles.contains(where: { !saysTheSame($0, newest) }),
      case .document(let left) = try await find(.treatments, NightscoutDocument.escaped(identifier)),
      !saysTheSame(left, newest)
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
    default: throw await session.problem(answer, isWrite: true)
    }
  }

  /// Removes the deleted one of two documents of a key, which answers for the valid one, so that nobody can write it. As
  /// with valid doubles one node alone does it: the one that wrote the valid one last.
  func uncover(_ identifier: String, _ writer: NightscoutWriter) async throws(ServiceError) {
    let valid = try await search(.treatments, [("identifier", identifier), ("limit", "1")]).first
    guard let valid, NightscoutWriter(valid.own)?.node == writer.node else { return }
    _ = try await removeOne(identifier)
  }

  private func saysTheSame(_ one: NightscoutDocument, _ other: NightscoutDocument) -> Bool {
    one.own?["moved"] == other.own?["moved"]
      && NightscoutTreatment.records(one, zone).map(\.remote)
        == NightscoutTreatment.records(other, zone).map(\.remote)
  }

  /// Removes one of several documents, without a tombstone: that would delete those that are left, too. False where the
  /// role may not.
  private func removeOne(_ identifier: String) async throws(ServiceError) -> Bool {
    let path = NightscoutDocument.escaped(identifier)
    let answer = try await session.send(.DELETE, Self.path(.treatments, "/\(path)?permanent=true"))
    switch NightscoutAnswer.status(answer) {
    case 200, 404, 410: return true
    // A role that may not delete leaves them to another node.
    case 403: return false
    default: throw await session.problem(answer, isWrite: true)
    }
  }
}

extension NightscoutDocument {
  /// Whether the server stored it behind another one.
  fileprivate func isLater(than other: NightscoutDocument) -> Bool {
    (modified ?? 0) > (other.modified ?? 0)
  }
}
