// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// `Samples/ten-people.sh` with the built program.
@Suite(.timeLimit(.minutes(10))) struct TenPeopleTests {
  @Test func aNursesDayEndsWithEachReadingInItsStore() async throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Samples/ten-people.sh").path
    let program = try Program()
    let outcome = try await program.shell("bash '\(script)'", within: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("'glucoport import --person Ben "), "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 12, "\(outcome.output)")
    let persons = try lines.prefix(10).map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    for (number, person) in persons.enumerated() {
      #expect(person["meters"] as? [String] == ["70000\(number)"])
      // One reading each; a typed one, its meal and what was undone besides for Ida.
      #expect((person["pending"] as? Int ?? 0) >= 1 && person["problem"] is NSNull)
      #expect(person["last_backup"] is String)
    }
    #expect(lines[10].trimmingCharacters(in: .whitespaces) == "10")
    #expect(lines[11].trimmingCharacters(in: .whitespaces) == "9")
  }
}
