// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The comparison with a remote without digests.
extension VerifySession {
  /// Compares the store with all items of a remote. A reading is present with its own identity, or with that of another
  /// program's document that is known to hold it. A deleted record has no document.
  func compareAll(_ snapshots: any SnapshotService) async throws {
    let all = Set(0..<IdentityDigests.bucketCount)
    var held = try store.compare {
      (readings: try $0.heldReadings(in: all), records: try $0.heldRecords(in: all))
    }
    // A site has no documents of hidden records.
    let hidden = try store.compare { try $0.hiddenRecords() }
    var found: Set<ReadingKey> = []
    var records: [String: RemoteRecord] = [:]
    var cursor: String?
    while true {
      let page = try await snapshots.snapshot(after: cursor, limit: Self.maxItems, run)
      for (place, reading) in page.readings.readings.enumerated() {
        let device = page.readings.devices[Int(reading.device.number)]
        let identity = ReadingIdentity(reading, device).key
        if let known = held.readings[identity] {
          found.insert(known.key)
        } else {
          note(
            missing: FoundReading(reading: reading, device: device, isForeign: page.foreign.contains(place)),
            identity)
        }
      }
      for record in page.records { records[record.guid] = record }
      guard page.hasMore, page.cursor != cursor else { break }
      cursor = page.cursor
    }
    missingThere = Set(held.readings.values).filter { $0.isUploaded && !found.contains($0.key) }
      .sorted { $0.deviceTime.seconds < $1.deviceTime.seconds }
    for record in records.values { compare(record, with: held.records.removeValue(forKey: record.guid), all) }
    recordsMissingThere = held.records.values
      .filter { $0.isSettled && $0.lastSyncedState?.isDeleted == false && !hidden.contains($0.guid) }
      .sorted { $0.guid < $1.guid }
  }
}
