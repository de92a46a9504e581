// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import TestProgram
import Testing

/// Tests stores in which a damaged disk or another program left any value in any column. Every command ends
/// with a documented status, in a short time and with limited memory.
@Suite(.timeLimit(.minutes(600))) struct HostileStoreTests {
  /// The commands that use a damaged store. Each gets a separate copy of it, since many of them write to it.
  private static let commands = [
    "status", "status --json", "doctor", "doctor --deep", "list", "list --long --newest 5",
    "export --format ndjson",
    "export --format csv", "log", "log 1", "stats", "day 2026-03-30", "report -o page.html", "conflict list",
    "queue list", "record list --deleted", "count list", "config", "upload --dry-run", "verify",
    "undo 2 --dry-run",
    "redo --dry-run", "upload", "config timezone Asia/Tokyo", "undo 2 --yes", "undo --yes", "redo --yes",
    "conflict resolve --all --mine", "record add note x", "import rows.csv",
    "import --again rows.csv --timezone Europe/London",
  ]
  /// The statuses with which a command may end. Those from 64 are in glucoport(1). A status of a crash, an
  /// internal error or a timeout is not among them.
  private static let statuses = Set<Int32>([0, 1, 2, 3, 4]).union(64...78).subtracting([70, 71, 72])
  /// The maximum memory of a command. Apart from memory that the runtime reserves, a command needs a
  /// hundredth of it for a small store.
  private static let maxKiB = 3 << 20
  private static let maxSeconds = 20

  private let program: Program

  init() async throws {
    program = try Program()
    let outcome = try await program.shell(
      """
      set -e
      cp '\(Samples.path("clarity/clarity-12col-repeated-hour.csv"))' rows.csv; : >token; chmod 600 token
      export GLUCOPORT_STORE=sound.db GLUCOPORT_TIMEZONE=Europe/Madrid
      add() { glucoport "$@" --quiet || [ $? = 3 ]; }
      add import '\(Samples.path("glucoport/everything.ndjson"))'; add import rows.csv
      add import '\(Samples.path("mysugr/reexport-a.csv"))'; add import '\(Samples.path("mysugr/reexport-b.csv"))'
      add import '\(Samples.path("clarity/clarity-nasty.csv"))' --timezone America/New_York
      add import --transcript '\(Samples.path("meters/contour-constructed.transcript"))'
      add record add insulin 4.5U --subtype rapid --at 2026-03-01T08:00; add record add note n --at 2026-03-01T08:10
      add record attach "$(command sqlite3 sound.db "SELECT guid FROM record WHERE kind = 'note' AND entry_guid IS NULL LIMIT 1")" rows.csv
      add undo 2 --yes; add record add note last --at 2026-03-04T08:10; add undo --yes
      command sqlite3 sound.db "INSERT INTO remote (id, kind, url, token_file, logbook, logbook_name, node) VALUES
        (1, 'glucoport', 'http://127.0.0.1:9', 'token', 'l', 'n', '00000000-0000-4000-8000-000000000001');
        PRAGMA wal_checkpoint(TRUNCATE)"
      """)
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// Runs commands on copies of a store with one change. Returns the failures.
  private func failures(of commands: [String], after change: HostileStore.Change, row: Int) async throws
    -> [String]
  {
    let path = program.path("hurt.db")
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.copyItem(atPath: program.path("sound.db"), toPath: path)
    guard try HostileStore(path).make(change, row: row) else { return [] }
    let runs = commands.map { command in
      """
      rm -f run.db*; cp hurt.db run.db
      (ulimit -v \(Self.maxKiB); GLUCOPORT_STORE=run.db timeout \(Self.maxSeconds) glucoport \(command) >/dev/null 2>errors)
      echo $? $(grep -c 'could not decode' errors)
      """
    }
    let outcome = try await program.shell(
      "export SWIFT_BACKTRACE=enable=no; ulimit -c 0\n" + runs.joined(separator: "\n"), within: .seconds(1200)
    )
    let lines = outcome.output.split(separator: "\n").map {
      $0.split(separator: " ").compactMap { Int32($0) }
    }
    try #require(lines.count == commands.count, "\(outcome)")
    return zip(commands, lines).filter { !Self.statuses.contains($1.first ?? -1) || $1.last != 0 }.map {
      "\(change), row \(row): '\($0)' ended with \($1)"
    }
  }

  /// Tries 200 random changes, each with one random command. A run of the tests tries half of them.
  /// `GLUCOPORT_DAMAGE_SEED` sets another seed.
  @Test func commandsOnARandomlyDamagedStoreEndWithADocumentedStatus() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["GLUCOPORT_DAMAGE_SEED"].flatMap { UInt64($0) } ?? 1
    var random = SeededGenerator(seed: seed)
    let changes = try HostileStore(program.path("sound.db")).changes()
    var trials: [(change: HostileStore.Change, command: String, row: Int)] = []
    for _ in 0..<200 {
      let change = try #require(changes.randomElement(using: &random))
      let command = try #require(Self.commands.randomElement(using: &random))
      trials.append((change, command, Int.random(in: 0..<1000, using: &random)))
    }
    var failures: [String] = []
    for trial in Seeds.share(of: trials, every: 2) {
      failures += try await self.failures(of: [trial.command], after: trial.change, row: trial.row)
    }
    #expect(failures.isEmpty, "GLUCOPORT_DAMAGE_SEED=\(seed): \(failures.joined(separator: "\n"))")
  }

  /// Tries every damaged value in every column, with every command. This takes hours.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["GLUCOPORT_DAMAGE_ALL"] != nil))
  func everyDamagedValueOfAStoreEndsCommandsWithADocumentedStatus() async throws {
    for (number, change) in try HostileStore(program.path("sound.db")).changes().enumerated() {
      let failures = try await failures(of: Self.commands, after: change, row: number)
      #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }
  }
}
