// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests `report` with the built program.
@Suite(.timeLimit(.minutes(10)))
struct ReportCommandTests {
  /// A store with two weeks of sensor values, a finger stick, insulin and a note.
  private func program() async throws -> Program {
    let program = try Program()
    var rows = ReadingRows()
    rows.addSamples(14 * 96, every: 15, from: "2026-03-02")
    rows.add(.smbg, "200", at: "2026-03-15T08:00", serial: "SN-1234")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    for record in [
      ["insulin", "4", "--at", "2026-03-03T08:00"], ["note", "at <Anna>'s", "--at", "2026-03-03T09:00"],
    ] {
      let added = try await program.run(arguments: ["record", "add"] + record + ["--quiet"])
      #expect(added.status == 0, "\(added.errors)")
    }
    return program
  }

  @Test func thePageIsPrivateAndReplacesNothingWithoutForce() async throws {
    let program = try await program()
    let path = program.path("report.html")
    let made = try await program.run("report", "-o", path)
    #expect(made.status == 0 && made.output == "")
    #expect(
      made.errors
        == "glucoport: wrote the report to \(path): 2026-03-02 to 2026-03-15, 1,345 readings\n")
    #expect(try mode(of: path) == 0o600)
    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.hasPrefix("<!doctype html>\n<html lang=\"en\">") && page.contains("2026-03-02 – 2026-03-15"))
    let again = try await program.run("report", "--output", path)
    #expect(again.status == 73 && again.errors.contains("File exists; replace it with --force"))
    let forced = try await program.run("report", "-o", path, "--force", "--language", "de", "--quiet")
    #expect(forced.status == 0 && forced.errors == "")
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("<html lang=\"de\">"))
  }

  @Test func theSameStoreAndOptionsGiveTheSameBytes() async throws {
    let program = try await program()
    let first = try await program.run("report", "-o", "-")
    let second = try await program.run("report", "-o", "-")
    #expect(first.status == 0 && first.output == second.output && first.output.hasSuffix("</html>\n"))
    let other = try await program.run("report", "-o", "-", "--unit", "mmol/L")
    #expect(other.output != first.output)
  }

  @Test func namesAndNotesAreEscaped() async throws {
    let program = try Program()
    var rows = ReadingRows()
    rows.add(.smbg, "100", at: "2026-03-02T08:00", serial: "\"<script>alert(1)</script>\"\"'&\u{202E}\"")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let note = "</td></table><script>alert(2)</script> \"'& \u{1B}[31m\u{202E}x"
    let added = try await program.run("record", "add", "note", note, "--at", "2026-03-02T09:00", "--quiet")
    #expect(added.status == 0, "\(added.errors)")
    for arguments in [[], ["--device", "<script>"]] {
      let page = try await program.run(arguments: ["report", "-o", "-"] + arguments).output
      #expect(page.contains("<td>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u{FFFD}</td>"))
      #expect(
        page.contains("Note &lt;/td&gt;&lt;/table&gt;&lt;script&gt;alert(2)&lt;/script&gt; &quot;&#39;&amp; ")
          == arguments.isEmpty)
      #expect(page.contains("Only the device &lt;script&gt;;") != arguments.isEmpty)
      #expect(!page.contains("<script") && !page.contains("\u{1B}") && !page.contains("\u{202E}"))
    }
  }

  @Test func anAnonymisedReportHasNoSerialNumbersAndNoNotes() async throws {
    let program = try await program()
    let whole = try await program.run("report", "-o", "-").output
    #expect(whole.contains("SN-1234") && whole.contains("at &lt;Anna&gt;&#39;s"))
    let anonymised = try await program.run("report", "-o", "-", "--anonymise", "--device", "S").output
    #expect(!anonymised.contains("SN-1234") && !anonymised.contains("Anna"))
    #expect(anonymised.contains("2026-03-02") && anonymised.contains("Vendor Meter"))
  }

  /// Runs `report --format pdf` with a search path that contains only these programs.
  private func printed(_ programs: [String: String], _ program: Program) async throws -> Program.Outcome {
    var script = "set -e; binary=$(command -v glucoport); rm -rf only; mkdir only\n"
    for (name, lines) in programs {
      try program.write("#!/bin/sh\n" + lines, to: name)
      script += "mv '\(program.path(name))' only; chmod 755 only/\(name)\n"
    }
    return try await program.shell(
      script + "PATH=$PWD/only \"$binary\" report --format pdf --force -o '\(program.path("report.pdf"))'")
  }

  @Test func aPDFIsMadeWithAnInstalledProgram() async throws {
    let program = try await program()
    let chromium =
      "for word; do case $word in --print-to-pdf=*) printf %s '%PDF-1.7 c' >\"${word#*=}\";; esac; done"
    let weasyprint = "printf %s '%PDF-1.7 w' >\"$2\""
    for (programs, content) in [
      (["chromium": chromium], "%PDF-1.7 c"), (["weasyprint": weasyprint], "%PDF-1.7 w"),
      (["chromium": chromium, "weasyprint": weasyprint], "%PDF-1.7 c"),
    ] {
      let outcome = try await printed(programs, program)
      #expect(outcome.status == 0 && outcome.errors.contains("1,345 readings"), "\(outcome.errors)")
      #expect(try String(contentsOfFile: program.path("report.pdf"), encoding: .utf8) == content)
      #expect(try mode(of: program.path("report.pdf")) == 0o600)
    }
  }

  @Test func withoutAProgramOrWithAFailingOneThereIsNoPDF() async throws {
    let program = try await program()
    let none = try await printed([:], program)
    #expect(
      none.status == 69 && none.errors.contains("needs Chromium or WeasyPrint, and neither is installed"))
    let failing = try await printed(["chromium": "exit 3"], program)
    #expect(failing.status == 74 && failing.errors.contains("could not print the page (status 3)"))
    let silent = try await printed(["weasyprint": "exit 0"], program)
    #expect(silent.status == 74)
    #expect(!FileManager.default.fileExists(atPath: program.path("report.pdf")))
  }

  @Test(arguments: [
    (["-o", "-", "--language", "xx"], "Unknown language 'xx'; use en, de, es or fr."),
    (["-o", "-", "--last", "3d", "--since", "2026-03-01"], "Use --last, or --since and --until."),
    (["-o", "-", "--targets", "1"], "Unknown targets '1'"),
    (["-o", ""], "--output needs the name of a file."),
    (
      ["-o", "x.pdf"], "'x.pdf' is the name of a PDF file, and this report is an HTML file: add --format pdf"
    ),
    (["-o", "x.html", "--format", "pdf"], "and this report is a PDF file: add --format html, or use"),
    ([], "--output"),
  ])
  func wrongOptionsAreWrongUsage(_ arguments: [String], _ words: String) async throws {
    let outcome = try await program().run(arguments: ["report"] + arguments)
    #expect(
      outcome.status == 64 && outcome.output == "" && outcome.errors.contains(words), "\(outcome.errors)")
  }

  @Test func anEmptyStoreHasNoPage() async throws {
    let program = try Program()
    let made = try await program.run("config", "timezone", "UTC")
    #expect(made.status == 0, "\(made.errors)")
    let outcome = try await program.run("report", "-o", program.path("report.html"))
    #expect(
      outcome.status == 66
        && outcome.errors.contains("no readings and no records; there is nothing to report"))
    #expect(!FileManager.default.fileExists(atPath: program.path("report.html")))
  }
}
