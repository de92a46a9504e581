// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import LogbookStore
import Testing

@testable import Ingest

/// Tests imports that a signal, such as SIGINT, ends between two batches.
@Suite struct InterruptionTests {
  private static let rows = 45_000

  private func path(_ bench: ImportBench, isScattered: Bool) throws -> String {
    let places = (0..<Self.rows).map { isScattered ? $0 * 7919 % Self.rows : $0 }
    let lines = places.map { "\(1_600_000_000 + $0 * 60),\(60 + $0 % 200)\n" }
    return try bench.file("input.csv", ("time,glucose (mg/dL)\n" + lines.joined()).utf8)
  }

  /// Imports a file. The import is interrupted after it has checked for a signal `limit` times.
  private func run(
    _ bench: ImportBench, _ path: String, asking limit: Int, isStrict: Bool = false
  ) throws -> ImportInterruption? {
    let reader = try InputReader(
      path: path, options: ExportOptions(zone: LogbookZone(name: "Europe/Madrid"), now: 1_795_219_200))
    var policy = ImportPolicy()
    policy.isStrict = isStrict
    var count = 0
    let session = ImportSession(
      policy: policy, clock: { 1_795_219_200 },
      isInterrupted: {
        count += 1
        return count > limit
      })
    do {
      _ = try session.run(reader) { bench.store }
      return nil
    } catch let interruption as ImportInterruption {
      return interruption
    }
  }

  @Test func theReportOfAnInterruptedImportMatchesTheStore() throws {
    for limit in 0..<3 {
      let bench = try ImportBench()
      let path = try path(bench, isScattered: false)
      let interruption = try #require(try run(bench, path, asking: limit))
      #expect(interruption.source == path && interruption.stored.newReadings >= 1000)
      #expect(try bench.number("SELECT count(*) FROM reading") == interruption.stored.newReadings)
      #expect(try bench.number("SELECT count(*) FROM ingest WHERE outcome = 'failed'") == 1)
      let rest = try bench.run(path)
      #expect(rest.counts.newReadings == Self.rows - interruption.stored.newReadings)
      #expect(rest.counts.knownReadings == interruption.stored.newReadings)
    }
  }

  @Test func anImportWithoutInterruptionStoresAllReadings() throws {
    let bench = try ImportBench()
    #expect(try run(bench, path(bench, isScattered: false), asking: .max) == nil)
    #expect(try bench.number("SELECT count(*) FROM reading") == Self.rows)
  }

  @Test func anInterruptedImportDoesNotReportReadingsStillToBeSorted() throws {
    let bench = try ImportBench()
    let interruption = try #require(try run(bench, path(bench, isScattered: true), asking: 1))
    #expect(try bench.number("SELECT count(*) FROM reading") == interruption.stored.newReadings)
    #expect(interruption.stored.newReadings == 0)
  }

  @Test func anInterruptedStrictImportStoresNothing() throws {
    let bench = try ImportBench()
    let interruption = try #require(
      try run(bench, path(bench, isScattered: false), asking: 1, isStrict: true))
    #expect(interruption.stored == IngestCounts())
    #expect(try bench.number("SELECT count(*) FROM reading") == 0)
    #expect(try bench.number("SELECT count(*) FROM ingest") == 0)
  }

  @Test func anInterruptedReaderStopsAtTheNextRead() throws {
    let bench = try ImportBench()
    var options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
    options.isInterrupted = { true }
    let failure = try #require(throws: Failure.self) {
      _ = try InputReader(path: path(bench, isScattered: false), options: options)
    }
    #expect(failure.category == .temporary)
  }
}
