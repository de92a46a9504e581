// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import Meters
import TestProgram
import Testing

@testable import LookCommands

/// Tests the output of `glucoport formats NAME` and the manual pages about formats.
@Suite(.timeLimit(.minutes(5))) struct FormatPagesTests {
  @Test func theFormatsCommandDescribesAFormatInSections() async throws {
    let program = try Program()
    let outcome = try await program.run("formats", "xdrip")
    #expect(outcome.status == 0 && outcome.errors == "")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "xdrip: xDrip+ backup")
    #expect(
      lines.dropFirst().filter { !$0.hasPrefix(" ") } == [
        "how to get it", "variants", "languages", "imported", "not imported",
      ])
    #expect(lines.contains("  blood tests (BloodTest)"))
  }

  @Test(arguments: ["none", "Clarity", ""]) func anUnknownFormatNameIsAUsageError(_ name: String) async throws
  {
    let outcome = try await Program().run("formats", name)
    #expect(outcome.status == 64 && outcome.output == "")
    let advice = name == "Clarity" ? "did you mean clarity? " : ""
    #expect(
      outcome.errors.contains("Unknown format '\(name)'; \(advice)'glucoport formats' lists the formats."))
  }

  @Test(arguments: FormatRegister.all.map(\.id))
  func theDescriptionOfAFormatIsWrappedBelow80ColumnsWithoutLosingWords(_ id: String) throws {
    let format = try #require(FormatRegister.all.first { $0.id == id })
    let lines = FormatText.lines(format)
    #expect(lines.allSatisfy { $0.count < 80 })
    // Wrapping the text must not lose words, so the words are counted before and after wrapping.
    let words = lines.dropFirst().flatMap { $0.split(separator: " ") }
    let page = format.page
    let texts = page.origin + page.variants + [page.languages] + page.reads + page.notRead
    let expected = texts.flatMap { $0.split(separator: " ") }
    #expect(words.count == expected.count + 9)
  }

  // MARK: glucoport-formats(1) and (7)

  private static var lines: [String] {
    FormatRegister.all.flatMap {
      [".It Cm \($0.id)", "\($0.title).", "Languages: \($0.page.languages)."]
    }
  }

  /// With the environment variable `GLUCOPORT_REWRITE_GOLDEN=1`, this test rewrites the list of formats in
  /// the page. Review the change and commit it.
  @Test func theManualPageListsEveryFormatWithItsLanguages() throws {
    let page = try ManualPage("glucoport-formats.1")
    let section = page.section("Ss Formats")
    let list = [".Bl -tag -width Ds"] + Self.lines + [".El"]
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      let start = try #require(page.lines.firstIndex(of: ".Ss Formats"))
      let lines = page.lines[...start] + list + page.lines[(start + 1 + section.count)...]
      try lines.joined(separator: "\n")
        .write(to: ManualPage.folder.appending(path: page.name), atomically: true, encoding: .utf8)
    }
    #expect(try ManualPage("glucoport-formats.1").section("Ss Formats") == list)
  }

  // MARK: README.md

  /// The rows of the tables in `README.md`, made from the registers.
  ///
  /// - Parameter recorded: what the last column of the table of meters states about a driver.
  private func readmeRows(recorded: (String) -> String?) -> [String] {
    let formats = FormatRegister.all.map { "| `\($0.id)` | \($0.title): \($0.summary) |" }
    let drivers = DriverRegister.all.map {
      "| `\($0.id)` | \($0.name) | \(recorded($0.id) ?? "nothing") |"
    }
    return formats + drivers
  }

  /// With the environment variable `GLUCOPORT_REWRITE_GOLDEN=1`, this test rewrites the rows that are there.
  /// The row of a new format or driver is added by hand, with only its name. Review the change and commit it.
  @Test func theTablesOfTheReadmeAreMadeFromTheRegisters() throws {
    let file = Repository.root.appending(path: "README.md")
    var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    let places = lines.indices.filter { lines[$0].hasPrefix("| `") }
    var evidence: [String: String] = [:]
    for place in places {
      let cells = lines[place].split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if cells.count == 3 { evidence[cells[0]] = cells[2] }
    }
    let rows = readmeRows { evidence["`\($0)`"] }
    try #require(places.count == rows.count, "rows of the README")
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      for (place, row) in zip(places, rows) { lines[place] = row }
      try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(places.map { lines[$0] } == rows)
  }

  // MARK: Pairs of sources

  /// The pairs of sources that the page lists, each with the ids of its two formats and the lines of its
  /// description.
  private func pairs() throws -> [(names: [String], text: [String])] {
    let lines = try ManualPage("glucoport-formats.7").section("Ss Pairs of sources")
    return lines.indices.filter { lines[$0].hasPrefix(".It ") }.map { place in
      let names = lines[place].split(separator: " ").filter {
        !$0.hasPrefix(".") && $0.first?.isLowercase == true
      }
      let text = lines[(place + 1)...].prefix { !$0.hasPrefix(".It ") && $0 != ".El" }
      return (names.map(String.init).filter { $0 != "and" }, Array(text))
    }
  }

  @Test func eachPairOfSourcesInTheManualNamesExistingFormatsAndTheResult() throws {
    let known = Set(FormatRegister.all.map(\.id) + DriverRegister.all.map { $0.id })
    let pairs = try pairs()
    #expect(pairs.count > 10)
    #expect(Set(pairs.map { Set($0.names) }).count == pairs.count)
    for pair in pairs {
      #expect(pair.names.count == 2 && known.isSuperset(of: pair.names), "\(pair.names)")
      #expect(["Known as the same.", "Stored twice."].contains(pair.text.first), "\(pair.names)")
      #expect(pair.text.count > 1, "\(pair.names): the reason")
    }
  }

  @Test func everyFormatIsInAPairOfSourcesInTheManual() throws {
    let named = Set(try pairs().flatMap(\.names))
    #expect(Set(FormatRegister.all.map(\.id)).subtracting(named) == [])
  }
}
