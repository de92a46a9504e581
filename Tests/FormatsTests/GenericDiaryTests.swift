// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests tables of finger sticks as people write them, and similar tables that must not be read.
@Suite struct GenericDiaryTests {
  private static let values = [112, 98, 134, 105, 91, 127, 143, 118, 102, 95, 121, 109, 137, 99]

  /// A table of fourteen days with these times of day. The closure makes each row from its date, time,
  /// position in the day and value.
  private func table(
    _ header: String, times: [String] = ["07:05", "12:10", "18:20"],
    row: (_ date: String, _ time: String, _ place: Int, _ value: Int) -> String = { "\($0),\($1),\($3)" }
  ) -> String {
    var text = header + "\n"
    for day in 0..<14 {
      for (place, time) in times.enumerated() {
        text += row("2026-05-\(10 + day)", time, place, Self.values[(day * times.count + place) % 14]) + "\n"
      }
    }
    return text
  }

  private func readings(_ text: String) throws -> [Reading] {
    let result = try ScratchFile(text).readings()
    #expect(result.rejections.isEmpty)
    return result.readings
  }

  // MARK: One value a day

  @Test(arguments: [
    "time,fasting glucose (mg/dL)", "time,bgm", "time,FBS", "time,Glucose before breakfast",
    "time,Glycémie à jeun",
  ])
  func aDiaryWithOneFingerStickPerDayIsRead(_ header: String) throws {
    let text = table(header, times: ["07:00"]) { "\($0) \($1),\($3)" }
    #expect(try readings(text).map(\.kind) == Array(repeating: .smbg, count: 14))
  }

  @Test func aDiaryWithAColumnOfTimesOrOfKindsIsRead() throws {
    #expect(try readings(table("Date,Time,Blood sugar (mg/dL)", times: ["07:00"])).count == 14)
    let kinds = table("time,type,glucose", times: ["07:00"]) { "\($0) \($1),fingerstick,\($3)" }
    #expect(try readings(kinds).count == 14)
  }

  @Test(arguments: [
    // The columns have no word for finger sticks, have decimals, are next to a standard deviation, or name a
    // sensor.
    ("time,glucose (mg/dL)", "07:00", ""),
    ("time,fasting glucose (mg/dL)", "07:00", ".37"), ("time,fasting glucose (mg/dL),SD", "07:00", ",12"),
    ("time,bgm,trend", "07:00", ",flat"), ("time,cgm", "07:00", ""),
  ])
  func aTableOfDailyAveragesIsRefused(_ header: String, _ time: String, _ rest: String) throws {
    let text = table(header, times: [time]) { "\($0) \($1),\($3)\(rest)" }
    let message = try #require(try ScratchFile(text).refusal())
    #expect(message.contains("one value for each day"), "\(message)")
    let midnight = text.replacing(" \(time),", with: " 00:00,")
    #expect(try ScratchFile(midnight).refusal() != nil)
  }

  // MARK: A date in the first row of a day

  @Test func aDateOnlyInTheFirstDiaryRowOfADayAppliesToTheDay() throws {
    let header = "Date,Time,Glucose (mg/dL)"
    let full = try readings(table(header)).map(\.deviceTime)
    let merged = table(header) { "\($2 == 0 ? $0 : ""),\($1),\($3)" }
    #expect(try readings(merged).map(\.deviceTime) == full)
    let newestFirst = (0..<14).reversed().map { "2026-05-\(10 + $0),18:20,112\n,12:10,98\n,07:05,134\n" }
    #expect(
      try readings("\(header)\n\(newestFirst.joined())").map(\.deviceTime) == full.reversed())
    // If the dates ascend but the times within each day descend, the date of a row without one is uncertain
    // and the row is rejected.
    let crossed = newestFirst.reversed().joined()
    #expect(try ScratchFile("\(header)\n\(crossed)").readings().readings.count == 14)
  }

  @Test func aRowWithoutADateIsRejectedIfItsTimeGoesBack() throws {
    let rows = "2026-05-01,07:05,112\n,12:10,98\n,06:50,134\n,12:00,105\n2026-05-03,07:00,91\n"
    let result = try ScratchFile("Date,Time,Glucose (mg/dL)\n\(rows)").readings()
    #expect(
      result.readings.map(\.deviceTime.text) == [
        "2026-05-01T07:05:00", "2026-05-01T12:10:00", "2026-05-03T07:00:00",
      ])
    #expect(result.rejections.map(\.line) == [4, 5])
    // An empty row ends the day. If the first row has no date, no row gets the date of the row above.
    let gap = "2026-05-01,07:05,112\n,12:10,98\n,,\n,18:00,134\n2026-05-02,07:05,112\n"
    #expect(try ScratchFile("Date,Time,Glucose (mg/dL)\n\(gap)").readings().readings.count == 3)
    let blank = gap.replacing(",,\n", with: "\n")
    #expect(try ScratchFile("Date,Time,Glucose (mg/dL)\n\(blank)").readings().readings.count == 3)
    let first = ",07:05,112\n2026-05-01,12:10,98\n,18:00,134\n2026-05-02,07:05,112\n"
    #expect(try ScratchFile("Date,Time,Glucose (mg/dL)\n\(first)").readings().readings.count == 2)
  }

  @Test(arguments: [
    ("2026-05-01,22:24,137", "2026-05-02,22:22,95", "2026-05-03,22:40,101"),
    ("01.05.2026,22:24,137", "02.05.2026,22:22,95", "03.05.2026,22:40,101"),
    ("5/1/2026,10:24 PM,137", "5/2/2026,10:22 PM,95", "5/13/2026,10:40 PM,101"),
  ])
  func aDiaryTimeAfterMidnightDoesNotGetTheDateOfTheEvening(
    _ first: String, _ second: String, _ third: String
  ) throws {
    let night = first.contains("PM") ? "3:34 AM" : "03:34"
    let text = "Date,Time,Glucose (mg/dL)\n\(first)\n,\(night),86\n\(second)\n,\(night),87\n\(third)\n"
    let result = try ScratchFile(text).readings()
    #expect(result.readings.compactMap { $0.measurement.quantity?.number } == [137, 95, 101])
    #expect(result.rejections.map(\.line) == [3, 5])
    // In a table with the newest row first, a time after midnight below an evening time is of the same day.
    let newestFirst = "Date,Time,Glucose (mg/dL)\n\(third)\n,\(night),87\n\(second)\n,\(night),86\n"
    #expect(try readings(newestFirst).count == 4)
    let late = newestFirst.replacing(",\(night),86", with: night == "03:34" ? ",23:34,86" : ",11:34 PM,86")
    #expect(try ScratchFile(late).readings().rejections.map(\.line) == [5])
  }

  @Test func aDiaryWithoutAnOrderOfDatesNeedsADateInEachRow() throws {
    let header = "Date,Time,Glucose (mg/dL)\n"
    let single = try ScratchFile("\(header)2026-05-01,07:05,112\n,12:10,98\n").readings()
    #expect(single.readings.count == 1 && single.rejections.map(\.line) == [3])
    let mixed = "2026-05-02,07:05,112\n,12:10,98\n2026-05-01,07:10,105\n2026-05-03,07:20,91\n"
    let result = try ScratchFile(header + mixed).readings()
    #expect(result.readings.count == 3 && result.rejections.map(\.line) == [3])
    // JSON objects have no merged cells, so an object without a date does not get the date of the object
    // before.
    let rows = [(#""2026-05-01""#, "07:05"), ("null", "12:10"), (#""2026-05-02""#, "07:10")].map {
      #"{"date":\#($0),"time":"\#($1)","glucose_mgdl":112}"#
    }
    let objects = try ScratchFile("[\(rows.joined(separator: ","))]").readings()
    #expect(objects.readings.count == 2 && objects.rejections.count == 1)
  }

  // MARK: Words for meals

  @Test func mealWordsInAKindColumnAreNotReadAsKindsOfReadings() throws {
    let words = ["Fasting", "Postprandial", "Before dinner"]
    let text = table("Date,Time,Type,Glucose (mg/dL)") { "\($0),\($1),\(words[$2]),\($3)" }
    #expect(try readings(text).map(\.kind) == Array(repeating: .smbg, count: 42))
    let nameless = table("Date,Time,Type,Value,Unit") { "\($0),\($1),\(words[$2]),\($3),mg/dL" }
    #expect(try ScratchFile(nameless).refusal() != nil)
    let target = table("Date,Time,Type,Glucose (mg/dL)") {
      "\($0),\($1),\($2 == 1 ? "Target" : "Fasting"),\($3)"
    }
    #expect(try ScratchFile(target).refusal()?.contains("'Type' has kinds of rows") == true)
    let late = try TextExport(text + "2026-05-30,07:05,Target,110\n")
    #expect(late.readings.count == 42 && late.skipped == ["target": 1])
  }

  @Test func aColumnNamedNameMayContainMealsButNotPersons() throws {
    let meals = ["Breakfast", "Lunch", "Before dinner"]
    let text = table("Date,Time,Name,Glucose (mg/dL)") { "\($0),\($1),\(meals[$2]),\($3)" }
    #expect(try readings(text).count == 42)
    let persons = table("Date,Time,Name,Glucose (mg/dL)") {
      "\($0),\($1),\($2 == 1 ? "Anna" : "Lunch"),\($3)"
    }
    #expect(try ScratchFile(persons).refusal()?.contains("'Name' distinguishes persons") == true)
  }

  @Test(arguments: [
    "Glucose before breakfast", "Glycémie à jeun", "FBS", "RBS", "BSL", "PPBS", "FBG", "GRBS", "BS mg/dl",
    "Glicemia a digiuno", "Glicemia em jejum", "Glykémia nalačno", "Nüchternblutzucker", "Nuchtere glucose",
    "Random blood sugar (mg/dL)", "Blood sugar after meal", "Glucose after lunch (mg/dL)", "Pre-meal glucose",
    "BG before dinner",
  ])
  func aColumnNamedForGlucoseAtAMealIsRead(_ name: String) throws {
    let rows = table("time,\(name)", times: ["07:05", "12:11"]) { "\($0) \($1),\($3)" }
    #expect(try readings(rows).count == 28)
  }

  @Test(arguments: [
    "BS", "PPG", "FPG", "HGT", "Sugar", "glucose before", "glucose lunch", "glucose a",
    "glucose 2h after meal",
    "Glucose 2 hours post meal", "OGTT after meal", "time before breakfast", "meal glucose target",
  ])
  func aColumnWithAnAmbiguousNameForGlucoseIsRefused(_ name: String) throws {
    let rows = table("time,\(name)", times: ["07:05", "12:11"]) { "\($0) \($1),\($3)" }
    #expect(try ScratchFile(rows).refusal() != nil)
  }

  // MARK: Times of day

  @Test(arguments: [
    ["7h05", "12h10", "20h30"], ["7 h 05", "12 h 10", "20 h 30"],
    ["7:05 a. m.", "12:10 p. m.", "8:30 p. m."],
    ["7:05\u{A0}a.\u{A0}m.", "12:10\u{A0}p.\u{A0}m.", "8:30\u{202F}p.\u{202F}m."],
    ["7:05a", "12:10p", "8:30p"],
    ["7.05am", "12.10pm", "8.30pm"], ["07:05 Uhr", "12:10 Uhr", "20:30 Uhr"],
    ["07:05 h", "12:10 h", "20:30 hs"],
    ["0705", "1210", "2030"], ["kl. 07.05", "kl. 12.10", "kl. 20.30"],
  ])
  func aTimeOfDayIsReadInEveryNotationThatPeopleUse(_ times: [String]) throws {
    let expected = (0..<14).flatMap { day in
      ["07:05", "12:10", "20:30"].map { "2026-05-\(10 + day)T\($0):00" }
    }
    let parts = table("Date,Time,Glucose (mg/dL)", times: times)
    #expect(try readings(parts).map(\.deviceTime.text) == expected)
    let whole = table("Time,Glucose (mg/dL)", times: times) { date, time, _, value in
      "\(date.suffix(2)).05.2026 \(time),\(value)"
    }
    #expect(try readings(whole).map(\.deviceTime.text) == expected)
  }

  @Test func fullHoursAreReadInEveryNotationThatPeopleUse() throws {
    let expected = (0..<14).flatMap { day in
      ["07:00", "12:00", "20:00"].map { "2026-05-\(10 + day)T\($0):00" }
    }
    for times in [["7h", "12h", "20h"], ["7 AM", "12pm", "8 p.m."]] {
      let text = table("Date,Time,Glucose (mg/dL)", times: times)
      #expect(try readings(text).map(\.deviceTime.text) == expected)
    }
  }

  @Test(arguments: [
    // The texts are minutes since midnight, times that do not exist, or texts that may not be times of day.
    ["425", "730", "1230"], ["7", "12", "20"], ["0765", "1210", "2030"], ["13h05 pm", "1h77", "7x05"],
    ["7-05", "12-10", "20-30"], ["7:05 apr", "12:10 pdt", "8:30 ah"], ["7 hours", "12 hours", "20 hours"],
  ])
  func invalidTextsAreNotReadAsTimesOfDay(_ times: [String]) throws {
    #expect(try ScratchFile(table("Date,Time,Glucose (mg/dL)", times: times)).refusal() != nil)
  }

  // MARK: Values with their unit

  @Test func aUnitWrittenAfterEachNumberIsRead() throws {
    let text = table("Date,Time,Glucose") { "\($0),\($1),\($3) mg/dL" }
    #expect(try readings(text).first?.measurement.quantity?.number == 112)
    let small = table("Date,Time,Glucose result") { "\($0),\($1),\"\($3 / 18),\($3 % 10)mmol/l\"" }
    #expect(try readings(small).first?.measurement.quantity?.unit == .millimolesPerLitre)
    // The unit in the header applies only to cells without a unit.
    let both = table("Date,Time,Glucose (mmol/L)") { "\($0),\($1),\($3) mg/dL" }
    #expect(try readings(both).first?.measurement.quantity?.unit == .milligramsPerDecilitre)
  }

  @Test(arguments: ["mg", "mmol/mol", "g/L", "U"])
  func anUnknownUnitAfterEachNumberIsRefused(_ unit: String) throws {
    let text = table("Date,Time,Glucose") { "\($0),\($1),\($3) \(unit)" }
    #expect(try ScratchFile(text).refusal() != nil)
  }

  /// Cholesterol is also measured in mg/dL, and potassium in mmol/L.
  @Test(arguments: [
    ("Date,Time,Result", "mg/dL"), ("Date,Time,Value", "mmol/L"), ("Datum,Uhrzeit,Wert", "mg/dl"),
    ("Sample date,Sample time,Value", "mg/dL"),
  ])
  func aUnitAfterEachNumberDoesNotShowThatAColumnIsGlucose(_ header: String, _ unit: String) throws {
    let text = table(header) { "\($0),\($1),\($3 / (unit == "mmol/L" ? 18 : 1)) \(unit)" }
    let message = try #require(try ScratchFile(text).refusal())
    let names = header.split(separator: ",").map(String.init)
    #expect(message.contains("'\(names[2])' does not say that it holds glucose"), "\(message)")
    let map = ["date": names[0], "clock": names[1], "value": names[2]]
    #expect(try ScratchFile(text).readings { $0.columns = map }.readings.count == 42)
    #expect(try readings("Blood glucose\n\n\(text)").count == 42)
  }

  @Test func aValueWithoutAUnitAmongValuesWithUnitsIsJudgedByItsSize() throws {
    let text = table("Date,Time,Glucose") { "\($0),\($1),\($3) mg/dL" }
    let large = try readings(text + "2026-05-30,07:05,112\n").last?.measurement.quantity
    #expect(large?.number == 112 && large?.unit == .milligramsPerDecilitre)
    #expect(try ScratchFile(text + "2026-05-30,07:05,20\n").refusal()?.contains("use --unit") == true)
    let implausible = table("Date,Time,Glucose") { "\($0),\($1),\($3 * 9) mg/dL" }
    #expect(try ScratchFile(implausible).refusal()?.contains("outside of 20 to 600") == true)
  }

  @Test func theUnitNextToANestedJSONValueIsRead() throws {
    func objects(_ unit: String, in name: String = "glucose") -> String {
      let rows = (10..<16).map { hour in
        #"{"time":"2026-05-01T\#(hour):05:00","\#(name)":{"value":\#(hour - 5),"unit":"\#(unit)"}}"#
      }
      return "[\(rows.joined(separator: ","))]"
    }
    #expect(
      try readings(objects("mmol/L")).map(\.measurement).allSatisfy {
        $0.quantity?.unit == .millimolesPerLitre
      })
    #expect(try ScratchFile(objects("mmol/mol")).refusal()?.contains("'mmol/mol'") == true)
    #expect(try ScratchFile(objects("mmol/L", in: "result")).refusal() != nil)
  }

  // MARK: A sensor and finger sticks

  @Test(arguments: ["CGM,BGM", "Sensor glucose (mg/dL),Fingerstick (mg/dL)", "smbg_mgdl,cgm_mgdl"])
  func aSensorAndFingerSticksAreReadInOneImport(_ names: String) throws {
    let isSensorFirst = !names.hasPrefix("smbg")
    func text(every interval: Int) -> String {
      (0..<60).reduce(into: "time,\(names)\n") { text, row in
        let stick = row % interval == 0 ? "\(90 + row)" : ""
        let minute = row * 5 % 60
        let time = "2026-05-01 \(10 + row / 12):\(minute < 10 ? "0" : "")\(minute)"
        let sensor = "\(120 + row * 7 % 31)"
        text += isSensorFirst ? "\(time),\(sensor),\(stick)\n" : "\(time),\(stick),\(sensor)\n"
      }
    }
    let all = try readings(text(every: 20))
    #expect(all.filter { $0.kind == .cbg }.count == 60)
    #expect(
      all.filter { $0.kind == .smbg }.compactMap { $0.measurement.quantity?.number } == [90, 110, 130])
    // A finger stick in every row is a copy that a program made of the last finger stick, so the table is
    // refused.
    let message = try #require(try ScratchFile(text(every: 1)).refusal())
    #expect(message.contains("has a value every few minutes") && message.contains("value="), "\(message)")
    #expect(try ScratchFile(text(every: 20)).refusal { $0.kind = .smbg } != nil)
  }
}
