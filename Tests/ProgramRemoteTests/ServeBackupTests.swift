// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// `glucoport serve backup` while a server runs, and a server that is started from the copy.
@Suite(.timeLimit(.minutes(10))) struct ServeBackupTests {
  @Test func aServerThatIsRestoredFromACopyGetsAgainWhatItLacks() async throws {
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

  @Test func copiesDuringWritesAreWholeAndTheOldestAreRemoved() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect one; mkdir copies copies/server-2020-01-01T000000Z; touch copies/server-2020-01-01T000000Z/server.db
        mkdir copies/other
        (for n in 10 11 12 13 14 15; do row one $n 1$n; upload one >/dev/null; done) & writer=$!
        for n in 1 2 3; do glucoport serve backup --data served copies --keep 2 >/dev/null || echo "failed"; sleep 1.1; done
        wait $writer; stop; ls copies | grep -c '^server-'; ls copies | grep -c other
        for f in copies/server-*/*.db copies/server-*/logbooks/*.db; do sqlite3 $f 'PRAGMA integrity_check'; done | sort -u
        ls copies/*.part 2>/dev/null
        """)
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == ["ended with 0", "2", "1", "ok"],
      "\(outcome.output)\(outcome.errors)")
  }
}
