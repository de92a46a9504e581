// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests exports that contradict themselves, and exports that another program has changed and saved.
@Suite struct ForgedExportTests {
  // MARK: Smart Pix

  private static func pix(_ content: String) -> String {
    #"<?xml version="1.0"?><IMPORT><ACSPIX Type="2106"/>"# + content + "</IMPORT>"
  }

  private static func meter(_ serial: String, _ unit: String, _ value: String) -> String {
    #"<DEVICE SN="\#(serial)" BGUnit="\#(unit)"/><BGDATA><BG Val="\#(value)" Dt="2026-05-13" Tm="08:00"/></BGDATA>"#
  }

  @Test func aSmartPixEntryIsNotReadWithTheUnitOfAnotherMeter() throws {
    let (one, other) = (Self.meter("1", "mg/dL", "104"), Self.meter("2", "mmol/L", "12"))
    let failure = #expect(throws: Failure.self) { _ = try TextExport(Self.pix(one + other)) }
    #expect(failure?.message.contains(": the entries are of several meters;") == true, "\(failure as Any)")
    #expect(failure?.category == .badInput)
    #expect(try TextExport(Self.pix(one)).devices.map(\.serial) == ["1"])
    #expect(try TextExport(Self.pix(other)).readings.map(\.measurement.unit) == [.millimolesPerLitre])
  }

  @Test func aSmartPixMeterInAnXMLCommentIsIgnored() throws {
    let hidden = #"<!-- <DEVICE SN="9" BGUnit="mmol/L"/> -->"#
    let export = try TextExport(Self.pix(hidden + Self.meter("1", "mg/dL", "104")))
    #expect(export.readings.map(\.measurement) == [.value(Quantity(104, .milligramsPerDecilitre))])
    #expect(export.devices.map(\.serial) == ["1"])
    #expect(try !Claims.claims(Self.pix(hidden), SmartPixFormat.self))
    #expect(try !Claims.claims(Self.pix(String(hidden.dropLast(3))), SmartPixFormat.self))
  }

  @Test(arguments: [
    ("<!DOCTYPE a [<!ENTITY b \"104\">]>", "declares entities"),
    ("<!DOCTYPE a [<!ENTITY % b SYSTEM \"file:///etc/passwd\">%b;]>", "declares entities"),
  ])
  func xmlEntitiesOfAnExportAreNeverExpanded(_ type: String, _ reason: String) throws {
    let export = try TextExport(type + Self.pix(Self.meter("1", "mg/dL", "&b;")).dropFirst(21))
    #expect(export.readings.isEmpty)
    #expect("\(export.end)".contains(reason))
  }

  @Test func anXMLExportWithDeepNestingIsRefused() throws {
    let deep = String(repeating: "<a>", count: 70)
    let export = try TextExport(Self.pix(Self.meter("1", "mg/dL", "104") + deep))
    #expect(export.readings.count == 1 && export.isTruncated)
    let level = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
    let whole = try TextExport(Self.pix(Self.meter("1", "mg/dL", "104") + level))
    #expect(whole.readings.count == 1 && !whole.isTruncated)
  }

  // MARK: FHIR

  private static func observation(_ members: String) -> String {
    #"{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"99504-3"}]},"#
      + members + "}"
  }

  private static func series(_ start: String, _ data: String, period: String = "300000") -> String {
    observation(
      #""effectiveDateTime":"\#(start)","valueSampledData":{"origin":{"value":0,"unit":"mg/dL"},"#
        + #""period":\#(period),"dimensions":1,"data":"\#(data)"}"#)
  }

  /// A time with a year of five digits could not be read back from the store.
  @Test func aFHIRSeriesEndsWithTheLastPossibleYear() throws {
    let beyond = try TextExport(Self.series("9999-12-31T23:00:00Z", "100 101 102", period: "86400000"))
    #expect(beyond.readings.isEmpty)
    #expect(beyond.rejections.map(\.reason) == ["the samples go on after the year 9999"])
    let last = try TextExport(Self.series("9999-12-30T23:00:00Z", "100 101", period: "86400000"))
    #expect(last.readings.map(\.deviceTime.text) == ["9999-12-31T00:00:00", "9999-12-31T23:00:00"])
  }

  @Test(arguments: [
    ("100 101 102", 3, 0, 0), ("E 101 E", 1, 2, 0), ("L U 101", 3, 0, 0), ("100 -1 NaN 101", 2, 0, 1),
    ("", 0, 0, 0), ("1e2", 1, 0, 0), ("1e400", 0, 0, 1), ("100,101", 0, 0, 1),
  ])
  func aFHIRSampleIsANumberOrALetterForLowHighOrMissing(
    _ data: String, _ readings: Int, _ errors: Int, _ rejections: Int
  )
    throws
  {
    let export = try TextExport(Self.series("2026-03-01T08:00:00Z", data))
    #expect(export.readings.count == readings && export.rejections.count == rejections)
    #expect(export.skipped["sample without a value"] ?? 0 == errors)
  }

  @Test(arguments: ["0", "999", "86400001", "-300000", "1e300", "null", "\"x\""])
  func aFHIRSeriesWithoutAPlausiblePeriodIsRejected(_ period: String) throws {
    let export = try TextExport(Self.series("2026-03-01T08:00:00Z", "100 101", period: period))
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  private static func reading(_ subject: String, minute: Int = 0) -> String {
    observation(
      #""effectiveDateTime":"2026-03-01T08:0\#(minute):00Z","valueQuantity":{"value":100,"unit":"mg/dL"}"#
        + (subject.isEmpty ? "" : #","subject":\#(subject)"#))
  }

  @Test func fhirPatientsAreDistinguishedByAnyKindOfReference() throws {
    let named = ["anna", "berta"].map { #"{"identifier":{"system":"s","value":"\#($0)"}}"# }
    let rows = [Self.reading(named[0]), Self.reading(named[1], minute: 1)]
    let failure = #expect(throws: Failure.self) { _ = try TextExport(rows.joined(separator: "\n")) }
    #expect(failure?.message.contains("data of 2 people") == true)
    #expect(failure?.message.contains("anna") == false)
    let bundle =
      #"{"resourceType":"Bundle","entry":["# + rows.map { #"{"resource":\#($0)}"# }.joined(separator: ",")
      + "]}"
    #expect(throws: Failure.self) { _ = try TextExport(bundle) }
    let same = [Self.reading(named[0]), Self.reading(named[0], minute: 1), Self.reading("", minute: 2)]
    #expect(try TextExport(same.joined(separator: "\n")).readings.count == 3)
  }

  @Test func aDeeplyNestedFHIRResourceDoesNotCrashTheReader() throws {
    let deep = String(repeating: #"{"a":"#, count: 50_000) + "1" + String(repeating: "}", count: 50_000)
    let export = try TextExport(
      #"{"resourceType":"Bundle","entry":[{"resource":\#(Self.reading(""))},"#
        + #"{"resource":{"resourceType":"Observation","x":\#(deep)}}]}"#)
    #expect(export.readings.count == 1 && export.rejections.count == 1)
  }

  // MARK: Open mHealth

  private static func point(_ name: String, _ value: String) -> String {
    #"{"header":{"schema_id":{"namespace":"omh","name":"\#(name)","version":"1.0"}},"body":{"#
      + #""blood_glucose":{"value":\#(value),"unit":"mg/dL"},"#
      + #""effective_time_frame":{"date_time":"2026-03-01T08:00:00Z"}}}"#
  }

  @Test func aFHIRGoalIsNotReadAsAMeasurement() throws {
    let goal = try TextExport(Self.point("blood-glucose-goal", "110"))
    #expect(goal.readings.isEmpty && goal.rejections.isEmpty && goal.skipped == ["blood-glucose-goal": 1])
    let both = try TextExport(
      "[\(Self.point("blood-glucose", "118")),\(Self.point("blood-glucose-goal", "110"))]")
    #expect(both.readings.map(\.measurement) == [.value(Quantity(118, .milligramsPerDecilitre))])
  }

  @Test(arguments: ["0", "-118", "1e300", "null", "\"\"", "[118]", "{}", "true"])
  func aHealthAutoExportPointWithoutAPlausibleValueIsRejected(_ value: String) throws {
    let export = try TextExport(
      "[\(Self.point("blood-glucose", value)),\(Self.point("blood-glucose", "118"))]")
    #expect(export.readings.count == 1 && export.rejections.count == 1)
  }

  // MARK: Tables that were saved again

  private static let mobile =
    "Serial number;Download date;Download time\nU1;18.05.2026;17:04\n\n"
    + "Date;Time;Result;Unit;Control test\n17.05.2026;08:00;104;mg/dl; \n17.05.2026;09:00;99;mg/dl;X\n"

  @Test(arguments: [";", ",", "\t"]) func anAccuChekReportWithAnotherDelimiterIsRead(_ mark: String) throws {
    let export = try TextExport(Self.mobile.replacing(";", with: mark))
    #expect(export.decision("format") == "accu-chek-mobile (inferred)")
    #expect(export.devices.map(\.serial) == ["U1"])
    #expect(export.readings.map(\.marks) == [[], .controlSolution])
  }

  @Test func decimalCommasWithSpacesAroundAreRead() throws {
    let head = "Date,05/03/2026 to 26/03/2026\nTime,mmol/L\n"
    let export = try TextExport(head + "25/03/2026 08:00,\" 5,6 \"\n26/03/2026 09:00,\" 6,1 \"\n") {
      $0.kind = .smbg
    }
    #expect(export.readings.map { $0.measurement.quantity?.number } == [5.6, 6.1])
    #expect(export.decision("decimal-mark") == "comma (inferred)")
    let mixed = try TextExport(head + "25/03/2026 08:00,\"5,6\"\n26/03/2026 09:00,6.1\n") { $0.kind = .smbg }
    #expect(mixed.readings.count == 1 && mixed.rejections.map(\.line) == [4])
  }

  @Test(arguments: ["0", "0,0", "0.0"]) func aZeroInGlimpIsReadAsAMissingValue(_ zero: String) throws {
    let row = { (time: String, value: String) in "5;\(time);1779030990;;;;\(value);;3;S1;;;;;\n" }
    let export = try TextExport(row("17/05/2026 20.46.30", zero) + row("17/05/2026 20.46.31", "112,5")) {
      $0.unit = .milligramsPerDecilitre
    }
    #expect(export.readings.map { $0.measurement.quantity?.number } == [112.5])
    #expect(export.rejections.isEmpty && export.skipped == ["row without a value": 1])
  }

  // MARK: Doses

  private static func doses(_ meal: String, _ correction: String) throws -> TextExport {
    try TextExport(
      "DateTimeFormatted,glucose,us_units,is_sensor,timezone,carb_bolus,correction_bolus,notes\n"
        + "2026-05-17 08:00:00,0,true,false,Europe/Madrid,\(meal),\(correction),\n")
  }

  @Test(arguments: [
    ("5", "2", "7"), ("5", "-2", "3"), ("0.1", "0.2", "0.3"), ("500", "0", "500"), ("500", "-1", "499"),
  ])
  func mealAndCorrectionDosesInARowAreAdded(_ meal: String, _ correction: String, _ sum: String) throws {
    #expect(
      try Self.doses(meal, correction).recordTexts == [
        #"insulin 2026-05-17T08:00:00 {"subtype":"rapid","units":\#(sum)}"#
      ])
  }

  @Test(arguments: [("500", "500"), ("500", "0.1"), ("501", "0"), ("-1", "0"), ("5", "-501"), ("x", "0")])
  func aSumOfDosesAboveTheMaximumIsRejected(_ meal: String, _ correction: String) throws {
    let export = try Self.doses(meal, correction)
    #expect(export.records.isEmpty && export.rejections.count == 1)
  }

  @Test func aNegativeCorrectionWithoutAMealDoseIsNotReadAsADose() throws {
    let export = try Self.doses("0", "-2")
    #expect(export.records.isEmpty && export.rejections.isEmpty)
    #expect(export.skipped == ["entry without content": 1])
  }
}
