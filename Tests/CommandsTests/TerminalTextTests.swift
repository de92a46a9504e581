// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import CommandParts

/// Tests that control characters in names, arguments and reasons never reach a terminal. Other people or
/// programs may have chosen these texts.
@Suite struct TerminalTextTests {
  /// Characters that a terminal obeys: control characters of one and of two bytes, DEL, and characters that
  /// change the direction of text.
  private static let obeyed: [Unicode.Scalar] = [
    "\u{1B}", "\u{9B}", "\u{7F}", "\u{202E}", "\u{2066}", "\u{61C}",
  ]

  @Test(arguments: obeyed) func controlCharactersAreShownAsNumbersInTheTerminal(_ scalar: Unicode.Scalar)
    throws
  {
    let (text, number) = ("a\(scalar)b", String(scalar.value, radix: 16))
    #expect(TerminalText.line(text) == "a\\u{\(number)}b")
    #expect(TerminalText.lines(text) == "a\\u{\(number)}b")
    guard scalar.value >= 0x20 else { return }
    let json = TerminalText.json("{\"x\":\"\(text)\"}")
    #expect(json == "{\"x\":\"a\\u\(String(repeating: "0", count: 4 - number.count))\(number)b\"}")
    #expect(try JSONDecoder().decode([String: String].self, from: Data(json.utf8)) == ["x": text])
    #expect(TerminalText.json(Array("\"\(text)\"".utf8)) == Array(TerminalText.json("\"\(text)\"").utf8))
  }

  @Test(arguments: obeyed.filter { $0.value >= 0x20 })
  func controlCharactersAreEscapedAtEveryPositionOfJSONText(_ scalar: Unicode.Scalar) {
    for length in 0..<20 {
      let text =
        "\"" + String(repeating: "x", count: length) + "\(scalar)" + String(repeating: "y", count: 9) + "\""
      let shown = TerminalText.json(Array(text.utf8))
      #expect(!String(decoding: shown, as: UTF8.self).unicodeScalars.contains(scalar), "\(length)")
      #expect(Array(TerminalText.json(text).utf8) == shown, "\(length)")
    }
  }

  @Test func printableTextIsShownUnchangedInTheTerminal() {
    for text in ["plain", "Ängström 血糖 😀", "\u{A0}\u{2028}", "א"] {
      #expect(TerminalText.line(text) == text)
      #expect(TerminalText.json(text) == text)
    }
    #expect(TerminalText.lines("one\ntwo\tthree") == "one\ntwo\tthree")
    #expect(TerminalText.line("one\ntwo\tthree") == "one two three")
    #expect(TerminalText.json([0xC2]) == [0xC2])
  }

  private func expectHarmless(_ outcome: Program.Outcome, _ location: SourceLocation = #_sourceLocation) {
    for text in [outcome.errors, outcome.output] {
      let found = text.unicodeScalars.filter { Self.obeyed.contains($0) }
      #expect(found.isEmpty, "\(text.debugDescription)", sourceLocation: location)
    }
  }

  private static let hostile = String(String.UnicodeScalarView(obeyed))

  @Test func controlCharactersInFileColumnAndArgumentNamesAreEscaped() async throws {
    let program = try Program()
    let name = "x\(Self.hostile).csv"
    try program.write("a\(Self.hostile);b\(Self.hostile)\n1;2\n", to: name)
    for arguments in [
      ["import", program.path(name)], ["import", program.path("none" + name)], ["list" + Self.hostile],
      ["config", Self.hostile], ["list", "--device", Self.hostile], ["show", Self.hostile],
      ["status", "--store", program.path(name)],
      ["remote", "set", "http://\(Self.hostile)", "--token-file", name],
      ["import", program.path(name), "--map", "glucose=\(Self.hostile)"],
    ] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status != 0, "\(arguments)")
      expectHarmless(outcome)
      #expect(!outcome.errors.isEmpty)
    }
  }

  @Test func jsonOutputHasNoControlCharactersAndTheSameValues() async throws {
    let program = try Program()
    let name = "x\(Self.hostile).csv"
    let rows = try #require(String(bytes: GeneratedExport.csv(rows: 3), encoding: .utf8))
    try program.write(rows, to: name)
    let imported = try await program.run("import", program.path(name), "--json")
    #expect(imported.status == 0, "\(imported)")
    expectHarmless(imported)
    #expect(try imported.objects()[0]["source"] as? String == program.path(name))
    #expect(try await program.run("record", "add", "note", Self.hostile, "--quiet").status == 0)
    for command in ["list --format ndjson", "log --json", "export --format ndjson"] {
      let outcome = try await program.run(arguments: command.split(separator: " ").map(String.init))
      expectHarmless(outcome)
      #expect(try !outcome.objects().isEmpty, "\(command)")
    }
    let notes = try await program.run("list", "--kind", "note", "--format", "ndjson").objects()
    #expect((notes[0]["fields"] as? [String: String])?["text"] == Self.hostile)
  }
}
