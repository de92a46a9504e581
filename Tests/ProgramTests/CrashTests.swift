// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Subprocess
import TestProgram
import Testing

/// Tests processes that are killed, run at the same time, or have no disk space left.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CrashTests {
  /// More rows than an import stores in two commits.
  private static let rows = 110_000

  @Test func importsKilledRepeatedlyGiveTheSameStoreAsOneImport() async throws {
    let seed: UInt64 = 20_261_121
    var random = SeededGenerator(seed: seed)
    let reference = try Program()
    let bytes = GeneratedExport.csv(rows: Self.rows)
    let export = try reference.write(bytes, to: "all.csv")
    let whole = try await reference.run("import", export)
    #expect(whole.status == 0)
    let expected = try StoreFile(reference.store).readings()
    #expect(expected.count == Self.rows)

    for round in 1...3 {
      let program = try Program()
      let threshold = Int.random(in: 1...1_500_000, using: &random)
      let isInWrite = try await Self.killInWrite(program, export, logBytes: threshold)
      #expect(isInWrite, "seed \(seed), round \(round)")
      #expect(try StoreFile(program.store).integrity() == "ok", "seed \(seed), round \(round)")
      for _ in 1...4 {
        let length = Int.random(in: 0...bytes.count, using: &random)
        let (outcome, _) = try await program.run("import", "-") { process in
          _ = try await process.standardInputWriter.write(Array(bytes.prefix(length)))
          try process.send(signal: .kill)
        }
        #expect(outcome.status == 128 + 9)
        guard FileManager.default.fileExists(atPath: program.store) else { continue }
        #expect(try StoreFile(program.store).integrity() == "ok", "seed \(seed), round \(round)")
      }
      let rerun = try await program.run("import", export, "--quiet")
      #expect(rerun.status == 0, "\(rerun.errors)")
      let store = try StoreFile(program.store)
      #expect(try store.readings() == expected, "seed \(seed), round \(round)")
      #expect(try store.counters() == StoreFile(reference.store).counters())
      let zone = try await program.run("config", "timezone")
      #expect(zone.status == 0, "\(zone.errors)")
    }
  }

  /// Kills an import into a new store when its write-ahead log has this number of bytes. Returns whether the
  /// import was still running.
  private static func killInWrite(_ program: Program, _ export: String, logBytes: Int) async throws -> Bool {
    let (outcome, hasGrown) = try await program.run("import", export) { process in
      let hasGrown = try await eventually(within: .seconds(60)) { log(of: program, has: logBytes) }
      try process.send(signal: .kill)
      return hasGrown
    }
    return hasGrown && outcome.status == 128 + 9
  }

  /// Whether the write-ahead log of the store has at least this number of bytes.
  private static func log(of program: Program, has bytes: Int) -> Bool {
    var status = stat()
    return stat(program.store + "-wal", &status) == 0 && Int(status.st_size) >= bytes
  }

  /// Whether the tables of the store are committed. An error counts as no.
  private static func hasTables(_ program: Program) -> Bool {
    do { return try StoreFile(program.store).count("ingest") != nil } catch { return false }
  }

  @Test func anEmptyStoreAfterACrashIsCompletedByTheNextImport() async throws {
    let program = try Program()
    try program.write([], to: "new.db")
    let outcome = try await program.run(
      "import", "-", "--store", program.path("new.db"), "--timezone", "Europe/Madrid",
      input: GeneratedExport.csv(rows: 3))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let zone = try await program.run("config", "timezone", "--store", program.path("new.db"))
    #expect(zone.output == "timezone Europe/Madrid\n", "\(zone.errors)")
  }

  /// The first import is stopped while it writes readings, so that a reader certainly runs at that time.
  /// Before the tables are committed, a reader would wait for the import.
  @Test(arguments: [false, true])
  func twoSimultaneousImportsAndAReaderAllSucceed(storeIsThere: Bool) async throws {
    let program = try Program()
    if storeIsThere {
      _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 10))
    }
    let first = try program.write(GeneratedExport.csv(rows: 150_000), to: "first.csv")
    let second = try program.write(GeneratedExport.csv(rows: 150_000, from: 75_000), to: "second.csv")
    async let one = program.run("import", first) { process in
      let hasGrown = try await eventually(within: .seconds(60)) {
        Self.log(of: program, has: 1_000_000) && Self.hasTables(program)
      }
      try process.send(signal: .suspend)
      let reader = try await program.run("status", "--json")
      try process.send(signal: .resume)
      return hasGrown && reader.status == 0
    }
    async let other = program.run("import", second)
    let hasAll = try await eventually(within: .seconds(120)) {
      let reader = try await program.run("status", "--json")
      guard reader.status != 66 || storeIsThere else { return false }
      #expect(reader.status == 0, "\(reader.errors)")
      return try reader.objects().first?["readings"] as? Int == 225_000
    }
    let (outcome, isReadWhileWritten) = try await one
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(isReadWhileWritten)
    let otherOutcome = try await other
    #expect(otherOutcome.status == 0, "\(otherOutcome.errors)")
    #expect(hasAll)
    #expect(try StoreFile(program.store).count("reading") == 225_000)
    #expect(try StoreFile(program.store).integrity() == "ok")
  }

  /// With these limits in KiB, the disk is full while the schema is written, in the first batch, or at a
  /// later commit.
  @Test(arguments: [0, 20, 300, 1500, 4000])
  func aFullDiskIsReportedAndALaterImportSucceeds(limit: Int) async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: Self.rows), to: "all.csv")
    let full = try await program.shell("ulimit -f \(limit); exec glucoport import all.csv")
    #expect(full.status == 74, "\(full.errors)")
    #expect(full.errors.hasPrefix("glucoport: \(program.store): "), "\(full.errors)")
    #expect(full.errors.contains("disk"), "\(full.errors)")
    #expect(full.errors.split(separator: "\n").count == 1, "\(full.errors)")
    #expect(try StoreFile(program.store).integrity() == "ok")

    let rerun = try await program.run("import", program.path("all.csv"))
    #expect(rerun.status == 0, "\(rerun.errors)")
    #expect(try StoreFile(program.store).count("reading") == Self.rows)
    let status = try await program.run("status", "--json")
    #expect(try status.objects().first?["readings"] as? Int == Self.rows)
  }

  @Test func anImportOntoAFullDiskKeepsTheContentOfTheStore() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 5))
    let before = try StoreFile(program.store).readings()
    try program.write(GeneratedExport.csv(rows: 40_000, from: 100), to: "more.csv")
    let full = try await program.shell("ulimit -f 300; exec glucoport import more.csv")
    #expect(full.status == 74, "\(full.errors)")
    #expect(try StoreFile(program.store).readings() == before)
    let status = try await program.run("status")
    #expect(status.status == 0)
  }
}
