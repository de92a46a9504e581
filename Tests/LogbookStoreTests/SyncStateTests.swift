// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Logbook
import Testing

@testable import LogbookStore

private let a1 = "a1000000-0000-4000-8000-000000000000"
private let e1 = "e1000000-0000-4000-8000-000000000000"
private let e2 = "e2000000-0000-4000-8000-000000000000"
private let c1 = "c1000000-0000-4000-8000-000000000000"
private let c2 = "c2000000-0000-4000-8000-000000000000"
private let p1 = "b1000000-0000-4000-8000-000000000000"
private let n1 = "d1000000-0000-4000-8000-000000000000"

/// Tests the sync state of readings, of entries, and of the records of an entry.
@Suite struct SyncStateTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  // MARK: - Helpers

  private func add(_ guid: String, entry: String? = nil) throws {
    var draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(["text": .text("x")]))
    draft.entryGuid = entry
    _ = try RecordEditor(scratch.open(.editor), at: 5).add(draft, guid: guid)
  }

  /// Prepares the pending version of a record for sending, and marks it as acknowledged by the remote.
  private func acknowledge(_ guid: String) throws {
    try scratch.open(.sync).sync { store in
      let record = try #require(try store.record(guid))
      _ = try store.prepare(record, node: n1)
      try store.acknowledge(try #require(try store.record(guid)), revision: "r")
    }
  }

  private func state(_ guid: String, _ activity: SyncActivity = .none) throws -> SyncState {
    try #require(try scratch.open(.reader).records(guidPrefix: guid).first).syncState(activity)
  }

  private func queuedRows() throws -> [String] {
    try scratch.rows("SELECT substr(record, 1, 2), aspect, substr(entry, 1, 2) FROM queued ORDER BY 1, 2")
  }

  /// Begins a transfer as an upload does, and runs `body` while the upload holds its lock.
  private func uploading(
    _ begin: (SyncTransaction) throws -> Void, _ body: (SyncActivity) throws -> Void
  ) throws {
    let store = try scratch.open(.sync)
    let lock = try #require(try UploadLock.acquire(storePath: scratch.path))
    defer { lock.release() }
    try store.sync(begin)
    try body(store.activity())
  }

  private func plan(_ sql: String) throws -> [String] {
    try scratch.open(.reader).queue.inDatabase { database in
      try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] }
    }
  }

  // MARK: - Records

  @Test func aRecordIsQueuedThenSyncingThenSynced() throws {
    try add(a1)
    #expect(try state(a1) == .queued(.waiting))
    try uploading {
      _ = try $0.prepare(try #require(try $0.record(a1)), node: n1)
      try $0.beginTransfer(.records, of: [a1], at: 7)
    } _: { activity in
      #expect(activity.isTransferring && activity.records == 1)
      let state = try state(a1, activity)
      #expect(state == .syncing)
    }
    try acknowledge(a1)
    #expect(try state(a1) == .synced)
    #expect(try queuedRows().isEmpty)
  }

  @Test func itemsOfAKilledUploadAreShownAsQueued() throws {
    try add(a1)
    try uploading {
      _ = try $0.prepare(try #require(try $0.record(a1)), node: n1)
      try $0.beginTransfer(.records, of: [a1], at: 7)
    } _: { _ in
    }
    // The process was killed: the lock is free, but the row in `transfer` remains.
    #expect(try scratch.number("SELECT count(*) FROM transfer") == 1)
    let activity = try scratch.open(.reader).activity()
    #expect(activity == .none)
    #expect(try state(a1, activity) == .queued(.waiting))
  }

  @Test func theNextUploadClearsTheTransfersOfAKilledOne() throws {
    let store = try scratch.open(.sync)
    try store.sync { try $0.beginTransfer(.records, of: [a1], at: 7) }
    let logbook = RemoteLogbook(id: "l", name: "l", isWritable: true, maxReadings: 1, maxRecords: 1)
    try store.setRemote(
      RemoteAccess(kind: "glucoport", url: "http://localhost:1", token: .file("/t")), logbook: logbook,
      isNewRemote: false, at: 1)
    _ = try store.sync { try $0.beginRun(id: "r") }
    #expect(try scratch.number("SELECT count(*) FROM transfer") == 0)
  }

  @Test func anEntryIsQueuedUntilItsLastRecordIsSynced() throws {
    try add(e1)
    try acknowledge(e1)
    try add(c1, entry: e1)
    try add(c2, entry: e1)
    #expect(try state(e1) == .queued(.waiting))
    try acknowledge(c1)
    #expect(try state(e1) == .queued(.waiting))
    #expect(try state(c1) == .synced)
    try acknowledge(c2)
    #expect(try state(e1) == .synced)
  }

  @Test func theSyncStateOfARecordIsIndependentOfItsEntry() throws {
    try add(e1)
    try add(c1, entry: e1)
    try acknowledge(c1)
    #expect(try state(c1) == .synced)
    #expect(try state(e1) == .queued(.waiting))
  }

  @Test func aRecordMovedToAnotherEntryKeepsItsSyncState() throws {
    for entry in [e1, e2] {
      try add(entry)
      try acknowledge(entry)
    }
    try add(c1, entry: e1)
    _ = try RecordEditor(scratch.open(.editor), at: 6).edit(c1) { $0.entryGuid = e2 }
    #expect(try state(e1) == .synced)
    #expect(try state(e2) == .queued(.waiting))
    _ = try RecordEditor(scratch.open(.editor), at: 7).edit(c1) { $0.entryGuid = nil }
    #expect(try state(e2) == .synced)
    #expect(try state(c1) == .queued(.waiting))
  }

  @Test func aDeletedEntryIsQueuedUntilEveryDeletionIsSynced() throws {
    try add(e1)
    try add(c1, entry: e1)
    for guid in [e1, c1] { try acknowledge(guid) }
    _ = try RecordEditor(scratch.open(.editor), at: 6).delete(e1)
    #expect(try queuedRows() == ["c1 record e1", "e1 record e1"])
    try acknowledge(e1)
    #expect(try state(e1) == .queued(.waiting))
    try acknowledge(c1)
    #expect(try state(e1) == .synced)
  }

  @Test func anEntryWithARefusedRecordIsNotShownAsSynced() throws {
    try add(e1)
    try add(c1, entry: e1)
    try acknowledge(e1)
    try scratch.open(.sync).sync { try $0.quarantine(c1, reason: "too odd") }
    #expect(try state(e1) == .queued(.refused))
    #expect(try state(c1) == .queued(.refused))
  }

  @Test func anEntryWithAConflictedRecordIsNotShownAsSynced() throws {
    try add(e1)
    try add(c1, entry: e1)
    try acknowledge(e1)
    try scratch.open(.sync).sync { store in
      let mine = try #require(try store.record(c1))
      try store.markConflicted(RemoteRecord(guid: c1, revision: "r2", state: mine.state), isAnswered: true)
    }
    #expect(try state(e1) == .queued(.conflict))
    #expect(try state(c1) == .queued(.conflict))
  }

  @Test func manyEditsOfOneRecordAreOneQueuedItem() throws {
    try add(a1)
    for edit in 1...20 {
      _ = try RecordEditor(scratch.open(.editor), at: 6).edit(a1) { $0.fields["text"] = .text("\(edit)") }
    }
    #expect(try queuedRows() == ["a1 record a1"])
  }

  @Test func aPulledRecordIsNeverQueued() throws {
    let state = RecordState(
      kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: Make.noon),
      placement: Placement(utcOffset: 7200, source: .stated), fields: RecordFields(), isDeleted: false)
    try scratch.open(.sync).sync {
      try $0.adopt(RemoteRecord(guid: p1, revision: "r", state: state), over: nil)
    }
    #expect(try self.state(p1) == .synced)
    #expect(try queuedRows().isEmpty)
  }

  @Test func theSyncStateOfAnEntryIsFoundOnlyWithIndexes() throws {
    _ = try scratch.open()
    let details = try plan("SELECT \(StoredRecord.columns) FROM record WHERE guid = 'a'")
    #expect(details.contains { $0.contains("SEARCH record USING PRIMARY KEY") }, "\(details)")
    #expect(details.contains { $0.contains("queued_by_entry") }, "\(details)")
    #expect(!details.contains { $0.hasPrefix("SCAN") }, "\(details)")
    #expect(!QueueCode.sql.uppercased().contains("RECURSIVE"))
  }

  /// The number of SQLite instructions that find the sync state of an entry. `scans` counts those that step
  /// to the next row of a table scan.
  private func cost(of guid: String) throws -> (steps: Int32, scans: Int32) {
    try scratch.open(.reader).queue.inDatabase { database in
      let statement = try database.makeStatement(
        sql: "SELECT \(StoredRecord.columns) FROM record WHERE guid = '\(guid)'")
      #expect(try Row.fetchAll(statement).count == 1)
      return (
        sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_VM_STEP, 0),
        sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)
      )
    }
  }

  /// Stores entries, each with nine pending records.
  private func fill(_ numbers: Range<Int>) throws {
    _ = try scratch.open()
    let guid = "'-0000-4000-8000-000000000000'"
    try DatabaseQueue(path: scratch.path).inDatabase { database in
      try database.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
          INSERT INTO record (guid, kind, entry_guid, device_time, utc_offset, offset_source, fields)
          SELECT printf('%08x', i) || \(guid), 'note', iif(i % 10 = 0, NULL, printf('%08x', i - i % 10) || \(guid)),
            i, 0, 0, '{}' FROM n
          """, arguments: [numbers.lowerBound, numbers.upperBound])
    }
  }

  @Test func theSyncStateOfAnEntryIsFoundInTheSameStepsAmong100000Records() throws {
    let entry = "00000032-0000-4000-8000-000000000000"
    try fill(0..<100)
    #expect(try state(entry) == .queued(.waiting))
    let few = try cost(of: entry)
    try fill(100..<100_000)
    #expect(try scratch.number("SELECT count(*) FROM queued") == 100_000)
    let many = try cost(of: entry)
    #expect(many.scans == 0 && many.steps <= few.steps && many.steps < 2000, "\(few) \(many)")
  }

  @Test func theTimesOfQueueingTransferAndSuccessAreStored() throws {
    let sync = try scratch.open(.sync)
    let logbook = RemoteLogbook(id: "l", name: "l", isWritable: true, maxReadings: 1, maxRecords: 1)
    try sync.setRemote(
      RemoteAccess(kind: "glucoport", url: "http://localhost:1", token: .file("/t")), logbook: logbook,
      isNewRemote: false, at: 1)
    try add(a1)
    _ = try RecordEditor(scratch.open(.editor), at: 6).edit(a1) { $0.fields["text"] = .text("y") }
    #expect(try scratch.rows("SELECT queued_at FROM queued") == ["5"], "since when the first edit waits")
    try sync.sync { try $0.beginTransfer(.records, of: [a1], at: 7) }
    #expect(try scratch.rows("SELECT lane, started_at, items FROM transfer") == ["records 7 1"])
    try acknowledge(a1)
    try sync.sync { store in
      try store.endTransfer(.records)
      try store.storeSuccess(at: 8, pushed: true, pulled: false, asked: true)
    }
    #expect(try scratch.rows("SELECT count(*) FROM queued") == ["0"])
    #expect(try scratch.rows("SELECT count(*) FROM transfer") == ["0"])
    #expect(try scratch.rows("SELECT last_push, last_pull FROM remote") == ["8 NULL"])
  }

  /// The shown state depends only on the code of the row in the queue and on whether an upload is running.
  @Test(arguments: [false, true]) func theSyncStateFollowsOnlyFromQueueAndRunningUpload(isRunning: Bool) {
    let still: [SyncState] = [.synced, .queued(.waiting), .queued(.refused), .queued(.conflict)]
    #expect((0..<4).map { QueueCode($0).state(isRunning: isRunning) } == still)
    let moving = isRunning ? Array(repeating: SyncState.syncing, count: 3) : Array(still.dropFirst())
    #expect((9..<12).map { QueueCode($0).state(isRunning: isRunning) } == moving)
  }

  @Test func anEditDuringAnUploadStaysQueuedAfterItsAcknowledgement() throws {
    try add(a1)
    try scratch.open(.sync).sync { _ = try $0.prepare(try #require(try $0.record(a1)), node: n1) }
    _ = try RecordEditor(scratch.open(.editor), at: 6).edit(a1) { $0.fields["text"] = .text("y") }
    try scratch.open(.sync).sync { try $0.acknowledge(try #require(try $0.record(a1)), revision: "r") }
    #expect(try queuedRows() == ["a1 record a1"] && state(a1) == .queued(.waiting))
  }

  // MARK: - Readings

  private func ingest(_ positions: [Int64]) throws {
    try scratch.ingest(
      Make.batch(positions.map { Make.reading(.smbg, Make.milligrams(100), at: Make.noon + $0) }))
  }

  private func readingStates(_ activity: SyncActivity) throws -> [SyncState] {
    var states: [SyncState] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      if case .reading(let reading) = item { states.append(reading.syncState(activity)) }
    }
    return states
  }

  @Test func onlyReadingsOfTheCurrentRequestAreShownAsSyncing() throws {
    try ingest([0, 300, 600])
    try uploading {
      try $0.beginTransfer(of: try $0.pendingReadings(after: nil, limit: 2).keys, at: 7)
    } _: { activity in
      #expect(activity.readings == 2)
      let states = try readingStates(activity)
      #expect(states == [.syncing, .syncing, .queued(.waiting)])
    }
    #expect(try readingStates(.none) == [.queued(.waiting), .queued(.waiting), .queued(.waiting)])
  }

  @Test func aDayHasTheSyncStateOfItsLeastSyncedReading() throws {
    try ingest([0, 300, 86400, 2 * 86400])
    let sync = try scratch.open(.sync)
    try sync.sync { store in
      let keys = try store.pendingReadings(after: nil, limit: 9).keys
      try store.markUploaded([keys[0], keys[2]], except: [], at: 7)
      try store.quarantine([keys[3]], reason: "too odd", at: 7)
    }
    let days = try sync.readingDays(ItemFilter(), .none)
    #expect(days.map(\.start.text) == ["2025-06-01T00:00:00", "2025-06-02T00:00:00", "2025-06-03T00:00:00"])
    #expect(days.map(\.state) == [.queued(.waiting), .synced, .queued(.refused)])
    #expect(days.map(\.readings) == [2, 1, 1] && days.map(\.queued) == [1, 0, 1])
  }

  @Test func aDayIsShownAsSyncingDuringTheRequestWithItsReadings() throws {
    try ingest([0, 86400])
    try uploading {
      try $0.beginTransfer(of: try $0.pendingReadings(after: nil, limit: 1).keys, at: 7)
    } _: { activity in
      let days = try scratch.open(.reader).readingDays(ItemFilter(), activity)
      #expect(days.map(\.state) == [.syncing, .queued(.waiting)])
    }
  }

  @Test func daysBefore1970HaveTheirSyncState() throws {
    try ingest([-Make.noon - 1, -Make.noon])
    let days = try scratch.open(.reader).readingDays(ItemFilter(), .none)
    #expect(days.map(\.start.text) == ["1969-12-31T00:00:00", "1970-01-01T00:00:00"])
  }

  // MARK: - The oldest pending item

  @Test func theOldestPendingItemIsFromAnImportAfterTheLastUpload() throws {
    try ingest([0])
    let store = try scratch.open(.sync)
    #expect(try store.syncOverview(store.overview(ingests: 0), pendingContents: 0).oldestPending == 1000)
    try store.sync {
      try $0.markUploaded(try $0.pendingReadings(after: nil, limit: 9).keys, except: [], at: 7)
    }
    #expect(try store.syncOverview(store.overview(ingests: 0), pendingContents: 0).oldestPending == nil)
    try add(a1)
    #expect(try store.syncOverview(store.overview(ingests: 0), pendingContents: 0).oldestPending == 5)
  }

  @Test func checkingTheUploadLockDoesNotBlockAnUpload() throws {
    _ = try scratch.open()
    #expect(try !UploadLock.isHeld(storePath: scratch.path))
    let lock = try #require(try UploadLock.acquire(storePath: scratch.path))
    #expect(try UploadLock.isHeld(storePath: scratch.path))
    lock.release()
    #expect(try !UploadLock.isHeld(storePath: scratch.path))
    try #require(try UploadLock.acquire(storePath: scratch.path)).release()
  }
}
