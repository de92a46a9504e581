// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the scripts of `Samples` with the built program.
@Suite(.timeLimit(.minutes(10))) struct SampleScriptTests {
  private static func script(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Samples/\(name)").path
  }

  @Test func theTryItScriptOfTheReadmeEndsWithEqualStores() async throws {
    let outcome = try await Program().shell(
      "export GLUCOPORT_PROGRAM=$(command -v glucoport); bash '\(Self.script("quickstart.sh"))'",
      within: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains("== both hold the same"))
    #expect(outcome.output.contains("2 readings hidden") && outcome.output.contains("shown again 2"))
    #expect(!outcome.errors.contains("No such file"), "\(outcome.errors)")
  }

  @Test func theNurseSampleScriptStoresEachReadingForTheRightPerson() async throws {
    let program = try Program()
    let outcome = try await program.shell("bash '\(Self.script("ten-people.sh"))'", within: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("'glucoport import --person Ben "), "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 12, "\(outcome.output)")
    let persons = try lines.prefix(10).map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    for (number, person) in persons.enumerated() {
      #expect(person["meters"] as? [String] == ["70000\(number)"])
      // Each person has one reading. Ida also has a typed reading, a meal and an import that was undone.
      #expect((person["pending"] as? Int ?? 0) >= 1 && person["problem"] is NSNull)
      #expect(person["last_backup"] is String)
    }
    #expect(lines[10].trimmingCharacters(in: .whitespaces) == "10")
    #expect(lines[11].trimmingCharacters(in: .whitespaces) == "9")
  }
}
