// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport export` in the formats of other programs, and an import of these exports.
@Suite(.timeLimit(.minutes(10)))
struct DocumentExportTests {
  private static let forms = ["fhir", "fhir-ndjson", "openmhealth"]

  /// A store with readings of several devices, one of them withdrawn, and with records.
  private func program() async throws -> Program {
    let program = try Program()
    for path in ["clarity/clarity-mgdl-en.csv", "generic/kinds.csv"] {
      let imported = try await program.run("import", Samples.path(path), "--timezone", "Europe/Madrid")
      // Some rows of the second file are rejected.
      #expect([0, 3].contains(imported.status), "\(imported.errors)")
    }
    let rows =
      "time,glucose (mg/dL)\n2026-03-01T08:00:00,110\n2026-03-01T08:05:00,300\n2026-10-25T02:30:00,112\n"
    #expect(try await program.run("import", "-", "--timezone", "Europe/Madrid", input: rows).status == 0)
    let list = try await program.run("list", "--long")
    let line = try #require(list.output.split(separator: "\n").first { $0.contains(" 300 mg/dL") })
    let id = try #require(line.split(separator: " ").first { $0.wholeMatch(of: /r[0-9]+\..*/) != nil })
    #expect(try await program.run("reading", "hide", String(id), "--quiet").status == 0)
    return program
  }

  /// All properties of the readings that this format can contain.
  private func readings(_ program: Program, _ form: String) async throws -> [String] {
    let kinds = form == "openmhealth" ? "smbg,cbg,scan" : "smbg,cbg,scan,ketone"
    let export = try await program.run("export", "--format", "ndjson", "--kind", kinds)
    return export.output.split(separator: "\n").map(String.init).filter {
      !$0.contains("control-solution") && (form != "openmhealth" || $0.contains(#""range":null"#))
    }
  }

  @Test(arguments: forms)
  func importingADocumentExportChangesNothing(_ form: String) async throws {
    let program = try await program()
    let before = try await program.run("export", "--format", "ndjson", "--hidden").output
    let export = try await program.run("export", "--format", form)
    #expect(export.status == 0 && export.errors.contains("left out "), "\(export.errors)")
    let again = try await program.run("import", "-", "--json", input: export.output)
    #expect(again.status == 0, "\(again.errors)")
    let report = try #require(try again.objects().first)
    #expect(report["new"] as? Int == 0 && report["rejected"] as? Int == 0, "\(again.output)")
    #expect(try await program.run("export", "--format", "ndjson", "--hidden").output == before)
  }

  @Test(arguments: forms)
  func aDocumentExportFillsAFreshStoreWithTheSameReadings(_ form: String) async throws {
    let program = try await program()
    let wanted = try await readings(program, form)
    #expect(wanted.count > 5)
    let export = try await program.run("export", "--format", form).output
    let other = try Program()
    let copy = try await other.run("import", "-", "--timezone", "Europe/Madrid", input: export)
    #expect(copy.status == 0, "\(copy.errors)")
    #expect(try await readings(other, form) == wanted)
    if form != "openmhealth" {
      let kinds = ["list", "--kind", "smbg,cbg,scan,ketone"]
      #expect(try await other.run(arguments: kinds).output == program.run(arguments: kinds).output)
    }
    let again = try await other.run("export", "--format", form).output
    let (patient, otherPatient) = (Self.patient(in: export), Self.patient(in: again))
    // Each store has a separate Patient in FHIR. Open mHealth has no Patient.
    #expect(patient != otherPatient || form == "openmhealth")
    #expect(again.replacing(otherPatient ?? "-", with: patient ?? "-") == export)
  }

  /// The id of the Patient in an export; nil if the format has no Patient.
  private static func patient(in export: String) -> String? {
    let line = export.split(separator: "\n").first { $0.contains(#""resourceType":"Patient""#) }
    return line?.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/).map { String($0.0) }
  }

  @Test func allDocumentExportsOfAStoreHaveOnePatient() async throws {
    let program = try await program()
    let export = ["export", "--format"]
    let plain = try #require(Self.patient(in: try await program.run(arguments: export + ["fhir"]).output))
    for arguments in [["fhir-ndjson"], ["fhir", "--patient-name", "Anna"], ["fhir", "--kind", "cbg"]] {
      let text = try await program.run(arguments: export + arguments).output
      #expect(Self.patient(in: text) == plain, "\(arguments)")
    }
    // A later import does not change the Patient.
    let rows = "time,glucose (mg/dL)\n2020-03-01T08:00:00,110\n"
    #expect(try await program.run("import", "-", "--timezone", "Europe/Madrid", input: rows).status == 0)
    #expect(Self.patient(in: try await program.run(arguments: export + ["fhir"]).output) == plain)
  }

  @Test func aHiddenReadingIsMarkedOrLeftOutOfADocumentExport() async throws {
    let program = try await program()
    let fhir = try await program.run("export", "--format", "fhir", "--hidden")
    #expect(fhir.output.matches(of: /"status":"entered-in-error"/).count == 1)
    #expect(try await program.run("export", "--format", "fhir").output.contains("entered-in-error") == false)
    let points = try await program.run("export", "--format", "openmhealth", "--hidden")
    #expect(points.errors.contains("left out 1 hidden reading\n"), "\(points.errors)")
    let other = try Program()
    let copy = try await other.run("import", "-", "--timezone", "Europe/Madrid", input: fhir.output)
    #expect(copy.status == 0 && copy.output.contains("entered in error"), "\(copy)")
    #expect(try StoreFile(other.store).count("readings WHERE value = 300") == 0)
  }

  @Test func aDocumentExportIsValidJSON() async throws {
    let program = try await program()
    let bundle = try JSONSerialization.jsonObject(
      with: Data(try await program.run("export", "--format", "fhir").output.utf8))
    let object = try #require(bundle as? [String: Any])
    let entries = try #require(object["entry"] as? [[String: Any]])
    #expect(object["resourceType"] as? String == "Bundle" && object["type"] as? String == "collection")
    #expect(entries.allSatisfy { ($0["fullUrl"] as? String)?.hasPrefix("urn:uuid:") == true })
    #expect(Set(entries.compactMap { $0["fullUrl"] as? String }).count == entries.count)
    let lines = try await program.run("export", "--format", "fhir-ndjson").objects()
    #expect(lines.count == entries.count && lines.allSatisfy { $0["id"] is String })
    let points = try JSONSerialization.jsonObject(
      with: Data(try await program.run("export", "--format", "openmhealth").output.utf8))
    #expect(try #require(points as? [[String: Any]]).allSatisfy { $0["header"] != nil && $0["body"] != nil })
  }

  @Test func documentExportsContainNamesAndProfilesOnRequest() async throws {
    let program = try await program()
    let plain = try await program.run("export", "--format", "fhir")
    #expect(!plain.output.contains("Anna") && !plain.output.contains(#""profile""#))
    let asked = try await program.run(
      "export", "--format", "fhir", "--patient-name", "Anna \"A\"", "--profile", "cgm")
    #expect(asked.output.contains(#""name":[{"text":"Anna \"A\""}]"#))
    #expect(asked.output.contains("/uv/cgm/StructureDefinition/cgm-sensor-reading-mass-per-volume"))
  }

  @Test(arguments: [
    ["--profile", "cgm"], ["--patient-name", "Anna", "--format", "openmhealth"],
    ["--format", "fhir", "--profile", "us-core"], ["--format", "fhir", "--patient-name", ""],
    ["--format", "fhir", "--both-units"], ["--format", "openmhealth", "--spreadsheet-safe"],
  ])
  func anExportRefusesOptionsOfOtherFormats(_ arguments: [String]) async throws {
    let outcome = try await Program().run(arguments: ["export"] + arguments)
    #expect(outcome.status == 64, "\(outcome)")
  }
}
