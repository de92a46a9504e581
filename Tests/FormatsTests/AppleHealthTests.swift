// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import SeededRandom
import Testing

@testable import Formats

@Suite struct AppleHealthTests {
  private func record(
    _ value: String, at time: String = "2026-05-30 12:30:00 +0200", unit: String = "mg/dL", more: String = ""
  )
    -> String
  {
    #"<Record type="HKQuantityTypeIdentifierBloodGlucose" sourceName="Meter" unit="\#(unit)" startDate="\#(time)" value="\#(value)"\#(more)/>"#
  }

  private func export(_ body: String) throws -> TextExport {
    try TextExport("<HealthData locale='en'>\(body)</HealthData>")
  }

  @Test func anAppleHealthReadingKeepsItsInstantWhateverTheStatedOffset() throws {
    let first = try export(record("98"))
    let second = try export(record("98", at: "2026-05-30 06:30:00 -0400"))
    #expect(first.readings.first?.position == second.readings.first?.position)
    #expect(first.readings.first?.placement == Placement(utcOffset: 7200, source: .instant))
  }

  /// The export was made in New York, and so has the offset of New York for readings taken in Madrid.
  @Test func anAppleHealthExportOnAJourneyIsShownInTheZoneOfTheLogbook() throws {
    let body = record("98", at: "2026-01-15 06:30:00 -0400") + record("99", at: "2026-05-30 06:30:00 -0400")
    func shown(_ zone: String) throws -> [String] {
      try TextExport("<HealthData>\(body)</HealthData>", zone: zone).readings.map {
        "\($0.deviceTime.text) \($0.placement.utcOffset)"
      }
    }
    #expect(try shown("Europe/Madrid") == ["2026-01-15T11:30:00 3600", "2026-05-30T12:30:00 7200"])
    // With UTC as the zone of the logbook, times are shown in UTC.
    #expect(try shown("UTC") == ["2026-01-15T10:30:00 0", "2026-05-30T10:30:00 0"])
  }

  @Test(arguments: ["mmol&lt;180.1558800000541&gt;/L", "mmol&lt;180.15588000005408&gt;/L"])
  func anAppleHealthUnitMayContainTheMolarMass(_ unit: String) throws {
    #expect(try export(record("5.5", unit: unit)).readings.first?.measurement.unit == .millimolesPerLitre)
  }

  @Test(arguments: ["g/L", "mmol&lt;60&gt;/L", "mmol/L", "%", ""])
  func aGlucoseUnitThatAppleHealthDoesNotUseIsRejected(_ unit: String)
    throws
  {
    let export = try export(record("5.5", unit: unit))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  @Test func anAppleHealthRecordInsideACorrelationIsNotReadTwice() throws {
    #expect(try export("<Correlation>\(record("98"))</Correlation>").readings.isEmpty)
  }

  /// - Parameter reason: 1 for basal insulin, 2 for a bolus.
  private func dose(_ reason: Int, until end: String) throws -> RecordFields? {
    let body = """
      <Record type="HKQuantityTypeIdentifierInsulinDelivery" sourceName="Loop" unit="IU" value="0.276528" \
      startDate="2026-05-02 00:00:37 +0200" endDate="\(end)">
      <MetadataEntry key="HKInsulinDeliveryReason" value="\(reason)"/></Record>
      """
    return try export(body).records.first?.fields
  }

  @Test func aBasalSegmentOfAPumpInAppleHealthHasItsDuration() throws {
    let segment = try dose(1, until: "2026-05-02 00:15:42 +0200")
    #expect(segment?.amount("units") == 0.276528 && segment?.amount("minutes") == 15.08)
    #expect(segment?.subtype == "basal")
  }

  @Test(arguments: [
    (1, "2026-05-02 00:00:37 +0200"), (1, "2026-05-01 23:59:37 +0200"), (1, "2026-05-03 00:00:37 +0200"),
    (1, ""),
    (2, "2026-05-02 00:02:37 +0200"),
  ])
  func anInjectionOrBolusInAppleHealthHasNoDuration(_ reason: Int, _ end: String) throws {
    let fields = try #require(try dose(reason, until: end))
    #expect(fields.amount("units") == 0.276528 && fields["minutes"] == nil)
  }

  private func meal(_ grams: String, at second: String = "00", of app: String = "Diary") -> String {
    #"<Record type="HKQuantityTypeIdentifierDietaryCarbohydrates" sourceName="\#(app)" unit="g" startDate="2026-05-30 12:30:\#(second) +0200" value="\#(grams)"/>"#
  }

  private func ids(_ body: String) throws -> [String] { try export(body).records.map(\.sourceID) }

  @Test func equalFoodsOfOneSecondInAppleHealthAreSeparateRecords() throws {
    let first = try ids(meal("15") + meal("20") + meal("15") + meal("15"))
    #expect(Set(first).count == 4)
    // The ids do not depend on the order of the foods. An export with one more food has the same ids and an
    // additional one.
    #expect(try Set(ids(meal("15") + meal("15") + meal("15") + meal("20"))) == Set(first))
    let longer = try ids(meal("15") + meal("20") + meal("15") + meal("15") + meal("15"))
    #expect(Set(longer).isStrictSuperset(of: first) && longer.count == 5)
  }

  /// Stores have records with these ids, so that another id would store each record a second time.
  @Test func theIDsOfAppleHealthRecordsNeverChange() throws {
    let dose = meal("5").replacing("DietaryCarbohydrates", with: "InsulinDelivery")
      .replacing("unit=\"g\"", with: "unit=\"IU\"")
    #expect(
      try ids(meal("15") + meal("15") + dose) == [
        "1780137000 15 Diary", "1780137000 15 Diary 2", "insulin 1780137000 5 Diary",
      ])
  }

  @Test func theExportDateOfAppleHealthIsTheTimeOfTheExport() throws {
    func generated(_ text: String) throws -> Int64? {
      try export(text + record("98")).generatedAt
    }
    #expect(try generated(#"<ExportDate value="2026-05-31 18:21:36 +0200"/>"#) == 1_780_244_496)
    // Without a valid date, the newest item is the only known time.
    for date in ["", #"<ExportDate value="2026-05-31 18:21:36"/>"#, #"<ExportDate value="x"/>"#] {
      #expect(try generated(date) == 1_780_137_000)
    }
  }

  @Test func anAppleHealthFoodInsideACorrelationIsNotReadTwice() throws {
    let body = meal("15") + meal("15") + "<Correlation type='Food'>\(meal("15"))</Correlation>"
    #expect(try ids(body).count == 2)
  }

  @Test func theFirstOfEqualFoodsInAppleHealthHasTheIDOfASingleFood() throws {
    #expect(try ids(meal("15") + meal("15")).first == ids(meal("15")).first)
    #expect(try Set(ids(meal("15") + meal("15", at: "01") + meal("15", of: "Other") + meal("16"))).count == 4)
  }

  @Test func aDoseAndAMealWithEqualNumbersInAppleHealthAreTwoRecords() throws {
    let dose = meal("5").replacing("DietaryCarbohydrates", with: "InsulinDelivery")
      .replacing("unit=\"g\"", with: "unit=\"IU\"")
    let export = try export(dose + meal("5"))
    #expect(export.records.map(\.kind) == [.insulin, .food])
    #expect(Set(export.records.map(\.sourceID)).count == 2)
  }

  @Test func aRejectedAppleHealthRecordIsKeptUnchanged() throws {
    let bad = record("x")
    #expect(try export("\n \(bad)\n").rejections.map(\.source) == [bad])
    #expect(try export("\n \(bad)\n").rejections.map(\.line) == [2])
  }

  @Test func aTruncatedAppleHealthExportProducesItsCompleteRecords() throws {
    let export = try TextExport("<HealthData>\(record("98"))\(record("99"))<Record type=\"HKQ")
    #expect(export.readings.count == 2 && export.isTruncated)
  }

  @Test func anAppleHealthExportThatDeclaresEntitiesIsRefused() throws {
    let export = try TextExport(
      "<!DOCTYPE HealthData [<!ENTITY a '98'>]><HealthData>\(record("&a;"))</HealthData>")
    #expect(export.readings.isEmpty && export.isTruncated)
  }

  @Test func xmlWithoutAFirstElementIsNotRead() throws {
    for filler in [" ", "<!-- -->"] {
      let front = String(repeating: filler, count: (2 << 20) / filler.count)
      let export = try TextExport("<!DOCTYPE HealthData [\(front)]><HealthData>\(record("98"))</HealthData>")
      #expect(export.readings.isEmpty && export.isTruncated)
    }
  }

  @Test func otherXMLIsNotRecognisedAsAppleHealth() throws {
    let refusal = try ScratchFile("<GPX><Record type='HKQuantityTypeIdentifierBloodGlucose'/></GPX>")
      .refusal()
    #expect(refusal?.contains("unknown format") == true)
  }

  /// The input is many times longer than the piece that the XML reader has in memory.
  @Test func aLongAppleHealthExportReadInPiecesIsComplete() throws {
    let values = (0..<20_000).map { 40 + $0 % 300 }
    let body = values.enumerated().map { index, value in
      record(
        "\(value)",
        at: "2026-05-\(10 + index / 1440) \(10 + index / 60 % 10):\(10 + index % 50):\(10 + index % 47) +0200"
      )
    }
    let export = try export(body.joined(separator: "\n"))
    #expect(export.readings.compactMap { $0.measurement.quantity.map { Int($0.number) } } == values)
    #expect(export.readings.map(\.line) == (1...20_000).map { Int64($0) })
  }
}
