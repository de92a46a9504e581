// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests the days of a journey whose sensor states its own offsets, while the clock of the logbook is UTC.
struct JourneyDayTests {
  private static let midnight = Time.at("2026-03-12")
  private static let hour: Int64 = 3600

  /// The readings of a sensor every five minutes from one instant until another.
  private static func sensor(
    from start: Int64, until end: Int64, _ offset: @Sendable (Int64) -> Int64
  ) -> [GlucoseReading] {
    stride(from: start, to: end, by: 300).map { instant in
      Reading.sensor(100, at: instant + offset(instant), offset: Int32(offset(instant)))
    }
  }

  /// The curves of the three days around 2026-03-12. The sensor's offset is `away` hours until `change` hours
  /// after midnight in UTC on that day, and 0 later.
  private static func days(
    from away: Int64, at change: Int64, _ more: [GlucoseReading] = []
  ) -> [DayCurve] {
    let period = Period(start: midnight - 86400, end: midnight + 2 * 86400)
    var tally = DayTally(period) { _ in 0 }
    let readings = sensor(from: period.start, until: period.end) {
      $0 < midnight + change * hour ? away * hour : 0
    }
    for reading in (readings + more).sorted(by: { $0.instant < $1.instant }) { tally.add(reading) }
    return tally.finish()
  }

  private static func words(_ day: DayCurve) -> DayPicture {
    let figures = Statistics(Statistics.Options()).finish { _ in 0 }.total
    return DayPicture(day, figures, .standard, GlucoseText(.milligramsPerDecilitre), zone: "UTC")
  }

  /// At 08:00 the clock goes back to 00:00.
  @Test func aDayWithRepeatedHoursIsOneCurveInTimeOrder() throws {
    let day = try #require(Self.days(from: 8, at: 0).dropFirst().first)
    #expect(day.date == "2026-03-12" && day.hourCount == 32)
    #expect(day.hours.map(\.hour) == Array(0..<8) + Array(0...24))
    #expect(zip(day.hours, day.hours.dropFirst()).allSatisfy { $1.instant - $0.instant == Self.hour })
    #expect(day.runs.map(\.count) == [32 * 12])
    #expect(day.sensor.first?.instant == day.period.start)
    #expect(day.clockChanges.map(\.instant) == [Self.midnight])
  }

  /// At 02:00 the clock goes forward to 08:00.
  @Test func hoursSkippedByAClockChangeAreNotAGapInTheCurve() throws {
    let day = try #require(Self.days(from: -6, at: 8).dropFirst().first)
    #expect(day.hourCount == 18 && day.runs.map(\.count) == [18 * 12])
    #expect(day.hours.map(\.hour) == [0, 1] + Array(8...24))
    #expect(day.hours.last?.instant == day.period.end)
    let sentences = Self.words(day).sentences
    #expect(sentences.contains("The clock changed from 02:00 to 08:00."))
    #expect(!sentences.contains { $0.hasPrefix("No sensor readings from") })
  }

  /// At 03:00 the clock goes back to 19:00 of the day before. So each of the two days has two parts with a
  /// gap between them.
  @Test func aDayRepeatedAfterMidnightHasAGapInItsCurve() throws {
    let days = Self.days(from: 8, at: -5)
    let (before, day) = (try #require(days.first), try #require(days.dropFirst().first))
    #expect(before.hourCount == 32 && day.hourCount == 32)
    // The sensor's data begins at 08:00 of the first day.
    #expect(before.runs.map(\.count) == [16 * 12, 5 * 12] && day.runs.map(\.count) == [3 * 12, 24 * 12])
    #expect(before.hours.map(\.hour) == Array(0...24) + Array(19...24))
  }

  @Test func aDaySpentInAnotherTimeZoneHasTheMidnightsOfThatZone() throws {
    let day = try #require(Self.days(from: 8, at: 48).dropFirst().first)
    #expect(day.period == Period(start: Self.midnight - 8 * 3600, end: Self.midnight + 16 * 3600))
    #expect(day.hourCount == 24 && day.clockChanges.isEmpty && day.runs.map(\.count) == [288])
  }

  @Test func aDayInTheTimeZoneOfTheLogbookHasItsOwnMidnights() throws {
    let day = try #require(Self.days(from: 0, at: 0).dropFirst().first)
    #expect(day.period == Period(start: Self.midnight, end: Self.midnight + 86400))
    #expect(day.hours.map(\.hour) == Array(0...24) && day.clockChanges.isEmpty)
  }

  /// The clock of a meter stays at the time of home. Its readings are drawn at the times that it shows. If
  /// the day has such a time twice, the nearer instant is used.
  @Test func aReadingOfAnotherClockIsDrawnAtTheTimeItShows() throws {
    let sticks = [-3, 7, 20].map { Reading.finger(200, at: Self.midnight + $0 * Self.hour) }
    let day = try #require(Self.days(from: 8, at: 0, sticks).dropFirst().first)
    #expect(day.sticks.map(\.instant) == [7, 20].map { Self.midnight + $0 * Self.hour })
    let away = try #require(Self.days(from: 8, at: 48, sticks).dropFirst().first)
    #expect(away.sticks.map(\.instant) == [-1, 12].map { Self.midnight + $0 * Self.hour })
  }

  /// An app may state UTC for some of its readings, which is not a journey.
  @Test func offsetsThatChangeOftenAreNotTreatedAsAJourney() throws {
    var tally = DayTally(Period(start: Self.midnight, end: Self.midnight + 86400)) { _ in 3600 }
    for reading in Self.sensor(
      from: Self.midnight, until: Self.midnight + 82_800, { $0 / 7200 % 2 * Self.hour })
    {
      tally.add(reading)
    }
    let day = try #require(tally.finish().dropFirst().first)
    #expect(day.hourCount == 24 && day.clockChanges.isEmpty)
  }

  @Test func theDayPictureNamesTheClockChangeAndRepeatsTheHours() throws {
    let day = try #require(Self.days(from: 8, at: 0).dropFirst().first)
    let picture = Self.words(day)
    let lines = picture.lines(PlotSigns(isASCII: true), columns: 80).map(\.text)
    #expect(lines.dropFirst().first == "The clock changed from 08:00 to 00:00")
    let hours = lines.compactMap { line -> [Int]? in
      let words = line.split(separator: " ").compactMap { Int($0) }
      return words.count > 8 ? words : nil
    }
    #expect(hours == [[0, 3, 6, 0, 3, 6, 9, 12, 15, 18, 21, 24]])
    let blocks = picture.sentences.filter { $0.contains(": from ") }.map { $0.prefix(5) }
    #expect(
      blocks == ["00:00", "03:00", "06:00", "00:00", "03:00", "06:00"] + [
        "09:00", "12:00", "15:00", "18:00", "21:00",
      ])
  }

  @Test(arguments: PageTexts.all.map(\.code), [false, true])
  func reportSheetsNameTheLengthOfADayThatIsNot24Hours(_ code: String, _ isAnonymised: Bool) throws {
    var report = SampleReport.usual
    report.isAnonymised = isAnonymised
    let back = SampleReport.start + 10 * 86400
    report.readings = ArithmeticSeries.values.enumerated().map { index, value in
      let instant = SampleReport.start + Int64(index) * 300
      let offset: Int64 = instant < back ? 8 * Self.hour : 0
      return Reading.sensor(value, at: instant + offset, offset: Int32(offset))
    }
    let texts = try #require(PageTexts.all.first { $0.code == code })
    let page = ReportPage(report.contents, texts)
    let name = page.shortName(ofDay: Int(back / 86400))
    for part in [ReportPart.summary, .days, .single] {
      let drawings = page.sheets(part, .a4).flatMap(\.boxes).map(\.drawing)
      #expect(drawings.flatMap(DrawingCheck.faults) == [])
      #expect(drawings.flatMap(DrawingCheck.words).contains { $0.hasSuffix("· 32 h") }, "\(part)")
    }
    let words = page.sheets(.summary, .a4).flatMap(\.boxes).flatMap { DrawingCheck.words($0.drawing) }
    #expect(words.contains { $0.hasSuffix(PageTexts.fill(texts.sheet.clockChanged, name)) })
    // The sheets of a period without a clock change do not mention clock changes.
    let usual = ReportPage(SampleReport.usual.contents, texts)
    let unchanged = usual.sheets(.summary, .a4).flatMap(\.boxes).flatMap { DrawingCheck.words($0.drawing) }
    #expect(!unchanged.contains { $0.contains(PageTexts.fill(texts.sheet.clockChanged, "")) })
  }
}
