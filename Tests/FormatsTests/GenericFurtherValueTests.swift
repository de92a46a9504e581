// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests tables with two columns of glucose, where rows without a value in the first have one in the second.
@Suite struct GenericFurtherValueTests {
  /// Two rows a day: one with a value in the first column, and one with a value in the second.
  private static func table(
    _ first: String, _ second: String, values: [String] = ["112", "98", "121"],
    others: [String] = ["182", "164", "201"]
  ) -> String {
    (1...12).reduce(into: "Date,Time,\(first),\(second)\n") { text, day in
      let date = (day < 10 ? "2026-05-0" : "2026-05-") + "\(day)"
      text += "\(date),07:\(10 + day),\(values[day % values.count]),\n"
      text += "\(date),19:\(20 + day),,\(others[day % others.count])\n"
    }
  }

  @Test(arguments: [
    ("Sensor glucose (mg/dL)", "Meter"), ("Glucose", "Reading"), ("Glucose", "Corrected glucose"),
    ("Glucose reading", "Lab glucose"), ("glucose", "glucose_2h"), ("Blutzucker", "Wert abends"),
    ("Glucose", "Evening"),
  ])
  func aTableWithSomeValuesOnlyInAnotherColumnIsRefusedUntilMapped(_ first: String, _ second: String) throws {
    let file = try ScratchFile(Self.table(first, second))
    let refusal = try #require(try file.refusal(), "\(second)")
    #expect(refusal.contains("12 rows without a value in '\(first)' have one in '\(second)'"), "\(refusal)")
    for name in [first, second] {
      #expect(refusal.contains("value=\(name)"), "\(refusal)")
      let map = ["date": "Date", "clock": "Time", "value": name]
      #expect(try file.readings { $0.columns = map }.readings.count == 12, "\(name)")
    }
    #expect(try file.readings { $0.force = true }.readings.count == 12)
  }

  @Test func dosesInAnotherColumnAreNotSuggestedAsGlucose() throws {
    let lines = Self.table("Glucose", "Reading").split(separator: "\n")
    let rows = lines.dropFirst().map { $0 + ($0.hasSuffix(",") ? "," : ",Rapid") + "\n" }
    let refusal = try ScratchFile(lines[0] + ",Insulin Type\n" + rows.joined()).refusal()
    let message = try #require(refusal)
    #expect(message.contains("'Rapid' in 'Insulin Type'") && !message.contains("value="), "\(message)")
  }

  @Test func furtherValuesAreFoundOnlyInTheRangeOfTheGlucoseUnit() throws {
    let values = ["5.6", "7.1", "6.0"]
    let readings = Self.table("Glucose", "Reading", values: values, others: ["10.2", "9.1", "12.4"])
    #expect(try ScratchFile(readings).refusal()?.contains("'Reading'") == true)
    // In a table in mmol/L, whole numbers are not taken for further glucose values, and numbers such as 182
    // are too high.
    for others in [["182", "164", "201"], ["3", "4", "5"]] {
      let text = Self.table("Glucose", "Reading", values: values, others: others)
      #expect(try ScratchFile(text).readings().readings.count == 12, "\(others)")
    }
  }

  @Test(arguments: [
    ("Steps", ["120", "340"]), ("Heart rate", ["72", "88"]), ("Carbs (g)", ["45", "60"]),
    ("Insulin", ["22", "30"]), ("Weight", ["80", "81"]), ("Body heat", ["36.6", "37.1"]),
    ("Mood", ["3", "4"]), ("Walk (min)", ["45", "60"]), ("glucose_pred", ["120", "140"]),
    ("Target glucose", ["120", "140"]),
  ])
  func unrelatedNumbersInRowsWithoutAValueAreIgnored(_ name: String, _ others: [String]) throws {
    let text = Self.table("Glucose", name, others: others)
    #expect(try ScratchFile(text).readings().readings.count == 12)
  }

  /// The charge of a battery is in every row, also in a row without glucose. It is not taken for the missing
  /// value.
  @Test func numbersInRowsThatHaveAValueAreIgnored() throws {
    let rows = (0..<60).map { minute in
      "2026-05-01 07:\(minute < 10 ? "0" : "")\(minute),\(minute % 9 == 4 ? "" : "\(100 + minute)"),\(99 - minute)\n"
    }
    let file = try ScratchFile("time,glucose,charge\n" + rows.joined())
    #expect(try file.readings().readings.count == 53)
  }

  @Test func jsonObjectsWithSomeValuesInAnotherMemberAreRefused() throws {
    func list(_ member: String) throws -> ScratchFile {
      let objects = (1...6).flatMap { day in
        [
          #"{"time":"2026-05-0\#(day)T07:10:00","glucose":11\#(day)}"#,
          #"{"time":"2026-05-0\#(day)T19:20:00","\#(member)":18\#(day)}"#,
        ]
      }
      return try ScratchFile("[" + objects.joined(separator: ",") + "]")
    }
    #expect(try list("evening").refusal()?.contains("have one in 'evening'") == true)
    #expect(try list("heart_rate").readings().readings.count == 6)
  }

  /// A long table is not checked to its end before the import. So a row near its end that has its value in
  /// another column is rejected, and the other rows are read.
  @Test func aRowWithItsValueInAnotherColumnAfterManyRowsIsRejected() throws {
    let start: Int64 = 1_770_000_000 / 86_400 * 86_400
    var text = "time,sensor glucose (mg/dL),meter\n"
    for row in 0..<20_100 {
      text += "\(DeviceTime(seconds: start + Int64(row) * 300).text),\(100 + row % 90),\n"
    }
    let file = try ScratchFile(
      text + "\(DeviceTime(seconds: start + 20_101 * 300).text),,182\n"
        + "\(DeviceTime(seconds: start + 20_102 * 300).text),,\n")
    let result = try file.readings()
    #expect(result.readings.count == 20_100)
    #expect(result.rejections.map(\.line) == [20_102])
    #expect(result.rejections.first?.reason.contains("another column may hold one") == true)
  }
}
