// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

@Suite struct DeviceClockTests {
  /// The change to standard time in a zone. `repeated` is a time in the middle of the period that clocks show
  /// twice. `before` and `after` are the UTC offsets in seconds.
  struct Change: CustomTestStringConvertible {
    let zone: String
    let repeated: String
    let before: Int32
    let after: Int32
    var testDescription: String { zone }
  }

  private static let changes = [
    Change(zone: "Europe/Madrid", repeated: "2025-10-26T02:30:00", before: 7200, after: 3600),
    Change(zone: "America/New_York", repeated: "2025-11-02T01:30:00", before: -14400, after: -18000),
    Change(zone: "America/St_Johns", repeated: "2025-11-02T01:30:00", before: -9000, after: -12600),
    Change(zone: "Australia/Sydney", repeated: "2026-04-05T02:30:00", before: 39600, after: 36000),
    Change(zone: "Australia/Lord_Howe", repeated: "2026-04-05T01:45:00", before: 39600, after: 37800),
    Change(zone: "Pacific/Chatham", repeated: "2026-04-05T03:15:00", before: 49500, after: 45900),
    Change(zone: "America/Santiago", repeated: "2026-04-04T23:30:00", before: -10800, after: -14400),
    Change(zone: "Antarctica/Troll", repeated: "2025-10-26T02:00:00", before: 7200, after: 0),
  ]

  @Test(arguments: changes)
  func transmitterTimesShowThePassOfARepeatedHour(_ change: Change) throws {
    var zone = try LogbookZone(name: change.zone)
    let repeated = try #require(DeviceTime(text: change.repeated))
    let first = zone.placement(of: repeated)
    #expect(first == Placement(utcOffset: change.before, source: .zoneOverlap))
    var clock = DeviceClock()
    let earlier = DeviceTime(seconds: repeated.seconds - 5 * 3600)
    let placement = zone.placement(of: earlier)
    #expect(clock.placement(of: earlier, tick: 1000, as: placement, in: zone) == placement)
    let ticks = 1000 + Int64(5 * 3600)
    let overlap = Int64(change.before - change.after)
    for drift in [-overlap * 2 / 5, 0, overlap * 2 / 5] {
      #expect(
        clock.placement(of: repeated, tick: ticks + drift, as: first, in: zone)
          == Placement(utcOffset: change.before, source: .ticks))
      #expect(
        clock.placement(of: repeated, tick: ticks + overlap + drift, as: first, in: zone)
          == Placement(utcOffset: change.after, source: .ticks))
    }
  }

  @Test func readingsAfterARepeatedHourAlsoDetermineItsPass() throws {
    var zone = try LogbookZone(name: "Europe/Madrid")
    let repeated = try #require(DeviceTime(text: "2025-10-26T02:30:00"))
    let after = try #require(DeviceTime(text: "2025-10-26T04:30:00"))
    var clock = DeviceClock()
    _ = clock.placement(of: after, tick: 10_000, as: zone.placement(of: after), in: zone)
    let later = clock.placement(
      of: repeated, tick: 10_000 - 2 * 3600, as: zone.placement(of: repeated), in: zone)
    #expect(later == Placement(utcOffset: 3600, source: .ticks))
    let earlier = clock.placement(
      of: repeated, tick: 10_000 - 3 * 3600, as: zone.placement(of: repeated), in: zone)
    #expect(earlier == Placement(utcOffset: 7200, source: .ticks))
  }

  @Test(arguments: [Int64(0), 60_000, -999_999_999_999_999_999, 999_999_999_999_999_999])
  func transmitterTimesThatFitNeitherPassOfARepeatedHourAreIgnored(_ tick: Int64) throws {
    var zone = try LogbookZone(name: "Europe/Madrid")
    let before = try #require(DeviceTime(text: "2025-10-26T01:00:00"))
    let repeated = try #require(DeviceTime(text: "2025-10-26T02:30:00"))
    var clock = DeviceClock()
    _ = clock.placement(of: before, tick: 20_000, as: zone.placement(of: before), in: zone)
    let first = zone.placement(of: repeated)
    #expect(clock.placement(of: repeated, tick: tick, as: first, in: zone) == first)
  }

  @Test func aTimeSkippedByAClockChangeDoesNotPlaceLaterReadings() throws {
    var zone = try LogbookZone(name: "Europe/Madrid")
    let gap = try #require(DeviceTime(text: "2026-03-29T02:30:00"))
    let repeated = try #require(DeviceTime(text: "2026-10-25T02:30:00"))
    var clock = DeviceClock()
    _ = clock.placement(of: gap, tick: 0, as: zone.placement(of: gap), in: zone)
    let first = zone.placement(of: repeated)
    let ticks = repeated.seconds - gap.seconds
    #expect(clock.placement(of: repeated, tick: ticks, as: first, in: zone) == first)
  }

  @Test func aStepBackInTimeOfMoreThanADayStartsAnotherExport() {
    var clock = DeviceClock()
    let steps: [Int64] = [1_000_000, 1_000_300, 100_000, 100_300, 100_200]
    let marks = steps.map { clock.isBeforeItsMaximum(DeviceTime(seconds: $0)) }
    #expect(marks == [false, false, false, false, true])
  }
}
