// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct TimezoneTests {
  private let scratch: ScratchStore
  private let identity = "partition, position, series, value_bucket, occurrence, device_time, uploaded"

  init() throws {
    scratch = try ScratchStore()
    var zone = try LogbookZone(name: "Europe/Madrid")
    // One reading every seven hours for two years, with four clock changes and the change of the year.
    var readings = (0..<2500).map { index in
      let time = DeviceTime(seconds: Make.noon + Int64(index) * 25_200)
      return Reading(
        device: DeviceIndex(0), kind: .cbg, at: time, placement: zone.placement(of: time),
        Make.milligrams(100),
        line: 1)
    }
    readings.append(Make.reading(.smbg, Make.milligrams(90), source: .stated))
    var batch = Make.batch(readings)
    batch.records = [Make.record(["carbs": .number(30)])]
    try scratch.ingest(batch)
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1 WHERE position % 2 = 0") == nil)
  }

  private func identities() throws -> [String] { try scratch.rows("SELECT \(identity) FROM reading") }
  private func all() throws -> [String] {
    try scratch.rows("SELECT * FROM reading") + scratch.rows("SELECT * FROM record")
  }

  @Test func aTimeZoneChangeChangesOnlyDerivedOffsetsAndNoIdentities() throws {
    let before = try identities()
    let moved = try scratch.open(.editor).setTimezone(LogbookZone(name: "America/New_York"), at: 5)
    #expect(moved.readings == 2500)
    #expect(moved.records == 1)
    #expect(try identities() == before)
    #expect(
      try scratch.rows(
        "SELECT kind, stated_offset, derived_offset FROM reading JOIN series ON id = series WHERE offset_source = 0"
      )
        == ["1 7200 NULL"])
    #expect(try scratch.rows("SELECT utc_offset, version FROM record") == ["-14400 1"])
    #expect(try scratch.open(.reader).timezone().name == "America/New_York")
  }

  @Test func afterATimeZoneChangeOffsetsEqualThoseOfAnImportInThatZone() throws {
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Australia/Lord_Howe"), at: 5)
    var zone = try LogbookZone(name: "Australia/Lord_Howe")
    var derived: [StoredReading] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      if case .reading(let reading) = item, reading.placement.source.isDerived { derived.append(reading) }
    }
    #expect(!derived.isEmpty)
    for reading in derived {
      let placement = zone.placement(of: reading.deviceTime)
      #expect(placement == reading.placement)
    }
  }

  @Test func changingTheTimeZoneBackRestoresAllOffsets() throws {
    let before = try all()
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(try all() != before)
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 5)
    #expect(try all() == before)
  }

  @Test func theGlucoseUnitOfListsIsSetAndCleared() throws {
    let store = try scratch.open(.editor)
    #expect(try store.displayUnit() == nil)
    try store.setDisplayUnit(.millimolesPerLitre)
    #expect(try scratch.open(.reader).displayUnit() == .millimolesPerLitre)
    try store.setDisplayUnit(nil)
    #expect(try store.displayUnit() == nil)
  }
}
