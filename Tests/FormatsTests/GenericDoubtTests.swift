// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests warnings about columns that contradict the zone or the kind that a person gave.
@Suite struct GenericDoubtTests {
  /// A table of finger sticks in March, when Europe/Madrid has winter time.
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
  func aColumnThatContradictsTheZoneCausesAWarning(_ column: String, _ cell: String) throws {
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
  func aColumnThatAgreesWithTheZoneCausesNoWarning(_ column: String, _ cell: String) throws {
    #expect(try Self.doubts(Self.table(column) { _ in cell }).isEmpty)
  }

  @Test func onlyTheRowsThatContradictTheZoneAreCounted() throws {
    let doubts = try Self.doubts(Self.table("DST") { $0 < 5 ? "1" : "0" })
    #expect(doubts.first?.contains("in 5 rows") == true, "\(doubts)")
    // Times that state their offset do not use the zone, so no contradiction is reported.
    let stated = Self.table("City") { _ in "New York" }.replacing(",1", with: ":00-05:00,1")
    #expect(try Self.doubts(stated).isEmpty)
  }

  @Test func zonesOfJSONObjectsAreComparedWithTheGivenZone() throws {
    let text =
      #"[{"time":"2026-03-01 07:00","glucose":101,"city":"New York"},{"time":"2026-03-01 12:10","glucose":104,"city":"Madrid"}]"#
    #expect(try Self.doubts(text.replacing("New York", with: "Paris")).isEmpty)
    #expect(try Self.doubts(text.replacing("Madrid", with: "New York")).first?.contains("in 2 rows") == true)
  }

  @Test(arguments: [
    ("# Time zone: America/New_York\n", "time"), ("Timezone,EST\n", "time"), ("", "Timestamp ET"),
    ("", "time (EST)"), ("", "time (America/New_York)"),
  ])
  func aZoneOutsideTheRowsThatContradictsTheGivenOneCausesAWarning(_ title: String, _ header: String) throws {
    let table = Self.table("note") { "row \($0)" }.replacing("time,", with: "\(header),")
    let doubts = try Self.doubts(title + table)
    #expect(doubts.count == 1 && doubts[0].contains("is not that of 24 rows"), "\(doubts)")
    let agreeing = (title + table).replacing("America/New_York", with: "Europe/Paris").replacing(
      "EST", with: "CET")
    #expect(try header.hasSuffix("ET") || Self.doubts(agreeing).isEmpty)
  }

  @Test func aZoneOutsideObjectsThatContradictsTheGivenOneCausesAWarning() throws {
    let text =
      #"{"timezone":"America/New_York","readings":[{"time":"2026-03-01 07:00","glucose":101},{"time":"2026-03-01 12:10","glucose":104}]}"#
    #expect(try Self.doubts(text).first?.contains("is not that of 2 rows") == true)
    #expect(try Self.doubts(text.replacing("America/New_York", with: "Europe/Madrid")).isEmpty)
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

  @Test func kindsWithoutAContradictionCauseNoWarning() throws {
    let sensor = Self.table("source") { _ in "Dexcom G7" }
    #expect(try Self.doubts(sensor) { $0.kind = .cbg }.isEmpty)
    // A sensor's reader also measures finger sticks, so its name does not contradict `smbg`.
    #expect(try Self.doubts(sensor) { $0.kind = .smbg }.isEmpty)
    let meter = Self.table("source") { _ in "Contour Next" }
    #expect(try Self.doubts(meter) { $0.kind = .smbg }.isEmpty)
    #expect(try Self.doubts(meter).isEmpty)
    #expect(try Self.doubts(meter) { $0.kind = .cbg }.count == 1)
    // A word for the kind in a row has precedence over the given kind, and remarks do not show a kind. So
    // neither causes a warning.
    let stated = Self.table("type") { $0 % 4 == 0 ? "fingerstick" : "cgm" }
    #expect(try Self.doubts(stated) { $0.kind = .cbg }.isEmpty)
    let remarks = Self.table("comment") { _ in "Contour Next" }
    #expect(try Self.doubts(remarks) { $0.kind = .cbg }.isEmpty)
  }

  // MARK: Times in UTC

  private static func instants(_ ends: [String], header: String = "time") -> String {
    let rows = ends.enumerated().map { "2026-05-0\($0 + 1)T07:1\($0):00\($1),\(101 + $0 * 7)\n" }
    return "\(header),glucose (mg/dL)\n" + rows.joined()
  }

  @Test func timesThatAllHaveTheOffsetZeroCauseAWarningWithACommand() throws {
    let text = Self.instants(["+00:00", "+00:00", "+00:00"])
    let doubts = try Self.doubts(text)
    #expect(doubts.count == 1 && doubts[0].contains("not those of Europe/Madrid"), "\(doubts)")
    #expect(doubts.first?.contains("utc=time,value=glucose (mg/dL)") == true, "\(doubts)")
    let shown = try TextExport(text) { $0.columns = ["utc": "time", "value": "glucose (mg/dL)"] }
    #expect(shown.readings.map { $0.deviceTime.text }.first == "2026-05-01T09:10:00")
    #expect(shown.readings.allSatisfy { $0.placement.utcOffset == 7200 && $0.positionKind == .tick })
    #expect(shown.readings.first?.position == 1_777_619_400_000)
    #expect(shown.warnings.isEmpty)
  }

  @Test func timesOfMappedDosesWithTheOffsetZeroCauseAWarning() throws {
    let text = Self.instants(["+00:00", "+00:00"]).replacing("glucose (mg/dL)", with: "dose")
    let export = try TextExport(text) { $0.columns = ["time": "time", "insulin": "dose"] }
    let doubt = export.warnings.first { $0.contains("+00:00") }
    #expect(
      doubt?.contains("utc=time") == true && doubt?.contains("insulin=dose") == true, "\(export.warnings)")
    let shown = try TextExport(text) { $0.columns = ["utc": "time", "insulin": "dose"] }
    #expect(shown.warnings.allSatisfy { !$0.contains("+00:00") })
    #expect(shown.records.first?.deviceTime.text == "2026-05-01T09:10:00")
  }

  @Test func timesInOtherNotationsOrWithOtherOffsetsCauseNoWarningAboutUTC() throws {
    for ends in [["+00:00", "+00:00", "+02:00"], ["Z", "Z"], ["+02:00", "+02:00"], ["", ""]] {
      #expect(try Self.doubts(Self.instants(ends)).isEmpty, "\(ends)")
    }
    // There is no warning if the zone itself has the offset zero at these times, or if the times are seconds
    // since 1970.
    let winter = Self.instants(["+00:00", "+00:00"]).replacing("-05-", with: "-01-")
    let export = try TextExport(winter, zone: "Europe/London") { $0.zoneIsGiven = true }
    #expect(export.warnings.isEmpty)
    #expect(try Self.doubts("time,glucose (mg/dL)\n1777619400,101\n1777619700,105\n").isEmpty)
  }
}
