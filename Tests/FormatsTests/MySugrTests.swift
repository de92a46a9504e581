// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Testing

@Suite struct MySugrTests {
  private static func header(
    date: String = "Date", time: String = "Time", unit: String = "mg/dL", carbs: String = "(Grams, Factor 1)"
  ) -> [String] {
    [
      date, time, "Tags", "Blood Glucose Measurement (\(unit))", "Insulin Injection Units (Pen)",
      "Basal Injection Units", "Insulin Injection Units (pump)", "Insulin (Meal)", "Insulin (Correction)",
      "Temporary Basal Percentage", "Temporary Basal Duration (Minutes)", "Meal Carbohydrates \(carbs)",
      "Meal Descriptions", "Activity Duration (Minutes)",
      "Activity Intensity (1: Cosy, 2: Ordinary, 3: Demanding)", "Activity Description", "Steps", "Note",
      "Location",
      "Blood pressure", "Body weight (lbs)", "HbA1c (Percent)", "Ketones", "Food type", "Medication",
    ]
  }

  private static func row(_ date: String, _ time: String, _ cells: [Int: String] = [:]) -> [String] {
    (0..<25).map { $0 == 0 ? date : $0 == 1 ? time : cells[$0] ?? "" }
  }

  private static func text(_ rows: [[String]]) -> String {
    rows.map { $0.map { "\"\($0)\"" }.joined(separator: ",") }.joined(separator: "\n") + "\n"
  }

  private static func read(_ rows: [[String]]) throws -> TextExport { try TextExport(text(rows)) }

  // MARK: Insulin

  @Test(arguments: [
    ([4: "6", 6: "", 7: "4", 8: "2"], 6.0), ([6: "2.5", 7: "1"], 2.5), ([7: "0.1", 8: "0.2"], 0.3),
    ([4: "0", 7: "3", 8: "-0.5"], 2.5),
  ])
  func partsOfAMySugrDoseAreNotCountedTwice(_ cells: [Int: String], _ units: Double) throws {
    let export = try Self.read([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", cells)])
    #expect(export.records.count == 1)
    #expect(
      export.records.first?.fields == RecordFields(["subtype": .text("rapid"), "units": .number(units)]))
  }

  @Test func aMySugrRowWithPumpAndPenDoseIsCountedAndNotRead() throws {
    let export = try Self.read([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [4: "6", 6: "2"])])
    #expect(export.records.count == 1)
    #expect(export.skipped == ["pump dose beside a pen dose": 1])
  }

  @Test func rapidAndLongMySugrDosesAtOneTimeAreTwoRecords() throws {
    let export = try Self.read([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [4: "6", 5: "20"])])
    #expect(export.records.map(\.fields.subtype) == ["rapid", "long"])
    #expect(export.records.allSatisfy { $0.owner.isEmpty && $0.sourceID.isEmpty })
  }

  @Test func anInvalidMySugrDoseIsRejectedAndTheRestOfItsRowKept() throws {
    let export = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120", 4: "9999", 17: "Fine"]),
      Self.row("Aug 7, 2025", "8:00:00 AM", [8: "-3"]),
    ])
    #expect(export.rejections.map(\.line) == [2, 3])
    #expect(export.readings.count == 1)
    #expect(export.records.map(\.kind) == [.note])
  }

  /// A spreadsheet may save the app's date as `22-Oct-25`. The time of day keeps its seconds.
  @Test func aMySugrDateWithAMonthNameIsRead() throws {
    func times(_ date: String) throws -> [String] {
      try Self.read([Self.header(), Self.row(date, "11:43:01 AM", [3: "118"])]).readings.map(
        \.deviceTime.text)
    }
    #expect(
      try times("22-Oct-25") == ["2025-10-22T11:43:01"] && times("5-Mai-2025") == ["2025-05-05T11:43:01"])
    #expect(try times("22-Xyz-25").isEmpty && times("32-Oct-25").isEmpty && times("22-Oct-025").isEmpty)
  }

  // MARK: Carbohydrates

  @Test(arguments: [
    ("(Grams, Factor 1)", "carbs", 2.5), ("(Exchanges, Factor 12)", "carbs", 30),
    ("(Exchanges, Factor 10)", "carbs", 25),
    ("(Portions, Factor 1)", "servings", 2.5), ("(Portions, Factor)", "servings", 2.5),
    ("(g, Factor 1)", "carbs", 2.5),
  ])
  func theMySugrHeaderDeterminesTheUnitOfCarbohydrates(_ carbs: String, _ field: String, _ value: Double)
    throws
  {
    let export = try Self.read([
      Self.header(carbs: carbs), Self.row("Aug 7, 2025", "9:00:00 AM", [11: "2.5"]),
    ])
    #expect(export.records.first?.fields == RecordFields([field: .number(value)]))
    #expect((export.decision("carbohydrates") == nil) == (carbs.contains("Grams") || carbs.contains("(g,")))
  }

  // MARK: Temporary basal rates

  @Test(arguments: ["65%", "65", " 65 % "])
  func aMySugrTemporaryBasalRateIsReadAsAPercentage(_ percent: String) throws {
    let export = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [9: percent, 10: "90"]),
    ])
    #expect(export.rejections.isEmpty)
    #expect(
      export.recordTexts == [#"insulin 2025-08-07T09:00:00 {"minutes":90,"subtype":"basal","text":"65 %"}"#])
  }

  @Test(arguments: ["%", "65%%", "x%", "-5%", "4500%", "65 U"])
  func anInvalidMySugrPercentageIsRejected(_ percent: String) throws {
    let export = try Self.read([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [9: percent])])
    #expect(export.records.isEmpty && export.rejections.map(\.line) == [2])
  }

  // MARK: Unusual names

  @Test func mySugrColumnsAfterTheKnownOnesAreNotRead() throws {
    let places = ["Timezone", "Latitude", "Longitude"]
    let row = Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120"])
    let export = try Self.read([Self.header() + places, row + ["", "1.5", "2.5"]])
    #expect(export.readings.count == 1 && export.records.isEmpty)
    #expect(export.skipped == ["value in a column that is not read": 1])
    #expect(export.warnings.isEmpty)
    let other = try Self.read([Self.header() + ["Mood"], row + ["3"]])
    #expect(other.warnings == ["unknown column 'Mood': not read"])
  }

  @Test func aMySugrColumnWithAMisspeltNameIsReportedAndRead() throws {
    var header = Self.header()
    header[4] = "Insulin Injektion Units (Pen)"
    let row = Self.row("Aug 7, 2025", "9:00:00 AM", [4: "6"])
    let export = try Self.read([header, row])
    #expect(export.records.first?.fields["units"] == .number(6))
    let use = "read as 'insulin injection units (pen)', because of its position"
    #expect(export.warnings == ["unknown column 'Insulin Injektion Units (Pen)': \(use)"])
    #expect(try Self.read([Self.header(), row]).warnings.isEmpty)
  }

  @Test func theColumnNamesOfTheDanishMySugrAppAreRead() throws {
    let names = [
      "Dato", "Tid", "Tags", "Blodsukkermåling (mmol/L)", "Bolusinjektion enheder (pen)",
      "Basalinjektion enheder", "Bolusinjektion enheder (pumpe)", "Bolus (måltid)", "Insulin (korrektion)",
      "Midlertidig basal (%)", "Midlertidig basal (minutter)", "Kulhydrater mad (Gram, faktor 1)",
      "Måltidsbeskrivelser", "Aktivitetsvarighed (minutter)", "Aktivitets intensitet (1: Bekvem)",
      "Aktivitetsbeskrivelse", "Skridt", "Notat", "Sted", "Blodtryk", "Kropsvægt (kg)", "HbA1c (mmol/mol)",
      "Ketoner", "Type mad", "Medicin",
    ]
    let row = Self.row("30-01-2021", "23:54:00", [3: "9,3", 7: "1,5"])
    for duration in [names[10], "Midlertidig basalvarighed (minutter)"] {
      var header = names
      header[10] = duration
      let export = try Self.read([header, row])
      #expect(export.warnings.isEmpty && export.readings.count == 1)
      #expect(export.records.first?.fields["units"] == .number(1.5))
    }
    // Columns in another order are also refused in Danish.
    var moved = names
    moved.swapAt(7, 8)
    #expect(throws: Failure.self) { try Self.read([moved, row]) }
  }

  // MARK: Notes

  @Test func mySugrTagsAreSortedAndEmptyOnesLeftOut() throws {
    let one = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [2: "Tired, Lunch,,At home "]),
    ])
    let other = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [2: "At home,Tired,Lunch"]),
    ])
    #expect(one.recordTexts == other.recordTexts)
    #expect(one.recordTexts == [#"note 2025-08-07T09:00:00 {"tags":["At home","Lunch","Tired"]}"#])
  }

  @Test func aMySugrLocationIsCountedAndNeverStored() throws {
    let export = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [18: "Sample Street 1", 19: "120/80"]),
    ])
    #expect(export.records.isEmpty && export.readings.isEmpty)
    #expect(export.skipped == ["location": 1, "blood pressure": 1])
  }

  @Test func aLaterMySugrExportDiffersOnlyInChangedEntries() throws {
    let first = try TextExport(bytes: TextExport.sample("mysugr/reexport-a.csv"))
    let second = try TextExport(bytes: TextExport.sample("mysugr/reexport-b.csv"))
    #expect(first.readingTexts.isSubset(of: second.readingTexts))
    #expect(first.recordTexts.isSubset(of: second.recordTexts))
    #expect(
      second.recordTexts.subtracting(first.recordTexts).allSatisfy { $0.contains(#""subtype":"long""#) })
    #expect(second.records.count == first.records.count + 2)
  }

  // MARK: Dates

  @Test(arguments: [
    "Aug 7, 2025", "7 août 2025", "7. Aug. 2025", "7 de agosto de 2025", "7 ago. 2025", "7. aug. 2025",
    "2025-08-07",
  ])
  func mySugrDatesWithMonthNamesNeedNoDateOrder(_ date: String) throws {
    let export = try Self.read([Self.header(), Self.row(date, "21:05:00", [3: "120"])])
    #expect(export.readings.map(\.deviceTime.text) == ["2025-08-07T21:05:00"])
  }

  @Test func ambiguousEnglishMySugrDatesAreRefusedUntilTheOrderIsGiven() throws {
    let rows = [Self.header(), Self.row("3/4/25", "9:00 AM", [3: "120"])]
    #expect(throws: Failure.self) { _ = try Self.read(rows) }
    let given = try TextExport(Self.text(rows)) { $0.dateOrder = "mdy" }
    #expect(given.readings.first?.deviceTime.text == "2025-03-04T09:00:00")
    let decided = try Self.read(rows + [Self.row("3/14/25", "9:00 AM", [3: "121"])])
    #expect(decided.readings.first?.deviceTime.text == "2025-03-04T09:00:00")
    #expect(decided.decision("date-order") == "month first (inferred)")
  }

  @Test func mySugrDatesInLanguagesOtherThanEnglishHaveTheDayFirst() throws {
    let export = try Self.read([
      Self.header(date: "Dato", time: "Tid"), Self.row("03-04-2025", "19:59:00", [3: "120"]),
    ])
    #expect(export.readings.first?.deviceTime.text == "2025-04-03T19:59:00")
    #expect(export.decision("date-order") == "day first (inferred)")
  }

  @Test func anAmbiguousDateAmongNamedMonthsIsRejected() throws {
    let export = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120"]),
      Self.row("8/6/2025", "9:00:00 AM", [3: "121"]),
      Self.row("Feb 30, 2025", "9:00:00 AM", [3: "122"]),
    ])
    #expect(export.readings.count == 1)
    #expect(export.rejections.map(\.line) == [3, 4])
  }

  // MARK: Time zones

  private static let withZones = header() + ["Timezone", "Latitude", "Longitude"]

  /// A row of the newer app: a glucose value, a dose and a meal.
  private static func entry(_ time: String, in zone: String) -> [String] {
    row("Aug 7, 2025", time, [3: "120", 4: "6", 11: "40"]) + [zone, "", ""]
  }

  private static func placements(_ export: TextExport) -> [Placement] {
    export.readings.map(\.placement) + export.records.map(\.placement)
  }

  /// The zone of the logbook is Europe/Madrid here.
  @Test func theTimeZoneInAMySugrRowDeterminesItsOffset() throws {
    let zones = ["America/New_York": -4 * 3600, "Asia/Tokyo": 9 * 3600, "Europe/Madrid": 2 * 3600]
    for (zone, offset) in zones {
      let export = try Self.read([Self.withZones, Self.entry("9:00:00 AM", in: zone)])
      let stated = Placement(utcOffset: Int32(offset), source: .stated)
      #expect(Self.placements(export) == [stated, stated, stated])
      #expect(export.readings.map(\.deviceTime.text) == ["2025-08-07T09:00:00"])
      #expect(export.skipped.isEmpty && export.warnings.isEmpty && export.rejections.isEmpty)
    }
  }

  @Test func aMySugrRowWithoutAKnownTimeZoneHasTheZoneOfTheLogbook() throws {
    let export = try Self.read([
      Self.withZones, Self.entry("9:00:00 AM", in: ""), Self.entry("8:00:00 AM", in: "Sample/Zone"),
      Self.entry("7:00:00 AM", in: "-4"),
    ])
    #expect(Self.placements(export).count == 9)
    #expect(Self.placements(export).allSatisfy { $0 == Placement(utcOffset: 7200, source: .zone) })
    #expect(export.warnings == ["rows whose time zone is not known are placed by the zone of the logbook"])
    // Only a column with the name `Timezone` states zones. An empty cell is not an unknown zone.
    let row = Self.entry("9:00:00 AM", in: "Asia/Tokyo")
    let other = try Self.read([Self.header() + ["City"], Array(row.dropLast(2))])
    #expect(Self.placements(other).allSatisfy { $0.source == .zone })
    #expect(other.warnings == ["unknown column 'City': not read"])
    #expect(try Self.read([Self.withZones, Self.entry("9:00:00 AM", in: "")]).warnings.isEmpty)
  }

  /// A given zone is for times without an offset, as in Diabetes:M.
  @Test func aGivenZoneMovesOnlyMySugrRowsThatNameNone() throws {
    let rows = [
      Self.withZones, Self.entry("9:00:00 AM", in: "America/New_York"), Self.entry("8:00:00 AM", in: ""),
    ]
    let export = try TextExport(Self.text(rows), zone: "Asia/Tokyo")
    let offsets: [Int32] = [-4 * 3600, 9 * 3600]
    #expect(export.readings.map(\.placement.utcOffset) == offsets)
    #expect(export.readings.map(\.placement.source) == [.stated, .zone])
  }

  @Test func aMySugrRowWithOnlyATimeZoneIsAnEntryWithoutContent() throws {
    let export = try Self.read([
      Self.withZones, Self.row("Aug 7, 2025", "9:00:00 AM") + ["Asia/Tokyo", "", ""],
    ])
    #expect(export.skipped == ["entry without content": 1])
  }

  // MARK: Values

  @Test func aMySugrValueWithAnotherDecimalMarkThanTheFirstIsRejected() throws {
    let danish = Self.header(date: "Dato", time: "Tid", unit: "mmol/L")
    let rows = (0..<60).map { Self.row("14-02-2026", "10:\($0 < 10 ? "0" : "")\($0):00", [3: "7"]) }
    let export = try Self.read([danish] + rows + [Self.row("15-02-2026", "10:00:00", [3: "7.5"])])
    #expect(export.readings.count == 61)
    #expect(export.decision("decimal-mark") == "point (inferred)")
    let mixed = try Self.read([
      danish, Self.row("15-02-2026", "10:00:00", [3: "7,5"]), Self.row("15-02-2026", "11:00:00", [3: "7.5"]),
    ])
    #expect(mixed.readings.count == 1)
    #expect(mixed.rejections.map(\.line) == [3])
  }

  @Test func mySugrGlucoseAndKetonesAreMarkedAsManual() throws {
    let export = try Self.read([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120", 22: "0.4"])])
    #expect(export.readings.map(\.kind) == [.smbg, .ketone])
    #expect(export.readings.allSatisfy { $0.marks == .manual })
    #expect(export.readings.map(\.measurement.unit.name) == ["mg/dL", "mmol/L"])
    #expect(export.devices == [Device(vendor: "mySugr", model: "mySugr", format: "mysugr")])
  }

  // MARK: Structure

  @Test func aHeaderInTheMiddleOfAMySugrExportChangesTheUnit() throws {
    let export = try Self.read([
      Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120"]), Self.header(unit: "mmol/L"),
      Self.row("Aug 7, 2025", "10:00:00 AM", [3: "6.1"]),
    ])
    #expect(export.readings.map(\.measurement.unit.name) == ["mg/dL", "mmol/L"])
    #expect(export.rejections.isEmpty)
  }

  @Test func aMySugrRowWithACellSplitByItsDecimalCommaIsRejected() throws {
    let head = Self.header(date: "Dato", time: "Tid", unit: "mmol/L").map { "\"\($0)\"" }.joined(
      separator: ",")
    let export = try TextExport("\(head)\n14-02-2026,10:00:00,,3,2,,,,,,,,,,,,,,,,,,,,,,\n")
    #expect(export.readings.isEmpty && export.records.isEmpty)
    #expect(export.rejections.count == 1)
  }

  @Test func aTruncatedMySugrFileProducesNoItemThatTheCompleteFileLacks() throws {
    let bytes = try TextExport.sample("mysugr/mysugr-mgdl-en.csv")
    let whole = try TextExport(bytes: bytes)
    for length in TextExport.cuts(of: bytes) {
      let cut = try TextExport(bytes: Array(bytes[..<length]))
      #expect(cut.readingTexts.isSubset(of: whole.readingTexts), "cut at \(length)")
      #expect(cut.recordTexts.isSubset(of: whole.recordTexts), "cut at \(length)")
    }
  }

  @Test func aCompleteLastMySugrLineWithoutALineEndIsRead() throws {
    let export = try TextExport(
      String(Self.text([Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120"])]).dropLast()))
    #expect(export.readings.count == 1)
    #expect(export.end == .whole)
  }

  @Test func movedMySugrColumnsAreRefusedAndNotReadAsAnotherFormat() throws {
    let rows = [Self.header(), Self.row("Aug 7, 2025", "9:00:00 AM", [3: "120", 11: "40"])]
    let failure = #expect(throws: Failure.self) { _ = try TextExport(Self.text(rows.map { $0.reversed() })) }
    #expect(failure?.category == .badInput && failure?.message.contains("same order") == true)
  }

  @Test func aTableOfOtherColumnsIsNotRecognisedAsMySugr() throws {
    #expect(throws: Failure.self) {
      _ = try TextExport(Self.text([Array(Self.header().dropLast())])) { $0.format = "mysugr" }
    }
    #expect(throws: Failure.self) {
      _ = try TextExport(Self.text([Self.header(carbs: "")])) { $0.format = "mysugr" }
    }
  }
}
