// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests data sets published for research, and the backup of Diaguard.
@Suite struct ResearchSetTests {
  private static func numbers(_ export: TextExport, _ kind: ReadingKind) -> [Double?] {
    export.readings.filter { $0.kind == kind }.map { $0.measurement.quantity?.number }
  }

  // MARK: D1NAMO

  @Test func allD1NAMOTypesExceptOneAreFingerSticks() throws {
    let export = try TextExport(bytes: TextExport.sample("d1namo/glucose-mmol.csv"))
    #expect(
      Self.numbers(export, .smbg) == [5.4, 4.8, 6.2, 6.7, 5.9, 6.1] && Self.numbers(export, .cbg) == [6])
    #expect(export.readings.map(\.marks).prefix(4) == [.beforeMeal, .beforeMeal, .beforeMeal, []])
    #expect(
      export.records.count == 2 && export.skipped == ["lab": 1] && export.rejections.map(\.line) == [10])
    #expect(export.decision("unit") == "mmol/L (inferred)")
  }

  @Test func valuesBeforeAndAfterMealsInD1NAMOAreFingerSticks() throws {
    let types = ["BB", "AB", "BL", "AL", "BD", "AD"]
    let rows = types.enumerated().map { "2026-09-05,0\($0.offset):40:00,5.\($0.offset),\($0.element),\n" }
    let export = try TextExport("date,time,glucose,type,comments\n" + rows.joined())
    #expect(export.rejections.isEmpty && Set(export.readings.map(\.kind)) == [.smbg])
    #expect(
      export.readings.map(\.marks) == [
        .beforeMeal, .afterMeal, .beforeMeal, .afterMeal, .beforeMeal, .afterMeal,
      ])
  }

  @Test(arguments: [
    "date,time,glucose,type\n", "date,time,fast_insulin,slow_insulin,comment\n",
    "date,time,glucose,type,comments,person\n",
  ])
  func otherTablesAreNotRecognisedAsD1NAMO(_ header: String) throws {
    #expect(try !Claims.claims(header, D1NAMOFormat.self))
  }

  // MARK: Shanghai

  @Test func capillaryGlucoseInAShanghaiSensorRowIsAFingerStick() throws {
    let export = try TextExport(bytes: TextExport.sample("shanghai/patient-mgdl.csv"))
    #expect(Self.numbers(export, .cbg) == [133.2, 136.8, 144, 151.2])
    #expect(Self.numbers(export, .smbg) == [142.2, 149.4] && Self.numbers(export, .ketone) == [0.2])
    #expect(
      export.recordTexts == [
        #"food 2026-03-14T09:15:00 {"text":"bread 50 g, milk 200 ml"}"#,
        #"insulin 2026-03-14T10:00:00 {"subtype":"rapid","text":"Novolin R","units":4.5}"#,
      ])
    #expect(
      export.skipped == [
        "row without a value": 1, "basal rate of a pump": 1, "subcutaneous insulin": 1, "other medicine": 1,
      ])
    #expect(export.rejections.map(\.line) == [6])
    #expect(export.warnings.isEmpty)
  }

  /// A table of the Shanghai data sets with one row: a sensor value, and these cells below these names.
  private static func shanghai(_ names: String, _ cells: String) throws -> TextExport {
    try TextExport(
      "Date,CGM (mg / dl),CBG (mg / dl),Dietary intake,\(names)\n2026-03-14 09:00:00,133.2,,,\(cells)\n")
  }

  @Test(arguments: [
    ("(Novolin R, IU)", "Novolin R"), ("(Novolin R  IU)", "Novolin R"), ("(Humalog, IU)", "Humalog"),
  ])
  func aShanghaiBolusHasTheInsulinOfItsColumn(_ unit: String, _ insulin: String) throws {
    let export = try Self.shanghai("\"CSII - bolus insulin \(unit)\"", "4.5")
    let fields = #"{"subtype":"rapid","text":"\#(insulin)","units":4.5}"#
    #expect(export.recordTexts == ["insulin 2026-03-14T09:00:00 \(fields)"])
    #expect(Self.numbers(export, .cbg) == [133.2] && export.warnings.isEmpty && export.skipped.isEmpty)
  }

  @Test(arguments: ["", " (IU)", " (Novolin R)", " (Novolin R, ml)"])
  func aShanghaiBolusColumnWithoutInsulinOrUnitIsReportedAndNotRead(_ unit: String) throws {
    let export = try Self.shanghai("\"CSII - bolus insulin\(unit)\"", "4.5")
    #expect(export.records.isEmpty && export.warnings.count == 1 && export.readings.count == 1)
  }

  @Test(
    arguments: [
      ("temporarily suspend insulin delivery", "bolus in words"), ("acarbose 50 mg", "bolus in words"),
      ("0", "dose of 0 units"), ("", nil), ("-", nil), ("data not available", nil),
    ] as [(String, String?)])
  func aShanghaiBolusCellWithoutADoseIsNotARecord(_ cell: String, _ name: String?) throws {
    let export = try Self.shanghai("\"CSII - bolus insulin (Novolin R, IU)\"", cell)
    #expect(export.records.isEmpty && export.rejections.isEmpty && export.readings.count == 1)
    #expect(export.skipped == (name.map { [$0: 1] } ?? [:]))
  }

  @Test(arguments: [
    ("\"CSII - basal insulin (Novolin R, IU / H)\"", "0.6", "basal rate of a pump"),
    ("\"胰岛素泵基础量 (Novolin R, IU / H)\"", "0.6", "basal rate of a pump"),
    ("Insulin dose - s.c.", "\"Novolin R, 6 IU\"", "subcutaneous insulin"),
    ("Insulin dose - s.c.", "6", "subcutaneous insulin"),
    ("Insulin dose - i.v.", "12 IU Novolin R", "intravenous insulin"),
    ("Non-insulin hypoglycemic agents", "metformin 0.5 g", "other medicine"),
  ])
  func shanghaiCellsThatAreNotReadAreCounted(_ column: String, _ cell: String, _ name: String) throws {
    let export = try Self.shanghai(column, cell)
    #expect(export.records.isEmpty && export.skipped == [name: 1] && export.warnings.isEmpty)
  }

  @Test(arguments: [
    "Date,CGM (mg / dl),Dietary intake\n", "Date,CBG (mg / dl),Dietary intake\n",
    "Date,CGM (mg / dl),CBG (mg / dl)\n",
  ])
  func aTableWithOneSeriesIsNotRecognisedAsShanghai(_ header: String) throws {
    #expect(try !Claims.claims(header, ShanghaiFormat.self))
  }

  // MARK: OhioT1DM

  @Test func theSectionOfAnOhioFileDeterminesTheKindOfAnEvent() throws {
    let export = try TextExport(bytes: TextExport.sample("ohiot1dm/patient.xml"))
    #expect(Self.numbers(export, .cbg) == [132, 129, 40] && Self.numbers(export, .smbg) == [125])
    #expect(export.readings.first?.deviceTime.text == "2026-11-03T06:00:00")
    #expect(export.devices.map(\.model) == ["OhioT1DM 001"])
    #expect(
      export.recordTexts == [
        #"insulin 2026-11-03T00:00:00 {"rate":0.85,"subtype":"basal"}"#,
        #"insulin 2026-11-03T08:00:00 {"minutes":45,"rate":0,"subtype":"basal"}"#,
        #"insulin 2026-11-03T07:30:00 {"subtype":"rapid","units":3.6}"#,
        #"food 2026-11-03T07:35:00 {"carbs":42,"text":"Breakfast"}"#,
      ])
    #expect(export.skipped == ["hypo_event": 1, "basis_heart_rate": 2, "basis_steps": 1])
    #expect(export.rejections.count == 1)
  }

  /// The two halves of a dual wave have equal doses and times.
  @Test func bothPartsOfAnOhioDualWaveBolusAreRead() throws {
    func bolus(_ type: String, _ end: String) -> String {
      #"<event ts_begin="07-12-2021 18:00:00" ts_end="07-12-2021 \#(end)" type="\#(type)" dose="3.0"/>"#
    }
    let events = [
      bolus("normal dual", "18:00:00"), bolus("square dual", "20:00:00"), bolus("square", "18:00:00"),
    ]
    let export = try TextExport(
      #"<patient id="559" weight="99" insulin_type="Novalog"><bolus>\#(events.joined())</bolus></patient>"#)
    #expect(
      export.recordTexts == [
        #"insulin 2021-12-07T18:00:00 {"subtype":"rapid","units":3}"#,
        #"insulin 2021-12-07T18:00:00 {"extended":3,"minutes":120,"subtype":"rapid"}"#,
        #"insulin 2021-12-07T18:00:00 {"subtype":"rapid","units":3}"#,
      ])
  }

  @Test(arguments: [
    #"<patient id="1"><glucose_level><event ts="01-12-2026 00:01:00" value="101"/></glucose_level></patient>"#,
    #"<person id="1" insulin_type="x"><glucose_level/></person>"#,
  ])
  func otherXMLIsNotRecognisedAsOhio(_ text: String) throws {
    #expect(try !Claims.claims(text, OhioT1DMFormat.self))
  }

  // MARK: Diaguard

  /// A food has no carbohydrates if it is not listed, is listed without an amount, or is listed with two
  /// amounts.
  @Test func theFoodsOfADiaguardMealHaveTheCarbohydratesOfTheList() throws {
    let text = """
      "meta";"23"
      "food";"Muesli";"";"";"61.2"
      "food";"Bread";"A";"";"48.0"
      "food";"Bread";"B";"";"52.0"
      "food";"Apple";"";"";"12.0"
      "food";"Cheese";"";"";"0.0"
      "food";"Syrup";"";"";"140.0"
      "entry";"2026-03-21 07:10:00";""
      "measurement";"meal";"20.0"
      "foodEaten";"Muesli";"80.0"
      "foodEaten";"Apple";"150.0"
      "foodEaten";"Bread";"50.0"
      "foodEaten";"Cheese";"50.0"
      "foodEaten";"Syrup";"50.0"
      "foodEaten";"Soup";"200.0"

      """
    let export = try TextExport(text)
    let amounts = export.records.map { $0.fields.amount("carbs") }
    #expect(amounts == [20, 48.96, 18, nil, nil, nil, nil])
    #expect(export.skipped["carbohydrates of a food that the list of food does not have exactly once"] == 3)
  }

  @Test func rowsOfADiaguardEntryHaveItsTime() throws {
    let export = try TextExport(bytes: TextExport.sample("diaguard/backup.csv"))
    #expect(Self.numbers(export, .smbg) == [118, 143])
    #expect(export.readings.map(\.deviceTime.text) == ["2026-03-21T07:10:00", "2026-03-21T22:00:00"])
    #expect(export.readings.allSatisfy { $0.marks == .manual })
    #expect(
      export.recordTexts == [
        #"note 2026-03-21T07:10:00 {"text":"slept badly"}"#,
        #"insulin 2026-03-21T07:10:00 {"subtype":"rapid","units":7.5}"#,
        #"food 2026-03-21T07:10:00 {"carbs":48.96,"text":"Muesli, 80 g"}"#,
        #"food 2026-03-21T12:30:00 {"carbs":45}"#, #"exercise 2026-03-21T12:30:00 {"minutes":25}"#,
        #"insulin 2026-03-21T22:00:00 {"subtype":"long","units":14}"#,
      ])
    #expect(
      export.skipped == [
        "version of the backup": 1, "tag": 2, "list of food": 1, "pulse": 1, "HbA1c": 1, "weight": 1,
      ])
    // The row in line 20 follows an entry whose time is invalid. It must not get the time of an earlier
    // entry.
    #expect(export.rejections.map(\.line) == [19, 20])
  }

  @Test(arguments: [
    "\"entry\";\"2026-02-11 07:35:00\";\"\"\n", "\"meta\";\"23\"\n\"other\";\"1\"\n\"tag\";\"x\"\n",
    "\"meta\";\"23\";\"x\"\n",
  ])
  func otherRowsAreNotRecognisedAsDiaguard(_ text: String) throws {
    #expect(try !Claims.claims(text, DiaguardFormat.self))
  }

  @Test func aTruncatedDiaguardDoseIsNotRead() throws {
    let start = "\"meta\";\"23\"\n\"entry\";\"2026-02-11 07:35:00\";\"\"\n"
    let row = "\"measurement\";\"insulin\";\"8.0\";\"0.0\";\"2.0\""
    let whole = try TextExport(start + row)
    #expect(whole.records.count == 2 && !whole.isTruncated)
    for count in 1..<row.count - 1 {
      let cut = try TextExport(start + row.dropLast(count))
      #expect(cut.records.isEmpty && cut.isTruncated, "\(count)")
    }
  }
}
