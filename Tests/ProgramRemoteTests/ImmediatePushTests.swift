// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the option `--push` of `record add`, `edit`, `delete` and `attach`. With it, the command sends the
/// edit before it ends.
@Suite(.timeLimit(.minutes(10))) struct ImmediatePushTests {
  /// Runs a script with a server. Some functions: `note NAME TEXT…` adds a note to the store NAME. `only
  /// NAME` prints the id of its only note.
  private func script(_ text: String) async throws -> Program.Outcome {
    let tools = """
      note() { local name=$1; shift; of $name record add note "$@"; }
      only() { of "$1" record list --kind note --long | grep -o '[0-9a-f]\\{8\\}-[0-9a-f-]*'; }
      texts() { of "$1" record list --kind note --format ndjson | sed 's/.*"text":"\\([^"]*\\)".*/\\1/'; }

      """
    return try await Program().shell(ServerScript.clients + tools + "serve\n" + text)
  }

  @Test func aPushedEditIsOnTheServerBeforeTheCommandEnds() async throws {
    let outcome = try await script(
      """
      connect a; connect b
      note a first --push --quiet; pending a; upload b --quiet; texts b
      of a record edit $(only a) second --push | cut -d' ' -f1; pending a; upload b --quiet; texts b
      echo content >file; of a record attach $(only a) file --push --quiet; pending a
      of a record delete $(only a) --push --quiet; pending a; upload b --quiet; texts b; cat errors; stop
      """)
    let none = "pending: 0 readings, 0 records; nothing was sent or changed"
    #expect(
      outcome.output == """
        \(none)
        b 0
        first
        edited:
        \(none)
        b 0
        second
        \(none)
        \(none)
        b 0
        ended with 0

        """)
    #expect(outcome.errors == "")
  }

  @Test func aPushedEditThatCannotBeSentIsQueuedWithoutAFailure() async throws {
    let outcome = try await script(
      """
      note a first --push --quiet 2>none; echo $?; connect a; stop
      of a record edit $(only a) second --push 2>gone; echo $?
      of a record edit $(only a) third --push --json 2>>gone | grep -c '"version":3,"version_synced":0'; texts a; pending a
      cat none gone 1>&2
      """)
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 7, "\(outcome)")
    #expect(lines[0] == "0" && lines[3] == "0")
    #expect(lines[2].hasPrefix("edited: ") && lines[2].contains("second"))
    #expect(lines[4] == "1" && lines[5] == "third")
    #expect(lines[6] == "pending: 0 readings, 1 record; nothing was sent or changed")
    let errors = outcome.errors.split(separator: "\n")
    #expect(errors.count == 3 && errors.allSatisfy { $0.hasPrefix("glucoport: queued, not sent: ") })
    #expect(errors[0].contains("no remote") && errors[1].contains("127.0.0.1"), "\(errors)")
  }

  /// The kernel accepts connections to this server, but the server never reads from them. Two stores push at
  /// the same time, so that the test waits only once.
  @Test func aPushToASilentServerEndsWithinHalfAMinute() async throws {
    let outcome = try await script(
      """
      connect a; connect b; stop >/dev/null
      perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
        bind($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die; listen($s, 9); open(my $f, ">listens"); close $f;
        sleep 600' ${url##*:} & silent=$!
      until test -e listens; do sleep 0.05; done
      start=$SECONDS
      of b add 6.1 --push --quiet 2>b.said & other=$!
      note a late --push --quiet 2>a.said; echo $?; wait $other; echo $?
      seconds=$((SECONDS - start)); kill $silent; wait $silent 2>/dev/null
      [ $seconds -ge 20 ] && [ $seconds -le 55 ] && echo in time || echo "after $seconds s"
      for name in a b; do pending $name; cat $name.said 1>&2; done; texts a
      """)
    #expect(
      outcome.output == """
        0
        0
        in time
        pending: 0 readings, 1 record; nothing was sent or changed
        pending: 1 reading, 0 records; nothing was sent or changed
        late

        """, "\(outcome)")
    let said = outcome.errors.split(separator: "\n")
    #expect(
      said.count == 2 && said.allSatisfy { $0.hasPrefix("glucoport: queued, not sent: ") },
      "\(outcome.errors)")
  }

  @Test func aPushDoesNotOverwriteEditsOfOthers() async throws {
    let outcome = try await script(
      """
      connect a; connect b; note a first --push --quiet; upload b --quiet
      of b record edit $(only b) theirs --push --quiet
      of a record edit $(only a) mine --push --quiet 2>said; echo $?; grep -c 'queued, not sent: others' said
      texts a; of a conflict list | wc -l; upload a --quiet; upload b --quiet; texts b; stop >/dev/null
      """)
    #expect(outcome.output == "b 0\n0\n1\nmine\n1\na 0\nb 0\ntheirs\n", "\(outcome)")
  }
}
