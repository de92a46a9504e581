// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests how each kind of conflict is resolved in each possible way. The conflicts are stored as a sync
/// stores them.
@Suite struct RecordResolverTests {
  private static let id = "00000000-0000-4000-8000-00000000000a"
  private static let child = "00000000-0000-4000-8000-00000000000b"
  private static let copy = "00000000-0000-4000-8000-00000000000c"
  private static let columns =
    "version, version_synced, deleted, fields, revision, conflict IS NULL, sent IS NULL, edited_at"

  private let scratch: ScratchStore
  private let resolver: RecordResolver

  init() throws {
    scratch = try ScratchStore()
    resolver = RecordResolver(try scratch.open(.resolver))
  }

  private func state(
    _ fields: [String: FieldValue], entry: String? = nil, isDeleted: Bool = false, editedAt: Int64? = nil
  ) -> RecordState {
    RecordState(
      kind: .food, entryGuid: entry, deviceTime: DeviceTime(seconds: Make.noon),
      placement: Placement(utcOffset: 7200, source: .zone), fields: RecordFields(fields),
      isDeleted: isDeleted, editedAt: editedAt)
  }

  private func remote(_ state: RecordState, _ revision: String, guid: String = id) -> RemoteRecord {
    RemoteRecord(guid: guid, revision: revision, state: state)
  }

  /// Makes a conflict: a synced record is edited or deleted in this store at second 100, and changed on the
  /// remote as well.
  private func makeConflict(
    theirs: RecordState? = nil, deletesMine: Bool = false, isSent: Bool = false
  ) throws -> RecordConflict {
    let sync = try scratch.open(.sync)
    let editor = RecordEditor(try scratch.open(.editor), at: 100)
    try sync.sync { try $0.adopt(remote(state(["carbs": .number(30)]), "r1"), over: nil) }
    if deletesMine {
      _ = try editor.delete(Self.id)
    } else {
      _ = try editor.edit(Self.id) { $0.fields["carbs"] = .number(45) }
    }
    let theirs = theirs ?? state(["carbs": .number(40), "text": .text("soup")], editedAt: 200)
    try sync.sync { store in
      if isSent {
        let record = try #require(try store.record(Self.id))
        _ = try store.prepare(record, node: "00000000-0000-4000-8000-000000000001")
      }
      try store.markConflicted(remote(theirs, "r2"), isAnswered: false)
    }
    return try resolver.conflict(of: Self.id)
  }

  /// Makes a conflict: an entry is deleted in this store, and meanwhile another node has added a record to
  /// it.
  private func makeOrphaned() throws -> RecordConflict {
    let sync = try scratch.open(.sync)
    try sync.sync { try $0.adopt(remote(state(["carbs": .number(30)]), "r1"), over: nil) }
    _ = try RecordEditor(try scratch.open(.editor), at: 100).delete(Self.id)
    try sync.sync {
      try $0.adopt(
        remote(state(["text": .text("late")], entry: Self.id), "r2", guid: Self.child), over: nil)
    }
    return try resolver.conflict(of: Self.id)
  }

  private func row(_ guid: String = id) throws -> [String] {
    try scratch.rows("SELECT \(Self.columns) FROM record WHERE guid = '\(guid)'")
  }

  private func category(_ body: () throws -> Void) throws -> FailureCategory? {
    do {
      try body()
      return nil
    } catch let failure as Failure {
      return failure.category
    }
  }

  @Test func aConflictHasBothVersionsAndTheCommonBase() throws {
    let conflict = try makeConflict()
    #expect(conflict.cause == .edited)
    #expect(conflict.mine.fields.json == #"{"carbs":45}"# && conflict.mine.editedAt == 100)
    #expect(conflict.theirs.fields.json == #"{"carbs":40,"text":"soup"}"#)
    #expect(conflict.base?.fields.json == #"{"carbs":30}"#)
    #expect(try resolver.conflicts() == [conflict])
  }

  @Test func resolvingAConflictWithMineEditsTheRemoteVersion() throws {
    let edit = try resolver.resolve(try makeConflict(), .mine, at: 300)
    #expect(try row() == [#"3 1 0 {"carbs":45} r2 1 1 300"#])
    #expect(edit.edits == 1 && edit.record.syncState(.none) == .queued(.waiting))
  }

  @Test func resolvingAConflictWithTheirsKeepsTheRemoteVersion() throws {
    try resolver.resolve(try makeConflict(), .theirs, at: 300)
    #expect(try row() == [#"3 1 0 {"carbs":40,"text":"soup"} r2 1 1 300"#])
  }

  @Test func resolvingAConflictWithBothMakesTheRemoteVersionASeparateRecord() throws {
    try resolver.resolve(try makeConflict(), .both(guid: Self.copy), at: 300)
    #expect(try row() == [#"3 1 0 {"carbs":45} r2 1 1 300"#])
    #expect(try row(Self.copy) == [#"1 0 0 {"carbs":40,"text":"soup"} NULL 1 1 200"#])
  }

  @Test func resolvingAConflictWithCombinedFieldsKeepsTheCombination() throws {
    try resolver.resolve(try makeConflict(), .fields(RecordFields(["carbs": .number(42)])), at: 300)
    #expect(try row() == [#"3 1 0 {"carbs":42} r2 1 1 300"#])
  }

  @Test func aConflictWithADeletionOnTheRemoteIsResolvedEitherWay() throws {
    let conflict = try makeConflict(theirs: state([:], isDeleted: true, editedAt: 50))
    #expect(try category { try resolver.resolve(conflict, .both(guid: Self.copy), at: 300) } == .usage)
    try resolver.resolve(conflict, .theirs, at: 300)
    #expect(try row() == ["3 1 1 {} r2 1 1 300"])
  }

  @Test func onlyAConflictResolutionRestoresADeletedRecord() throws {
    let conflict = try makeConflict(deletesMine: true)
    #expect(try category { try resolver.resolve(conflict, .both(guid: Self.copy), at: 300) } == .usage)
    try resolver.resolve(conflict, .fields(RecordFields(["carbs": .number(41)])), at: 300)
    #expect(try row() == [#"3 1 0 {"carbs":41} r2 1 1 300"#])
  }

  @Test func anEntryDeletedOnTheRemoteIsDeletedWithItsRecordsOrRestored() throws {
    let conflict = try makeOrphaned()
    #expect(conflict.cause == .orphaned && !conflict.theirs.isDeleted)
    for refused in [Resolution.both(guid: Self.copy), .fields(RecordFields(["carbs": .number(1)]))] {
      #expect(try category { try resolver.resolve(conflict, refused, at: 300) } == .usage)
    }
    let edit = try resolver.resolve(conflict, .mine, at: 300)
    // The deletion is stored as a further edit. If another node resolves the conflict differently, this edit
    // shows that node that the record has changed.
    #expect(edit.edits == 2)
    #expect(try row(Self.child) == ["2 1 1 {} r2 1 1 300"])
    #expect(try row() == ["3 1 1 {} r1 1 1 300"])
    #expect(try resolver.conflicts() == [])
  }

  @Test func deletingAnEntryEndsConflictsOfItsRecordsDeletedOnTheRemote() throws {
    let sync = try scratch.open(.sync)
    let editor = RecordEditor(try scratch.open(.editor), at: 100)
    let childState = state(["text": .text("late")], entry: Self.id)
    try sync.sync { store in
      try store.adopt(remote(state(["carbs": .number(30)]), "r1"), over: nil)
      for guid in [Self.child, Self.copy] { try store.adopt(remote(childState, "r2", guid: guid), over: nil) }
    }
    for guid in [Self.id, Self.child, Self.copy] {
      _ = try editor.edit(guid) { $0.fields["text"] = .text("mine") }
    }
    let gone = state([:], entry: Self.id, isDeleted: true, editedAt: 200)
    try sync.sync { store in
      try store.markConflicted(remote(state([:], isDeleted: true, editedAt: 200), "r3"), isAnswered: false)
      try store.markConflicted(remote(gone, "r4", guid: Self.child), isAnswered: false)
      try store.markConflicted(remote(childState, "r5", guid: Self.copy), isAnswered: false)
    }
    try resolver.resolve(resolver.conflict(of: Self.id), .theirs, at: 300)
    #expect(try row(Self.child) == ["3 1 1 {} r4 1 1 300"])
    // The remote did not delete the copy, so its conflict still needs a decision by a person.
    #expect(try resolver.conflicts().map(\.guid) == [Self.copy])
  }

  @Test func anEntryDeletedOnTheRemoteIsRestoredWithoutItsFields() throws {
    try resolver.resolve(try makeOrphaned(), .theirs, at: 300)
    #expect(try row() == ["3 1 0 {} r1 1 1 300"])
    #expect(try row(Self.child) == [#"1 1 0 {"text":"late"} r2 1 1 NULL"#])
    #expect(try resolver.conflicts() == [])
  }

  @Test func resolvingAConflictDiscardsAnUnansweredUploadOfTheRecord() throws {
    let conflict = try makeConflict(isSent: true)
    #expect(try scratch.rows("SELECT sent_version, sent IS NULL FROM record") == ["2 0"])
    try resolver.resolve(conflict, .mine, at: 300)
    #expect(
      try scratch.rows("SELECT sent_version, sent, version_synced, version FROM record") == ["NULL NULL 1 3"])
  }

  @Test func resolvingAConflictQueuesARefusedRecordAgain() throws {
    let conflict = try makeConflict()
    try scratch.open(.sync).sync { try $0.quarantine(Self.id, reason: "no") }
    try resolver.resolve(conflict, .mine, at: 300)
    #expect(try scratch.open(.reader).overview(ingests: 0).pendingRecords == 1)
  }

  @Test func aConflictThatChangedAfterItWasShownIsNotResolved() throws {
    let conflict = try makeConflict()
    let newer = state(["carbs": .number(41)], editedAt: 210)
    try scratch.open(.sync).sync { try $0.markConflicted(remote(newer, "r3"), isAnswered: true) }
    #expect(try category { try resolver.resolve(conflict, .mine, at: 300) } == .temporary)
    let seen = try resolver.conflict(of: Self.id)
    _ = try RecordEditor(try scratch.open(.editor), at: 110).edit(Self.id) { $0.fields["fat"] = .number(1) }
    #expect(try category { try resolver.resolve(seen, .theirs, at: 300) } == .temporary)
    #expect(try row() == [#"3 1 0 {"carbs":45,"fat":1} r1 0 1 110"#])
  }

  @Test func aConflictCanBeResolvedOnlyOnce() throws {
    let conflict = try makeConflict()
    try resolver.resolve(conflict, .mine, at: 300)
    #expect(try category { try resolver.resolve(conflict, .theirs, at: 301) } == .missingInput)
    #expect(try category { _ = try resolver.conflict(of: Self.id) } == .missingInput)
  }

  @Test(arguments: [StoreRole.reader, .importer, .editor])
  func onlyTheResolverRoleMayResolveAConflict(_ role: StoreRole) throws {
    let conflict = try makeConflict()
    let wrong = RecordResolver(try scratch.open(role))
    #expect(try category { try wrong.resolve(conflict, .mine, at: 300) } != nil)
    #expect(try row() == [#"2 1 0 {"carbs":45} r1 0 1 100"#])
  }
}

/// Tests which side of a conflict was edited later, if the times of the edits are known.
@Suite struct NewerSideTests {
  private static func conflict(
    mine: Int64?, theirs: Int64?, cause: RecordConflict.Cause = .edited
  ) -> RecordConflict {
    func state(_ editedAt: Int64?) -> RecordState {
      RecordState(
        kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: Make.noon),
        placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields([:]), isDeleted: false,
        editedAt: editedAt)
    }
    return RecordConflict(guid: "a", cause: cause, mine: state(mine), theirs: state(theirs), base: nil)
  }

  private func refusal(_ conflict: RecordConflict) throws -> String? {
    do {
      _ = try conflict.newer()
      return nil
    } catch let failure as Failure {
      #expect(failure.category == .usage)
      return failure.message
    }
  }

  @Test func theSideOfAConflictThatWasEditedLastIsNewer() throws {
    #expect(try Self.conflict(mine: 2, theirs: 1).newer() == .mine)
    #expect(try Self.conflict(mine: 1, theirs: 2).newer() == .theirs)
  }

  @Test func withoutEditTimesOnBothSidesNeitherSideIsNewer() throws {
    #expect(try refusal(Self.conflict(mine: nil, theirs: 1))?.contains("'mine'") == true)
    #expect(try refusal(Self.conflict(mine: 1, theirs: nil))?.contains("'theirs'") == true)
    #expect(try refusal(Self.conflict(mine: 1, theirs: 1))?.contains("same second") == true)
    #expect(try refusal(Self.conflict(mine: 1, theirs: 2, cause: .orphaned)) != nil)
  }

  @Test func anImportedVersionHasTheTimeOfItsExportOrElseOfTheImport() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]), generatedAt: 700)
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(31)], sourceID: "2")]))
    let records = try scratch.open(.sync).sync { try $0.allRecords() }
    #expect(Set(records.map(\.state.editedAt)) == [700, 1000])
    let guid = try #require(records.first).guid
    _ = try RecordEditor(try scratch.open(.editor), at: 5000).edit(guid) { $0.fields["carbs"] = .number(1) }
    #expect(try scratch.open(.sync).sync { try $0.record(guid) }?.state.editedAt == 5000)
  }

  @Test func theTimesOfPulledAndMergedEditsAreKept() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    let sync = try scratch.open(.sync)
    let times = try sync.sync { store in
      let record = try #require(try store.allRecords().first)
      var state = record.state
      // A version that a person edited has an edit time and no export time.
      (state.editedAt, state.export) = (800, nil)
      try store.adopt(RemoteRecord(guid: record.guid, revision: "r1", state: state), over: record)
      let adopted = try #require(try store.record(record.guid))
      state.editedAt = 900
      let remote = RemoteRecord(guid: record.guid, revision: "r2", state: state)
      try store.merge(state, onto: remote, over: adopted)
      return [adopted.state.editedAt, try store.record(record.guid)?.state.editedAt]
    }
    #expect(times == [800, 900])
  }

  @Test func theEditTimeOfARecordIsOnlySetByAnEdit() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    for role in [StoreRole.importer, .editor, .resolver] {
      #expect(
        try scratch.refusal(role, "UPDATE record SET edited_at = 1")
          == "a change of a record raises its version")
    }
  }
}

/// Tests items that the remote refused permanently, and how they are released for another upload.
@Suite struct QuarantineTests {
  @Test func itemsThatTheRemoteRefusedAreCountedSeparatelyUntilQueuedAgain() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    try scratch.ingest(
      Make.batch([
        Make.reading(.smbg, Make.milligrams(100)),
        Make.reading(.smbg, Make.milligrams(101), at: Make.noon + 60),
      ]))
    let sync = try scratch.open(.sync)
    try sync.sync { store in
      let pending = try store.pendingReadings(after: nil, limit: 1)
      try store.quarantine(pending.keys, reason: "too early", at: 5)
      let record = try #require(try store.allRecords().first)
      try store.quarantine(record.guid, reason: "too odd")
    }
    let refused = try sync.overview(ingests: 0)
    #expect([refused.pendingReadings, refused.refusedReadings] == [1, 1])
    #expect([refused.pendingRecords, refused.refusedRecords, refused.refused] == [0, 1, 2])
    #expect(try sync.releaseRefused() == 2)
    let released = try sync.overview(ingests: 0)
    #expect([released.pendingReadings, released.pendingRecords, released.refused] == [2, 1, 0])
    #expect(try sync.releaseRefused() == 0)
  }

  @Test func aRefusedItemHasTheReasonGivenByTheRemote() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    let sync = try scratch.open(.sync)
    try sync.sync { store in
      try store.quarantine(try store.pendingReadings(after: nil, limit: 1).keys, reason: "too early", at: 5)
      try store.quarantine(try #require(try store.allRecords().first).guid, reason: "too odd")
    }
    try sync.forEachItem(ItemFilter()) { item in
      switch item {
      case .reading(let reading): #expect(reading.refusal == "too early")
      case .record(let record):
        #expect(record.refusal == "too odd" && record.syncState(.none) == .queued(.refused))
      }
    }
  }

  @Test func onlyTheSyncRoleCanQueueRefusedItemsAgain() throws {
    let scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    let sync = try scratch.open(.sync)
    try sync.sync { try $0.quarantine(try #require(try $0.allRecords().first).guid, reason: "too odd") }
    let editor = try scratch.open(.editor)
    #expect(throws: Failure.self) { try editor.releaseRefused() }
    #expect(try sync.overview(ingests: 0).refusedRecords == 1)
  }
}
