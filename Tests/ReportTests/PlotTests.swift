// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Compares whole plots for a terminal with the expected text.
struct PlotTests {
  /// The lines as one text.
  private func text(_ lines: [PlotLine]) -> String { lines.map(\.text).joined(separator: "\n") }

  // MARK: - Days

  @Test func aPlotOfADayWithoutDataStatesThatThereIsNone() {
    #expect(
      text(SampleDay.empty.lines()) == """
        Monday 2026-03-02 · 24 hours · zone UTC
        mg/dL · target 70–180
        no readings and no records
        """)
  }

  @Test func aSingleReadingOfADayIsDrawnAsOneDot() {
    #expect(
      text(SampleDay.oneReading.lines()) == """
        Monday 2026-03-02 · 24 hours · zone UTC
        mg/dL · target 70–180
         300 ┤
         250 ┤
             │
         180 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
             │
             │           ⠂
          70 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
          54 ┤
             └┴───────┴────────┴───────┴───────┴
              00      06       12      18     24
        ⠒ sensor
        Sensor: 1 reading · 0 % of the time
        mean 120 · lowest 120 at 08:00
        highest 120 at 08:00
        """)
  }

  @Test func aDayOfOnlyLOReadingsIsDrawnAsALineAtTheBottom() {
    #expect(
      text(SampleDay.allLow.lines()) == """
        Monday 2026-03-02 · 24 hours · zone UTC
        mg/dL · target 70–180
         300 ┤
         250 ┤
             │
         180 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
             │
             │
          70 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
          54 ┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
             └┴───────┴────────┴───────┴───────┴
              00      06       12      18     24
        ⠒ sensor
        Sensor: 288 readings · 100 % of the time
        mean 40 · lowest LO at 00:00
        highest LO at 00:00 · LO 288
        ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
        ▓ very low 100.0 %   ▒ low 0.0 %
        █ target 0.0 %   ░ high 0.0 %
        ▞ very high 0.0 %
        """)
  }

  @Test func theDayPlotShowsACurveWithGapsInsulinFoodAndNotes() {
    #expect(
      text(SampleDay.eventful.lines(columns: 80, rows: 12)) == """
        Monday 2026-03-02 · 24 hours · zone UTC · mg/dL · target 70–180
         300 ┤            ⣄                        ⡄                       ⣠
             │          ⢀⠞⠈⢢                       ⠘⢆                     ⡔⠁⠳⡀
         250 ┤         ⢀⠎   ⢣                       ⠈⢆                   ⡜   ⠱⡀
             │        ⡠⠊     ⠣⡀                      ⠈⢦                ⢀⠜     ⠑⢄
             │       ⡰⠁       ⠱⡀                       ⢣              ⢀⠎●      ⠈⢆
         180 ┤┈┈┈┈┈┈⡰⠁┈┈┈┈┈┈┈┈┈⠱⡀┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⢣┈┈┈┈┈┈┈┈┈┈┈┈⢀⠎┈┈┈┈┈┈┈┈┈⠈⢆┈┈┈┈┈┈
             │     ⡜⠁           ⠈⢆         ⢀⠎  ○         ⠱⡀         ⡰⠉           ⠈⢣
             │    ⡜              ⠈⢆       ⢀⠎              ⠱⡀       ⡰⠁              ⢣
             │  ⢀⠞                ⠈⢢     ⡠⠊                ⠑⢄     ⡔⠁                ⠳⡀
             │ ⢀⠎                   ⢣   ⡰⠁  ●               ⠈⢆   ⡜                   ⠱⡀
          70 ┤⢠⠎┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠣⡀⡴⠁┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠈⢦⢀⠜┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠱⡄
          54 ┤⠃                       ⠙                        ⠋                       ⠈
             └┴────────┴────────┴────────┴─────────┴────────┴────────┴────────┴────────┴
              00       03       06       09        12       15       18       21      24
           U │                        4.5 20
           g │                        45                                              60
        ⠒ sensor   ● finger stick   ○ scan
        Sensor: 264 readings · 92 % of the time · mean 165 · lowest 50 at 00:00
        highest 290 at 04:00
        Finger sticks: 2 readings · lowest 95 at 10:00 · highest 210 at 19:00
        Insulin 24.5 U · basal 20 U · bolus 4.5 U · Carbohydrates 105 g
        ▓▒▒▒▒▒█████████████████████████████████████████░░░░░░░░░░░░░░░░░░░░░▞▞▞▞▞▞▞▞▞▞▞▞
        ▓ very low 1.2 %   ▒ low 6.8 %   █ target 51.1 %   ░ high 26.5 %
        ▞ very high 14.4 %
        10:00 note a walk
        """)
  }

  @Test func aDayPlotInASCIIHasOnlyASCIICharacters() {
    #expect(
      text(SampleDay.eventful.lines(isASCII: true)) == """
        Monday 2026-03-02 - 24 hours - zone UTC
        mg/dL - target 70-180
         300 +     **          *         **
         250 +    ***          **        ***
             |   ** **          **      o* **
         180 +--**---**----------*-----**---**--
             |  *     **   **x   **   **     *
             | **      ** **      ** **      **
          70 +**--------***-o------***--------**
          54 +*         **          **         *
             ++-------+--------+-------+-------+
              00      06       12      18     24
           U |           4.5 20
           g |           45                   60
        * sensor   o finger stick   x scan
        Sensor: 264 readings - 92 % of the time
        mean 165 - lowest 50 at 00:00
        highest 290 at 04:00
        Finger sticks: 2 readings
        lowest 95 at 10:00
        highest 210 at 19:00
        Insulin 24.5 U - basal 20 U
        bolus 4.5 U - Carbohydrates 105 g
        !---====================++++++++++######
        ! very low 1.2 %   - low 6.8 %
        = target 51.1 %   + high 26.5 %
        # very high 14.4 %
        10:00 note a walk
        """)
  }

  @Test func aDayPlotInMillimolesHasTheLimitsOfTheConsensus() {
    #expect(
      text(SampleDay.eventful.lines(.millimolesPerLitre, columns: 60)) == """
        Monday 2026-03-02 · 24 hours · zone UTC · mmol/L
        target 3.9–10.0
        17.0 ┤        ⢠⡄                 ⡄                ⢠⡄
        13.9 ┤       ⡰⠃⠘⢦                ⠘⢦              ⡰⠃⠘⢦
             │      ⡜⠁  ⠈⠣⡀               ⠈⠣⡀           ●⠁  ⠈⠣⡀
        10.0 ┤┈┈┈┈⢠⠎┈┈┈┈┈┈⠱⡄┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠱⡄┈┈┈┈┈┈┈┈⢠⠎┈┈┈┈┈┈⠱⡄┈┈┈┈
             │   ⡰⠋        ⠘⢆      ⡰⠃ ○      ⠘⢆      ⡰⠋        ⠘⢆
             │  ⡔⠁          ⠈⢣    ⡔⠁          ⠈⢣    ⡔⠁          ⠈⢣
         3.9 ┤⢀⠞┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠱⡀⢀⠞┈┈●┈┈┈┈┈┈┈┈┈┈┈⠱⡀⢀⠞┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠱⡀
         3.0 ┤⠋                ⠙⠋                ⠙⠋                ⠙
             └┴─────┴──────┴──────┴──────┴─────┴──────┴──────┴─────┴
              00    03     06     09     12    15     18     21   24
           U │                  4.5 20
           g │                  45                                60
        ⠒ sensor   ● finger stick   ○ scan
        Sensor: 264 readings · 92 % of the time · mean 9.1
        lowest 2.8 at 00:00 · highest 16.1 at 04:00
        Finger sticks: 2 readings · lowest 5.3 at 10:00
        highest 11.7 at 19:00
        Insulin 24.5 U · basal 20 U · bolus 4.5 U
        Carbohydrates 105 g
        ▓▒▒▒▒███████████████████████████████░░░░░░░░░░░░░░░░▞▞▞▞▞▞▞▞
        ▓ very low 1.2 %   ▒ low 6.8 %   █ target 51.1 %
        ░ high 26.5 %   ▞ very high 14.4 %
        10:00 note a walk
        """)
  }

  @Test func aDayOf25HoursShowsTheRepeatedHourOnce() {
    #expect(
      text(SampleDay.longDay.lines(columns: 80)) == """
        Sunday 2025-10-26 · 25 hours · zone UTC · mg/dL · target 70–180
         400 ┤
             │                                                              ⣀⣀⣀⡤⠤⠤⠖⠒⠒⠉⠉⠉
             │                                                   ⣀⣀⣀⠤⠤⠔⠒⠒⠊⠉⠉⠁
         250 ┤                                       ⢀⣀⣀⡤⠤⠤⠖⠒⠒⠉⠉⠉
         180 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⣀⣀⣀⠤⠤⠴⠒⠒⠚⠉⠉⠁┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
             │                ⢀⣀⣀⡤⠤⠤⠖⠒⠒⠉⠉⠉
             │     ⣀⣀⣀⠤⠤⠴⠒⠒⠚⠉⠉⠉
          70 ┤⠒⠒⠋⠉⠉┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
             └┴──────────┴────────┴────────┴────────┴────────┴────────┴────────┴───────┴
              00         03       06       09       12       15       18       21     24
        ⠒ sensor
        Sensor: 300 readings · 100 % of the time · mean 210 · lowest 60 at 00:00
        highest 359 at 23:55
        ▒▒▒█████████████████████████████░░░░░░░░░░░░░░░░░░░▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞
        ▓ very low 0.0 %   ▒ low 3.4 %   █ target 37.0 %   ░ high 23.3 %
        ▞ very high 36.3 %
        """)
  }

  @Test func aDayInWordsDescribesThePlot() {
    #expect(
      SampleDay.eventful.sentences.joined(separator: "\n") == """
        Monday 2026-03-02, 24 hours, zone UTC, mg/dL, target 70–180.
        Sensor: 264 readings, 92 % of the time, mean 165, lowest 50 at 00:00, highest 290 at 04:00.
        Finger sticks: 2 readings, lowest 95 at 10:00, highest 210 at 19:00.
        Insulin 24.5 U, basal 20 U, bolus 4.5 U, Carbohydrates 105 g.
        Time in ranges: very low 1.2 %, low 6.8 %, target 51.1 %, high 26.5 %, very high 14.4 %.
        00:00 to 03:00: from 50 to 225, lowest 50, highest 225.
        03:00 to 06:00: from 230 to 175, lowest 175, highest 290.
        06:00 to 09:00: from 170 to 105, lowest 50, highest 170.
        09:00 to 12:00: from 110 to 165, lowest 110, highest 165.
        12:00 to 15:00: from 290 to 115, lowest 115, highest 290.
        15:00 to 18:00: from 110 to 165, lowest 50, highest 165.
        18:00 to 21:00: from 170 to 235, lowest 170, highest 290.
        21:00 to 00:00: from 230 to 55, lowest 55, highest 230.
        No sensor readings from 09:55 to 12:00.
        10:00: finger stick 95.
        11:00: scan 150.
        19:00: finger stick 210.
        08:00 insulin 4.5 U rapid.
        08:00 food 45 g.
        08:10 insulin 20 U long.
        10:00 note a walk.
        23:50 food 60 g.
        """)
    #expect(
      SampleDay.empty.sentences.joined(separator: "\n") == """
        Monday 2026-03-02, 24 hours, zone UTC, mg/dL, target 70–180.
        No readings and no records.
        """)
  }

  @Test(arguments: [1, 40, 47, 80, 160, 500])
  func noLineOfADayPlotIsWiderThanTheTerminal(_ columns: Int) {
    for day in [SampleDay.empty, .oneReading, .allLow, .eventful, .longDay] {
      for line in day.lines(columns: columns) { #expect(line.columns <= min(160, max(40, columns))) }
    }
  }

  @Test func allPlotsInASCIIHaveOnlyASCIICharacters() {
    for day in [SampleDay.empty, .oneReading, .allLow, .eventful, .longDay] {
      for line in day.lines(isASCII: true) { #expect(!line.text.contains { !$0.isASCII }, "\(line.text)") }
    }
    #expect(SampleDay.eventful.lines().contains { $0.text.contains { !$0.isASCII } })
  }

  @Test func everyPartOfTheCurveHasTheColourRoleOfItsRange() {
    let pieces = SampleDay.eventful.lines(columns: 80).flatMap(\.pieces)
    let roles = Set(pieces.compactMap(\.role))
    for band in GlucoseBand.allCases { #expect(roles.contains(.band(band)), "\(band)") }
    #expect(roles.isSuperset(of: [.insulin, .food, .axis]))
    let low = SampleDay.allLow.lines().flatMap(\.pieces).compactMap(\.role)
    #expect(Set(low) == [.axis, .band(.veryLow)])
  }

  @Test func controlCharactersInADayPlotAreReplaced() {
    var day = SampleDay.empty
    day.records = [(.note, RecordFields(["text": .text("a\u{1B}[31m\u{202E}b\nc")]), "2026-03-02T10:00")]
    #expect(text(day.lines()).contains("10:00 note a\u{FFFD}[31m\u{FFFD}b c"))
    #expect(day.sentences.last == "10:00 note a\u{FFFD}[31m\u{FFFD}b c.")
  }

  @Test func theDayPlotShowsBasalRatesOnlyInTheSum() {
    var day = SampleDay.empty
    for hour in 10..<20 {
      let fields = RecordFields(["rate": .number(1), "minutes": .number(60), "subtype": .text("basal")])
      day.records.append((.insulin, fields, "2026-03-02T\(hour):00"))
    }
    let rates = text(day.lines())
    #expect(rates.contains("Insulin 10 U · basal 10 U") && !rates.contains("U │"))
    #expect(day.sentences.last == "Insulin 10 U, basal 10 U.")
    day.records.append((.insulin, RecordFields(["units": .number(3)]), "2026-03-02T20:00"))
    #expect(text(day.lines()).contains("U │") && day.sentences.last == "20:00 insulin 3 U.")
  }

  @Test func aDayWithOnlyRecordsStatesThatThereAreNoReadings() {
    var day = SampleDay.empty
    day.records = [(.insulin, RecordFields(["units": .number(4)]), "2026-03-02T08:00")]
    #expect(text(day.lines()).contains("\nno readings\nInsulin 4 U"))
    #expect(day.sentences.contains("No readings.") && day.sentences.contains("08:00 insulin 4 U."))
    day.readings = [Reading.finger(100, at: SampleDay.midnight)]
    #expect(!text(day.lines()).contains("no readings") && !day.sentences.contains("No readings."))
  }

  @Test(arguments: [-1e300, 1e19, 1e300])
  func theDayPlotDoesNotShowImpossibleAmounts(_ number: Double) {
    var day = SampleDay.empty
    day.records = [
      (.insulin, RecordFields(["units": .number(number), "minutes": .number(number)]), "2026-03-02T08:00"),
      (.food, RecordFields(["carbs": .number(number), "servings": .number(number)]), "2026-03-02T09:00"),
    ]
    #expect(day.sentences.suffix(2) == ["08:00 insulin.", "09:00 food."])
    #expect(!text(day.lines()).contains("U │"))
  }

  // MARK: - Days of the tally

  @Test func theDayPlotDoesNotShowReadingsThatAreLeftOut() throws {
    var day = SampleDay.empty
    var withdrawn = Reading.finger(100, at: SampleDay.midnight)
    withdrawn.isWithdrawn = true
    day.readings = [
      withdrawn, Reading.finger(100, at: SampleDay.midnight, marks: .controlSolution),
      Reading.sensor(100, at: SampleDay.midnight, marks: .doubtfulTime),
      Reading.of(.ketone, .value(Quantity(1, .millimolesPerLitre)), at: SampleDay.midnight),
    ]
    #expect(try #require(day.contents.day).isEmpty)
    day.readings.append(Reading.finger(100, at: SampleDay.midnight))
    #expect(try #require(day.contents.day).sticks.count == 1)
  }

  @Test func theDayPlotShowsOnlyOneOfTwoSensors() throws {
    var day = SampleDay.empty
    day.readings = (0..<Int64(100)).flatMap { index in
      [1, 2].map { Reading.sensor(100 * $0, at: SampleDay.midnight + index * 300 + Int64($0), device: $0) }
    }
    let shown = try #require(day.contents.day).sensor
    #expect(shown.count == 100 && shown.allSatisfy { $0.level.milligrams == 100 })
  }

  @Test func everyReadingIsDrawnInTheDayThatContainsItsInstant() {
    let midnight = SampleDay.midnight
    var tally = DayTally(Period(start: midnight + 3600, end: midnight + 2 * 86400 + 1)) { _ in 0 }
    for hour in stride(from: Int64(-1), through: 80, by: 1) {
      tally.add(Reading.finger(100, at: midnight + hour * 3600))
    }
    let days = tally.finish()
    #expect(days.map(\.date) == ["2026-03-02", "2026-03-03", "2026-03-04"])
    #expect(days.map(\.sticks.count) == [24, 24, 24])
  }

  @Test func onlyTheLastDaysOfAPeriodKeepTheirSensorValues() {
    let midnight = SampleDay.midnight
    var tally = DayTally(Period(start: midnight, end: midnight + 4 * 86400), curves: 2) { _ in 0 }
    for hour in 0..<Int64(96) {
      tally.add(Reading.sensor(100, at: midnight + hour * 3600))
      tally.add(Reading.finger(100, at: midnight + hour * 3600 + 60))
    }
    let days = tally.finish()
    #expect(days.map(\.sensor.count) == [0, 0, 24, 24] && days.map(\.sticks.count) == [24, 24, 24, 24])
  }

  @Test func anHourSkippedByAClockChangeIsNotOnTheAxis() throws {
    var day = SampleDay.empty
    day.date = "2026-03-29"
    day.offset = { $0.seconds < Time.at("2026-03-29T03:00") ? 3600 : 7200 }
    let shown = try #require(day.contents.day)
    #expect(shown.hourCount == 23 && shown.hours.map(\.hour) == [0, 1] + Array(3...24))
    #expect(try #require(SampleDay.longDay.contents.day).hourCount == 25)
  }
}
