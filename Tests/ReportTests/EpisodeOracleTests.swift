// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Compares the episodes of random series with a second implementation, which has all samples in memory.
struct EpisodeOracleTests {
  /// An episode by indices of samples: `start` is its first sample, and `end` is the sample after its last.
  private struct Stretch {
    let start: Int
    let end: Int
  }

  /// Finds episodes by the rule of the consensus, from alternating sequences of samples beyond the limit and
  /// of other samples.
  private static func stretches(
    _ isBeyond: [Bool], begins: (Int) -> Bool, returns: (Int) -> Bool
  ) -> [Stretch] {
    var runs: [(isBeyond: Bool, start: Int, end: Int)] = []
    for (index, state) in isBeyond.enumerated() {
      if let last = runs.last, last.isBeyond == state {
        runs[runs.count - 1].end = index + 1
      } else {
        runs.append((state, index, index + 1))
      }
    }
    var (stretches, index): ([Stretch], Int) = ([], 0)
    while index < runs.count {
      let first = runs[index]
      index += 1
      guard first.isBeyond, begins(first.end - first.start) else { continue }
      var end = first.end
      while index + 1 < runs.count, !returns(runs[index].end - runs[index].start) {
        end = runs[index + 1].end
        index += 2
      }
      stretches.append(Stretch(start: first.start, end: end))
    }
    return stretches
  }

  private static func stretches(_ values: [Int], _ kind: EpisodeKind, every minutes: Int) -> [Stretch] {
    let isBeyond = values.map { value in
      switch kind {
      case .low, .extendedLow: value < 70
      case .veryLow: value < 54
      case .high: value > 180
      case .veryHigh: value > 250
      }
    }
    let isQuarter = { (samples: Int) in samples >= 2 && samples * minutes >= 15 }
    return stretches(
      isBeyond, begins: { kind == .extendedLow ? $0 >= 2 && $0 * minutes > 120 : isQuarter($0) },
      returns: isQuarter)
  }

  /// Values around all limits. Each value lasts for some samples.
  private static func series(_ seed: UInt64, _ count: Int, longest: Int) -> [Int] {
    var walk = RandomWalk(seed: seed)
    var values: [Int] = []
    let levels = [45, 53, 54, 60, 69, 70, 90, 140, 180, 181, 220, 250, 251, 300]
    while values.count < count {
      // Low values are more frequent than in reality, so that all rules are tested.
      let level = levels[walk.happens(onceIn: 2) ? walk.number(0...5) : walk.number(0...13)]
      values += Array(repeating: level, count: walk.number(1...longest))
    }
    return Array(values.prefix(count))
  }

  private static func episodes(_ values: [Int], every minutes: Int) -> EpisodeCounts {
    let readings = values.enumerated().map {
      Reading.sensor($1, at: StatisticsTests.start + Int64($0 * minutes) * 60)
    }
    return figures(readings).total.sensor.episodes
  }

  private static func expect(_ values: [Int], every minutes: Int, _ name: String) {
    let episodes = episodes(values, every: minutes)
    for kind in EpisodeKind.allCases {
      let expected = stretches(values, kind, every: minutes)
      let line = episodes[kind]
      #expect(line.count == expected.count, "\(name) \(kind)")
      #expect(
        line.minutes == expected.reduce(0) { $0 + ($1.end - $1.start) * minutes }, "\(name) \(kind)")
      let means = expected.map { stretch in
        NaiveFigures(values: values[stretch.start..<stretch.end].map(Double.init)).mean
      }
      if !means.isEmpty {
        #expect(agree(line.mean, means.reduce(0, +) / Double(means.count)), "\(name) \(kind)")
      }
      guard let deeper = kind.deeper else {
        #expect(line.withoutDeeper == line.count)
        continue
      }
      let starts = stretches(values, deeper, every: minutes).map(\.start)
      let exclusive = expected.filter { stretch in
        !starts.contains { $0 >= stretch.start && $0 < stretch.end }
      }
      #expect(line.withoutDeeper == exclusive.count, "\(name) \(kind)")
    }
  }

  @Test(arguments: UInt64(1)...6) func samplesEveryFiveMinutesGiveTheEpisodesOfTheConsensus(_ seed: UInt64) {
    Self.expect(Self.series(seed, 500, longest: 9), every: 5, "seed \(seed)")
    Self.expect(Self.series(seed + 100, 300, longest: 60), every: 5, "seed \(seed), long")
  }

  @Test(arguments: UInt64(1)...4) func samplesEveryMinuteGiveTheEpisodesOfTheConsensus(_ seed: UInt64) {
    Self.expect(Self.series(seed, 700, longest: 40), every: 1, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...4) func samplesEveryFifteenMinutesGiveTheEpisodesOfTheConsensus(_ seed: UInt64)
  {
    Self.expect(Self.series(seed, 300, longest: 4), every: 15, "seed \(seed)")
  }

  @Test func theReferenceImplementationFindsTheEpisodesOfWrittenExamples() {
    // This example has 15 minutes below the limit, a short recovery, and a long recovery. It shows that both
    // implementations are not wrong in the same way.
    let values = [100, 60, 60, 60, 90, 90, 60, 60, 90, 90, 90, 60, 60, 100, 50, 50, 50]
    let low = Self.stretches(values, .low, every: 5)
    #expect(low.map(\.start) == [1, 14] && low.map(\.end) == [8, 17])
    #expect(Self.stretches(values, .veryLow, every: 5).map(\.start) == [14])
    #expect(Self.stretches(values, .extendedLow, every: 5).isEmpty)
    #expect(Self.stretches([], .low, every: 5).isEmpty)
  }

  /// The episodes of a series do not depend on its time zone.
  @Test func episodesAreTheSameInEveryTimeZone() {
    let values = Self.series(21, 400, longest: 9)
    func episodes(_ offset: Int32) -> [Int] {
      let readings = values.enumerated().map {
        Reading.sensor($1, at: StatisticsTests.start + Int64($0) * 300, offset: offset)
      }
      let all = figures(readings).total.sensor.episodes
      return EpisodeKind.allCases.flatMap { [all[$0].count, all[$0].minutes] }
    }
    #expect(episodes(0) == episodes(-34_200) && episodes(0) == episodes(50_400))
    #expect(episodes(0).contains { $0 > 0 })
  }

  /// The values are on straight lines. So if some samples are missing, the others show the same curve.
  @Test func missingSamplesOnAStraightCurveDoNotChangeTheEpisodes() {
    let values = (0..<240).map { 100 + ($0 % 80 < 40 ? -($0 % 40) * 2 : -(80 - 2 * ($0 % 40))) }
    func lines(_ isKept: (Int) -> Bool) -> [EpisodeCounts.EpisodeLine] {
      let readings = values.indices.filter(isKept).map {
        Reading.sensor(values[$0], at: StatisticsTests.start + Int64($0) * 300)
      }
      let all = figures(readings).total.sensor.episodes
      return EpisodeKind.allCases.map { all[$0] }
    }
    let whole = lines { _ in true }
    let holed = lines { $0 % 8 != 3 }
    #expect(whole.map(\.count) == holed.map(\.count) && whole.map(\.minutes) == holed.map(\.minutes))
    #expect(whole[0].count == 3)
  }

  @Test func theNumberOfEpisodesPerDayRefersToTheRecordedTime() {
    let day = [Int](repeating: 60, count: 6) + [Int](repeating: 100, count: 282)
    let readings = (0..<3).flatMap { number in
      let start = StatisticsTests.start + Int64(number) * 5 * 86_400
      return day.enumerated().map { Reading.sensor($1, at: start + Int64($0) * 300) }
    }
    // Three of eleven days are recorded.
    let sensor = figures(readings).total.sensor
    #expect(sensor.episodes[.low].count == 3 && sensor.episodesPerDay(.low).number == 1)
    #expect(sensor.episodesPerDay(.veryLow).number == 0)
    let short = figures(Array(readings.prefix(201))).total.sensor
    #expect(short.episodesPerDay(.low) == .absent(.shortTime(minutes: 1005)))
    #expect(figures(Array(readings.prefix(202))).total.sensor.episodesPerDay(.low).number != nil)
  }
}
