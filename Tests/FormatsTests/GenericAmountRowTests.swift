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
    _ rows: [String], _ header: String, _ map: [String: String], force: Bool = false,
    picking filter: RowFilter? = nil
  ) throws -> TextExport {
    let lines = rows.enumerated().map { place, row in
      "2026-03-14 \(10 + place / 50):\(10 + place % 50):11,\(row)\n"
    }
    return try TextExport("Time,\(header)\n" + lines.joined()) {
      $0.columns = map.merging(["time": "Time"]) { own, _ in own }
      $0.force = force
      if let filter { $0.rows = [filter] }
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
    ("Dose,Status", ["5,Not delivered", "6,", "8,"], [6, 8], "dose that was not given"),
    ("Dose,Zustand", ["5,storniert", "6,abgegeben", "8,abgegeben"], [6, 8], "dose that was not given"),
    ("Dose,Type", ["5,recommended", "6,delivered", "8,delivered"], [6, 8], "dose that was not given"),
  ])
  func dosesThatWereNotGivenAreCountedAndNotRead(
    _ header: String, _ rows: [String], _ units: [Double], _ name: String
  ) throws {
    let export = try export(rows, header, ["insulin": "Dose"])
    #expect(export.records.map { $0.fields.amount("units") } == units)
    #expect(export.skipped == [name: 1] && export.rejections.isEmpty)
  }

  @Test func aRowOfAnotherKindIsNotReadAlthoughTheFirstRowsAreAllOfOneKind() throws {
    let (doses, carbs) = (Array(repeating: "5,Bolus", count: 60), Array(repeating: "40,Carbs", count: 60))
    let units = try export(doses + ["40,Carbs", "132,Glucose"], "Dose,Type", ["insulin": "Dose"])
    #expect(units.records.count == 60 && units.skipped == ["carbohydrates": 1, "glucose": 1])
    let grams = try export(carbs + ["5,Bolus", "20,Tubing", "2000,Schritte"], "Dose,Type", ["carbs": "Dose"])
    #expect(grams.records.count == 60 && grams.skipped == ["insulin": 1, "priming of a pen or pump": 1])
    #expect(grams.rejections.count == 1)
  }

  /// A table with a row for each item has one column for all amounts.
  @Test func oneColumnForGlucoseDosesAndFoodIsReadByTheKindOfEachRow() throws {
    let map = ["value": "Value", "insulin": "Value", "carbs": "Value"]
    let rows = ["Glucose,132,mg/dL", "Bolus,5,U", "Carbs,60,g", "Basal,18,U", "Glucose,141,mg/dL"]
    let export = try export(rows, "Type,Value,Unit", map)
    #expect(export.records.compactMap { $0.fields.amount("units") } == [5, 18])
    #expect(export.records.compactMap { $0.fields.amount("carbs") } == [60])
    #expect(export.readings.count == 2)
  }

  @Test func inOneColumnForDosesAndFoodARowThatIsNeitherIsCountedOnce() throws {
    let map = ["insulin": "Value", "carbs": "Value"]
    let rows = ["Bolus,5", "Carbs,60", "Meal,40", "Glucose,132", "Blue,7"]
    let export = try export(rows, "Type,Value", map)
    #expect(export.records.compactMap { $0.fields.amount("units") } == [5])
    #expect(export.records.compactMap { $0.fields.amount("carbs") } == [60, 40])
    #expect(export.skipped == ["glucose": 1] && export.rejections.count == 1)
  }

  /// Next to rows that are named a bolus, a row named only by a meal is probably food.
  @Test(arguments: ["Meal", "Food", "Snack", "Lunch", "Dinner"])
  func aMealNextToABolusIsRejectedAsADose(_ word: String) throws {
    let events = try export(["5,Bolus", "60,\(word)", "7,Meal Bolus"], "Dose,Event", ["insulin": "Dose"])
    #expect(events.records.count == 2 && events.rejections.count == 1)
    let named = try export(["5,Bolus", "60,\(word)"], "Dose,Event", ["insulin": "Dose", "use": "Event"])
    #expect(named.records.count == 1 && named.rejections.count == 1)
    let fast = try export(["5,Bolus", "15,Fast acting carbs"], "Dose,Event", ["insulin": "Dose"])
    #expect(fast.records.count == 1 && fast.skipped == ["carbohydrates": 1])
  }

  @Test func aFoodWhoseNameHasAWordForAnotherKindIsRead() throws {
    let rows = ["20,rice", "12,weight watchers bar", "15,glucose tablets", "30,sport drink"]
    let foods = try export(rows, "Carbs,Item", ["carbs": "Carbs"])
    #expect(foods.records.count == 4 && foods.rejections.isEmpty)
  }

  @Test func aColumnOfInsulinNamesExcludesRowsOfOtherKinds() throws {
    let rows = ["5,Novorapid", "60,Carbs", "18,Basal", "7,Insulin X"]
    let named = try export(rows, "Dose,Type", ["insulin": "Dose", "use": "Type"])
    #expect(named.records.map { $0.fields.amount("units") } == [5, 18, 7])
    #expect(named.skipped == ["carbohydrates": 1] && named.rejections.isEmpty)
  }

  /// A row can have both a dose and food. Then its kind does not exclude either of them.
  @Test func aRowWithADoseAndFoodIsReadWholeWhateverItsKind() throws {
    let rows = ["5,60,Bolus", ",20,Carbs", "3,,Bolus"]
    let both = try export(rows, "Dose,Food,Type", ["insulin": "Dose", "carbs": "Food"])
    #expect(both.records.count == 4 && both.skipped.isEmpty)
  }

  @Test func theWordForTheKindOfADoseStatesItsUse() throws {
    let rows = ["6,Bolus Dose", "18,Long-acting Dose", "2,Normal"]
    let subtypes = try export(rows, "Dose,Event", ["insulin": "Dose"]).records.map(\.fields.subtype)
    #expect(subtypes == ["rapid", "long", ""])
  }

  @Test func aRowWithAnUnknownWordForItsKindOfDoseIsRejected() throws {
    let states = try export(["6,Completed", "3,Stopped"], "Dose,Status", ["insulin": "Dose"])
    #expect(states.records.count == 1 && states.rejections.count == 1)
    let export = try export(["6,Bolus", "3,Blue"], "Dose,Type", ["insulin": "Dose"])
    #expect(export.records.count == 1)
    #expect(
      export.rejections.map(\.reason) == [
        "by 'Type', this may not be a dose; use --where to choose rows, or --force"
      ])
  }

  /// Columns that do not state what the amounts are: words of a person, meals, foods, and states of a
  /// program.
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

  // MARK: Rows of meals, and rows of medicines

  @Test(arguments: ["Injection", "Insulin", "Pen", "Dose"])
  func aMealNextToRowsOfOtherKindsIsFood(_ word: String) throws {
    let rows = ["Glucose,93", "\(word),3", "Meal,43", "Exercise,30", "\(word),5", "Food,20"]
    let doses = try export(rows, "Type,Value", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [3, 5] && doses.rejections.isEmpty)
    #expect(doses.skipped == ["glucose": 1, "carbohydrates": 2, "activity or body": 1])
    let map = ["value": "Value", "insulin": "Value", "carbs": "Value"]
    let all = try export(rows, "Type,Value", map)
    #expect(all.records.compactMap { $0.fields.amount("units") } == [3, 5])
    #expect(all.records.compactMap { $0.fields.amount("carbs") } == [43, 20])
    #expect(all.readings.count == 1)
  }

  @Test func aMealIsADoseOnlyAmongMealsAndCorrections() throws {
    let kinds = ["5,Meal", "6,Correction", "8,Other", "7,Before breakfast"]
    let doses = try export(kinds, "Dose,Type", ["insulin": "Dose"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5, 6])
    let medicines = try export(["8,Medication", "60,Food"], "Value,Type", ["insulin": "Value"])
    #expect(medicines.records.isEmpty && medicines.rejections.count == 2)
    let food = try export(["8,Medication", "60,Food"], "Value,Type", ["carbs": "Value"])
    #expect(food.records.map { $0.fields.amount("carbs") } == [60] && food.rejections.count == 1)
  }

  @Test func theKindsOfLaterRowsDecideWhatTheFirstRowsAre() throws {
    let medicines = Array(repeating: "8,Medication", count: 60)
    let rows = medicines + ["93,Glucose", "60,Food", "61,Food"] + Array(repeating: "94,Glucose", count: 30)
    let doses = try export(rows, "Value,Type", ["insulin": "Value"])
    #expect(doses.records.isEmpty && doses.rejections.count == 60)
    let food = try export(rows, "Value,Type", ["carbs": "Value"])
    #expect(food.records.map { $0.fields.amount("carbs") } == [60, 61])
    let meals = Array(repeating: "60,Meal", count: 60)
    let later = try export(meals + ["5,Injection", "93,Glucose"], "Value,Type", ["insulin": "Value"])
    #expect(later.records.map { $0.fields.amount("units") } == [5])
    // One word on a list among many others does not make a column one of kinds.
    let notes = (0..<60).map { "5,\(["home", "work", "school"][$0 % 3])" } + ["6,sport"]
    #expect(try export(notes, "Dose,Type", ["insulin": "Dose"]).records.count >= 60)
  }

  @Test func aColumnOfKindsIsFoundByItsWords() throws {
    let rows = ["5,Bolus", "60,Carbs", "132,Glucose", "2,Prime bolus"]
    let doses = try export(rows, "Value,What", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5])
    let notes = try export(["5,at home", "6,bolus late", "7,"], "Value,What", ["insulin": "Value"])
    #expect(notes.records.count == 3 && notes.rejections.isEmpty)
  }

  @Test func anAmountWithoutAKindAmongKindsOfRowsIsRejected() throws {
    let rows = ["5,Bolus", "60,Carbs", "40,"]
    let doses = try export(rows, "Value,Type", ["insulin": "Value"])
    #expect(doses.records.count == 1 && doses.rejections.count == 1)
    let both = try export(rows, "Value,Type", ["insulin": "Value", "carbs": "Value"])
    #expect(both.records.count == 2 && both.rejections.count == 1)
    #expect(try export(["5,Bolus", "6,", "7,Bolus"], "Value,Type", ["insulin": "Value"]).records.count == 3)
  }

  @Test func oneColumnWithSeveralRolesNeedsAColumnOfKinds() throws {
    let file = try ScratchFile("Time,Value,Place\n2026-03-14 10:10,120,home\n2026-03-14 10:20,5,home\n")
    for role in ["value", "carbs"] {
      let refusal = try file.refusal { $0.columns = ["time": "Time", role: "Value", "insulin": "Value"] }
      #expect(refusal?.contains("has several roles in --map, and no column of kinds") == true)
    }
    let units = try export(
      ["120,mg/dL", "5,U", "60,g"], "Value,Unit", ["value": "Value", "insulin": "Value"])
    #expect(units.readings.count == 1 && units.records.map { $0.fields.amount("units") } == [5])
  }

  /// Many apps have one kind of row for all medicines. Doses of tablets are in mg.
  @Test func amongMedicinesOnlyKnownInsulinsAreDoses() throws {
    let rows = [
      "Medication,8,Humalog", "Medication,500,Metformin", "Medication,4,Glimepirid", "Food,60,toast",
    ]
    let filter = RowFilter(column: "Type", value: "Medication")
    let map = ["insulin": "Value", "use": "Label"]
    let picked = try export(rows, "Type,Value,Label", map, picking: filter)
    #expect(picked.records.map { $0.fields.amount("units") } == [8] && picked.rejections.count == 2)
    let unknown = try export(["Medication,8,Xyzlog", "Food,6,x"], "Type,Value,Label", map, picking: filter)
    #expect(unknown.records.count == 1)
    let injected = try export(["Injection,8,Humalog", "Injection,7,Xyzlog"], "Type,Value,Label", map)
    #expect(injected.records.count == 2 && injected.rejections.isEmpty)
  }

  @Test func manyUnitsOfAnUnknownNameAreRejected() throws {
    let (rows, map) = (
      ["8,Humalog", "500,Metformin", "120,Toujeo", "7,Xyzlog"], ["insulin": "Value", "use": "Label"]
    )
    let named = try export(rows, "Value,Label", map)
    #expect(named.records.map { $0.fields.amount("units") } == [8, 120, 7])
    #expect(named.rejections.map(\.line) == [3])
    #expect(try export(rows, "Value,Label", map, force: true).records.count == 4)
  }

  // MARK: Phrases

  /// An app's log has rows about doses that are none.
  @Test(arguments: ["Bolus removed", "Bolus edited", "Basal profile", "Dose reminder"])
  func aPhraseWithAnUnknownWordIsNotReadAsADose(_ phrase: String) throws {
    let rows = ["5,Bolus", "6,\(phrase)", "60,Carbs"]
    for map in [["insulin": "Value"], ["insulin": "Value", "use": "Event"]] {
      let doses = try export(rows, "Value,Event", map)
      #expect(doses.records.map { $0.fields.amount("units") } == [5] && doses.rejections.count == 1)
    }
    // The column `Action` is taken for the use of each dose, since each row with a dose names one.
    let separate = try export(
      ["5,,Bolus", ",60,Carbs", "5,,\(phrase)"], "U,g,Action", ["insulin": "U", "carbs": "g"])
    #expect(separate.records.compactMap { $0.fields.amount("units") } == [5])
  }

  @Test func namesThatAllHaveAWordForADoseAreThoseOfDoses() throws {
    let doses = try export(["5,Anna bolus", "18,Anna basal"], "Value,Name", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5, 18] && doses.rejections.isEmpty)
  }

  @Test(arguments: [
    "Novorapid Flexpen", "Insulin lispro Sanofi", "Huminsulin Profil III", "Evening bolus", "Bolus Wizard",
    "Correction bolus", "Bolus insulin", "Insulin (fast acting)", "Humulin N", "Long-Acting Dose", "Bolus 2",
    "HKQuantityTypeIdentifierInsulinDelivery", "Mahlzeit Bolus", "Pen Bolus", "Extended bolus",
  ])
  func aPhraseOfKnownWordsOrWithTheNameOfAnInsulinIsADose(_ phrase: String) throws {
    let doses = try export(["5,\(phrase)", "60,Carbs"], "Value,Event", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5] && doses.rejections.isEmpty)
  }

  @Test func remarksInAColumnOfLabelsExcludeNoDose() throws {
    let rows = ["5,Bolus,late bolus", "6,Bolus,bolus before pizza", "60,Carbs,pizza", "7,Bolus,"]
    let doses = try export(rows, "Value,Type,Label", ["insulin": "Value"])
    #expect(doses.records.map { $0.fields.amount("units") } == [5, 6, 7] && doses.rejections.isEmpty)
  }

  @Test func theNameOfAFoodCanHaveAWordForTheUseOfAnInsulin() throws {
    let foods = try export(["20,long grain rice", "30,fast food burger"], "Carbs,Item", ["carbs": "Carbs"])
    #expect(foods.records.count == 2 && foods.skipped.isEmpty && foods.rejections.isEmpty)
  }
}
