// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct ReadingRulesTests {
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
  }

  @Test(arguments: [StoreRole.importer, .editor, .sync]) func theDatabaseRefusesToDeleteAReading(
    _ role: StoreRole
  ) throws {
    #expect(try scratch.refusal(role, "DELETE FROM reading") == "readings are never deleted")
    #expect(try scratch.number("SELECT count(*) FROM reading") == 1)
  }

  @Test(arguments: [
    "partition", "series", "position", "value_bucket", "occurrence", "device_time", "value", "unit",
    "range_flag",
    "threshold", "marks", "ingest",
  ])
  func theDatabaseRefusesToChangeColumnsOfAReading(_ column: String) throws {
    for role in [StoreRole.importer, .editor, .sync] {
      let refusal = try scratch.refusal(role, "UPDATE reading SET \(column) = 1")
      #expect(refusal == "readings are immutable", "\(column) as \(role)")
    }
  }

  @Test func everyColumnOfAReadingIsCoveredByARuleTest() throws {
    let free = ["derived_offset", "offset_source", "uploaded", "zone"]
    let names = try scratch.rows("SELECT name FROM pragma_table_info('reading')").filter {
      !free.contains($0)
    }
    let rules = try scratch.rows(
      "SELECT sql FROM sqlite_schema WHERE name IN ('reading_is_immutable', 'reading_keeps_its_time')"
    ).joined()
    for name in names { #expect(rules.contains(name)) }
  }

  @Test(arguments: [StoreRole.importer, .editor]) func onlySyncMayMarkReadingsAsUploaded(_ role: StoreRole)
    throws
  {
    #expect(try scratch.refusal(role, "UPDATE reading SET uploaded = 1") == "only sync writes uploaded")
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1") == nil)
    #expect(try scratch.number("SELECT uploaded FROM reading") == 1)
  }

  @Test func aReadingIsQueuedAgainOnlyWithAReason() throws {
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1") == nil)
    let again = "UPDATE reading SET uploaded = 0"
    #expect(try scratch.refusal(.sync, again) == "a requeue needs its reason")
    let closed = "INSERT INTO requeue (at, reason, is_open) VALUES (1, 'new remote', 0)"
    #expect(try scratch.refusal(.sync, closed) == nil)
    #expect(try scratch.refusal(.sync, again) == "a requeue needs its reason")
    #expect(try scratch.refusal(.sync, "UPDATE requeue SET is_open = 1") == nil)
    #expect(try scratch.refusal(.sync, again) == nil)
    #expect(try scratch.refusal(.sync, "DELETE FROM requeue") == "the reasons of requeues are never deleted")
  }

  @Test func onlyADerivedUTCOffsetCanBeRecalculated() throws {
    #expect(
      try scratch.refusal(.editor, "UPDATE reading SET derived_offset = 3600, offset_source = 2") == nil)
    // A stated offset cannot become a derived one, and a derived offset cannot become a stated one.
    for change in ["offset_source = 0", "derived_offset = NULL", "derived_offset = 86400"] {
      let refusal = try scratch.refusal(.editor, "UPDATE reading SET \(change)")
      #expect(refusal?.contains("CHECK") == true, "\(change)")
    }
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(90), source: .stated)]))
    for change in ["derived_offset = 0", "derived_offset = 0, offset_source = 1", "offset_source = 1"] {
      let refusal = try scratch.refusal(.editor, "UPDATE reading SET \(change) WHERE stated_offset = 7200")
      #expect(refusal?.contains("CHECK") == true, "\(change)")
    }
    let stated = try scratch.refusal(.editor, "UPDATE reading SET stated_offset = 0")
    #expect(stated == "readings are immutable")
  }

  @Test func theEditorRoleCannotStoreReadings() throws {
    let copy = """
      INSERT INTO reading SELECT partition, position + 1, series, value_bucket, occurrence, device_time, stated_offset,
        derived_offset, offset_source, value, unit, range_flag, threshold, marks, ingest, uploaded, zone FROM reading
      """
    #expect(try scratch.refusal(.editor, copy) == "only imports and sync store readings")
    #expect(try scratch.refusal(.reader, copy)?.contains("readonly") == true)
    #expect(try scratch.refusal(.importer, copy) == nil)
  }

  @Test(arguments: [
    "occurrence = -1", "derived_offset = 86400", "derived_offset = -86400", "derived_offset = NULL",
    "stated_offset = 0", "offset_source = 6", "offset_source = 0", "offset_source = -1", "value = NULL",
    "range_flag = 1", "range_flag = 3", "range_flag = -1", "unit = 2", "unit = -1", "uploaded = 2",
    "uploaded = -1", "series = 'x'", "partition = NULL", "position = NULL", "value_bucket = NULL",
  ])
  func theDatabaseRefusesImpossibleReadings(_ change: String) throws {
    let columns = try scratch.rows("SELECT name FROM pragma_table_info('reading')")
    let parts = change.split(separator: " = ").map(String.init)
    let values = columns.map { $0 == parts[0] ? parts[1] : $0 == "position" ? "position + 1" : $0 }
    let refusal = try scratch.refusal(
      .importer, "INSERT INTO reading SELECT \(values.joined(separator: ",")) FROM reading")
    let reason = try #require(refusal)
    #expect(["CHECK", "NOT NULL", "cannot store"].contains { reason.contains($0) }, "\(reason)")
  }
}
