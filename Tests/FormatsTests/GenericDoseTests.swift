// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests doses and meals in a table whose columns a person named with `--map`.
@Suite struct GenericDoseTests {
  /// The fields of the records of a table with a glucose column.
  private func fields(_ text: String, _ columns: [String: String]) throws -> [RecordFields] {
    let map = columns.merging(["time": "Time", "value": "Glucose (mg/dL)"]) { own, _ in own }
    return try TextExport(text) { $0.columns = map }.records.map(\.fields)
  }

  @Test(arguments: [
    ("Basal (U)", "long"), ("Long acting insulin", "long"), ("Bolus (U)", "rapid"),
    ("Insulin", nil as String?),
  ])
  func theNameOfTheColumnStatesTheUseOfItsDoses(_ name: String, _ subtype: String?) throws {
    let doses = try fields(
      "Time,Glucose (mg/dL),\(name)\n2026-05-01 07:00,120,14\n2026-05-01 12:00,130,4.5\n", ["insulin": name])
    #expect(doses.map { $0.amount("units") } == [14, 4.5])
    #expect(doses.map { $0["subtype"] } == Array(repeating: subtype.map { .text($0) }, count: 2))
  }

  private static let named = """
    Time,Glucose (mg/dL),Insulin,Insulin type
    2026-05-01 07:00,120,4,Novorapid
    2026-05-01 07:05,118,12,Lantus
    2026-05-01 12:00,130,5,

    """

  @Test func aColumnOfInsulinNamesIsFound() throws {
    let doses = try fields(Self.named, ["insulin": "Insulin"])
    #expect(doses.map(\.subtype) == ["rapid", "long", ""])
    #expect(doses.map { $0["text"] } == [.text("Novorapid"), .text("Lantus"), nil])
  }

  @Test func aColumnWithAnUnknownInsulinNameStatesTheUseOnlyIfMapped() throws {
    let text = Self.named.replacing("5,\n", with: "5,soup\n")
    #expect(try fields(text, ["insulin": "Insulin"]).map(\.subtype) == ["", "", ""])
    let doses = try fields(text, ["insulin": "Insulin", "use": "Insulin type"])
    #expect(doses.map(\.subtype) == ["rapid", "long", ""] && doses[2]["text"] == .text("soup"))
  }

  /// The correction bolus of the first row is equal to its meal bolus.
  @Test func eachOfSeveralColumnsOfDosesAndCarbohydratesIsRead() throws {
    let text = """
      Time,Glucose (mg/dL),Meal bolus (U),Correction bolus (U),Basal (U),Carbs (g),Snack (BE)
      2026-05-01 07:00,120,3,3,,45,
      2026-05-01 12:00,130,4.5,1,18,60,2

      """
    let export = try TextExport(text) {
      $0.columns = [
        "time": "Time", "value": "Glucose (mg/dL)", "insulin": "Meal bolus (U)",
        "insulin2": "Correction bolus (U)", "insulin3": "Basal (U)", "carbs": "Carbs (g)",
        "carbs2": "Snack (BE)",
      ]
    }
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-01T07:00:00 {"subtype":"rapid","units":3}"#,
        #"insulin 2026-05-01T07:00:00 {"subtype":"rapid","units":3}"#,
        #"food 2026-05-01T07:00:00 {"carbs":45}"#,
        #"insulin 2026-05-01T12:00:00 {"subtype":"rapid","units":4.5}"#,
        #"insulin 2026-05-01T12:00:00 {"subtype":"rapid","units":1}"#,
        #"insulin 2026-05-01T12:00:00 {"subtype":"long","units":18}"#,
        #"food 2026-05-01T12:00:00 {"carbs":60}"#, #"food 2026-05-01T12:00:00 {"servings":2}"#,
      ])
    // The owner is a part of a record's identity. The first column has the same owner as if it were the only
    // column of doses.
    #expect(
      export.records.map(\.owner) == [
        "", " insulin2", "", "", " insulin2", " insulin3", "", " carbs2",
      ])
  }

  @Test(arguments: [
    "KH (BE)", "Carbs (KE)", "exchanges", "Broteinheiten", "ХЕ", "Porciones", "Porções", "HC (rac.)", "カーボ",
    "Carbohydrate (10 g)", "KH [x10g]", "CP", "CPs", "Échanges", "Echanges", "Broodeenheden", "BU",
    "Chlebové jednotky", "Sacharidové jednotky", "Kulhydratenheder", "Karbohydratenheter",
    "Hiilihydraattiannokset", "Kolhydratenheter", "Equivalentes", "Intercambios de hidratos", "Portions",
    "Raciones HC", "Carbs x10", "Carbs/10",
  ])
  func carbohydrateExchangesAreReadAsServingsAndNotGrams(_ name: String) throws {
    let meals = try fields("Time,Glucose (mg/dL),\(name)\n2026-05-01 07:00,120,4\n", ["carbs": name])
    #expect(meals.map { $0["servings"] } == [.number(4)] && meals.allSatisfy { $0["carbs"] == nil })
  }

  @Test func carbohydratesAreGramsAndEnergyIsRefused() throws {
    let text = "Time,Glucose (mg/dL),Carbs (g),Energy (kcal)\n2026-05-01 07:00,120,45,310\n"
    #expect(try fields(text, ["carbs": "Carbs (g)"]).map { $0["carbs"] } == [.number(45)])
    let refusal = try ScratchFile(text).refusal {
      $0.columns = ["time": "Time", "value": "Glucose (mg/dL)", "carbs": "Energy (kcal)"]
    }
    #expect(refusal?.contains("'Energy (kcal)' holds energy") == true)
  }

  @Test(arguments: [
    ("insulin", "Basal rate (U/h)", "holds a rate"), ("insulin", "Insulin basal rate", "holds a rate"),
    ("insulin", "basalRate", "holds a rate"), ("insulin", "Basal (IE/Std)", "holds a rate"),
    ("insulin", "Basal U/hr", "holds a rate"), ("insulin", "TDD", "sum of the day"),
    ("insulin", "Total daily insulin", "sum of the day"), ("insulin", "Insulin (mU)", "another unit than U"),
    ("insulin", "Insulin on board", "still active"), ("insulin", "Insulin sensitivity", "a factor"),
    ("carbs", "Carbs (oz)", "another unit than g"), ("carbs", "Carb ratio", "a ratio"),
    ("carbs", "Carb units", "another unit than g"), ("carbs", "Glucides (parts)", "another unit than g"),
    ("carbs", "Carbs %", "another unit than g"), ("insulin2", "Insulin (IE) pro BE", "a ratio"),
    ("insulin3", "I:C", "a ratio"), ("insulin", "Reservoir (U)", "a stock"),
    ("insulin", "Insulina recomendada", "recommended"), ("insulin", "Empfohlener Bolus", "recommended"),
    ("insulin", "Bolus conseillé", "recommended"), ("insulin", "Vorschlag Bolus", "recommended"),
    ("insulin", "Aanbevolen bolus", "recommended"), ("insulin", "Bolus suggerito", "recommended"),
    ("insulin", "Rekommenderad bolus", "recommended"), ("insulin", "Planned insulin", "planned"),
    ("insulin", "Wanted bolus", "planned"), ("insulin", "Geplantes Insulin", "planned"),
    ("insulin", "Insulin left", "a stock"), ("insulin", "Insuline restante", "a stock"),
    ("insulin", "Rest-Insulin", "still active"), ("insulin", "IE/BE", "a ratio"),
    ("insulin", "Units per CP", "a ratio"), ("insulin", "Insulin drops", "another unit than U"),
    ("insulin", "Units/10", "another unit than U"), ("insulin", "IU x10", "another unit than U"),
    ("carbs", "KH-Einheiten", "another unit than g"), ("carbs2", "Carbs on board", "still active"),
  ]) func aColumnThatHoldsOtherAmountsByItsNameIsRefused(
    _ role: String, _ name: String, _ reason: String
  ) throws {
    let file = try ScratchFile("Time,Glucose (mg/dL),\(name)\n2026-05-01 07:00,120,0.8\n")
    let map = ["time": "Time", "value": "Glucose (mg/dL)", role: name]
    let refusal = try #require(try file.refusal { $0.columns = map })
    #expect(
      refusal.contains("'\(name)'") && refusal.contains(reason) && refusal.contains("--force"), "\(refusal)")
    let forced = try file.readings {
      $0.columns = map
      $0.force = true
    }
    #expect(forced.readings.count == 1)
  }

  @Test(arguments: [
    ("insulin", "Insulin (U)"), ("insulin", "Insulin 2h after meal"), ("insulin", "Units"),
    ("insulin", "Total insulin"), ("insulin", "Humalog"), ("insulin", "Bolus Volume Delivered (U)"),
    ("insulin", "Basal (IE)"), ("carbs", "Carbs (g)"), ("carbs", "Glucides"), ("carbs", "KH"),
    ("carbs", "Meal Carbohydrates (Grams, Factor 1)"), ("carbs", "Snack 10:00 (g)"),
    ("insulin", "Pro Insulin"), ("insulin2", "Correction (U)"), ("insulin", "Insulin left arm"),
    ("insulin", "Insulin U/100"), ("insulin", "Insulin (IE/Mahlzeit)"), ("carbs", "HC"),
    ("carbs", "Restaurant carbs"),
  ]) func aMappedColumnNamedForDosesOrGramsIsRead(_ role: String, _ name: String) throws {
    #expect(try fields("Time,Glucose (mg/dL),\"\(name)\"\n2026-05-01 07:00,120,8\n", [role: name]).count == 1)
  }

  @Test(arguments: [
    ("6,1,4,45", 0), ("6.1,4,45", 2), (",1,4,45", 0), (",4,45", 2), ("6.1,1,4,45", 0),
  ])
  func aRowSplitByADecimalCommaIsNotRead(_ cells: String, _ records: Int) throws {
    let text = "Time,Glucose (mmol/L),Insulin,Carbs\n2026-05-01 07:00,5.5,2,20\n2026-05-01 12:00,\(cells)\n"
    let export = try TextExport(text) {
      $0.columns = ["time": "Time", "value": "Glucose (mmol/L)", "insulin": "Insulin", "carbs": "Carbs"]
    }
    #expect(export.records.count == 2 + records && export.rejections.count == (records == 0 ? 1 : 0))
  }
}
