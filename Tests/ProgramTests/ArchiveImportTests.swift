// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestArchives
import TestProgram
import Testing

/// Tests `glucoport import` of ZIP archives and of folders.
@Suite(.timeLimit(.minutes(10)))
struct ArchiveImportTests {
  private static let first = "time,glucose (mg/dL)\n2026-03-01T08:00:00,110\n2026-03-02T12:05:00,112\n"
  private static let second = "time,glucose (mg/dL)\n2026-03-02T12:05:00,112\n2026-03-05T08:05:00,98secret\n"

  private func archive(_ program: Program, _ members: [(String, String)]) throws -> String {
    let path = program.path("export.zip")
    try Data(ZipWriter.archive(members)).write(to: URL(filePath: path))
    return path
  }

  @Test func everyExportOfAnArchiveIsImportedAndOtherFilesAreNamed() async throws {
    let program = try Program()
    let path = try archive(program, [("b.csv", Self.first), ("notes.txt", "hello\n"), ("c.csv", Self.first)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("\(path):b.csv: ") && outcome.output.contains("\(path):c.csv: "))
    #expect(outcome.output.contains("new 2 · known 0") && outcome.output.contains("new 0 · known 2"))
    #expect(outcome.errors.hasPrefix("\(path):notes.txt: not imported: "), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 2)
  }

  @Test func rejectedRowsAreReportedWithTheirFileInTheArchive() async throws {
    let program = try Program()
    let path = try archive(program, [("a.csv", Self.second)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 3)
    #expect(outcome.errors.hasPrefix("\(path):a.csv:3: "), "\(outcome.errors)")
  }

  @Test func importingAnArchiveWithoutExportsEndsWithStatus65() async throws {
    let program = try Program()
    let path = try archive(program, [("notes.txt", "hello\n")])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("no member of this archive is an export"))
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test func oneFileOfAnArchiveIsImportedByItsName() async throws {
    let program = try Program()
    let path = try archive(program, [("a.csv", Self.first), ("b.csv", Self.second)])
    let outcome = try await program.run("import", "\(path):a.csv")
    #expect(outcome.status == 0 && !outcome.output.contains("b.csv"))
    #expect(try await program.run("import", "\(path):c.csv").status == 66)
    #expect(try await program.run("import", "\(program.path("none.zip")):c.csv").status == 66)
  }

  @Test func anArchiveOnStandardInputIsImported() async throws {
    let program = try Program()
    let bytes = try ZipWriter.archive([("a.csv", Self.first)])
    let outcome = try await program.run("import", "-", input: bytes)
    #expect(outcome.status == 0 && outcome.output.contains("-:a.csv: "), "\(outcome)")
  }

  /// A file that unpacks to a gigabyte is refused, even with `--force`. A file of less than 64 MiB is read,
  /// although its row repeats.
  @Test(arguments: [(43, Int32(65)), (2, 0)])
  func aGzipFileOfOneRepeatedRowIsRefusedOnlyIfItIsLarge(_ blocks: Int, _ status: Int32) async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      yes '2026-03-11 08:10:00,142' | head -c \(24 << 20) | gzip -9 >block
      (echo 'time,glucose (mg/dL)' | gzip; for _ in $(seq \(blocks)); do cat block; done) >rows.csv.gz
      exec prlimit --data=\(256 << 20) glucoport import rows.csv.gz --timezone UTC --force
      """)
    #expect(outcome.status == status, "\(outcome)")
    let reason = "rows.csv.gz: it unpacks to more than 250 times its size"
    #expect(outcome.errors.contains(reason) == (status == 65), "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: program.store) == (status == 0))
  }

  // MARK: Spreadsheets

  private func spreadsheet(_ program: Program, _ sheets: [(String, String)]) throws -> String {
    let path = program.path("diary.xlsx")
    var writer = SpreadsheetWriter([])
    writer.sheets = sheets.flatMap { SpreadsheetWriter(csv: $0.1, sheet: $0.0).sheets }
    try Data(writer.xlsx()).write(to: URL(filePath: path))
    return path
  }

  /// Values of a sensor, one every five minutes from this minute after 8:00 on.
  private static func series(from minute: Int = 0, _ value: (Int) -> Int) -> String {
    (0..<40).reduce(into: "time,glucose (mg/dL)\n") { text, index in
      let minutes = minute + index * 5
      let clock = [8 + minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
      text += "2026-03-01 \(clock):00,\(value(index))\n"
    }
  }

  @Test(arguments: [0, 2])
  func aWorkbookWithASheetForEachPersonIsRefused(minutesLater: Int) async throws {
    let program = try Program()
    let anna = Self.series { 100 + $0 * 37 % 71 }
    let ben = Self.series(from: minutesLater) { 140 + $0 * 29 % 71 }
    let path = try spreadsheet(program, [("Anna", anna), ("Ben", ben)])
    let outcome = try await program.run("import", path)
    #expect(
      outcome.status == 65 && outcome.errors.contains("other sensor values at the same times"), "\(outcome)")
    #expect(outcome.errors.contains("--device NAME \(path):Ben"), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 40)
    let named = try await program.run("import", "--device", "second", "\(path):Ben")
    #expect(named.status == 0, "\(named)")
    #expect(try StoreFile(program.store).count("reading") == 80)
    let members = try archive(program, [("anna.csv", anna), ("ben.csv", ben)])
    #expect(try await program.run("import", "--dry-run", members).status == 65)
  }

  /// Finger sticks of ten days from a day in March on, two a day.
  private static func sticks(from day: Int = 1, seconds: String = "", _ value: (Int) -> Int) -> String {
    (0..<20).reduce(into: "Date,Time,Glucose (mg/dL)\n") { text, index in
      let date = day + index / 2
      text +=
        "2026-03-\(date < 10 ? "0" : "")\(date),\(index % 2 == 0 ? "07" : "19"):\(10 + index)\(seconds),\(value(index))\n"
    }
  }

  @Test func aWorkbookWithSheetsNamedAfterPersonsIsRefused() async throws {
    let program = try Program()
    let (anna, bob) = (Self.sticks { 100 + $0 * 37 % 71 }, Self.sticks(from: 2) { 140 + $0 * 29 % 71 })
    let path = try spreadsheet(program, [("Anna", anna), ("Bob", bob)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 65 && outcome.errors.contains("named for persons"), "\(outcome)")
    #expect(outcome.errors.contains("--person NAME \(path):Bob"), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 20)
    #expect(try await program.run("import", "\(path):Bob").status == 0)
    #expect(try StoreFile(program.store).count("reading") == 40)
  }

  @Test(arguments: [
    ("P01", "P02"), ("1", "2"), ("A.B.", "C.D."), ("June", "April"), ("Me", "Sheet2"),
    ("Control", "Diabetic"),
    ("Week 1", "Week 2"), ("S1 morning", "S2 evening"), ("Anna", "Table 2"), ("März", "Apr 26"),
  ])
  func aWorkbookWithDifferentSheetsOfTheSameDaysIsRefused(_ first: String, _ second: String) async throws {
    let program = try Program()
    let (anna, bob) = (Self.sticks { 100 + $0 * 37 % 71 }, Self.sticks(from: 2) { 140 + $0 * 29 % 71 })
    let outcome = try await program.run(
      "import", try spreadsheet(program, [(first, anna), (second, bob)]))
    #expect(outcome.status == 65 && outcome.errors.contains("named for persons"), "\(outcome)")
    #expect(try StoreFile(program.store).count("reading") == 20)
    let path = try archive(program, [("\(first)/glucose.csv", anna), ("\(second)/glucose.csv", bob)])
    let members = try await program.run("import", "--dry-run", path)
    #expect(members.status == 65 && members.errors.contains("named for persons"), "\(members)")
  }

  /// An app may truncate times to the minute in one export and not in the other.
  @Test(arguments: [
    ("anna.csv", "again.csv", 1), ("2026-03-a.csv", "2026-03-b.csv", 11), ("before.csv", "after.csv", 2),
  ])
  func archivedFilesOfOnePersonAreImported(_ first: String, _ second: String, from day: Int) async throws {
    let program = try Program()
    let again = Self.sticks(from: day) { (day == 1 ? 100 : 140) + $0 * 37 % 71 }
    let path = try archive(
      program, [(first, Self.sticks(seconds: ":33") { 100 + $0 * 37 % 71 }), (second, again)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test func anArchiveWithWorkbooksOfSeveralPersonsIsRefused() async throws {
    let program = try Program()
    let books = try [("anna", 100), ("bob", 140)].map { name, least in
      var writer = SpreadsheetWriter([])
      writer.sheets = SpreadsheetWriter(csv: Self.sticks { least + $0 * 37 % 71 }, sheet: "Log").sheets
      return ZipWriter.Entry(name: "\(name).xlsx", bytes: try writer.xlsx())
    }
    var archive = ZipWriter()
    archive.entries = books
    let path = program.path("export.zip")
    try Data(archive.bytes()).write(to: URL(filePath: path))
    let outcome = try await program.run("import", path)
    #expect(
      outcome.status == 65 && outcome.errors.contains("bob.xlsx:Log: it has other readings"), "\(outcome)")
  }

  @Test(arguments: [
    ("Before meals", "After meals", 2), ("Messgerät", "Tagebuch", 2), ("Contour Next", "Accu-Chek Guide", 2),
    ("Meter 1", "Meter 2", 2), ("Morning 1", "Evening 2", 2), ("Week 1", "Week 2", 11),
    ("Page 1", "Page 2", 10),
    ("März", "Apr 26", 11), ("Anna", "Table 2", 11), ("Lisbon", "Oslo", 12),
  ])
  func sheetsNamedAfterOnePersonAreImported(_ first: String, _ second: String, from day: Int) async throws {
    let program = try Program()
    let sheets = [
      (first, Self.sticks { 100 + $0 * 37 % 71 }), (second, Self.sticks(from: day) { 140 + $0 * 29 % 71 }),
    ]
    let outcome = try await program.run("import", try spreadsheet(program, sheets))
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try StoreFile(program.store).count("reading") == 40)
  }

  @Test func sheetsThatContinueOneSeriesAreImported() async throws {
    let program = try Program()
    let all = Self.series { 100 + $0 * 37 % 71 }
    let later = Self.series(from: 300) { 140 + $0 * 29 % 71 }
    let path = try spreadsheet(program, [("All", all), ("Morning", all), ("Later", later)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try StoreFile(program.store).count("reading") == 80)
  }

  @Test func everySpreadsheetSheetThatIsAnExportIsImported() async throws {
    let program = try Program()
    let path = try spreadsheet(
      program, [("March", Self.second), ("Notes", "hello\n"), ("Again", Self.first)])
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("\(path):March: ") && outcome.output.contains("\(path):Again: "))
    #expect(outcome.errors.contains("\(path):March:3: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("\(path):Notes: not imported: "), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 2)
    let again = try await program.run("import", "\(path):Again")
    #expect(again.status == 0 && again.output.contains("new 0 · known 2"), "\(again)")
  }

  @Test func aSpreadsheetWithoutExportsEndsWithStatus65() async throws {
    let program = try Program()
    for sheets in [[("A", "hello\n")], [("A", "hello\n"), ("B", "Date,Amount\n2026-05-01,7\n")]] {
      let outcome = try await program.run("import", try spreadsheet(program, sheets))
      #expect(outcome.status == 65)
      #expect(
        outcome.errors.contains(sheets.count > 1 ? "no sheet of this spreadsheet" : ":A: unknown format"))
    }
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  // MARK: Folders

  private func folder(_ program: Program) throws -> String {
    let folder = program.path("downloads")
    let deep = folder + "/2025/deep"
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    _ = try program.write(Self.first, to: "downloads/b.csv")
    _ = try program.write(Self.second, to: "downloads/2025/a.csv")
    _ = try program.write("hello\n", to: "downloads/2025/letter.txt")
    _ = try program.write("hello again\n", to: "downloads/letter.txt")
    _ = try program.write("", to: "downloads/.hidden.csv")
    _ = try program.write(
      Self.first.replacing("2026-03-01", with: "2026-04-01"), to: "downloads/2025/deep/c.csv")
    return folder
  }

  @Test func everyExportInAFolderIsImportedWithOneSummary() async throws {
    let program = try Program()
    let folder = try folder(program)
    let outcome = try await program.run("import", folder)
    #expect(outcome.status == 3)
    #expect(
      outcome.output.hasPrefix("\(folder): 3 exports (generic 3), 2 other files\n"), "\(outcome.output)")
    #expect(outcome.output.contains("  not read: 2 files: "))
    #expect(outcome.errors.hasPrefix("\(folder)/2025/a.csv:3: "), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 3)
    let again = try await program.run("import", folder)
    #expect(again.output.contains("new 0 · known 5"), "\(again.output)")
  }

  @Test func theDepthOptionLimitsHowFarAFolderIsSearched() async throws {
    let program = try Program()
    let folder = try folder(program)
    let one = try await program.run("import", "--depth", "1", "--dry-run", folder)
    #expect(one.status == 0 && one.output.hasPrefix("\(folder): 1 export (generic 1), 1 other file\n"))
    let two = try await program.run("import", "--depth", "2", "--dry-run", folder)
    #expect(two.output.hasPrefix("\(folder): 2 exports"))
    #expect(try await program.run("import", "--depth", "0", folder).status == 64)
  }

  @Test func aStoreFailureEndsTheImportOfAFolder() async throws {
    let program = try Program()
    try FileManager.default.createDirectory(atPath: program.path("rows"), withIntermediateDirectories: true)
    func write(_ day: Int) throws {
      try program.write("time,glucose (mmol/L)\n2026-05-0\(day) 10:00,5.5\n", to: "rows/\(day).csv")
    }
    try write(1)
    #expect(try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows")).status == 0)
    try StoreFile(program.store).execute(
      "PRAGMA ignore_check_constraints = ON; UPDATE series SET last_time = 1 << 60")
    for day in 2...5 { try write(day) }
    let outcome = try await program.run("import", program.path("rows"), "--yes")
    #expect(outcome.status == 74 && outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
    let json = try await program.run(
      "import", program.path("rows"), program.path("rows/5.csv"), "--yes", "--json")
    #expect(json.status == 74 && json.errors.split(separator: "\n").count == 1, "\(json)")
  }

  @Test func aFolderOfTooManyFilesIsRefusedBeforeAnyIsRead() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      mkdir many; (cd many; seq -f %06.0f.csv 100001 | xargs touch)
      prlimit --data=\(256 << 20) glucoport import many; echo $?
      rm many/100001.csv; prlimit --data=\(256 << 20) glucoport import many; echo $?
      """)
    #expect(outcome.errors == "glucoport: many: more than 100000 files; import a smaller folder\n")
    #expect(
      outcome.output == """
        65
        many: 0 exports, 100,000 other files
          not read: 100,000 files: the input is empty
        0

        """, "\(outcome.output)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func importingAFolderWithoutExportsIsNotAFailure() async throws {
    let program = try Program()
    _ = try program.write("hello\n", to: "letter.txt")
    let empty = program.path("empty")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    let outcome = try await program.run("import", empty)
    #expect(outcome.status == 0 && outcome.output == "\(empty): 0 exports\n", "\(outcome)")
  }
}
