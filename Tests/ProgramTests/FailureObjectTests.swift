// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests that failures of commands with `--json` are objects on standard error, with the message that is
/// otherwise printed as text.
@Suite struct FailureObjectTests {
  private struct FailureObject: Decodable, Equatable {
    let error: String
    let status: Int32
    let hint: String?
  }

  private func objects(_ outcome: Program.Outcome) throws -> [FailureObject] {
    try outcome.errors.split(separator: "\n").map { line in
      #expect(line.contains(#""hint":"#), "a member without a value is null")
      return try JSONDecoder().decode(FailureObject.self, from: Data(line.utf8))
    }
  }

  private func program() async throws -> Program {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 1), to: "rows.csv")
    try program.write("{}", to: "empty.json")
    #expect(try await program.run("import", program.path("rows.csv"), "--quiet").status == 0)
    return program
  }

  @Test(
    arguments: [
      (["show", "zz"], 66, "'glucoport list --long' shows the ids"),
      (["upload"], 78, "set one with 'glucoport remote set'"),
      (["log", "7"], 66, "'glucoport log' lists the imports"),
      (["import", "missing.csv"], 66, nil),
      (["import", "rows.csv", "missing.csv"], 66, nil),
      (["status", "--store", "nope.db"], 66, "'glucoport import' creates one"),
    ] as [([String], Int32, String?)])
  func aFailureInJSONHasTheSameMessageAsInText(_ words: [String], _ status: Int32, _ hint: String?)
    async throws
  {
    let program = try await program()
    let line = "glucoport \(words.joined(separator: " "))"
    let text = try await program.shell(line)
    let json = try await program.shell(line + " --json")
    #expect(text.status == status && json.status == status, "\(text) \(json)")
    let sentence = text.errors.trimmingPrefix("glucoport: ").trimmingCharacters(in: .newlines)
    #expect(try objects(json) == [FailureObject(error: sentence, status: status, hint: hint)], "\(json)")
  }

  @Test(arguments: [
    (
      ["import", "--depth", "0", "x.csv"], "--depth is a whole number, 1 or more.",
      "'glucoport import --help'"
    ),
    (["imprt"], "Unknown command 'imprt'; did you mean 'import'?", "did you mean 'import'?"),
    (
      ["show", "--lng", "x"], "Unknown option '--lng'; did you mean '--long'?", "did you mean '--long'?"
    ),
    (["show"], "Missing expected argument '<id>'", "'glucoport show --help'"),
    (["day"], "Unknown option '--json'", "'glucoport help day' lists the options."),
    ([], "Unknown option '--json'", "'glucoport help' lists the options."),
  ])
  func aUsageErrorWithJSONIsReportedAsAnObject(_ words: [String], _ error: String, _ hint: String)
    async throws
  {
    let outcome = try await Program().run(arguments: words + ["--json"])
    #expect(outcome.status == 64 && outcome.output == "")
    let failures = try objects(outcome)
    let failure = try #require(failures.first)
    #expect(failures.count == 1 && failure.status == 64)
    #expect(failure.error.hasPrefix(error) && !failure.error.contains("\n"), "\(failure)")
    #expect(try #require(failure.hint).contains(hint), "\(failure)")
  }

  /// The program refuses these lines before the parser reads them.
  @Test(arguments: [
    (["list", "--limit", "-3"], "glucoport list <options>"), (["show", "-x.csv"], "glucoport show"),
    (["meter", "lst"], "glucoport meter <subcommand>"), (["imprt"], "glucoport <subcommand>"),
  ])
  func aRefusedLineIsReportedWithTheUsageOfItsCommand(_ words: [String], _ usage: String) async throws {
    let outcome = try await Program().run(arguments: words)
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("Error: ") && outcome.errors.contains("\nUsage: \(usage)"), "\(outcome)")
  }

  @Test func aFindingOfStatusCheckWithJSONIsReportedAsAnObject() async throws {
    let program = try await program()
    let outcome = try await program.run("status", "--json", "--check", "--max-backup-age", "1d")
    let message = "backup: no backup was made so far"
    let hint = "'glucoport backup FOLDER' makes one"
    #expect(
      try objects(outcome) == [
        FailureObject(error: "\(message); \(hint)", status: outcome.status, hint: hint)
      ], "\(outcome)")
    #expect(outcome.status == 3)
  }

  @Test func anInvalidValueOfTheJSONFlagIsReportedAsJSON() async throws {
    let outcome = try await program().run("list", "--json=yes")
    #expect(outcome.status == 64)
    #expect(try objects(outcome).map(\.status) == [64], "\(outcome)")
  }

  @Test func eachInputThatIsNotAnExportIsReportedAsAJSONObject() async throws {
    let program = try await program()
    let outcome = try await program.shell("glucoport import --json empty.json rows.csv missing.csv")
    let failures = try objects(outcome)
    #expect(outcome.status == 66 && failures.map(\.status) == [65, 66], "\(outcome)")
    #expect(try outcome.objects().count == 1)
  }

  @Test func aFailureInJSONNamesItsPerson() async throws {
    let program = try Program()
    let made = try await program.shell(
      """
      for name in anna ben; do glucoport person add $name; glucoport record add note x --person $name --quiet; done
      printf 'no database' >"$(glucoport person list --json | sed -n 's/.*"name":"ben".*"store":"\\([^"]*\\)".*/\\1/p')"
      """)
    #expect(made.status == 0, "\(made)")
    let outcome = try await program.shell("glucoport status --json")
    let failures = try objects(outcome)
    #expect(failures.count == 1 && failures.first?.error.hasPrefix("ben: ") == true, "\(outcome)")
    #expect(failures.first?.status == outcome.status)
  }

  @Test func controlCharactersOfAFileNameAreEscapedInJSONErrors() async throws {
    let program = try await program()
    let outcome = try await program.shell(#"glucoport import --json $'a\e[31m\xe2\x80\xaeb.csv'"#)
    #expect(try objects(outcome).first?.error.contains(#"\u{1b}[31m\u{202e}b.csv"#) == true, "\(outcome)")
    #expect(!outcome.errors.contains("\u{1B}") && !outcome.errors.contains("\u{202E}"))
  }

  @Test func tooFewFileDescriptorsAreReportedAsAJSONObject() async throws {
    let program = try await program()
    let outcome = try await program.shell("exec prlimit --nofile=7 glucoport status --json")
    #expect(outcome.status == 75)
    let failure = try #require(try objects(outcome).first)
    #expect(failure.hint == "allow more (ulimit -n)" && failure.status == 75, "\(outcome)")
  }

  @Test func theJSONOptionAfterTheEndOfOptionsIsReadAsText() async throws {
    let outcome = try await Program().run("record", "add", "food", "--", "--json")
    #expect(outcome.status != 0 && !outcome.errors.hasPrefix("{"), "\(outcome)")
  }
}
