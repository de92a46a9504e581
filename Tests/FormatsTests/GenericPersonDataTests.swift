// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests tables whose rows show that they are of several persons, although no column name states it. Also
/// tests live pipes with sections of several persons.
@Suite struct GenericPersonDataTests {
  /// A table of ten days with three meals a day. Each meal has a row for each of these words, at this
  /// interval and with values that differ by `change`.
  private func diaries(_ words: [String], minutes: Int = 3, change: Int = 60) -> String {
    var text = "time,glucose,zyx\n"
    for day in 10..<20 {
      for (meal, hour) in ["07", "12", "18"].enumerated() {
        for (place, word) in words.enumerated() {
          text += "2026-05-\(day) \(hour):\(10 + place * minutes),"
          text += "\(95 + (day * 7 + meal * 5) % 20 + place * change),\(word)\n"
        }
      }
    }
    return text
  }

  @Test func fingerSticksThatContradictWithinMinutesShowTwoPersons() throws {
    let refusal = try #require(try ScratchFile(diaries(["kitchen", "garden"])).refusal())
    #expect(
      refusal.contains("'zyx' divides the readings into series") && refusal.contains("--where"), "\(refusal)")
    #expect(try ScratchFile(diaries(["4", "9"].map { "x\($0)" })).refusal() != nil)
    // The table is read if one person may have repeated a finger stick, or measured before and after a meal.
    #expect(try ScratchFile(diaries(["first", "second"], change: 6)).readings().readings.count == 60)
    #expect(try ScratchFile(diaries(["hungry", "full"], minutes: 40)).readings().readings.count == 60)
  }

  @Test(arguments: [
    ("room", ["12", "14"]), ("Bed", ["1", "2"]), ("Fallnummer", ["881", "882"]),
    ("mouse", ["m1", "m2"]), ("dob", ["1950-01-02", "1961-03-04"]), ("sex", ["F", "M"]),
    ("age", ["40", "66"]),
    ("profile", ["Mum", "Dad"]),
  ])
  func aColumnSuchAsBedOrBirthDateDistinguishesPersons(_ name: String, _ values: [String]) throws {
    func rows(_ count: Int) -> String {
      "date,glucose,\(name)\n"
        + (0..<28).map {
          "2026-05-\(10 + $0 / 2) \(10 + $0 % 2 * 5):02,\(100 + $0 * 37 % 71),\(values[$0 % count])\n"
        }
        .joined()
    }
    let refusal = try #require(try ScratchFile(rows(2)).refusal())
    #expect(refusal.contains("'\(name)' distinguishes persons"), "\(refusal)")
    #expect(try ScratchFile(rows(1)).readings().readings.count == 28)
  }

  /// The finger sticks of two persons, who never measure at the same time.
  @Test(arguments: [
    ("Ospite", ["Anna", "Ugo"]), ("zyx", ["R.M.", "T.K."]), ("zyx", ["B-12", "B-14"]),
    ("Camper", ["Ida", "Ole"]),
  ])
  func alternatingWordsThatLookLikeNamesRequireARowFilter(_ name: String, _ words: [String]) throws {
    func rows(_ name: String, _ word: (Int) -> String) -> String {
      "date,glucose,\(name)\n"
        + (0..<40).map { "2026-05-\(10 + $0 / 2) \(10 + $0 % 2 * 5):02,\(100 + $0 * 37 % 71),\(word($0))\n" }
        .joined()
    }
    let file = try ScratchFile(rows(name) { words[$0 % 2] })
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)' may be names") && refusal.contains("--where"), "\(refusal)")
    #expect(!refusal.contains(words[0]), "\(refusal)")
    let map = ["time": "date", "value": "glucose"]
    #expect(try file.refusal { $0.columns = map } != nil)
    #expect(try file.readings { $0.columns = map.merging(["note": name]) { $1 } }.readings.count == 40)
    // The table is read if the words do not alternate, if they describe the reading, or if their column is
    // named for a description.
    #expect(try ScratchFile(rows(name) { words[$0 / 20] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows(name) { ["Left", "Right"][$0 % 2] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows(name) { ["calm", "busy"][$0 % 2] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows("Activity") { words[$0 % 2] }).readings().readings.count == 40)
  }

  /// A table of finger sticks on twelve days, at these minutes of each day. The closures return the word and
  /// the value of a row by its number.
  private func sticks(
    _ name: String, minutes: [Int], _ word: (Int) -> String, _ value: (Int) -> Int = { 100 + $0 * 37 % 71 }
  ) -> String {
    (0..<12 * minutes.count).reduce(into: "date,glucose,\(name)\n") { text, row in
      let minute = minutes[row % minutes.count]
      let time = DeviceTime(seconds: 1_777_593_600 + Int64(row / minutes.count * 1440 + minute) * 60).text
      text += "\(time),\(value(row)),\(word(row))\n"
    }
  }

  private static let meals = [430, 740, 1100, 1330]

  @Test func wordsForTheReasonOfAReadingAreNotTakenForNames() throws {
    // The words are reasons for a finger stick, and are not in any list of known words.
    let reasons = [0, 3, 5, 6, 10, 13, 14, 19, 21, 25, 27, 28, 32, 35, 38, 41, 46]
    let text = sticks("zyx", minutes: Self.meals) { reasons.contains($0) ? "Sensorwechsel" : "Routine" }
    #expect(try ScratchFile(text).readings().readings.count == 48)
    #expect(
      try ScratchFile(sticks("Anlass", minutes: Self.meals) { ["Sensorwechsel", "Routine"][$0 % 2] })
        .readings()
        .readings.count == 48)
    // The table is refused if two persons measure at the same meals, in either order.
    let meals = [430, 450, 740, 755, 1100, 1140]
    let persons = sticks("zyx", minutes: meals) { ["Ida", "Ole", "Ole", "Ida"][($0 + $0 / 6) % 4] }
    #expect(try ScratchFile(persons).refusal()?.contains("--where") == true)
  }

  @Test func aTableOfTwoPersonsWithLowercaseNamesIsRefusedIfTheirReadingsContradict() throws {
    let meals = [430, 460, 740, 775, 1100, 1140]
    let words = ["anna", "ben", "ben", "anna"]
    func value(_ row: Int) -> Int {
      ["anna": 100, "ben": 170][words[(row + row / 6) % 4], default: 0] + row % 9
    }
    let persons = sticks("zyx", minutes: meals, { words[($0 + $0 / 6) % 4] }, value)
    #expect(try ScratchFile(persons).refusal()?.contains("'zyx' divides the readings") == true)
    // A person who measures before and after each meal has the same two words in a fixed order, so the table
    // is read.
    let text = sticks(
      "zyx", minutes: meals, { ["hungry", "full"][$0 % 2] }, { [100, 170][$0 % 2] + $0 % 9 })
    #expect(try ScratchFile(text).readings().readings.count == 72)
    #expect(
      try ScratchFile(sticks("zyx", minutes: Self.meals) { ["mum", "dad"][$0 % 2] }).refusal()?.contains(
        "may be names") == true)
  }

  @Test func namesOfPersonsAreFoundNextToWordsForPlacesAndDevices() throws {
    for (name, words) in [
      ("zyx", ["Ida (home)", "Ole (school)"]), ("Meter user", ["Ida", "Ole"]),
      ("Device holder", ["Ida", "Ole"]),
    ] {
      let text = sticks(name, minutes: Self.meals) { words[$0 % 2] }
      #expect(try ScratchFile(text).refusal() != nil, "\(name)")
    }
    for (name, words) in [
      ("zyx", ["Left hand", "Right hand"]), ("zyx", ["Left Thumb", "Right Index"]),
      ("Time of day", ["Ida", "Ole"]),
      ("Place of test", ["Ida", "Ole"]),
    ] {
      let text = sticks(name, minutes: Self.meals) { words[$0 % 2] }
      #expect(try ScratchFile(text).readings().readings.count == 48, "\(name)")
    }
  }

  @Test func anIDThatNumbersDaysIsNotAPerson() throws {
    let days = sticks("ID", minutes: Self.meals) { String($0 / 4 + 1) }
    #expect(try ScratchFile(days).readings().readings.count == 48)
    for persons in [
      sticks("ID", minutes: Self.meals) { String($0 % 4 + 1) },
      sticks("ID", minutes: Self.meals) { String($0 / 24) },
    ] { #expect(try ScratchFile(persons).refusal()?.contains("'ID' distinguishes persons") == true) }
  }

  @Test func aProfileOfAPumpIsNotAPerson() throws {
    for (first, second) in [("Weekday", "Weekend"), ("Profile 1", "Profile 2"), ("A", "B")] {
      let text = sticks("profile", minutes: Self.meals + [600, 900]) { $0 / 6 % 7 < 5 ? first : second }
      #expect(try ScratchFile(text).readings().readings.count == 72, "\(first)")
    }
    let persons = sticks("profile", minutes: Self.meals) { $0 < 24 ? "A" : "B" }
    #expect(try ScratchFile(persons).refusal()?.contains("'profile' distinguishes persons") == true)
  }

  // MARK: Live pipes

  private func section(_ line: String, hour: Int) -> String {
    line + "\nTime,CGM mg/dL\n"
      + (10..<40).map { "2026-05-01 \(hour):\($0),\(80 + $0 * 7 % 31)\n" }.joined()
  }

  @Test(arguments: [("Patient: Ben", 30), ("Patient: Anna", 60)])
  func theSectionOfASecondPersonInALivePipeIsNotRead(_ line: String, _ count: Int) throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let bytes = Array((section("Patient: Anna", hour: 10) + section(line, hour: 12)).utf8)
    try #require(write(ends[1], bytes, bytes.count) == bytes.count)
    var reader = try InputReader(descriptor: ends[0], name: "-", options: Rendering.options())
    close(ends[1])
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    #expect(batch.readings.count == count)
    #expect(batch.rejections.count { $0.reason.contains("of another person") } == 60 - count)
  }
}
