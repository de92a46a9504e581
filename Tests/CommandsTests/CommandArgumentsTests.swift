// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Logbook
import TestProgram
import Testing

@testable import Commands
@testable import glucoport

/// Tests command lines that the parser would misunderstand.
@Suite struct CommandArgumentsTests {
  @Test(arguments: [
    ("lst", "Unknown command 'lst'; did you mean 'list'?"),
    ("imprt a.csv", "Unknown command 'imprt'; did you mean 'import'?"),
    ("help imprt", "Unknown command 'imprt'; did you mean 'import'?"),
    ("exprot --format csv", "Unknown command 'exprot'; did you mean 'export'?"),
    ("statu", "Unknown command 'statu'; did you mean 'status'?"),
    ("stat", "Unknown command 'stat'; did you mean 'stats'?"),
    ("meter lst", "Unknown command 'meter lst'; did you mean 'meter list'?"),
    ("help meter lst", "Unknown command 'meter lst'; did you mean 'meter list'?"),
    ("serve token ad", "Unknown command 'serve token ad'; did you mean 'serve token add'?"),
    ("frobnicate", "Unknown command 'frobnicate'; 'glucoport help' lists the commands."),
    ("remote frobnicate", "Unknown command 'remote frobnicate'; 'glucoport help remote' lists the commands."),
    ("x", "Unknown command 'x'; 'glucoport help' lists the commands."),
  ])
  func anUnknownCommandIsAnErrorThatSuggestsTheNearest(_ line: String, _ message: String) async throws {
    let outcome = try await Program().run(arguments: line.split(separator: " ").map(String.init))
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("Error: \(message)\n"), "\(outcome.errors)")
  }

  @Test(arguments: [
    ("--person anna status", "status --person anna"),
    ("--store=x.db record list", "record list --store=x.db"),
    ("--store x.db record add food 30g", "record add --store x.db food 30g"),
    ("--person anna import a.csv --dry-run", "import --person anna a.csv --dry-run"),
  ])
  func theStoreOptionMayPrecedeTheCommand(_ line: String, _ meant: String) throws {
    func command(_ line: String) throws -> String {
      var text = ""
      dump(try CommandArguments(words: line.split(separator: " ").map(String.init)).parse(), to: &text)
      return text
    }
    #expect(try command(line) == command(meant))
    #expect(try command(line) != command("status"))
  }

  @Test(arguments: [
    ("--person", "Missing value for '--person'."),
    ("--person anna", "'--person anna' needs a command, such as 'glucoport --person anna status'."),
    ("--store=x.db --quiet", "'--store=x.db' needs a command"),
    ("--person anna statu", "Unknown command 'statu'; did you mean 'status'?"),
    ("--person anna formats", "Unknown option '--person'"),
    ("--verbose status", "Unknown option '--verbose'"),
  ])
  func aStoreOptionWithoutACommandIsAnError(_ line: String, _ message: String) async throws {
    let outcome = try await Program().run(arguments: line.split(separator: " ").map(String.init))
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("Error: \(message)"), "\(outcome.errors)")
  }

  @Test(arguments: ["help", "help import", "help meter list", "help help", "--help", "meter --help", "meter"])
  func helpIsPrintedForEveryFormOfAHelpRequest(_ line: String) async throws {
    let outcome = try await Program().run(arguments: line.split(separator: " ").map(String.init))
    #expect(
      outcome.status == 0 && outcome.errors == "" && outcome.output.contains("USAGE: glucoport"), "\(outcome)"
    )
  }

  @Test(arguments: ["import -dash.csv", "import -h.csv", "list -hx", "-help"])
  func aFileNameThatBeginsWithADashDoesNotShowHelp(_ line: String) async throws {
    let outcome = try await Program().run(arguments: line.split(separator: " ").map(String.init))
    let word = try #require(line.split(separator: " ").last)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors.hasPrefix(
        "Error: Unknown option '\(word)'; to name a file like this write './\(word)'.\n"), "\(outcome.errors)"
    )
  }

  @Test func aFileWhoseNameBeginsWithADashIsImported() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "-dash.csv")
    let outcome = try await program.shell("glucoport import ./-dash.csv; glucoport import -- -dash.csv")
    #expect(outcome.status == 0 && outcome.output.contains("known 3"), "\(outcome)")
  }

  @Test func onlyASimilarCommandIsSuggestedForAMistypedOne() {
    #expect(NearestWord.of("stauts", among: ["list", "status"]) == "status")
    #expect(NearestWord.of("con", among: ["config", "conflict"]) == "config")
    #expect(NearestWord.of("upolad", among: ["upload"]) == "upload")
    #expect(NearestWord.of("tsil", among: ["list", "show"]) == nil)
    #expect(NearestWord.of("", among: ["list"]) == nil)
    #expect(NearestWord.of("l", among: ["list"]) == nil)
    #expect(NearestWord.distance("", "abc") == 3 && NearestWord.distance("abc", "") == 3)
    #expect(NearestWord.distance("abcd", "abdc") == 1 && NearestWord.distance("same", "same") == 0)
  }

  /// A command in the output of `--experimental-dump-help`.
  private struct Declaration: Decodable {
    struct Name: Decodable, Hashable { let kind, name: String }

    struct Argument: Decodable {
      let kind: String
      let names: [Name]?
      let isRepeating: Bool
      let isOptional: Bool
      let defaultValue: String?
    }

    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Declaration]?

    var all: [Declaration] { [self] + (subcommands ?? []).flatMap(\.all) }
  }

  private struct Help: Decodable { let command: Declaration }

  /// The parser checks its declarations only in debug builds, but the tests run a release build (see
  /// `Tests/compiler.sh`). So this test does the check.
  @Test func noCommandDeclaresContradictoryOptionsOrArguments() async throws {
    let help = try await Program().run("--experimental-dump-help")
    let commands = try JSONDecoder().decode(Help.self, from: Data(help.output.utf8)).command.all
    #expect(commands.count > 50)
    for command in commands {
      let arguments = command.arguments ?? []
      let names = arguments.flatMap { $0.names ?? [] }
      #expect(Set(names).count == names.count, "a name twice in \(command.commandName)")
      let positional = arguments.filter { $0.kind == "positional" }
      #expect(
        !positional.dropLast().contains { $0.isRepeating },
        "an argument of \(command.commandName) behind one that takes all")
      let flags = arguments.filter { $0.kind == "flag" && $0.isOptional && $0.defaultValue == "true" }
      #expect(flags.isEmpty, "a flag of \(command.commandName) that changes nothing")
    }
  }
}

/// `CommandArguments` parses a command without loading the other commands. The result must be that of parsing
/// with the full command tree.
@Suite struct NamedCommandTests {
  private static func outcome(_ parse: () throws -> any ParsableCommand) -> String {
    var text = ""
    do { dump(try parse(), to: &text) } catch { text = Glucoport.fullMessage(for: error) }
    return text
  }

  /// The words that call each command without subcommands.
  private static func leaves(_ command: any ParsableCommand.Type, _ path: [String] = []) -> [[String]] {
    command.configuration.subcommands.flatMap { next in
      let words = path + [next.configuration.commandName ?? ""]
      return next.configuration.subcommands.isEmpty ? [words] : leaves(next, words)
    }
  }

  @Test func aCommandParsedWithoutTheCommandTreePrintsTheSameHelp() {
    let leaves = Self.leaves(Glucoport.self)
    #expect(leaves.count > 50 && leaves.contains(["serve", "token", "add"]))
    for words in leaves {
      for option in ["--help", "-h"] {
        let whole = Self.outcome { try Glucoport.parseAsRoot(words + [option]) }
        #expect(Self.outcome { try CommandArguments(words: words + [option]).parse() } == whole, "\(words)")
      }
    }
  }

  @Test(arguments: [
    "status", "status --json --store a.db", "status --store=a.db --check --max-age 36h",
    "import a.csv b.csv --quiet",
    "import - --timezone UTC", "import -- -a.csv", "import import", "list --kind smbg --limit 5", "list help",
    "upload --quiet", "remote show", "remote set https://example.org --token-file t", "serve token list",
    "serve token add", "serve", "count", "count list", "remote", "help", "help import", "status --quiet",
    "status --max-age 1h",
    "status a", "show", "import --version",
    "--version",
    "status --generate-completion-script bash", "show --experimental-dump-help", "",
  ])
  func aCommandParsedDirectlyHasTheResultOfTheFullCommandTree(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    let alone = Self.outcome { try CommandArguments(words: words).parse() }
    #expect(alone == Self.outcome { try Glucoport.parseAsRoot(words) }, "\(alone)")
  }

  @Test func theWordsAfterACommandAreParsedAsItsArguments() throws {
    let command = try CommandArguments(words: ["status", "--json", "--store", "a.db"]).parse()
    let status = try #require(command as? StatusCommand)
    #expect(status.json && !status.check)
    #expect(throws: (any Error).self) { try CommandArguments(words: ["status", "--store"]).parse() }
  }
}

/// Tests file names whose bytes are not valid UTF-8, as on old disks and in old archives.
@Suite struct ByteNameTests {
  /// The shell variables `a` and `b` are the names `Mär.csv` and `Möh.csv` in Latin-1. They differ in one
  /// byte, which is not valid UTF-8.
  private static let setup = """
    a=$(printf 'M\\344r.csv'); b=$(printf 'M\\366h.csv')
    printf 'time,glucose (mg/dL)\\n2026-01-01T10:00,100\\n' >"$a"
    printf 'time,glucose (mg/dL)\\n2026-01-02T10:00,110\\n2026-99-02T10:00,110\\n' >"$b"

    """

  @Test func filesWhoseNamesAreNotUTF8AreImportedUnderTheirOwnNames() async throws {
    let program = try Program()
    let outcome = try await program.shell(Self.setup + #"glucoport import "$a" "$b" --json"#)
    let sources = try outcome.objects().compactMap { $0["source"] as? String }
    #expect(sources == ["M\\xE4r.csv", "M\\xF6h.csv"], "\(outcome)")
    #expect(try outcome.objects().map { $0["new"] as? Int } == [1, 1])
    #expect(outcome.errors.contains("M\\xF6h.csv:3: "), "\(outcome.errors)")
    let log = try await program.run("log", "--json")
    #expect(log.output.contains(#""source":"M\\xE4r.csv""#), "\(log.output)")
  }

  @Test func aMissingFileWhoseNameIsNotUTF8IsNamedInTheMessage() async throws {
    let outcome = try await Program().shell(#"glucoport import "$(printf 'M\344r.csv')""#)
    #expect(outcome.status == 66 && outcome.errors.contains("M\\xE4r.csv: cannot open: "), "\(outcome)")
  }

  @Test func rejectedRowsAreWrittenToAFileWhoseNameIsNotUTF8() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.setup
        + #"glucoport import "$b" --rejects "$(printf 'r\344.csv')"; cat "$(printf 'r\344.csv')"; ls | wc -l"#
    )
    #expect(outcome.output.contains("2026-99-02T10:00,110\n4\n"), "\(outcome)")
  }

  @Test(arguments: [#"--store "$s""#, #"--store "$(printf 'ordn\344r')/$s""#])
  func aStoreWhoseNameIsNotUTF8IsCreatedAndFoundAgain(_ store: String) async throws {
    let program = try Program()
    let outcome = try await program.shell(
      Self.setup + """
        s=$(printf 'st\\344re.db')
        glucoport import "$a" \(store) --quiet && glucoport import "$a" \(store) && glucoport list --format csv \(store)
        find . -name '*re.db*' | wc -l; find . -name '*re.db' -perm 600 | wc -l
        GLUCOPORT_STORE=\(store.dropFirst(8)) glucoport record add note x >/dev/null; echo $?
        glucoport status --json \(store) | head -c 20
        """)
    #expect(outcome.output.contains("known 1") && outcome.errors == "", "\(outcome)")
    // Only the file of the store is left: SQLite removed the write-ahead log and its index when the store was
    // closed.
    #expect(outcome.output.contains("\n1\n1\n0\n{\"store\":"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func aFileWhoseNameIsNotUTF8IsAttachedAndSaved() async throws {
    let outcome = try await Program().shell(
      #"""
      f=$(printf 'n\344me.txt'); echo content >"$f"
      id=$(glucoport record add note x --json | grep -o '"guid":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
      glucoport record attach "$id" "$f" --json >attached || exit
      attachment=$(grep -o '"guid":"[^"]*"' attached | head -n 1 | cut -d '"' -f 4)
      glucoport show "$attachment" --save "$(printf 's\344ved')" && cmp "$f" "$(printf 's\344ved')" && echo same
      """#)
    #expect(outcome.output.hasSuffix("same\n"), "\(outcome)")
  }

  /// Texts other than file names are stored, sent and displayed. Invalid bytes in them would be changed on
  /// the way, so they are refused.
  @Test(arguments: [
    #"record add note "$(printf 'caf\351')""#, #"import "$a" --device "$(printf 'caf\351')""#,
    #"remote set https://example.org --token-file "$(printf 'caf\351')""#,
  ])
  func argumentsOtherThanFileNamesMustBeUTF8(_ line: String) async throws {
    let program = try Program()
    let outcome = try await program.shell(Self.setup + "glucoport \(line)")
    #expect(outcome.status == 64 && outcome.errors.contains("'caf\\xE9' is not valid UTF-8"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func aNoteMayContainAnyUnicodeCharacter() async throws {
    let program = try Program()
    let added = try await program.run("record", "add", "note", "a 😀 \u{10FE00} \u{F8FF}")
    #expect(added.status == 0, "\(added)")
    #expect(try await program.run("export", "--format", "ndjson").output.contains("a 😀 \u{10FE00} \u{F8FF}"))
  }
}
