// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests warnings about columns that contradict the zone or the kind that a person gave.
@Suite struct GenericDoubtTests {
  /// Finger sticks in March, in winter time of Europe/Madrid.
  private static func table(_ column: String, _ cell: (Int) -> String) -> String {
    let rows = (0..<24).map { row in
      "2026-03-\(10 + row / 4) \(["07", "12", "18", "22"][row % 4]):1\(row % 7),\(100 + row * 37 % 71),\"\(cell(row))\"\n"
    }
    return "time,glucose (mg/dL),\(column)\n" + rows.joined()
  }

  private static func doubts(_ text: String, _ change: @escaping (inout ExportOptions) -> Void = { _ in })
    throws
    -> [String]
  {
    let export = try TextExport(text) { options in
      options.zoneIsGiven = true
      change(&options)
    }
    return export.warnings.filter { $0.contains("run 'glucoport undo'") }
  }

  @Test(arguments: [
    ("timezone", "America/New_York"), ("tzOffsetMinutes", "-300"), ("TZ", "EST"), ("City", "New York"),
    ("Timezone name", "Eastern Standard Time"), ("DST", "1"), ("Summer time", "yes"),
    ("Jetlag", "-6"), ("Time diff", "2"),
  ])
  func aColumnThatContradictsTheZoneIsInAWarning(_ column: String, _ cell: String) throws {
    let doubts = try Self.doubts(Self.table(column) { _ in cell })
    #expect(
      doubts.count == 1 && doubts[0].contains("'\(column)'") && doubts[0].contains("24 rows"), "\(doubts)")
    #expect(doubts.first?.contains("Europe/Madrid") == true)
  }

  @Test(arguments: [
    ("timezone", "Europe/Berlin"), ("timezone", ""), ("tzOffsetMinutes", "60"), ("tzOffsetMinutes", "-60"),
    ("TZ", "CET"), ("TZ", "CEST"), ("City", "Rome"), ("City", "Springfield"), ("DST", "0"),
    ("DST", "no"), ("Jetlag", "0"), ("Timezone name", "Romance Standard Time"),
    ("Zone", "In range"),
    ("glucose_offset", "-300"), ("Mood", "New York"),
  ])
  func aColumnThatAgreesOrSaysNothingIsInNone(_ column: String, _ cell: String) throws {
    #expect(try Self.doubts(Self.table(column) { _ in cell }).isEmpty)
  }

  @Test func onlyTheRowsThatContradictTheZoneAreCounted() throws {
    let doubts = try Self.doubts(Self.table("DST") { $0 < 5 ? "1" : "0" })
    #expect(doubts.first?.contains("in 5 rows") == true, "\(doubts)")
    // Times that state their offset are not placed by the zone.
    let stated = Self.table("City") { _ in "New York" }.replacing(",1", with: ":00-05:00,1")
    #expect(try Self.doubts(stated).isEmpty)
  }

  @Test func zonesOfObjectsAreComparedAsWell() throws {
    let text =
      #"[{"time":"2026-03-01 07:00","glucose":101,"city":"New York"},{"time":"2026-03-01 12:10","glucose":104,"city":"Madrid"}]"#
    #expect(try Self.doubts(text.replacing("New York", with: "Paris")).isEmpty)
    #expect(try Self.doubts(text.replacing("Madrid", with: "New York")).first?.contains("in 2 rows") == true)
  }

  // MARK: Kinds

  @Test(arguments: ["source", "device", "Measured by"])
  func rowsThatNameAMeterContradictTheKindOfASensor(_ column: String) throws {
    let text = Self.table(column) { $0 % 4 == 0 ? "Contour Next" : "Dexcom G7" }
    let sensor = try Self.doubts(text) { $0.kind = .cbg }
    #expect(sensor.count == 1 && sensor[0].contains("6 readings with 'Contour Next'"), "\(sensor)")
    #expect(sensor.first?.contains("--where '\(column)=Contour Next' --kind smbg") == true)
    let sticks = try Self.doubts(text) { $0.kind = .smbg }
    #expect(sticks.first?.contains("18 readings with 'Dexcom G7'") == true, "\(sticks)")
    #expect(sticks.first?.contains("=Dexcom G7' --kind cbg") == true)
  }

  @Test func marksOfFingerSticksContradictTheKindOfASensor() throws {
    let text = Self.table("isManual") { $0 % 4 == 0 ? "true" : "false" }
    let doubts = try Self.doubts(text) { $0.kind = .cbg }
    #expect(doubts.first?.contains("--where isManual=true --kind smbg") == true, "\(doubts)")
  }

  @Test func kindsThatNothingContradictsAreInNoWarning() throws {
    let sensor = Self.table("source") { _ in "Dexcom G7" }
    #expect(try Self.doubts(sensor) { $0.kind = .cbg }.isEmpty)
    // The reader of a sensor also measures finger sticks.
    #expect(try Self.doubts(sensor) { $0.kind = .smbg }.isEmpty)
    let meter = Self.table("source") { _ in "Contour Next" }
    #expect(try Self.doubts(meter) { $0.kind = .smbg }.isEmpty)
    #expect(try Self.doubts(meter).isEmpty)
    #expect(try Self.doubts(meter) { $0.kind = .cbg }.count == 1)
    // A row's own word for its kind is kept, and remarks say nothing.
    let stated = Self.table("type") { $0 % 4 == 0 ? "fingerstick" : "cgm" }
    #expect(try Self.doubts(stated) { $0.kind = .cbg }.isEmpty)
    let remarks = Self.table("comment") { _ in "Contour Next" }
    #expect(try Self.doubts(remarks) { $0.kind = .cbg }.isEmpty)
  }
}
