// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Archives

/// Compares the times that sheets store as day numbers or texts with a calendar that is counted day by day.
@Suite struct SheetTimeTests {
  private func text(_ time: SheetTime?, withTime: Bool = false) -> String? {
    time.map { time in
      var bytes: [UInt8] = []
      time.append(to: &bytes, withTime: withTime)
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private func time(_ iso: String) -> SheetTime? {
    Array(iso.utf8).withUnsafeBufferPointer { SheetTime(iso: $0) }
  }

  private func seconds(_ duration: String) -> Int? {
    Array(duration.utf8).withUnsafeBufferPointer { SheetTime.seconds(ofDuration: $0) }
  }

  private static func digits(_ number: Int, _ count: Int = 2) -> String {
    String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
  }

  // MARK: - Day numbers

  @Test func everySpreadsheetDayOfFortyYearsIsReadFromItsNumber() {
    // Day 36526 is 2000-01-01.
    var (year, month, day) = (2000, 1, 1)
    for serial in 36_526..<36_526 + 14_610 {
      let expected = "\(year)-\(Self.digits(month))-\(Self.digits(day))"
      let found = text(SheetTime(serial: Double(serial), is1904: false))
      if found != expected { Issue.record("\(serial): \(found ?? "none"), not \(expected)") }
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect([year, month, day] == [2040, 1, 1])
  }

  @Test(arguments: [
    (25_569.0, "1970-01-01"), (61, "1900-03-01"), (59, "1900-02-28"), (1, "1900-01-01"),
    (36_585, "2000-02-29"), (73_109, "2100-02-28"), (73_110, "2100-03-01"), (182_682, "2400-02-29"),
    (46_143, "2026-05-01"), (2_958_465, "9999-12-31"),
  ])
  func spreadsheetDaysFollowTheGregorianLeapYears(_ serial: Double, _ date: String) {
    #expect(text(SheetTime(serial: serial, is1904: false)) == date)
  }

  @Test(arguments: [-1.0, -0.001, 2_958_466, 1e18, .infinity, .nan])
  func spreadsheetNumbersOutsideTheRangeOfDaysAreRefused(_ serial: Double) {
    #expect(SheetTime(serial: serial, is1904: false) == nil)
    #expect(SheetTime(serial: serial, is1904: true) == nil)
  }

  @Test func aDayNumberFrom1904IsFourYearsAndADayLaterThanFrom1900() {
    #expect(text(SheetTime(serial: 0, is1904: true)) == "1904-01-01")
    for serial in stride(from: 100.0, to: 60_000, by: 997.25) {
      let old = text(SheetTime(serial: serial, is1904: true), withTime: true)
      #expect(old == text(SheetTime(serial: serial + 1462, is1904: false), withTime: true))
    }
  }

  /// A program stores the fraction of a day in binary, which is rarely exact.
  @Test func everyMinuteOfADayIsReadFromItsSpreadsheetNumber() {
    for minute in 0..<1440 {
      for error in [-2e-10, 0, 2e-10] {
        let serial = 46_143 + Double(minute) / 1440 + error
        let expected = "2026-05-01 \(Self.digits(minute / 60)):\(Self.digits(minute % 60)):00"
        // A number just before midnight means midnight.
        if text(SheetTime(serial: serial, is1904: false), withTime: true) != expected {
          Issue.record("minute \(minute), \(error)")
        }
      }
    }
  }

  @Test(arguments: UInt64(1)...6) func aSecondOfAnyDayIsReadFromItsSpreadsheetNumberAndText(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let day = Int.random(in: 20_000...80_000, using: &generator)
      let second = Int.random(in: 0..<86_400, using: &generator)
      let number = SheetTime(serial: Double(day) + Double(second) / 86_400, is1904: false)
      #expect(number?.seconds == second && number?.day == day - 25_569)
      let shown = text(number, withTime: true) ?? ""
      for iso in [shown, shown.replacing(" ", with: "T"), shown + ".4", shown + ".04999"] {
        #expect(time(iso)?.day == number?.day && time(iso)?.seconds == second, "\(iso)")
      }
    }
  }

  // MARK: - Texts

  @Test(arguments: [
    ("2026-05-01", 0), ("2026-05-01T08:10", 29_400), ("2026-05-01 08:10:30", 29_430),
    ("2026-05-01T08:10:30.5", 29_431), ("2026-05-01T08:10:30.49", 29_430),
  ])
  func anISO8601TextInASpreadsheetIsReadAsATime(_ iso: String, _ expected: Int) {
    #expect(time(iso)?.seconds == expected && text(time(iso)) == "2026-05-01")
  }

  @Test func aSpreadsheetTimeHalfASecondBeforeMidnightRoundsToTheNextDay() {
    #expect(text(time("2026-12-31T23:59:59.5"), withTime: true) == "2027-01-01 00:00:00")
    #expect(text(time("2026-12-31T23:59:59.4"), withTime: true) == "2026-12-31 23:59:59")
  }

  @Test(arguments: [
    "", "2026", "2026-5-1", "2026-13-01", "2026-00-10", "2026-01-32", "2026-01-00", "2026-02-30",
    "2025-02-29", "2026-04-31", "2026/05/01",
    "01-05-2026",
    "2026-05-01T", "2026-05-01T8:10", "2026-05-01T24:00", "2026-05-01T08:60", "2026-05-01T08:10:60",
    "2026-05-01T08:10:30Z", "2026-05-01T08:10:30+02:00", "2026-05-01T08:10:3", "2026-05-01x08:10",
    "2026-05-01T08.10", "2026-05-01T08:10:30.5s", "٢٠٢٦-٠٥-٠١",
  ])
  func aTextThatIsNotISO8601IsNotReadAsASpreadsheetTime(_ iso: String) { #expect(time(iso) == nil) }

  @Test(arguments: [
    ("PT08H10M00S", 29_400), ("PT8H", 28_800), ("PT10M", 600), ("PT45S", 45), ("PT26H00M00S", 93_600),
    ("PT08H10M00.5S", 29_401), ("PT08H10M00.4S", 29_400), ("PT0S", 0), ("PT100H", 360_000),
  ])
  func anODSDurationIsReadInSeconds(_ text: String, _ expected: Int) { #expect(seconds(text) == expected) }

  @Test(arguments: ["", "PT", "P1D", "PT8", "8H", "PTH", "PT8X", "PT-8H", "PT08:10", "PT0.5", "PT12345678H"])
  func anInvalidODSDurationIsRefused(_ text: String) { #expect(seconds(text) == nil) }

  @Test(arguments: [
    (0, "00:00:00"), (59, "00:00:59"), (86_399, "23:59:59"), (93_600, "26:00:00"), (360_061, "100:01:01"),
  ])
  func anODSDurationMayExceedADay(_ seconds: Int, _ expected: String) {
    var bytes: [UInt8] = []
    SheetTime.append(clock: seconds, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  // MARK: - Formats of numbers

  @Test(arguments: [
    ("General", CellForm.number), ("0", .number), ("0.0", .number), ("#,##0.00", .number), ("0%", .number),
    ("@", .number), ("", .number), ("0.0\" mmol/L\"", .number), ("\"day\" 0", .number),
    ("[Red]0.00", .number),
    ("_-0_-", .number), ("\\d0", .number), ("dd/mm/yyyy", .date), ("m/d/yy", .date), ("yyyy-mm-dd;@", .date),
    ("d\".\"m\".\"yyyy", .date), ("mmm", .date), ("yyyy", .date), ("dddd, mmmm dd", .date),
    ("[$-409]d-mmm-yy", .date), ("hh:mm", .time), ("h:mm AM/PM", .time), ("[$-409]h:mm AM/PM;@", .time),
    ("mm:ss.0", .time), ("hh:mm:ss", .time), ("m/d/yy h:mm", .dateTime), ("dd/mm/yyyy\\ hh:mm", .dateTime),
    ("yyyy-mm-dd\"T\"hh:mm:ss.000", .dateTime), ("[h]:mm:ss", .duration), ("[hh]:mm", .duration),
    ("[mm]", .duration), ("[ss].00", .duration),
  ])
  func aCellFormatCodeDeterminesWhetherNumbersAreDates(_ code: String, _ form: CellForm) {
    #expect(NumberFormats.form(ofCode: code) == form)
    #expect(NumberFormats.form(ofCode: code.uppercased()) == form)
  }

  @Test func aCellFormatCodeThatIsTooLongIsTreatedAsANumber() {
    #expect(NumberFormats.form(ofCode: String(repeating: "y", count: 1024)) == .date)
    #expect(NumberFormats.form(ofCode: String(repeating: "y", count: 1025)) == .number)
  }

  // MARK: - Exchanged days and months

  private func exchanged(_ dates: [String], _ texts: [String]) -> Int? {
    var columns = DateColumns()
    for date in dates { if let time = time(date) { columns.observe(time, column: 2) } }
    for text in texts { Array(text.utf8).withUnsafeBufferPointer { columns.observe(text: $0, column: 2) } }
    return columns.exchanged
  }

  @Test func aSpreadsheetColumnWithSwappedDayAndMonthIsFound() {
    let early = ["2026-04-05", "2026-01-12"]
    #expect(exchanged(early, ["13/04/2026", "14/04/2026 08:00"]) == 2)
    #expect(exchanged(early, ["04-13-26", "04-14-26"]) == 2)
    // A single text may be a title, and dates with dots always have one order.
    #expect(exchanged(early, ["13/04/2026"]) == nil)
    #expect(exchanged(early, ["13.04.2026", "14.04.2026"]) == nil)
    // A date with a day above 12 shows that the program used the right order.
    #expect(exchanged(early + ["2026-04-13"], ["13/04/2026", "14/04/2026"]) == nil)
    #expect(exchanged([], ["13/04/2026", "14/04/2026"]) == nil)
    #expect(exchanged(early, ["04/05/2026", "05/06/2026", "32/04/2026", "00/13/2026", "13/13/2026"]) == nil)
  }
}
