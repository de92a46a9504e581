// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct IngestLifeTests {
  private struct Interruption: Error {}
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func interrupt(isAtomic: Bool) throws {
    let store = try scratch.open()
    let source = IngestSource(name: "cut", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    #expect(throws: Interruption.self) {
      try store.ingest(source, isAtomic: isAtomic) { writer in
        var batch = Make.batch([Make.reading(.cbg, Make.milligrams(100))])
        batch.records = [Make.record(["carbs": .number(1)])]
        batch.rejections = [Rejection(line: 3, reason: "no value")]
        try writer.write(batch)
        throw Interruption()
      }
    }
    // The connection still works after the failed import.
    #expect(try store.overview(ingests: 1).records == (isAtomic ? 0 : 1))
  }

  @Test func anAtomicImportThatFailsStoresNothing() throws {
    try interrupt(isAtomic: true)
    for table in ["ingest", "reading", "record", "rejection", "device", "series", "revision"] {
      #expect(try scratch.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
    }
    #expect(
      try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(1))]), isAtomic: true).newReadings
        == 1)
  }

  @Test func rejectedItemsOfAnImportAreCountedByReason() throws {
    var batch = Make.batch([Make.reading(.cbg, Make.milligrams(100))])
    batch.rejections = ["no value", "no date", "no value"].map { Rejection(line: 3, reason: $0) }
    #expect(try scratch.ingest(batch).notTaken == ["no value": 2, "no date": 1])
    let entry = try #require(try scratch.open(.reader).overview(ingests: 1).ingests.first)
    #expect(try entry.readCounts().notTaken == ["no value": 2, "no date": 1])
  }

  /// The reasons for rejections in a pull differ from the reasons in an export, so the caller passes the
  /// counts.
  @Test func aPullIsStoredWithItsFormatAndRejectedItems() throws {
    let store = try scratch.open(.sync)
    try store.sync { store in
      let counts = ["no date": 1, "a value of 10–1000": 2]
      let pulled = try store.storePulled(
        ReadingBatch(), notTaken: counts, ingest: nil, from: "site.test", at: 5)
      #expect(pulled.ingest != nil && pulled.new == 0)
      let next = try store.storePulled(
        ReadingBatch(), notTaken: ["no date": 1], ingest: pulled.ingest, from: "site.test", at: 6)
      #expect(next.ingest == pulled.ingest)
    }
    let entry = try #require(try scratch.open(.reader).overview(ingests: 1).ingests.first)
    #expect(try entry.readCounts().notTaken == ["no date": 2, "a value of 10–1000": 2])
    #expect(entry.rejected == 4 && entry.format == "glucoport")
  }

  @Test func aFailedImportIsMarkedAndKeepsItsStoredBatches() throws {
    try interrupt(isAtomic: false)
    #expect(try scratch.rows("SELECT outcome, finished_at FROM ingest") == ["failed NULL"])
    #expect(try scratch.number("SELECT count(*) FROM reading") == 1)
    try scratch.expectCountersEqualCount()
    let again = try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100))]))
    #expect(again.knownReadings == 1)
  }

  @Test func anImportOfATruncatedInputIsMarkedAsTruncated() throws {
    try scratch.ingest(end: .truncated(line: 4, detail: "cut"), digest: "d")
    try scratch.ingest(digest: "d")
    #expect(
      try scratch.rows("SELECT outcome, digest, started_at, finished_at FROM ingest") == [
        "truncated d 1000 2000", "whole d 1000 2000",
      ])
  }

  @Test func eitherBothClocksOfAMeterImportAreStoredOrNone() throws {
    try scratch.ingest()
    for columns in [
      "clock_meter = 1", "clock_host = 1, clock_difference = 1", "clock_meter = 1, clock_host = 1",
    ] {
      #expect(try scratch.refusal(.importer, "UPDATE ingest SET \(columns)")?.contains("CHECK") == true)
    }
    let all = "clock_meter = 1, clock_host = 1, clock_difference = 1"
    #expect(try scratch.refusal(.importer, "UPDATE ingest SET \(all)") == nil)
  }

  @Test func allRejectionsOfAnImportAreCountedAndTheFirstThousandKept() throws {
    var batch = IngestBatch()
    batch.rejections = (1...700).map { Rejection(line: $0, reason: "no value") }
    batch.skipped = ["alert": 2]
    let counts = try scratch.ingest(batch, batch)
    #expect(counts.rejected == 1400)
    #expect(counts.skipped == ["alert": 4])
    #expect(try scratch.number("SELECT count(*) FROM rejection") == 1000)
    #expect(try scratch.open(.reader).rejections(of: 1).count == 1000)
  }

  @Test func twoSimultaneousImportsBothSucceed() async throws {
    let (path, zone) = (scratch.path, try LogbookZone(name: "Europe/Madrid"))
    _ = try scratch.open()
    let new = try await withThrowingTaskGroup(of: Int.self) { group in
      for device in ["A", "B"] {
        group.addTask {
          let store = try Store.openOrCreate(path: path, role: .importer, zone: zone)
          let source = IngestSource(
            name: device, format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
          let own = Device(vendor: "Test", model: "Meter", serial: device, format: "test")
          var new = 0
          try store.ingest(source, isAtomic: false) { writer in
            for round in 0..<20 as Range<Int64> {
              let readings = (0..<50).map {
                Make.reading(.cbg, Make.milligrams(100), at: Make.noon + (round * 50 + $0) * 300)
              }
              try writer.write(Make.batch(readings, devices: [own]))
            }
            new = writer.counts.newReadings
          }
          return new
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(new == 2000)
    #expect(try scratch.number("SELECT count(*) FROM reading") == 2000)
    try scratch.expectCountersEqualCount()
  }

  @Test func aReaderSeesCommittedItemsWhileAnImportWrites() throws {
    let store = try scratch.open()
    let source = IngestSource(name: "live", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch([Make.reading(.cbg, Make.milligrams(100))]))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 1)
    }
  }

  @Test func importedReadingsThatAnotherDeviceAlsoHasAreReported() throws {
    let readings = (0..<50).map {
      Make.reading(.cbg, Make.milligrams(Double(80 + $0)), at: Make.noon + $0 * 300)
    }
    try scratch.ingest(Make.batch(readings))
    let store = try scratch.open()
    let source = IngestSource(name: "twin", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    let twin = Device(vendor: "Test", model: "Other", serial: "S2", format: "test")
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch(readings, devices: [twin]))
      let duplicates = try writer.likelyDuplicates()
      #expect(duplicates.map(\.readings) == [50])
      #expect(duplicates.map(\.device) == ["Test Other S2"])
      #expect(duplicates.map(\.other) == ["Test Meter S1"])
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == 100, "reported, never merged")
  }
}
