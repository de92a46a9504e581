// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `status --check --format` for monitoring programs.
@Suite(.timeLimit(.minutes(10))) struct StatusFormatTests {
  /// Runs a script with a store that has two readings and a note.
  private func run(_ script: String) async throws -> Program.Outcome {
    try await Program().shell(
      """
      set -u; umask 077; export GLUCOPORT_STORE=a.db
      printf 'time,glucose (mg/dL)\\n2026-05-06T07:10:00,100\\n2026-05-06T08:10:00,123\\n' >rows.csv
      glucoport import --quiet --timezone UTC rows.csv; glucoport record add note secret --quiet
      \(script)
      """)
  }

  @Test func statusMetricsContainCountsAndFindings() async throws {
    let outcome = try await run("glucoport status --check --format prometheus >m; echo $?; cat m")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "0" && outcome.errors == "", "\(outcome)")
    #expect(lines.contains(#"glucoport_store_readings{store="a.db"} 2"#))
    #expect(lines.contains(#"glucoport_store_pending{store="a.db",kind="records"} 1"#))
    #expect(lines.contains(#"glucoport_store_finding{store="a.db",word="conflicts"} 0"#))
    #expect(lines.contains { $0.hasPrefix(#"glucoport_store_last_import_timestamp_seconds{store="a.db"} "#) })
    // Lines with a time are left out, since its seconds may contain the digits 123 by chance.
    let rest = lines.filter { !$0.contains("timestamp_seconds") }
    #expect(!outcome.output.contains("last_upload") && !rest.contains { $0.contains("123") })
  }

  /// The text format of Prometheus requires the help and the type of each metric once, before its samples.
  @Test func statusMetricsAreInThePrometheusFormat() async throws {
    let outcome = try await run(
      "mv a.db 'a\"\\b.db'; glucoport status --check --store 'a\"\\b.db' --format prometheus")
    var name = ""
    var seen: Set<String> = []
    for line in outcome.output.split(separator: "\n") {
      if let match = line.wholeMatch(of: /# HELP (\w+) .+\./) {
        name = String(match.1)
        #expect(seen.insert(name).inserted)
      } else if let match = line.wholeMatch(of: /# TYPE (\w+) gauge/) {
        #expect(String(match.1) == name)
      } else {
        let match = try #require(
          try /(\w+)\{store="a\\"\\\\b\.db"(?:,[a-z]+="[a-z]+")?\} [0-9]+/.wholeMatch(in: line), "\(line)")
        #expect(String(match.1) == name)
      }
    }
    #expect(seen.count >= 5, "\(outcome)")
  }

  @Test func aFindingHasTheValue1InStatusMetricsAndTheExitStatusIs0() async throws {
    let outcome = try await run(
      """
      sqlite3 a.db "UPDATE record SET conflict = '{}', conflict_revision = 'r' WHERE kind = 'note'"
      glucoport status --check --format prometheus >m; echo $?; grep -c 'word="conflicts"} 1' m
      """)
    #expect(outcome.output == "0\n1\n", "\(outcome)")
  }

  @Test func aMonitoringPluginPrintsOneLineWithItsNumbers() async throws {
    let outcome = try await run(
      """
      glucoport status --check --format nagios; echo $?
      sqlite3 a.db "UPDATE record SET conflict = '{}', conflict_revision = 'r' WHERE kind = 'note'"
      glucoport status --check --format nagios | cut -c 1-30; glucoport status --check --format nagios >/dev/null; echo $?
      glucoport status --check --format nagios --ignore conflicts >/dev/null; echo $?
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 5, "\(outcome)")
    #expect(
      lines[0]
        == "GLUCOPORT OK - 2 readings, 3 pending | readings=2 records=1 pending=3 conflicts=0 refused=0")
    #expect(lines[1] == "0" && lines[3] == "1" && lines[4] == "0")
    #expect(lines[2].hasPrefix("GLUCOPORT WARNING - conflicts:"))
    #expect(outcome.errors == "")
  }

  @Test func anOverdueUploadIsCriticalForAMonitoringPlugin() async throws {
    let outcome = try await run(
      """
      sqlite3 a.db "UPDATE ingest SET started_at = 1, finished_at = 1"
      glucoport status --check --max-age 1h --format nagios >line; echo $?; grep -c '^GLUCOPORT CRITICAL - overdue: ' line
      """)
    #expect(outcome.output == "2\n1\n", "\(outcome)")
  }

  @Test(arguments: [
    "status --format nagios", "status --check --format nagios --json",
    "status --check --format nagios --quiet",
    "status --check --format xml",
  ])
  func invalidOptionsWithTheStatusFormatAreRefused(_ line: String) async throws {
    #expect(try await run("glucoport \(line)").status == 64)
  }
}
