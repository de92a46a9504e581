// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

struct SensorTests {
  private static let start = StatisticsTests.start

  private static func samples(
    _ count: Int, from start: Int64 = start, every minutes: Int64 = 5, value: Int = 100, device: Int = 1
  ) -> [GlucoseReading] {
    StatisticsTests.samples(count, from: start, every: minutes, value: value, device: device)
  }

  @Test(arguments: [1, 5, 10, 15])
  func theIntervalOfASensorIsTheMedianInterval(_ minutes: Int64) {
    var interval = SampleInterval()
    for index in 0..<20 {
      // The seconds are not exact, and some samples are missing.
      if index % 7 != 3 { interval.add(Int64(index) * minutes * 60 + Int64(index % 3)) }
    }
    #expect(interval.minutes == Int(minutes) && interval.isKnown)
  }

  @Test func theIntervalOfASensorFollowsTheMedianOfAllDifferences() {
    var interval = SampleInterval()
    var differences: [Int] = []
    var instant: Int64 = 0
    var x = 7
    interval.add(0)
    for _ in 0..<500 {
      x = (1_103_515_245 * x + 12345) % (1 << 31)
      let difference = (x >> 16) % 70 + 1
      instant += Int64(difference) * 60
      interval.add(instant)
      differences.append(min(60, difference))
      #expect(interval.minutes == differences.sorted()[(differences.count - 1) / 2])
    }
  }

  /// A spreadsheet that saves an export truncates the times to minutes.
  @Test func aSavedCopyOfASensorsExportChangesNoFigure() {
    let exact = Self.samples(288, from: Self.start + 13).enumerated().map { index, reading in
      var reading = reading
      reading.measurement = .value(Quantity(Double(60 + index * 37 % 190), .milligramsPerDecilitre))
      return reading
    }
    func cut(_ reading: GlucoseReading, by seconds: Int64 = 13, higher: Double = 0) -> GlucoseReading {
      StatisticsTests.samples(
        1, from: reading.deviceTime.seconds - seconds,
        value: Int((reading.measurement.quantity?.number ?? 0) + higher))[0]
    }
    let alone = figures(exact).total
    let both = figures(StatisticsTests.inOrder(exact, exact.map { cut($0) })).total
    #expect(both.sensor.readings == 288 && both.leftOut[.repeated] == 288)
    #expect(both.sensor.minutes == alone.sensor.minutes && both.sensor.mean == alone.sensor.mean)
    #expect(both.sensor.ranges.map(\.minutes) == alone.sensor.ranges.map(\.minutes))
    // Other values, and times that are not full minutes, are other readings.
    for other in [exact.map { cut($0, higher: 9) }, exact.map { cut($0, by: 5) }] {
      #expect(figures(StatisticsTests.inOrder(exact, other)).total.leftOut[.repeated] == 0)
    }
  }

  @Test func onlyOneOfTwoSimultaneousSensorsIsUsed() {
    let readings = StatisticsTests.inOrder(
      Self.samples(288, value: 100, device: 1),
      Self.samples(288, from: Self.start + 120, value: 200, device: 2))
    let total = figures(readings).total
    #expect(total.sensor.readings == 288 && total.sensor.mean.number == 100)
    #expect(total.leftOut[.overlapping] == 288 && total.sensor.minutes == 1440)
  }

  @Test func theSensorOfTheLowerRankIsUsedWhicheverStartsFirst() {
    for start in [Self.start - 120, Self.start + 120] {
      var others = Self.samples(288, from: start, value: 200, device: 1)
      for index in others.indices { others[index].deviceRank = 7 }
      let total = figures(StatisticsTests.inOrder(others, Self.samples(288, value: 100, device: 2))).total
      #expect(total.sensor.readings == 288 && total.sensor.mean.number == 100)
      #expect(total.leftOut[.overlapping] == 288 && total.sensor.minutes == 1440)
    }
  }

  @Test func aSensorIsUsedAgainAfterItsPause() {
    let pausing = Self.samples(40, value: 100, device: 1)
    let readings = StatisticsTests.inOrder(
      pausing.filter { !(Self.start + 3600..<Self.start + 7200).contains($0.deviceTime.seconds) },
      Self.samples(40, from: Self.start + 120, value: 200, device: 2))
    let sensor = figures(readings).total.sensor
    // During the hour, eleven samples of the second sensor overlap no sample of the first sensor.
    #expect(sensor.readings == 28 + 11 && sensor.highest.number == 200)
    #expect(sensor.mean.number == Double(28 * 100 + 11 * 200) / 39)
  }

  @Test func samplesBeforeThePeriodOnlyAffectWhichSensorIsUsed() {
    // The last sample of the first sensor is still valid at the beginning of the period.
    let before = Self.samples(20, from: Self.start - 20 * 900 + 120, every: 15, value: 50, device: 1)
    let second = Self.samples(288, value: 200, device: 2)
    var statistics = Statistics(.init())
    for reading in before { statistics.addContext(reading) }
    for reading in second { statistics.add(reading) }
    let total = statistics.finish { _ in 0 }.total
    #expect(total.sensor.readings == 287 && total.sensor.mean.number == 200)
    #expect(total.leftOut[.overlapping] == 1)
  }

  @Test func aSensorWithLongIntervalsIsUsedFromItsStart() {
    let readings = StatisticsTests.inOrder(
      Self.samples(96, every: 15, value: 100, device: 1),
      Self.samples(286, from: Self.start + 420, value: 200, device: 2))
    let total = figures(readings).total
    #expect(total.sensor.readings == 96 && total.sensor.mean.number == 100 && total.sensor.minutes == 1440)
    #expect(total.leftOut[.overlapping] == 286)
  }

  @Test func duringAPauseOfASensorAnotherIsUsed() {
    let readings = StatisticsTests.inOrder(
      Self.samples(144, every: 5, value: 100, device: 1),
      Self.samples(288, from: Self.start, value: 200, device: 2))
    let sensor = figures(readings).total.sensor
    #expect(sensor.readings == 288 && sensor.mean.number == 150 && sensor.minutes == 1440)
  }

  @Test func samplesOfDifferentSensorsAreWeightedByTheirIntervals() {
    let readings =
      Self.samples(96, every: 15, value: 100, device: 1)
      + Self.samples(288, from: Self.start + 86400, value: 200, device: 2)
    let sensor = figures(readings).total.sensor
    #expect(sensor.mean.number == 150 && sensor.minutes == 2880)
    #expect(sensor.percentiles[2].number == 150)
    #expect(sensor.active.number == 100)
  }

  @Test func statisticsByDeviceUseAllSamplesOfEachSensor() {
    let readings = StatisticsTests.inOrder(
      Self.samples(288, value: 100, device: 1),
      Self.samples(288, from: Self.start + 120, value: 60, device: 2))
    let result = figures(readings, by: .device)
    #expect(result.groups.map(\.key) == [1, 2])
    #expect(result.groups.map(\.sensor.readings) == [288, 288])
    #expect(result.groups.map { $0.sensor.mean.number } == [100, 60])
    #expect(result.groups.map { $0.sensor.episodes[.low].count } == [0, 1])
    #expect(result.total.sensor.episodes[.low].count == 0)
  }

  @Test func aSecondSensorValueAtOneInstantIsLeftOut() {
    var readings = Self.samples(100)
    readings.insert(Reading.sensor(300, at: Self.start + 3000), at: 11)
    let total = figures(readings).total
    #expect(total.sensor.readings == 100 && total.sensor.mean.number == 100 && total.leftOut[.repeated] == 1)
  }

  @Test func sensorValuesOfBothPassesOfARepeatedHourAreUsed() {
    var readings = Self.samples(100)
    var second = Reading.sensor(100, at: Self.start + 3000)
    second.placement = Placement(utcOffset: 0, source: .zoneOverlap)
    readings.insert(second, at: 11)
    #expect(figures(readings).total.sensor.readings == 101)
  }

  // MARK: - Episodes

  private static func episodes(_ values: [Int], every minutes: Int64 = 5) -> EpisodeCounts {
    let padding = [Int](repeating: 100, count: 20)
    let readings = (padding + values + padding).enumerated().map {
      Reading.sensor($1, at: start + Int64($0) * minutes * 60)
    }
    return figures(readings).total.sensor.episodes
  }

  @Test func anEpisodeLastsAtLeastFifteenMinutes() {
    #expect(Self.episodes([60, 60])[.low].count == 0)
    #expect(Self.episodes([60, 60, 60])[.low].count == 1)
    #expect(Self.episodes([60], every: 15)[.low].count == 0)
    #expect(Self.episodes([60, 60], every: 15)[.low].count == 1)
    #expect(Self.episodes([Int](repeating: 60, count: 14), every: 1)[.low].count == 0)
    #expect(Self.episodes([Int](repeating: 60, count: 15), every: 1)[.low].count == 1)
  }

  @Test func aShortRecoveryDoesNotEndAnEpisode() {
    let line = Self.episodes([60, 60, 60, 90, 90, 60, 60])[.low]
    #expect(line.count == 1 && line.minutes == 35)
    #expect(Self.episodes([60, 60, 60, 90, 90, 90, 60, 60, 60])[.low].count == 2)
  }

  @Test func aVeryLowEpisodeAlsoCountsAsLow() {
    let episodes = Self.episodes([60, 60, 50, 50, 50, 60, 90, 90, 90, 60, 60, 60])
    #expect(episodes[.low].count == 2 && episodes[.veryLow].count == 1)
    #expect(episodes[.low].withoutDeeper == 1)
  }

  @Test func anEpisodeOfMoreThanTwoHoursIsExtended() {
    #expect(Self.episodes([Int](repeating: 60, count: 24))[.extendedLow].count == 0)
    #expect(Self.episodes([Int](repeating: 60, count: 25))[.extendedLow].count == 1)
  }

  @Test func aLongGapEndsAnEpisodeAndAShortGapDoesNot() {
    func low(gapMinutes: Int64) -> EpisodeCounts.EpisodeLine {
      let before = Self.samples(10, value: 60)
      let after = Self.samples(10, from: Self.start + 45 * 60 + gapMinutes * 60, value: 60)
      return figures(before + after).total.sensor.episodes[.low]
    }
    #expect(low(gapMinutes: 45).count == 1 && low(gapMinutes: 45).minutes == 140)
    #expect(low(gapMinutes: 50).count == 2 && low(gapMinutes: 50).minutes == 100)
  }

  @Test(arguments: [("23:45", 0), ("00:00", 1), ("05:45", 1), ("06:00", 0)])
  func anEpisodeBelongsToTheNightInWhichItBegins(_ time: String, _ atNight: Int) {
    let start = Time.at("2026-03-02T\(time)")
    let readings = ([Int](repeating: 60, count: 12) + [100, 100, 100]).enumerated().map {
      Reading.sensor($1, at: start + Int64($0) * 300, offset: 3600)
    }
    let line = figures(readings).total.sensor.episodes[.low]
    #expect(line.count == 1 && line.atNight == atNight)
  }

  @Test func anEpisodeBelongsToTheDayOnWhichItBegins() {
    let readings = Self.samples(280) + Self.samples(20, from: Self.start + 280 * 300, value: 60)
    let days = figures(readings, by: .day).groups
    #expect(days.map { $0.sensor.episodes[.low].count } == [1, 0])
    #expect(days[0].sensor.episodes[.low].minutes == 100)
  }
}
