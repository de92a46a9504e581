// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import LogbookStore
import Testing

@testable import Ingest

struct ReadAheadTests {
  private let bench: ImportBench
  init() throws { bench = try ImportBench() }

  /// More rows than fit in a batch. From row 55,001 on, the rows come from two devices alternately.
  private static func rows(_ count: Int) -> String {
    "time,glucose (mg/dL),device\n"
      + (0..<count).map { row in
        "\(1_600_000_000 + row * 60),\(60 + row % 200),\(row > 55_000 && row % 2 == 0 ? "Contour second" : "Contour first")\n"
      }.joined()
  }

  private func reader(_ text: String) throws -> InputReader {
    let path = try bench.file("input.csv", text.utf8)
    return try InputReader(
      path: path, options: ExportOptions(zone: LogbookZone(name: "Europe/Madrid"), now: 1_795_219_200))
  }

  @Test func batchesThatAreReadAheadKeepTheOrderAndTheDevicesOfTheInput() throws {
    let ahead = ReadAhead(try reader(Self.rows(120_000)))
    var (seconds, devices, done): ([Int64], [String], [Int64]) = ([], [], [])
    var batch = IngestBatch()
    ahead.begin()
    while let place = try ahead.next(for: &batch) {
      if !place.isLast { ahead.begin() }
      seconds += batch.readings.map(\.position)
      devices += batch.readings.map { batch.devices[Int($0.device.number)].model }
      done.append(place.progress.done)
      #expect(place.header == "time,glucose (mg/dL),device")
    }
    #expect(seconds.count == 120_000 && zip(seconds, seconds.dropFirst()).allSatisfy { $0 < $1 })
    #expect(
      Set(devices[...55_000]) == ["Contour first"]
        && devices[55_001...].prefix(2) == ["Contour first", "Contour second"])
    #expect(done.count > 2 && done == done.sorted())
    #expect(ahead.ingestor.end == .whole && ahead.ingestor.inputDigest?.count == 64)
  }

  @Test func nothingIsReadAheadBeforeItIsRequested() throws {
    let ahead = ReadAhead(try reader(Self.rows(10)))
    var batch = IngestBatch()
    #expect(try ahead.next(for: &batch) == nil)
    ahead.begin()
    #expect(try ahead.next(for: &batch)?.isLast == true && batch.readings.count == 10)
    #expect(try ahead.next(for: &batch) == nil && batch.readings.count == 10)
  }

  /// The compressed bytes are truncated. This is detected only at their end, when the first batch is already
  /// stored.
  @Test func aTruncatedInputThatIsReadAheadIsReportedAfterItsCompleteBatches() throws {
    let bytes = try packed(Self.rows(120_000))
    let path = try bench.file("input.csv.gz", bytes.prefix(bytes.count * 4 / 5))
    let report = try bench.run(path)
    #expect(report.end == .truncated(line: 0, detail: "the gzip data are truncated"))
    #expect(report.counts.newReadings > 50_000 && report.counts.newReadings < 120_000)
  }

  @Test func unreadableBytesEndTheReadAheadAfterTheCompleteBatches() throws {
    var bytes = try packed(Self.rows(120_000))
    for place in bytes.count * 4 / 5..<bytes.count * 4 / 5 + 64 { bytes[place] ^= 0x5A }
    let path = try bench.file("input.csv.gz", bytes)
    let failure = try #require(throws: Failure.self) { try bench.run(path) }
    #expect(failure.message.contains("gzip data are damaged"))
    #expect(
      try bench.number("SELECT count(*) FROM reading") == 0,
      "a file is checked before anything is taken from it")
    let pipe = try Process.pipe("/bin/cat", path)
    let options = try ExportOptions(zone: LogbookZone(name: "Europe/Madrid"), now: 1_795_219_200)
    let reader = try InputReader(descriptor: dup(pipe.fileDescriptor), name: "-", options: options)
    #expect(throws: Failure.self) {
      try ImportSession(clock: { 1 }).run(reader) { bench.store }
    }
    #expect(try bench.number("SELECT count(*) FROM reading") >= 50_000)
  }

  private func packed(_ text: String) throws -> Data {
    let path = try bench.file("plain", text.utf8)
    let gzip = try Process.run(URL(filePath: "/bin/gzip"), arguments: [path])
    gzip.waitUntilExit()
    return try Data(contentsOf: URL(filePath: path + ".gz"))
  }
}

extension Process {
  /// The reading end of a pipe, to which a started program writes.
  fileprivate static func pipe(_ program: String, _ argument: String) throws -> FileHandle {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: program)
    process.arguments = [argument]
    process.standardOutput = pipe
    try process.run()
    return pipe.fileHandleForReading
  }
}
