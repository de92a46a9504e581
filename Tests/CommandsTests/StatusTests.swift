// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What a person sees of the way to the remote, with the built program and a server.
@Suite struct StatusTests {
  /// A script with a server, and a store of three readings of two days and an entry with a note.
  private func run(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      """
      set -u; umask 077
      glucoport serve --data data --listen 127.0.0.1:0 >out 2>>log & server=$!
      trap 'kill -TERM $server 2>/dev/null; wait $server' EXIT
      for _ in $(seq 400); do grep -q listening out && break; sleep 0.05; done
      url=$(sed 's/listening on //' out)
      glucoport serve token add a --role write --logbook anna --data data >token
      export GLUCOPORT_STORE=a.db
      printf 'time,glucose (mg/dL)\\n2026-05-06T07:10:00,100\\n2026-05-06T08:10:00,101\\n2026-05-07T07:10:00,102\\n' >rows.csv
      glucoport import --quiet --timezone Europe/Madrid rows.csv
      entry=$(glucoport record add food 30 g --at 2026-05-06T12:00 --json | sed 's/.*"guid":"//; s/".*//')
      glucoport record add note hello --entry $entry --quiet --at 2026-05-06T12:05
      glucoport remote set "$url" --token-file token >/dev/null
      \(script)
      """)
  }

  @Test func whatIsNotOnTheServerIsMarkedUntilItIs() async throws {
    let outcome = try await run(
      """
      glucoport list --days; glucoport list | grep -c queued; glucoport list --long | grep -c queued
      glucoport upload --quiet
      glucoport list --days; glucoport list --long | grep -c queued
      glucoport status | grep -c pending
      """)
    #expect(
      outcome.output == """
        2026-05-06  2 readings  (queued, 2 of them)
        2026-05-07  1 readings  (queued, 1 of them)
        2
        5
        2026-05-06  2 readings
        2026-05-07  1 readings
        0
        2

        """, "\(outcome)")
  }

  @Test func anEntryIsMarkedAsLongAsItsNoteWaits() async throws {
    let outcome = try await run(
      """
      glucoport upload --quiet
      glucoport record add note more --entry $entry --quiet --at 2026-05-06T12:10
      glucoport record list | sed 's/  [0-9a-f]\\{8\\}/  ID/'; glucoport upload --quiet
      glucoport record list | grep -c queued
      """)
    #expect(
      outcome.output == """
        2026-05-06 12:00:00  food     30 g  ID  (queued)
        2026-05-06 12:05:00  note     hello  ID
        2026-05-06 12:10:00  note     more  ID  (queued)
        0

        """, "\(outcome)")
  }

  @Test func theDaysAreThereForPrograms() async throws {
    let outcome = try await run("glucoport list --days --format ndjson; glucoport list --days --format csv")
    #expect(
      outcome.output == """
        {"day":"2026-05-06","readings":2,"queued":2,"state":"queued","reason":"waiting"}
        {"day":"2026-05-07","readings":1,"queued":1,"state":"queued","reason":"waiting"}

        """, "\(outcome)")
    #expect(outcome.status == 64)
  }

  @Test func theSumTellsTheLastUploadAndWhatWaitsTheLongest() async throws {
    let outcome = try await run(
      """
      glucoport status | grep "no upload to"; glucoport upload --quiet
      glucoport status | grep "last upload"; kill -TERM $server; wait $server
      glucoport record add note later --quiet; glucoport upload --quiet 2>/dev/null; glucoport status --json
      """)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].contains("oldest pending since 20"), "\(outcome)")
    #expect(!lines[1].contains("pending"), "\(outcome)")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(lines[2].utf8)) as? [String: Any])
    let sync = try #require(object["sync"] as? [String: Any])
    #expect(sync["running"] as? Bool == false && sync["next_attempt"] is String, "\(sync)")
    #expect(sync["oldest_pending"] is String && sync["last_push"] is String && sync["last_pull"] is String)
    #expect(sync["last_error"] is String)
  }

  // MARK: - Following an upload

  /// Lets something seem to be on its way while a process holds the lock of uploads, as `exec 9` does.
  private static let moving = """
    exec 9>>a.db-upload; flock 9
    sqlite3 a.db "INSERT INTO transfer (lane, started_at, items, first_section, first_position, last_section,
      last_position) VALUES ('readings', 1, 2, 1, 0, 9, 9e15)"
    """

  @Test func followingTellsEachChangeInAPipeAndEndsWithTheUpload() async throws {
    let outcome = try await run(
      """
      glucoport status --watch
      \(Self.moving)
      glucoport status --watch >seen 9>&- & watch=$!
      for _ in $(seq 400); do grep -q syncing seen && break; sleep 0.05; done
      sqlite3 a.db "DELETE FROM transfer"
      for _ in $(seq 400); do [ $(grep -c syncing seen) = 2 ] && break; sleep 0.05; done
      exec 9>&-; wait $watch; echo $?; cat seen
      """)
    let queued = "queued: 3 readings, 2 records"
    #expect(
      outcome.output == """
        \(queued)
        0
        syncing: 2 readings · \(queued)
        syncing · \(queued)
        \(queued)

        """, "\(outcome)")
  }

  @Test func theMarkOnATerminalMovesOnlyWhileSomethingIsOnItsWay() async throws {
    let outcome = try await run(
      """
      \(Self.moving)
      script -qefc 'glucoport status --watch' seen </dev/null >/dev/null 9>&- & watch=$!
      for _ in $(seq 400); do grep -q '/ syncing' seen && break; sleep 0.05; done
      sqlite3 a.db "DELETE FROM transfer"
      for _ in $(seq 400); do grep -q '  syncing' seen && break; sleep 0.05; done
      exec 9>&-; wait $watch; echo $?
      tr '\\r' '\\n' <seen | sed 's/\\x1b\\[K//' | grep -o '^. syncing:\\?' | sort -u
      """)
    let marks = Set(outcome.output.split(separator: "\n").dropFirst().map(String.init))
    #expect(outcome.output.hasPrefix("0\n"), "\(outcome)")
    #expect(marks.isSuperset(of: ["| syncing:", "/ syncing:", "  syncing"]), "\(outcome)")
    #expect(!marks.contains { $0.first != " " && $0.hasSuffix("syncing") }, "\(outcome)")
  }

  @Test func anUploadThatWasKilledLeavesNothingThatSeemsToMove() async throws {
    let outcome = try await run(
      """
      \(Self.moving)
      glucoport list --long | grep -c syncing; glucoport list --days
      exec 9>&-
      glucoport list --long | grep -c syncing; glucoport status --watch
      """)
    #expect(
      outcome.output == """
        3
        2026-05-06  2 readings  (syncing, 2 of them)
        2026-05-07  1 readings  (syncing, 1 of them)
        0
        queued: 3 readings, 2 records

        """, "\(outcome)")
  }
}
