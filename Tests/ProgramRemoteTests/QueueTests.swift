// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the queue of downloads and the interval of fetching, with the built program and a server.
@Suite(.timeLimit(.minutes(10))) struct QueueTests {
  private func run(_ script: String) async throws -> Program.Outcome {
    let program = try Program()
    return try await program.shell(
      ServerScript.clients + """
        serve; connect a; connect b; row a 07:10 123; upload a --quiet; upload b --quiet
        \(script)
        stop >/dev/null
        """)
  }

  @Test func theDownloadQueueIsListedExtendedAndCancelled() async throws {
    let outcome = try await run(
      """
      of b queue list; of b queue add readings --since 2026-03-01 --until 2026-03-02 --pin
      of b queue add record 00000000-0000-4000-8000-00000000000A --priority idle
      of b queue list | sed 's/ · since.*//'; of b queue list --json | tail -2 | head -1 | sed 's/"queued_at":"[^"]*"/AT/'
      of b queue cancel $(of b queue list | tail -2 | sed 's/ .*//'); of b queue list | wc -l
      upload b --quiet; of b queue list | wc -l
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init).dropFirst(2)
    #expect(lines.first == "queued; the next upload downloads it", "\(outcome)")
    #expect(
      lines.contains { $0.hasSuffix("readings from 2026-03-01 00:00:00 until 2026-03-02 00:00:00  waiting") },
      "\(outcome)")
    #expect(
      lines.contains { $0.hasSuffix("record 00000000-0000-4000-8000-00000000000a  idle") }, "\(outcome)")
    #expect(
      lines.contains { $0.contains("\"kind\":\"record\",\"since\":null,\"until\":null,\"of\":\"0000") },
      "\(outcome)")
    #expect(lines.suffix(4) == ["cancelled: 2", "1", "b 0", "0"], "\(outcome)")
  }

  @Test func readingsSkippedByACancelledDownloadStaySkipped() async throws {
    let outcome = try await run(
      """
      row a 08:10 124; upload a --quiet; connect c; of c config history on-demand >/dev/null
      sqlite3 a.db 'SELECT count(*) FROM reading'; upload c --quiet; of c list | wc -l
      of c verify --fix | tail -1; echo $?; of c list | wc -l; of c status | grep -c 'were skipped'
      of c queue add readings --until 2030-01-01 >/dev/null
      of c queue cancel $(of c queue list | sed 's/ .*//') >/dev/null
      of c status | grep -c 'were skipped'; upload c --all --quiet; of c list | wc -l; of c verify; of c status | grep -c 'were skipped'
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(3).joined(separator: "|")
        == """
        2|c 0|0|2 items are not downloaded yet; use 'glucoport upload', with --all for older readings that were \
        skipped|0|0|1|1|c 0|2|no differences|0
        """, "\(outcome)")
  }

  @Test func anAttachmentThatIsAlreadyStoredIsNotFetched() async throws {
    let outcome = try await run(
      """
      of a record add note x --quiet; echo content >file
      of a record attach $(of a record list --long | grep -o '[0-9a-f]\\{8\\}-[0-9a-f-]*') file --quiet
      id=$(of a record list --kind attachment --long | grep -o '[0-9a-f]\\{8\\}-[0-9a-f-]*')
      of a queue add attachment $id; of a queue list | wc -l
      of a upload --max-time 60s --json | grep -o '"pu[a-z]*_attachments":[0-9]' | tr '\\n' ' '; echo
      of a queue add attachment $id; upload a --max-time 60s --quiet; of a queue list | wc -l
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(2).joined(separator: "|")
        == """
        it is already here; nothing was queued|0|"pushed_attachments":1 "pulled_attachments":0 |\
        it is already here; nothing was queued|a 0|0
        """, "\(outcome)")
  }

  @Test func aPinnedDownloadRangeIsKeptUntilItIsRemoved() async throws {
    let outcome = try await run(
      """
      of b queue add readings --since 2026-03-01 --until 2026-03-02 --pin >/dev/null; upload b --quiet
      of b queue list; of b queue list --json; of b queue cancel p2 2>/dev/null; echo $?
      of b queue cancel p1; of b queue list | wc -l; of b queue cancel px 2>/dev/null; echo $?
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(3).joined(separator: "|")
        == """
        p1  readings from 2026-03-01 00:00:00 until 2026-03-02 00:00:00  pinned|\
        {"item":"pin","id":"p1","since":"2026-03-01T00:00:00","until":"2026-03-02T00:00:00"}|66|cancelled: 1|0|64
        """, "\(outcome)")
  }

  @Test func invalidDownloadQueueEntriesAreRefused() async throws {
    let outcome = try await run(
      """
      try() { of b queue "$@" >/dev/null 2>>errors; echo $?; }
      try add record; try add record abc; try add changes x; try add changes --pin; try add attachment 00
      try add readings --since 2026-03-02 --until 2026-03-01; try cancel 99; try retry 99; try cancel
      of b remote remove >/dev/null; try add changes
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(2).joined(separator: " ")
        == "64 64 64 64 66 64 66 66 64 78",
      "\(outcome)")
  }

  @Test func anUnattendedUploadFetchesOnlyAfterTheIntervalButAlwaysSends() async throws {
    let outcome = try await run(
      """
      row a 08:10 124; upload a --quiet; before=$(requests)
      upload b --unattended --quiet; echo $(($(requests) - before))
      of b record add note x --quiet; upload b --unattended --json | grep -o '"pushed_records":1'
      of b list | wc -l
      of b config pull-interval; of b config pull-interval 0; upload b --unattended --quiet; of b list | wc -l
      of b config pull-interval 90m; row a 09:10 125; upload a --quiet
      sqlite3 b.db 'UPDATE remote SET last_pull = last_pull - 5401'; upload b --unattended --quiet; of b list | wc -l
      of b config pull-interval; of b config pull-interval soon 2>/dev/null; echo $?
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(3).joined(separator: "|")
        == "b 0|0|\"pushed_records\":1|2|pull-interval 12h|b 0|3|a 0|b 0|4|pull-interval 90m|64", "\(outcome)"
    )
  }

  @Test func anUploadStopsAtItsByteLimitAndTheNextContinues() async throws {
    let outcome = try await run(
      """
      of b upload --json | grep -o '"requests":.*'
      row a 08:10 124; row a 08:15 124; upload a --quiet
      of b record add note x --quiet; of b upload --max-bytes 1 --quiet 2>told; echo $?; grep -c bytes told
      of b list | wc -l; upload b --max-bytes 20KiB --quiet; of b list | wc -l
      of b upload --max-bytes many 2>/dev/null; echo $?
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(2).joined(separator: "|")
        == "\"requests\":1,\"bytes_sent\":0,\"bytes_received\":0}|a 0|75|1|2|b 0|4|64", "\(outcome)")
  }

  @Test func anUploadWithoutServerChangesNeedsOneRequest() async throws {
    let outcome = try await run(
      """
      before=$(requests); upload b --quiet; echo $(($(requests) - before))
      before=$(requests); upload b --push-only --quiet; echo $(($(requests) - before))
      """)
    #expect(outcome.output == "a 0\nb 0\nb 0\n1\nb 0\n0\n", "\(outcome)")
  }

  @Test func itemsThatTheServerRefusedAreListedAndRetried() async throws {
    let outcome = try await run(
      """
      of b record add note odd --at 2026-03-01T10:00 --quiet
      sqlite3 b.db "UPDATE record SET quarantine = 'too odd', quarantined_version = version WHERE kind = 'note'"
      of b queue list --refused | sed 's/  [0-9a-f]\\{8\\}/  ID/'; of b queue list --refused --json | grep -c too
      of b queue retry; of b queue list --refused | wc -l; of b upload --dry-run
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(2).joined(separator: "\n") == """
        record  2026-03-01 10:00:00  note  ID  refused: too odd
        1
        to be retried: 1
        0
        pending: 0 readings, 1 record; nothing was sent or changed
        """, "\(outcome)")
  }

  @Test func retryingItemsThatWereNotRefusedIsReported() async throws {
    let outcome = try await run(
      """
      of b queue add changes >/dev/null; id=$(of b queue list | sed 's/ .*//')
      of b queue retry $id; of b queue retry $id 99; echo $?
      sqlite3 b.db "UPDATE download SET refusal = 'no'"; of b queue retry $id; of b queue list --refused | wc -l
      """)
    #expect(
      outcome.output.split(separator: "\n").dropFirst(2).joined(separator: "|")
        == "to be retried: 0|66|to be retried: 1|0", "\(outcome)")
    #expect(outcome.errors.contains("was not refused; the next upload downloads it anyway"), "\(outcome)")
  }
}
