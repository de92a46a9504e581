// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Compares the JSON output of the commands for a remote with its description in glucoport-json(5).
@Suite(.timeLimit(.minutes(10)))
struct ManualSyncTests {
  /// Two stores sync with a server. There is a conflict, and the server has lost a reading. Each line of
  /// output is the title of a section and a line of JSON.
  private static let script =
    ServerScript.clients + #"""
      print() { local section=$1; shift; "$@" 2>>errors | sed "s/^/$section: /"; }
      serve; connect a; connect b
      row a 08:00 110
      of a record add food 30 g --at 2026-03-01T08:00 --quiet
      print 'upload' of a upload --dry-run --json
      print 'upload' of a upload --json
      print 'upload' of b upload --json
      id=$(of b record list --format ndjson | sed 's/.*"guid":"\([^"]*\)".*/\1/')
      of a record edit "$id" 45 --quiet; of b record edit "$id" 50 --quiet
      upload a --quiet; print 'upload' of b upload --json
      print 'conflict' of b conflict list --json
      print 'conflict' of b conflict show "$id" --json
      of b queue add readings --since 2026-03-01 --until 2026-03-02 --pin >/dev/null
      print 'queue list' of b queue list --json
      print 'verify' of a verify --json
      stop >/dev/null
      sqlite3 served/logbooks/*.db 'DROP TRIGGER reading_stays; DELETE FROM reading'
      again
      print 'verify' of a verify --json
      stop >/dev/null; cat errors >&2
      """#

  @Test func theJSONOfRemoteCommandsHasTheMembersInTheManual() async throws {
    let outcome = try await Program().shell(Self.script)
    let page = try ManualPage("glucoport-json.5")
    var printed: [String: Set<String>] = [:]
    for line in outcome.output.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^([a-z ]+): (\{.*)$/) else { continue }
      printed[String(match.1), default: []].formUnion(try JSONNames.all(in: String(match.2)))
    }
    #expect(printed.keys.sorted() == ["conflict", "queue list", "upload", "verify"], "\(outcome)")
    for (command, names) in printed {
      let title = "Ss \(command) --json"
      // The page lists members of a preview only in the sentences before the list, so these names count as
      // described, too.
      let described = Set(page.variables(under: title) + page.named(under: title))
      #expect(names.subtracting(described) == [], "\(title)")
    }
    // The script must print each kind of output: a preview, a conflict with its sides, and a difference.
    #expect(printed["upload"]?.isSuperset(of: ["dry_run", "conflicts"]) == true, "\(outcome)")
    #expect(printed["conflict"]?.isSuperset(of: ["mine", "edited_at", "differs"]) == true, "\(outcome)")
    #expect(printed["verify"]?.contains("difference") == true, "\(outcome)")
  }
}
