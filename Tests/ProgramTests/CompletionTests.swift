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
    "output", "prefix", "folder", "all", "from", "to", "passkey-file",
  ]

  @Test func everyPathArgumentIsCompletedAsAPath() async throws {
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
    let folders = arguments.filter { $0.kind == "positional" && $0.completionKind?["directory"] != nil }
    #expect(folders.contains { $0.valueName == "meter" }, "person assign")
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

  /// The completions of bash for the last word of each line.
  private func bash(_ lines: [String]) async throws -> [String] {
    let outcome = try await Program().shell(
      """
      mkdir -p data/glucoport
      printf '{"persons":[{"name":"anna","store":"/a.db"},{"name":"ben","store":"/b.db"}]}' >data/glucoport/persons.json
      source <(glucoport --generate-completion-script bash)
      tab() {
        COMP_WORDS=(glucoport "$@"); COMP_CWORD=$#; COMP_LINE="glucoport $*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
        _glucoport glucoport "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$((COMP_CWORD - 1))]}"
        printf '%s\\n' "${COMPREPLY[@]}" | sort | paste -sd '|'
      }
      \(lines.map { "tab \($0)\n" }.joined())
      """)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    return outcome.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  @Test func bashCompletesTheValuesOfACommaSeparatedList() async throws {
    let values: [(words: String, expected: String)] = [
      ("import --format open", "openmhealth"), ("import --kind ''", "cbg|scan|smbg"),
      ("import --driver accu", "accu-chek-guide|accu-chek-mobile"),
      ("meter info --driver true", "true-metrix"),
      ("import --date-order ''", "dmy|mdy"), ("import --last-line ''", "complete"),
      ("import --timezone Europe/Mad", "Europe/Madrid"), ("import --timezone UT", "UTC"),
      ("report --language ''", "de|en|es|fr"), ("remote page --language e", "en|es"),
      ("record add ''", "annotation|exercise|food|insulin|note"),
      ("record add insulin --subtype ra", "rapid"),
      ("add --subtype he", "health"), ("add --mark before", "before-meal"),
      ("add --kind ''", "ketone|scan|smbg"),
      ("config ''", "attachment-limit|born|history|name|pull-interval|timezone|unit"),
      ("config unit ''", "mg/dL|mmol/L|none"), ("config history ''", "full|on-demand"),
      ("config timezone Asia/Tok", "Asia/Tokyo"), ("config pull-interval ''", ""),
      ("remote set --type ''", "glucoport|nightscout"), ("stats --targets ''", "older|pregnancy|standard"),
      ("list --kind in", "insulin"), ("list --kind smbg,in", "smbg,insulin"),
      ("list --kind insulin,in", ""), ("report --paper ''", "A4|Letter"), ("report --pages sum", "summary"),
      ("report --pages summary,lo", "summary,log"), ("--generate-completion-script ''", "bash|fish|zsh"),
      ("person assign 12 a", "anna"), ("list --person ''", "anna|ben"), ("person remove b", "ben"),
      ("help sta", "stats|status"), ("help record e", "edit"),
      ("help serve token ''", "add|list|revoke|rotate"),
      ("help list ''", ""), ("help nothing ''", ""),
    ]
    let found = try await bash(values.map(\.words))
    #expect(found.count == values.count)
    for (line, value) in zip(found, values) { #expect(line == value.expected, "\(value.words)") }
  }

  /// While a shell completes, a message about an unreadable list would disturb the line.
  @Test func completionPrintsNothingIfThePersonListIsUnreadable() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      mkdir -p data/glucoport; echo damaged >data/glucoport/persons.json
      glucoport ---completion list -- --person 3 0 glucoport list --person ''
      """)
    #expect(outcome.status == 0 && outcome.output == "\n" && outcome.errors == "", "\(outcome)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func aCompletionScriptIsTheSameHoweverItsShellIsNamed(_ shell: String) async throws {
    let program = try Program()
    let script = try await program.run("--generate-completion-script", shell)
    let joined = try await program.run("--generate-completion-script=\(shell)")
    let found = try await program.run(
      "--generate-completion-script", environment: ["SHELL": "/usr/bin/\(shell)"])
    #expect(script.output == joined.output && script.output == found.output && script.status == 0)
    #expect(script.output.contains("rotate"))
  }

  /// Without a terminal, fish 3 has no cursor, so the script does not ask for its position.
  @Test func fishCompletesPersonsByAskingTheProgram() async throws {
    let script = try await Program().run("--generate-completion-script", "fish")
    #expect(script.output.contains("---completion list -- --person (count (__glucoport_tokens -pc)) 0)"))
    #expect(!script.output.contains("-tC"))
  }

  @Test func aCompletionScriptForAnUnknownShellIsRefused() async throws {
    let outcome = try await Program().run("--generate-completion-script", "tcsh")
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
  }

  @Test(arguments: [
    (
      "zsh",
      [
        "*:path:_files", "--store[", "]:file:_files", "]:folder:_files -/",
        "*:subcommands:__glucoport_help_commands", "'serve token') names=(add list rotate revoke)",
      ]
    ),
    ("fish", ["-l 'store'", "-rF", "import", "case 'serve token'", "(__glucoport_help_commands)"]),
  ])
  func theScriptsOfZshAndFishCompleteFiles(_ shell: String, _ parts: [String]) async throws {
    let script = try await Program().run("--generate-completion-script", shell)
    #expect(script.status == 0 && script.errors == "")
    for part in parts { #expect(script.output.contains(part), "\(shell): \(part)") }
  }
}
