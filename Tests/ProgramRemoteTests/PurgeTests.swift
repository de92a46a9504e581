// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport remote purge` with a real server process and several stores.
@Suite(.timeLimit(.minutes(10))) struct PurgeTests {
  private func script(_ text: String, _ program: Program? = nil) async throws -> Program.Outcome {
    let program = try program ?? Program()
    return try await program.shell(
      ServerScript.clients + """
        purge() { local name=$1; shift; of "$name" remote purge "$@" 2>>errors; echo "$name $?"; }
        delete() {
          curl -sS -o answer -w '%{http_code}\\n' -X DELETE -H "Authorization: Bearer $(cat $1.token)" \\
            -H 'Content-Type: application/json' -d "{\\"logbook\\":\\"$id\\",\\"name\\":\\"anna\\"}" "$url/v1/logbook"
        }
        serve
        \(text)
        stop >/dev/null; cat errors 1>&2
        """)
  }

  @Test func purgeRemovesTheLogbookOnTheServerAndThenTheStore() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; of a record add note x --quiet; upload a --quiet; ls served/logbooks | wc -l
      purge a --confirm anna; ls a.db* served/logbooks 2>/dev/null; glucoport serve token list --data served
      stop >/dev/null; again; ls served/logbooks
      """)
    #expect(
      outcome.output == "a 0\n3\nthe logbook and this store were removed\na 0\nserved/logbooks:\n",
      "\(outcome)")
    #expect(outcome.errors == "")
  }

  @Test func afterAPurgeOtherStoresReportItAndSendNoMoreRequests() async throws {
    let outcome = try await script(
      """
      connect a; connect b; connect r read; row a 07:10 123; upload a --quiet; upload b --quiet; upload r --quiet
      purge a --confirm anna; row b 08:00 99
      upload b --quiet; upload r --quiet; before=$(requests)
      upload b --now; upload r --pull-only --now; of b verify 2>>errors; echo "verify $?"
      echo $(($(requests) - before))
      stop >/dev/null; upload b --now; pending b; of b remote show --json | jq -r .purged_at | wc -c
      listen=127.0.0.1:0; again
      """)
    #expect(
      outcome.output == """
        a 0
        b 0
        r 0
        the logbook and this store were removed
        a 0
        b 78
        r 78
        b 78
        r 78
        verify 78
        0
        b 78
        pending: 1 reading, 0 records; nothing was sent or changed
        21

        """, "\(outcome)")
    #expect(
      outcome.errors.split(separator: "\n").count(where: { $0.contains("removed permanently") }) == 6,
      "\(outcome.errors)")
  }

  @Test func afterAPurgeAStoreCanSendItsDataToAnotherLogbook() async throws {
    let outcome = try await script(
      """
      connect a; connect b; row a 07:10 123; of a record add note x --quiet; upload a --quiet; upload b --quiet
      purge a --confirm anna; upload b --quiet; rm -f b.token; (umask 077; token b-new write second >b.token)
      of b remote set "$url" --token-file b.token 2>>errors; echo $?
      of b remote set "$url" --token-file b.token --new-remote | tail -1
      upload b; connect c write second; upload c --quiet; same b c; of b remote show --json | jq .purged_at
      """)
    #expect(
      outcome.output == """
        a 0
        b 0
        the logbook and this store were removed
        a 0
        b 78
        78
          everything is pending and will be sent to this logbook
        pushed 1 reading, 1 record · pulled 0 readings, 0 records · conflicts 0
        b 0
        c 0
        same
        null

        """, "\(outcome)")
  }

  @Test func purgeWithoutTheNameOfTheLogbookRemovesNothing() async throws {
    let outcome = try await script(
      """
      connect a; connect r read; row a 07:10 123; upload a --quiet; upload r --quiet; before=$(requests)
      sha256sum a.db >before; purge a; echo $(($(requests) - before))
      purge a --confirm Anna; purge a --confirm ''; purge r --confirm anna; rm -f a.db-upload
      sha256sum a.db >after; cmp before after; row a 07:20 99; upload a --quiet
      """)
    #expect(outcome.output == "a 0\nr 0\na 64\n0\na 64\na 64\nr 77\na 0\n", "\(outcome)")
    #expect(
      outcome.errors.contains("--confirm") && outcome.errors.contains("the logbook is named 'anna'"))
  }

  @Test func onATerminalPurgeAsksForTheNameOfTheLogbook() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; upload a --quiet; row a 07:20 99
      answer() { echo "$1" | GLUCOPORT_STORE=a.db script -qec 'glucoport remote purge' /dev/null; echo "typed $?"; }
      answer ana; ls a.db; answer anna; ls a.db 2>/dev/null; ls served/logbooks
      """)
    let text = outcome.output.replacing("\r\n", with: "\n")
    #expect(text.contains("This removes the logbook 'anna' at http://127.0.0.1:"), "\(outcome)")
    #expect(text.contains("2 readings and 0 records, of which 1 is on no server"))
    #expect(text.contains("typed 64\na.db\n"))
    #expect(text.hasSuffix("the logbook and this store were removed\ntyped 0\n"), "\(outcome)")
  }

  /// The process ended after the server had removed the logbook, but before the files of the store were
  /// removed.
  @Test func filesLeftByACrashAreRemovedByTheNextPurge() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; upload a --quiet; id=$(of a remote show --json | jq -r .logbook)
      delete a; delete a; jq -r .error answer; ls a.db; purge a; purge a --confirm no; ls a.db
      upload a --quiet; purge a --confirm anna; ls a.db* 2>/dev/null
      """)
    #expect(
      outcome.output == """
        a 0
        200
        410
        purged
        a.db
        a 64
        a 64
        a.db
        a 78
        the logbook and this store were removed
        a 0

        """, "\(outcome)")
  }

  @Test func purgeDoesNotInterruptARunningUpload() async throws {
    let outcome = try await script(
      """
      connect a; row a 07:10 123; upload a --quiet; exec 9>a.db-upload; flock 9; purge a --confirm anna; flock -u 9
      ls a.db; upload a --quiet
      """)
    #expect(outcome.output == "a 0\na 75\na.db\na 0\n", "\(outcome)")
  }

  @Test func withoutTheServerRemoteCommandsChangeNothing() async throws {
    let program = try Program()
    _ = try await script("connect a; row a 07:10 123; upload a --quiet; echo \"$url\" >url", program)
    let url = try String(contentsOfFile: program.path("url"), encoding: .utf8).split(separator: "\n")[0]
    let before = try FolderListing(program.folder)
    for arguments in [
      ["purge", "--confirm", "anna"], ["test"],
      ["set", String(url), "--token-file", program.path("a.token")],
      ["set", String(url), "--token-file", program.path("a.token"), "--new-remote"],
    ] {
      let outcome = try await program.run(
        arguments: ["remote"] + arguments + ["--store", program.path("a.db")])
      #expect(outcome.status == 69 && outcome.output.isEmpty, "\(arguments): \(outcome)")
      #expect(try FolderListing(program.folder) == before, "\(arguments)")
    }
  }
}
