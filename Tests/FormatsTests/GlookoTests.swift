// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct GlookoTests {
  private func text(_ title: String? = "Name:Kim,Date Range:2026-03-10 - 2026-03-11", _ lines: String...)
    -> String
  {
    ([title].compactMap(\.self) + lines).joined(separator: "\n") + "\n"
  }

  private func claims(_ text: String) throws -> Bool {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    return GlookoFormat.recognise(head, options: ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil))
      != nil
  }

  // MARK: Detection

  @Test(arguments: [
    "Timestamp,CGM Glucose Value (mg/dl),Serial Number", "Timestamp,CGM Glucose Value (mmol/l),Serial Number",
    "Zeitstempel,CGM-Glukosewert (mg/dl),Seriennummer", "Tidstämpel,CGM-glukosvärde (mmol/l)",
    "Tijdstempel,CGM-glucosewaarde (mmol/l)", "Horodatage,Valeur de glycémie SCG (mmol/L)",
    "Timestamp,Glucose Value (mg/dL),Manual reading,Serial number",
  ]) func aGlookoHeaderIsRecognised(_ header: String) throws {
    #expect(try claims(header + "\n"))
    #expect(try claims(text("Name:Kim, Date Range:2026-03-10 -2026-03-11", header)))
    #expect(try claims(text("Medical Record Number: 12345", header)))
  }

  @Test(arguments: [
    "Timestamp,Glucose Value (mg/dL)", "Timestamp,Value", "Zeitstempel,Wert", "Zeitstempel,KH (g)",
    "Timestamp,CGM Glucose Value", "Time,CGM Glucose Value (mg/dl)",
    "Timestamp,Event Type,Glucose Value (mg/dL)",
    "Timestamp,Alarm/Event,Severity,Serial Number",
  ]) func aHeaderThatOtherProgramsUseIsNotRecognisedAsGlooko(_ header: String) throws {
    #expect(try !claims(header + "\n"))
  }

  @Test func shortGlookoTablesAreRecognisedOnlyBelowTheirTitle() throws {
    for header in ["Zeitstempel,KH (g)", "Zeitstempel,Wert", "Zeitstempel,Name,Wert,Medikamententyp"] {
      #expect(try claims(text("Name:Kim,Datumsbereich:10.03.2026 - 11.03.2026", header)))
      #expect(try !claims(text("Kim's notes, all: of them", header)))
    }
  }

  // MARK: Read items

  @Test func zeroInAGlookoTableIsAMissingValue() throws {
    let export = try TextExport(
      text(
        nil, "Timestamp,CGM Glucose Value (mmol/l),Serial Number", "2026-03-10 08:00,0.0,X",
        "2026-03-10 08:05,5.5,X"))
    #expect(export.readings.count == 1 && export.skipped == ["row without a value": 1])
    #expect(export.readings.first?.measurement == .value(Quantity(5.5, .millimolesPerLitre)))
  }

  @Test func theDateRangeInAGlookoTitleShowsTheOrderOfDayAndMonth() throws {
    let header = "Timestamp,Glucose Value (mg/dl),Manual Reading,Serial Number"
    let export = try TextExport(
      text("Name:K,Date Range:3/1/2026 - 3/14/2026", header, "3/4/2026 7:05,112.0,,X")
    ) {
      $0.now = nil
    }
    #expect(export.decision("date-order") == "month first (inferred)" && export.readings.count == 1)
    let yearFirst = try TextExport(
      text("Name:K,Date Range:2026-03-01 - 2026-03-07", header, "3/4/2026 7:05,112.0,,X"))
    #expect(yearFirst.readings.map(\.deviceTime.text) == ["2026-03-04T07:05:00"])
    #expect(throws: Failure.self) {
      try TextExport(text(nil, header, "3/4/2026 7:05,112.0,,X")) { $0.now = nil }
    }
  }

  @Test func theExtendedPartOfAGlookoBolusIsNotCountedTwice() throws {
    let export = try TextExport(
      text(
        nil,
        "Timestamp,Insulin Type,Blood Glucose Input (mg/dl),Carbs Input (g),Carbs Ratio,Insulin Delivered (U),Initial Delivery (U),Extended Delivery (U),Serial Number",
        "2026-03-10 19:30,Combo,180.0,60.0,10.0,6.0,3.6,2.4,X",
        "2026-03-10 20:30,Combo,0.0,0.0,10.0,2.0,0.0,2.0,X"))
    #expect(
      export.recordTexts == [
        #"insulin 2026-03-10T19:30:00 {"extended":2.4,"subtype":"rapid","units":3.6}"#,
        #"food 2026-03-10T19:30:00 {"carbs":60}"#,
        #"insulin 2026-03-10T20:30:00 {"extended":2,"subtype":"rapid"}"#,
      ])
    #expect(export.readings.isEmpty)
  }

  @Test(arguments: [
    ("Tresiba", "", "long"), ("NPH", "Intermediate acting", "long"), ("Humalog Mix 75/25", "Premixed", "mix"),
    ("Novorapid", "Rapid", "rapid"), ("Novorapid", "Long acting", "long"), ("pen", "", nil),
  ])
  func aGlookoDoseWithoutAnInsulinTypeGetsTheSubtypeOfItsInsulinName(
    _ name: String, _ type: String, _ use: String?
  ) throws {
    let export = try TextExport(
      text(
        "Name:Kim,Date Range:2026-03-10 - 2026-03-11", "Timestamp,Name,Value,Insulin Type",
        "2026-03-10 07:10,\(name),6,\(type)"))
    #expect(export.records.map { $0.fields["subtype"] } == [use.map { .text($0) }])
  }

  /// The pump, the diary and the app of a sensor may each list the same meal. So each table is a separate
  /// source, as if another program had exported it.
  @Test func theTablesOfAGlookoExportAreThreeSources() throws {
    let title = "Name:Kim,Date Range:2026-03-10 - 2026-03-11"
    func sources(_ lines: String...) throws -> [String] {
      let text = ([title] + lines).joined(separator: "\n") + "\n"
      return try TextExport(text).records.map { "\($0.kind.rawValue) \($0.source) '\($0.owner)'" }
    }
    let bolus = "Insulin Type,Blood Glucose Input (mg/dl),Carbs Input (g),Carbs Ratio,Insulin Delivered (U)"
    #expect(
      try sources("Timestamp,\(bolus),Serial Number", "2026-03-10 07:10,Normal,0,45,10,4.5,P 5")
        == ["insulin pump 'P 5'", "food pump 'P 5'"])
    #expect(
      try sources("Timestamp,\(bolus)", "2026-03-10 07:10,Normal,0,45,10,0") == ["food pump 'pump'"])
    #expect(
      try sources(
        "Timestamp,Insulin Type,Duration (minutes),Percentage (%),Rate,Insulin Delivered (U),Serial Number",
        "2026-03-10 07:00,Scheduled,60,,0.8,,P 5") == ["insulin pump 'P 5'"])
    #expect(try sources("Timestamp,KH (g)", "2026-03-10 07:10,45") == ["food carbs 'carbs'"])
    #expect(
      try sources("Timestamp,Name,KH (g),Fett,Eiweiß,Kalorien", "2026-03-10 07:10,Oats,45,7,8,230")
        == ["food diary ''"])
    let english = "Timestamp,Name,Carbs (g),Fat,Protein,Calories,Serving quantity,Number of servings"
    #expect(try sources(english, "2026-03-10 07:10,Oats,45,7,8,230,1,1") == ["food diary ''"])
    // Without the title of Glooko, the table may be the food diary of another program.
    #expect(try !claims(english + "\n2026-03-10 07:10,Oats,45,7,8,230,1,1\n"))
    #expect(
      try sources("Timestamp,Name,Value,Insulin Type", "2026-03-10 07:10,Novorapid,6,Rapid")
        == ["insulin diary ''"])
  }

  @Test func aGlookoBasalRowWithMinutesAndWithoutAnAmountIsARateOfZero() throws {
    let header =
      "Timestamp,Insulin Type,Duration (minutes),Percentage (%),Rate,Insulin Delivered (U),Serial Number"
    let title = "Name:Kim Sample,Date Range:2026-03-10 - 2026-03-11"
    func fields(_ row: String) throws -> [String] {
      let text = [title, header, "2026-03-10 " + row + ",P 5"].joined(separator: "\n") + "\n"
      return try TextExport(text).records.map(\.fields.json)
    }
    #expect(try fields("02:00,Suspend,60,0.0,0.0,0.0") == [#"{"minutes":60,"rate":0,"subtype":"basal"}"#])
    #expect(try fields("02:00,Automated Pause,5,0.0,,0.0") == [#"{"minutes":5,"rate":0,"subtype":"basal"}"#])
    // A percentage is of a rate that the table does not contain.
    #expect(
      try fields("02:00,Temporary,60,50.0,0.0,0.0") == [#"{"minutes":60,"subtype":"basal","text":"50 %"}"#])
    #expect(
      try fields("02:00,Temporary,60,50.0,0.5,0.0") == [#"{"minutes":60,"rate":0.5,"subtype":"basal"}"#])
    #expect(try fields("02:00,Automated,5,0.0,,0.05") == [#"{"minutes":5,"subtype":"basal","units":0.05}"#])
    #expect(try fields("02:00,Suspend,0,0.0,0.0,0.0").isEmpty)
  }

  @Test func onlyARowWithTwoLabelledCellsIsAGlookoTitle() {
    #expect(GlookoTitle(["Name:Kim", "Date Range:2026-03-10 -2026-03-11"])?.lastDay == "2026-03-11")
    #expect(
      GlookoTitle(["Name:Kim", "Datumsbereich:10.03.2026 - 11.03.2026", "", ""])?.lastDay == "11.03.2026")
    for cells in [
      ["Name:Kim"], ["a", "b:2026-01-01 - 2026-01-02"], ["a:b", "c:all - of it"], ["a:b", "c:1"], [],
    ] {
      #expect(GlookoTitle(cells) == nil, "\(cells)")
    }
  }
}
