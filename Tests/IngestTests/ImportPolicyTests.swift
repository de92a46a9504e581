// SPDX-License-Identifier: Apache-2.0

import Formats
import Ingest
import Logbook
import LogbookStore
import Testing

@Suite struct ImportPolicyTests {
  private let bench: ImportBench
  private static let words = ["--unit", "mg/dL"]
  private static let good = "time,glucose\n" + (10..<40).map { "2025-06-01T10:\($0):00,1\($0)\n" }.joined()

  init() throws { bench = try ImportBench() }

  private func file(bad: Int) throws -> String {
    let rows = (0..<bad).map { "2025-06-01T11:\($0 + 10):00,no-number\n" }.joined()
    return try bench.file("rows-\(bad).csv", (Self.good + rows).utf8)
  }

  private func failure(_ work: () throws -> Void) throws -> Failure? {
    do {
      try work()
      return nil
    } catch let stopped as RejectedInput {
      return stopped.failure
    } catch let failure as Failure {
      return failure
    }
  }

  @Test func aStrictImportWithARejectedRowStoresNothing() throws {
    let path = try file(bad: 1)
    let failure = try failure { _ = try bench.run(path, words: Self.words, isStrict: true) }
    #expect(failure?.category == .badInput)
    #expect(failure?.message.contains("nothing was stored") == true)
    for table in ["ingest", "reading", "device", "series", "rejection"] {
      #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
    }
  }

  @Test func theErrorOfAnImportNamesTheFirstRejectedRows() throws {
    let path = try file(bad: 25)
    let stopped = try #require(throws: RejectedInput.self) {
      try bench.run(path, words: Self.words, isStrict: true)
    }
    #expect(stopped.rejections.map(\.line) == Array(32...51) && stopped.count == 25)
    #expect(stopped.source == path && stopped.rejections.allSatisfy { !$0.reason.contains("no-number") })
  }

  @Test func aStrictImportOfValidRowsStoresEveryRow() throws {
    let report = try bench.run(try file(bad: 0), words: Self.words, isStrict: true)
    #expect(report.counts.newReadings == 30)
    #expect(try bench.number("SELECT count(*) FROM ingest WHERE outcome = 'whole'") == 1)
  }

  @Test func aStrictImportOfATruncatedInputStoresNothing() throws {
    let path = try bench.file(
      "cut.json", #"[{"type":"sgv","sgv":100,"date":1748779200000},{"type":"sgv","sg"#.utf8)
    let failure = try failure { _ = try bench.run(path, isStrict: true) }
    #expect(failure?.category == .badInput)
    #expect(try bench.number("SELECT count(*) FROM reading") == 0)
    #expect(try bench.run(path).end != .whole)
    #expect(try bench.number("SELECT count(*) FROM reading") == 1)
    #expect(try bench.rows("SELECT outcome FROM ingest") == ["truncated"])
  }

  @Test func anImportReportsRejectedRowsAndStoresTheRest() throws {
    var passed: [Rejection] = []
    var headers: Set<String?> = []
    let report = try bench.run(try file(bad: 25), words: Self.words) { rejection, header in
      passed.append(rejection)
      headers.insert(header)
    }
    #expect(report.counts.newReadings == 30)
    #expect(report.counts.rejected == 25)
    #expect(report.rejections.count == 20, "a report names the first")
    #expect(passed.map(\.line) == Array(32...56))
    #expect(passed.allSatisfy { $0.source.contains("no-number") && !$0.reason.contains("no-number") })
    #expect(headers == ["time,glucose"])
  }

  @Test(arguments: [(3, 3, true), (3, 2, false), (1, 0, false), (0, 0, true)])
  func anImportStopsAboveTheMaximumNumberOfRejections(_ bad: Int, _ max: Int, _ goesThrough: Bool) throws {
    let path = try file(bad: bad)
    let failure = try failure { _ = try bench.run(path, words: Self.words, maxRejections: max) }
    #expect((failure == nil) == goesThrough)
    #expect(failure == nil || failure?.category == .badInput)
    #expect(try bench.number("SELECT count(*) FROM reading") == 30, "what was read before them is stored")
    #expect(try bench.rows("SELECT outcome FROM ingest") == [goesThrough ? "whole" : "failed"])
  }

  @Test func anErrorWhileWritingRejectedRowsEndsTheImport() throws {
    let path = try file(bad: 1)
    let failure = try failure {
      _ = try bench.run(path, words: Self.words) { _, _ in throw Failure(.inputOutput, "the disk is full") }
    }
    #expect(failure?.category == .inputOutput)
  }
}
