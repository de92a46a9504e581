// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests undo and redo of what people do to records.
@Suite struct ActionTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private let guid = Digest.uuid(of: ["typed"])
  private let start: Int64 = 1_000_000

  private func editor(at now: Int64) throws -> RecordEditor {
    RecordEditor(try scratch.open(.editor), at: now)
  }

  private func add(_ text: String, _ guid: String, to entry: String? = nil, at now: Int64? = nil) throws {
    var draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: 5), placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["text": .text(text)]))
    draft.entryGuid = entry
    _ = try editor(at: now ?? start).add(draft, guid: guid)
  }

  private func edit(_ text: String, at now: Int64? = nil) throws {
    _ = try editor(at: now ?? start).edit(guid) { $0.fields["text"] = .text(text) }
  }

  private func step(_ direction: UndoDirection) throws {
    guard case .action(let action)? = try scratch.open(.reader).nextStep(direction) else {
      throw Failure(.missingInput, "no action")
    }
    let store = try scratch.open(.editor)
    #expect(try store.outcome(of: action, direction) == store.apply(direction, to: action, at: start))
  }

  private func shown() throws -> [String] {
    try scratch.rows(
      "SELECT json_extract(fields, '$.text') FROM records WHERE deleted = 0 AND NOT withdrawn ORDER BY 1")
  }

  private func version() throws -> Int {
    try scratch.number("SELECT version FROM record WHERE guid = '\(guid)'")
  }

  @Test func eachUndoRevertsAndEachRedoRepeatsOneAction() throws {
    try add("a", guid)
    try edit("b")
    _ = try editor(at: start).delete(guid)
    var seen: [[String]] = []
    for _ in 0..<3 {
      try step(.undo)
      seen.append(try shown())
    }
    #expect(seen == [["b"], ["a"], []])
    #expect(try scratch.open(.reader).nextStep(.undo) == nil)
    for _ in 0..<3 {
      try step(.redo)
      seen.append(try shown())
    }
    #expect(seen[3...] == [["a"], ["b"], []])
    #expect(try scratch.open(.reader).nextStep(.redo) == nil)
    // Each undo and each redo is stored as one edit of the record, so it syncs like every other edit.
    #expect(try version() == 9)
  }

  @Test func undoKeepsRecordsThatWereChangedAfterTheAction() throws {
    try add("a", guid)
    try edit("b")
    let store = try scratch.open(.editor)
    let action = try #require(try store.actions(limit: 1).first)
    try edit("c")
    #expect(try store.outcome(of: action, .undo) == ActionOutcome(changed: [], left: [guid]))
    _ = try store.apply(.undo, to: action, at: start)
    #expect(try shown() == ["c"])
  }

  @Test func undoKeepsAnEntryToWhichRecordsWereAddedLater() throws {
    try add("a", guid)
    let action = try #require(try scratch.open(.reader).actions(limit: 1).first)
    try add("child", Digest.uuid(of: ["child"]), to: guid)
    #expect(try scratch.open(.reader).outcome(of: action, .undo).left == [guid])
  }

  @Test func undoingADeletionRestoresAnEntryWithItsRecords() throws {
    try add("a", guid)
    try add("child", Digest.uuid(of: ["child"]), to: guid)
    #expect(try editor(at: start).delete(guid).edits == 2)
    #expect(try shown() == [])
    try step(.undo)
    #expect(try shown() == ["a", "child"])
  }

  @Test func afterANewActionNothingCanBeRedone() throws {
    try add("a", guid)
    try step(.undo)
    try add("b", Digest.uuid(of: ["other"]))
    #expect(try scratch.open(.reader).nextStep(.redo) == nil)
  }

  @Test func theContentOfADeletedRecordIsKeptForThirtyDaysForUndo() throws {
    try add("secret", guid)
    _ = try editor(at: start).delete(guid)
    let other = Digest.uuid(of: ["other"])
    try add("x", other, at: start + ActionLog.keptSeconds - 1)
    #expect(try scratch.rows("SELECT fields FROM action_state").contains { $0.contains("secret") })
    _ = try editor(at: start + ActionLog.keptSeconds).edit(other) { $0.fields["text"] = .text("y") }
    #expect(try !scratch.rows("SELECT fields FROM action_state").contains { $0.contains("secret") })
    try step(.undo)
    try step(.undo)
    #expect(try scratch.open(.reader).nextStep(.undo) == nil)
    #expect(try scratch.number("SELECT deleted FROM record WHERE guid = '\(guid)'") == 1)
  }

  /// The database accepts a restored record only if its content equals the content that this store kept from
  /// before the deletion.
  @Test func aDeletedRecordCanBeRestoredOnlyWithItsFormerContent() throws {
    try add("a", guid)
    _ = try editor(at: start).delete(guid)
    let revive = { (text: String) in
      "UPDATE record SET deleted = 0, fields = '{\"text\":\"\(text)\"}', version = version + 1"
    }
    for role in [StoreRole.editor, .importer] {
      #expect(
        try scratch.refusal(role, revive("b")) == "only a resolution or an undo brings a deleted record back")
    }
    #expect(try scratch.refusal(.editor, revive("a")) == nil)
  }

  @Test func hidingAndShowingAReadingCanBeUndone() throws {
    try add("a", guid)
    func set(_ isHidden: Bool) throws {
      let record = try #require(try scratch.open(.reader).records(guidPrefix: guid).first)
      #expect(
        try WithdrawalEditor(scratch.open(.editor), at: start).set(record, isHidden: isHidden, reason: ""))
    }
    try set(true)
    try step(.undo)
    #expect(try shown() == ["a"])
    try step(.redo)
    #expect(try shown() == [])
    try set(false)
    try step(.undo)
    #expect(try shown() == [])
    try step(.undo)
    #expect(try shown() == ["a"])
    // After the undo, the withdrawal record exists but hides nothing. It can hide the reading again.
    try set(true)
    #expect(try shown() == [])
  }

  @Test func aReadingOfAnUndoneImportStaysHiddenWhenItsHidingIsUndone() throws {
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100), at: Make.noon)]))
    let store = try scratch.open(.editor)
    _ = try store.undo(1, group: guid, at: start)
    let hidden = "SELECT count(*) FROM withdrawn"
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var found: StoredReading?
    try store.forEachItem(filter) { if case .reading(let reading) = $0 { found = reading } }
    let reading = try #require(found)
    #expect(try WithdrawalEditor(store, at: start).set(reading, isHidden: true, reason: ""))
    try step(.undo)
    #expect(try scratch.number(hidden) == 1)
    _ = try store.redo(1, at: start)
    #expect(try scratch.number(hidden) == 0)
  }

  @Test func importsAndTypedActionsAreUndoneInReverseOrder() throws {
    try add("a", guid)
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100), at: Make.noon)]))
    #expect(try scratch.open(.reader).nextStep(.undo) == .ingest(1))
    try edit("b")
    try step(.undo)
    #expect(try scratch.open(.reader).nextStep(.undo) == .ingest(1))
    _ = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["g"]), at: start)
    try step(.undo)
    #expect(try shown() == [])
    try step(.redo)
    #expect(try scratch.open(.reader).nextStep(.redo) == .ingest(1))
  }
}
