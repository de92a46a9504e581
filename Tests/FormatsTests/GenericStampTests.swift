// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests full times next to a separate date and time of day. Either may be the time of the measurement.
@Suite struct GenericStampTests {
  /// The times of the measurements, and those at which their forms were sent.
  private static let rows = [
    ("2026-05-13", "07:10", "2026-05-13 07:11:20"), ("2026-05-13", "12:20", "2026-05-13 14:02:03"),
    ("2026-05-14", "18:05", "2026-05-15 08:40:00"),
  ]
  private static let measured = ["2026-05-13T07:10:00", "2026-05-13T12:20:00", "2026-05-14T18:05:00"]

  private func file(
    _ header: String, _ rows: [(String, String, String)] = rows,
    _ cells: ((date: String, clock: String, stamp: String)) -> String = {
      "\($0.stamp),\($0.date),\($0.clock)"
    }
  ) throws -> ScratchFile {
    let lines = rows.enumerated().map { "\(cells($0.element)),\(100 + $0.offset)\n" }
    return try ScratchFile("\(header),Glucose (mg/dL)\n" + lines.joined())
  }

  private func times(_ file: ScratchFile) throws -> [String] {
    try file.readings().readings.map(\.deviceTime.text)
  }

  // MARK: A date and a time of day

  @Test(arguments: [
    "Timestamp", "Submitted", "Entry date", "Logged", "Datetime", "Zeitstempel", "Horodateur",
    "Marca temporal", "Informazioni cronologiche", "タイムスタンプ", "diary_timestamp", "Start time",
  ])
  func theTimeOfSubmissionIsNotThatOfTheMeasurement(_ name: String) throws {
    #expect(try times(file("\(name),Date,Time")) == Self.measured)
    #expect(try times(file("\(name),bg_date,bg_time")) == Self.measured)
    let last = try file("Datum,Uhrzeit,\(name)") { "\($0.date),\($0.clock),\($0.stamp)" }
    #expect(try times(last) == Self.measured)
  }

  @Test func datesWithTheMonthFirstAreComparedInTheirOrder() throws {
    let rows = [
      ("5/4/2026", "7:10:00 AM", "5/4/2026 07:11:00"), ("5/4/2026", "12:10:00 PM", "5/4/2026 13:50:00"),
      ("5/31/2026", "6:10:00 PM", "6/1/2026 07:13:00"),
    ]
    #expect(
      try times(file("Timestamp,Date,Time", rows))
        == ["2026-05-04T07:10:00", "2026-05-04T12:10:00", "2026-05-31T18:10:00"])
  }

  @Test func severalStampsAreLeftOut() throws {
    let text =
      "start,end,today,bg_date,bg_time,glucose,_submission_time\n"
      + "2026-05-13T07:41:08.000+02:00,2026-05-13T07:41:58.000+02:00,2026-05-13,2026-05-13,"
      + "07:10:00.000+02:00,101,2026-05-13T05:42:00\n"
      + "2026-05-14T14:19:03.000+02:00,2026-05-14T14:19:53.000+02:00,2026-05-14,2026-05-14,"
      + "12:20:00.000+02:00,102,2026-05-14T12:20:00\n"
    let readings = try ScratchFile(text).readings().readings
    #expect(readings.map(\.deviceTime.text) == ["2026-05-13T07:10:00", "2026-05-14T12:20:00"])
    #expect(readings.map(\.placement.utcOffset) == [7200, 7200])
  }

  @Test(arguments: [
    // One row does not show that the distance varies.
    [("2026-05-13", "07:10", "2026-05-13 07:41:00")],
    // A time is earlier.
    [("2026-05-13", "07:10", "2026-05-13 06:41:00"), ("2026-05-13", "12:20", "2026-05-13 14:02:03")],
    // All are later by two hours, as those of another time zone.
    [("2026-05-13", "07:10", "2026-05-13 05:10:00"), ("2026-05-13", "12:20", "2026-05-13 10:20:00")],
    // Stamps in UTC may be later, but no row shows by how much.
    [("2026-05-13", "07:10", "2026-05-13T05:41:00Z"), ("2026-05-13", "12:20", "2026-05-13T12:02:03Z")],
    // The times of day may be rounded to hours.
    [("2026-05-13", "07:00", "2026-05-13 07:41:00"), ("2026-05-13", "12:00", "2026-05-13 12:02:03")],
  ])
  func contradictoryTimesAreRefusedAndTheSeparateOnesAreSuggestedFirst(_ rows: [(String, String, String)])
    throws
  {
    let file = try file("Timestamp,Date,Time", rows)
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'Timestamp' are others than those in 'Date', 'Time'"), "\(refusal)")
    let commands = refusal.split(separator: "\n").dropFirst()
    #expect(commands.first?.contains("'date=Date,clock=Time,value=Glucose (mg/dL)'") == true, "\(refusal)")
    #expect(commands.last?.contains("'time=Timestamp,value=Glucose (mg/dL)'") == true, "\(refusal)")
    let map = ["date": "Date", "clock": "Time", "value": "Glucose (mg/dL)"]
    #expect(try file.readings { $0.columns = map }.readings.count == rows.count)
  }

  /// The first entries were sent at once, so that only later rows show what the columns are.
  @Test func laterRowsWithOtherTimesAreRefused() throws {
    let first = (0..<60).map { number in
      let (day, minute) = (1 + number / 3, 10 + number % 40)
      let date = "2026-05-\(day < 10 ? "0" : "")\(day)"
      let clock = "\(["07", "12", "18"][number % 3]):\(minute)"
      return (date, clock, "\(date) \(clock):09")
    }
    #expect(try times(file("Timestamp,Date,Time", first)).count == 60)
    let last = [
      ("2026-05-22", "07:10", "2026-05-22 07:31:05"), ("2026-05-22", "12:05", "2026-05-22 14:12:00"),
    ]
    let refusal = try #require(try file("Timestamp,Date,Time", first + last).refusal())
    #expect(refusal.contains("'Timestamp' are others than those in 'Date', 'Time'"), "\(refusal)")
    let commands = refusal.split(separator: "\n").dropFirst()
    #expect(commands.first?.contains("'date=Date,clock=Time,value=") == true && commands.count == 2)
    // One row may be a typing error.
    #expect(try times(file("Timestamp,Date,Time", first + last.prefix(1))).count == 61)
  }

  @Test(arguments: ["2026-05-13 07:10:20", "2026-05-13T07:10:59", "13.05.2026 07:10"])
  func fullTimesThatAgreeWithTheirPartsAreRead(_ time: String) throws {
    let later = time.replacing("13", with: "14")
    let rows = [("2026-05-13", "07:10", time), ("2026-05-14", "07:10", later)]
    let read = try times(file("Timestamp,Date,Time", rows))
    #expect(read.map { String($0.prefix(16)) } == ["2026-05-13T07:10", "2026-05-14T07:10"])
    #expect(read[0].hasSuffix(time.count == 16 ? "00" : String(time.suffix(2))))
  }

  @Test(arguments: ["2026-05-13T05:10:00Z", "2026-05-13T07:10:00+02:00", "1778649000"])
  func timesWithAnOffsetAreReadNextToTheTimesOfTheirZone(_ time: String) throws {
    let text = "Timestamp,Date,Time,Glucose (mg/dL)\n\(time),2026-05-13,07:10,101\n"
    #expect(try times(ScratchFile(text)) == ["2026-05-13T07:10:00"])
  }

  @Test(arguments: [
    "Time,Date,Duration", "Time,Date,Insulin time", "Time,Sensor start date,Time of sensor start",
    "Time,Meal date,Meal time", "Time,Date,Essen", "Time,Date,Injected", "Time,Date,Comida",
  ])
  func otherDatesAndTimesOfDayDoNotReplaceTheFullTimes(_ header: String) throws {
    let file = try file(header) { "\($0.stamp),\($0.stamp.prefix(10)),0\($0.clock.suffix(1)):15" }
    #expect(
      try times(file) == ["2026-05-13T07:11:20", "2026-05-13T14:02:03", "2026-05-15T08:40:00"], "\(header)")
  }

  // MARK: Only a time of day

  @Test(arguments: ["Time of test", "When did you measure?", "Uhrzeit der Messung"])
  func fullTimesWithOtherTimesOfDayNextToThemAreRefused(_ name: String) throws {
    let rows = Self.rows + [("2026-05-16", "22:15", "2026-05-16 22:18:00")]
    let file = try file("Timestamp,\(name)", rows) { "\($0.stamp),\($0.clock)" }
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)' has other times of day"), "\(refusal)")
    #expect(refusal.contains("If the values were measured then"), "\(refusal)")
  }

  @Test(arguments: [
    ("Duration", ["0:30", "0:45", "1:10"]), ("Bedtime", ["22:30", "22:30", "23:00"]),
    ("Last meal", ["06:30", "11:45", "17:10"]), ("Time", ["07:11", "14:02", "08:40"]),
    ("Local time", ["09:11", "16:02", "10:40"]), ("Essenszeit", ["07:05", "13:50", "08:31"]),
    ("Injection time", ["07:05", "13:50", "08:31"]), ("Heure du repas", ["07:05", "13:50", "08:31"]),
    ("End", ["07:15", "14:10", "08:51"]),
  ])
  func timesOfDayOfOtherThingsDoNotPreventTheImport(_ name: String, _ clocks: [String]) throws {
    let rows = zip(Self.rows, clocks).map { ($0.0.0, $0.1, $0.0.2) }
    let file = try file("Timestamp,\(name)", rows) { "\($0.stamp),\($0.clock)" }
    #expect(
      try times(file) == ["2026-05-13T07:11:20", "2026-05-13T14:02:03", "2026-05-15T08:40:00"], "\(name)")
  }

  /// Half of the forms state no date.
  @Test func stampsNextToPartsThatSomeRowsLackAreRefused() throws {
    let file = try file("Timestamp,Date,Time", Self.rows + [("", "", "2026-05-16 07:00:00")])
    #expect(try file.refusal()?.contains("'Timestamp' are others than those in 'Date', 'Time'") == true)
  }

  @Test func aPeriodOfTheDayIsNotATimeWithAnOffset() throws {
    let rows = "2026-05-13,06:30-07:30,101\n2026-05-13,12:00-13:00,99\n"
    #expect(try ScratchFile("Date,Time,Glucose (mg/dL)\n" + rows).refusal() != nil)
    let offsets = "2026-05-13,06:30:00-07:00,101\n2026-05-13,12:00+02:00,99\n"
    let file = try ScratchFile("Date,Time,Glucose (mg/dL)\n" + offsets)
    #expect(try file.readings().readings.map(\.placement.utcOffset) == [-25_200, 7200])
  }

  // MARK: Times of day of a spreadsheet

  @Test(arguments: [
    "1899-12-30 ", "1899-12-30T", "1899-12-31 ", "1900-01-00 ", "1900-01-01 ", "12/30/1899 ", "30.12.1899 ",
    "1904-01-01 ",
  ])
  func aTimeOnTheFirstDayOfASpreadsheetIsATimeOfDay(_ day: String) throws {
    let rows = "2026-05-13,\(day)07:10:05,101\n2026-05-14,\(day)00:00:00,99\n2026-05-14,\(day)18:05:00,98\n"
    let file = try ScratchFile("Date,Time,Glucose (mg/dL)\n\(rows)")
    #expect(try times(file) == ["2026-05-13T07:10:05", "2026-05-14T00:00:00", "2026-05-14T18:05:00"])
    // Such a time has no date, so no mapping can read it as a full time.
    let mapped = try file.readings { $0.columns = ["time": "Time", "value": "Glucose (mg/dL)"] }
    #expect(mapped.readings.isEmpty && mapped.rejections.count == 3)
  }

  @Test func aTimeOnAnotherDayBefore1970IsKept() throws {
    let file = try ScratchFile("Time,Glucose (mg/dL)\n1969-12-31 23:10,101\n1900-01-02 07:10,102\n")
    let map = ["time": "Time", "value": "Glucose (mg/dL)"]
    #expect(try file.readings { $0.columns = map }.readings.count == 2)
  }

  // MARK: Hours with decimals

  private static let decimals = ["7.00", "12.17", "18.75", "21.50", "22.80"]

  @Test func hoursWithDecimalsAreRefusedAsTimesOfDay() throws {
    let rows = Self.decimals.map { "2026-05-13,\($0),101\n" }
    let file = try ScratchFile("Date,Time,Glucose (mg/dL)\n" + rows.joined())
    let map = ["date": "Date", "clock": "Time", "value": "Glucose (mg/dL)"]
    for columns in [[:], map] {
      let refusal = try #require(try file.refusal { $0.columns = columns })
      #expect(refusal.contains("18.75 (line 4)") && refusal.contains("--force"), "\(refusal)")
    }
    #expect(try file.readings { $0.force = true }.readings.count == 3)
  }

  /// One number such as 7.65 may be a typing error.
  @Test(arguments: [
    ["7.00", "12.17", "18.45"], ["7.00", "12.17", "7.65"], ["7:00", "12:17", "18.75"],
    ["7:00", "12:17", "18:75"],
  ])
  func timesOfDayWithADotOrAColonAreRead(_ clocks: [String]) throws {
    let rows = clocks.map { "2026-05-13,\($0),101\n" }
    let result = try ScratchFile("Date,Time,Glucose (mg/dL)\n" + rows.joined()).readings()
    #expect(result.readings.count + result.rejections.count == 3 && result.readings.count >= 2)
  }
}
