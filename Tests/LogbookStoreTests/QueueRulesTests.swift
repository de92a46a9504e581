// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests that the rows of `queued` always follow from the versions of records and the contents of
/// attachments, whichever role writes.
@Suite struct QueueRulesTests {
  private static let roles = [StoreRole.importer, .editor, .resolver, .sync]
  private static let reason = "what is queued follows versions and contents, which alone decide"
  private static let waiting = "a1000000-0000-4000-8000-000000000000"
  private static let node = "d1000000-0000-4000-8000-000000000000"
  private static let synced = "a2000000-0000-4000-8000-000000000000"

  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    let editor = RecordEditor(try scratch.open(.editor), at: 5)
    for guid in [Self.waiting, Self.synced] {
      let draft = RecordDraft(
        kind: .note, at: DeviceTime(seconds: Make.noon),
        placement: Placement(utcOffset: 7200, source: .zone), fields: RecordFields(["text": .text("x")]))
      _ = try editor.add(draft, guid: guid)
    }
    try scratch.open(.sync).sync { store in
      _ = try store.prepare(try #require(try store.record(Self.synced)), node: Self.node)
      try store.acknowledge(try #require(try store.record(Self.synced)), revision: "r")
    }
  }

  private func queued() throws -> [String] {
    try scratch.rows("SELECT record, aspect, entry, queued_at FROM queued ORDER BY 1, 2")
  }

  @Test(
    arguments: roles,
    [
      // The first four SQL statements are refused: the record is synced, a note has no file, the record is
      // missing, and the entry is wrong.
      "INSERT INTO queued VALUES ('\(synced)', 'record', '\(synced)', 1, 1)",
      "INSERT INTO queued VALUES ('\(synced)', 'file', '\(synced)', 1, 1)",
      "INSERT INTO queued VALUES ('nobody', 'record', 'nobody', 1, 1)",
      "INSERT OR REPLACE INTO queued VALUES ('\(waiting)', 'record', '\(synced)', 1, 1)",
      "UPDATE queued SET entry = '\(synced)'", "UPDATE queued SET record = '\(synced)'",
      "UPDATE queued SET aspect = 'file'", "UPDATE queued SET queued_at = 1", "DELETE FROM queued",
    ])
  func noRoleCanQueueSyncedItemsOrRemovePendingOnes(_ role: StoreRole, _ change: String) throws {
    let before = try queued()
    #expect(before == ["\(Self.waiting) record \(Self.waiting) 5"])
    #expect(try scratch.refusal(role, change) == Self.reason)
    #expect(try queued() == before)
  }

  @Test(arguments: roles) func aPendingItemCannotBeQueuedForUploadTwice(_ role: StoreRole) throws {
    let refusal = try scratch.refusal(
      role, "INSERT INTO queued VALUES ('\(Self.waiting)', 'record', '\(Self.waiting)', 1, 1)")
    #expect(refusal == "UNIQUE constraint failed: queued.record, queued.aspect")
  }

  /// A pull may move a record to another entry and mark it as synced in the same statement.
  @Test func aRecordSyncedByAPullLeavesTheUploadQueue() throws {
    try scratch.open(.sync).sync { store in
      _ = try store.prepare(try #require(try store.record(Self.waiting)), node: Self.node)
      let mine = try #require(try store.record(Self.waiting))
      let theirs = RecordState(
        kind: .note, entryGuid: Self.synced, deviceTime: DeviceTime(seconds: Make.noon),
        placement: Placement(utcOffset: 7200, source: .stated), fields: RecordFields(), isDeleted: false)
      try store.adopt(RemoteRecord(guid: Self.waiting, revision: "r2", state: theirs), over: mine)
    }
    #expect(try queued() == [])
    #expect(
      try scratch.rows("SELECT entry_guid FROM record WHERE guid = '\(Self.waiting)'") == [Self.synced])
  }
}
