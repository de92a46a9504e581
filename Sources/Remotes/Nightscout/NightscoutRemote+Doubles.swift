// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1

/// Treatments that stand twice under one key. A site looks for a key and stores the document in two steps, so that two
/// stores which import the same file and upload at the same moment leave two documents of one record: a dose counts twice.
extension NightscoutRemote {
  /// Removes the doubles among valid treatments, where that is this run's task: of the nodes that wrote them the one with
  /// the largest id does it, since two that did it at a time would remove them all.
  func removeDoubles(
    among documents: [NightscoutDocument], _ writer: NightscoutWriter
  ) async throws(RemoteError) {
    let valid = documents.filter { !$0.isDeleted && $0.own != nil }
    for (identifier, doubles) in Dictionary(grouping: valid, by: \.identifier).sorted(by: { $0.key < $1.key })
    where doubles.count > 1 {
      guard doubles.compactMap({ NightscoutWriter($0.own)?.node }).max() == writer.node else { continue }
      for _ in doubles.dropFirst() { try await removeOne(identifier) }
    }
  }

  /// Removes one of several documents, without a tombstone: that would stand for those that are left, too.
  private func removeOne(_ identifier: String) async throws(RemoteError) {
    let path = NightscoutDocument.escaped(identifier)
    let answer = try await session.send(.DELETE, Self.path(.treatments, "/\(path)?permanent=true"))
    switch NightscoutAnswer.status(answer) {
    // A role that may not delete leaves them to another node.
    case 200, 403, 404, 410: return
    default: throw await session.problem(answer, isWrite: true)
    }
  }
}
