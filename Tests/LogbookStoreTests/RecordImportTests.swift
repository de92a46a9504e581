// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

@Suite struct RecordImportTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func counts(_ counts: IngestCounts) -> [Int] {
    [
      counts.newRecords, counts.knownRecords, counts.repeatedRecords, counts.updatedRecords,
      counts.keptRecords,
    ]
  }

  private func food(_ grams: Double, _ sourceID: String = "1") -> IngestBatch {
    Make.batch([Make.record(["carbs": .number(grams)], sourceID: sourceID)])
  }

  @Test func aRecordIsNewInTheFirstImportAndKnownInTheNext() throws {
    #expect(counts(try scratch.ingest(food(30), generatedAt: 10)) == [1, 0, 0, 0, 0])
    #expect(counts(try scratch.ingest(food(30), generatedAt: 20)) == [0, 1, 0, 0, 0])
    #expect(try scratch.rows("SELECT version, version_synced, ingest FROM record") == ["1 0 1"])
  }

  /// After a batch that failed, an import still stores the zone that a person gave.
  @Test func theRecordsOfAFailedBatchAreNotStoredLater() throws {
    try scratch.ingest(food(30), generatedAt: 10)
    try scratch.open(.importer).queue.inDatabase { database in
      try IngestWriter.requireTables(database)
      let writer = try RecordWriter(database, ingest: 1, format: "test")
      // The table refuses this time.
      let invalid = ImportedRecord(
        kind: .food, at: DeviceTime(seconds: 300_000_000_000),
        placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields(["carbs": .number(50)]),
        sourceID: "invalid", line: 1)
      try database.inTransaction {
        #expect(throws: DatabaseError.self) { _ = try writer.write(food(40, "2").records + [invalid]) }
        return .rollback
      }
      try database.inTransaction {
        let outcome = try writer.write(food(60, "3").records)
        #expect(outcome.new == 1)
        return .commit
      }
    }
    #expect(
      try scratch.rows("SELECT json_extract(fields, '$.carbs') FROM record ORDER BY 1") == ["30", "60"])
  }

  @Test func aLaterExportUpdatesRecordsThatWereNotEdited() throws {
    try scratch.ingest(food(30), generatedAt: 10)
    #expect(counts(try scratch.ingest(food(40), generatedAt: 20)) == [0, 0, 0, 1, 0])
    #expect(
      try scratch.rows("SELECT fields, version, version_synced, ingest FROM record") == [
        #"{"carbs":40} 2 0 2"#
      ])
    #expect(counts(try scratch.ingest(food(50), generatedAt: 30)) == [0, 0, 0, 1, 0])
  }

  @Test func anOlderExportChangesNoRecord() throws {
    try scratch.ingest(food(30), generatedAt: 10)
    #expect(counts(try scratch.ingest(food(40), generatedAt: 5)) == [0, 0, 0, 0, 1])
    #expect(try scratch.rows("SELECT fields, version FROM record") == [#"{"carbs":30} 1"#])
  }

  /// `grams` are the amounts that four exports of one diary have for the same meal. The person corrects the
  /// amount several times, and export 3 is the latest one.
  @Test(
    arguments: [[30, 20, 30, 30], [30, 20, 25, 30], [30, 30, 20, 20], [20, 30, 30, 30]] as [[Double]])
  func exportsInAnyOrderEndWithTheContentOfTheLatestOne(_ grams: [Double]) throws {
    let orders = [
      [2, 3, 0, 1], [0, 3, 2, 1], [0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [3, 0, 1, 2], [1, 3, 0, 2],
      [2, 0, 3, 1],
    ]
    for order in orders {
      let scratch = try ScratchStore()
      for index in order {
        try scratch.ingest(food(grams[index]), generatedAt: Int64(index + 1), digest: "\(index)")
      }
      #expect(try scratch.rows("SELECT fields FROM record") == ["{\"carbs\":\(Int(grams[3]))}"], "\(order)")
    }
  }

  /// The undone export was the latest one. While it is undone, an export with an earlier time decides.
  @Test func anUndoneExportDoesNotDecideTheContentOfARecord() throws {
    try scratch.ingest(food(30), generatedAt: 10)
    try scratch.ingest(food(30), generatedAt: 30)
    #expect(counts(try scratch.ingest(food(20), generatedAt: 20)) == [0, 0, 0, 0, 1])
    _ = try scratch.open(.editor).undo(2, group: Digest.uuid(of: ["undo"]), at: 40)
    #expect(try scratch.rows("SELECT fields FROM record WHERE kind = 'food'") == [#"{"carbs":20}"#])
    #expect(counts(try scratch.ingest(food(20), generatedAt: 20)) == [0, 1, 0, 0, 0])
    #expect(counts(try scratch.ingest(food(25), generatedAt: 25)) == [0, 0, 0, 1, 0])
  }

  @Test func theFileTimeDecidesWhichOfTwoExportsUpdatesARecord() throws {
    try scratch.ingest(food(30), generatedAt: 10, modifiedAt: 5)
    #expect(counts(try scratch.ingest(food(40), generatedAt: 10, modifiedAt: 4)) == [0, 0, 0, 0, 1])
    #expect(counts(try scratch.ingest(food(40), generatedAt: 10, modifiedAt: 6)) == [0, 0, 0, 1, 0])
  }

  @Test(arguments: [nil, 5] as [Int64?])
  func amongExportsOfEqualAgeTheOneImportedLastIsKept(_ modifiedAt: Int64?) throws {
    func importing(_ grams: Double) throws -> [Int] {
      counts(
        try scratch.ingest(food(grams), generatedAt: 10, modifiedAt: modifiedAt, digest: "\(grams)"))
    }
    #expect(try importing(30) == [1, 0, 0, 0, 0])
    #expect(try importing(40) == [0, 0, 0, 1, 0])
    // An export that is imported again does not become later than an export imported after it.
    #expect(try importing(30) == [0, 0, 0, 0, 1])
    #expect(try importing(40) == [0, 1, 0, 0, 0])
    #expect(try scratch.rows("SELECT fields FROM record") == [#"{"carbs":40}"#])
  }

  @Test func amongTwoRowsWithOneIDInOneInputTheFirstIsKept() throws {
    try scratch.ingest(food(30), food(40), generatedAt: 10)
    #expect(try scratch.rows("SELECT fields FROM record") == [#"{"carbs":30}"#])
  }

  /// An input from a pipe has no file time. Its import begins at second 1000 in a `ScratchStore`, and this
  /// time is used instead.
  @Test(arguments: [(900, 40), (1100, 30)] as [(Int64, Int)])
  func anExportFromAPipeUpdatesRecordsByTheTimeOfItsImport(_ modifiedAt: Int64, _ grams: Int) throws {
    try scratch.ingest(food(30), generatedAt: 10, modifiedAt: modifiedAt)
    try scratch.ingest(food(40), generatedAt: 10)
    #expect(try scratch.rows("SELECT fields FROM record") == [#"{"carbs":\#(grams)}"#])
  }

  @Test(arguments: [(900, 30), (1100, 40)] as [(Int64, Int)])
  func aFileUpdatesARecordFromAPipeIfItWasWrittenAfterThatImport(_ modifiedAt: Int64, _ grams: Int) throws {
    try scratch.ingest(food(30), generatedAt: 10)
    try scratch.ingest(food(40), generatedAt: 10, modifiedAt: modifiedAt)
    #expect(try scratch.rows("SELECT fields FROM record") == [#"{"carbs":\#(grams)}"#])
  }

  @Test(arguments: ["fields = '{\"carbs\":99}'", "deleted = 1", "device_time = 7"])
  func locallyEditedRecordsAreKeptByALaterExport(_ edit: String) throws {
    try scratch.ingest(food(30), generatedAt: 10)
    #expect(try scratch.refusal(.editor, "UPDATE record SET \(edit), version = 2") == nil)
    let edited = try scratch.rows("SELECT fields, deleted, device_time, version FROM record")
    #expect(counts(try scratch.ingest(food(40), generatedAt: 20)) == [0, 0, 0, 0, 1])
    #expect(try scratch.rows("SELECT fields, deleted, device_time, version FROM record") == edited)
  }

  @Test func aDeletedRecordStaysDeletedWhenItsRowIsImportedAgain() throws {
    try scratch.ingest(food(30), generatedAt: 10)
    #expect(try scratch.refusal(.editor, "UPDATE record SET deleted = 1, version = 2") == nil)
    #expect(counts(try scratch.ingest(food(30), generatedAt: 20)) == [0, 0, 0, 0, 1])
    #expect(try scratch.rows("SELECT deleted, version FROM record") == ["1 2"])
  }

  @Test func aPulledRecordIsNotChangedByItsFirstImport() throws {
    let guid = Digest.uuid(of: ["record", "test", "1"])
    _ = try scratch.open()
    let pull = """
      INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields, version, version_synced)
      VALUES ('\(guid)', 'food', \(Make.noon), 7200, 1, '{"carbs":99}', 1, 1)
      """
    #expect(try scratch.refusal(.sync, pull) == nil)
    #expect(counts(try scratch.ingest(food(40), generatedAt: 20)) == [0, 0, 0, 0, 1])
  }

  @Test func equalRowsOfAnInputAreStoredOnceAndDifferentOnesSeparately() throws {
    let rows = [20.0, 30, 20].map { Make.record(["carbs": .number($0)]) }
    #expect(counts(try scratch.ingest(Make.batch(rows), generatedAt: 10)) == [2, 0, 1, 0, 0])
    #expect(counts(try scratch.ingest(Make.batch(rows), generatedAt: 20)) == [0, 2, 1, 0, 0])
    let apart = rows.map { Make.batch([$0]) }
    #expect(counts(try scratch.ingest(apart[0], apart[1], apart[2], generatedAt: 30)) == [0, 2, 1, 0, 0])
    #expect(try scratch.number("SELECT count(DISTINCT guid) FROM record") == 2)
  }

  @Test func aRecordRowIsIdentifiedByKindSubtypeOwnerAndTime() throws {
    var owned = Make.record(["units": .number(3)], kind: .insulin)
    owned.owner = "pump"
    let rows = [
      Make.record(["units": .number(3)], kind: .insulin), owned,
      Make.record(["units": .number(3), "subtype": .text("rapid")], kind: .insulin),
      Make.record(["units": .number(3)], kind: .insulin, at: Make.noon + 1),
      Make.record(["units": .number(3)]),
    ]
    #expect(counts(try scratch.ingest(Make.batch(rows))) == [5, 0, 0, 0, 0])
  }

  @Test func anImportedRecordWithReorderedTagsIsKnown() throws {
    func tagged(_ tags: [String]) -> IngestBatch {
      Make.batch([Make.record(["tags": .words(tags)], kind: .note)])
    }
    try scratch.ingest(tagged(["Lunch", "Home"]), generatedAt: 10)
    #expect(counts(try scratch.ingest(tagged(["Home", "Lunch"]), generatedAt: 20)) == [0, 1, 0, 0, 0])
  }

  @Test func anImportedRecordRefersToItsEntryByTheIDOfTheEntry() throws {
    var note = Make.record(["text": .text("x")], kind: .note, sourceID: "1-note")
    note.entrySourceID = "1"
    var batch = food(30)
    batch.records.insert(note, at: 0)
    try scratch.ingest(batch)
    #expect(
      try scratch.number(
        "SELECT count(*) FROM record c JOIN record e ON c.entry_guid = e.guid WHERE e.kind = 'food'")
        == 1)
  }

  @Test func anImportedRecordKeepsAStatedID() throws {
    var record = Make.record(["text": .text("x")], kind: .note)
    record.guid = "0b4d"
    record.entryGuid = "e1"
    record.deleted = true
    try scratch.ingest(Make.batch([record]))
    #expect(try scratch.rows("SELECT guid, entry_guid, deleted, fields FROM record") == ["0b4d e1 1 {}"])
  }
}
