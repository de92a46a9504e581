// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests columns chosen for doses or carbohydrates whose amounts are sums of a day, and columns of codes that
/// may state rates.
@Suite struct GenericDaySumTests {
  /// The message that refuses a table of amounts; nil if it is imported.
  ///
  /// - Parameter rows: each with the day of March 2026, the time of day and the amount.
  private func refusal(
    _ name: String, _ rows: [(day: Int, clock: String, amount: Double)], role: String = "insulin",
    force: Bool = false
  ) throws -> String? {
    let lines = rows.map { "2026-03-\(10 + $0.day) \($0.clock),\($0.amount)\n" }
    return try ScratchFile("Time,\(name)\n" + lines.joined()).refusal {
      $0.columns = ["time": "Time", role: name]
      $0.force = force
    }
  }

  /// Days of amounts from breakfast on, one every two hours.
  private func days(_ amounts: [[Double]], lastClock: String? = nil) -> [(
    day: Int, clock: String, amount: Double
  )] {
    amounts.enumerated().flatMap { day, amounts in
      amounts.enumerated().map { place, amount in
        (day, place == amounts.count - 1 ? lastClock ?? "22:07" : "\(10 + place * 2):07", amount)
      }
    }
  }

  @Test(
    arguments: ["insulin", "carbs"],
    [[[4.5, 6, 7.5, 18], [4, 6.5, 10.5]], [[3, 5, 8], [12, 5, 7], [4, 2]]])
  func aRowWithTheSumOfTheOtherRowsOfItsDayIsAQuestion(_ role: String, _ amounts: [[Double]]) throws {
    let rows = days(amounts, lastClock: "23:59")
    let message = try #require(try refusal("Amount", rows, role: role))
    #expect(message.contains("'Amount' has a row for each day with the sum") && message.contains("--force"))
    #expect(try refusal("Amount", rows, role: role, force: true) == nil)
    #expect(try refusal("Amount", rows.reversed(), role: role) != nil)
  }

  @Test func aSumAtMidnightIsOneOfTheDayBefore() throws {
    let rows = days([[4.5, 6, 7.5], [4, 6.5, 3]]) + [(1, "00:00", 18), (2, "00:00", 13.5)]
    #expect(try refusal("Amount", rows) != nil)
  }

  @Test(arguments: [
    // A basal dose may be equal to the boluses of a day, also each day if they are always the same.
    [[6.0, 6, 12], [5, 6, 12]], [[6, 6, 12]], [[4, 6, 8, 18], [4, 6, 8, 18], [4, 6, 8, 18]],
    [[6, 6], [5, 5], [4, 4]],
    [[6, 6, 12], [5, 6, 12], [5, 5, 12], [4, 8, 12], [6, 4, 12], [7, 7, 12]], [[18], [18], [18]],
    [[3, 5, 8], [4, 5, 9], [4, 6, 12], [3, 3, 12], [5, 6, 12]],
  ])
  func dosesThatAreSumsOnSomeDaysAreRead(_ amounts: [[Double]]) throws {
    #expect(try refusal("Insulin (U)", days(amounts)) == nil)
  }

  @Test func aDoseWithTheNameOfItsInsulinIsNotASum() throws {
    let rows = ["10:07,6,Novorapid", "12:07,6,Novorapid", "22:07,12,Lantus"]
    let other = ["10:07,5,Novorapid", "12:07,4,Novorapid", "22:07,9,Lantus"]
    let lines = rows.map { "2026-03-10 \($0)\n" } + other.map { "2026-03-11 \($0)\n" }
    let file = try ScratchFile("Time,Dose,Insulin\n" + lines.joined())
    #expect(try file.refusal { $0.columns = ["time": "Time", "insulin": "Dose"] } == nil)
  }

  @Test(arguments: ["Total (U)", "Summe", "Insulina totale", "Gesamt IE"])
  func aColumnNamedForTotalsWhoseAmountsOnlyRiseInADayIsAQuestion(_ name: String) throws {
    #expect(try refusal(name, days([[4.5, 10.5, 18], [4, 10.5]]))?.contains("is named for totals") == true)
    #expect(try refusal(name, days([[18], [24.5], [20]]))?.contains("one amount for each day") == true)
    // Of meals and doses with two parts, the name means the sum of the parts.
    #expect(try refusal(name, days([[4.5, 3.5, 8], [4, 10.5]])) == nil)
    #expect(try refusal(name, days([[4.5, 8]])) == nil)
    #expect(try refusal("Insulin (U)", days([[4.5, 10.5, 18], [4, 10.5]])) == nil)
  }

  @Test(arguments: [
    "Running total (U)", "Cumulative insulin", "Insulin kumuliert", "Insuline cumulée", "Insulina acumulada",
  ])
  func aColumnNamedForRunningTotalsIsRefused(_ name: String) throws {
    let message = try refusal(name, days([[4.5, 3.5]]))
    #expect(message?.contains("holds a running total") == true && message?.contains("--force") == true)
    #expect(try refusal(name, days([[4.5, 3.5]]), role: "carbs") != nil)
  }

  /// Files in the form of the data set T1D-UOM.
  private func coded(_ codes: [String], _ name: String = "insulin_kind") throws -> ScratchFile {
    let lines = codes.enumerated().map {
      "22/10/2023 1\($0.offset % 10):0\($0.offset / 10),0.\($0.offset + 1),\($0.element)\n"
    }
    return try ScratchFile("basal_ts,basal_dose,\(name)\n" + lines.joined())
  }

  private static func map(_ options: inout ExportOptions) {
    options.columns = ["time": "basal_ts", "insulin": "basal_dose"]
  }

  @Test(arguments: ["insulin_kind", "Type", "Insulinart", "dose type"])
  func codesForTheKindsOfDosesAreAQuestion(_ name: String) throws {
    for codes in [["R", "R", "R"], ["L", "L"]] {
      let message = try coded(codes, name).refusal(Self.map)
      #expect(
        message?.contains("by codes such as '\(codes[0])'") == true && message?.contains("--force") == true)
    }
    let mixed = try coded(["L", "R", "L"], name)
    let message = try #require(try mixed.refusal(Self.map))
    #expect(message.contains("--where '\(name)=L'") || message.contains("--where \(name)=L"), "\(message)")
    let chosen = try mixed.lines {
      Self.map(&$0)
      $0.rows = [RowFilter(column: name, value: "L")]
    }
    #expect(chosen.count { $0.contains("\"units\"") } == 2, "\(chosen)")
  }

  @Test func aCodeThatOnlyLaterRowsHaveIsRejected() throws {
    let text =
      "basal_ts,basal_dose,insulin_kind\n"
      + (0..<60).map { "2026-03-\(10 + $0 / 24) \($0 % 24):07,\(1 + $0 % 5),\($0 < 50 ? "basal" : "R")\n" }
      .joined()
    let export = try TextExport(text) { Self.map(&$0) }
    #expect(export.records.count == 50 && export.rejections.count == 10)
    #expect(export.rejections.first?.reason.contains("by 'insulin_kind', this may not be a dose") == true)
  }

  @Test(arguments: [
    ["Novorapid", "Lantus"], ["bolus", "basal"], ["Xyzlog", "Abclog"], ["1", "2"], ["NPH", "NPH"],
  ])
  func wordsForTheKindsOfDosesAreRead(_ kinds: [String]) throws {
    #expect(try coded(kinds).refusal(Self.map) == nil, "\(kinds)")
  }

  @Test(arguments: [
    ("Arm", ["L", "R"]), ("Meal", ["B", "L"]), ("Note", ["x", "y"]), ("Type", ["B", "Bolus"]),
  ])
  func codesInOtherColumnsAreIgnored(_ name: String, _ codes: [String]) throws {
    #expect(try coded(codes, name).refusal(Self.map) == nil, "\(name)")
  }

  /// Each row has the parts of a bolus, and the bolus in the whole units of a pen.
  @Test func aColumnWithTheSumOfTheOtherMappedColumnsIsRefused() throws {
    func table(_ whole: (Int) -> Double) throws -> ScratchFile {
      let rows = (0..<24).map { place in
        "2026-03-\(10 + place / 3) \(8 + place % 3 * 5):07,\(Double(20 + place) / 5),\(Double(place % 4) / 2),\(whole(place))\n"
      }
      return try ScratchFile("Time,Meal,Correction,Given\n" + rows.joined())
    }
    func columns(_ options: inout ExportOptions) {
      options.columns = ["time": "Time", "insulin": "Meal", "insulin2": "Correction", "insulin3": "Given"]
    }
    let sums = try table { (Double(20 + $0) / 5 + Double($0 % 4) / 2).rounded() }
    let refusal = try #require(try sums.refusal(columns))
    #expect(refusal.contains("'Given' has the sum of the other mapped columns"), "\(refusal)")
    #expect(
      try sums.refusal { $0.columns = ["time": "Time", "insulin": "Meal", "insulin2": "Correction"] } == nil)
    #expect(try table { Double(14 + $0 % 3) }.refusal(columns) == nil)
    // A plan of doses that is the same every day.
    let plan = (0..<24).map { "2026-03-\(10 + $0 / 2) \(8 + $0 % 2):07,4,8,12\n" }.joined()
    #expect(try ScratchFile("Time,Meal,Correction,Given\n" + plan).refusal(columns) == nil)
  }

  @Test(arguments: ["Dosis Calculada (U)", "Dose calculée", "Berechnete Dosis"])
  func aCalculatedDoseIsRefused(_ name: String) throws {
    #expect(try refusal(name, days([[4.5, 3.5]]))?.contains("holds what was recommended") == true)
  }
}
