// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestArchives
import TestProgram
import Testing

/// Tests that the import of a folder prints the warnings that the import of its files prints.
@Suite(.timeLimit(.minutes(10)))
struct FolderWarningTests {
  private static let map = ["--timezone", "UTC", "--map", "date=day,clock=clock,insulin=units"]
  private let program: Program

  init() throws {
    program = try Program()
    try FileManager.default.createDirectory(atPath: program.path("in"), withIntermediateDirectories: true)
  }

  /// A table of doses of twenty days of a month, without the days of `leftOut`.
  private func table(_ month: Int, without leftOut: Set<Int> = [], extra: String = "") -> String {
    let rows = (1...20).filter { !leftOut.contains($0) }.map { day in
      "2026-0\(month)-\(day < 10 ? "0" : "")\(day),\(10 + day % 9):\(10 + day),\(3 + day % 7)\n"
    }
    return "day,clock,units\n" + rows.joined() + extra
  }

  private func bring(_ options: String..., paths: [String]) async throws -> Program.Outcome {
    let outcome = try await program.run(arguments: ["import"] + Self.map + options + paths)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    return outcome
  }

  /// The texts of the warnings about one input, from the summary of a file or from standard error.
  private func warnings(_ outcome: Program.Outcome, _ name: String) -> [String] {
    func texts(_ lines: String, after mark: String) -> [String] {
      lines.split(separator: "\n").compactMap { line in
        line.firstRange(of: mark).map { String(line[$0.upperBound...]) }
      }
    }
    return texts(outcome.output, after: "  warning: ") + texts(outcome.errors, after: "/\(name): ")
  }

  @Test func theWarningsOfAFolderAreThoseOfItsFiles() async throws {
    let first = try program.write(table(3), to: "in/w1.csv")
    let repeated = "2026-03-25,08:00,3\n2026-03-25,08:00,3\n2026-03-26,08:00,4\n"
    let second = try program.write(table(3, without: [9], extra: repeated), to: "in/w2.csv")
    let folder = try await bring(paths: [program.path("in")])
    #expect(folder.output.hasPrefix("\(program.path("in")): 2 exports"), "\(folder.output)")
    let other = ["--store", program.path("other.db")]
    _ = try await bring(other[0], other[1], paths: [first])
    let alone = try await bring(other[0], other[1], paths: [second])
    let expected = warnings(alone, "w2.csv")
    #expect(expected.contains { $0.contains("1 item of an earlier import is not in this one") }, "\(alone)")
    #expect(expected.contains { $0.contains("1 row of new doses or meals equal") }, "\(alone)")
    #expect(warnings(folder, "w2.csv").sorted() == expected.sorted(), "\(folder.errors)\n\(alone.output)")
    #expect(warnings(folder, "w1.csv").isEmpty, "\(folder.errors)")
  }

  @Test func aQuietImportOfAFolderKeepsTheWarningsAboutTotals() async throws {
    try program.write(table(3), to: "in/w1.csv")
    let repeated = "2026-03-25,08:00,3\n2026-03-25,08:00,3\n2026-03-26,08:00,4\n"
    try program.write(table(3, without: [9], extra: repeated), to: "in/w2.csv")
    let quiet = try await bring("--quiet", paths: [program.path("in")])
    #expect(quiet.output.isEmpty && !quiet.errors.contains("not in this one"), "\(quiet)")
    #expect(quiet.errors.contains("in/w2.csv: 1 row of new doses or meals equal"), "\(quiet.errors)")
    let again = try await bring("--quiet", paths: [program.path("in")])
    #expect(again.errors.isEmpty && again.output.isEmpty, "\(again)")
  }

  @Test func equalWarningsOfSeveralExportsAreOneLine() async throws {
    let repeated = ["3": "2026-03-25,08:00,3\n", "4": "2026-04-25,08:00,3\n", "5": "2026-05-25,08:00,3\n"]
    try program.write(table(3, extra: repeated["3"].map { $0 + $0 } ?? ""), to: "in/a.csv")
    try program.write(table(4, extra: repeated["4"].map { $0 + $0 } ?? ""), to: "in/b.csv")
    try program.write(
      ZipWriter.archive([("c.csv", table(5, extra: repeated["5"].map { $0 + $0 } ?? ""))]), to: "in/c.zip")
    let outcome = try await bring(paths: [program.path("in")])
    let lines = outcome.errors.split(separator: "\n").filter { $0.contains("equal an earlier row") }
    #expect(
      lines.count == 1 && lines[0].contains("in/a.csv and 2 more exports: 1 row of new doses"),
      "\(outcome.errors)")
  }

  @Test func aFolderOfExportsWithoutDoubtsHasNoWarnings() async throws {
    try program.write(table(3), to: "in/a.csv")
    try program.write(table(4), to: "in/b.csv")
    let outcome = try await bring(paths: [program.path("in")])
    #expect(outcome.errors.isEmpty && outcome.output.contains("records: new 40"), "\(outcome)")
  }
}
