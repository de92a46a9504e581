// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests that a store keeps records of each kind that the program knows, and of kinds that only newer
/// programs know.
@Suite struct StoredRecordKindTests {
  private static let guid = "00000000-0000-4000-8000-000000000001"
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// A value for each field that records of the kind can have.
  private func fields(_ kind: RecordKind) -> RecordFields {
    var fields = RecordFields()
    for field in kind.fields {
      fields[field.name] =
        switch field.content {
        case .number, .byteCount: .number(7)
        case .text: .text("a text")
        case .choice(let words): .text(words[0])
        case .words: .words(["a"])
        case .flag: .flag(true)
        case .digest: .text(String(repeating: "a", count: 64))
        }
    }
    return fields
  }

  private func listed(_ filter: ItemFilter = ItemFilter()) throws -> [String] {
    var kinds: [String] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .record(let record) = item { kinds.append(record.kind.rawValue) }
    }
    return kinds
  }

  /// Stores a pulled record of a kind that only a newer program knows.
  private func adoptUnknown() throws -> RemoteRecord {
    let state = RecordState(
      kind: try #require(RecordKind(rawValue: "sleep")), entryGuid: nil,
      deviceTime: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .stated),
      fields: RecordFields(["deep": .number(90), "phases": .words(["a", "b"])]), isDeleted: false)
    let remote = RemoteRecord(guid: Self.guid, revision: "1.a", state: state)
    try scratch.open(.sync).sync { try $0.adopt(remote, over: nil) }
    return remote
  }

  @Test(arguments: RecordKind.listed)
  func eachRecordKindIsAddedListedEditedAndDeleted(_ kind: RecordKind) throws {
    let editor = RecordEditor(try scratch.open(.editor), at: 5000)
    let draft = RecordDraft(
      kind: kind, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: fields(kind))
    let added = try editor.add(draft, guid: "a")
    #expect(added.record.kind == kind && added.record.fields == fields(kind).json)
    #expect(try listed() == [kind.rawValue])
    #expect(try editor.edit("a") { $0.fields["text"] = .text("edited") }.record.version == 2)
    #expect(try editor.delete("a").record.isDeleted)
    #expect(try listed().isEmpty)
  }

  @Test func aRecordOfAnUnknownKindIsKeptUnchanged() throws {
    let remote = try adoptUnknown()
    let record = try #require(try scratch.open(.sync).sync { try $0.record(Self.guid) })
    #expect(record.state == remote.state && record.base == remote.state && !record.isPending)
  }

  @Test func aRecordOfAnUnknownKindIsListedOnlyIfAllKindsAreRequested() throws {
    _ = try adoptUnknown()
    #expect(try listed().isEmpty)
    var filter = ItemFilter()
    filter.includesUnlistedKinds = true
    #expect(try listed(filter) == ["zone", "sleep"])
  }

  @Test func aRecordOfAnUnknownKindCannotBeEditedOrDeleted() throws {
    _ = try adoptUnknown()
    let editor = RecordEditor(try scratch.open(.editor), at: 5000)
    let works: [() throws -> RecordEdit] = [
      { try editor.edit(Self.guid) { $0.fields["deep"] = .number(1) } }, { try editor.delete(Self.guid) },
    ]
    for work in works {
      #expect(#expect(throws: Failure.self) { try work() }?.category == .configuration)
    }
    #expect(try scratch.rows("SELECT version, deleted FROM record") == ["1 0"])
  }

  /// An entry is deleted with all its records, even with a record of an unknown kind.
  @Test func aRecordOfAnUnknownKindIsDeletedWithItsEntry() throws {
    let editor = RecordEditor(try scratch.open(.editor), at: 5000)
    let draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(["text": .text("a")]))
    _ = try editor.add(draft, guid: "e")
    _ = try adoptUnknown()
    try scratch.open(.sync).sync { store in
      var record = try #require(try store.record(Self.guid)).state
      record.entryGuid = "e"
      try store.adopt(
        RemoteRecord(guid: Self.guid, revision: "2.a", state: record), over: try store.record(Self.guid))
    }
    #expect(try editor.delete("e").edits == 2)
  }

  @Test(arguments: ["sleep", "a", "-", String(repeating: "z", count: 32)])
  func theDatabaseAcceptsEveryValidRecordKindName(_ kind: String) throws {
    #expect(try scratch.refusal(.importer, insert(kind)) == nil)
  }

  @Test(arguments: ["", "Sleep", "a b", "a1", "é", String(repeating: "z", count: 33)])
  func theDatabaseRefusesInvalidRecordKindNames(_ kind: String) throws {
    #expect(try scratch.refusal(.importer, insert(kind))?.contains("CHECK") == true)
  }

  private func insert(_ kind: String) -> String {
    """
    INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields)
    VALUES ('a', '\(kind)', 0, 0, 0, '{}')
    """
  }
}
