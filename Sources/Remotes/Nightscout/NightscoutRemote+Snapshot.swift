// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Compares a store with a site, which has no digests: every valid document is read once, in the order of events.
extension NightscoutRemote: SnapshotService {
  func snapshot(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    guard var walk = NightscoutWalk(snapshotAfter: cursor) else { throw .positionUnknown }
    let documents = try await next(&walk, limit: limit)
    // Written by no run, so that this store's own documents are included.
    var page = NightscoutPage(writer: NightscoutWriter(RunStamp(node: "", number: 0, id: "")))
    for document in documents {
      let contents = document.contents(of: walk.collection, zone)
      if let (reading, device) = contents.reading { page.add(reading, device, of: document) }
      for record in contents.records where !record.state.isDeleted { page.add(record, of: document) }
    }
    let hasMore = !walk.isAtEnd || walk.collection == .entries
    if walk.isAtEnd { walk = .everything(of: .treatments) }
    return ChangePage(
      readings: page.readings, foreign: page.foreign, records: page.records, cursor: walk.snapshotCursor,
      hasMore: hasMore)
  }
}

extension NightscoutWalk {
  /// The collection and the position of the next page.
  fileprivate var snapshotCursor: String { "\(collection.rawValue) \(position)" }

  /// The walk that continues there; nil for an invalid position.
  fileprivate init?(snapshotAfter cursor: String?) {
    guard let cursor else {
      self = .everything(of: .entries)
      return
    }
    let parts = cursor.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2, let collection = NightscoutCollection(rawValue: parts[0]) else { return nil }
    self = .everything(of: collection)
    position = parts[1]
  }
}
