// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import CommandParts

/// Tests commands that need a server at once, and fail. Each one must print `nothing was changed here`, and
/// this must be true.
@Suite(.timeLimit(.minutes(10))) struct ImmediateFailureTests {
  private static let end = "; nothing was changed here\n"

  /// Arguments for each command that needs the remote or a source at once. `upload` and `fetch` are missing,
  /// because they keep the steps completed before a failure.
  private static let arguments = [
    "verify": [[], ["--fix"]],
    "remote set": [["URL", "--token-file", "a.token"], ["URL", "--token-file", "a.token", "--new-remote"]],
    "remote test": [[]],
    "source set": [["new", "--type", "http", "URL", "--yes"]],
    "source test": [["file"]],
    "remote page": [[], ["--expires", "1h"]],
    "remote purge": [["--confirm", "anna"]],
    "store erase": [["--confirm", "a.db"]],
  ]

  /// Makes a store that was synced with a server, and stops this server. Returns the address of the server.
  private func makeStore(_ program: Program) async throws -> String {
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect a; row a 07:10 123; upload a --quiet; stop >/dev/null; row a 07:20 99
        printf 'time,glucose (mg/dL)\\n2026-05-06T07:10:00Z,100\\n' >rows.csv
        glucoport source set file --type command --yes --store a.db -- cat "$PWD/rows.csv" >/dev/null; rm rows.csv
        echo "$url"
        """)
    return try #require(outcome.output.split(separator: "\n").last.map(String.init), "\(outcome)")
  }

  @Test func everyFailedServerCommandStatesThatNothingChanged() async throws {
    let immediate = ClassifiedCommands.all.filter { $0.type.actionClass == .immediate }.map(\.words)
    #expect(Set(immediate) == Set(Self.arguments.keys).union(["upload", "fetch"]))
    let program = try Program()
    let url = try await makeStore(program)
    let before = try FolderListing(program.folder)
    for (words, variants) in Self.arguments {
      for variant in variants {
        let arguments = variant.map { $0 == "URL" ? url : $0 == "a.token" ? program.path($0) : $0 }
        let outcome = try await program.run(
          arguments: words.split(separator: " ").map(String.init) + arguments + [
            "--store", program.path("a.db"),
          ])
        // If the program that a source runs fails, the failure counts as temporary, since the program may
        // succeed later.
        let status: Int32 = words == "source test" ? 75 : 69
        #expect(outcome.status == status && outcome.errors.hasSuffix(Self.end), "\(words): \(outcome)")
        #expect(try FolderListing(program.folder) == before, "\(words)")
      }
    }
    let upload = try await program.run("upload", "--store", program.path("a.db"))
    #expect(upload.status == 69 && !upload.errors.contains("nothing was changed"), "\(upload)")
  }

  @Test func aServerCommandThatFailsAfterAChangeDoesNotStateThatNothingChanged() async throws {
    let outcome = try await Program().shell(
      ServerScript.clients + """
        serve; connect a; login b write second; upload a --quiet >/dev/null; row a 07:10 123
        sqlite3 a.db "UPDATE reading SET uploaded = 1; UPDATE series SET pending = 0"
        (ulimit -f 33; of a verify --fix >/dev/null); [ $? = 0 ] || echo failed
        of a remote set "$url" --token-file b.token --new-remote >/dev/full; echo $?
        of a remote show | grep -c second; of a remote test >/dev/full; stop >/dev/null
        """)
    #expect(outcome.output == "failed\n74\n1\n", "\(outcome)")
    let lines = outcome.errors.split(separator: "\n").map { $0 + "\n" }
    try #require(lines.count == 3, "\(outcome)")
    #expect(lines[1].contains("standard output"), "\(outcome)")
    #expect(lines[..<2].allSatisfy { !$0.hasSuffix(Self.end) }, "\(outcome)")
    #expect(lines[2].hasSuffix(Self.end), "a test never changes anything: \(outcome)")
  }
}
