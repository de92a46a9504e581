// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests which columns are read as times of measurement, and columns in which the times have two notations.
@Suite struct GenericTimeColumnTests {
  private func times(_ text: String, _ change: (inout ExportOptions) -> Void = { _ in }) throws -> [String] {
    try ScratchFile(text).readings(change).readings.map(\.deviceTime.text)
  }

  // MARK: Times of databases

  @Test(arguments: ["createdAt", "created_at", "updatedAt", "inserted", "synced_at", "Modified"])
  func theCreationTimeOfARowIsNotReadAsTheTimeOfItsReading(_ name: String) throws {
    let rows = "2026-05-04T22:10:00,2026-05-01T07:00:00,101\n"
    #expect(try times("\(name),time,glucose\n\(rows)") == ["2026-05-01T07:00:00"])
    let parts = "date,clock,\(name),glucose\n2026-05-01,07:00,2026-05-04T22:10:00,101\n"
    #expect(try times(parts) == ["2026-05-01T07:00:00"])
    // The column `date` states no time of day, and the column of the database states when the row was stored.
    // So no mapping with the column of the database is suggested.
    let days = "date,\(name),glucose\n2026-05-01,2026-05-04T22:10:00,101\n2026-05-02,2026-05-04T22:11:00,99\n"
    let refusal = try #require(try ScratchFile(days).refusal())
    #expect(!refusal.contains("time=\(name)"), "\(refusal)")
  }

  @Test func aSuggestedMappingPrefersTheMeasurementTimeToADatabaseTime() throws {
    let text =
      "createdAt,start time,end time,glucose\n2026-05-04 22:10,2026-05-01 07:00,2026-05-01 07:05,101\n"
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("'time=start time,") && !refusal.contains("time=createdAt"), "\(refusal)")
  }

  /// An app that reads a sensor stores hours of values at once, later than they were measured. Only a person
  /// knows whether the times of storage are close enough.
  @Test(arguments: ["created_at", "createdAt", "upload_time", "inserted", "received_at"])
  func aTableWithOnlyDatabaseTimesIsRefused(_ name: String) throws {
    let file = try ScratchFile("\(name),glucose\n2026-05-01T07:00:00,101\n2026-05-01T07:05:00,103\n")
    let refusal = try #require(try file.refusal())
    #expect(
      refusal.contains("stored its rows") && refusal.contains("--map time=\(name),value=glucose"),
      "\(refusal)")
    let map = ["time": name, "value": "glucose"]
    #expect(
      try file.readings { $0.columns = map }.readings.map(\.deviceTime.text) == [
        "2026-05-01T07:00:00", "2026-05-01T07:05:00",
      ])
    #expect(
      try times("recorded_at,glucose\n2026-05-01T07:00:00,101\n2026-05-01T07:05:00,103\n").count == 2)
  }

  @Test func aDeletionTimeIsNotSuggestedAsTheTimeOfAReading() throws {
    let rows = "2026-05-01T07:00:00,101,\n2026-05-01T07:05:00,103,2026-05-04T22:10:00\n"
    let refusal = try #require(try ScratchFile("time,glucose,deletedAt\n\(rows)").refusal())
    #expect(
      !refusal.contains("time=deletedAt") && refusal.contains("'deletedAt' marks some rows"), "\(refusal)")
  }

  // MARK: Dates next to times

  /// Some programs write a time of day with the first day of a count, or with the current date.
  @Test(arguments: ["1970-01-01", "2025-06-01"])
  func aTableWhoseTimesContradictItsDatesIsRefused(_ day: String) throws {
    let rows = "13/03/2025,\(day) 08:30:00,101\n14/03/2025,\(day) 12:10:00,117\n"
    let file = try ScratchFile("Date,Time,Glucose mg/dL\n\(rows)")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'Date' are other days") && refusal.contains("in 'Time'"), "\(refusal)")
    #expect(refusal.contains("time=Time"), "\(refusal)")
    let map = ["time": "Time", "value": "Glucose mg/dL"]
    #expect(try file.readings { $0.columns = map }.readings.count == 2)
  }

  @Test func aTableWhoseTimesContradictItsDatesInALateRowIsRefused() throws {
    let rows = (0..<60).map { "2025-06-01,2025-06-01 \(10 + $0 / 50):\(10 + $0 % 50),1\(10 + $0 % 40)\n" }
      .joined()
    let header = "Date,Time,Glucose mg/dL\n"
    #expect(try times(header + rows).count == 60)
    let file = try ScratchFile(header + rows + "2025-06-02,2025-06-01 09:30:00,117\n")
    #expect(try file.refusal()?.contains("'Date' are other days") == true)
  }

  @Test func datesOfAnotherSubjectAreNotComparedWithTheTimes() throws {
    let same = "13/03/2025,2025-03-13 08:30:00,101\n14/03/2025,2025-03-14 12:10:00,117\n"
    #expect(
      try times("Date,Time,Glucose mg/dL\n\(same)") == ["2025-03-13T08:30:00", "2025-03-14T12:10:00"])
    // Near midnight, the local date may differ from the date of a time in UTC. That is not a contradiction.
    let zoned = "2025-03-14,2025-03-13T23:30:00Z,101\n2025-03-14,2025-03-14T12:10:00Z,117\n"
    #expect(try times("Date,Time,Glucose mg/dL\n\(zoned)").count == 2)
    let other = "2024-01-02,2025-03-13 08:30:00,101\n2024-01-02,2025-03-14 12:10:00,117\n"
    #expect(try times("Sensor start date,Time,Glucose mg/dL\n\(other)").count == 2)
  }

  // MARK: Tables with two delimiters

  @Test(arguments: [[";", ","], [",", ";"], ["\t", ","], [",", "\t"], ["|", ","]])
  func aTableAboveOneWithAnotherDelimiterIsNotSkipped(_ delimiters: [String]) throws {
    func table(_ delimiter: String, day: Int, rows: Int) -> String {
      "time,glucose (mg/dL),device\n".replacing(",", with: delimiter)
        + (0..<rows).map { "2026-05-0\(day) 07:1\($0),10\($0),A\n".replacing(",", with: delimiter) }.joined()
    }
    let text = table(delimiters[0], day: 1, rows: 3) + table(delimiters[1], day: 2, rows: 9)
    do {
      // Rows of the second table may be rejected, but those of the first are never skipped.
      let read = try ScratchFile(text).readings()
      #expect(read.readings.first?.deviceTime.text == "2026-05-01T07:10:00" && !read.rejections.isEmpty)
    } catch let failure as Failure {
      #expect(failure.message.contains("two tables with different delimiters"), "\(failure.message)")
    }
  }

  @Test func twoTablesWithDifferentDelimitersInOneInputAreRefused() throws {
    let first = "time;glucose (mg/dL)\n2026-05-01 07:00;101\n2026-05-01 12:10;117\n"
    let second = "time,glucose (mg/dL)\n2026-05-02 07:00,102\n2026-05-02 12:10,118\n"
    let refusal = try #require(try ScratchFile(first + second).refusal())
    #expect(refusal.contains("two tables with different delimiters"), "\(refusal)")
    // A preamble also has semicolons and times, but is not a table with another delimiter.
    let preamble = "Export of sensor data; all values\nMade on; 2026-05-03 10:00\n"
    #expect(try times(preamble + second).count == 2)
  }

  // MARK: Counts and days

  @Test func timesInSecondsSince2001AreRefused() throws {
    let rows = (0..<5).map { "\(799_000_000 + $0 * 300),10\($0)\n" }.joined()
    let file = try ScratchFile("ts,glucose\n\(rows)")
    #expect(try #require(try file.refusal()).contains("seconds since 2001"))
    let map = ["time": "ts", "value": "glucose"]
    #expect(try file.readings { $0.columns = map }.readings.isEmpty)
    let since1970 = (0..<5).map { "\(1_777_307_200 + $0 * 300),10\($0)\n" }.joined()
    #expect(try times("ts,glucose\n\(since1970)").count == 5)
  }

  @Test(arguments: ["Z", "+02:00", ".000Z", ""])
  func daysWrittenAsMidnightAreNotReadAsTimes(_ end: String) throws {
    let days = (1..<5).map { "2026-05-0\($0)T00:00:00\(end),10\($0)\n" }.joined()
    #expect(
      try #require(try ScratchFile("date,glucose\n\(days)").refusal()).contains("dates without a time of day")
    )
    let times = days.replacing("03T00:00:00", with: "03T07:10:00")
    #expect(try ScratchFile("date,glucose\n\(times)").readings().readings.count == 4)
  }

  @Test func timesInTheFarFutureAreRefused() throws {
    let rows = "2569-05-01T07:00:00,101\n2569-05-01T12:10:00,117\n"
    let file = try ScratchFile("time,glucose (mg/dL)\n\(rows)")
    #expect(
      try #require(try file.refusal { $0.now = 1_780_000_000 }).contains("more than a year in the future"))
    #expect(
      try file.readings {
        $0.now = 1_780_000_000; $0.force = true
      }.readings.count == 2)
    let one = rows.replacing("2569-05-01T07", with: "2026-05-01T07")
    #expect(
      try ScratchFile("time,glucose (mg/dL)\n\(one)").readings { $0.now = 1_780_000_000 }.readings.count == 2)
  }

  @Test(arguments: ["1404/12/11", "1447-08-01"])
  func yearsOfAnotherCalendarAreRefused(_ date: String) throws {
    let rows = "\(date),07:00,101\n\(date),12:10,117\n"
    let file = try ScratchFile("date,time,glucose (mg/dL)\n\(rows)")
    #expect(try #require(try file.refusal()).contains("calendar of the program"))
    #expect(try file.readings { $0.force = true }.readings.count == 2)
    let columns = ["date": "date", "clock": "time", "value": "glucose (mg/dL)"]
    #expect(try file.refusal { $0.columns = columns }?.contains("calendar of the program") == true)
    // The table is read if one row has the first year of a reset clock, or a year with a typing error.
    for other in ["1970-01-01", "2026-05-01"] {
      let text = "date,time,glucose (mg/dL)\n\(rows)\(other),12:10,117\n"
      #expect(try ScratchFile(text).readings().readings.count == 3, "\(other)")
    }
  }

  // MARK: Offsets in names of zones

  @Test func rowsThatNameSeveralTimeZonesAreRefused() throws {
    func table(_ zones: [String]) throws -> ScratchFile {
      try ScratchFile(
        "time,glucose,timezone\n"
          + zones.enumerated().map { "2026-05-01T0\($0.offset):10:00,10\($0.offset),\($0.element)\n" }
          .joined())
    }
    let file = try table(["Europe/Berlin", "Europe/Berlin", "America/New_York"])
    let refusal = try #require(try file.refusal { $0.zoneIsGiven = true })
    #expect(
      refusal.contains("names several time zones") && refusal.contains("--where timezone=ZONE"), "\(refusal)")
    let home = try file.readings {
      $0.zoneIsGiven = true
      $0.rows = [RowFilter(column: "timezone", value: "Europe/Berlin")]
    }
    #expect(home.readings.count == 2)
    #expect(
      try table(["Europe/Berlin", "Europe/Berlin"]).readings { $0.zoneIsGiven = true }.readings.count == 2)
  }

  // MARK: Offsets

  @Test(arguments: ["tzOffset", "timezone", "UTC offset", "timezoneOffset"])
  func aColumnOfUTCOffsetsDeterminesTheOffsetsOfReadings(_ name: String) throws {
    let text = "time,glucose,\(name)\n2026-05-01T07:00:00,101,+09:00\n2026-05-01T19:00:00,99,-05:00\n"
    let readings = try ScratchFile(text).readings().readings
    #expect(readings.map(\.placement.utcOffset) == [32_400, -18_000])
    #expect(readings.allSatisfy { $0.placement.source == .stated })
    #expect(readings.map(\.deviceTime.text) == ["2026-05-01T07:00:00", "2026-05-01T19:00:00"])
  }

  @Test func aTimeInUTCWithAnOffsetColumnIsShownWithThatOffset() throws {
    let text = "time,glucose,tzOffset\n2026-05-01T07:00:00Z,101,+02:00\n2026-05-01T19:00:00Z,99,Z\n"
    #expect(try times(text) == ["2026-05-01T09:00:00", "2026-05-01T19:00:00"])
    #expect(try times("time,glucose,tzOffset\n1774746000,101,+02:00\n") == ["2026-03-29T03:00:00"])
  }

  @Test func numericUTCOffsetsRequireAMapping() throws {
    let file = try ScratchFile(
      "time,glucose,tzOffset\n2026-05-01T07:00:00,101,120\n2026-05-01T19:00:00,99,120\n")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'tzOffset'") && refusal.contains("offset=tzOffset"), "\(refusal)")
    let east = ["time": "time", "value": "glucose", "offset": "tzOffset"]
    #expect(try file.readings { $0.columns = east }.readings.map(\.placement.utcOffset) == [7200, 7200])
    // A person who maps only the other columns has decided to ignore the offset.
    let without = ["time": "time", "value": "glucose"]
    #expect(
      try file.readings { $0.columns = without }.readings.allSatisfy { $0.placement.source == .zone })
    // A time that ends in Z is an instant, so the offset is not needed to find it.
    let absolute = "time,glucose,tzOffset\n2026-05-01T07:00:00Z,101,120\n2026-05-01T19:00:00Z,99,120\n"
    #expect(try ScratchFile(absolute).readings().readings.count == 2)
  }

  @Test func aRowWithoutItsUTCOffsetIsRejected() throws {
    let text =
      "time,glucose,tzOffset\n2026-05-01T07:00:00,101,+02:00\n2026-05-01T19:00:00,99,here\n"
      + "2026-05-01T21:00:00,98,+02:00\n"
    let result = try ScratchFile(text).readings()
    #expect(result.readings.count == 2 && result.rejections.map(\.line) == [3])
  }

  // MARK: Two notations in one column

  @Test(arguments: [
    "time (UTC)", "Timestamp UTC", "UTC time", "DateTimeUTC", "time_gmt", "utcTime", "datetime_utc",
  ])
  func aColumnNamedUTCContainsTimesInUTC(_ name: String) throws {
    let rows = "2026-05-01T07:00:00,101\n2026-05-01 19:00,99\n"
    let found = try ScratchFile("\(name),glucose mg/dL\n\(rows)").readings {
      $0.zone = try LogbookZone(name: "Asia/Tokyo")
    }
    #expect(
      found.readings.map(\.placement)
        == Array(repeating: Placement(utcOffset: 32_400, source: .instant), count: 2))
    #expect(found.readings.map(\.deviceTime.text) == ["2026-05-01T16:00:00", "2026-05-02T04:00:00"])
    // A time that states another offset keeps it.
    let stated = try ScratchFile("\(name),glucose mg/dL\n2026-05-01T07:00:00+02:00,101\n").readings()
    #expect(stated.readings.map(\.placement.utcOffset) == [7200])
  }

  @Test(arguments: ["time", "local time, not UTC"])
  func timesOfAColumnNotNamedUTCAreInTheTimeZoneOfTheLogbook(_ name: String) throws {
    let text = "\"\(name)\",glucose mg/dL\n2026-05-01T07:00:00,101\n2026-05-01T19:00:00,99\n"
    let found = try ScratchFile(text).readings { $0.zone = try LogbookZone(name: "Asia/Tokyo") }
    #expect(found.readings.map(\.placement.utcOffset) == [32_400, 32_400])
  }

  @Test(arguments: ["offset", "gmt", "tz", "zone", "minutes from utc"])
  func numbersInAColumnNamedLikeAnOffsetRequireATimeZone(_ name: String) throws {
    for number in ["-5", "-300"] {
      let text =
        "time,glucose mg/dL,\(name)\n2026-05-01T07:00:00,101,\(number)\n2026-05-01T19:00:00,99,\(number)\n"
      let refusal = try #require(try ScratchFile(text).refusal(), "\(name) \(number)")
      #expect(refusal.contains("'\(name)'") && refusal.contains("--timezone"), "\(refusal)")
    }
    // The offset of a calibration is not the offset of a time.
    let calibration = "time,glucose mg/dL,offset\n2026-05-01T07:00:00,101,0\n2026-05-01T19:00:00,99,17.3\n"
    #expect(try times(calibration).count == 2)
  }

  @Test(arguments: [("tz", "America/New_York"), ("timezone", "Europe/Madrid"), ("zone", "EST")])
  func aTableWithTimeZoneNamesIsRefusedUntilTheTimeZoneIsGiven(_ name: String, _ zone: String) throws {
    let file = try ScratchFile(
      "time,glucose mg/dL,\(name)\n2026-05-01T07:00:00,101,\(zone)\n2026-05-01T19:00:00,99,\(zone)\n")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)'") && refusal.contains(zone), "\(refusal)")
    #expect(try file.readings { $0.zoneIsGiven = true }.readings.count == 2)
    let other = "time,glucose mg/dL,zone\n2026-05-01T07:00:00,101,LOW\n2026-05-01T19:00:00,99,HIGH\n"
    #expect(try times(other).count == 2)
    let instants = "time,glucose mg/dL,tz\n2026-05-01T07:00:00Z,101,Europe/Madrid\n"
    #expect(try times(instants).count == 1)
  }

  @Test func timesWithAndWithoutUTCOffsetInOneColumnAreRefused() throws {
    let text = "time,glucose\n2026-05-01T07:00:00Z,101\n2026-05-01T12:00:00,99\n2026-05-01T19:00:00Z,98\n"
    let file = try ScratchFile(text)
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("line 2") && refusal.contains("line 3") && refusal.contains("--force"))
    #expect(try file.readings { $0.force = true }.readings.count == 3)
    #expect(try file.refusal { $0.columns = ["time": "time", "value": "glucose"] } != nil)
  }

  /// In a long table, only the first rows are checked before the import, so the later time is rejected.
  @Test func aTimeWithAUTCOffsetAfterManyWithoutIsRejected() throws {
    let rows = (0..<20_400).map { row in
      let time = DeviceTime(seconds: 1_777_600_000 + Int64(row) * 300).text
      return "\(time)\(row == 20_300 ? "Z" : ""),\(90 + row * 37 % 71)\n"
    }
    let result = try ScratchFile("time,glucose (mg/dL)\n" + rows.joined()).readings()
    #expect(result.readings.count == 20_399 && result.rejections.map(\.line) == [20_302])
  }

  private static func days(_ form: (Int) -> String, _ days: ClosedRange<Int>) -> String {
    days.map { day in "\(form(day)),10\(day % 10)\n" }.joined()
  }

  @Test func aTableWhoseDateNotationChangesAtDay12IsRefused() throws {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
    // A spreadsheet that expects the month first reads 05/03/2026 as 3 May, and leaves 13/03/2026 as text.
    let exchanged =
      Self.days({ "2026-\(two($0))-03 07:00" }, 1...12) + Self.days({ "\($0)/03/2026 07:00" }, 13...31)
    let refusal = try #require(try ScratchFile("time,glucose (mg/dL)\n" + exchanged).refusal())
    #expect(refusal.contains("exchanged day and month"), "\(refusal)")
    let parts =
      Self.days({ "2026-\(two($0))-03,07:0\($0 % 9)" }, 1...12)
      + Self.days({ "\($0)/03/2026,07:0\($0 % 9)" }, 13...31)
    #expect(try ScratchFile("date,time,glucose (mg/dL)\n" + parts).refusal() != nil)
    // The table is still refused if a person typed a row in one of the two notations, because the other rows
    // remain exchanged.
    for typed in ["2026-03-15 09:00,104\n", "5/03/2026 09:00,104\n"] {
      let refusal = try ScratchFile("time,glucose (mg/dL)\n" + exchanged + typed).refusal()
      #expect(refusal?.contains("exchanged day and month") == true, "\(typed): \(refusal ?? "read")")
    }
    // The table is read if a program changed the notation of its dates on the 20th.
    let changed =
      Self.days({ "2026-03-\(two($0)) 07:0\($0 % 9)" }, 1...19)
      + Self.days({ "\($0)/03/2026 07:0\($0 % 9)" }, 20...31)
    #expect(try ScratchFile("time,glucose (mg/dL)\n" + changed).readings().readings.count == 31)
    // The table is read if the dates in each of the two notations cover a whole month.
    let whole =
      Self.days({ "2026-02-\(two($0)) 07:0\($0 % 9)" }, 1...28)
      + Self.days({ "\($0)/03/2026 07:0\($0 % 9)" }, 1...31)
    #expect(try ScratchFile("time,glucose (mg/dL)\n" + whole).readings().readings.count == 59)
  }

  // MARK: Years with two digits

  private static func table(_ dates: String...) -> String {
    "time,glucose (mg/dL)\n" + dates.enumerated().map { "\($1) 0\($0 + 7):00,10\($0)\n" }.joined()
  }

  /// For these tests, the current date is in November 2026.
  @Test func datesThatMayBeginWithTheYearRequireADateOrder() throws {
    let file = try ScratchFile(Self.table("26/10/01", "26/10/02", "26/10/13"))
    #expect(try file.refusal()?.contains("seem to begin with a year of two digits") == true)
    #expect(try file.refusal { $0.dateOrder = "dmy" } == nil)
    // If these dates began with the day, all would be on the 20th or 26th of May of several years, some in
    // the future. That is unlikely, so they may begin with the year.
    for (first, days) in [("20/05", 21...24), ("26/05", 14...25), ("26-05", 29...31)] {
      let dates = days.map { "\(first)\(first.contains("/") ? "/" : "-")\($0) 07:00,101\n" }.joined()
      let file = try ScratchFile("time,glucose (mg/dL)\n" + dates)
      #expect(try file.refusal()?.contains("four digits") == true, "\(dates)")
    }
    // With the year last, the second date would be in 2031.
    let future = try ScratchFile(Self.table("26/03/14", "26/03/31"))
    #expect(try future.refusal()?.contains("four digits") == true)
    // Dates around New Year begin with two different numbers, which may be two years.
    #expect(try ScratchFile(Self.table("25/12/01", "26/01/02")).refusal()?.contains("four digits") == true)
  }

  /// If the year were last, the dates of December would be in 2028 to 2031, and those of January in 2001.
  @Test(arguments: [1, 60])
  func datesAroundNewYearMayBeginWithTheYear(_ rowsPerDay: Int) throws {
    let days = ["24/12/28", "24/12/29", "24/12/30", "24/12/31", "25/1/01", "25/1/02", "25/1/03"]
    let rows = days.flatMap { day in
      (0..<rowsPerDay).map { "\(day) 10:\(10 + $0 / 2):\(10 + $0 % 2 * 30),\(100 + $0 % 37)\n" }
    }
    let file = try ScratchFile("time,glucose (mg/dL)\n" + rows.joined())
    #expect(try file.refusal()?.contains("seem to begin with a year of two digits") == true)
    // These dates have the day first and are in two consecutive years, so they are read.
    let other = ["24/12/24", "25/12/24", "24/01/25", "25/01/25"].map {
      "\($0) 10:10,\($0.prefix(2))\($0.suffix(1))\n"
    }
    #expect(try ScratchFile("time,glucose (mg/dL)\n" + other.joined()).refusal() == nil)
  }

  @Test(arguments: [
    // The day is first, and the year is the current one or the one before.
    table("25/10/26", "26/10/26"), table("26/10/25"),
    // With the year first, the second date would be in 2031, which is in the future.
    table("26/10/01", "31/10/01"),
    // Three different first numbers can only be days, and a number of four digits is a year.
    table("24/10/05", "25/10/05", "26/10/05"), table("26/10/2001", "26/11/2001"),
    // The dates are one day in two years, such as a birthday, or three days of a month. So the day is first.
    table("26/10/24", "26/10/25"), table("03/10/26", "13/10/26", "23/10/26"),
  ])
  func datesThatCannotBeginWithTheYearAreReadWithTheYearLast(_ text: String) throws {
    #expect(try ScratchFile(text).refusal() == nil, "\(text)")
  }

  // MARK: Zones next to the times

  @Test(arguments: [
    "time (EST),glucose (mg/dL)\n2026-05-01T08:00:00,100\n",
    "time_utc+2,glucose (mg/dL)\n2026-05-01T08:00:00,100\n",
    "time GMT+8,glucose (mg/dL)\n2026-05-01T08:00:00,100\n",
    "Timestamp (America/New_York),glucose (mg/dL)\n2026-05-01T08:00:00,100\n",
    "time,offset_minutes,glucose (mg/dL)\n2026-03-01T08:00:00,60,101\n2026-05-09T08:10:00,120,104\n",
    "time,utcoffset_seconds,glucose (mg/dL)\n2026-05-01T08:00:00,7200,101\n",
    "time,UTC offset (h),glucose (mg/dL)\n2026-05-01T08:00:00,2,101\n",
  ])
  func aTimeZoneThatCannotBeReadRequiresTheTimeZoneOption(_ text: String) throws {
    let file = try ScratchFile(text)
    #expect(try file.refusal()?.contains("--timezone") == true, "\(text)")
    #expect(
      try file.refusal {
        $0.zoneIsGiven = true
      } == nil, "\(text)")
  }

  @Test(arguments: [
    ("time_offset", "UTC+0100", "UTC+0200"), ("timezone", "GMT+1", "GMT+2"),
    ("Zeitzone", "UTC+01:00", "utc+2:00"),
  ])
  func timesNextToAColumnOfUTCOffsetsAreRefusedUntilMapped(_ name: String, _ winter: String, _ summer: String)
    throws
  {
    let rows = "2026-03-04 07:10:00.000,101,\(winter)\n2026-07-04 12:10:00.000,104,\(summer)\n"
    let file = try ScratchFile("start_time,glucose (mg/dL),\(name)\n" + rows)
    let zone = try LogbookZone(name: "America/New_York")
    let refusal = try #require(
      try file.refusal {
        ($0.zone, $0.zoneIsGiven) = (zone, true)
      })
    #expect(refusal.contains("local or in UTC"), "\(refusal)")
    for role in ["time", "utc"] {
      #expect(
        refusal.contains("--map '\(role)=start_time,offset=\(name),value=glucose (mg/dL)'"), "\(refusal)")
    }
    func placed(_ role: String) throws -> [String] {
      try file.readings {
        $0.columns = [role: "start_time", "offset": name, "value": "glucose (mg/dL)"]
        $0.zone = zone
      }.readings.map { "\($0.deviceTime.text) \($0.placement.utcOffset) \($0.placement.source)" }
    }
    #expect(try placed("time") == ["2026-03-04T07:10:00 3600 stated", "2026-07-04T12:10:00 7200 stated"])
    #expect(try placed("utc") == ["2026-03-04T08:10:00 3600 stated", "2026-07-04T14:10:00 7200 stated"])
    // The name of the time column, or a Z after the times, shows whether they are local or in UTC.
    func shown(_ text: String) throws -> [String] {
      try ScratchFile(text).readings().readings.map(\.deviceTime.text)
    }
    #expect(
      try shown("time (UTC),glucose,\(name)\n" + rows) == ["2026-03-04T08:10:00", "2026-07-04T14:10:00"])
    #expect(
      try shown("local time,glucose,\(name)\n" + rows) == ["2026-03-04T07:10:00", "2026-07-04T12:10:00"])
    #expect(
      try shown("time,glucose,\(name)\n" + rows.replacing(".000", with: "Z"))
        == ["2026-03-04T08:10:00", "2026-07-04T14:10:00"])
  }

  @Test func databaseTimesNextToUTCOffsetsAreNotSuggestedAsTimesOfReadings() throws {
    let file = try ScratchFile(
      "start_time,glucose,update_time,create_time,time_offset\n"
        + "2026-03-04 07:10:00,101,2026-03-04 07:11:00,2026-03-04 07:11:00,UTC+0100\n")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("time=start_time,offset=time_offset,value=glucose"), "\(refusal)")
    #expect(!refusal.contains("time=update_time") && !refusal.contains("time=create_time"), "\(refusal)")
    // If several columns may be the time, each suggestion includes the column of offsets.
    let several = try ScratchFile(
      "start_time,glucose,end_time,time_offset\n2026-03-04 07:10:00,101,2026-03-04 07:11:00,UTC+0100\n")
    let question = try #require(try several.refusal())
    #expect(question.split(separator: "\n").dropFirst().allSatisfy { $0.contains("offset=time_offset") })
    #expect(question.contains("utc=end_time"), "\(question)")
  }

  @Test func aMappingOfBothLocalTimeAndUTCIsRefused() throws {
    let file = try ScratchFile("a,b,glucose\n2026-03-04 07:10:00,2026-03-04 06:10:00,101\n")
    let refusal = try file.refusal { $0.columns = ["time": "a", "utc": "b", "value": "glucose"] }
    #expect(refusal?.contains("times in UTC") == true)
    let readings = try file.readings { $0.columns = ["utc": "b", "value": "glucose"] }.readings
    #expect(readings.map(\.placement) == [Placement(utcOffset: 3600, source: .instant)])
    #expect(readings.map(\.deviceTime.text) == ["2026-03-04T07:10:00"])
  }

  @Test func aGivenTimeZoneDoesNotReplaceOffsetsOfSeveralTimeZones() throws {
    let file = try ScratchFile(
      "time,offset_minutes,glucose\n2026-05-01T08:00:00,120,101\n2026-05-09T08:10:00,-240,104\n")
    let refusal = try #require(try file.refusal { $0.zoneIsGiven = true })
    #expect(refusal.contains("several time zones") && refusal.contains("offset=offset_minutes"), "\(refusal)")
    let map = ["time": "time", "offset": "offset_minutes", "value": "glucose"]
    #expect(try file.readings { $0.columns = map }.readings.map(\.placement.utcOffset) == [7200, -14_400])
  }

  @Test func utcOffsetsWithAColonAreUsedUnderAnyColumnName() throws {
    let text =
      "time,Zeitzone,glucose (mg/dL)\n2026-05-01T08:00:00,+02:00,101\n2026-05-09T08:10:00,-04:00,104\n"
    #expect(try ScratchFile(text).readings().readings.map(\.placement.utcOffset) == [7200, -14_400])
  }

  @Test(arguments: [
    "time,calibration offset,glucose (mg/dL)\n2026-05-01T08:00:00,2,101\n",
    "time,Est. value,glucose (mg/dL)\n2026-05-01T08:00:00,2,101\n",
    "time,Delta,glucose (mg/dL)\n2026-05-01T08:00:00,-15,101\n",
    "time,offset_minutes,glucose (mg/dL)\n2026-05-01T08:00:00,0,101\n",
    "Date-Time (local),glucose (mg/dL)\n2026-05-01T08:00:00,101\n",
  ])
  func textThatOnlyLooksLikeATimeZoneIsIgnored(_ text: String) throws {
    #expect(try ScratchFile(text).refusal() == nil, "\(text)")
  }

  /// The order of a Swift dictionary differs between instances, so the test repeats the import.
  @Test func aColumnWithAsManyTimesAsNumbersIsReadByItsName() throws {
    let rows = "2026-03-04,08:10:00,112,a\n2026-03-04,12:10:00,182,b\n2026-03-05,12:10:00,62,c\n"
    let summary = "\nSummary\nAverage,118.67\nMinimum,62\nMaximum,182\n"
    for _ in 0..<40 {
      let export = try TextExport("Date,Time,Glucose (mg/dL),Category\n" + rows + summary)
      #expect(export.readings.count == 3)
      let values = "time,glucose\n2026-03-04T08:10:00,5.6\n2026-03-04T12:10:00,2026-03-04\n"
      let read = try TextExport(values) { $0.unit = .millimolesPerLitre }
      #expect(read.readings.count == 1 && read.rejections.count == 1)
    }
  }
}
