// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport serve backup` while a server is running, and a server that is started with the copy.
@Suite(.timeLimit(.minutes(10))) struct ServeBackupTests {
  @Test func aServerRestoredFromABackupReceivesItsMissingItems() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect one; connect two write ben; row one 08 100; row two 08 90; upload one --quiet; upload two --quiet
        mkdir copies; glucoport serve backup --data served copies >/dev/null; echo "backup $?"
        glucoport serve backup --data served served/logbooks 2>/dev/null; echo "inside $?"
        glucoport serve backup --data nothing copies 2>/dev/null; echo "nothing $?"
        copy=$(ls -d copies/server-*); ls $copy $copy/logbooks | grep -c db; stat -c %a $copy $copy/server.db | paste -sd' '
        row one 09 110; upload one --quiet; stop
        mv served served.old; cp -a $copy served; again
        upload one --quiet; upload two --quiet; connect three; upload three --quiet; same one three; stop
        """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "one 0", "two 0", "backup 0", "inside 64", "nothing 66", "3", "700 600", "one 0", "ended with 0",
        "one 0",
        "two 0", "three 0", "same", "ended with 0",
      ], "\(outcome.output)\(outcome.errors)")
  }

  /// The folder also has a backup of another server, which is not removed, and a backup that a wrong clock
  /// dated in the future. The backup with the future date does not count as newer, so the backup just
  /// written is not removed.
  @Test func serverBackupsDuringWritesAreCompleteAndTheOldestRemoved() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect one; row one 09 100; upload one >/dev/null; mkdir copies copies/other
        own=$(basename served/logbooks/*.db)
        for copy in 2020-01-01T000000Z/logbooks/$own 2099-01-01T000000Z/logbooks/$own 2021-01-01T000000Z/logbooks/x.db; do
          mkdir -p "copies/server-${copy%/*}"; touch "copies/server-$copy" "copies/server-${copy%%/*}/server.db"
        done
        (for n in 10 11 12 13 14 15; do row one $n 1$n; upload one >/dev/null; done) & writer=$!
        for n in 1 2 3; do glucoport serve backup --data served copies --keep 2 >made || echo "failed"; done
        wait $writer; stop; ls copies | grep -c '^server-20[29][0-9]'; ls copies | grep -c '^other$'
        ls copies | grep -c '^server-2021'; ls -d "$(sed -n '1s/: .*//p' made)" | wc -l
        for f in copies/server-*/*.db copies/server-*/logbooks/*.db; do sqlite3 $f 'PRAGMA integrity_check'; done | sort -u
        ls copies/*.part 2>/dev/null
        """)
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == ["ended with 0", "3", "1", "1", "1", "ok"],
      "\(outcome.output)\(outcome.errors)")
  }
}
