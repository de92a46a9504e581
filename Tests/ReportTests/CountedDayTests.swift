// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests how a day shows counted items and items that are left out.
struct CountedDayTests {
  private static let midnight = Time.at("2026-03-02")
  private static let diary = CountingSource(format: "mysugr")
  private static let phone = CountingSource(format: "apple-health", part: "iPhone")
  private static let placement = Placement(utcOffset: 0, source: .stated)

  private static func dose(_ note: String, _ source: CountingSource) -> (RecordFields, CountableItem?) {
    var fields = RecordFields(["units": .number(4), "subtype": .text("rapid")])
    if !note.isEmpty { fields["text"] = .text(note) }
    let time = DeviceTime(seconds: midnight + 8 * 3600)
    let item = CountableItem(
      .insulin, fields, id: source.text, deviceTime: time, placement: placement, source: source)
    return (fields, item)
  }

  /// The picture of a day to which `add` adds the items.
  private static func picture(_ add: (inout DayTally) -> Void) -> DayPicture? {
    let period = Period(start: midnight, end: midnight + 86400)
    var days = DayTally(period, sourceName: { $0.format == "mysugr" ? "mySugr" : "the phone" }) { _ in 0 }
    add(&days)
    let figures = Statistics(Statistics.Options()).finish { _ in 0 }.total
    return days.finish().first.map {
      DayPicture($0, figures, .standard, GlucoseText(.milligramsPerDecilitre), zone: "UTC")
    }
  }

  private static func add(
    _ days: inout DayTally, _ fields: RecordFields, _ verdict: CountVerdict
  ) {
    let time = DeviceTime(seconds: midnight + 8 * 3600)
    days.add(.insulin, fields, deviceTime: time, placement: placement, verdict)
  }

  @Test func itemsLeftOutOfTheTotalsAreDrawnGreyWithTheReason() throws {
    let picture = try #require(
      Self.picture { days in
        Self.add(&days, Self.dose("", Self.diary).0, .counts(alsoIn: []))
        Self.add(&days, Self.dose("", Self.phone).0, .repeats("x", Self.diary))
        Self.add(&days, Self.dose("", Self.phone).0, .notChosen)
        days.add(Reading.finger(110, at: Self.midnight + 3600), .repeats("y", Self.diary))
      })
    let expected = [
      "01:00: finger stick 110 (also in mySugr, not counted)",
      "08:00 insulin 4 U rapid (also in mySugr, not counted)",
      "08:00 insulin 4 U rapid (another source was chosen, not counted)",
    ]
    #expect(picture.sentences.suffix(3) == ArraySlice(expected.map { $0 + "." }))
    let lines = picture.lines(PlotSigns(isASCII: true), columns: 120).suffix(3)
    #expect(lines.map(\.text) == expected)
    #expect(lines.allSatisfy { $0.pieces.map(\.role) == [.leftOut] })
    // Items that are left out are in no sum and not in the curve.
    let amounts = picture.lines(PlotSigns(isASCII: true), columns: 120).map(\.text)
    #expect(amounts.count { $0.hasPrefix("   U |") } == 1)
    #expect(amounts.first { $0.hasPrefix("   U |") }?.count { $0 == "4" } == 1)
    #expect(!amounts.contains { $0.hasPrefix("Finger sticks") || $0.contains("o finger stick") })
  }

  @Test func aDayShowsItemsLeftOutOfTheTotalsEvenIfItHasNoOthers() throws {
    let picture = try #require(
      Self.picture { Self.add(&$0, Self.dose("", Self.phone).0, .notChosen) })
    let line = "08:00 insulin 4 U rapid (another source was chosen, not counted)"
    #expect(picture.lines(PlotSigns(isASCII: true), columns: 120).map(\.text).dropFirst() == [line])
    #expect(picture.sentences.dropFirst() == [line + "."])
  }

  @Test func theDayShowsTheNoteOfARepeatedItemFromTheOtherSource() throws {
    let other = try #require(Self.dose("in\u{1B}the train", Self.phone).1)
    let same = try #require(Self.dose("own", Self.diary).1)
    let picture = try #require(
      Self.picture { days in
        let others = [Repetition(other), Repetition(same)]
        Self.add(&days, Self.dose("own", Self.diary).0, .counts(alsoIn: others))
      })
    let line = try #require(picture.sentences.last)
    #expect(line.hasPrefix("08:00 insulin 4 U rapid own (also in mySugr, the phone: in"))
    #expect(line.hasSuffix("the train).") && !line.contains("\u{1B}"))
  }

  @Test func theDayShowsTheMarksOfARepeatedItemFromTheOtherSource() throws {
    let item = try #require(
      CountableItem(
        .smbg, .value(Quantity(110, .milligramsPerDecilitre)), marks: [.beforeMeal, .manual], id: "z",
        deviceTime: DeviceTime(seconds: Self.midnight), placement: Self.placement, source: Self.phone))
    let picture = try #require(
      Self.picture {
        $0.add(
          Reading.finger(110, at: Self.midnight + 3600, marks: .fasting),
          .counts(alsoIn: [Repetition(item)]))
      })
    let line = "01:00: finger stick 110 before meal, fasting (also in the phone)"
    #expect(picture.sentences.contains(line + "."))
    #expect(picture.lines(PlotSigns(isASCII: true), columns: 120).map(\.text).contains(line))
  }

  @Test func theDaySummarisesCopiesOfSensorValuesInOneLine() throws {
    let picture = try #require(
      Self.picture { days in
        for hour in 0..<20 as Range<Int64> {
          days.add(
            Reading.finger(110, at: Self.midnight + hour * 3600), .sensorValue(Self.diary), from: Self.phone)
        }
      })
    let line = "20 finger sticks of the phone with the own values of a sensor (not counted)"
    #expect(picture.sentences.dropFirst() == [line + "."])
  }
}
