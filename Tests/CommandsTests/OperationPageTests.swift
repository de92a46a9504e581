// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import Commands
@testable import glucoport

/// Tests the examples in glucoport-operation(7), since people copy them to a shell.
@Suite(.timeLimit(.minutes(10))) struct OperationPageTests {
  private func page() throws -> ManualPage { try ManualPage("glucoport-operation.7") }

  /// The lines of all examples on the page `other`; on glucoport-operation(7) if it is nil.
  private func lines(of other: ManualPage? = nil) throws -> [String] {
    var found: [String] = []
    var isBlock = false
    for line in try (other ?? page()).lines {
      if line.hasPrefix(".Bd -literal") { isBlock = true }
      if line == ".Ed" { isBlock = false }
      if line.hasPrefix(".Dl ") { found.append(String(line.dropFirst(4))) }
      if isBlock, !line.hasPrefix(".") { found.append(line) }
    }
    return found
  }

  /// The arguments of each call of the program in a shell command line.
  static func calls(in line: String) -> [[String]] {
    line.split(whereSeparator: { ";&|".contains($0) }).compactMap { part in
      let words = part.split(separator: " ").map { String($0).replacing("\"", with: "") }
      guard let last = words.lastIndex(where: { $0 == "glucoport" || $0.hasSuffix("/bin/glucoport") }),
        words.indices.contains(last + 1)
      else { return nil }
      // A systemd unit passes more options in the variable `$SERVE_OPTIONS`.
      return words[(last + 1)...].filter { !$0.hasPrefix(">") && $0 != "$SERVE_OPTIONS" }
    }
  }

  @Test func everyCommandInTheOperationManualIsAcceptedByTheProgram() throws {
    let calls = try lines().flatMap(Self.calls)
    #expect(calls.count > 15)
    for words in calls {
      #expect(throws: Never.self, "\(words)") { try CommandArguments(words: words).parse() }
    }
  }

  @Test func everyCommandInThePostgreSQLManualIsAcceptedByTheProgram() throws {
    // A line with another beginning may contain `glucoport` as the name of a database, so it is skipped.
    let calls = try lines(of: ManualPage("glucoport-postgresql.7"))
      .filter { $0.hasPrefix("$ glucoport ") || $0.hasPrefix("ExecStart=/") }.flatMap(Self.calls)
    #expect(calls.count >= 10)
    for words in calls {
      #expect(throws: Never.self, "\(words)") { try CommandArguments(words: words).parse() }
    }
  }

  /// The examples on the page glucoport-postgresql(7). Their names are those in Tests/postgres.sh: the
  /// section, and the number of the example in this section.
  private func blocksOfPostgreSQL() throws -> [(name: String, lines: [String])] {
    var blocks: [(name: String, lines: [String])] = []
    var (section, count, isBlock) = ("", 0, false)
    for line in try ManualPage("glucoport-postgresql.7").lines {
      if line.hasPrefix(".Ss ") {
        section = String(line.dropFirst(4)).replacing(" ", with: "-").replacing(",", with: "-")
        count = 0
      }
      if line == ".Ed" { isBlock = false }
      if isBlock { blocks[blocks.count - 1].lines.append(line.replacing("\\e", with: "\\")) }
      if line.hasPrefix(".Bd -literal") {
        (isBlock, count) = (true, count + 1)
        blocks.append(("\(section).\(count)", []))
      }
    }
    return blocks
  }

  /// An example either has only commands, one on each line, or is a file with its path.
  @Test func everyExampleInThePostgreSQLManualIsRunByTheTests() async throws {
    let script = try String(
      contentsOf: ManualPage.folder.deletingLastPathComponent().appending(path: "Tests/postgres.sh"),
      encoding: .utf8)
    var commands: [String] = []
    for (name, lines) in try blocksOfPostgreSQL() {
      let isShell = lines.first?.hasPrefix("$ ") == true
      #expect(isShell || lines.first?.wholeMatch(of: /# \/etc\/[-_a-z0-9.\/]+/) != nil, "\(name)")
      #expect(lines.allSatisfy { $0.hasPrefix("$ ") } == isShell, "\(name)")
      let use = isShell ? "run \(name)" : "install_file \(name)"
      // The script may run an example or install it as a file. The other two forms are for an example that
      // the script passes to another command or only reads.
      let uses = [use, "$(block \(name))", "block \(name) >/dev/null"]
      #expect(uses.contains(where: script.contains), "Tests/postgres.sh lacks \(use)")
      if isShell { commands += lines.map { String($0.dropFirst(2)) } }
    }
    #expect(commands.count > 40)
    let outcome = try await Program().shell(
      "bash -n <<'END'\n" + commands.joined(separator: "\n")
        + "\nEND\necho $?; bash -n <<<'echo \"' 2>/dev/null || echo no")
    #expect(outcome.output == "0\nno\n" && outcome.errors == "", "\(outcome)")
  }

  @Test(arguments: [
    ("$ sudo -u glucoport glucoport serve token list", [["serve", "token", "list"]]),
    ("0 8 * * * glucoport status; glucoport upload --quiet", [["status"], ["upload", "--quiet"]]),
    ("$ sudo apt purge glucoport", []), ("$ restic backup ~/.local/state/glucoport/backup", []),
  ])
  func onlyCommandsOfTheProgramAreFoundInManualLines(_ line: String, _ calls: [[String]]) {
    #expect(Self.calls(in: line) == calls)
  }

  @Test func everySystemdUnitNamedInTheManualIsInThePackages() throws {
    let names = Set((PackagedUserUnits.files + PackagedSystemUnits.files).map(\.name))
    let text = try page().lines.joined(separator: "\n")
    let named = Set(
      text.matches(of: /glucoport-[a-z]+@?(?:\$kernel)?\.(?:service|socket|timer)/).map { String($0.output) })
    #expect(named.count >= 7)
    #expect(Set(named.map { $0.replacing("$kernel", with: "") }).subtracting(names) == [])
  }

  @Test func aBackupMadeAsInTheManualIsCompleteAndPrivate() async throws {
    let program = try Program()
    let block = try lines().filter {
      $0.contains("mkdir -p ~/.local/state") || $0.contains("glucoport backup ~")
    }
    #expect(block.count == 2 && block.allSatisfy { $0.hasPrefix("$ ") })
    let outcome = try await program.shell(
      """
      unset XDG_DATA_HOME; glucoport record add note x --quiet; set -e
      \(block.map { $0.dropFirst(2) }.joined(separator: "\n"))
      glucoport backup again.db --quiet; cmp again.db .local/state/glucoport/backup/logbook-*.db
      glucoport record list --store "$PWD/again.db" | grep -c note; stat -c %a .local/state/glucoport/backup/logbook-*.db
      """)
    #expect(outcome.output.hasSuffix("1\n600\n"), "\(outcome)")
  }
}
