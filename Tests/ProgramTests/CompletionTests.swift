// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the shell completion with the scripts of the built program.
@Suite struct CompletionTests {
  /// An option or argument in the output of `--experimental-dump-help`.
  private struct Argument: Decodable {
    let kind: String
    let valueName: String?
    let preferredName: Name?
    let completionKind: [String: Nothing]?

    struct Name: Decodable { let name: String }
    struct Nothing: Decodable {}
  }

  private struct Command: Decodable {
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?

    var all: [Argument] { (arguments ?? []) + (subcommands ?? []).flatMap(\.all) }
  }

  private struct Help: Decodable { let command: Command }

  private func arguments() async throws -> [Argument] {
    let help = try await Program().run("--experimental-dump-help")
    return try JSONDecoder().decode(Help.self, from: Data(help.output.utf8)).command.all
  }

  private static let names: Set<String> = [
    "store", "transcript", "rejects", "save", "token-file", "ca-file", "client-cert", "client-key",
    "client-ca", "tls-cert", "tls-key", "data",
    "output",
    "prefix",
  ]

  @Test func everyArgumentWithAPathIsCompletedAsAPath() async throws {
    let arguments = try await arguments()
    var found: Set<String> = []
    for argument in arguments where ["file", "path", "folder"].contains(argument.valueName) {
      let name = argument.preferredName?.name ?? argument.valueName ?? ""
      let kind = argument.valueName == "folder" ? "directory" : "file"
      #expect(argument.completionKind?.keys.contains(kind) == true, "\(name)")
      if argument.kind == "option" { found.insert(name) }
    }
    #expect(found == Self.names)
    let positionals = arguments.filter { $0.kind == "positional" && $0.completionKind?["file"] != nil }
    #expect(
      Set(positionals.map(\.valueName)) == ["path", "file", "target"],
      "import, record attach, meter record, backup, restore")
    #expect(positionals.count == 5)
  }

  @Test func bashCompletesCommandsOptionsAndFiles() async throws {
    let outcome = try await Program().shell(
      """
      mkdir folder; touch 'my file.csv' other.csv
      source <(glucoport --generate-completion-script bash)
      tab() {
        COMP_WORDS=(glucoport "$@"); COMP_CWORD=$#; COMP_LINE="glucoport $*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
        _glucoport glucoport "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$((COMP_CWORD - 1))]}"
        printf '%s\\n' "${COMPREPLY[@]}" | sort | paste -sd '|'
      }
      tab imp; tab import ''; tab import my; tab import other.csv ''; tab import --rejects o; tab list --store ''
      tab record attach 1 my; tab serve --data ''; tab show 1 --save fold; tab meter record o; tab import --unit ''; tab formats gl
      """)
    let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(
      lines == [
        "import", "folder|my file.csv|other.csv", "my file.csv", "folder|my file.csv|other.csv", "other.csv",
        "folder|my file.csv|other.csv", "my file.csv", "folder", "folder", "other.csv", "mg/dL|mmol/L",
        "glimp|glooko|glucometerutils|glucoport|glucose-buddy|gluroo", "",
      ], "\(outcome)")
  }

  @Test(arguments: [
    ("zsh", ["*:path:_files", "--store[", "]:file:_files", "]:folder:_files -/"]),
    ("fish", ["-l 'store'", "-rF", "import"]),
  ])
  func theScriptsOfOtherShellsAlsoCompleteFiles(_ shell: String, _ parts: [String]) async throws {
    let script = try await Program().run("--generate-completion-script", shell)
    #expect(script.status == 0 && script.errors == "")
    for part in parts { #expect(script.output.contains(part), "\(shell): \(part)") }
  }
}
