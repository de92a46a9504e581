// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Report

/// The test series of `VectorTests`, calculated with integers: a value every 5 minutes for 14 days from
/// 2024-01-01 on.
enum ArithmeticSeries {
  static let start = Time.at("2024-01-01")

  static let values: [Int] = {
    var x = 20_240_101
    var value = 140
    return (0..<4032).map { _ in
      x = (1_103_515_245 * x + 12345) % (1 << 31)
      value += (x >> 16) % 51 - 25 + (140 - value) / 32
      value = min(400, max(40, value))
      return value
    }
  }()

  static func readings(where isKept: (Int) -> Bool = { _ in true }) -> [GlucoseReading] {
    values.indices.filter(isKept).map { Reading.sensor(values[$0], at: start + Int64($0) * 300) }
  }

  static func hasNoGap(_ index: Int) -> Bool { !(300..<420).contains(index % 1000) }
}

enum Time {
  /// The seconds of a local time.
  static func at(_ text: String) -> Int64 { DeviceTime(text: text)?.seconds ?? .min }
}

enum Reading {
  static func sensor(
    _ value: Int, at shown: Int64, device: Int = 1, marks: ReadingMarks = [], offset: Int32 = 0
  ) -> GlucoseReading {
    of(
      .cbg, .value(Quantity(Double(value), .milligramsPerDecilitre)), at: shown, device, marks,
      offset)
  }

  static func finger(_ value: Int, at shown: Int64, device: Int = 9, marks: ReadingMarks = [])
    -> GlucoseReading
  {
    of(.smbg, .value(Quantity(Double(value), .milligramsPerDecilitre)), at: shown, device, marks, 0)
  }

  static func of(
    _ kind: ReadingKind, _ measurement: Measurement, at shown: Int64, _ device: Int = 1,
    _ marks: ReadingMarks = [], _ offset: Int32 = 0
  ) -> GlucoseReading {
    GlucoseReading(
      device: device, kind: kind, deviceTime: DeviceTime(seconds: shown),
      placement: Placement(utcOffset: offset, source: .stated), measurement, marks: marks)
  }

  static func level(_ number: Double, _ unit: GlucoseUnit = .milligramsPerDecilitre)
    -> GlucoseLevel?
  {
    GlucoseLevel(.value(Quantity(number, unit)), of: .cbg)
  }
}

/// The statistics of readings, in a zone without clock changes.
func figures(
  _ readings: [GlucoseReading], by grouping: Grouping? = nil, targets: Targets = .standard,
  since: String? = nil,
  until: String? = nil, hasProfile: Bool = false
) -> StatisticsResult {
  var options = Statistics.Options()
  options.grouping = grouping
  options.targets = targets
  options.since = since.map(Time.at)
  options.until = until.map(Time.at)
  options.hasProfile = hasProfile
  var statistics = Statistics(options)
  for reading in readings { statistics.add(reading) }
  return statistics.finish { _ in 0 }
}

/// Whether two numbers are equal with this number of decimals.
func agree(_ number: Double?, _ other: Double, decimals: Int = 6) -> Bool {
  guard let number else { return false }
  var tolerance = 0.5
  for _ in 0..<decimals { tolerance /= 10 }
  return abs(number - other) <= tolerance * 1.000001
}
