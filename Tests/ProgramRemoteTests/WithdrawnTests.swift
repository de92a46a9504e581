// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests that a hidden reading is hidden in every list, statistic and export.
@Suite(.timeLimit(.minutes(10)))
struct WithdrawnTests {
  /// A store with three finger sticks. The second one, 300 mg/dL, is hidden.
  private func program() async throws -> Program {
    let program = try Program()
    let rows =
      "time,glucose (mg/dL)\n2026-03-01T08:00:00,110\n2026-03-01T08:05:00,300\n2026-03-01T08:10:00,112\n"
    let imported = try await program.run("import", "-", "--timezone", "Europe/Madrid", input: rows)
    #expect(imported.status == 0, "\(imported.errors)")
    let list = try await program.run("list", "--long")
    let line = try #require(list.output.split(separator: "\n").first { $0.contains(" 300 mg/dL") })
    let id = try #require(line.split(separator: " ").first { $0.hasPrefix("r1.") })
    let added = try await program.run("reading", "hide", String(id), "--quiet")
    #expect(added.status == 0 && added.output == "", "\(added.errors)")
    return program
  }

  @Test func ndjsonAndCSVExportsHaveAColumnForHiddenReadings() async throws {
    let program = try await program()
    for command in ["list", "export"] {
      let shown = try await program.run(command, "--format", "ndjson", "--kind", "smbg").objects()
      #expect(shown.map { $0["value"] as? Int } == [110, 112])
      let objects = try await program.run(command, "--format", "ndjson", "--kind", "smbg", "--hidden")
        .objects()
      #expect(objects.map { $0["value"] as? Int } == [110, 300, 112])
      #expect(objects.map { $0["withdrawn"] as? Bool } == [false, true, false])
      let csv = try await program.run(command, "--format", "csv", "--kind", "smbg", "--hidden").output
      let rows = csv.split(separator: "\r\n").map {
        $0.split(separator: ",", omittingEmptySubsequences: false)
      }
      let column = try #require(rows.first?.firstIndex(of: "withdrawn"))
      #expect(rows.dropFirst().map { $0[column] } == ["false", "true", "false"])
    }
  }

  @Test func theNightscoutExportReportsThatItOmitsHiddenReadings() async throws {
    let program = try await program()
    let export = try await program.run("export", "--format", "nightscout", "--kind", "smbg", "--hidden")
    #expect(export.status == 0)
    #expect(export.errors == "glucoport: left out 1 hidden reading\n")
    let entries = try #require(
      try JSONSerialization.jsonObject(with: Data(export.output.utf8)) as? [[String: Any]])
    #expect(entries.map { $0["mbg"] as? Int } == [110, 112])
    let own = try #require(entries.first?["glucoport"] as? [String: Any])
    #expect(own["withdrawn"] == nil && own["position"] as? Int == 1_772_352_000)

    let other = try Program()
    let copy = try await other.run("import", "-", "--timezone", "UTC", input: export.output)
    #expect(copy.status == 0, "\(copy.errors)")
    #expect(try StoreFile(other.store).count("reading") == 2)
  }

  @Test func anExportOmitsNothingIfNothingIsHidden() async throws {
    let program = try await program()
    let hidden = try await program.run("list", "--long", "--hidden").output
    let line = try #require(hidden.split(separator: "\n").first { $0.hasSuffix("hidden") })
    let id = try #require(line.split(separator: " ").first { $0.hasPrefix("r1.") })
    let restored = try await program.run("reading", "restore", String(id))
    #expect(restored.output == "restored: \(id)\n", "\(restored.errors)")
    let export = try await program.run("export", "--format", "nightscout")
    #expect(export.errors == "" && export.output.matches(of: /"mbg":/).count == 3)
    #expect(try await program.run("list").output.contains("hidden") == false)
  }

  @Test func anExportWithHiddenReadingsHidesThemInAnotherStore() async throws {
    let program = try await program()
    for form in ["csv", "ndjson"] {
      let export = try await program.run("export", "--format", form, "--hidden")
      let other = try Program()
      let copy = try await other.run("import", "-", "--timezone", "Europe/Madrid", input: export.output)
      #expect(copy.status == 0, "\(copy.errors)")
      #expect(try await other.run("export", "--format", form, "--hidden").output == export.output)
      #expect(try StoreFile(other.store).count("readings WHERE withdrawn AND value = 300") == 1)

      #expect(try await other.run("list").output.contains(" 300 mg/dL") == false)

      // This export has no withdrawal records, so its column for hidden readings has no effect in another
      // store.
      let readings = try await program.run("export", "--format", form, "--kind", "smbg", "--hidden")
      let third = try Program()
      _ = try await third.run("import", "-", "--timezone", "Europe/Madrid", input: readings.output)
      #expect(try StoreFile(third.store).count("reading") == 3)
      #expect(try StoreFile(third.store).count("readings WHERE withdrawn") == 0)
    }
  }
}
