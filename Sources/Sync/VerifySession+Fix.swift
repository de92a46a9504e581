// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

extension VerifySession {
  /// Corrects the differences as far as possible. Items that the remote lacks, or that another program
  /// altered in this store, are queued. Items that this store lacks, and different items, are stored by the
  /// rules of a pull. Local edits are never replaced.
  ///
  /// Each batch is one transaction, so that imports and edits can continue. After a crash, the next
  /// comparison finds the remaining differences.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  /// - Throws: `Failure` if the store fails.
  package func fix(at now: Int64) throws {
    for start in stride(from: 0, to: missingOnRemote.count, by: Self.maxItems) {
      let keys = missingOnRemote[start..<min(start + Self.maxItems, missingOnRemote.count)].map(\.key)
      let count = try store.sync {
        try $0.requeue(keys, reason: "missing on the remote, found by verify", at: now)
      }
      summary.requeuedReadings += count
      summary.unfixed += keys.count - count
    }
    try fetchReadings(at: now)
    summary.unfixed += try countStillMissing()
    let isNew = !keepsTombstones
    for record in recordsMissingOnRemote {
      countRepair(isRequeued: try store.sync { try $0.requeue(record: record.guid, asNew: isNew) })
    }
    for record in recordsAltered {
      countRepair(isRequeued: try store.sync { try $0.requeue(record: record.guid) })
    }
    for incoming in Array(recordsMissingLocally.values) + recordsDiffering.values {
      try storeFetched(incoming)
    }
    // The remote returns no digests by which the contents of attachments could be compared. So the next
    // upload asks the remote for each content, and sends those that it lacks.
    try store.requeueContents()
  }

  private func countRepair(isRequeued: Bool) {
    if isRequeued { summary.requeuedRecords += 1 } else { summary.unfixed += 1 }
  }

  /// The number of readings that the store still lacks. A reading is found by its own identity, and by its
  /// identity in a document of another program.
  private func countStillMissing() throws -> Int {
    guard !missingLocally.isEmpty else { return 0 }
    let buckets = Set(missingLocally.keys.map(IdentityDigests.bucket))
    let held = try store.compare { try $0.heldReadings(in: buckets) }
    return missingLocally.keys.count { held[$0] == nil }
  }

  private func fetchReadings(at now: Int64) throws {
    let all = Array(missingLocally.values)
    var ingest: Int64?
    for start in stride(from: 0, to: all.count, by: Self.maxItems) {
      let items = all[start..<min(start + Self.maxItems, all.count)]
      let batch = Self.batch(items)
      let foreign = Set(items.enumerated().filter(\.element.isForeign).map(\.offset))
      let (known, name) = (ingest, remoteName)
      let stored = try store.sync {
        try $0.storePulled(batch, foreign: foreign, ingest: known, from: name, at: now)
      }
      ingest = stored.ingest
      summary.fetchedReadings += stored.new + stored.shown
    }
  }

  private static func batch(_ items: ArraySlice<FoundReading>) -> ReadingBatch {
    var batch = ReadingBatch()
    var places: [Device: Int32] = [:]
    for item in items {
      var reading = item.reading
      let place = places[item.device] ?? Int32(batch.devices.count)
      if places.updateValue(place, forKey: item.device) == nil { batch.devices.append(item.device) }
      reading.device = DeviceIndex(place)
      batch.readings.append(reading)
    }
    return batch
  }

  private func storeFetched(_ incoming: RemoteRecord) throws {
    let removes = remote.removal != nil
    let (fetched, requeued) = try store.sync { store in
      // The record is read again, since it may have been edited after the comparison.
      let record = try store.record(incoming.guid)
      if let record, RecordRules.isSentAgain(record, against: incoming.state) {
        return (0, try store.requeue(record: record.guid) ? 1 : 0)
      }
      let action = try store.checkingNesting(
        of: RecordRules.action(
          forCompared: incoming, on: record,
          isUndone: removes && record != nil && store.isOfUndoneImport(record: incoming.guid)),
        on: record)
      try store.apply(action, on: record, incoming: incoming)
      return (action == .leave ? 0 : 1, 0)
    }
    summary.fetchedRecords += fetched
    summary.requeuedRecords += requeued
    if fetched + requeued == 0 { summary.unfixed += 1 }
  }
}
