// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import Commands

/// Tests the blocks of glucoport-operation(7), because people copy them.
@Suite(.timeLimit(.minutes(10))) struct OperationPageTests {
  private func page() throws -> ManualPage { try ManualPage("glucoport-operation.7") }

  /// The lines in the blocks of a page; nil for this one.
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
      // A unit has further options in a variable.
      return words[(last + 1)...].filter { !$0.hasPrefix(">") && $0 != "$SERVE_OPTIONS" }
    }
  }

  @Test func everyCallOfTheProgramIsAccepted() throws {
    let calls = try lines().flatMap(Self.calls)
    #expect(calls.count > 15)
    for words in calls {
      #expect(throws: Never.self, "\(words)") { try CommandArguments(words: words).parse() }
    }
  }

  @Test func everyCallOnThePageOfPostgreSQLIsAccepted() throws {
    let calls = try lines(of: ManualPage("glucoport-postgresql.7")).flatMap(Self.calls)
    #expect(calls.count >= 7)
    for words in calls {
      #expect(throws: Never.self, "\(words)") { try CommandArguments(words: words).parse() }
    }
  }

  @Test(arguments: [
    ("$ sudo -u glucoport glucoport serve token list", [["serve", "token", "list"]]),
    ("0 8 * * * glucoport status; glucoport upload --quiet", [["status"], ["upload", "--quiet"]]),
    ("$ sudo apt purge glucoport", []), ("$ restic backup ~/.local/state/glucoport/backup", []),
  ])
  func onlyCallsOfTheProgramAreFound(_ line: String, _ calls: [[String]]) {
    #expect(Self.calls(in: line) == calls)
  }

  @Test func everyUnitOnThePageIsInThePackages() throws {
    let names = Set((PackagedUserUnits.files + PackagedSystemUnits.files).map(\.name))
    let text = try page().lines.joined(separator: "\n")
    let named = Set(
      text.matches(of: /glucoport-[a-z]+@?(?:\$kernel)?\.(?:service|socket|timer)/).map { String($0.output) })
    #expect(named.count >= 7)
    #expect(Set(named.map { $0.replacing("$kernel", with: "") }).subtracting(names) == [])
  }

  @Test func theCopyOfAStoreIsCompleteAndPrivate() async throws {
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
