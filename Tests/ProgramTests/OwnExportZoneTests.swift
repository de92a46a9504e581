// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

/// Tests that an export of one store keeps its instants in a store with another zone.
@Suite(.timeLimit(.minutes(10)))
struct OwnExportZoneTests {
  private static let formats = ["fhir", "fhir-ndjson", "nightscout", "openmhealth", "csv", "ndjson"]
  private static let sticks =
    "Date,Time,Glucose (mg/dL)\n2026-03-01,07:10:33,112\n2026-03-01,12:15:20,143\n2026-03-02,07:02:11,98\n"

  /// The export of a store in the zone of Berlin.
  private static func export(_ format: String) async throws -> String {
    let program = try Program()
    try program.write(sticks, to: "sticks.csv")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Berlin", program.path("sticks.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    return try await program.run("export", "--format", format).output
  }

  private static func instants(_ program: Program) async throws -> [String] {
    let rows = try await program.run("export", "--format", "ndjson").objects()
    return rows.compactMap { $0["item"] as? String == "reading" ? $0["time"] as? String : nil }.sorted()
  }

  private static let wanted = ["2026-03-01T06:10:33Z", "2026-03-01T11:15:20Z", "2026-03-02T06:02:11Z"]

  @Test(arguments: formats) func anExportOfAnotherZoneCausesAWarningAndKeepsItsTimesWithThatZone(
    _ format: String
  ) async throws {
    let text = try await Self.export(format)
    for hasZone in [false, true] {
      let program = try Program()
      if hasZone {
        let set = try await program.run("config", "timezone", "America/New_York")
        #expect(set.status == 0, "\(set.errors)")
      }
      try program.write(text, to: "export")
      let options = hasZone ? [] : ["--timezone", "America/New_York"]
      let moved = try await program.run(
        arguments: ["import", "--quiet"] + options + [program.path("export")])
      #expect(moved.status == 0, "\(moved.errors)")
      #expect(
        moved.errors.contains("3 times of this export moved, since its logbook has another zone: 2026-03-0"))
      #expect(
        moved.errors.contains("-05:00 in the zone America/New_York; to keep them, import it again"))
      let imported = try await program.run(
        "import", "--quiet", "--timezone", "Europe/Berlin", program.path("export"))
      #expect(imported.status == 0 && !imported.errors.contains("moved, since"), "\(imported.errors)")
      #expect(try await Self.instants(program) == Self.wanted)
    }
  }

  /// The export states the zone of the journey's import after the items of the journey.
  @Test(arguments: ["csv", "ndjson"]) func anExportWithAJourneyKeepsItsTimes(_ format: String) async throws {
    let (program, copy) = (try Program(), try Program())
    let journey = "Date,Time,Glucose (mg/dL)\n2026-04-01,07:10:33,112\n2026-04-02,12:15:20,143\n"
    for (text, zone) in [(Self.sticks, "Europe/Berlin"), (journey, "America/New_York")] {
      try program.write(text, to: "\(zone.suffix(4)).csv")
      let imported = try await program.run(
        "import", "--quiet", "--timezone", zone, program.path("\(zone.suffix(4)).csv"))
      #expect(imported.status == 0, "\(imported.errors)")
    }
    try copy.write(try await program.run("export", "--format", format).output, to: "export")
    #expect(try await copy.run("config", "timezone", "Europe/Berlin").status == 0)
    let imported = try await copy.run("import", "--quiet", copy.path("export"))
    #expect(imported.status == 0 && imported.errors == "", "\(imported.errors)")
    let instants = try await Self.instants(copy)
    #expect(instants == Self.wanted + ["2026-04-01T11:10:33Z", "2026-04-02T16:15:20Z"])
  }

  @Test(arguments: formats) func importingAnExportOfAZoneWithTheSameOffsetCausesNoWarning(
    _ format: String
  ) async throws {
    let program = try Program()
    try program.write(try await Self.export(format), to: "export")
    // Madrid has the same offset at these times.
    let imported = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Madrid", program.path("export"))
    #expect(imported.status == 0 && imported.errors == "", "\(imported.errors)")
    #expect(try await Self.instants(program) == Self.wanted)
  }
}
