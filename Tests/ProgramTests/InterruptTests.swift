// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Subprocess
import TestProgram
import Testing

/// Tests imports of files and pipes that a signal ends.
@Suite(.timeLimit(.minutes(10))) struct InterruptTests {
  /// The number of readings in the message after a signal.
  private static func reported(_ outcome: Program.Outcome) throws -> Int {
    let match = try #require(
      try /interrupted; stored ([0-9,]+) readings?; import it again for the rest/.firstMatch(
        in: outcome.errors), "\(outcome)")
    return try #require(Int(match.1.replacing(",", with: "")))
  }

  @Test(arguments: [(Signal.interrupt, Int32(130)), (.terminate, 143)])
  func anInterruptedImportOfALivePipeReportsTheStoredReadings(_ signal: Signal, _ status: Int32) async throws
  {
    let program = try Program()
    let (outcome, _) = try await program.run("import", "-") { process in
      _ = try await process.standardInputWriter.write(GeneratedExport.csv(rows: 50))
      _ = try await eventually(within: .seconds(60)) {
        guard FileManager.default.fileExists(atPath: program.store) else { return false }
        return try await program.run("list", "--format", "ndjson").output.split(separator: "\n").count == 50
      }
      try process.send(signal: signal)
      // The pipe stays open until the import has failed. If the pipe ended before the signal, the import
      // would end normally.
      _ = try await eventually(within: .seconds(60)) {
        try await program.run("log").output.contains("failed")
      }
    }
    #expect(outcome.status == status && outcome.output == "", "\(outcome)")
    #expect(try Self.reported(outcome) == 50)
    #expect(try StoreFile(program.store).count("reading") == 50)
  }

  @Test func repeatingAnInterruptedImportStoresTheRestOfTheFile() async throws {
    let program = try Program()
    let rows = 600_000
    try program.write(GeneratedExport.csv(rows: rows), to: "rows.csv")
    try program.write(GeneratedExport.csv(rows: 3), to: "more.csv")
    let outcome = try await program.shell(
      """
      glucoport import rows.csv more.csv &
      for _ in $(seq 2000); do [ -s data/glucoport/logbook.db-wal ] && break; sleep 0.01; done
      kill -INT $!; wait $!
      """)
    #expect(outcome.status == 130 && outcome.output == "", "\(outcome)")
    let count = try #require(try StoreFile(program.store).count("reading"))
    #expect(count < rows)
    if count > 0 { #expect(try Self.reported(outcome) == count) }
    #expect(try StoreFile(program.store).integrity() == "ok")
    let again = try await program.run("import", program.path("rows.csv"), "--json")
    let object = try #require(try again.objects().first)
    #expect(object["known"] as? Int == count && object["new"] as? Int == rows - count)
  }

  @Test(arguments: ["--strict", "--dry-run"])
  func anInterruptedStrictImportStoresNothing(_ option: String) async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 600_000), to: "rows.csv")
    _ = try await program.run("record", "add", "note", "there is a store")
    let outcome = try await program.shell(
      """
      glucoport import rows.csv \(option) &
      for _ in $(seq 2000); do ls -l /proc/$!/fd 2>/dev/null | grep -q rows.csv && break; sleep 0.01; done
      sleep 0.3; kill -TERM $!; wait $!
      """)
    #expect(outcome.status == 143, "\(outcome)")
    #expect(outcome.errors.contains("rows.csv: interrupted"), "\(outcome)")
    #expect(!outcome.errors.contains("are stored"), "\(outcome)")
    #expect(try StoreFile(program.store).count("reading") == 0)
  }

  @Test func aSignalEndsTheWaitForTheFirstByteOfAPipe() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      mkfifo silent; exec 3<>silent
      glucoport import - <silent &
      for _ in $(seq 2000); do grep -q 'SigCgt:.*[2367abef]$' /proc/$!/status && break; sleep 0.01; done
      kill -INT $!; wait $!
      """)
    #expect(outcome.status == 130 && outcome.seconds < 60, "\(outcome)")
    #expect(outcome.errors == "glucoport: -: interrupted; nothing was stored\n")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func aSignalThatTheCallerBlockedEndsAnImport() async throws {
    let program = try Program()
    // The test sends SIGHUP, since an import itself allows SIGINT and SIGTERM again.
    let outcome = try await program.shell(
      """
      mkfifo silent; exec 3<>silent
      env --block-signal=HUP glucoport import - <silent &
      \(Self.isWatched)
      kill -HUP $!; wait $!
      """)
    #expect(outcome.status == 129 && !outcome.errors.contains("glucoport:"), "\(outcome)")
  }

  private static let limit =
    "the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again"

  /// Waits until an import handles signals. SIGINT is the last signal for which it installs a handler.
  private static let isWatched = "until grep -q 'SigCgt:.*[2367abef]$' /proc/$!/status; do sleep 0.01; done"

  /// Waits until a process handles SIGXCPU, and then sends it, as the system does at the limit.
  private static let atTheLimit = """
    until grep -q 'SigCgt:.*[89a-f].....$' /proc/$!/status; do sleep 0.01; done
    kill -XCPU $!; wait $!
    """

  @Test func aProcessorTimeLimitEndsAnImportWithItsReportAndStatus() async throws {
    let program = try Program()
    let wait = "mkfifo silent; exec 3<>silent"
    // The import must handle signals before the first one is sent, so that it ends with its report.
    let outcome = try await program.shell(
      "\(wait); glucoport import - <silent &\n\(Self.isWatched)\n\(Self.atTheLimit)")
    #expect(outcome.status == 152, "\(outcome)")
    #expect(outcome.errors == "glucoport: \(Self.limit)\nglucoport: -: interrupted; nothing was stored\n")
    let objects = try await program.shell(
      "exec 3<>silent; glucoport import - --json <silent 2>&1 &\n\(Self.isWatched)\n\(Self.atTheLimit)"
    ).objects()
    #expect(objects.map { $0["status"] as? Int } == [152, 152], "\(objects)")
    #expect(objects.first?["error"] as? String == Self.limit)
    #expect(objects.first?["hint"] as? String == String(Self.limit.split(separator: "; ")[1]))
  }

  @Test func aProcessorTimeLimitEndsOtherCommandsWithTheReason() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 5000), to: "rows.csv")
    let outcome = try await program.shell(
      """
      glucoport import --quiet rows.csv; mkfifo full; exec 3<>full
      glucoport list --format ndjson >full &
      \(Self.atTheLimit)
      """)
    #expect(outcome.status == 152 && outcome.errors == "glucoport: \(Self.limit)\n", "\(outcome)")
  }

  /// The system sends SIGBUS when it cannot read a page of a file that is mapped to memory; see also `pages`
  /// of Tests/Damage/damage.py.
  @Test func aDiskFailureDuringMemoryMappedAccessIsReported() async throws {
    let program = try Program()
    let reason =
      "the disk failed below a file that is in memory; look for its errors with dmesg, and try again"
    // The runtime of Swift handles SIGBUS, too. So the test waits until the program has installed its own
    // handler.
    let failure = "\(Self.isWatched)\nkill -BUS $!; wait $!"
    let sentence = try await program.shell(
      "mkfifo silent; exec 3<>silent; glucoport import - <silent &\n\(failure)")
    #expect(sentence.status == 74 && sentence.errors == "glucoport: \(reason)\n", "\(sentence)")
    let object = try await program.shell(
      "exec 3<>silent; glucoport import - --json <silent 2>&1 &\n\(failure)"
    )
    .objects().first
    #expect(object?["status"] as? Int == 74 && object?["error"] as? String == reason, "\(object ?? [:])")
  }
}
