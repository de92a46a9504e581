// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Report

/// The contents of a report with readings and records from 2026-03-02 on.
struct SampleReport {
  static let start = Time.at("2026-03-02")

  var readings: [GlucoseReading] = []
  var records: [(kind: RecordKind, fields: RecordFields, time: String)] = []
  var devices = [ReportDevice(name: "Vendor Meter", serialNumber: "SN-1")]
  var days: Int64 = 14
  var targets = Targets.standard
  var unit = GlucoseUnit.milligramsPerDecilitre
  var device: String?
  var isAnonymised = false
  var person: ReportPerson?
  var missing: [MissingTime] = []

  /// Two weeks of a sensor, 40 finger sticks, insulin, food and a note.
  static let usual = SampleReport(
    readings: ArithmeticSeries.values.enumerated().map { Reading.sensor($1, at: start + Int64($0) * 300) }
      + (0..<Int64(40)).map { Reading.finger(Int(60 + $0 * 37 % 200), at: start + $0 * 29000) },
    records: [
      (.insulin, RecordFields(["units": .number(4.5), "subtype": .text("rapid")]), "2026-03-02T08:00"),
      (.food, RecordFields(["carbs": .number(45)]), "2026-03-02T08:00"),
      (.note, RecordFields(["text": .text("a walk")]), "2026-03-02T10:00"),
    ])

  /// Sensor values for this number of days.
  static func long(_ days: Int64) -> SampleReport {
    let values = ArithmeticSeries.values
    let readings = (0..<days * 288).map {
      Reading.sensor(values[Int($0) % values.count], at: start + $0 * 300)
    }
    return SampleReport(readings: readings, days: days)
  }

  var contents: ReportContents {
    let period = Period(start: Self.start, end: Self.start + days * 86400)
    var options = Statistics.Options()
    (options.since, options.until, options.targets) = (period.start, period.end, targets)
    (options.grouping, options.hasProfile) = (.day, true)
    var (statistics, tally) = (Statistics(options), DayTally(period) { _ in 0 })
    for reading in readings {
      statistics.add(reading)
      tally.add(reading)
    }
    for record in records {
      let time = DeviceTime(seconds: Time.at(record.time))
      let placement = Placement(utcOffset: 0, source: .stated)
      statistics.add(record.kind, record.fields, deviceTime: time, placement: placement)
      tally.add(record.kind, record.fields, deviceTime: time, placement: placement)
    }
    let last = DeviceTime(seconds: period.end - 1).text.prefix(10)
    var contents = ReportContents(
      result: statistics.finish { _ in 0 }, days: tally.finish(), devices: devices, targets: targets,
      unit: unit, zone: "Europe/Madrid", dates: ("2026-03-02", String(last)), device: device,
      version: "1.2.3", isAnonymised: isAnonymised)
    contents.person = person
    contents.missing = missing
    return contents
  }

  /// The HTML of a page with a picture for each day and all figures, but without the sheets.
  func html(_ texts: PageTexts = .english) throws -> String {
    try ReportPage(contents, texts).html([.single, .about])
  }

  /// The kinds of sample reports: by the devices of the person, or by another property of the data.
  enum Kind: CaseIterable { case sensor, meter, both, little, pregnancy, nothing }

  static func of(_ kind: Kind) -> SampleReport {
    var report = usual
    report.person = ReportPerson(name: "Jürgen Müller-Lüdenscheidt", born: "1984-03-02")
    let marks: [ReadingMarks] = [.fasting, .afterMeal, .beforeMeal, .afterMeal, .bedtime, []]
    let sticks = (0..<84).map { index in
      let (day, part) = (Int64(index / 6), Int64(index % 6))
      return Reading.finger(
        38 + index * 53 % 370, at: start + day * 86400 + part * 10_000 + 22_000, marks: marks[index % 6])
    }
    let sensor = report.readings.filter { $0.kind == .cbg }
    switch kind {
    case .sensor: (report.readings, report.records) = (sensor, [])
    case .meter: report.readings = sticks
    case .both: report.readings = (sensor + sticks).sorted { $0.instant < $1.instant }
    case .little: report.readings = Array(sensor.prefix(288 * 4))
    case .pregnancy: report.targets = .pregnancy
    case .nothing: report.readings = []
    }
    return report
  }
}
