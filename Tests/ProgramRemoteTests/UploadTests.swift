// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport upload` with several stores and a server. All of them are real processes.
@Suite(.timeLimit(.minutes(10))) struct UploadTests {
  /// Starts a server, runs a script, and stops the server.
  private func script(_ text: String, _ program: Program? = nil) async throws -> Program.Outcome {
    let program = try program ?? Program()
    return try await program.shell(
      ServerScript.clients + "serve\n" + text + "\nstop >/dev/null\ncat errors 1>&2")
  }

  @Test func theContentOfOneStoreReachesAnotherThroughTheServer() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 2345), to: "all.csv")
    let outcome = try await script(
      """
      of a import all.csv --quiet; of a record add note 'from a' --quiet; connect a; connect b
      of b record add insulin 4.5 --subtype rapid --quiet; row b 07:10 123
      upload a --json; upload b --json; upload a; same a b
      connect c; upload c; same a c
      """, program)
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 10, "\(outcome)")
    #expect(lines[0].contains("\"outcome\":\"complete\",\"pushed_readings\":2345,"), "\(lines[0])")
    #expect(lines[0].contains("\"pushed_records\":1,\"pulled_readings\":0,\"pulled_records\":0"))
    #expect(lines[2].contains("\"pushed_readings\":1,") && lines[2].contains("\"pulled_readings\":2345,"))
    #expect(lines[2].contains("\"pushed_records\":1,") && lines[2].contains("\"pulled_records\":1,"))
    #expect(lines[4] == "pushed 0 readings, 0 records · pulled 1 reading, 1 record · conflicts 0")
    #expect(lines[7].hasPrefix("pushed 0 readings, 0 records · pulled 2,346 readings, 2 records"))
    #expect([1, 3, 5, 6, 8, 9].map { lines[$0] } == ["a 0", "b 0", "a 0", "same", "c 0", "same"])
    #expect(outcome.errors == "")
  }

  @Test func anUploadWithoutChangesNeedsOneRequest() async throws {
    let outcome = try await script(
      """
      connect a; connect b; row a 07:10 123; of a record add note x --quiet
      upload a --quiet; upload b --quiet; upload a --quiet
      before=$(requests)
      upload a --quiet; echo $(($(requests) - before)); upload b --quiet; echo $(($(requests) - before))
      """)
    #expect(outcome.output == "a 0\nb 0\na 0\na 0\n1\nb 0\n2\n", "\(outcome)")
    #expect(outcome.errors == "")
  }

  @Test func aDryRunOfAnUploadSendsNoRequestAndWritesNothing() async throws {
    let program = try Program()
    _ = try await script(
      "connect a; row a 07:10 123; of a record add note x --quiet; of a record add note y --quiet", program)
    let before = try FolderListing(program.folder)
    let outcome = try await program.run("upload", "--dry-run", "--store", program.path("a.db"))
    #expect(
      outcome.output == "pending: 1 reading, 2 records; nothing was sent or changed\n", "\(outcome)")
    let json = try await program.run("upload", "--dry-run", "--json", "--store", program.path("a.db"))
    let object = try #require(try json.objects().first)
    #expect(object["dry_run"] as? Bool == true && object["pending_readings"] as? Int == 1)
    #expect(object["pending_records"] as? Int == 2 && object["pending_attachments"] as? Int == 0)
    #expect(outcome.status == 0 && json.status == 0)
    #expect(try FolderListing(program.folder) == before)
  }

  /// Name and date of birth are settings of this computer. No option sends them to a remote.
  @Test func nameAndDateOfBirthAreNotSentToTheServer() async throws {
    let outcome = try await script(
      """
      of a add 45g soup --quiet; of a config name 'Zoë Sommerfeldt'; of a config born 1971-03-09
      connect a; row a 07:10 123; upload a --quiet; of a verify --quiet; upload a --quiet
      connect b; upload b --quiet; of b list | wc -l; of b config name; of b config born
      of a export --format ndjson >exported; of a export --format fhir >>exported
      private='Sommerfeldt|1971-03-09'
      grep -aq soup -r served && grep -aq soup exported && echo there
      grep -aqE "$private" -r served log exported || echo absent
      cat a.db a.db-wal 2>/dev/null | grep -aqE "$private" && echo kept
      """)
    #expect(
      outcome.output == "a 0\na 0\nb 0\n2\nname none\nborn none\nthere\nabsent\nkept\n", "\(outcome)")
  }

  @Test func pushOnlyAndPullOnlySkipTheOtherDirection() async throws {
    let outcome = try await script(
      """
      connect a; connect b; row a 07:10 123; upload a --quiet; row b 07:20 99; of b record add note x --quiet
      upload b --push-only; upload b --pull-only; of b record add note y --quiet; row a 07:30 98; upload a --quiet
      upload b --pull-only; pending b; upload b --push-only --pull-only
      """)
    #expect(
      outcome.output == """
        a 0
        pushed 1 reading, 1 record · pulled 0 readings, 0 records · conflicts 0
        b 0
        pushed 0 readings, 0 records · pulled 1 reading, 0 records · conflicts 0
        b 0
        a 0
        pushed 0 readings, 0 records · pulled 1 reading, 0 records · conflicts 0
        b 0
        pending: 0 readings, 1 record; nothing was sent or changed
        b 64

        """, "\(outcome)")
    let told = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("glucoport: ") }
    #expect(
      told == [
        "glucoport: --push-only: changes by others were not downloaded",
        "glucoport: --pull-only: 1 item is still pending",
      ], "where nothing is pending, nothing is left: \(outcome)")
  }

  @Test func anUploadThatOnlyFetchesCountsAttachments() async throws {
    let outcome = try await script(
      """
      connect a; of a record add note entry --quiet; upload a --quiet; echo content >file
      of a record attach $(sqlite3 a.db "SELECT guid FROM record WHERE kind = 'note'") file --quiet; upload a --pull-only --quiet
      upload a --pull-only --json >/dev/null
      """)
    #expect(
      outcome.errors == "glucoport: --pull-only: 2 items are still pending\n", "\(outcome)")
  }

  @Test func anUploadAfterItsTimeLimitLeavesWorkForTheNext() async throws {
    let outcome = try await script(
      "connect a; row a 07:10 123; upload a --max-time 0s; pending a; upload a --max-time 1h --quiet; pending a"
    )
    #expect(
      outcome.output == """
        pushed 0 readings, 0 records · pulled 0 readings, 0 records · conflicts 0
        a 75
        pending: 1 reading, 0 records; nothing was sent or changed
        a 0
        pending: 0 readings, 0 records; nothing was sent or changed

        """, "\(outcome)")
    #expect(outcome.errors == "glucoport: --max-time reached; the next run continues\n")
  }

  @Test func onlyOneUploadUsesAStoreAndItNeverBlocksAnEdit() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123
      kill -STOP $server; upload a --quiet >first & first=$!
      for _ in $(seq 400); do
        [ -e a.db-upload ] && grep -q ":$(stat -c %i a.db-upload) " /proc/locks && break; sleep 0.02
      done
      upload a; of a record add note 'meanwhile' --quiet; row a 07:20 99; upload a --lock-wait 1s
      upload a --quiet --lock-wait 60s >second & second=$!
      kill -CONT $server; wait $first; wait $second; cat first second; pending a
      """)
    #expect(
      outcome.output
        == "a 75\na 75\na 0\na 0\npending: 0 readings, 0 records; nothing was sent or changed\n", "\(outcome)"
    )
    #expect(outcome.errors.components(separatedBy: "another upload of this store is running").count == 3)
  }

  /// Another upload held the lock and failed. It stored a retry delay, which the waiting upload must obey.
  @Test func anUploadThatWaitedForTheLockObeysTheNewRetryDelay() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; stop >/dev/null; exec 9>>a.db-upload; flock 9
      GLUCOPORT_STORE=a.db glucoport upload --lock-wait 60s 2>>errors 9>&- & waiting=$!
      for _ in $(seq 400); do ls -l /proc/$waiting/fd | grep -q 'a\\.db$' && break; sleep 0.02; done
      sqlite3 a.db 'UPDATE remote SET failures = 1, next_attempt = unixepoch() + 600'
      exec 9>&-; wait $waiting; echo "a $?"; again
      """)
    #expect(outcome.output == "a 75\n", "\(outcome)")
    #expect(outcome.errors.contains("the next attempt is due in"), "\(outcome)")
  }

  @Test func theRetryDelayAfterAFailedUploadIsStored() async throws {
    let outcome = try await script(
      """
      # However slow the machine, the wait is not over before its end is looked at.
      later() { sqlite3 a.db 'UPDATE remote SET next_attempt = next_attempt + 600 WHERE next_attempt > unixepoch()'; }
      connect a; row a 07:10 123; stop >/dev/null
      upload a; later; upload a; upload a --now; later; upload a; of a remote show | grep -c 'next attempt'
      again; upload a; upload a --now; upload a
      """)
    #expect(
      outcome.output == """
        a 69
        a 75
        a 69
        a 75
        1
        a 75
        pushed 1 reading, 0 records · pulled 0 readings, 0 records · conflicts 0
        a 0
        pushed 0 readings, 0 records · pulled 0 readings, 0 records · conflicts 0
        a 0

        """, "\(outcome)")
    #expect(outcome.errors.contains("Connection refused"), "\(outcome.errors)")
    #expect(outcome.errors.components(separatedBy: "to try now, use --now").count == 4, "\(outcome.errors)")
  }

  @Test func aRefusedTokenOrAnotherLogbookEndsTheUploadWithoutChanges() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; cp a.token good
      login a write bob; upload a; pending a
      glucoport serve token list --data served --json | sed 's/.*"name":"\\([^"]*\\)".*"logbook":"anna".*/\\1/' | grep -v '{' |
        while read -r name; do glucoport serve token revoke "$name" --data served; done
      cp good a.token; upload a; pending a; of a remote show | grep -c anna
      """)
    #expect(
      outcome.output == """
        a 78
        pending: 1 reading, 0 records; nothing was sent or changed
        a 77
        pending: 1 reading, 0 records; nothing was sent or changed
        1

        """, "\(outcome)")
    #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
  }

  @Test func anUploadWithAReadOnlyTokenStillFetches() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; of a record add note x --quiet; upload a --quiet
      connect b read; upload b; row b 07:20 99; of b record add note y --quiet
      row a 07:30 98; upload a --quiet; upload b; pending b; upload b --pull-only; login b; upload b
      """)
    #expect(
      outcome.output == """
        a 0
        pushed 0 readings, 0 records · pulled 1 reading, 1 record · conflicts 0
        b 0
        a 0
        b 77
        pending: 1 reading, 1 record; nothing was sent or changed
        pushed 0 readings, 0 records · pulled 0 readings, 0 records · conflicts 0
        b 0
        pushed 1 reading, 1 record · pulled 0 readings, 0 records · conflicts 0
        b 0

        """, "\(outcome)")
    #expect(
      outcome.errors.split(separator: "\n").first
        == "glucoport: before the failure: pushed 0 readings, 0 records · pulled 1 reading, 0 records · conflicts 0",
      "\(outcome)")
  }

  @Test func aTokenIsNotSentOverPlainHTTPToAnotherComputer() async throws {
    let outcome = try await script(
      "connect a; of a remote set http://192.0.2.1:8077 --token-file a.token 2>>errors; echo $?; of a remote show | head -1"
    )
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 2, "\(outcome)")
    #expect(lines[0] == "78" && lines[1].hasPrefix("http://127.0.0.1:"), "\(outcome)")
    #expect(outcome.errors.contains("--insecure-http"), "\(outcome.errors)")
  }

  @Test func theUploadTokenIsInNoOutputLogOrStore() async throws {
    let outcome = try await script(
      """
      connect a; secret=$(cut -c 1-16 a.token); row a 07:10 123
      { upload a; upload a --json; upload a --dry-run; of a remote show; of a remote show --json; of a remote test
        of a status; of a status --json; upload a --now --pull-only; crash; upload a; again
        sed 's/.$/x/' a.token >b; cat b >a.token; upload a --now; upload a --json --now; } >told 2>&1
      cat a.db a.db-wal log errors >>told 2>/dev/null; grep -a -c "a 77" told; grep -a -c -F "$secret" told
      """)
    #expect(outcome.output == "2\n0\n", "\(outcome)")
  }
}
