// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import LogbookStore

/// Tests what a store compares with its remote, what it then queues for upload again, and the removal of a
/// store.
@Suite struct ComparisonTests {
  private func filled() throws -> ScratchStore {
    let scratch = try ScratchStore()
    let readings = (0..<6).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + 300 * $0) }
    try scratch.ingest(Make.batch(readings))
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(5)], sourceID: "a")]))
    try scratch.open(.sync).setRemote(
      RemoteAccess(kind: "glucoport", url: "https://host.example", token: .file("/token")),
      logbook: RemoteLogbook(id: "id", name: "Anna", isWritable: true, maxReadings: 1, maxRecords: 1),
      isNewRemote: false, at: 0)
    return scratch
  }

  private func upload(_ store: Store, _ count: Int) throws {
    try store.sync { transaction in
      let pending = try transaction.pendingReadings(after: nil, limit: count)
      try transaction.markUploaded(pending.keys, except: [], at: 1)
    }
  }

  @Test func digestBucketsIncludePendingAndUploadedReadings() throws {
    let scratch = try filled()
    try upload(scratch.open(.sync), 4)
    let store = try scratch.open(.reader)
    let held = try store.compare { try $0.heldReadings(in: Set(0..<IdentityDigests.bucketCount)) }
    #expect(held.count == 6 && held.values.count(where: \.isUploaded) == 4)
    #expect(held.values.allSatisfy { $0.device == Make.device && $0.kind == .cbg })
    let first = try #require(held.first)
    let alone = try store.compare { try $0.heldReadings(in: [IdentityDigests.bucket(of: first.key)]) }
    #expect(alone[first.key] == first.value && alone.count < 6)
    #expect(try store.compare { try $0.uploadedDigests() }.counts.reduce(0, +) == 4)
  }

  @Test func computedDigestBucketsKeepTheirReadingsWhenTheStoreChanges() throws {
    let scratch = try filled()
    try upload(scratch.open(.sync), 4)
    let store = try scratch.open(.reader)
    let (uploaded, buckets) = try store.compare { try $0.heldBuckets() }
    #expect(try uploaded == store.compare { try $0.uploadedDigests() })
    #expect(buckets.counts.reduce(0, +) == 6)
    for bucket in buckets.counts.indices where buckets.counts[bucket] > 0 {
      let found = try store.compare { try $0.heldReadings(in: [bucket], by: buckets) }
      #expect(found.count == buckets.counts[bucket])
      #expect(try found == store.compare { try $0.heldReadings(in: [bucket]) })
    }
    // These readings come before all stored ones, so the ordinal number of each stored reading in the table
    // changes.
    let earlier = (1...3).map { Make.reading(.cbg, Make.milligrams(90), at: Make.noon - 300 * $0) }
    try scratch.ingest(Make.batch(earlier))
    let all = Set(0..<IdentityDigests.bucketCount)
    for bucket in all where buckets.counts[bucket] > 0 {
      let found = try store.compare { try $0.heldReadings(in: [bucket], by: buckets) }
      #expect(try found == store.compare { try $0.heldReadings(in: [bucket]) } && !found.isEmpty)
    }
    #expect(try store.compare { try $0.heldReadings(in: all, by: buckets) }.count == 9)
  }

  @Test func readingsUploadedAfterTheDigestRequestAreNotCompared() throws {
    let scratch = try filled()
    try upload(scratch.open(.sync), 4)
    let other = try scratch.open(.sync)
    let compared = try scratch.open(.reader).compare { transaction in
      var failure: (any Error)?
      let found = try transaction.heldBuckets {
        do { try upload(other, 2) } catch { failure = error }
      }
      if let failure { throw failure }
      return found.uploaded
    }
    #expect(compared.counts.reduce(0, +) == 4)
    #expect(try scratch.open(.reader).compare { try $0.heldBuckets().uploaded }.counts.reduce(0, +) == 6)
  }

  @Test func aReadingMissingOnTheRemoteIsQueuedAgainWithTheReason() throws {
    let scratch = try filled()
    let store = try scratch.open(.sync)
    try upload(store, 6)
    let held = try store.compare { try $0.heldReadings(in: Set(0..<IdentityDigests.bucketCount)) }
    let keys = held.values.prefix(2).map(\.key)
    #expect(try store.sync { try $0.requeue(keys, reason: "why", at: 7000) } == 2)
    #expect(try store.sync { try $0.requeue(keys, reason: "again", at: 7001) } == 0, "they wait already")
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 0") == 2)
    #expect(try scratch.rows("SELECT at, reason, is_open FROM requeue") == ["7000 why 0", "7001 again 0"])
    try scratch.expectCountersEqualCount()
  }

  @Test func aRecordMissingOnTheRemoteIsQueuedAgainUnlessPending() throws {
    let scratch = try filled()
    let store = try scratch.open(.sync)
    let guid = try #require(try scratch.rows("SELECT guid FROM record").first)
    #expect(try store.sync { try $0.requeue(record: guid) } == false, "it was never sent")
    try store.sync { transaction in
      let record = try #require(try transaction.record(guid))
      _ = try transaction.prepare(record, node: UUID().uuidString.lowercased())
      let sent = try #require(try transaction.record(guid))
      try transaction.acknowledge(sent, revision: "r1")
    }
    #expect(try store.compare { try $0.record(guid) }?.isUpToDate == true)
    #expect(try store.sync { try $0.requeue(record: guid) })
    let row = "SELECT version, version_synced, revision, base IS NOT NULL FROM record"
    #expect(try scratch.rows(row) == ["1 0 r1 1"])
  }

  @Test func changingTheTimeZoneDoesNotChangeTheDigestsOfRecords() throws {
    let scratch = try filled()
    let store = try scratch.open(.sync)
    let guid = try #require(try scratch.rows("SELECT guid FROM record").first)
    try store.sync { transaction in
      let record = try #require(try transaction.record(guid))
      _ = try transaction.prepare(record, node: UUID().uuidString.lowercased())
      try transaction.acknowledge(try #require(try transaction.record(guid)), revision: "r1")
    }
    let before = try store.compare { try $0.knownRecordDigests() }
    #expect(before.counts.reduce(0, +) == 1)
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(try scratch.number("SELECT utc_offset FROM record") == 32400)
    #expect(try store.compare { try $0.knownRecordDigests() } == before)
  }

  @Test func aLogbookDeletedOnTheServerIsRememberedUntilAnotherIsSet() throws {
    let scratch = try filled()
    let store = try scratch.open(.sync)
    #expect(try store.remote()?.purgedAt == nil)
    try store.sync { try $0.storePurge(at: 50) }
    try store.sync { try $0.storePurge(at: 60) }
    let setting = try #require(try store.remote())
    #expect(setting.purgedAt == 50)
    let other = RemoteLogbook(id: "other", name: "B", isWritable: true, maxReadings: 1, maxRecords: 1)
    try store.setRemote(setting.access, logbook: other, isNewRemote: true, at: 70)
    #expect(try store.remote()?.purgedAt == nil)
  }

  @Test func aStoreIsRemovedWithAllFilesNextToIt() throws {
    let scratch = try filled()
    let lock = try #require(try UploadLock.acquire(storePath: scratch.path))
    // Another connection has the store open, so SQLite keeps the write-ahead log file.
    let other = try scratch.open(.reader)
    _ = try other.overview(ingests: 0)
    #expect(FileManager.default.fileExists(atPath: scratch.path + "-wal"))
    try Data("x".utf8).write(to: scratch.folder.appending(path: "logbook.db.txt"))
    try scratch.open(.sync).remove()
    lock.release()
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == ["logbook.db.txt"])
  }
}
