// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ingest
import Logbook
import LogbookStore
import SeededRandom
import Testing

@Suite struct SampleImportTests {
  /// The counts of readings in an import: new, known, changed.
  private func outcome(_ counts: IngestCounts) -> [Int] {
    [counts.newReadings, counts.knownReadings, counts.changedReadings]
  }

  @Test(arguments: Seeds.share(of: ImportBench.sampleExports, every: 3))
  func importingASampleAgainInAnotherTimeZoneChangesNothing(_ sample: String) throws {
    let bench = try ImportBench()
    let first = try bench.importSample(sample).counts
    try expectCounted(first, bench)
    let content = try bench.content()
    for zone in [nil, "America/New_York"] {
      let again = try bench.importSample(sample, zone: zone).counts
      #expect(again.newReadings == 0)
      #expect(again.newRecords == 0)
      if zone == nil { #expect(again.updatedRecords == 0) }
      #expect(again.readings == first.readings)
      #expect(again.changedReadings == first.changedReadings)
      #expect(try bench.content() == content)
    }
  }

  /// Checks that the counts of the first import into a store match the rows of the store.
  private func expectCounted(_ counts: IngestCounts, _ bench: ImportBench) throws {
    #expect(try bench.number("SELECT count(*) FROM reading") == counts.newReadings)
    // Each record that the sample states as deleted has a withdrawal, which is a record, too.
    #expect(try bench.number("SELECT count(*) FROM record") == counts.newRecords + counts.deletedRecords)
    #expect(try bench.number("SELECT count(*) FROM rejection") == counts.rejected)
    let counters = """
      SELECT partition, id, readings, pending, first_position, last_position, first_time, last_time FROM series
      ORDER BY 2
      """
    let counted = """
      SELECT partition, series, count(*), sum(uploaded = 0), min(position), max(position), min(device_time),
        max(device_time) FROM reading GROUP BY 1, 2 ORDER BY 2
      """
    #expect(try bench.rows(counters) == bench.rows(counted))
  }

  /// Each list has samples with data of the same days.
  @Test(arguments: [
    ["clarity/reexport-a.csv", "clarity/reexport-b.csv"], ["mysugr/reexport-a.csv", "mysugr/reexport-b.csv"],
    ["glucoport/everything.csv", "glucoport/everything.ndjson"],
    ["nightscout/nightscout-entries-v1.json", "nightscout/nightscout-entries-v1.csv"],
    ["tidepool/tidepool.json", "tidepool/tidepool.csv", "tidepool/tidepool-pandas.ndjson"],
  ])
  func importingTheSamplesInAnyOrderStoresTheSameReadings(_ samples: [String]) throws {
    func identities(_ order: [String]) throws -> [String] {
      let bench = try ImportBench()
      for sample in order { try bench.importSample(sample) }
      return try bench.readings(ImportBench.device, ImportBench.identity, "r.occurrence")
    }
    let forward = try identities(samples)
    #expect(!forward.isEmpty)
    #expect(try identities(samples.reversed()) == forward)
    #expect(try identities(samples + samples) == forward)
  }

  @Test func aClarityReexportStoresEachSensorReadingOnce() throws {
    let bench = try ImportBench()
    let first = try bench.importSample("clarity/reexport-a.csv").counts
    #expect(first.newReadings == 22)
    #expect(first.newRecords == 2)
    let second = try bench.importSample("clarity/reexport-b.csv").counts
    #expect(outcome(second) == [8, 7, 11])
    #expect(second.knownRecords == 2)
    #expect(try bench.number("SELECT count(*) FROM reading") == 30)
    #expect(try bench.number("SELECT count(*) FROM revision") == 11)
    // The displayed time of this reading differs by an hour between the two exports.
    let moved = "SELECT device_time FROM readings WHERE position = 12073"
    #expect(try bench.rows(moved) == ["2026-04-10T13:15:11"])
  }

  @Test func everySampleReadingOfARepeatedHourIsStored() throws {
    let bench = try ImportBench()
    let counts = try bench.importSample("clarity/clarity-dst-fallback.csv").counts
    #expect(outcome(counts) == [32, 0, 0])
    #expect(try bench.number("SELECT count(*) FROM reading") == 32)
    #expect(try bench.number("SELECT count(DISTINCT time) FROM readings") == 32)
  }

  @Test func aMySugrReexportUpdatesChangedEntriesAndIgnoresTheOrderOfTags() throws {
    let bench = try ImportBench()
    let first = try bench.importSample("mysugr/reexport-a.csv").counts
    #expect(first.newReadings == 13)
    let second = try bench.importSample("mysugr/reexport-b.csv").counts
    #expect(outcome(second) == [4, 13, 0])
    #expect(second.newRecords + second.updatedRecords > 0)
    #expect(second.keptRecords == 0)
    #expect(second.knownRecords >= 12)
  }

  @Test func aTruncatedInputStoresOnlyReadingsThatTheWholeInputHas() throws {
    let bench = try ImportBench()
    let bytes = [UInt8](try Data(contentsOf: ImportBench.samples.appending(path: "clarity/reexport-a.csv")))
    let whole = try ImportBench()
    try whole.importSample("clarity/reexport-a.csv")
    let all = Set(try whole.readings(ImportBench.identity, ImportBench.value, "r.device_time"))
    for length in stride(from: bytes.count / 2, to: bytes.count - 1, by: 61) {
      let path = try bench.file("cut-\(length).csv", bytes.prefix(length))
      let report = try bench.run(path)
      let stored = try bench.readings(ImportBench.identity, ImportBench.value, "r.device_time")
      #expect(Set(stored).isSubset(of: all), "cut at \(length)")
      // If the input ends exactly after a row, the truncation cannot be detected.
      let isBetweenRows = bytes[length - 1] == 0x0A || [0x0A, 0x0D].contains(bytes[length])
      #expect(report.end != .whole || isBetweenRows, "cut at \(length)")
    }
    try bench.importSample("clarity/reexport-a.csv")
    #expect(Set(try bench.readings(ImportBench.identity, ImportBench.value, "r.device_time")) == all)
  }
}
