// SPDX-License-Identifier: Apache-2.0

import Archives
import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

@testable import Formats

/// Tests the backup of xDrip+, and other databases, which are not read as a backup.
@Suite struct XDripTests {
  private static let sample = Repository.samples.appending(path: "xdrip/backup.sqlite")
  private static let create = "CREATE TABLE BgReadings(timestamp, calculated_value);"

  /// The items of an input, without the line that summarises it.
  private func items(_ inputs: ExportInputs, _ place: Int = 0) throws -> [String] {
    guard case .export(var reader) = try inputs.open(place, options: Rendering.options()) else {
      throw Failure(.badInput, "it was passed over")
    }
    return Array(try Rendering.lines(from: &reader).dropFirst())
  }

  private static func sampleItems() throws -> [String] {
    let text = try Rendering.lines(
      of: Repository.samples.appending(path: "xdrip/backup.ndjson"), options: Rendering.options())
    return Array(text.dropFirst())
  }

  private func refusal(_ bytes: [UInt8]) throws -> String? { try ScratchFile(bytes).refusal() }

  @Test func anXDripDatabaseHasTheSameItemsAsItsRowsInJSON() throws {
    let expected = try Self.sampleItems()
    try #require(expected.count > 10)
    #expect(try items(ExportInputs(path: Self.sample.path)) == expected)
  }

  @Test func anXDripDatabaseInAnArchiveOrPipeHasTheSameItems() throws {
    let bytes = Array(try Data(contentsOf: Self.sample))
    let expected = try Self.sampleItems()
    let archive = try ScratchFile(
      ZipWriter(entries: [.init(name: "export20260101-080000.sqlite", bytes: bytes)]).bytes())
    #expect(try items(ExportInputs(path: archive.url.path)) == expected)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    #expect(write(ends[1], bytes, bytes.count) == bytes.count)
    close(ends[1])
    #expect(
      try items(ExportInputs(descriptor: ends[0], name: "-", isInterrupted: { false })) == expected)
  }

  @Test func anXDripDatabaseIsIdentifiedByItsRows() throws {
    var reader = try InputReader(path: Self.sample.path, options: Rendering.options())
    _ = try Rendering.lines(from: &reader)
    let encoding = reader.decisions.first { $0.subject == "encoding" }
    #expect(encoding?.value == "UTF-8, tables of an SQLite database")
    #expect(reader.name == Self.sample.path && reader.modifiedAt != nil)
    let (done, total) = reader.progress
    #expect(done == total && done > 0)
    let text = try Data(contentsOf: Repository.samples.appending(path: "xdrip/backup.ndjson"))
    var digest = Digest()
    digest.update(String(decoding: text, as: UTF8.self))
    #expect(reader.digest == digest.hexadecimal())
  }

  @Test func xDripValuesOfAWrongTypeAreRejectedAndMissingOnesAreNot() throws {
    let bytes = try DatabaseWriter.database(
      Self.create
        + """
        INSERT INTO BgReadings VALUES (1767251104585, '120'), ('1767251104585', 120), (x'00', 120), (1767251404585, NULL),
          (1767251704585, 110), (17672517, 110), (1767251704585.5, 110), (9e999, 110), (1767252004585, 9e999)
        """)
    let (readings, rejections, end) = try ScratchFile(bytes).readings()
    // The time in line 3 is a whole number in quotes, which is read as that number.
    #expect(readings.map(\.line) == [3, 6] && end == .whole)
    #expect(rejections.map(\.line) == [2, 4, 7, 8, 9, 10])
  }

  /// The app removes a bit of the state if a person deletes a blood test. Old databases have no state.
  @Test func aBloodTestThatAPersonDeletedInXDripIsSkipped() throws {
    let bytes = try DatabaseWriter.database(
      Self.create
        + """
        CREATE TABLE BloodTest(timestamp, mgdl, source, state);
        INSERT INTO BloodTest VALUES (1767251104585, 120, 'Manual Entry', 1), (1767251404585, 511, 'Manual Entry', 0),
          (1767251704585, 110, 'Add Calibration', 3), (1767252004585, 511, 'Add Calibration', 2),
          (1767252304585, 100, 'Manual Entry', NULL)
        """)
    let export = try TextExport(bytes: bytes)
    #expect(export.readings.map { $0.measurement.quantity?.number } == [120, 110, 100])
    #expect(export.readings[1].marks.contains(.calibration))
    #expect(export.skipped == ["deleted blood test": 2])
  }

  /// Databases of older versions lack the column.
  @Test func readingsThatXDripLeavesOutOfItsStatisticsAreReported() throws {
    let bytes = try DatabaseWriter.database(
      """
      CREATE TABLE BgReadings(timestamp, calculated_value, snyced);
      INSERT INTO BgReadings VALUES (1767251104585, 120, 0), (1767251404585, 45, 1), (1767251704585, 48, 1)
      """)
    let export = try TextExport(bytes: bytes)
    #expect(export.readings.count == 3)
    #expect(export.warnings.count == 1 && export.warnings.first?.hasPrefix("2 sensor readings") == true)
    let usual = try DatabaseWriter.database(
      Self.create + "INSERT INTO BgReadings VALUES (1767251104585, 120)")
    #expect(try TextExport(bytes: usual).warnings == [])
  }

  /// A value of 39 is the lowest that the app calculates.
  @Test func readingsWithTheErrorValueOfXDripAreReported() throws {
    func warnings(_ value: Int) throws -> [String] {
      let rows = "INSERT INTO BgReadings VALUES (1767251104585, 120), (1767251404585, \(value))"
      let export = try TextExport(bytes: DatabaseWriter.database(Self.create + rows))
      #expect(export.readings.count == 2)
      return export.warnings
    }
    #expect(try warnings(38).map { $0.hasPrefix("1 sensor reading with 38 mg/dL") } == [true])
    #expect(try warnings(39) == [])
  }

  @Test func anXDripBackupWithoutReadingsIsAnEmptyExport() throws {
    let (readings, rejections, end) = try ScratchFile(DatabaseWriter.database(Self.create)).readings()
    #expect(readings.isEmpty && rejections.isEmpty && end == .whole)
  }

  @Test(arguments: [
    "CREATE TABLE photos(id, path)", "CREATE TABLE BgReadings(timestamp)",
    "CREATE TABLE BloodTest(timestamp, mgdl)",
    "CREATE TABLE t(timestamp, calculated_value); CREATE VIEW BgReadings AS SELECT * FROM t",
  ])
  func otherDatabasesAreNotReadAsXDripBackups(_ sql: String) throws {
    #expect(
      try refusal(DatabaseWriter.database(sql))?.contains("without a table that glucoport knows") == true)
  }

  @Test func anUnrecognisedDatabaseInAnArchiveIsSkipped() throws {
    let other = try DatabaseWriter.database("CREATE TABLE photos(id, path)")
    let archive = try ScratchFile(ZipWriter(entries: [.init(name: "a.db", bytes: other)]).bytes())
    guard
      case .unread(_, let reason) = try ExportInputs(path: archive.url.path)
        .open(0, options: Rendering.options())
    else {
      Issue.record("it was read")
      return
    }
    #expect(reason.hasPrefix("this is an SQLite database"))
  }

  @Test func aGlucoportStoreIsReportedAsAStoreNotAnExport() throws {
    func file(_ id: Int) throws -> String? {
      try refusal(DatabaseWriter.database("PRAGMA application_id = \(id);" + Self.create))
    }
    #expect(try file(0x474C_5543)?.contains("glucoport export --store FILE") == true)
    #expect(try file(0x474C_5542)?.contains("a file of a glucoport server") == true)
    #expect(try file(0x474C_5643) == nil)
  }

  @Test(arguments: ["-wal", "-journal"]) func anXDripDatabaseWithAJournalIsRefused(_ end: String) throws {
    let file = try ScratchFile(DatabaseWriter.database(Self.create))
    let journal = URL(filePath: file.url.path + end)
    defer { unlink(journal.path) }
    try Data().write(to: journal)
    #expect(try file.refusal() == nil)
    try Data("x".utf8).write(to: journal)
    #expect(try file.refusal()?.contains("VACUUM INTO") == true)
  }

  @Test func aDamagedXDripBackupProducesNoReading() throws {
    let bytes = Array(try Data(contentsOf: Self.sample))
    #expect(try refusal(Array(bytes.prefix(60)))?.contains("truncated") == true)
    #expect(try refusal(Array(bytes.dropLast(600)))?.contains("truncated") == true)
    #expect(
      try refusal(Array(bytes.prefix(512) + bytes.dropFirst(512).map { _ in 0 }))?.contains("damaged") == true
    )
    #expect(try refusal(Deflate.gzip(bytes))?.contains("compressed SQLite database") == true)
  }

  /// The doses of a treatment of 6 U in total, which has this list of injections.
  private func doses(_ injections: String) throws -> [RecordFields] {
    let list = injections.replacing("'", with: #"\""#)
    let rows = """
      {"database":"xdrip"}
      {"table":"Treatments","row":1,"timestamp":1767251200846,"carbs":0.0,"insulin":6.0,"insulinJSON":"\(list)","uuid":"a"}

      """
    return try TextExport(rows).records.map(\.fields)
  }

  @Test func aTreatmentOfXDripWithTwoInsulinsIsADoseOfEach() throws {
    let both = try doses("[{'insulin':'Novorapid','units':4.0},{'insulin':'Lantus','units':2.0}]")
    #expect(
      both.map { $0["units"] } == [.number(2), .number(4)] && both.map(\.subtype) == ["long", "rapid"])
    #expect(both.map { $0["text"] } == [.text("Lantus"), .text("Novorapid")])
    let twice = try doses("[{'insulin':'Lantus','units':4.0},{'insulin':'Lantus','units':2.0}]")
    #expect(twice.map { $0["units"] } == [.number(6)] && twice.map(\.subtype) == ["long"])
  }

  @Test(arguments: ["[]", "", "[{'insulin':'Lantus','units':4.0}]", "[{'insulin':'Lantus'}]", "{"])
  func injectionsThatDoNotAddUpToTheUnitsOfATreatmentAreIgnored(_ injections: String) throws {
    let dose = try doses(injections)
    #expect(dose.map { $0["units"] } == [.number(6)] && dose.map(\.subtype) == [""])
  }
}
