// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Compares the profile, the selection of a sensor and the sums of basal rates with a second computation.
struct ProfileOracleTests {
  private static let start = Time.at("2026-03-02")

  // MARK: - Profile

  /// Ten days of a sensor with short pauses, and with a pause from 3 to 5 o'clock on most days.
  private static func readings(_ seed: UInt64) -> [GlucoseReading] {
    var walk = RandomWalk(seed: seed)
    return (0..<Int64(10 * 96)).compactMap { index in
      let value = walk.next(step: 60)
      let isNight = (12..<20).contains(index % 96) && index / 96 > 3
      return isNight || walk.happens(onceIn: 10) ? nil : Reading.sensor(value, at: start + index * 900)
    }
  }

  /// The percentiles of all samples at most half an hour from a time of the day. Nil with fewer than five
  /// days.
  private static func raw(_ readings: [GlucoseReading], minute: Int) -> [Double]? {
    let near = readings.filter { reading in
      let own = Int((reading.deviceTime.seconds - start) % 86_400) / 60
      let difference = (own - minute + 1440 + 720) % 1440 - 720
      return difference >= -30 && difference < 30
    }
    let days = Set(near.map { ($0.deviceTime.seconds - start) / 86_400 })
    guard days.count >= 5 else { return nil }
    let values = NaiveFigures(values: near.compactMap { $0.measurement.quantity?.number })
    return [0.05, 0.25, 0.5, 0.75, 0.95].map(values.percentile)
  }

  @Test(arguments: UInt64(1)...3) func theDailyProfileHasThePercentilesOfTheValuesAroundEachTime(
    _ seed: UInt64
  )
    throws
  {
    let readings = Self.readings(seed)
    let profile = try #require(figures(readings, hasProfile: true).profile)
    try #require(profile.points.count == 96)
    let raw = (0..<96).map { Self.raw(readings, minute: $0 * 15) }
    for (index, point) in profile.points.enumerated() {
      #expect(point.minute == index * 15)
      guard let own = raw[index] else {
        #expect(point.percentiles == nil, "\(point.minute)")
        continue
      }
      let values = try #require(point.percentiles)
      // The times of day before, at and after the point have the weights 1, 4 and 1. A time of day without
      // percentiles has no weight.
      let neighbours = [raw[(index + 95) % 96], raw[(index + 1) % 96]].compactMap(\.self)
      for curve in 0..<5 {
        let sum = 4 * own[curve] + neighbours.reduce(0) { $0 + $1[curve] }
        #expect(agree(values[curve], sum / Double(4 + neighbours.count)), "\(point.minute): \(curve)")
      }
    }
    #expect(profile.points.contains { $0.percentiles == nil } && raw.contains { $0 != nil })
  }

  // MARK: - Choice of a sensor

  private typealias Choice = (sample: SensorSample, minutes: Int, outcome: SensorSelection.SampleUse)

  private static let sensorMinutes = [1: 15, 2: 5, 3: 1]

  /// The samples of three sensors with pauses of some hours, in which another sensor can replace the first.
  private static func sensorSamples(_ seed: UInt64) -> [SensorSample] {
    var walk = RandomWalk(seed: seed)
    var samples: [SensorSample] = []
    for device in 1...3 {
      var instant = Int64(walk.number(0...3000))
      for _ in 0..<200 {
        instant += Int64(sensorMinutes[device] ?? 5) * 60
        if walk.happens(onceIn: 40) { instant += Int64(walk.number(1...200)) * 60 }
        if let sample = SensorSample(Reading.sensor(walk.next(), at: instant, device: device)) {
          samples.append(sample)
        }
      }
    }
    return samples.sorted { ($0.instant, $0.device) < ($1.instant, $1.device) }
  }

  private static func choices(_ samples: some Sequence<SensorSample>) -> [Choice] {
    var selection = SensorSelection()
    var choices: [Choice] = []
    for sample in samples {
      selection.add(sample)
      while let next = selection.next() { choices.append(next) }
    }
    selection.finish()
    while let next = selection.next() { choices.append(next) }
    return choices
  }

  private static func overlap(_ left: SensorSample, _ right: SensorSample) -> Bool {
    func end(_ sample: SensorSample) -> Int64 {
      sample.instant + Int64(sensorMinutes[sample.device] ?? 5) * 60 - 10
    }
    return left.instant < end(right) && right.instant < end(left)
  }

  @Test(arguments: UInt64(1)...6) func oneSensorAtATimeIsUsedInTheOrderOfRanks(_ seed: UInt64) {
    let samples = Self.sensorSamples(seed)
    let choices = Self.choices(samples)
    // All samples are returned, in the given order and at their instants.
    #expect(choices.map(\.sample.instant) == samples.map(\.instant))
    #expect(choices.allSatisfy { $0.minutes == Self.sensorMinutes[$0.sample.device] })
    var used: [SensorSample] = []
    for device in 1...3 {
      used += samples.filter { sample in
        sample.device == device && !used.contains { $0.device < device && Self.overlap($0, sample) }
      }
    }
    used.sort { $0.instant < $1.instant }
    let found = choices.filter { $0.outcome == .used }.map(\.sample)
    #expect(found.map(\.instant) == used.map(\.instant) && found.map(\.device) == used.map(\.device))
    #expect(Set(found.map(\.device)).count > 1 && found.count < samples.count)
  }

  @Test(arguments: UInt64(1)...6) func theChoiceOfASensorDependsOnlyOnTheHoursAroundIt(_ seed: UInt64) throws
  {
    let samples = Self.sensorSamples(seed)
    let all = Self.choices(samples)
    let last = try #require(samples.last?.instant)
    for start in stride(from: Int64(0), to: last - 40_000, by: 20_000) {
      let period = start..<start + 30_000
      let reach = SensorSelection.contextSeconds
      let near = samples.filter {
        (period.lowerBound - reach..<period.upperBound + reach).contains($0.instant)
      }
      let wanted = all.filter { period.contains($0.sample.instant) }
      let found = Self.choices(near).filter { period.contains($0.sample.instant) }
      #expect(found.map(\.outcome) == wanted.map(\.outcome), "from \(start)")
    }
  }

  // MARK: - Basal rates

  @Test(arguments: UInt64(1)...8) func theSumOfBasalRatesEqualsOneComputedMinuteByMinute(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    var rates: [(start: Int, end: Int, rate: Double)] = []
    var minute = 0
    for _ in 0..<60 {
      minute += walk.number(1...120)
      rates.append((minute, minute + walk.number(0...200), Double(walk.number(0...30)) / 10))
    }
    var statistics = Statistics(Statistics.Options())
    let placement = Placement(utcOffset: 0, source: .stated)
    for rate in rates {
      let time = DeviceTime(seconds: Self.start + Int64(rate.start) * 60)
      let fields: [String: FieldValue] = [
        "rate": .number(rate.rate), "minutes": .number(Double(rate.end - rate.start)),
        "subtype": .text("basal"),
      ]
      statistics.add(.insulin, RecordFields(fields), deviceTime: time, placement: placement)
      // A dose between two rates must not end the first rate.
      statistics.add(
        .insulin, RecordFields(["units": .number(1), "subtype": .text("rapid")]), deviceTime: time,
        placement: placement)
    }
    let amounts = statistics.finish { _ in 0 }.total.amounts
    var flowed = 0.0
    for minute in 0..<(rates.last?.end ?? 0) {
      guard let rate = rates.last(where: { $0.start <= minute }), minute < rate.end else { continue }
      flowed += rate.rate / 60
    }
    #expect(agree(amounts.basal.total, flowed) && amounts.bolus.total == 60)
    #expect(agree(amounts.insulin.total, flowed + 60))
  }
}
