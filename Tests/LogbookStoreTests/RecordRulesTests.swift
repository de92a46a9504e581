// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

@Suite struct RecordRulesTests {
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
  }

  private func sync(_ sql: String) throws { #expect(try scratch.refusal(.sync, sql) == nil) }

  @Test(arguments: [StoreRole.importer, .editor, .sync]) func theDatabaseRefusesToRemoveARecord(
    _ role: StoreRole
  ) throws {
    let refusal = try scratch.refusal(role, "DELETE FROM record")
    #expect(refusal == "records are never removed; a deleted record is a tombstone")
  }

  @Test(arguments: ["guid = 'x'", "kind = 'note'"]) func theDatabaseRefusesToChangeIDAndKindOfARecord(
    _ change: String
  ) throws {
    let refusal = try scratch.refusal(.editor, "UPDATE record SET \(change), version = version + 1")
    #expect(refusal == "guid and kind of a record never change")
  }

  @Test(arguments: ["+ 2", "- 1", "+ 10"]) func theVersionOfARecordIncreasesByExactlyOne(_ step: String)
    throws
  {
    #expect(try scratch.refusal(.editor, "UPDATE record SET version = version + 1") == nil)
    let refusal = try scratch.refusal(.editor, "UPDATE record SET fields = '{}', version = version \(step)")
    #expect(refusal == "a version rises by exactly one")
  }

  @Test(arguments: [
    "version_synced = 1", "sent_version = 1", "sent = 'x'", "revision = 'r'", "base = '{}'",
    "conflict = '{}', conflict_revision = 'r'", "quarantine = 'q', quarantined_version = 1",
  ])
  func anEditCannotChangeTheSyncColumnsOfARecord(_ change: String) throws {
    for role in [StoreRole.importer, .editor] {
      #expect(try scratch.refusal(role, "UPDATE record SET version = version + 1, \(change)") != nil)
      #expect(
        try scratch.refusal(role, "UPDATE record SET \(change)") == "only sync writes the columns of sync")
    }
    #expect(try scratch.refusal(.sync, "UPDATE record SET \(change)") == nil)
  }

  @Test(arguments: [
    "fields = '{}'", "deleted = 1", "entry_guid = 'e'", "device_time = 5",
    "utc_offset = 1, offset_source = 0",
  ])
  func theContentOfARecordChangesOnlyWithItsVersion(_ change: String) throws {
    let reason = "a change of a record raises its version"
    for role in [StoreRole.importer, .editor, .sync] {
      #expect(try scratch.refusal(role, "UPDATE record SET \(change)") == reason)
    }
    #expect(try scratch.refusal(.editor, "UPDATE record SET \(change), version = version + 1") == nil)
  }

  /// A sync transaction reads before it writes. No other writer can change the store between its reads and
  /// its writes.
  @Test func aTransactionOfSyncLocksOutWritersFromItsFirstStatement() throws {
    let editor = try scratch.open(.editor)
    try editor.queue.inDatabase { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
    let edit = "UPDATE record SET fields = '{}', version = version + 1"
    try scratch.open(.sync).sync { (store) throws -> Void in
      #expect(throws: DatabaseError.self) { try editor.queue.inDatabase { try $0.execute(sql: edit) } }
      #expect(try store.allRecords().map(\.version) == [1])
    }
    try editor.queue.inDatabase { try $0.execute(sql: edit) }
    #expect(try scratch.rows("SELECT version FROM record") == ["2"])
  }

  @Test func anEditOfASyncedRecordIncreasesItsVersion() throws {
    try sync("UPDATE record SET version_synced = 1")
    for role in [StoreRole.importer, .editor] {
      let refusal = try scratch.refusal(role, "UPDATE record SET fields = '{}'")
      #expect(refusal == "a change of a record raises its version")
    }
  }

  @Test func aPullCanChangeASyncedRecord() throws {
    try sync("UPDATE record SET version_synced = 1")
    try sync("UPDATE record SET fields = '{\"carbs\":40}', base = '{}', revision = 'r2'")
    #expect(try scratch.rows("SELECT fields, version, version_synced FROM record") == [#"{"carbs":40} 1 1"#])
  }

  @Test func aPullNeverOverwritesAPendingRecord() throws {
    try sync("UPDATE record SET version_synced = 1")
    #expect(try scratch.refusal(.editor, "UPDATE record SET fields = '{}', version = 2") == nil)
    let refusal = try scratch.refusal(
      .sync, "UPDATE record SET fields = '{\"carbs\":1}', base = 'b', revision = 'r'")
    #expect(refusal == "a change of a record raises its version")
  }

  @Test func aMergeWithoutANewBaseAndRevisionCannotChangeASentRecord() throws {
    try sync("UPDATE record SET sent_version = 1, sent = '{}'")
    let reason = "a change of a record raises its version"
    #expect(try scratch.refusal(.sync, "UPDATE record SET fields = '{}', base = 'b'") == reason)
    #expect(try scratch.refusal(.sync, "UPDATE record SET fields = '{}', revision = 'r'") == reason)
    try sync("UPDATE record SET fields = '{}', base = 'b', revision = 'r'")
    #expect(try scratch.refusal(.editor, "UPDATE record SET fields = '{\"a\":1}', version = 2") == nil)
    #expect(
      try scratch.refusal(.sync, "UPDATE record SET fields = '{}', base = 'c', revision = 's'") == reason)
  }

  @Test func theSyncRoleCannotChangeTheVersionOfARecord() throws {
    #expect(
      try scratch.refusal(.sync, "UPDATE record SET version = version + 1") == "sync never writes version")
  }

  @Test(arguments: [
    "version, version_synced) SELECT 'g', kind, 0, 0, 1, '{}', 2, 0",
    "version, version_synced) SELECT 'g', kind, 0, 0, 1, '{}', 1, 1",
  ])
  func aNewLocalRecordMustBeUnsynced(_ tail: String) throws {
    let insert =
      "INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields, \(tail) FROM record"
    for role in [StoreRole.importer, .editor] {
      #expect(try scratch.refusal(role, insert) == "a record starts at version 1, not synced")
    }
    #expect(try scratch.refusal(.sync, insert) == nil)
  }

  @Test(arguments: [
    "version_synced = 2", "sent_version = 2", "version_synced = -1", "conflict = '{}'",
    "conflict_revision = 'r'", "quarantine = 'q'", "quarantined_version = 1",
    "quarantine = 'q', quarantined_version = 2",
  ])
  func contradictoryColumnsOfARecordAreRefused(_ change: String) throws {
    #expect(try scratch.refusal(.sync, "UPDATE record SET \(change)")?.contains("CHECK") == true)
  }

  @Test(arguments: ["'{'", "NULL"]) func theFieldsOfARecordMustBeValidJSON(_ fields: String) throws {
    let refusal = try scratch.refusal(.editor, "UPDATE record SET fields = \(fields), version = version + 1")
    #expect(refusal != nil)
  }

  @Test(arguments: [
    "sent_version) SELECT 'g', kind, 0, 0, 1, '{}', 1", "base) SELECT 'g', kind, 0, 0, 1, '{}', '{}'",
    "conflict, conflict_revision) SELECT 'g', kind, 0, 0, 1, '{}', '{}', 'r'",
    "quarantine, quarantined_version) SELECT 'g', kind, 0, 0, 1, '{}', 'q', 1",
  ])
  func aNewLocalRecordCannotHaveSyncData(_ tail: String) throws {
    let insert =
      "INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields, \(tail) FROM record"
    for role in [StoreRole.importer, .editor, .resolver] {
      #expect(try scratch.refusal(role, insert) == "a record starts at version 1, not synced")
    }
    #expect(try scratch.refusal(.sync, insert) == nil)
  }

  @Test func aDeletedRecordStaysDeletedWithoutAConflictResolution() throws {
    #expect(try scratch.refusal(.editor, "UPDATE record SET deleted = 1, version = version + 1") == nil)
    for role in [StoreRole.importer, .editor] {
      for change in ["deleted = 0", "fields = '{\"carbs\":1}'", "device_time = 5"] {
        let refusal = try scratch.refusal(role, "UPDATE record SET \(change), version = version + 1")
        #expect(refusal == "only a resolution or an undo brings a deleted record back")
      }
    }
    #expect(try scratch.refusal(.resolver, "UPDATE record SET deleted = 0, version = version + 1") == nil)
  }

  @Test func aTimeZoneChangeMovesARecordWithoutANewVersion() throws {
    #expect(try scratch.refusal(.editor, "UPDATE record SET utc_offset = 0, offset_source = 3") == nil)
  }
}
