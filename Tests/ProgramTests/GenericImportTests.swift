// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the import of a person's own tables: refusals, suggestions in them, and the selection of a person's
/// rows.
@Suite(.timeLimit(.minutes(10)))
struct GenericImportTests {
  private static let boluses = "Id,time,value, With meal\n1,2026-05-01 07:00,4.7,1\n2,2026-05-01 12:00,16,0\n"
  private static let persons =
    "userID,time,glucose\nA1,2026-05-01 07:00,101\nB2,2026-05-01 07:00,201\nA1,2026-05-01 12:00,104\n"

  @Test func aTableWithoutAGlucoseColumnEndsWithStatus65AndCreatesNothing() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", input: Self.boluses)
    #expect(outcome.status == 65 && outcome.output == "")
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test func theCommandSuggestedByARefusedImportWorksWhenPasted() async throws {
    let program = try Program()
    let path = try program.write(Self.boluses, to: "it's a file.csv")
    let store = program.path("my store.db")
    let refused = try await program.run("import", "--store", store, path)
    #expect(refused.status == 65)
    let command = try #require(
      refused.errors.split(separator: "\n").last { $0.hasPrefix("  glucoport import ") })
    let pasted = try await program.shell(String(command))
    #expect(pasted.status == 0, "\(pasted.errors)")
    #expect(pasted.output.contains("new 2"))
    #expect(try StoreFile(store).count("reading") == 2)
  }

  @Test func aSecondColumnOfDosesImportedSeparatelyCausesAWarningWithTheRightCommand() async throws {
    let program = try Program()
    let text = "Time,Meal bolus,Correction bolus\n2026-05-01 07:00,3,3\n2026-05-01 12:00,4.5,1\n"
    let path = try program.write(text, to: "diary.csv")
    func map(_ columns: String) async throws -> Program.Outcome {
      try await program.run("import", "--timezone", "Europe/Madrid", "--map", "time=Time,\(columns)", path)
    }
    let twice = try await map("insulin=Meal bolus,insulin=Correction bolus")
    #expect(twice.status == 64 && twice.errors.contains("use insulin2=Correction bolus"), "\(twice.errors)")
    #expect(try await map("insulin=Meal bolus").status == 0)
    // A second import of the same column causes no warning.
    #expect(try await map("insulin=Meal bolus").errors == "")
    let other = try await map("insulin=Correction bolus")
    let both = "insulin=Meal bolus,insulin2=Correction bolus,time=Time"
    #expect(other.status == 0 && other.errors.contains("2 records not stored"), "\(other.errors)")
    #expect(other.errors.contains("--map '\(both)'"), "\(other.errors)")
    #expect(other.errors.contains("glucoport undo 3, glucoport undo 2, then"), "\(other.errors)")
    for number in ["3", "2"] { #expect(try await program.run("undo", number).status == 0) }
    let whole = try await map("insulin=Meal bolus,insulin2=Correction bolus")
    #expect(whole.status == 0 && whole.errors == "", "\(whole.errors)")
    let stats = try await program.run("stats", "--since", "2026-05-01", "--until", "2026-05-02")
    #expect(stats.output.contains("11.5 U"), "\(stats.output)")
  }

  private static let boluses2 = "Date,Units\n2026-05-01 07:00,4.5\n2026-05-01 20:10,7.5\n2026-05-02 20:10,6\n"
  private static let basals = "Date,Units\n2026-05-01 20:10,18\n2026-05-02 20:10,18\n"

  @Test func dosesOfAnotherTableAtTheSameTimesAreStoredOnlyWithADeviceName() async throws {
    let program = try Program()
    let (bolus, basal) = (
      try program.write(Self.boluses2, to: "bolus.csv"), try program.write(Self.basals, to: "basal.csv")
    )
    func units(_ path: String, _ options: String...) async throws -> Program.Outcome {
      let map = ["--timezone", "Europe/Madrid", "--map", "time=Date,insulin=Units"]
      return try await program.run(arguments: ["import"] + map + options + [path])
    }
    func total() async throws -> String {
      try await program.run("stats", "--since", "2026-05-01", "--until", "2026-05-03").output
    }
    #expect(try await units(bolus).status == 0)
    let other = try await units(basal)
    #expect(other.output.contains("2 records not stored: import 1 of '\(bolus)'"), "\(other.output)")
    #expect(try await total().contains("18.0 U"))
    let named = try await units(basal, "--device", "Tresiba")
    #expect(
      named.output.contains("records: new 2") && !named.output.contains("not stored"), "\(named.output)")
    #expect(try await total().contains("54.0 U"))
    #expect(try await units(basal, "--device", "Tresiba").output.contains("new 0 · known 2"))
  }

  /// The file has a further row since the first column was imported.
  @Test func importingAnotherColumnOfALongerFileChangesNoStoredDose() async throws {
    let program = try Program()
    let text = "Time,Units,Extra units\n2026-05-01 07:00,3,2\n2026-05-01 12:00,4.5,1\n"
    func column(_ name: String, _ text: String) async throws -> Program.Outcome {
      let path = try program.write(text, to: "diary.csv")
      return try await program.run(
        "import", "--timezone", "Europe/Madrid", "--map", "time=Time,insulin=\(name)", path)
    }
    #expect(try await column("Units", text).status == 0)
    let grown = text + "2026-05-02 07:00,5,2\n"
    let other = try await column("Extra units", grown)
    #expect(other.output.contains("2 records not stored: import 1 of"), "\(other.output)")
    #expect(other.errors.contains("insulin=Units,insulin2=Extra units"), "\(other.errors)")
    // The doses of the first column are unchanged.
    let doses = try await program.run("list", "--kind", "insulin", "--until", "2026-05-02").output
    #expect(doses.contains("3 U") && doses.contains("4.5 U"), "\(doses)")
    // Of the same column, most rows are known.
    #expect(try await !column("Units", grown).output.contains("not stored"))
  }

  /// The first import of the rows was undone, so its doses are hidden and do not count.
  @Test func dosesOfAnotherFileAtTheTimesOfUndoneDosesAreStored() async throws {
    let program = try Program()
    func units(_ text: String, _ name: String) async throws -> Program.Outcome {
      let path = try program.write(text, to: name)
      return try await program.run(
        "import", "--timezone", "Europe/Madrid", "--map", "time=Time,insulin=Units", path)
    }
    #expect(
      try await units("Time,Units\n2026-05-01 07:00,30\n2026-05-01 12:00,45\n", "wrong.csv").status == 0)
    #expect(try await program.run("undo", "--yes").status == 0)
    let right = try await units("Time,Units\n2026-05-01 07:00,3\n2026-05-01 12:00,4.5\n", "right.csv")
    #expect(right.status == 0 && !right.output.contains("not stored"), "\(right)")
    let doses = try await program.run("list", "--kind", "insulin").output
    #expect(doses.contains("3 U") && doses.contains("4.5 U"), "\(doses)")
  }

  /// Amounts are corrected first in the same file, and then in a longer file with another name.
  @Test func aCorrectedTableUpdatesStoredDoses() async throws {
    let program = try Program()
    func units(_ text: String, _ name: String) async throws -> Program.Outcome {
      let path = try program.write(text, to: name)
      return try await program.run(
        "import", "--timezone", "Europe/Madrid", "--map", "time=Date,insulin=Units", path)
    }
    _ = try await units(Self.boluses2, "a.csv")
    let corrected = Self.boluses2.replacing("7.5", with: "7")
    #expect(try await units(corrected.replacing(",6", with: ",5"), "a.csv").output.contains("updated 2"))
    let later = corrected + "2026-05-03 07:00,3\n"
    let outcome = try await units(later, "b.csv")
    #expect(
      outcome.output.contains("updated 1") && !outcome.output.contains("not stored"), "\(outcome.output)")
  }

  /// The rows of the second table at the morning are equal to those of the first. It has no rows at noon.
  @Test func aTableThatLacksManyRowsOfAnEarlierOneIsNotItsCorrection() async throws {
    let program = try Program()
    func table(_ rows: [String]) -> String {
      "Date,Units\n" + (10..<20).flatMap { day in rows.map { "2026-05-\(day) \($0)\n" } }.joined()
    }
    func units(_ text: String, _ name: String, _ options: String...) async throws -> Program.Outcome {
      let path = try program.write(text, to: name)
      let map = ["--map", "time=Date,insulin=Units"]
      return try await program.run(
        arguments: ["import", "--timezone", "Europe/Madrid"] + map + options + [path])
    }
    let rapid = table(["08:00,6", "13:00,7", "20:00,8"])
    #expect(try await units(rapid, "rapid.csv").status == 0)
    let long = table(["08:00,6", "20:00,10"])
    let other = try await units(long, "long.csv").output
    #expect(other.contains("10 records not stored: import 1 of"), "\(other)")
    #expect(try await units(long, "long.csv", "--device", "Long").output.contains("new 20"))
    // Of a corrected table, a person has deleted two rows.
    let corrected = rapid.replacing("2026-05-12 13:00,7\n", with: "")
      .replacing("2026-05-13 13:00,7\n", with: "").replacing("2026-05-14 20:00,8", with: "2026-05-14 20:00,9")
    let later = try await units(corrected, "later.csv").output
    #expect(later.contains("updated 1") && !later.contains("not stored"), "\(later)")
  }

  @Test func oneOfSeveralPersonsInATableIsImportedAndOthersCounted() async throws {
    let program = try Program()
    let refused = try await program.run("import", "-", input: Self.persons)
    #expect(refused.status == 65)
    #expect(refused.errors.contains("'userID'") && refused.errors.contains("--where 'userID=1 of 2'"))
    #expect(!refused.errors.contains("A1") && !refused.errors.contains("B2"))
    let outcome = try await program.run("import", "-", "--where", "userID=A1", input: Self.persons)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("not imported: row with another 'userID' 1"))
    #expect(try StoreFile(program.store).count("reading") == 2)
  }

  /// Both tables have values every five minutes, at the same times.
  @Test func aSensorTableThatContradictsStoredValuesIsReported() async throws {
    let program = try Program()
    func table(_ add: Int, from first: Int = 0) -> String {
      (first..<60).reduce(into: "timestamp,glucose\n") { text, row in
        let minute = row * 5 % 60
        text += "2026-05-01 \(10 + row / 12):\(minute < 10 ? "0" : "")\(minute),\(100 + row * 7 % 31 + add)\n"
      }
    }
    #expect(try await program.run("import", "-", input: table(0)).status == 0)
    let other = try await program.run("import", "-", input: table(40))
    #expect(other.status == 65, "\(other.errors)")
    #expect(other.errors.contains("60 of 60 values at times that the store has already"), "\(other.errors)")
    #expect(try StoreFile(program.store).count("reading") == 60)
    // A table is accepted if an app has recalculated only a part of its values.
    let known = table(0).split(separator: "\n").prefix(25).joined(separator: "\n") + "\n"
    let some = known + table(40, from: 24).split(separator: "\n").dropFirst().joined(separator: "\n") + "\n"
    #expect(try await program.run("import", "-", input: some).status == 0)
  }

  /// Rows of a sensor every five minutes, from `second` seconds after 10:00 on. The values repeat after
  /// `period` rows.
  private static func sensor(rows: Int = 36, second: Int, period: Int, add: Int = 0) -> String {
    (0..<rows).reduce(into: "timestamp,glucose\n") { text, row in
      let seconds = row * 300 + second
      let clock = [10 + seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      let phase = Double(row) / Double(period) * 2 * Double.pi
      text += "2026-05-01 \(clock.joined(separator: ":")),\(Int(160 + 90 * sin(phase)) + add)\n"
    }
  }

  @Test(arguments: [167, 120])
  func theSensorOfAnotherPersonIsRefusedIfItsTimesLieBetweenTheStoredOnes(second: Int) async throws {
    let program = try Program()
    let mine = try program.write(Self.sensor(second: 13, period: 36), to: "mine.csv")
    let other = try program.write(Self.sensor(second: second, period: 14), to: "other.csv")
    let outcome = try await program.run("import", mine, other)
    #expect(outcome.status == 65, "\(outcome.output)\(outcome.errors)")
    #expect(
      outcome.errors.contains("other sensor values at the same times as in the store")
        && outcome.errors.contains("nothing of it was imported") && outcome.errors.contains("--device NAME"),
      "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 36)
    #expect(try await program.run("import", "--yes", other).status == 0)
    #expect(try StoreFile(program.store).count("reading") == 72)
  }

  @Test func sensorValuesThatResembleTheStoredOnesAreNotRefused() async throws {
    let program = try Program()
    let mine = try program.write(Self.sensor(second: 13, period: 36), to: "mine.csv")
    #expect(try await program.run("import", mine).status == 0)
    // The first table is from a phone that gets the values half a minute later and rounds them. The second
    // one is from another sensor with values 15 % higher.
    for (name, second, add) in [("phone.csv", 44, 2), ("second.csv", 167, 24)] {
      let table = try program.write(Self.sensor(second: second, period: 36, add: add), to: name)
      let outcome = try await program.run("import", table)
      #expect(outcome.status == 0 && outcome.output.contains("new 36"), "\(outcome.output)\(outcome.errors)")
    }
    // The next sensor begins in the last hour of the stored one.
    let next = Self.sensor(rows: 90, second: 167, period: 14).split(separator: "\n")
    let change = "timestamp,glucose\n" + next.dropFirst(28).joined(separator: "\n") + "\n"
    #expect(try await program.run("import", program.write(change, to: "next.csv")).status == 0)
  }

  @Test func anImportIsNotComparedWithAHiddenSensor() async throws {
    let program = try Program()
    let mine = try program.write(Self.sensor(second: 13, period: 36), to: "mine.csv")
    let other = try program.write(Self.sensor(second: 167, period: 14), to: "other.csv")
    #expect(try await program.run("import", other).status == 0)
    #expect(try await program.run("undo", "1").status == 0)
    let outcome = try await program.run("import", mine)
    #expect(outcome.status == 0 && outcome.output.contains("new 36"), "\(outcome.output)\(outcome.errors)")
  }

  @Test func aRowFilterThatMatchesNoRowOfATableEndsWithStatus65() async throws {
    let program = try Program()
    let outcome = try await program.run("import", "-", "--where", "userID=C3", input: Self.persons)
    #expect(outcome.status == 65, "\(outcome.errors)")
    #expect(outcome.errors.contains("no row has the value of --where"))
  }

  @Test func bothValueColumnsOfATableAreImportedTogetherOrSeparately() async throws {
    let program = try Program()
    let rows = (0..<60).map { row in
      "2026-05-01 \(row / 12 + 10):\(row % 12 < 2 ? "0" : "")\(row % 12 * 5),\(90 + row * 7 % 60),"
        + (row % 6 == 0 ? "\(91 + row * 7 % 60)" : "") + "\n"
    }
    let table = try program.write("Date,CGM (mg/dl),CBG (mg/dl)\n" + rows.joined(), to: "both.csv")
    let outcome = try await program.run("import", table)
    #expect(outcome.status == 0 && outcome.output.contains("new 70"), "\(outcome.output)\(outcome.errors)")
    let store = program.path("one by one.db")
    for column in ["CGM (mg/dl)", "CBG (mg/dl)"] {
      let one = try await program.run(
        "import", "--store", store, "--map", "time=Date", "--map", "value=\(column)", table)
      #expect(one.status == 0, "\(one.errors)")
    }
    #expect(try StoreFile(store).count("reading") == 70)
  }

  @Test func mappingTwoColumnsToOneRoleIsRefused() async throws {
    let program = try Program()
    let outcome = try await program.run(
      "import", "-", "--map", "time=a,value=b", "--map", "value=c", input: "a,b,c\n2026-05-01 07:00,101,99\n")
    #expect(outcome.status == 64 && outcome.errors.contains("two columns for value"), "\(outcome.errors)")
  }

  @Test func implausibleGlucoseIsRefusedUntilItIsForced() async throws {
    let program = try Program()
    let rows = (0..<30).map { "2026-05-\($0 < 9 ? "0" : "")\($0 + 1) 08:00,\(90 + $0 * 7 % 60)\n" }.joined()
    let path = try program.write("time,glucose (mg/dL)\n" + rows, to: "daily.csv")
    let refused = try await program.run("import", path)
    #expect(refused.status == 65 && refused.output == "", "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
    let command = try #require(
      refused.errors.split(separator: "\n").last { $0.hasPrefix("  glucoport import ") })
    #expect(command.contains("--force"))
    let pasted = try await program.shell(String(command))
    #expect(pasted.status == 0 && pasted.output.contains("new 30"), "\(pasted.errors)")
  }

  /// The rows of a second person may arrive after the rows of the first person were stored.
  @Test func aLivePipeWithSeveralPersonsIsRefusedUntilOneIsSelected() async throws {
    let program = try Program()
    let script = """
      mkfifo live && exec 3<>live
      printf 'userID,time,glucose mg/dL\\nA1,2026-05-01 10:00,100\\n' >&3
      """
    let outcome = try await program.shell("\(script)\nglucoport import - <live")
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("--where"), "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func theKindOfReadingsInATableCanBeGivenAndIsPrinted() async throws {
    let program = try Program()
    let rows = "time,glucose mg/dL\n2026-05-01 07:00,101\n2026-05-01 12:00,104\n"
    let inferred = try await program.run("import", "-", "--dry-run", input: rows)
    #expect(inferred.output.contains("kind smbg (inferred)"))
    let outcome = try await program.run("import", "-", "--kind", "scan", input: rows)
    #expect(outcome.output.contains("kind scan (given)"))
    let items = try await program.run("list", "--format", "ndjson").objects()
    #expect(items.map { $0["kind"] as? String } == ["scan", "scan"])
  }

  @Test func theSameSensorFileThroughAFileAndAPipeIsStoredOnce() async throws {
    let program = try Program()
    let rows = GeneratedExport.csv(rows: 4000)
    let path = try program.write(rows, to: "rows.csv")
    _ = try await program.run("import", path)
    let again = try await program.run("import", "-", "--json", input: rows)
    #expect(try again.objects().first?["known"] as? Int == 4000)
    let part = try await program.run("import", "-", "--json", input: GeneratedExport.csv(rows: 30, from: 700))
    #expect(try part.objects().first?["known"] as? Int == 30)
  }
}
