// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests the counters of each series, and the order in which its readings are stored.
@Suite struct SeriesTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func pending() throws -> Int { try scratch.open(.reader).overview(ingests: 0).pendingReadings }

  @Test func theSeriesWithTheMostReadingsGetsTheLastRowID() throws {
    var batch = Make.batch(
      (0..<900 as Range<Int64>).map { number in
        var reading = Make.tick(number, 100, at: Make.noon + number * 300)
        reading.device = DeviceIndex(number % 9 == 8 ? 1 : 0)
        return reading
      })
    batch.devices = [Make.device, Device(vendor: "Other", model: "B", serial: "2", format: "test")]
    try scratch.ingest(batch)
    #expect(try scratch.rows("SELECT readings FROM series ORDER BY id") == ["100", "800"])
    // The ids were assigned by the first import. A stored series keeps its id.
    batch.readings = batch.readings.filter { $0.device == DeviceIndex(1) } + batch.readings.prefix(450)
    try scratch.ingest(batch)
    #expect(try scratch.rows("SELECT readings FROM series ORDER BY id") == ["100", "800"])
  }

  @Test func theCountsInASeriesAreExactAfterEveryUploadAndRequeue() throws {
    let readings = (0..<10).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) }
    try scratch.ingest(Make.batch(readings + [Make.tick(1, 90), Make.reading(.smbg, Make.milligrams(90))]))
    #expect(try pending() == 12)
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1 WHERE position % 600 = 0") == nil)
    #expect(try pending() == 6)
    try scratch.expectCountersEqualCount()
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1") == nil)
    #expect(try pending() == 0)
    #expect(try scratch.refusal(.sync, "INSERT INTO requeue (at, reason) VALUES (1, 'new remote')") == nil)
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 0") == nil)
    #expect(try pending() == 12)
    try scratch.expectCountersEqualCount()
  }

  @Test func readingsPulledFromTheRemoteAreNotPending() throws {
    let readings = (0..<10).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) }
    try scratch.ingest(Make.batch(Array(readings[..<4])))
    let store = try scratch.open(.sync)
    let outcome = try store.write { database in
      try ReadingWriter(database, store.batch, ingest: 1, isUploaded: true).write(
        readings, of: [Make.device], deviceIDs: [1], placedBy: nil)
    }
    #expect(outcome.new == 6)
    #expect(try pending() == 4)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 1") == 6)
    try scratch.expectCountersEqualCount()
  }

  @Test func readingsOfAlternatingDevicesAreStoredInTimeOrder() throws {
    let devices = ["A", "B"].map { Device(vendor: "Test", model: "Meter", serial: $0, format: "test") }
    let readings = (0..<1200).map {
      Make.reading(.cbg, Make.milligrams(100), at: Make.noon + Int64($0) * 60, device: Int32($0 % 2))
    }
    let counts = try scratch.ingest(Make.batch(readings.reversed(), devices: devices))
    #expect(counts.newReadings == 1200)
    #expect(
      try scratch.rows("SELECT position FROM reading") == readings.map { String($0.position) })
    #expect(try scratch.rows("SELECT readings FROM series") == ["600", "600"])
    let again = try scratch.ingest(Make.batch(readings, devices: devices))
    #expect([again.newReadings, again.knownReadings] == [0, 1200])
  }

  @Test func seriesWithInstantsShareAPartitionAndThoseWithCountersDoNot() throws {
    let instant: Int64 = 1_748_779_200_000
    let devices = ["S1", "S4", "S5"].map {
      Device(vendor: "Test", model: "Meter", serial: $0, format: "test")
    }
    var readings = [7, 8, instant, instant, 7].map { Make.tick($0, 100) }
    for (index, device) in [0, 0, 1, 2, 0 as Int32].enumerated() {
      readings[index].device = DeviceIndex(device)
    }
    readings[4].kind = .scan
    try scratch.ingest(Make.batch(readings, devices: devices))
    #expect(
      try scratch.rows("SELECT DISTINCT partition FROM reading WHERE position = \(instant)") == ["-2"])
    #expect(
      try scratch.rows(
        """
        SELECT s.kind, count(*) FROM reading AS r JOIN series AS s ON s.id = r.series AND r.partition = 4 + s.id
        GROUP BY r.partition ORDER BY 1
        """) == ["2 2", "3 1"])
    let refusal = try scratch.refusal(.importer, "UPDATE series SET is_instant = 1 - is_instant")
    #expect(refusal?.contains("never change") == true)
  }

  /// The second import repeats three known readings: the first, the middle and the last one. Its other
  /// readings are before, between and after them.
  @Test func readingsBetweenKnownOnesAreStoredAsNew() throws {
    func readings(_ minutes: [Int64]) -> IngestBatch {
      Make.batch(minutes.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 60) })
    }
    try scratch.ingest(readings([10, 20, 30]))
    let counts = try scratch.ingest(readings([5, 10, 15, 20, 25, 30, 35]))
    #expect([counts.newReadings, counts.knownReadings] == [4, 3])
    #expect(try scratch.number("SELECT count(*) FROM reading") == 7)
  }

  @Test func readingsThatAnotherProcessStoredBetweenBatchesAreKnown() throws {
    func batch(_ minute: Int64) -> IngestBatch {
      Make.batch([Make.reading(.cbg, Make.milligrams(100), at: Make.noon + minute * 60)])
    }
    let store = try scratch.open()
    let source = IngestSource(name: "x", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(batch(1))
      try scratch.ingest(batch(2))
      try writer.write(batch(2))
      #expect([writer.counts.newReadings, writer.counts.knownReadings] == [1, 1])
    }
    try scratch.expectCountersEqualCount()
  }

  @Test func theDatabaseRefusesToChangeOrDeleteASeries() throws {
    try scratch.ingest(Make.batch([Make.tick(1, 100)]))
    #expect(try scratch.refusal(.importer, "DELETE FROM series") == "series are never deleted")
    for change in ["id = 9", "device = 9", "kind = 1", "position_kind = 0"] {
      let refusal = try scratch.refusal(.importer, "UPDATE series SET \(change)")
      #expect(refusal == "device, kind and position_kind of a series never change", "\(change)")
    }
    for values in ["1, 5, 0", "1, 0, 0", "1, 1, 2"] {
      let insert = "INSERT INTO series (device, kind, position_kind) VALUES (\(values))"
      #expect(try scratch.refusal(.importer, insert)?.contains("CHECK") == true, "\(values)")
    }
  }
}
