// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Report

/// A day with its data, for pictures.
struct SampleDay {
  var date = "2026-03-02"
  var readings: [GlucoseReading] = []
  var records: [(kind: RecordKind, fields: RecordFields, time: String)] = []
  var targets = Targets.standard
  /// The seconds east of Greenwich at a displayed time.
  var offset: @Sendable (DeviceTime) -> Int32 = { _ in 0 }

  /// The statistics and the curve.
  var contents: (day: DayCurve?, figures: GroupFigures) {
    func instant(_ shown: Int64) -> Int64 { shown - Int64(offset(DeviceTime(seconds: shown))) }
    let midnight = Time.at(date)
    let period = Period(start: instant(midnight), end: instant(midnight + 86400))
    var options = Statistics.Options()
    (options.since, options.until, options.targets) = (period.start, period.end, targets)
    var (statistics, days) = (Statistics(options), DayTally(period, offset: offset))
    for reading in readings {
      statistics.add(reading)
      days.add(reading)
    }
    for record in records {
      let time = DeviceTime(seconds: Time.at(record.time))
      let placement = Placement(utcOffset: offset(time), source: .zone)
      statistics.add(record.kind, record.fields, deviceTime: time, placement: placement)
      days.add(record.kind, record.fields, deviceTime: time, placement: placement)
    }
    return (days.finish().first, statistics.finish(offset: offset).total)
  }

  func lines(
    _ unit: GlucoseUnit = .milligramsPerDecilitre, isASCII: Bool = false, columns: Int = 40, rows: Int = 8
  ) -> [PlotLine] {
    picture(unit)?.lines(PlotSigns(isASCII: isASCII), columns: columns, rows: rows) ?? []
  }

  var sentences: [String] { picture(.milligramsPerDecilitre)?.sentences ?? [] }

  private func picture(_ unit: GlucoseUnit) -> DayPicture? {
    let (day, figures) = contents
    return day.map { DayPicture($0, figures, targets, GlucoseText(unit), zone: "UTC") }
  }
}

extension SampleDay {
  static let midnight = Time.at("2026-03-02")

  static let empty = SampleDay()

  static let oneReading = SampleDay(readings: [Reading.sensor(120, at: midnight + 8 * 3600)])

  static let allLow = SampleDay(
    readings: (0..<288).map {
      Reading.of(.cbg, .low(below: 40, .milligramsPerDecilitre), at: midnight + $0 * 300)
    })

  /// A sensor with a pause from 10 to 12 o'clock, two finger sticks, a scan, and notes of a person.
  static let eventful = SampleDay(
    readings: ArithmeticDay.readings + [
      Reading.finger(95, at: midnight + 10 * 3600), Reading.finger(210, at: midnight + 19 * 3600),
      Reading.of(.scan, .value(Quantity(150, .milligramsPerDecilitre)), at: midnight + 11 * 3600),
    ],
    records: [
      (.insulin, RecordFields(["units": .number(4.5), "subtype": .text("rapid")]), "2026-03-02T08:00"),
      (.food, RecordFields(["carbs": .number(45)]), "2026-03-02T08:00"),
      (.insulin, RecordFields(["units": .number(20), "subtype": .text("long")]), "2026-03-02T08:10"),
      (.note, RecordFields(["text": .text("a walk")]), "2026-03-02T10:00"),
      (.food, RecordFields(["carbs": .number(60)]), "2026-03-02T23:50"),
    ])

  /// The clocks go back from 3 to 2 o'clock. The value rises by 1 every 5 minutes.
  static let longDay = SampleDay(
    date: "2025-10-26",
    readings: (0..<Int64(300)).map { index in
      let isLater = index >= 36
      return Reading.sensor(
        Int(60 + index), at: Time.at("2025-10-26") + index * 300 - (isLater ? 3600 : 0),
        offset: isLater ? 3600 : 7200)
    }, offset: { $0.seconds < Time.at("2025-10-26T03:00") ? 7200 : 3600 })
}

/// A day of a sensor, computed with integers: up and down three times, without the time from 10 to 12
/// o'clock.
enum ArithmeticDay {
  static let readings = (0..<Int64(288)).filter { !(120..<144).contains($0) }.map { index in
    let phase = Int(index % 96)
    return Reading.sensor(50 + (phase < 48 ? phase : 96 - phase) * 5, at: SampleDay.midnight + index * 300)
  }
}
