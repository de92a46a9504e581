// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport log` with a number.
@Suite(.timeLimit(.minutes(10)))
struct LogTests {
  private func program() async throws -> Program {
    let program = try Program()
    for sample in ["generic/kinds.csv", "clarity/clarity-mgdl-en.csv"] {
      _ = try await program.run("import", "--quiet", "--timezone", "Europe/Madrid", Samples.path(sample))
    }
    return program
  }

  @Test func theLogCommandDescribesAnImportLikeItsSummary() async throws {
    let program = try await program()
    let log = try await program.run("log", "2")
    #expect(log.status == 0, "\(log.errors)")
    let lines = log.output.split(separator: "\n").map(String.init)
    #expect(
      lines.first?.hasSuffix("clarity-mgdl-en.csv: new 5 · known 0 · records new 5 · known 0 · rejected 0")
        == true)
    let again = try await Program().run(
      "import", "--timezone", "Europe/Madrid", Samples.path("clarity/clarity-mgdl-en.csv"))
    let summary = again.output.split(separator: "\n").map(String.init)
    #expect(lines.suffix(4) == summary.suffix(4))
    #expect(lines[1].wholeMatch(of: /[ ]{2}finished \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    #expect(lines[2].wholeMatch(of: /[ ]{2}digest [0-9a-f]{64}/) != nil)
    #expect(!log.output.contains("{") && !log.output.contains("["))
  }

  @Test func theLogCommandDescribesAnImportOfOnlyRecords() async throws {
    let program = try Program()
    let treatment =
      #"[{"_id":"66a000000000000000000001","eventType":"Carb Correction","created_at":"2026-05-06T08:00:00Z","carbs":AMOUNT}]"#
    func importing(_ carbs: String) async throws -> String {
      let outcome = try await program.run(
        "import", "-", "--timezone", "UTC", input: Array(treatment.replacing("AMOUNT", with: carbs).utf8))
      try #require(outcome.status == 0, "\(outcome)")
      let line = try await program.run("log", "--limit", "1").output
      return line.split(separator: ": ").last.map(String.init) ?? ""
    }
    #expect(try await importing("45") == "records new 1 · known 0 · rejected 0\n")
    #expect(try await importing("45") == "records new 0 · known 1 · rejected 0\n")
    let status = try await program.run("status").output
    #expect(status.contains("records new 1 · known 0") && !status.contains(": new 0"), "\(status)")
  }

  @Test func theLogCommandListsTheRejectionsOfAnImport() async throws {
    let program = try await program()
    let log = try await program.run("log", "1").output
    #expect(
      log.hasSuffix(
        "  line 6: the ketone value is not in mmol/L\n  line 10: the unit is neither mg/dL nor mmol/L\n"
      ))
    let object = try #require(try await program.run("log", "1", "--json").objects().first)
    let rejections = try #require(object["rejections"] as? [[String: any Sendable]])
    #expect(rejections.map { $0["line"] as? Int } == [6, 10])
    #expect(rejections.first?["reason"] as? String == "the ketone value is not in mmol/L")
    let clean = try #require(try await program.run("log", "2", "--json").objects().first)
    #expect((clean["rejections"] as? [any Sendable])?.isEmpty == true)
  }

  @Test func theLogCommandCountsRejectionsThatWereNotKept() async throws {
    let program = try Program()
    let bad = Array(String(repeating: "2024-01-01T00:00:00,5\n", count: 1203).utf8)
    _ = try await program.run(
      "import", "-", "--timezone", "UTC", input: GeneratedExport.csv(rows: 2000) + bad)
    let log = try await program.run("log", "1").output
    #expect(log.hasSuffix("  203 more rejections, without their reasons\n"))
    #expect(log.matches(of: /[ ]{2}line \d+:/).count == 1000)
  }

  @Test func theLogListsAKilledImportWithoutCounts() async throws {
    let program = try await program()
    try StoreFile(program.store).execute(
      "INSERT INTO ingest (source, format, started_at) VALUES ('lost.csv', 'generic', 1772352000)")
    let log = try await program.run("log", "3")
    #expect(log.status == 0, "\(log.errors)")
    #expect(log.output.contains("lost.csv: new 0 · known 0 · rejected 0 · not finished\n"))
    #expect(!log.output.contains("finished 2"))
    let names = try await program.run("log", "--json").objects().map { object in
      (object["counts"] as? [String: any Sendable])?.keys.sorted() ?? []
    }
    #expect(names.count == 3 && Set(names).count == 1 && names[0].contains("rejected"), "\(names)")
  }
}
