// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests columns that name the time zones of rows, or their offsets.
@Suite struct GenericZoneColumnTests {
  /// Finger sticks of 30 days, the last quarter of them in a second zone.
  private func trip(_ name: String, _ first: String, _ second: String) throws -> ScratchFile {
    let rows = (0..<120).map { number in
      let (day, zone) = (number / 4 + 1, number < 90 ? first : second)
      let date = "2026-03-\(day < 10 ? "0" : "")\(day)"
      return
        "\(date) \(["07", "12", "18", "22"][number % 4]):1\(number % 7),\(100 + number * 37 % 71),\"\(zone)\"\n"
    }
    return try ScratchFile("time,glucose (mg/dL),\(name)\n" + rows.joined())
  }

  @Test(arguments: [
    ("UTC offset (hours)", "1", "-5"), ("utcOffset", "PT1H", "PT-5H"),
    ("zone_offset", "3600000", "-18000000"),
    ("TZ", "W. Europe Standard Time", "Eastern Standard Time"), ("Time zone", "Eastern Time", "Pacific Time"),
    ("TimeZone", "(UTC+01:00) Amsterdam, Berlin", "(UTC-05:00) Eastern Time (US & Canada)"),
    ("Zone", "Etc/GMT-1", "Etc/GMT+5"), ("place", "GMT", "EST"), ("Offset", "PT1H", "PT-5H30M"),
  ])
  func aTableWithSeveralTimeZonesIsRefusedUntilRowsAreSelected(
    _ name: String, _ first: String, _ second: String
  ) throws {
    let file = try trip(name, first, second)
    let refusal = try #require(try file.refusal { $0.zoneIsGiven = true })
    #expect(refusal.contains("names several time zones"), "\(refusal)")
    let one = try trip(name, first, first).readings { $0.zoneIsGiven = true }
    #expect(one.readings.count == 120)
    let home = try file.readings {
      $0.zoneIsGiven = true
      $0.rows = [RowFilter(column: name, value: first)]
    }
    #expect(home.readings.count == 90)
  }

  /// These columns do not name two time zones. They have ranges, offsets of a calibration, durations, moods,
  /// or the winter and summer time of one zone.
  @Test(arguments: [
    ("zone", "In range", "High"), ("offset", "0", "3"), ("exercise", "PT1H", "PT5H"),
    ("UTC offset (hours)", "1", "2"), ("Zeitzone", "MEZ", "MESZ"), ("tz", "EST", "EDT"),
    ("place", "GMT", "BST"), ("TZ", "Eastern Standard Time", "Eastern Daylight Time"),
    ("utcOffset", "PT1H", "PT2H"), ("mood", "good", "Time"),
  ])
  func columnsWithoutDifferentTimeZonesDoNotRefuseATable(_ name: String, _ first: String, _ second: String)
    throws
  {
    #expect(try trip(name, first, second).readings { $0.zoneIsGiven = true }.readings.count == 120)
  }

  /// About one finger stick a day for a year. `zone` returns the zone of a month, which is numbered from 0.
  private func year(_ name: String, _ zone: (Int) -> String) throws -> ScratchFile {
    let rows = (0..<336).map { day in
      let time = DeviceTime(seconds: 1_767_225_600 + Int64(day) * 93_600).text
      return "\(time),\(100 + day * 37 % 71),\(zone(day * 13 / 12 / 31))\n"
    }
    return try ScratchFile("time,glucose (mg/dL),\(name)\n" + rows.joined())
  }

  /// `low` and `high` are the winter and summer time of one zone, north or south of the equator, or the
  /// offsets of two zones.
  @Test(arguments: [("utcOffset", "PT1H", "PT2H"), ("tz", "EST", "EDT"), ("place", "GMT", "BST")])
  func offsetsAnHourApartCountAsOneZoneIfTheirDatesFitSummerTime(
    _ name: String, _ low: String, _ high: String
  )
    throws
  {
    let one = try year(name) { (3...8).contains($0) ? high : low }
    #expect(try one.readings { $0.zoneIsGiven = true }.readings.count == 336)
    let south = try year(name) { (3...8).contains($0) ? low : high }
    #expect(try south.readings { $0.zoneIsGiven = true }.readings.count == 336)
    for several in [try year(name) { $0 % 2 == 0 ? high : low }, try year(name) { $0 < 7 ? low : high }] {
      let refusal = try #require(try several.refusal { $0.zoneIsGiven = true })
      #expect(refusal.contains("names several time zones"), "\(refusal)")
    }
  }

  @Test func placesWithDifferentTimesCountAsTimeZones() throws {
    for (name, first, second) in [("Place", "Berlin", "New York"), ("timezone", "London", "Tokyo")] {
      let refusal = try #require(try trip(name, first, second).refusal { $0.zoneIsGiven = true })
      #expect(refusal.contains("names several time zones"), "\(refusal)")
    }
    for (name, first, second) in [
      ("Place", "Berlin", "Madrid"), ("city", "Berlin", "Berlin"), ("Mood", "Berlin", "New York"),
    ] {
      #expect(
        try trip(name, first, second).readings { $0.zoneIsGiven = true }.readings.count == 120, "\(name)")
    }
    #expect(try trip("city", "Berlin", "Berlin").readings().readings.count == 120)
    #expect(try trip("timezone", "Berlin", "Berlin").refusal()?.contains("names time zones") == true)
  }

  @Test func britishSummerTimeAfterManyRowsInGMTIsReadAsAnOffset() throws {
    let rows = (0..<600).map { row in
      let time = DeviceTime(seconds: 1_774_000_000 + Int64(row) * 14_400).text
      return "\(time),\(100 + row * 37 % 71),\(row < 540 ? "GMT" : "BST")\n"
    }
    let export = try ScratchFile("time,glucose (mg/dL),UTC offset\n" + rows.joined()).readings()
    #expect(export.rejections.isEmpty && export.readings.count == 600)
    #expect(
      export.readings.map(\.placement.utcOffset) == [Int32](repeating: 0, count: 540)
        + [Int32](repeating: 3600, count: 60))
  }
}
