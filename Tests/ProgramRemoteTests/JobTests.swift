// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests uploads of scheduled jobs, whose output is sent as mail. Also tests `status --check`, which reports
/// failures about which the jobs are silent.
@Suite(.timeLimit(.minutes(10))) struct JobTests {
  /// Runs a script with a server. These functions are available:
  ///
  /// - `job NAME` uploads the store NAME as a cron job does
  /// - `check NAME …` prints the exit status of `status --check`, and the names of its findings
  /// - `revoke` revokes all tokens of the server
  /// - `said` prints how many lines uploads have printed since the last call
  private func script(_ text: String) async throws -> Program.Outcome {
    try await Program().shell(
      ServerScript.clients + """
        : >errors; : >all
        job() { upload "$@" --unattended --quiet; }
        check() { local name=$1; shift; of "$name" status --check --quiet "$@" 2>found; echo "check $?" $(sed 's/^glucoport: //; s/:.*//' found); }
        revoke() {
          glucoport serve token list --data served --json | jq -r .name |
            while read -r name; do glucoport serve token revoke "$name" --data served; done
        }
        said() { echo "said $(wc -l <errors)"; cat errors >>all; : >errors; }
        later() { sqlite3 a.db 'UPDATE remote SET next_attempt = next_attempt + 600 WHERE next_attempt > unixepoch()'; }
        serve
        \(text)
        stop >/dev/null; cat all errors 1>&2
        """)
  }

  // MARK: - Temporary failures

  @Test func aJobWithAStoppedServerCausesNoMailAndTriesAgain() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; stop >/dev/null
      job a; later; job a; job a --now; said
      upload a --unattended --now; upload a --quiet --now; said
      exec 9>>a.db-upload; flock 9; job a 9>&-; exec 9>&-; said
      again; job a --now --max-time 0s; job a --now; said
      """)
    #expect(
      outcome.output == """
        a 75
        a 75
        a 75
        said 0
        a 75
        a 69
        said 2
        a 75
        said 0
        a 75
        a 0
        said 0

        """, "\(outcome)")
    #expect(outcome.errors.components(separatedBy: "Connection refused").count == 3, "\(outcome)")
  }

  @Test func statusCheckReportsOverdueItems() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; stop >/dev/null; job a
      check a; check a --max-age 1h
      sqlite3 a.db 'UPDATE ingest SET started_at = started_at - 7200, finished_at = finished_at - 7200'
      check a --max-age 3h; check a --max-age 1h; cut -c 1-38 found; grep -c 'Connection refused' found
      check a --max-age 1h --ignore overdue
      again; job a --now; check a --max-age 1h
      sqlite3 a.db 'UPDATE remote SET last_success = last_success - 7200'; check a --max-age 1h
      cut -c 1-48 found
      """)
    #expect(
      outcome.output == """
        a 75
        check 0
        check 0
        check 0
        check 75 overdue
        glucoport: overdue: 1 item is pending,
        1
        check 0
        a 0
        check 0
        check 75 overdue
        glucoport: overdue: no upload succeeded since 20

        """, "\(outcome)")
  }

  // MARK: - Lasting failures

  @Test func aJobReportsARevokedTokenOnceUntilItWorksAgain() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; job a; row a 07:20 99; revoke
      job a; said; job a; job a; said; check a; check a --ignore upload
      upload a; said; upload a --unattended; said
      login a; job a; said; check a
      row a 07:30 98; revoke; job a; said; check a
      """)
    #expect(
      outcome.output == """
        a 0
        a 77
        said 1
        a 77
        a 77
        said 0
        check 77 upload
        check 0
        a 77
        said 1
        a 77
        said 2
        a 0
        said 0
        check 0
        a 77
        said 1
        check 77 upload

        """, "\(outcome)")
    #expect(outcome.errors.components(separatedBy: "the login is rejected").count == 5, "\(outcome)")
  }

  @Test func aJobReportsAnotherRevokedTokenAgain() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; revoke; job a; job a; said
      sed 's/.$/x/' a.token >b; cat b >a.token; job a; job a; said
      rm a.token; job a; job a; said; check a
      of a status --check --json 2>/dev/null | jq -c '.findings | map([.word, .status])'; of a status | grep -c 'last attempt failed'
      echo wrong >a.token; chmod 600 a.token; job a; said
      secret=$(cut -c 1-16 b); cat a.db a.db-wal 2>/dev/null | grep -a -c -F "$secret"
      """)
    #expect(
      outcome.output == """
        a 77
        a 77
        said 1
        a 77
        a 77
        said 1
        a 66
        a 66
        said 1
        check 66 upload
        [["upload",66]]
        1
        a 77
        said 1
        0

        """, "\(outcome)")
  }

  @Test func anUploadWithoutRequestsDoesNotForgetAnEarlierFailure() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; job a; row a 07:20 99; revoke; job a; said
      sqlite3 a.db 'UPDATE reading SET uploaded = 1; UPDATE series SET pending = 0'
      job a; check a; of a status | grep -c 'last attempt failed'; row a 07:30 98; job a; said
      # A server that is down in between says nothing of the login.
      stop >/dev/null; job a; check a; grep -c '; the last attempt failed for another reason: 127.0.0.1' found; again; sqlite3 a.db 'UPDATE remote SET next_attempt = NULL'; job a; said
      of a remote set "$url" --token-file a.token 2>>all; login a; of a remote set "$url" --token-file a.token >/dev/null; check a
      """)
    #expect(
      outcome.output == """
        a 0
        a 77
        said 1
        a 0
        check 77 upload
        1
        a 77
        said 0
        a 75
        check 77 upload
        1
        a 77
        said 0
        check 0

        """, "\(outcome)")
  }

  @Test func aJobReportsAReadOnlyTokenAndADeletedLogbookOnce() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; job a; connect b read; row b 07:20 99; job b; job b; said; check b
      of a remote purge --confirm anna >/dev/null
      job b; job b; said; check b
      """)
    #expect(
      outcome.output == """
        a 0
        b 77
        b 77
        said 1
        check 77 upload
        b 78
        b 78
        said 1
        check 78 upload

        """, "\(outcome)")
  }

  // MARK: - Results

  @Test func aFailedUploadPrintsNoResultOnStandardOutput() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; stop >/dev/null; upload a; upload a --now --json | jq -r '.outcome // .'; again
      revoke; upload a --now; said; login a; upload a
      """)
    #expect(
      outcome.output == """
        a 69
        failed
        a 77
        said 3
        pushed 1 reading, 0 records · pulled 0 readings, 0 records · conflicts 0
        a 0

        """, "\(outcome)")
  }

  // MARK: - The clock of a meter

  private static let session = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples/meters/contour-constructed.transcript")

  /// Runs a script. `read_at TIME` imports a meter session in which the meter shows 2026-05-06 20:33:00 and
  /// the computer's clock shows TIME in UTC.
  private func clockScript(_ text: String) async throws -> Program.Outcome {
    let program = try Program()
    try program.write(Data(contentsOf: Self.session), to: "session")
    return try await program.shell(
      """
      read_at() {
        sed "s/^started .*/started 2026-05-06T$1Z/" session >at; glucoport import --quiet --timezone ${2:-Europe/Madrid} --transcript at
      }
      check() { glucoport status --check --quiet "$@" 2>found; echo "$?" $(sed 's/^glucoport: //; s/:.*//' found); }
      sqlite3() { command sqlite3 "$XDG_DATA_HOME/glucoport/logbook.db" "$1"; }
      \(text)
      """)
  }

  @Test func statusReportsAWrongMeterClockUntilItIsCorrected() async throws {
    let outcome = try await clockScript(
      """
      read_at 18:33:00; check; read_at 18:35:00; check; read_at 18:36:00; check; cat found
      check --ignore clock; check --ignore conflicts --ignore overdue
      glucoport status --json | jq -c '.findings[] | [.word, .status]'; glucoport status >/dev/null; echo $?
      read_at 18:30:00; check; sqlite3 "UPDATE ingest SET clock_meter = clock_meter + 180, clock_difference = 0 WHERE id = 3"; check
      """)
    #expect(
      outcome.output == """
        0
        0
        3 clock
        glucoport: clock: Ascensia Contour Next USB 7413-1234567 was 3 min 0 s behind the local time in Europe/Madrid when \
        it was read at 2026-05-06T18:36:00Z; set its clock and read it again
        0
        3 clock
        ["clock",3]
        0
        3 clock
        0

        """, "what was read before says nothing: \(outcome)")
    #expect(outcome.errors == "")
  }

  @Test func correctingTheTimeZoneEndsTheReportOfAWrongMeterClock() async throws {
    let outcome = try await clockScript(
      """
      read_at 18:33:00 UTC; check; glucoport config timezone Europe/Madrid >/dev/null; check
      read_at 19:33:00 Europe/London; check; glucoport config timezone America/Lima >/dev/null; check
      """)
    #expect(outcome.output == "3 clock\n0\n0\n0\n", "\(outcome)")
  }

  @Test(arguments: [
    "started_at = 86400", "clock_host = clock_host + 999999999",
    "started_at = started_at + 999999999, finished_at = started_at + 999999999",
  ])
  func aMeterClockIsNotReportedAfterAWrongComputerClock(_ change: String) async throws {
    let outcome = try await clockScript(
      "read_at 18:36:00; check; sqlite3 'UPDATE ingest SET \(change)'; check")
    #expect(outcome.output == "3 clock\n0\n", "\(outcome)")
  }

  @Test func anUnknownFindingNameIsRefusedAndKnownOnesAreListed() async throws {
    let outcome = try await clockScript(
      "read_at 18:33:00; check --ignore clocks; cat found; glucoport status --ignore clock; echo $?")
    #expect(outcome.output.hasPrefix("64 ") && outcome.output.hasSuffix("\n64\n"), "\(outcome)")
    for word in ["conflicts", "refused", "unsendable", "downloads", "clock", "readings", "upload", "overdue"]
    {
      #expect(outcome.output.contains("'\(word)'") || outcome.output.contains(word), "\(word)")
    }
  }
}
