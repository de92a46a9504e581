// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import LogbookStore

@Suite struct RecordEditorTests {
  private static let columns = "version, version_synced, deleted, fields"
  private let scratch: ScratchStore
  private let editor: RecordEditor

  init() throws {
    scratch = try ScratchStore()
    editor = RecordEditor(try scratch.open(.editor), at: 5000)
  }

  private func draft(
    _ fields: [String: FieldValue] = ["units": .number(4)], kind: RecordKind = .insulin, entry: String? = nil
  ) -> RecordDraft {
    var draft = RecordDraft(
      kind: kind, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(fields))
    draft.entryGuid = entry
    return draft
  }

  private func state(_ guid: String) throws -> [String] {
    try scratch.rows("SELECT \(Self.columns) FROM record WHERE guid = '\(guid)'")
  }

  private func category(_ work: () throws -> RecordEdit) throws -> FailureCategory? {
    do {
      _ = try work()
      return nil
    } catch let failure as Failure {
      return failure.category
    }
  }

  @Test func aNewRecordHasVersionOneAndIsNotSynced() throws {
    let edit = try editor.add(draft(), guid: "a")
    #expect(edit.edits == 1)
    #expect(edit.record.fields == #"{"units":4}"#)
    #expect(try state("a") == [#"1 0 0 {"units":4}"#])
    #expect(try scratch.rows("SELECT imported, ingest, sent, base FROM record") == ["NULL NULL NULL NULL"])
  }

  @Test(arguments: ["a\u{0}b", String(repeating: "x", count: (1 << 20) + 1)])
  func recordContentThatEveryRemoteRefusesIsNotStored(_ text: String) throws {
    #expect(
      try category { try editor.add(draft(["text": .text(text)], kind: .note), guid: "a") } == .badInput)
    #expect(try state("a").isEmpty)
    _ = try editor.add(draft(["text": .text("short")], kind: .note), guid: "a")
    #expect(try category { try editor.edit("a") { $0.fields["text"] = .text(text) } } == .badInput)
    #expect(try state("a") == [#"1 0 0 {"text":"short"}"#])
  }

  @Test func eachEditIncreasesTheVersionOfARecordByOne() throws {
    _ = try editor.add(draft(), guid: "a")
    for version in 2...20 {
      let edit = try editor.edit("a") { $0.fields["units"] = .number(Double(version)) }
      #expect(edit.record.version == version)
    }
    #expect(try state("a") == [#"20 0 0 {"units":20}"#])
  }

  @Test func oneEditCanChangeEveryPartOfARecord() throws {
    _ = try editor.add(draft(kind: .note), guid: "e")
    _ = try editor.add(draft(), guid: "a")
    _ = try editor.edit("a") { draft in
      draft.fields["text"] = .text("late")
      draft.deviceTime = DeviceTime(seconds: 60)
      draft.placement = Placement(utcOffset: 0, source: .stated)
      draft.entryGuid = "e"
    }
    #expect(
      try scratch.rows(
        "SELECT version, device_time, utc_offset, offset_source, entry_guid, fields FROM record WHERE guid = 'a'"
      ) == [#"2 60 0 0 e {"text":"late","units":4}"#])
  }

  @Test func anEditThatChangesNothingDoesNotIncreaseTheVersion() throws {
    _ = try editor.add(draft(), guid: "a")
    let edit = try editor.edit("a") { $0.fields["units"] = .number(4) }
    #expect(edit.edits == 0)
    #expect(try state("a") == [#"1 0 0 {"units":4}"#])
  }

  @Test func anEditReceivesTheCurrentContentOfTheRecord() throws {
    _ = try editor.add(draft(), guid: "a")
    let other = RecordEditor(try scratch.open(.editor), at: 5000)
    _ = try other.edit("a") { $0.fields["text"] = .text("theirs") }
    _ = try editor.edit("a") { $0.fields["units"] = .number(5) }
    #expect(try state("a") == [#"3 0 0 {"text":"theirs","units":5}"#])
  }

  @Test func aFailedEditLeavesTheRecordUnchanged() throws {
    _ = try editor.add(draft(), guid: "a")
    let refused = try category {
      try editor.edit("a") { draft in
        draft.fields["units"] = .number(9)
        throw Failure(.usage, "no")
      }
    }
    #expect(refused == .usage)
    #expect(try state("a") == [#"1 0 0 {"units":4}"#])
  }

  @Test func aRecordIDCanBeUsedOnlyOnce() throws {
    _ = try editor.add(draft(), guid: "a")
    #expect(try category { try editor.add(draft(["units": .number(9)]), guid: "a") } == .badInput)
    #expect(try state("a") == [#"1 0 0 {"units":4}"#])
  }

  @Test func deletingARecordIsAnEditThatRemovesItsContent() throws {
    _ = try editor.add(draft(["text": .text("private")]), guid: "a")
    let edit = try editor.delete("a")
    #expect(edit.edits == 1)
    #expect(edit.record.isDeleted)
    #expect(try state("a") == ["2 0 1 {}"])
    #expect(
      try scratch.rows("SELECT guid, kind, device_time FROM record") == ["a insulin \(Make.noon)"])
  }

  @Test func deletingADeletedRecordDoesNotIncreaseTheVersion() throws {
    _ = try editor.add(draft(), guid: "a")
    _ = try editor.delete("a")
    #expect(try editor.delete("a").edits == 0)
    #expect(try state("a") == ["2 0 1 {}"])
  }

  @Test func deletingAnEntryAlsoDeletesItsRecords() throws {
    for (guid, entry) in [("e", nil), ("c1", "e"), ("c2", "e"), ("other", nil)] {
      _ = try editor.add(draft(entry: entry), guid: guid)
    }
    _ = try editor.edit("c2") { $0.fields["units"] = .number(1) }
    _ = try editor.delete("c1")
    #expect(try editor.delete("e").edits == 2)
    #expect(
      try scratch.rows("SELECT guid, version, deleted FROM record ORDER BY guid")
        == ["c1 2 1", "c2 3 1", "e 2 1", "other 1 0"])
  }

  @Test func deeplyNestedRecordsOfAnImportAreDeletedWithTheirEntry() throws {
    for guid in ["a", "b", "c"] { _ = try editor.add(draft(), guid: guid) }
    let circle =
      "UPDATE record SET version = version + 1, entry_guid = CASE guid WHEN 'a' THEN 'c' "
      + "WHEN 'b' THEN 'a' ELSE 'b' END"
    #expect(try scratch.refusal(.importer, circle) == nil)
    #expect(try editor.delete("a").edits == 3)
    #expect(try scratch.rows("SELECT version, deleted FROM record") == ["3 1", "3 1", "3 1"])
  }

  @Test func aDeletedRecordCannotBeEditedAndNoRecordCanBeAddedToIt() throws {
    _ = try editor.add(draft(), guid: "a")
    _ = try editor.delete("a")
    #expect(try category { try editor.edit("a") { $0.fields["units"] = .number(1) } } == .missingInput)
    #expect(try category { try editor.add(draft(entry: "a"), guid: "b") } == .missingInput)
    _ = try editor.add(draft(), guid: "b")
    #expect(try category { try editor.edit("b") { $0.entryGuid = "a" } } == .missingInput)
    #expect(try state("a") == ["2 0 1 {}"])
    #expect(try state("b") == [#"1 0 0 {"units":4}"#])
  }

  @Test func recordsCannotBeNestedUnderARecordOfAnEntry() throws {
    for (guid, entry) in [("e", nil), ("c", "e"), ("x", nil)] {
      _ = try editor.add(draft(entry: entry), guid: guid)
    }
    #expect(try category { try editor.add(draft(entry: "c"), guid: "d") } == .usage)
    #expect(try category { try editor.edit("e") { $0.entryGuid = "x" } } == .usage)
    #expect(try category { try editor.edit("x") { $0.entryGuid = "x" } } == .usage)
    #expect(try scratch.number("SELECT count(*) FROM record WHERE version > 1") == 0)
    #expect(try editor.edit("c") { $0.entryGuid = nil }.edits == 1)
    #expect(try editor.edit("c") { $0.entryGuid = "x" }.edits == 1)
  }

  @Test func aMissingRecordCannotBeEditedDeletedOrGetRecords() throws {
    #expect(try category { try editor.edit("a") { _ in } } == .missingInput)
    #expect(try category { try editor.delete("a") } == .missingInput)
    #expect(try category { try editor.add(draft(entry: "a"), guid: "b") } == .missingInput)
    #expect(try scratch.number("SELECT count(*) FROM record") == 0)
  }

  @Test func aRecordInConflictOrRefusedCanBeEdited() throws {
    _ = try editor.add(draft(), guid: "a")
    let standing =
      "UPDATE record SET conflict = '{}', conflict_revision = 'r', quarantine = 'q', quarantined_version = 1"
    #expect(try scratch.refusal(.sync, standing) == nil)
    _ = try editor.edit("a") { $0.fields["units"] = .number(6) }
    #expect(try state("a") == [#"2 0 0 {"units":6}"#])
    _ = try editor.delete("a")
    #expect(
      try scratch.rows("SELECT version, deleted, conflict, quarantine, quarantined_version FROM record")
        == ["3 1 {} q 1"])
  }

  @Test func anEditDuringAnUploadStaysPending() throws {
    _ = try editor.add(draft(), guid: "a")
    #expect(try scratch.refusal(.sync, "UPDATE record SET sent_version = 1, sent = '{}'") == nil)
    _ = try editor.delete("a")
    #expect(try scratch.refusal(.sync, "UPDATE record SET version_synced = 1") == nil)
    #expect(
      try scratch.number(
        "SELECT count(*) FROM record INDEXED BY record_pending "
          + "WHERE version > version_synced AND conflict IS NULL "
          + "AND (quarantined_version IS NULL OR quarantined_version < version)") == 1)
  }

  @Test(arguments: [StoreRole.reader, .sync]) func onlyTheEditorRoleMayEditRecords(_ role: StoreRole) throws {
    _ = try editor.add(draft(), guid: "a")
    let wrong = RecordEditor(try scratch.open(role), at: 5000)
    #expect(try category { try wrong.edit("a") { $0.fields["units"] = .number(5) } } != nil)
    #expect(try state("a") == [#"1 0 0 {"units":4}"#])
  }
}
