// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests that the provenance of a record is stored once and that no later write changes it.
@Suite struct StoredProvenanceTests {
  private let scratch: ScratchStore
  private static let columns = "SELECT provenance_format, provenance_source, version FROM record"
  private static let stays = "the provenance of a record never changes"

  init() throws { scratch = try ScratchStore() }

  private func importFood(_ grams: Double = 30, source: String = "app", generatedAt: Int64 = 10) throws {
    var record = Make.record(["carbs": .number(grams)], sourceID: "1")
    record.source = source
    try scratch.ingest(Make.batch([record]), format: "diary", generatedAt: generatedAt)
  }

  /// Adds a copy of a record without provenance, like a record from a protocol that does not transfer
  /// provenance.
  private func forget() throws {
    try importFood()
    let guid = Digest.uuid(of: ["record", "diary", "1"])
    let content = "device_time, utc_offset, offset_source, fields, imported, ingest"
    let sql =
      "INSERT INTO record (guid, kind, \(content)) SELECT '\(Digest.uuid(of: ["other"]))', kind, \(content) FROM record"
    #expect(try scratch.refusal(.importer, sql) == nil)
    #expect(try scratch.rows("SELECT guid FROM record WHERE provenance_format IS NOT NULL") == [guid])
  }

  @Test func anImportedRecordHasItsFormatAndItsSource() throws {
    try importFood()
    #expect(try scratch.rows(Self.columns) == ["diary app 1"])
    let view = "SELECT provenance_format, provenance_source FROM records"
    #expect(try scratch.rows(view) == ["diary app"])
    let known = Provenance(format: "diary", source: "app")
    #expect(try scratch.open(.reader).records(guidPrefix: "").map(\.provenance) == [known])
    #expect(try scratch.open(.sync).sync { try $0.allRecords().map(\.state.provenance) } == [known])
  }

  @Test func recordsStoredAtTheEndOfAnInputHaveTheirProvenance() throws {
    let rows = [10.0, 20].map { grams in
      var row = Make.record(["carbs": .number(grams)])
      row.source = "app \(grams)"
      return row
    }
    try scratch.ingest(Make.batch([rows[0]]), format: "diary", generatedAt: 10)
    // The row with 20 g matches no stored record. So its record is added when the whole input has been read.
    try scratch.ingest(Make.batch([rows[1], rows[0]]), format: "diary", generatedAt: 20)
    #expect(
      try scratch.rows("SELECT provenance_format, provenance_source FROM record ORDER BY 2")
        == ["diary app 10.0", "diary app 20.0"])
  }

  @Test func aTypedRecordHasGlucoportAsItsFormat() throws {
    let editor = RecordEditor(try scratch.open(.editor), at: 5)
    let draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: 1000), placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["text": .text("a")]))
    let record = try editor.add(draft, guid: Digest.uuid(of: ["a"])).record
    #expect(record.provenance == .typed && Provenance.typed.format == "glucoport")
    #expect(try editor.edit(record.guid) { $0.fields["text"] = .text("b") }.record.provenance == .typed)
    #expect(try editor.delete(record.guid).record.provenance == .typed)
    #expect(try scratch.rows("\(Self.columns) WHERE deleted = 1") == ["glucoport  3"])
  }

  @Test func timeZoneAndHidingRecordsHaveNoProvenance() throws {
    let store = try scratch.open(.editor)
    _ = try store.setTimezone(LogbookZone(name: "Europe/Berlin"), at: 5)
    _ = try WithdrawalEditor(store, at: 5).hide(Make.device, since: nil, until: nil, reason: "", guid: "w")
    #expect(try scratch.number("SELECT count(*) FROM record") > 0)
    #expect(try scratch.number("SELECT count(*) FROM record WHERE provenance_format IS NOT NULL") == 0)
  }

  @Test(arguments: [StoreRole.importer, .editor, .resolver, .sync])
  func aKnownProvenanceOfARecordNeverChanges(_ role: StoreRole) throws {
    try importFood()
    if role == .sync {
      #expect(try scratch.refusal(.sync, "UPDATE record SET version_synced = version") == nil)
    }
    for change in [
      "provenance_format = 'x'", "provenance_source = 'x'", "provenance_source = ''",
      "provenance_format = NULL, provenance_source = NULL",
    ] {
      let bump = role == .sync ? "" : ", version = version + 1"
      let refusal = try scratch.refusal(role, "UPDATE record SET \(change)\(bump)")
      #expect(refusal != nil, "\(change)")
      if role == .importer || role == .sync { #expect(refusal == Self.stays) }
    }
    #expect(try scratch.rows(Self.columns) == ["diary app 1"])
  }

  @Test func onlyImportAndSyncCanAddAMissingProvenance() throws {
    try forget()
    let learn = "provenance_format = 'x', provenance_source = ''"
    let unknown = "WHERE provenance_format IS NULL"
    for role in [StoreRole.editor, .resolver] {
      #expect(
        try scratch.refusal(role, "UPDATE record SET \(learn), version = version + 1 \(unknown)")
          == "only imports and sync learn where a record came from")
    }
    // The added provenance makes the record pending, so that other nodes get the provenance, too.
    #expect(
      try scratch.refusal(.importer, "UPDATE record SET \(learn) \(unknown)")
        == "a change of a record raises its version")
    #expect(
      try scratch.refusal(.importer, "UPDATE record SET \(learn), version = version + 1 \(unknown)") == nil)
    #expect(try scratch.refusal(.importer, "UPDATE record SET \(learn), version = version + 1") == Self.stays)
  }

  @Test(arguments: [
    "provenance_format = 'x'", "provenance_source = ''", "provenance_format = '', provenance_source = ''",
    "provenance_format = '\(String(repeating: "x", count: 65))', provenance_source = ''",
    "provenance_format = 'x', provenance_source = '\(String(repeating: "x", count: 129))'",
  ])
  func theDatabaseRefusesPartialOrTooLongProvenance(_ change: String) throws {
    try forget()
    let refusal = try scratch.refusal(
      .sync, "UPDATE record SET \(change) WHERE provenance_format IS NULL")
    #expect(refusal?.hasPrefix("CHECK constraint failed") == true)
  }

  @Test func aRecordChangedAtItsSourceKeepsTheProvenance() throws {
    try importFood()
    try importFood(40, source: "another app", generatedAt: 20)
    #expect(try scratch.rows("\(Self.columns) WHERE fields LIKE '%40%'") == ["diary app 2"])
  }

  @Test(arguments: [30.0, 40])
  func importingAKnownRecordAddsItsMissingProvenance(_ grams: Double) throws {
    let guid = Digest.uuid(of: ["record", "diary", "1"])
    var unknown = Make.record(["carbs": .number(30)])
    unknown.guid = guid
    try scratch.ingest(Make.batch([unknown]), format: "glucoport", generatedAt: 10)
    #expect(try scratch.rows(Self.columns) == ["NULL NULL 1"])
    // If `grams` differs from the stored 30 g, the import changes the amount as well, which raises the
    // version once more.
    let version = grams == 30 ? 2 : 3
    for _ in 1...2 {
      try importFood(grams)
      #expect(try scratch.rows(Self.columns) == ["diary app \(version)"])
    }
  }

  @Test func aDeletedRecordGetsNoProvenance() throws {
    var unknown = Make.record(["carbs": .number(30)])
    unknown.guid = Digest.uuid(of: ["record", "diary", "1"])
    try scratch.ingest(Make.batch([unknown]), format: "glucoport", generatedAt: 10)
    #expect(
      try scratch.refusal(.editor, "UPDATE record SET deleted = 1, fields = '{}', version = 2") == nil)
    try importFood()
    #expect(try scratch.rows(Self.columns) == ["NULL NULL 2"])
  }

  @Test func aStoreExportStatesTheProvenanceOfItsRecords() throws {
    var stated = Make.record(["carbs": .number(30)])
    (stated.guid, stated.source) = (Digest.uuid(of: ["x"]), "not this one")
    stated.provenance = Provenance(format: "mysugr", source: "pump")
    try scratch.ingest(Make.batch([stated]), format: "glucoport")
    #expect(try scratch.rows(Self.columns) == ["mysugr pump 1"])
  }
}
