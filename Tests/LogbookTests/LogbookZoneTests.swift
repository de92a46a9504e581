// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@Suite struct LogbookZoneTests {
  private static let zones = [
    "Europe/Madrid", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Auckland",
    "Asia/Tokyo", "Asia/Kolkata", "UTC", "Pacific/Apia", "Pacific/Kiritimati",
  ]

  private func time(_ text: String) throws -> DeviceTime { try #require(DeviceTime(text: text)) }

  /// The placement calculated directly from the zone's offsets, without the periods of constant offset that
  /// `LogbookZone` stores.
  private func direct(_ time: DeviceTime, _ zone: LogbookZone) -> Placement {
    let seconds = time.seconds
    let offsets = Set([-2, -1, 0, 1, 2].map { zone.offset(atUTC: seconds + $0 * 86400) })
    let fitting = offsets.filter { zone.offset(atUTC: seconds - Int64($0)) == $0 }
    if let first = fitting.max() {
      return Placement(utcOffset: first, source: fitting.count > 1 ? .zoneOverlap : .zone)
    }
    // The time is skipped by the clock change. With the larger offset subtracted, the instant is before the
    // change.
    let before = zone.offset(atUTC: seconds - Int64(offsets.max() ?? 0))
    return Placement(utcOffset: before, source: .zoneGap)
  }

  private func shownTimes() throws -> [DeviceTime] {
    let spans = [
      ("1994-12-28", "1995-01-04"), ("2011-12-27", "2012-01-03"), ("2025-03-06", "2025-04-12"),
      ("2025-08-30", "2025-11-08"), ("2024-12-30", "2025-01-03"),
    ]
    return try spans.flatMap { first, last in
      stride(from: try time(first).seconds, to: try time(last).seconds, by: 907).map(
        DeviceTime.init(seconds:))
    }
  }

  @Test(arguments: zones) func timesInAnyOrderGetTheSameOffsetsAsComputedOneByOne(_ name: String) throws {
    let times = try shownTimes()
    var generator = SeededGenerator(seed: 20_251_026)
    for order in [times, times.reversed(), times.shuffled(using: &generator)] {
      var zone = try LogbookZone(name: name)
      let wrong = order.first { zone.placement(of: $0) != direct($0, zone) }
      #expect(wrong == nil, "\(name) at \(wrong?.text ?? "")")
    }
  }

  @Test(arguments: [
    ("Europe/Madrid", "2025-03-30T02:30:00", 3600, OffsetSource.zoneGap),
    ("Europe/Madrid", "2025-03-30T03:00:00", 7200, .zone),
    ("Europe/Madrid", "2025-10-26T02:00:00", 7200, .zoneOverlap),
    ("Europe/Madrid", "2025-10-26T02:59:59", 7200, .zoneOverlap),
    ("Europe/Madrid", "2025-10-26T03:00:00", 3600, .zone),
    ("America/New_York", "2025-03-09T02:00:00", -18000, .zoneGap),
    ("America/New_York", "2025-11-02T01:30:00", -14400, .zoneOverlap),
    ("Australia/Lord_Howe", "2025-10-05T02:15:00", 37800, .zoneGap),
    ("Australia/Lord_Howe", "2025-10-05T02:30:00", 39600, .zone),
    ("Australia/Lord_Howe", "2025-04-06T01:45:00", 39600, .zoneOverlap),
    ("Pacific/Auckland", "2025-01-01T00:00:00", 46800, .zone),
    ("Pacific/Auckland", "2025-07-01T00:00:00", 43200, .zone),
    ("Pacific/Apia", "2011-12-30T12:00:00", -36000, .zoneGap),
    ("Asia/Tokyo", "2025-10-26T02:30:00", 32400, .zone),
  ])
  func aTimeInAGapOrRepeatedHourGetsTheDocumentedOffset(
    _ name: String, _ text: String, _ offset: Int32, _ source: OffsetSource
  ) throws {
    var zone = try LogbookZone(name: name)
    #expect(zone.placement(of: try time(text)) == Placement(utcOffset: offset, source: source))
  }

  @Test(arguments: zones) func thePeriodsOfConstantOffsetCoverTheWholeYear(_ name: String) throws {
    let zone = try LogbookZone(name: name)
    for year in [1994, 2011, 2024, 2025] {
      let stretches = zone.makeStretches(of: year)
      #expect(stretches.first?.from == (try time("\(year)-01-01")).seconds)
      #expect(stretches.last?.to == (try time("\(year + 1)-01-01")).seconds)
      #expect(zip(stretches, stretches.dropFirst()).allSatisfy { $0.to == $1.from })
    }
  }

  @Test(arguments: [
    "", "Madrid", "Europe/Atlantis", "CEST", "+02:00", "GMT+2", "../Europe/Madrid", "Europe/",
  ])
  func anUnknownTimeZoneIsRefusedAsAConfigurationError(_ name: String) {
    #expect { try LogbookZone(name: name) } throws: { ($0 as? Failure)?.category == .configuration }
  }
}
