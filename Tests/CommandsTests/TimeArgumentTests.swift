// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Testing

@testable import CommandParts
@testable import Commands

@Suite struct TimeArgumentTests {
  /// 2026-05-06T10:00:00Z as seconds since 1970. Clocks in Madrid show 12:00.
  private static let now: Int64 = 1_778_061_600

  private func placed(_ text: String, now: Int64 = now) throws -> String {
    let argument = try TimeArgument.parse(text)
    let (time, placement) = argument.placedTime(zone: try LogbookZone(name: "Europe/Madrid"), now: now)
    return "\(time.text)\(DeviceTime.offsetText(placement.utcOffset)) \(placement.source.name)"
  }

  @Test(arguments: [
    ("now", "2026-05-06T12:00:00+02:00 stated"), ("90m", "2026-05-06T10:30:00+02:00 stated"),
    ("36h", "2026-05-05T00:00:00+02:00 stated"), ("1d", "2026-05-05T12:00:00+02:00 stated"),
    ("today", "2026-05-06T00:00:00+02:00 zone"), ("yesterday", "2026-05-05T00:00:00+02:00 zone"),
    ("18:30", "2026-05-06T18:30:00+02:00 zone"), ("8:05", "2026-05-06T08:05:00+02:00 zone"),
    ("10:05:06", "2026-05-06T10:05:06+02:00 zone"), ("today 7:00", "2026-05-06T07:00:00+02:00 zone"),
    ("yesterday 18:30", "2026-05-05T18:30:00+02:00 zone"),
    ("2026-01-06", "2026-01-06T00:00:00+01:00 zone"),
    ("2026-01-06T18:30", "2026-01-06T18:30:00+01:00 zone"),
    ("2026-01-06 18:30:01", "2026-01-06T18:30:01+01:00 zone"),
  ])
  func aTypedTimeIsReadInTheTimeZoneOfTheLogbook(_ text: String, _ expected: String) throws {
    #expect(try placed(text) == expected)
  }

  /// The time is 12:00, so a person who types `23:59` probably means yesterday.
  @Test(arguments: [
    (
      "23:59",
      "2026-05-06 23:59:00 is in the future; did you mean 'yesterday 23:59'? Otherwise correct it, or add --force"
    ),
    (
      "today 12:06",
      "2026-05-06 12:06:00 is in the future; did you mean 'yesterday 12:06'? Otherwise correct it, or add --force"
    ),
    ("2026-05-06T12:06", "2026-05-06 12:06:00 is in the future; correct it, or add --force"),
    ("2026-05-06T12:05:01+02:00", "2026-05-06 12:05:01 is in the future; correct it, or add --force"),
    ("1989-12-31", "1989-12-31 00:00:00 is before 1990; correct it, or add --force"),
  ])
  func anImplausibleTypedTimeIsRefused(_ text: String, _ objection: String) throws {
    let zone = try LogbookZone(name: "Europe/Madrid")
    let refused = RecordContentOptions.objection(
      to: try TimeArgument.parse(text), zone: zone, now: Self.now, trusted: Self.now)
    #expect(refused == objection)
  }

  /// A time a few minutes in the future is accepted, since the clocks of two devices can differ.
  @Test func aTypedTimeInTheNextMinutesIsAccepted() throws {
    let zone = try LogbookZone(name: "Europe/Madrid")
    for text in ["12:05", "11:59", "now", "2026-05-06T12:05:00+02:00", "yesterday 23:59"] {
      let time = try TimeArgument.parse(text)
      #expect(RecordContentOptions.objection(to: time, zone: zone, now: Self.now, trusted: Self.now) == nil)
    }
    let late = try TimeArgument.parse("23:59")
    #expect(RecordContentOptions.objection(to: late, zone: zone, now: Self.now, trusted: nil) == nil)
  }

  @Test(arguments: [
    ("2026-05-06T18:30:00Z", "2026-05-06T18:30:00Z stated"),
    ("2026-05-06T18:30:00+02:00", "2026-05-06T18:30:00+02:00 stated"),
    ("2026-05-06T18:30-03:30", "2026-05-06T18:30:00-03:30 stated"),
  ])
  func aTypedTimeWithAnOffsetIsMarkedAsStated(_ text: String, _ expected: String) throws {
    #expect(try placed(text) == expected)
  }

  @Test func aTypedTimeInAnHourRepeatedByAClockChangeMeansTheFirstPass() throws {
    #expect(try placed("2025-10-26T02:30") == "2025-10-26T02:30:00+02:00 zone-overlap")
    #expect(try placed("2026-03-29T02:30") == "2026-03-29T02:30:00+01:00 zone-gap")
  }

  @Test func theTypedWordNowMeansTheCurrentPassOfAnHourRepeatedByAClockChange() throws {
    // The first time is 2025-10-26T00:30:00Z and the second one is an hour later. Clocks in Madrid show
    // 02:30 at both times.
    #expect(try placed("now", now: 1_761_438_600) == "2025-10-26T02:30:00+02:00 stated")
    #expect(try placed("now", now: 1_761_442_200) == "2025-10-26T02:30:00+01:00 stated")
  }

  @Test func everyFormOfATypedTimeMeansTheSameInstant() throws {
    let zone = try LogbookZone(name: "Europe/Madrid")
    for text in ["now", "2026-05-06T12:00", "12:00", "2026-05-06T10:00:00Z", "2026-05-06T15:00:00+05:00"] {
      #expect(try TimeArgument.parse(text).instant(zone: zone, now: Self.now) == Self.now, "\(text)")
    }
  }

  @Test(arguments: [
    "", "soon", "25:00", "18:60", "18", "1:2:3:4", "tomorrow", "yesterday  18:30", "yesterday soon", "-1d",
    "3w",
    "2026-05-06Z", "2026-05-06+02:00", "2026-05-06T18:30:00+25:00", "2026-05-06T18:30:00.5Z",
    "18:30Z", "d", "+14d", "１４d", "0000-12-31", "10000-01-01",
  ])
  func aTextThatIsNotATimeIsRefusedAsATypedTime(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try TimeArgument.parse(text) }
    #expect(error?.message.hasPrefix("a time is written as 2026-05-06, ") == true)
  }

  @Test(arguments: [
    ("2026-02-30", "there is no day 2026-02-30: that month has 28 days."),
    ("2024-02-30T08:00", "there is no day 2024-02-30: that month has 29 days."),
    ("2026-13-01", "there is no day 2026-13-01: months are 01 to 12, after the year."),
    ("06.05.2026", "a date is written with the year first: 2026-05-06."),
    ("6.5.2026 18:30", "a date is written with the year first: 2026-05-06."),
    ("31.02.2026", "there is no day 2026-02-31: that month has 28 days."),
    ("2026/05/06", "a date is written with the year first: 2026-05-06."),
    ("13/05/2026", "a date is written with the year first: 2026-05-13."),
    ("05/13/2026", "a date is written with the year first: 2026-05-13."),
    ("06/05/2026", "a date is written with the year first: YYYY-MM-DD."),
    ("8.05", "a time of day is written with a colon: 8:05."),
    ("yesterday 18.30", "a time of day is written with a colon: 18:30."),
  ])
  func aNearlyValidTypedTimeIsRefusedWithTheValidForm(_ text: String, _ message: String) {
    let error = #expect(throws: ValidationError.self) { try TimeArgument.parse(text) }
    #expect(error?.message == message)
  }

  @Test(arguments: ["8.5", "24.00", "8.60", "8.05.06", "1.2.3", "06.05.26", "2026-2-", "a-b-c", "..", "/"])
  func anUnclearTypedTimeIsRefusedWithExamplesOfValidTimes(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try TimeArgument.parse(text) }
    #expect(error?.message.hasPrefix("a time is written as 2026-05-06, ") == true, "\(text)")
  }

  @Test(arguments: [
    ("36525d", now - 36525 * 86400), ("876600h", now - 36525 * 86400), ("0d", now),
    ("0001-01-01", -62_135_596_800), ("9999-12-31T23:59:59", 253_402_300_799),
  ])
  func aTypedSpanOf100YearsAndTheFirstAndLastYearAreAccepted(_ text: String, _ instant: Int64) throws {
    let zone = try LogbookZone(name: "UTC")
    #expect(try TimeArgument.parse(text).instant(zone: zone, now: Self.now) == instant)
  }

  @Test(arguments: [
    "36526d", "999999d", "876601h", "52596001m", "99999999999999999999d", "9223372036854775807h",
  ])
  func aTypedSpanOfMoreThan100YearsIsRefused(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try TimeArgument.parse(text) }
    #expect(error?.message == "a span is at most 100 years: 36525d, or 876600h.")
  }

  @Test(arguments: ["36526d", "5218w", "876601h", "100000w", "99999999999999999999w"])
  func aPeriodOfStatisticsIsAtMost100Years(_ text: String) throws {
    let error = #expect(throws: ValidationError.self) { try SpanArgument.parse(text) }
    #expect(error?.message == "a span is at most 100 years: 36525d, or 876600h.")
    for longest in ["36525d", "5217w", "876600h"] { _ = try SpanArgument.parse(longest) }
  }

  @Test(arguments: ["", "d", "14", "0d", "-1d", "+1d", "1.5d", "14m", "１４d"])
  func anInvalidPeriodOfStatisticsIsRefused(_ text: String) {
    let error = #expect(throws: ValidationError.self) { try SpanArgument.parse(text) }
    #expect(error?.message == "a span is a number of days, weeks or hours, such as 14d, 4w or 36h.")
  }
}
