// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

/// The points of a series, and their form in a record.
@Suite struct PointRunsTests {
  private static func point(_ position: Int64, _ bucket: Int64 = 0, _ occurrence: Int64 = 0) -> SeriesPoint {
    SeriesPoint(position: position, valueBucket: bucket, occurrence: occurrence)
  }

  @Test(arguments: [
    [], [point(0)], [point(-5), point(0), point(5), point(10)],
    [point(1, 56), point(1, 57), point(1, 57, 1)],
    [point(.min), point(0), point(.max)], [point(.min, .min, .max), point(.max, .max, 0)],
  ])
  func textAndPointsAreTheSame(_ points: [SeriesPoint]) throws {
    let runs = PointRuns(points)
    #expect(Array(runs.points) == points)
    #expect(runs.count == points.count)
    let read = try #require(PointRuns(text: runs.text))
    #expect(read == runs && Array(read.points) == points)
  }

  @Test func anyPointsAreReadAsTheyWereWritten() throws {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let points = Set(
        (0..<random.next() % 60).map { _ in
          Self.point(
            Int64(random.next() % 50) * 300, Int64(random.next() % 3) - 1, Int64(random.next() % 2))
        }
      ).sorted()
      let runs = try #require(PointRuns(text: PointRuns(points).text), "seed \(seed)")
      #expect(Array(runs.points) == points, "seed \(seed)")
      for position in stride(from: Int64(0), to: 15_000, by: 100) {
        for bucket in Int64(-1)...1 {
          let point = Self.point(position, bucket)
          #expect(runs.contains(point) == points.contains(point), "seed \(seed) \(point)")
        }
      }
    }
  }

  @Test func regularSensorDataTakesAFewBytesAndJitterLessThanFourAReading() {
    let regular = PointRuns((0..<100_000).map { Self.point(1_700_000_000 + $0 * 300) })
    #expect(regular.text.utf8.count < 30)
    var random = SeededGenerator(seed: 1)
    var position: Int64 = 1_700_000_000
    let jittering = PointRuns(
      (0..<100_000).map { _ in
        position += 299 + Int64(random.next() % 3)
        return Self.point(position)
      })
    #expect(jittering.text.utf8.count < 400_000)
  }

  /// Bytes that state what no value may: no points, too many, a step of 0, positions that go back or past the last.
  @Test(arguments: [
    "?", "AA==", "AAA=", "BA==", "CAAA", "gICAgAQA", "/////w8AAQ==", "BAIEAQ==", "CP7///////////8BAg==",
    "BICAgICAgICAgICAgA==",
  ])
  func otherBytesAreNoPoints(_ text: String) {
    #expect(PointRuns(text: text) == nil, "\(text)")
  }

  @Test func partsHoldAllPointsAndNoneIsTooLarge() {
    var random = SeededGenerator(seed: 7)
    var position: Int64 = 0
    let points = (0..<5000).map { _ in
      position += Int64(random.next() % 10_000) + 1
      return Self.point(position, Int64(random.next() % 100))
    }
    let parts = PointRuns(points).parts(ofBytes: 1000)
    #expect(parts.count > 10 && parts.allSatisfy { $0.text.utf8.count <= 1000 && !$0.isEmpty })
    #expect(parts.flatMap { Array($0.points) } == points)
    let long = PointRuns(runs: [.init(first: Self.point(0), step: 1, count: 3 << 20)])
    #expect(long.parts(ofBytes: 1000).map(\.count) == [1 << 20, 1 << 20, 1 << 20])
  }
}
