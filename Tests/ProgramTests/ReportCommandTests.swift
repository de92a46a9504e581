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

  @Test func aReportFileIsPrivateAndReplacesNothingWithoutForce() async throws {
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

  @Test func theSameStoreAndOptionsGiveTheSameReportBytes() async throws {
    let program = try await program()
    let first = try await program.run("report", "-o", "-")
    let second = try await program.run("report", "-o", "-")
    #expect(first.status == 0 && first.output == second.output && first.output.hasSuffix("</html>\n"))
    let other = try await program.run("report", "-o", "-", "--unit", "mmol/L")
    #expect(other.output != first.output)
  }

  @Test func namesAndNotesAreEscapedInAReport() async throws {
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
      let page = try await program.run(arguments: ["report", "--pages", "all", "-o", "-"] + arguments).output
      #expect(
        page.contains("Note &lt;/td&gt;&lt;/table&gt;&lt;script&gt;alert(2)&lt;/script&gt; &quot;&#39;&amp; ")
          == arguments.isEmpty)
      #expect(page.contains("Only the device &lt;script&gt;;") != arguments.isEmpty)
      #expect(!page.contains("<script") && !page.contains("\u{1B}") && !page.contains("\u{202E}"))
    }
  }

  @Test func anAnonymisedReportHasNoNotesAndNoDates() async throws {
    let program = try await program()
    let whole = try await program.run("report", "--pages", "all", "-o", "-", "--name", "Ada <Example>").output
    #expect(
      !whole.contains("SN-1234") && whole.contains("at &lt;Anna&gt;&#39;s")
        && whole.contains("Ada &lt;Example&gt;"))
    let anonymised = try await program.run(
      "report", "--pages", "all", "-o", "-", "--anonymise", "--device", "S"
    ).output
    #expect(!anonymised.contains("SN-1234") && !anonymised.contains("Anna"))
    #expect(
      !anonymised.contains("2026-03") && anonymised.contains("Day 14") && anonymised.contains("Vendor Meter"))
  }

  @Test func aReportFileNamedPDFIsWrittenAsPDF() async throws {
    let program = try await program()
    let path = program.path("report.pdf")
    let made = try await program.run("report", "-o", path, "--name", "Ada Example")
    #expect(made.status == 0 && made.errors.contains("1,345 readings"), "\(made.errors)")
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(bytes.starts(with: Array("%PDF-1.7\n".utf8)) && bytes.suffix(6) == Data("%%EOF\n".utf8))
    #expect(try mode(of: path) == 0o600)
    let again = try await program.run(
      "report", "-o", program.path("again.pdf"), "--name", "Ada Example", "--quiet")
    #expect(again.status == 0 && again.errors == "")
    #expect(try Data(contentsOf: URL(filePath: program.path("again.pdf"))) == bytes)
    let letter = try await program.run(
      "report", "-o", program.path("letter.pdf"), "--paper", "Letter", "--quiet")
    #expect(letter.status == 0)
    #expect(
      try Data(contentsOf: URL(filePath: program.path("letter.pdf"))).range(of: Data("[0 0 612 792]".utf8))
        != nil)
    let piped = try await program.shell("glucoport report --format pdf -o - --quiet | head -c 9")
    #expect(piped.output == "%PDF-1.7\n")
  }

  @Test func lettersThatThePDFFontLacksAreListed() async throws {
    let program = try await program()
    let made = try await program.run("report", "--name", "李 Ada", "-o", program.path("report.pdf"), "--quiet")
    #expect(
      made.status == 0
        && made.errors
          == "glucoport: the font of the PDF lacks '李', so it has ? instead; for these letters write an HTML page\n"
    )
    let page = try await program.run("report", "--name", "李 Ada", "-o", "-", "--quiet")
    #expect(page.errors == "" && page.output.contains("李 Ada"))
    let named = try await program.run("config", "name", "李 Ada")
    #expect(
      named.status == 0
        && named.errors
          == "glucoport: the font of a PDF lacks '李', so a PDF has ? instead; for these letters 'glucoport report' writes an HTML page\n"
    )
    let plain = try await program.run("config", "name", "Ágnes Őry")
    #expect(plain.status == 0 && plain.errors == "", "\(plain.errors)")
  }

  @Test func aReportHasOnlyTheChosenParts() async throws {
    let program = try await program()
    func sections(_ pages: String) async throws -> [String] {
      let page = try await program.run("report", "--pages", pages, "-o", "-", "--quiet").output
      return page.matches(of: /<section id="([a-z-]+)/).map { String($0.1) }
    }
    #expect(try await sections("summary") == ["summary-"])
    #expect(try await sections("log,summary") == ["summary-", "log-"])
    #expect(try await sections("single") == ["days"])
    #expect(try await sections("about").contains("devices"))
    #expect(try await Set(sections("all")).isSuperset(of: ["summary-", "log-", "days", "about"]))
  }

  @Test(arguments: [
    (["-o", "-", "--language", "xx"], "Unknown language 'xx'; use en, de, es or fr."),
    (["-o", "-", "--last", "3d", "--since", "2026-03-01"], "Use --last, or --since and --until."),
    (["-o", "-", "--targets", "1"], "Unknown targets '1'"),
    (["-o", ""], "--output needs the name of a file."),
    (
      ["-o", "x.pdf", "--format", "html"],
      "'x.pdf' is the name of a PDF file, and --format html makes an HTML file: leave out --format"
    ),
    (["-o", "x.html", "--format", "pdf"], "and --format pdf makes a PDF file: leave out --format, or use"),
    (["-o", "-", "--pages", "summary,x"], "Unknown pages 'summary,x'; use summary, days, log,"),
    (["-o", "-", "--pages", ""], "Unknown pages ''"),
    (["-o", "-", "--paper", "A3"], "Unknown paper 'A3'; use A4 or Letter."),
    (["-o", "-", "--name", ""], "--name needs a name."),
    (["-o", "-", "--name", "  "], "--name needs a name."),
    (["-o", "-", "--name", "Ada", "--anonymise"], "Use --name or --anonymise, not both."),
    ([], "--output"),
  ])
  func invalidReportOptionsAreUsageErrors(_ arguments: [String], _ words: String) async throws {
    let outcome = try await program().run(arguments: ["report"] + arguments)
    #expect(
      outcome.status == 64 && outcome.output == "" && outcome.errors.contains(words), "\(outcome.errors)")
  }

  @Test func theReportLogbookHasEveryFingerStickOfItsPeriod() async throws {
    let program = try Program()
    var rows = ReadingRows()
    for month in 1...4 { rows.add(.smbg, "7\(month)", at: "2026-0\(month)-02T08:00", serial: "SN-1") }
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let page = try await program.run(
      "report", "--since", "2026-01-01", "--until", "2026-05-01", "--pages", "log", "-o", "-", "--quiet"
    ).output
    for value in 71...74 { #expect(page.contains("<td><i>\(value)</i></td>"), "\(value)") }
  }

  /// Each day before the period is 1 mg/dL higher than the one before it. So a comparison with a day more or
  /// less would have another mean.
  @Test func aReportComparesWithThePreviousPeriod() async throws {
    let program = try Program()
    var rows = ReadingRows()
    for day in Int64(0)..<29 {
      rows.addSamples(
        96, every: 15, from: "2026-03-02", plus: day * 86400, base: day < 15 ? 120 + Int(day) : 100)
    }
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Madrid", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let page = try await program.run("report", "-o", "-").output
    #expect(page.contains("2026-03-17 – 2026-03-30 · 14 days"))
    let found = try #require(page.firstMatch(of: /Previous 14 days[^<]*/)).0
    let line = found.replacing("\u{A0}", with: " ")
    #expect(line.hasPrefix("Previous 14 days (2026-03-03 – 2026-03-16): target "), "\(line)")
    let stats = try await program.run("stats", "--json", "--since", "2026-03-03", "--until", "2026-03-17")
      .output
    let mean = try #require(stats.firstMatch(of: /"mean":\{"value":([0-9.]+)/)).1
    #expect(line.contains("Mean \(Int(try #require(Double(mean)).rounded())) mg/dL"), "\(line) \(mean)")
    // Nothing is before the first reading, and a day is too short to be compared.
    for period in [["--since", "2026-03-02"], ["--last", "1d"]] {
      let other = try await program.run(arguments: ["report", "-o", "-"] + period).output
      #expect(other.contains("24-hour profile") && !other.contains("Previous"))
    }
    let anonymised = try await program.run("report", "-o", "-", "--anonymise").output
    #expect(anonymised.contains("Previous 14 days: target\u{A0}") && !anonymised.contains("2026-03"))
  }

  @Test func theCommandSuggestedForAnEmptyReportPeriodRepeatsTheOptions() async throws {
    let program = try await program()
    let empty = try await program.run(
      "report", "--since", "2026-05-01", "--until", "2026-05-03", "--pages", "summary,about", "--anonymise",
      "-o",
      program.path("report.html"))
    #expect(empty.errors.contains("--pages summary,about --anonymise"), "\(empty.errors)")
  }

  @Test func aReportOfAnEmptyStoreIsRefused() async throws {
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
