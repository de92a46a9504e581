// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests tables with two values of glucose in each row: before and after a meal, or one value in both units.
@Suite struct GenericSecondValueTests {
  private static func table(_ header: String, _ cells: (Int) -> String) -> String {
    (1...12).reduce(into: "Date,Time,\(header)\n") { text, day in
      text += "2026-05-\(day < 10 ? "0" : "")\(day),07:\(10 + day),\(cells(day))\n"
    }
  }

  // MARK: A second value

  @Test(arguments: [
    ("BG", "BG after 2 hours"), ("BG", "BG 2h"), ("Glucose", "Glucose 2h pp"), ("Glucose", "PP"),
    ("Glucose (mg/dL)", "Post-prandial (mg/dL)"), ("Glucose (mg/dL)", "2 hours after (mg/dL)"),
    ("Glycémie", "Glycémie 2h après"), ("Glucosa", "Glucosa 2h"), ("Blutzucker", "Blutzucker nach 2h"),
    ("Glicemia", "Glicemia dopo pasto"), ("BG", "Recheck BG"), ("BG", "BG recheck"), ("Glucose", "Libre"),
    ("Glucose", "Dexcom"),
  ])
  func aTableWithASecondValueInEachRowIsRefusedUntilMapped(_ first: String, _ second: String) throws {
    let file = try ScratchFile(
      Self.table("\(first),\(second)") { "\(90 + $0 * 7 % 31),\(130 + $0 * 11 % 47)" })
    let refusal = try #require(try file.refusal(), "\(second)")
    #expect(refusal.contains("several columns may hold glucose: '\(first)', '\(second)'"), "\(refusal)")
    for (name, least) in [(first, 90.0), (second, 130.0)] {
      #expect(refusal.contains("value=\(name)"), "\(refusal)")
      let map = ["date": "Date", "clock": "Time", "value": name]
      let readings = try file.readings { ($0.columns, $0.unit) = (map, .milligramsPerDecilitre) }.readings
      #expect(readings.count == 12 && readings[0].measurement.quantity.map { $0.number >= least } == true)
    }
  }

  @Test(arguments: [
    "Target glucose", "glucose_pred", "Average BG", "eAG", "Heart rate", "Steps", "Cholesterol (mg/dL)",
    "Triglycerides (mg/dL)", "Sodium (mmol/L)", "Carbs", "BG+0:30", "Temperature", "Weight", "GKI", "Height",
    "Battery", "Systolic", "Notes",
  ])
  func otherNumbersNextToTheValuesAreIgnored(_ name: String) throws {
    let file = try ScratchFile(
      Self.table("Glucose (mg/dL),\(name)") { "\(90 + $0 * 7 % 31),\(130 + $0 * 11 % 47)" })
    #expect(try file.readings().readings.count == 12, "\(name)")
  }

  /// The second column has flags, a constant, nothing, or a copy of the first column.
  @Test(arguments: ["1", "100", "", "value"])
  func aSecondColumnWithoutFurtherValuesIsIgnored(_ cell: String) throws {
    let text = Self.table("Glucose (mg/dL),BG recheck") { day in
      let value = 90 + day * 7 % 31
      return "\(value),\(cell == "value" ? "\(value)" : cell)"
    }
    #expect(try ScratchFile(text).readings().readings.count == 12)
  }

  @Test func aSecondColumnIsGlucoseOnlyIfItsNumbersFitTheUnit() throws {
    func text(_ second: @escaping (Int) -> String) -> String {
      Self.table("Glucose (mmol/L),Glucose 2h") { "\(5 + $0 % 3).\($0 % 10),\(second($0))" }
    }
    #expect(try ScratchFile(text { "\(7 + $0 % 4).\($0 % 9)" }).refusal()?.contains("'Glucose 2h'") == true)
    #expect(try ScratchFile(text { "\(130 + $0)" }).readings().readings.count == 12)
    #expect(try ScratchFile(text { "\(1 + $0 % 4)" }).readings().readings.count == 12)
  }

  // MARK: One value in both units

  /// A value in mg/dL, and the same value in mmol/L as programs round or truncate it.
  private static func both(_ day: Int, by factor: Double, isCut: Bool = false) -> (String, String) {
    let value = 88 + day * 37 % 150
    let tenths = Double(value) / factor * 10
    let whole = Int(tenths.rounded(isCut ? .down : .toNearestOrAwayFromZero))
    return ("\(value)", "\(whole / 10).\(whole % 10)")
  }

  @Test(arguments: [18, 18.0156, 18.0182])
  func aTableWithEachValueInBothUnitsIsReadOnce(factor: Double) throws {
    for (isCut, header) in [
      (false, "Glucose (mmol/L),Glucose (mg/dL)"), (true, "BG (mmol/l),Blood Sugar (mg/dl)"),
    ] {
      let text = Self.table(header) { day in
        let (milligrams, millimoles) = Self.both(day, by: factor, isCut: isCut)
        return "\(millimoles),\(milligrams)"
      }
      let export = try TextExport(text)
      #expect(export.readings.count == 12)
      #expect(export.readings[0].measurement.quantity == Quantity(125, .milligramsPerDecilitre))
      #expect(!export.warnings.contains { $0.contains("not read") }, "\(export.warnings)")
    }
  }

  @Test func aCopyInTheOtherUnitOfAColumnWithoutAUnitIsNotReadTwice() throws {
    let text = Self.table("Glucose,Glucose mmol/L") { day in
      let (milligrams, millimoles) = Self.both(day, by: 18)
      return "\(milligrams),\(millimoles)"
    }
    let readings = try ScratchFile(text).readings().readings
    #expect(readings.count == 12)
    #expect(readings[0].measurement.quantity == Quantity(125, .milligramsPerDecilitre))
  }

  @Test func jsonObjectsWithEachValueInBothUnitsAreReadOnce() throws {
    let objects = (1...6).map { day in
      let (milligrams, millimoles) = Self.both(day, by: 18.0182)
      return
        #"{"time":"2026-05-0\#(day)T07:10:00","glucose_mgdl":\#(milligrams),"glucose_mmol":\#(millimoles)}"#
    }
    let readings = try ScratchFile("[" + objects.joined(separator: ",") + "]").readings().readings
    #expect(readings.count == 6)
    #expect(readings[0].measurement.quantity == Quantity(125, .milligramsPerDecilitre))
  }

  /// The two columns have different units and are not copies: one has values before meals, the other after.
  @Test func columnsInBothUnitsWithOtherValuesAreRefused() throws {
    let text = Self.table("Glucose (mmol/L),Glucose (mg/dL)") { "\(5 + $0 % 3).1,\(130 + $0 * 11 % 47)" }
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(
      refusal.contains("value=Glucose (mmol/L)") && refusal.contains("value=Glucose (mg/dL)"), "\(refusal)")
  }

  /// The row with different values is far after the first bytes of the input, but the input is still refused.
  @Test func aLaterRowWhoseValuesInBothUnitsDifferIsRefused() throws {
    let start: Int64 = 1_770_000_000 / 86_400 * 86_400
    func text(_ last: String) -> String {
      let rows = (0..<4000).map { row in
        let (milligrams, millimoles) = Self.both(row, by: 18)
        return "\(DeviceTime(seconds: start + Int64(row) * 300).text),\(milligrams),\(millimoles)\n"
      }.joined()
      return
        "time,glucose mg/dL,glucose mmol/L\n\(rows)\(DeviceTime(seconds: start + 4000 * 300).text),\(last)\n"
    }
    #expect(try ScratchFile(text("90,5.0")).readings().readings.count == 4001)
    #expect(try ScratchFile(text("90,")).readings().readings.count == 4001)
    #expect(try ScratchFile(text(",")).readings().readings.count == 4000)
    for last in ["90,8.1", ",8.1"] {
      let refusal = try #require(try ScratchFile(text(last)).refusal())
      #expect(
        refusal.contains("differ in some rows") && refusal.contains("value=glucose mmol/L"), "\(refusal)")
    }
  }
}
