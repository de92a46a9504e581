// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests tables whose rows show that they are of several persons, although no name of a column says so, and live pipes.
@Suite struct GenericPersonDataTests {
  /// Ten days with three meals, with a row for each of these words at each meal.
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

  @Test func fingerSticksThatContradictEachOtherWithinMinutesAreOfTwoPersons() throws {
    let refusal = try #require(try ScratchFile(diaries(["kitchen", "garden"])).refusal())
    #expect(
      refusal.contains("'zyx' divides the readings into series") && refusal.contains("--where"), "\(refusal)")
    #expect(try ScratchFile(diaries(["4", "9"].map { "x\($0)" })).refusal() != nil)
    // A second stick for a comparison, and sticks before and after a meal.
    #expect(try ScratchFile(diaries(["first", "second"], change: 6)).readings().readings.count == 60)
    #expect(try ScratchFile(diaries(["hungry", "full"], minutes: 40)).readings().readings.count == 60)
  }

  @Test(arguments: [
    ("room", ["12", "14"]), ("Bed", ["1", "2"]), ("Fallnummer", ["881", "882"]),
    ("mouse", ["m1", "m2"]), ("dob", ["1950-01-02", "1961-03-04"]), ("sex", ["F", "M"]),
    ("age", ["40", "66"]),
    ("profile", ["Mum", "Dad"]),
  ])
  func whatOnePersonHasOnlyOneOfDistinguishesPersons(_ name: String, _ values: [String]) throws {
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

  /// Finger sticks at other times than those of the other person.
  @Test(arguments: [
    ("Ospite", ["Anna", "Ugo"]), ("zyx", ["R.M.", "T.K."]), ("zyx", ["B-12", "B-14"]),
    ("Camper", ["Ida", "Ole"]),
  ])
  func wordsLikeNamesThatAlternateAreAQuestion(_ name: String, _ words: [String]) throws {
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
    // One after the other, words that describe, and a column that says so.
    #expect(try ScratchFile(rows(name) { words[$0 / 20] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows(name) { ["Left", "Right"][$0 % 2] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows(name) { ["calm", "busy"][$0 % 2] }).readings().readings.count == 40)
    #expect(try ScratchFile(rows("Activity") { words[$0 % 2] }).readings().readings.count == 40)
  }

  // MARK: Live pipes

  private func section(_ line: String, hour: Int) -> String {
    line + "\nTime,CGM mg/dL\n"
      + (10..<40).map { "2026-05-01 \(hour):\($0),\(80 + $0 * 7 % 31)\n" }.joined()
  }

  @Test(arguments: [("Patient: Ben", 30), ("Patient: Anna", 60)])
  func theSectionOfAnotherPersonIsNotReadFromALivePipe(_ line: String, _ count: Int) throws {
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
