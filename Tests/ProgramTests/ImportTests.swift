// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport import` as people, cron jobs and scripts run it.
@Suite(.timeLimit(.minutes(10)))
struct ImportTests {
  private static let good = "time,glucose (mg/dL)\n2026-03-01T08:00:00,110\n2026-03-01T08:05:00,112\n"
  private static let bad = good + "2026-03-01T08:10:00,98secret\n2026-03-01T08:15:00,97\n"

  @Test func aCompleteImportEndsWithStatus0AndCreatesAPrivateStore() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", input: Self.good)
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.output.contains("new 2 · known 0 · rejected 0"))
    #expect(try mode(of: program.store) == 0o600)
    #expect(try mode(of: program.path("data/glucoport")) == 0o700)
    #expect(try mode(of: program.path("data")) == 0o700)
  }

  @Test func aRejectedRowEndsWithStatus3AndIsNamedWithoutItsValues() async throws {
    let program = try Program()
    let path = try program.write(Self.bad, to: "my rows.csv")
    let outcome = try await program.run("import", path)
    #expect(outcome.status == 3)
    #expect(outcome.errors.hasPrefix("\(path):4: "), "\(outcome.errors)")
    #expect(!(outcome.errors + outcome.output).contains("98secret"))
    #expect(try StoreFile(program.store).count("reading") == 3)
  }

  @Test(arguments: [
    ["import"], ["import", "--nonsense", "-"], ["import", "-", "--unit", "stone"],
    ["import", "-", "--date-order", "ymd"], ["import", "-", "--format", "nonsense"],
    ["import", "-", "--max-rejects", "-1"], ["import", "-", "--map", "time"], ["nonsense"],
    ["import", "-", "--rejects-append"], ["import", "-", "--rejects", "-", "--rejects-append"],
    ["import", "-", "--rejects", "-", "--json"],
    ["import", "-", "--where", "userID"], ["import", "-", "--kind", "ketone"],
    ["import", "-", "--depth", "0"],
  ])
  func invalidImportArgumentsEndWithStatus64AndCreateNothing(arguments: [String]) async throws {
    let program = try Program()
    let outcome = try await program.run(arguments: arguments, input: Array(Self.good.utf8))
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(!outcome.errors.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test func anInputOfNoKnownFormatEndsWithStatus65AndCreatesNothing() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", input: "a shopping list\n2 apples\n")
    #expect(outcome.status == 65)
    #expect(outcome.errors.hasPrefix("glucoport: -: "))
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test func anInvalidStoreEndsWithStatus65AndIsNotChanged() async throws {
    let program = try Program()
    let path = try program.write(Self.good, to: "notes.txt")
    let outcome = try await program.run("import", "-", "--store", path, input: Self.bad)
    #expect(outcome.status == 65)
    #expect(outcome.errors.hasPrefix("glucoport: \(path): "))
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(Self.good.utf8))
  }

  @Test(arguments: [["import", "nowhere.csv"], ["list"], ["show", "1"], ["status"]])
  func missingImportFilesAndItemsEndWithStatus66(arguments: [String]) async throws {
    let program = try Program()
    let outcome = try await program.run(arguments: arguments)
    #expect(outcome.status == 66)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("glucoport: "))
  }

  @Test func creatingAStoreBelowAFileIsRefused() async throws {
    let program = try Program()
    let file = try program.write("", to: "file")
    for arguments in [["--store", file + "/below/logbook.db"], ["--rejects", file + "/rejects.csv"]] {
      let outcome = try await program.run(
        arguments: ["import", "-"] + arguments, input: Array(Self.good.utf8))
      #expect(outcome.status == 73, "\(arguments)")
      #expect(outcome.errors.contains(file), "\(outcome.errors)")
    }
  }

  @Test func anImportWithoutPermissionEndsWithStatus77() async throws {
    let program = try Program()
    let path = try program.write(Self.good, to: "rows.csv")
    let folder = program.path("closed")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
    for store in ["/logbook.db", "/below/logbook.db"] {
      let outcome = try await program.runUnprivileged("import", path, "--store", folder + store)
      #expect(outcome.status == 77, "\(store): \(outcome.errors)")
      #expect(outcome.errors.contains(folder), "\(outcome.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)

    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    let outcome = try await program.runUnprivileged("import", path)
    #expect(outcome.status == 77, "\(outcome.errors)")
    #expect(outcome.errors.hasPrefix("glucoport: \(path): "), "\(outcome.errors)")
  }

  @Test func aStoreOfANewerProgramIsRefusedByEveryCommand() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: Self.good)
    try StoreFile(program.store).execute("PRAGMA user_version = 1000")
    for command in [["import", "-"], ["list"], ["export"], ["status"], ["log"], ["config"]] {
      let outcome = try await program.run(arguments: command, input: Array(Self.bad.utf8))
      #expect(outcome.status == 78, "\(command)")
      #expect(outcome.errors.contains("newer glucoport"))
    }
    #expect(try StoreFile(program.store).count("reading") == 2)
  }

  @Test func afterAFailedPathTheOtherPathsAreImported() async throws {
    let program = try Program()
    let first = try program.write(Self.bad, to: "first.csv")
    let broken = try program.write("<html>", to: "broken.csv")
    let last = try program.write(GeneratedExport.csv(rows: 4), to: "last.csv")
    let outcome = try await program.run("import", first, broken, program.path("none.csv"), last, "--json")
    #expect(outcome.status == 66)
    #expect(try outcome.objects().map { $0["source"] as? String } == [first, last])
    #expect(outcome.errors.contains(#""error":"\#(broken): "#))
    #expect(outcome.errors.contains("none.csv"))
    #expect(try StoreFile(program.store).count("reading") == 7)
  }

  /// Unsorted rows are kept in a temporary file, and its folder may be missing.
  @Test(arguments: ["TMPDIR=/nonexistent", "TMPDIR=."])
  func unsortedRowsAreImportedWithOrWithoutATemporaryFolder(setting: String) async throws {
    let program = try Program()
    let lines = String(decoding: GeneratedExport.csv(rows: 45_000), as: UTF8.self).split(separator: "\n")
    let rows = [lines[0]] + (0..<45_000).map { (row: Int) in lines[1 + row * 7919 % 45_000] }
    try program.write(Array((rows.joined(separator: "\n") + "\n").utf8), to: "rows.csv")
    let outcome = try await program.shell("export \(setting); glucoport import rows.csv --json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.objects().first?["new"] as? Int == 45_000)
    #expect(try StoreFile(program.store).count("reading") == 45_000)
    #expect(try StoreFile(program.store).integrity() == "ok")
  }

  @Test func anImportFromAClosedStandardInputIsReported() async throws {
    let program = try Program()
    let outcome = try await program.shell("glucoport import - <&-")
    #expect(outcome.status == 66 && outcome.output.isEmpty)
    #expect(
      outcome.errors
        == "glucoport: -: cannot be read: standard input is closed; pipe an export into it, or name a file\n")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func gzipInputIsImportedFromAFileAndAPipe() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 9000), to: "rows.csv")
    let piped = try await program.shell("gzip -c rows.csv | glucoport import -")
    #expect(piped.status == 0, "\(piped.errors)")
    let file = try await program.shell("gzip rows.csv && glucoport import rows.csv.gz --json")
    #expect(try file.objects().first?["known"] as? Int == 9000, "\(file.errors)")
    let cut = try await program.shell("head -c 20000 rows.csv.gz | glucoport import - --store cut.db")
    #expect(cut.status == 65)
    #expect(cut.errors.contains("truncated"), "\(cut.errors)")
    let kept = try StoreFile(program.path("cut.db")).readings()
    #expect(kept.count > 100)
    #expect(try Set(kept).isSubset(of: StoreFile(program.store).readings()))
  }

  @Test func aDryRunOfAnImportWritesNothing() async throws {
    let program = try Program()
    let path = try program.write(Self.bad, to: "rows.csv")
    let empty = try FolderListing(program.folder)
    let arguments = ["import", path, "--dry-run", "--json", "--rejects", program.path("rejects.csv")]
    let first = try await program.run(arguments: arguments)
    #expect(first.status == 3)
    #expect(try first.objects().first?["new"] as? Int == 3)
    #expect(try first.objects().first?["dry_run"] as? Bool == true)
    #expect(try FolderListing(program.folder) == empty)

    // The kind is given, since two readings are too few to recognise a sensor.
    _ = try await program.run("import", "-", "--kind", "cbg", input: Self.good)
    let filled = try FolderListing(program.folder)
    let second = try await program.run(arguments: arguments)
    #expect(try second.objects().first?["new"] as? Int == 1)
    #expect(try second.objects().first?["known"] as? Int == 2)
    #expect(try FolderListing(program.folder) == filled)
  }

  @Test(arguments: [bad, good + "2026-03-01T08:1"])
  func aStrictImportOfRejectedOrTruncatedInputStoresNothing(input: String) async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 4))
    let outcome = try await program.run("import", "-", "--strict", input: input)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("nothing was stored"))
    #expect(try StoreFile(program.store).count("reading") == 4)
    #expect(try StoreFile(program.store).counters().count == 1)
    let whole = try await program.run("import", "-", "--strict", input: Self.good)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try StoreFile(program.store).count("reading") == 6)
  }

  @Test func moreRejectedRowsThanAllowedEndTheImport() async throws {
    let program = try Program()
    let rows = Self.bad + "2026-03-01T08:20:00,x\n2026-03-01T08:25:00,y\n"
    let few = try await program.run("import", "-", "--max-rejects", "2", input: rows)
    #expect(few.status == 65 && few.output == "")
    let enough = try await program.run("import", "-", "--max-rejects", "3", input: rows)
    #expect(enough.status == 3, "\(enough.errors)")
    let strict = try await program.run(
      "import", "-", "--max-rejects", "2", "--strict", "--store", program.path("s.db"), input: rows)
    #expect(strict.status == 65 && strict.output == "")
    let ends = [few, strict].map { $0.errors.split(separator: "\n") }
    #expect(
      ends.map { $0.map { $0.prefix(4) } } == [
        ["-:4:", "-:6:", "-:7:", "gluc"], ["-:4:", "-:6:", "-:7:", "gluc"],
      ])
    #expect(
      ends.map(\.last) == [
        "glucoport: -: 3 items were rejected and --max-rejects permits 2; what was read before is stored",
        "glucoport: -: 3 items were rejected and --strict permits none; nothing was stored",
      ])
    #expect(!(few.errors + strict.errors).contains("98secret"))
  }

  @Test func onlyTheFirstOfManyRejectedRowsAreListed() async throws {
    let program = try Program()
    let good = Self.good + (10..<58).map { "2026-03-01T10:\($0):00,110\n" }.joined()
    let rows = good + (10..<35).map { "2026-03-01T11:\($0):00,x\n" }.joined()
    let outcome = try await program.run("import", "-", "--strict", input: rows)
    let lines = outcome.errors.split(separator: "\n")
    try #require(lines.count == 22, "\(outcome.errors)")
    #expect((0..<20).allSatisfy { lines[$0].hasPrefix("-:\(52 + $0): ") })
    #expect(lines[20] == "-: and 5 more rejected rows")
    #expect(outcome.status == 65)
  }

  // MARK: - The file of rejected rows

  private static let header = "time,glucose (mg/dL)\n"
  private static let badRow = "2026-03-01T08:10:00,98secret\n"

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func rejectedRowsSavedToAFileCanBeCorrectedAndImported() async throws {
    let program = try Program()
    let rejects = program.path("rejects.csv")
    let outcome = try await program.run("import", "-", "--rejects", rejects, input: Self.bad)
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("rejected rows: \(rejects)"))
    let text = try text(rejects)
    #expect(text == Self.header + Self.badRow)
    #expect(try mode(of: rejects) == 0o600)

    let onto = try await program.run("import", rejects, "--rejects", rejects)
    #expect(onto.status == 64)
    #expect(try String(contentsOfFile: rejects, encoding: .utf8) == text)

    try program.write(text.replacing("98secret", with: "98"), to: "rejects.csv")
    let mended = try await program.run("import", rejects, "--json")
    #expect(mended.status == 0, "\(mended.errors)")
    #expect(try mended.objects().first?["new"] as? Int == 1)
  }

  @Test func theContentOfAFileIsNeverOverwrittenByRejectedRows() async throws {
    let program = try Program()
    let rejects = try program.write("what stood there before", to: "rejects.csv")
    let outcome = try await program.run("import", "-", "--rejects", rejects, input: Self.bad)
    #expect(outcome.status == 73 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors.contains(rejects) && outcome.errors.contains("--rejects-append"), "\(outcome.errors)")
    #expect(try text(rejects) == "what stood there before")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  /// An empty file is made by `mktemp`, and also by an import without rejected rows.
  @Test func anEmptyFileForRejectedRowsIsUsedAndBecomesPrivate() async throws {
    let program = try Program()
    let rejects = try program.write("", to: "rejects.csv")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: rejects)
    #expect(try await program.run("import", "-", "--rejects", rejects, input: Self.good).status == 0)
    #expect(try text(rejects) == "")
    #expect(try await program.run("import", "-", "--rejects", rejects, input: Self.bad).status == 3)
    #expect(try text(rejects) == Self.header + Self.badRow)
    #expect(try mode(of: rejects) == 0o600)
  }

  @Test func rejectedRowsOfTwoImportsCanBeImportedTogether() async throws {
    let program = try Program()
    let rejects = program.path("rejects.csv")
    let append = ["import", "-", "--rejects", rejects, "--rejects-append"]
    #expect(try await program.run(arguments: append, input: Array(Self.bad.utf8)).status == 3)
    // An editor may save the last line without a line end.
    try program.write(String(try text(rejects).dropLast()), to: "rejects.csv")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: rejects)
    let other = "glucose (mg/dL),time\n"
    let second = try await program.run(
      arguments: append, input: Array((other + "x7,2026-03-02T08:10:00\n101,2026-03-02T08:15:00\n").utf8))
    #expect(second.status == 3, "\(second)")
    let all = try text(rejects)
    #expect(all == Self.header + Self.badRow + other + "x7,2026-03-02T08:10:00\n")
    #expect(try mode(of: rejects) == 0o600)
    try program.write(all.replacing("98secret", with: "98").replacing("x7", with: "97"), to: "rejects.csv")
    let mended = try await program.run("import", rejects, "--json")
    #expect(mended.status == 0, "\(mended.errors)")
    #expect(try mended.objects().first?["new"] as? Int == 2)
  }

  @Test func rejectedRowsArePrintedToStandardOutputOnRequest() async throws {
    let program = try Program()
    let dry = try await program.run("import", "-", "--rejects", "-", "--dry-run", input: Self.bad)
    #expect(dry.status == 3 && dry.output == Self.header + Self.badRow, "\(dry)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
    let outcome = try await program.run("import", "-", "--rejects", "-", input: Self.bad)
    #expect(outcome.status == 3 && outcome.output == Self.header + Self.badRow, "\(outcome)")
    #expect(outcome.errors.contains("  new 3 · known 0 · rejected 1\n") && outcome.errors.contains("-:4: "))
    let quiet = try await program.run("import", "-", "--rejects", "-", "--quiet", input: Self.bad)
    #expect(quiet.output == Self.header + Self.badRow && quiet.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: program.path("-")))
  }

  @Test func theJSONSummaryOfAnImportHasTheDocumentedMembers() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", "--json", input: Self.bad)
    let object = try #require(try outcome.objects().first)
    #expect(try outcome.objects().count == 1)
    let members: Set<String> = [
      "source", "format", "outcome", "dry_run", "new", "known", "repeated", "changed", "rejected",
      "withdrawn", "restored", "new_by_kind", "not_taken", "records", "skipped", "ambiguous_times",
      "doubtful_times", "first_time",
      "last_time",
      "decisions", "warnings", "likely_duplicates", "corrected", "meter", "clock", "doubled",
      "first_counted", "last_counted", "sensor_copies", "period_items", "moved_items",
      "equal_rows",
    ]
    #expect(Set(object.keys) == members)
    #expect(object["first_time"] as? String == "2026-03-01T08:00:00")
    #expect(object["last_time"] as? String == "2026-03-01T08:15:00")
    #expect(object["new"] as? Int == 3)
    #expect(object["rejected"] as? Int == 1)
    #expect(object["outcome"] as? String == "whole")
    #expect(object["format"] as? String == "generic")
  }

  @Test func aQuietImportPrintsOnlyProblems() async throws {
    let program = try Program()
    let success = try await program.run("import", "-", "--quiet", input: Self.good)
    #expect(success.status == 0)
    #expect(success.output + success.errors == "")
    let trouble = try await program.run("import", "-", "--quiet", input: Self.bad)
    #expect(trouble.status == 3)
    #expect(trouble.output == "")
    #expect(trouble.errors.hasPrefix("-:4: "))
  }

  @Test func importProgressIsShownOnlyOnTerminals() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", input: GeneratedExport.csv(rows: 60_000))
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(!outcome.output.contains("\r"))
    #expect(!outcome.output.contains("\u{1B}"))
  }

  @Test func theTimeZoneOptionSetsTheZoneOfANewStoreAndLaterOnlyOfOneImport() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", "--timezone", "Europe/Madrid", input: Self.good)
    let later = "time,glucose (mg/dL)\n2026-03-02T08:00:00,120\n"
    _ = try await program.run("import", "-", "--timezone", "America/New_York", input: later)
    let last = "time,glucose (mg/dL)\n2026-03-03T08:00:00,130\n"
    _ = try await program.run("import", "-", input: last)
    let zone = try await program.run("config", "timezone")
    #expect(
      zone.output.hasPrefix(
        "timezone Europe/Madrid: 3 readings, 0 records\n  given for imports: America/New_York"))
    let list = try await program.run("list", "--format", "ndjson")
    let times = try list.objects().map { $0["time"] as? String }
    #expect(
      times == [
        "2026-03-01T07:00:00Z", "2026-03-01T07:05:00Z", "2026-03-02T13:00:00Z", "2026-03-03T07:00:00Z",
      ])
    // A period that is stated later overrides the zone of an import, and the command reports this.
    let period = try await program.run("config", "timezone", "Asia/Tokyo", "--from", "2026-03-02")
    #expect(
      period.output.contains("1 reading and 0 records had the zone of their import"), "\(period)")
    let early = try await program.run("config", "timezone", "Asia/Tokyo", "--until", "2026-03-01")
    #expect(!early.output.contains("had the zone"), "\(early)")
    let again = try await program.run("import", "-", "--timezone", "America/New_York", input: later)
    #expect(again.output.contains("1 item keeps the zone of a period"), "\(again)")
    let unknown = try await program.run("import", "-", "--timezone", "Nowhere/Town", input: last)
    #expect([64, 78].contains(unknown.status))
    #expect(unknown.errors.contains("Nowhere/Town"))
  }

  @Test func theTimeZoneOfTheEnvironmentIsIgnored() async throws {
    let program = try Program()
    let rows = Array(Self.good.utf8)
    _ = try await program.run("import", "-", "--timezone", "Europe/Madrid", input: rows)
    let outcome = try await program.run(
      "import", "-", "--json", input: rows, environment: ["TZ": "Asia/Tokyo"])
    #expect(try outcome.objects().first?["known"] as? Int == 2)
    let list = try await program.run("list", "--format", "ndjson")
    #expect(try list.objects().first?["time"] as? String == "2026-03-01T07:00:00Z")
  }

  @Test func columnsUnitAndDateOrderOfATableCanBeGiven() async throws {
    let program = try Program()
    let rows = "taken,bg,other\n03/04/2026 10:00,5.5,1\n05/04/2026 10:00,5.8,1\n"
    let arguments = ["import", "-", "--map", "time=taken,value=bg"]
    let open = try await program.run(arguments: arguments + ["--unit", "mmol/L"], input: Array(rows.utf8))
    #expect(open.status == 65)
    #expect(open.errors.contains("--date-order"))
    let whole = ["--unit", "mmol/L", "--date-order", "mdy"]
    let outcome = try await program.run(arguments: arguments + whole, input: Array(rows.utf8))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let items = try await program.run("list", "--format", "ndjson").objects()
    #expect(items.map { $0["device_time"] as? String } == ["2026-03-04T10:00:00", "2026-05-04T10:00:00"])
    #expect(items.map { $0["unit"] as? String } == ["mmol/L", "mmol/L"])
    #expect(items.map { $0["value"] as? Double } == [5.5, 5.8])
  }

  @Test func theStoreIsRefusedAsTheFileOfRejectedRows() async throws {
    let program = try Program()
    let file = program.path("new.db")
    let outcome = try await program.run("import", "-", "--store", file, "--rejects", file, input: Self.bad)
    #expect(
      outcome.status == 64 && outcome.errors.contains("choose another file for the output"), "\(outcome)")
  }

  @Test func anImportWithAnUnclearUnitAsksForTheUnitOption() async throws {
    let program = try Program()
    let rows = "time,glucose\n2026-03-01T08:00:00,33\n2026-03-01T08:05:00,34\n"
    let open = try await program.run("import", "-", input: rows)
    #expect(open.status == 65)
    #expect(open.errors.contains("--unit"))
    let given = try await program.run("import", "-", "--unit", "mmol/L", input: rows)
    #expect(given.status == 0, "\(given.errors)")
    #expect(given.output.contains("unit mmol/L (given)"), "\(given.output)")
  }
}
