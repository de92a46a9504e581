// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the program in `Samples/embedding`, which uses only the libraries.
@Suite(.timeLimit(.minutes(2)))
struct EmbeddingTests {
  private func lines(_ path: String) async throws -> [Substring] {
    let program = try Program()
    let outcome = try await program.shell("embedding '\(Samples.path(path))' Europe/Madrid")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    return outcome.output.split(separator: "\n")
  }

  @Test func theEmbeddingSamplePrintsTheReadingsOfAnExport() async throws {
    let lines = try await lines("clarity/clarity-mgdl-en.csv")
    #expect(lines.first == "2026-03-01T08:00:12 cbg 110.0 mg/dL" && lines.count == 5)
  }

  @Test func theEmbeddingSamplePrintsTheReadingsOfARecordedMeterSession() async throws {
    let lines = try await lines("meters/contour-constructed.transcript")
    #expect(lines.allSatisfy { $0.contains(" smbg ") } && !lines.isEmpty)
  }

  @Test func theEmbeddingSampleIsShort() throws {
    let files = ["Package.swift", "Sources/embedding/main.swift"]
    let lines = try files.map {
      try String(contentsOfFile: Samples.path("embedding/\($0)"), encoding: .utf8).split(separator: "\n")
        .count
    }
    #expect(lines.reduce(0, +) < 60)
  }
}
