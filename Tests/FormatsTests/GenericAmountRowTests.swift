// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests which rows of a table are read as doses or carbohydrates. A person has named the column of amounts,
/// and other columns state the kind, the unit or the status of each amount.
@Suite struct GenericAmountRowTests {
  /// Reads a table without glucose. Each row gets a time before its cells.
  private func export(
    _ rows: [String], _ header: String, _ map: [String: String], force: Bool = false
  ) throws -> TextExport {
    let lines = rows.enumerated().map { "2026-03-14 0\($0.offset):30:11,\($0.element)\n" }
    return try TextExport("Time,\(header)\n" + lines.joined()) {
      $0.columns = map.merging(["time": "Time"]) { own, _ in own }
      $0.force = force
    }
  }

  private static let mixed = [
    "Bolus,5,U", "Carbs,60,g", "Glucose,132,mg/dL", "Basal rate,0.8,U/h", "Meal bolus,6,U",
  ]

  @Test func onlyRowsOfDosesAreReadAsDosesAndOnlyRowsOfFoodAsFood() throws {
    let doses = try export(Self.mixed, "Type,Value,Unit", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5, 6] && doses.rejections.isEmpty)
    #expect(doses.skipped == ["carbohydrates": 1, "glucose": 1, "basal rate": 1])
    let food = try export(Self.mixed, "Type,Value,Unit", ["carbs": "Value"])
    #expect(food.records.map { $0.fields.amount("carbs") } == [60])
    let forced = try export(Self.mixed, "Type,Value,Unit", ["insulin": "Value"], force: true)
    #expect(forced.records.count == 5)
  }

  @Test func withoutAColumnOfKindsTheUnitDecidesWhichRowsAreDoses() throws {
    let rows = ["5,U", "60,g", "0.8,U/h", "7,", "8,IE"]
    let doses = try export(rows, "Value,Unit", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5, 7, 8])
    #expect(doses.skipped == ["amount in another unit": 2])
    // `Units` is the name of a column of amounts here.
    let amounts = try export(["3,2", "4.5,1"], "Units,Correction", ["insulin": "Correction"])
    #expect(amounts.records.map { $0.fields.amount("units") } == [2, 1] && amounts.skipped.isEmpty)
    #expect(try export(["3,%"], "Value,Unit", ["insulin": "Value"]).skipped == ["amount in another unit": 1])
  }

  @Test(arguments: [
    ("Dose,Prime", ["2,true", "6,false", "8,no"], [6.0, 8], "priming of a pen or pump"),
    (
      "Dose,Event", ["2,Priming Dose", "6,Bolus Dose", "18,Long-acting Dose"], [6, 18],
      "priming of a pen or pump"
    ),
    ("Dose,Status", ["5,cancelled", "6,completed", "8,"], [6, 8], "dose that was not given"),
    ("Dose,Type", ["5,recommended", "6,delivered", "8,delivered"], [6, 8], "dose that was not given"),
  ])
  func dosesThatWereNotGivenAreCountedAndNotRead(
    _ header: String, _ rows: [String], _ units: [Double], _ name: String
  ) throws {
    let export = try export(rows, header, ["insulin": "Dose"])
    #expect(export.records.map { $0.fields.amount("units") } == units)
    #expect(export.skipped == [name: 1] && export.rejections.isEmpty)
  }

  @Test func theWordForTheKindOfADoseStatesItsUse() throws {
    let rows = ["6,Bolus Dose", "18,Long-acting Dose", "2,Normal"]
    let subtypes = try export(rows, "Dose,Event", ["insulin": "Dose"]).records.map(\.fields.subtype)
    #expect(subtypes == ["rapid", "long", ""])
  }

  @Test func aRowWithAnUnknownWordForItsKindOfDoseIsRejected() throws {
    let export = try export(["6,Bolus", "3,Blue"], "Dose,Type", ["insulin": "Dose"])
    #expect(export.records.count == 1)
    #expect(
      export.rejections.map(\.reason) == [
        "by 'Type', this may not be a dose; use --where to choose rows, or --force"
      ])
  }

  /// Columns that do not state what the amounts are: words of a person, meals, foods, and states of a program.
  @Test(arguments: [
    ("Dose,Category", ["5,home", "6,work", "8,school"], "insulin"),
    ("Dose,Type", ["5,Meal", "6,Correction", "8,Snack"], "insulin"),
    ("Dose,Status", ["5,synced", "6,new", "8,synced"], "insulin"),
    ("Dose,Item", ["5,rice", "6,bread", "8,soup"], "carbs"),
    ("Dose,Type", ["5,breakfast", "6,drink", "8,dinner"], "carbs"),
    ("Dose,Unit", ["5,g", "6,g", "8,grams"], "carbs"),
  ])
  func columnsThatDoNotDescribeAmountsExcludeNoRow(_ header: String, _ rows: [String], _ role: String) throws
  {
    let export = try export(rows, header, [role: "Dose"])
    #expect(
      export.records.count == 3 && export.skipped.isEmpty && export.rejections.isEmpty, "\(export.skipped)")
  }

  @Test func onlyJSONObjectsOfDosesAreReadAsDoses() throws {
    let objects = [("Bolus", "U", 5), ("Carbs", "g", 60), ("Glucose", "mg/dL", 132)].enumerated().map {
      place, item in
      #"{"type":"\#(item.0)","unit":"\#(item.1)","value":\#(item.2),"time":"2026-03-14 0\#(place):30:11"}"#
    }
    let text = "[\(objects.joined(separator: ","))]"
    let export = try TextExport(text) { $0.columns = ["time": "time", "insulin": "value"] }
    #expect(export.records.map { $0.fields.amount("units") } == [5] && export.rejections.isEmpty)
    #expect(export.skipped == ["carbohydrates": 1, "glucose": 1])
  }

  /// Next to glucose, a column such as `Type` may describe the glucose. A column named for insulin does not.
  @Test(arguments: ["Dose,Insulin type", "Dose,Insulin type,Glucose"])
  func theKindsOfDosesStateTheirUseAndExcludeOtherAmounts(_ header: String) throws {
    let rows = ["5,bolus,120", "18,basal,130", "7.5,IOB,140", "0.8,Basal rate,150"]
    let map = header.contains("Glucose") ? ["insulin": "Dose", "value": "Glucose"] : ["insulin": "Dose"]
    let width = header.split(separator: ",").count
    let export = try export(
      rows.map { $0.split(separator: ",").prefix(width).joined(separator: ",") }, header, map)
    #expect(export.records.map { $0.fields.amount("units") } == [5, 18])
    #expect(export.records.map(\.fields.subtype) == ["rapid", "long"])
    #expect(export.skipped == ["active insulin": 1, "basal rate": 1] && export.rejections.isEmpty)
    let names = try self.export(
      ["5,Xyzlog,120", "18,Abclog,130"], "Dose,Insulin type,Glucose", ["insulin": "Dose"])
    #expect(names.records.count == 2 && names.skipped.isEmpty)
  }

  /// Next to glucose, the kind and the unit of a row are those of the glucose.
  @Test func inATableWithGlucoseEveryDoseIsRead() throws {
    let rows = ["5,132,mg/dL,finger", "6,140,mg/dL,sensor"]
    let export = try export(rows, "Dose,Glucose,Unit,Kind", ["insulin": "Dose", "value": "Glucose"])
    #expect(export.records.map { $0.fields.amount("units") } == [5, 6])
  }
}
