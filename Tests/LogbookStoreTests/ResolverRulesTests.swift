// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct ResolverRulesTests {
  private static let reason = "a resolution takes the remote side as the base and changes nothing else"
  private static let settling =
    "base = conflict, revision = conflict_revision, conflict = NULL, conflict_revision = NULL"
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
  }

  private func makeConflict() throws {
    let sql =
      "UPDATE record SET base = '{}', revision = 'r1', conflict = '{\"deleted\":0}', conflict_revision = 'r2'"
    #expect(try scratch.refusal(.sync, sql) == nil)
  }

  @Test func aConflictResolutionMustUseTheRemoteVersionAsItsBase() throws {
    try makeConflict()
    #expect(try scratch.refusal(.resolver, "UPDATE record SET \(Self.settling)") == nil)
    #expect(
      try scratch.rows("SELECT base, revision, conflict, conflict_revision, version, fields FROM record")
        == [#"{"deleted":0} r2 NULL NULL 1 {"carbs":30}"#])
  }

  @Test func theResolvedContentIsStoredAsAnEditAfterTheResolution() throws {
    try makeConflict()
    let edit = "UPDATE record SET fields = '{\"carbs\":35}', version = version + 1"
    #expect(try scratch.refusal(.resolver, "UPDATE record SET \(Self.settling)") == nil)
    #expect(try scratch.refusal(.resolver, edit) == nil)
    #expect(
      try scratch.rows("SELECT fields, version, base FROM record") == [#"{"carbs":35} 2 {"deleted":0}"#])
  }

  @Test(arguments: [
    "version = version + 1", "fields = '{}'", "deleted = 1", "device_time = 5", "utc_offset = 0",
    "version_synced = 1", "sent = 'x'", "sent_version = 1", "quarantine = 'q', quarantined_version = 1",
  ])
  func aConflictResolutionCannotChangeOtherColumnsInTheSameStatement(_ change: String) throws {
    try makeConflict()
    #expect(try scratch.refusal(.resolver, "UPDATE record SET \(Self.settling), \(change)") != nil)
    #expect(try scratch.rows("SELECT version, conflict IS NULL FROM record") == ["1 0"])
  }

  @Test(arguments: [
    "base = '{\"a\":1}', revision = conflict_revision, conflict = NULL, conflict_revision = NULL",
    "base = conflict, revision = 'other', conflict = NULL, conflict_revision = NULL",
    "conflict = NULL, conflict_revision = NULL", "base = conflict, revision = conflict_revision",
    "conflict = '{}'", "version_synced = 1", "sent = 'x'", "sent_version = 1",
    "quarantine = 'q', quarantined_version = 1",
  ])
  func aConflictResolutionCannotUseAnotherBase(_ change: String) throws {
    try makeConflict()
    #expect(try scratch.refusal(.resolver, "UPDATE record SET \(change)") == Self.reason)
  }

  @Test func onlyAConflictWithADeletionIsResolvedWithoutABase() throws {
    #expect(try scratch.refusal(.sync, "UPDATE record SET base = '{}', revision = 'r'") == nil)
    #expect(try scratch.refusal(.resolver, "UPDATE record SET base = NULL") == Self.reason)
    #expect(try scratch.refusal(.editor, "UPDATE record SET deleted = 1, version = version + 1") == nil)
    for other in ["revision = 'x'", "version = version + 1", "version_synced = 1", "fields = '[]'"] {
      #expect(try scratch.refusal(.resolver, "UPDATE record SET base = NULL, \(other)") != nil, "\(other)")
    }
    #expect(try scratch.refusal(.resolver, "UPDATE record SET base = NULL") == nil)
  }

  @Test func aRecordWithoutAConflictCannotBeResolved() throws {
    #expect(try scratch.refusal(.sync, "UPDATE record SET revision = 'r1'") == nil)
    #expect(try scratch.refusal(.resolver, "UPDATE record SET \(Self.settling)") == Self.reason)
  }

  @Test func theDatabasePermitsOnlyTheResolverRoleToResolveAConflict() throws {
    try makeConflict()
    for role in [StoreRole.importer, .editor] {
      let refusal = try scratch.refusal(role, "UPDATE record SET \(Self.settling)")
      #expect(refusal == "only sync writes the columns of sync")
    }
  }

  @Test func theResolverRoleCannotStoreOrMarkReadings() throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    #expect(
      try scratch.refusal(.resolver, "INSERT INTO reading SELECT * FROM reading")
        == "only imports and sync store readings")
    #expect(try scratch.refusal(.resolver, "UPDATE reading SET uploaded = 1") == "only sync writes uploaded")
  }

  @Test func anEditByTheResolverRoleIncreasesTheVersion() throws {
    let reason = "a change of a record raises its version"
    #expect(try scratch.refusal(.resolver, "UPDATE record SET fields = '{}'") == reason)
  }
}

/// Tests which records are pending. The SQL query uses the partial index `record_pending`.
@Suite struct PendingRecordTests {
  private static let pending =
    "SELECT count(*) FROM record INDEXED BY record_pending WHERE version > version_synced AND conflict IS NULL "
    + "AND (quarantined_version IS NULL OR quarantined_version < version)"
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
  }

  @Test func anEditMakesASyncedRecordPending() throws {
    #expect(try scratch.number(Self.pending) == 1)
    #expect(try scratch.refusal(.sync, "UPDATE record SET version_synced = 1") == nil)
    #expect(try scratch.number(Self.pending) == 0)
    #expect(try scratch.refusal(.editor, "UPDATE record SET fields = '{}', version = 2") == nil)
    #expect(try scratch.number(Self.pending) == 1)
  }

  @Test func anEditMakesARefusedRecordPendingAgain() throws {
    #expect(try scratch.refusal(.sync, "UPDATE record SET quarantine = 'no', quarantined_version = 1") == nil)
    #expect(try scratch.number(Self.pending) == 0)
    #expect(try scratch.refusal(.editor, "UPDATE record SET fields = '{}', version = 2") == nil)
    #expect(try scratch.number(Self.pending) == 1)
  }

  @Test func aConflictedRecordIsNotPendingEvenAfterAnEdit() throws {
    #expect(try scratch.refusal(.sync, "UPDATE record SET conflict = '{}', conflict_revision = 'r'") == nil)
    #expect(try scratch.refusal(.editor, "UPDATE record SET fields = '{}', version = 2") == nil)
    #expect(try scratch.number(Self.pending) == 0)
  }
}
