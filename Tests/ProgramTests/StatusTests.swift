// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests the display of pending items and uploads, with the built program and a server.
@Suite struct StatusTests {
  /// Runs a script with a server. The store has three readings of two days, and an entry with a note.
  private func run(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      """
      set -u; umask 077
      glucoport serve --data data --listen 127.0.0.1:0 >out 2>>log & server=$!
      trap 'kill -TERM $server 2>/dev/null; wait $server' EXIT
      for _ in $(seq 1200); do grep -qs listening out && break; kill -0 $server || break; sleep 0.05; done
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

  @Test func itemsAreMarkedAsQueuedUntilTheyAreOnTheServer() async throws {
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
        2026-05-07  1 reading  (queued, 1 of them)
        2
        5
        2026-05-06  2 readings
        2026-05-07  1 reading
        0
        2

        """, "\(outcome)")
  }

  /// A deleted record is not counted as a record, but its deletion is pending.
  @Test func pendingDeletionsAreCountedSeparately() async throws {
    let outcome = try await run(
      """
      status() { glucoport status | grep -E 'records?,|food|note|readings,'; glucoport status --json | grep -oE '"pending_records":[0-9]+'; }
      status; glucoport upload --quiet; glucoport record delete $entry --quiet; glucoport record add note x --quiet
      status; glucoport upload --quiet; status
      """)
    #expect(
      outcome.output == """
        3 readings, 3 pending
        2 records, 2 pending
          food: 1
          note: 1
        "pending_records":2
        3 readings, 0 pending
        1 record, 1 pending, 2 deletions pending
          food: 0 · 1 deletion pending
          note: 1 · 1 pending · 1 deletion pending
        "pending_records":3
        3 readings, 0 pending
        1 record, 0 pending
          food: 0
          note: 1
        "pending_records":0

        """, "\(outcome)")
  }

  @Test func anEntryIsMarkedWhileItsNoteIsPending() async throws {
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

  @Test func theListOfDaysIsPrintedAsNDJSON() async throws {
    let outcome = try await run("glucoport list --days --format ndjson; glucoport list --days --format csv")
    #expect(
      outcome.output == """
        {"day":"2026-05-06","readings":2,"queued":2,"state":"queued","reason":"waiting"}
        {"day":"2026-05-07","readings":1,"queued":1,"state":"queued","reason":"waiting"}

        """, "\(outcome)")
    #expect(outcome.status == 64)
  }

  @Test func statusShowsTheLastUploadAndTheOldestPendingItem() async throws {
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

  // MARK: - Contents of attachments

  /// Everything is on the server except the content of an attachment.
  private static let attached = """
    echo content >file; glucoport record attach $entry file --quiet; glucoport upload --quiet
    guid=$(sqlite3 a.db "SELECT guid FROM record WHERE kind = 'attachment'")
    sqlite3 a.db "UPDATE blob SET uploaded = 0"

    """

  @Test func anAttachmentThatIsNotSentIsReportedAsPending() async throws {
    let outcome = try await run(
      Self.attached + """
        glucoport status --watch; glucoport status --json | jq -c '.sync.oldest_pending | type'
        glucoport status --check --max-age 1h --quiet; echo $?
        sqlite3 a.db "UPDATE queued SET queued_at = queued_at - 7200"
        glucoport status --check --max-age 1h --quiet; echo $?; glucoport upload --quiet; glucoport status --watch
        """)
    #expect(outcome.output == "queued: 1 attachment\n\"string\"\n0\n75\nsynced\n", "\(outcome)")
    #expect(outcome.errors.contains("1 item is pending, the oldest since 20"), "\(outcome)")
  }

  @Test func anAttachmentThatTheServerRefusesIsReportedEverywhere() async throws {
    let outcome = try await run(
      Self.attached + """
        sqlite3 a.db "UPDATE blob SET refusal = 'too heavy'"
        glucoport status --watch; glucoport status --check --quiet; echo $?; glucoport status --json | jq .sync.oldest_pending
        glucoport queue list --refused | sed 's/.*attachment/attachment/; s/  [0-9a-f]\\{8\\}/  ID/'
        glucoport queue list --refused --json | jq -r '[.item, .kind, .id, .refused] | join(" ")' | sed "s/$guid/ID/"
        for id in $guid $entry; do
          glucoport show $id | grep refused; glucoport show $id --json | jq -r '.reason + ": " + .refused'
        done
        glucoport queue retry; glucoport queue list --refused; glucoport status --watch
        """)
    #expect(
      outcome.output == """
        queued: 1 refused
        3
        null
        attachment  ID  refused: too heavy
        record attachment ID too heavy
        state          queued: refused
        refused        too heavy
        refused: too heavy
        state          queued: refused
        refused        too heavy
        refused: too heavy
        to be retried: 1
        queued: 1 attachment

        """, "\(outcome)")
    #expect(outcome.errors.contains("1 item is refused by the remote"), "\(outcome)")
  }

  @Test func aFailedDownloadOfAnAttachmentIsReported() async throws {
    let outcome = try await run(
      Self.attached + """
        glucoport upload --quiet; export GLUCOPORT_STORE=b.db GLUCOPORT_TIMEZONE=Europe/Madrid
        glucoport serve token add b --role write --logbook anna --data data >other
        glucoport remote set "$url" --token-file other >/dev/null; glucoport config attachment-limit 3 >/dev/null
        glucoport upload --quiet; echo $?; glucoport status --check --quiet; echo $?
        glucoport status | grep contents; glucoport status --json | jq -c '.attachment_contents'
        glucoport show $guid | grep -c 'attachment-limit'
        glucoport config attachment-limit 1MiB >/dev/null; glucoport queue retry; glucoport upload --quiet
        glucoport status --check --quiet; echo $?
        """)
    #expect(
      outcome.output == """
        3
        3
        contents of attachments: 1 could not be downloaded
        {"to_send":0,"to_send_bytes":0,"to_fetch":0,"refused":0,"not_fetched":1}
        1
        to be retried: 1
        0

        """, "\(outcome)")
    let lines = outcome.errors.split(separator: "\n")
    #expect(
      lines.count == 2 && lines.allSatisfy { $0.contains("1 download could not be stored") }, "\(outcome)")
  }

  @Test func anAttachmentMissingOnTheRemoteIsReportedUntilFetched() async throws {
    let outcome = try await run(
      Self.attached + """
        glucoport upload --quiet; export GLUCOPORT_STORE=b.db GLUCOPORT_TIMEZONE=Europe/Madrid
        for file in data/logbooks/*.db; do sqlite3 $file "DROP TRIGGER blob_stays; DROP TRIGGER blob_part_stays;
          DELETE FROM blob_part; DELETE FROM blob"; done
        glucoport serve token add b --role write --logbook anna --data data >other
        glucoport remote set "$url" --token-file other >/dev/null
        glucoport upload --quiet; echo $?; glucoport status --check --quiet; echo $?
        glucoport status --check --quiet --ignore downloads; echo $?
        """)
    #expect(outcome.output == "75\n3\n0\n", "\(outcome)")
    #expect(
      outcome.errors.split(separator: "\n").count {
        $0.contains("1 content of an attachment was not on the remote when asked for; upload from the store")
      }
        == 2, "\(outcome)")
  }

  // MARK: - Old readings

  @Test func statusReportsReadingsThatAreTooOldOnRequest() async throws {
    let program = try Program()
    #expect(try await program.run("config", "timezone", "UTC").status == 0)
    let check = ["status", "--check", "--quiet"]
    // A logbook without readings is new, or has only records, so it is not reported.
    #expect(try await program.run(arguments: check + ["--max-reading-age", "7d"]).status == 0)
    let time = DeviceTime(seconds: Int64(Date().timeIntervalSince1970) - 8 * 86400 - 600)
    var rows = ReadingRows()
    rows.add(.smbg, "100", at: time.text)
    try program.write(rows.csv, to: "rows.csv")
    #expect(try await program.run("import", "--quiet", program.path("rows.csv")).status == 0)
    #expect(try await program.run("record", "add", "note", "today", "--quiet").status == 0)
    #expect(try await program.run(arguments: check).status == 0)
    #expect(try await program.run(arguments: check + ["--max-reading-age", "9d"]).status == 0)
    let stale = try await program.run(arguments: check + ["--max-reading-age", "7d"])
    #expect(
      stale.status == 3
        && stale.errors.contains("readings: the newest reading is 8 days old, of \(time.text)Z; import newer"),
      "\(stale)")
    let hours = try await program.run(
      arguments: check + ["--max-reading-age", "36h", "--ignore", "readings"])
    #expect(hours.status == 0 && hours.errors == "", "\(hours)")
  }

  /// A reading in the future has no age, so the newest one before it counts.
  @Test func readingsInTheFutureDoNotHideThatTheOthersAreOld() async throws {
    let program = try Program()
    #expect(try await program.run("config", "timezone", "UTC").status == 0)
    func bring(_ seconds: Int64) async throws {
      let time = DeviceTime(seconds: Int64(Date().timeIntervalSince1970) + seconds)
      var rows = ReadingRows()
      rows.add(.smbg, "100", at: time.text)
      try program.write(rows.csv, to: "rows.csv")
      #expect(try await program.run("import", "--quiet", program.path("rows.csv")).status == 0)
    }
    let check = ["status", "--check", "--quiet", "--max-reading-age", "7d"]
    try await bring(20 * 3600)
    let future = try await program.run(arguments: check)
    #expect(
      future.status == 3 && future.errors.contains("which is in the future, so that its age is unknown"),
      "\(future)")
    try await bring(-8 * 86400 - 600)
    let old = try await program.run(arguments: check)
    #expect(old.status == 3 && old.errors.contains("the newest reading is 8 days old"), "\(old)")
    try await bring(-86400)
    let recent = try await program.run(arguments: check)
    #expect(recent.status == 0 && recent.errors == "", "\(recent)")
  }

  // MARK: - A clock that was ahead

  /// After the clock was ahead once, times in the future must not silence the checks until then.
  @Test func statusReportsAnUploadAndABackupInTheFuture() async throws {
    let outcome = try await run(
      """
      check() { glucoport status --check --quiet $* 2>told; echo $?; sed 's/20[0-9-]*T[0-9:]*Z/TIME/' told; }
      glucoport upload --quiet; glucoport backup b.db --quiet
      check --max-age 1h --max-backup-age 36h
      soon=$(($(date +%s) + 60)); later=$(($(date +%s) + 34000000))
      for time in $soon $later; do
        sqlite3 a.db "UPDATE remote SET last_success = $time"
        sed -i "s/\\"made_at\\":[0-9]*/\\"made_at\\":$time/" a.db-backups
        check --max-age 1h; check --max-backup-age 36h
      done
      check
      """)
    let future = "TIME, which is in the future, so that its age is unknown"
    #expect(
      outcome.output == """
        0
        0
        0
        75
        glucoport: overdue: no upload succeeded since \(future)
        3
        glucoport: backup: the last backup is of \(future); 'glucoport backup FOLDER' makes one
        0

        """, "\(outcome)")
  }

  // MARK: - A remote that never worked

  @Test func statusReportsARemoteWithoutASuccessfulUpload() async throws {
    let outcome = try await run(
      """
      kill -TERM $server; wait $server; export GLUCOPORT_STORE=b.db
      check() { glucoport status --check --max-age "$1" --quiet 2>told; echo $?; sed 's/(.*//' told | cut -d' ' -f 3-5; }
      cp a.db b.db; sqlite3 b.db "UPDATE reading SET uploaded = 1; UPDATE series SET pending = 0; UPDATE record SET version_synced = version"
      check 1h; glucoport upload --quiet 2>/dev/null; check 1h
      sqlite3 b.db "UPDATE setting SET value = value - 7200 WHERE name = 'remote-since'"; check 1h; check 3h
      sqlite3 b.db "DELETE FROM setting WHERE name = 'remote-since'"; check 3h
      sqlite3 b.db "UPDATE remote SET last_error = NULL, failures = 0"; check 1h
      """)
    #expect(outcome.output == "0\n0\n75\nno upload to\n0\n75\nno upload to\n0\n", "\(outcome)")
  }

  // MARK: - Watching an upload

  /// Marks readings as being sent, while the shell holds the lock of uploads with its descriptor 9.
  private static let moving = """
    exec 9>>a.db-upload; flock 9
    sqlite3 a.db "INSERT INTO transfer (lane, started_at, items, first_partition, first_position, last_partition,
      last_position) VALUES ('readings', 1, 2, 1, 0, 9, 9e15)"
    """

  @Test func statusWatchPrintsEachChangeAndEndsWithTheUpload() async throws {
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

  @Test func theSyncingMarkOnATerminalMovesOnlyDuringATransfer() async throws {
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

  @Test func afterAKilledUploadNothingIsShownAsSyncing() async throws {
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
        2026-05-07  1 reading  (syncing, 1 of them)
        0
        queued: 3 readings, 2 records

        """, "\(outcome)")
  }
}
