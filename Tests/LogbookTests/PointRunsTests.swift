// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import TestArchives
import Testing

@testable import Logbook

/// Tests the points of a series, and how a record stores them.
@Suite struct PointRunsTests {
  private static func point(_ position: Int64, _ bucket: Int64 = 0, _ occurrence: Int64 = 0) -> SeriesPoint {
    SeriesPoint(position: position, valueBucket: bucket, occurrence: occurrence)
  }

  @Test(arguments: [
    [], [point(0)], [point(-5), point(0), point(5), point(10)],
    [point(1, 56), point(1, 57), point(1, 57, 1)],
    [point(.min), point(0), point(.max)], [point(.min, .min, .max), point(.max, .max, 0)],
  ])
  func packedPointsAreReadBackFromTheirText(_ points: [SeriesPoint]) throws {
    let runs = PointRuns(points)
    #expect(Array(runs.points) == points)
    #expect(runs.count == points.count)
    let read = try #require(PointRuns(text: runs.text))
    #expect(read == runs && Array(read.points) == points)
  }

  @Test func randomPackedPointsAreReadBackAsTheyWereWritten() throws {
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

  /// The bytes of text per reading for 100,000 readings. `distance` returns the distance from the previous
  /// position, and `bucket` returns the value bucket.
  private func bytesPerReading(
    _ distance: (inout SeededGenerator) -> Int64, _ bucket: (inout SeededGenerator, Int64) -> Int64
  ) throws -> Double {
    var random = SeededGenerator(seed: 1)
    var last = Self.point(1_700_000_000, bucket(&random, 0))
    let points = (0..<100_000).map { _ in
      last = Self.point(last.position + distance(&random), bucket(&random, last.valueBucket))
      return last
    }
    let runs = PointRuns(points)
    #expect(Array(try #require(PointRuns(text: runs.text)).points) == points)
    return Double(runs.text.utf8.count) / Double(points.count)
  }

  @Test func regularSensorReadingsArePackedIntoAFewBytesInTotal() {
    let regular = PointRuns((0..<1_000_000).map { Self.point(1_700_000_000 + $0 * 300) })
    #expect(regular.count == 1_000_000 && regular.text.utf8.count < 30)
  }

  @Test func timesThatJitterByTwoSecondsTakeLessThanAByteAReading() throws {
    let bytes = try bytesPerReading({ 298 + Int64($0.next() % 5) }, { _, _ in 0 })
    #expect(bytes < 1, "\(bytes)")
  }

  @Test func jitteringTimesWithAnyValuesArePackedIntoAtMost3BytesEach() throws {
    let bytes = try bytesPerReading(
      { 270 + Int64($0.next() % 61) }, { random, _ in 22 + Int64(random.next() % 250) })
    #expect(bytes <= 3, "\(bytes)")
  }

  @Test func fingerSticksAtAnySecondArePackedIntoLessThan4Point4BytesEach() throws {
    let bytes = try bytesPerReading(
      { 1 + Int64($0.next() % 28_800) },
      { random, last in min(max(last + Int64(random.next() % 121) - 60, 22), 270) })
    #expect(bytes < 4.4, "\(bytes)")
  }

  // MARK: Sets

  /// Random runs of points and single points in a small range, so that two results usually have points in
  /// common.
  private func points(_ random: inout SeededGenerator) -> Set<SeriesPoint> {
    var points: Set<SeriesPoint> = []
    for _ in 0..<random.next() % 4 {
      let (first, step) = (Int64(random.next() % 60), Int64(random.next() % 7) + 1)
      let bucket = Int64(random.next() % 2)
      for index in 0..<Int64(random.next() % 40) { points.insert(Self.point(first + index * step, bucket)) }
    }
    for _ in 0..<random.next() % 10 {
      points.insert(
        Self.point(Int64(random.next() % 100), Int64(random.next() % 2), Int64(random.next() % 2)))
    }
    return points
  }

  @Test func setOperationsOnPackedPointsGiveTheSamePointsAsOnPlainSets() {
    for seed in UInt64(1)...500 {
      var random = SeededGenerator(seed: seed)
      let (left, right) = (points(&random), points(&random))
      let (mine, theirs) = (PointRuns(left.sorted()), PointRuns(right.sorted()))
      #expect(Array(mine.subtracting(theirs).points) == left.subtracting(right).sorted(), "seed \(seed)")
      #expect(Array(mine.intersection(theirs).points) == left.intersection(right).sorted(), "seed \(seed)")
      #expect(Array(mine.union(theirs).points) == left.union(right).sorted(), "seed \(seed)")
      // The order of the two sets must not matter, because two stores must write the same text.
      #expect(mine.intersection(theirs) == theirs.intersection(mine), "seed \(seed)")
      #expect(mine.union(theirs) == theirs.union(mine), "seed \(seed)")
    }
  }

  @Test func aCursorOverPackedPointsFindsTheSamePointsAsASearch() throws {
    for seed in UInt64(1)...100 {
      var random = SeededGenerator(seed: seed)
      let runs = PointRuns(points(&random).sorted())
      let start = Int64(random.next() % 50)
      var cursor = PointRuns.Cursor(runs, from: Self.point(start))
      for position in start...110 {
        for (bucket, occurrence) in [(Int64(0), Int64(0)), (0, 1), (1, 0), (1, 1)] {
          let point = Self.point(position, bucket, occurrence)
          #expect(cursor.contains(point) == runs.contains(point), "seed \(seed) \(point)")
        }
      }
    }
  }

  /// Sets are subtracted run by run. The results are runs again, and the time does not depend on the number
  /// of points.
  @Test func subtractingFromAMillionPointsReturnsRunsNotSinglePoints() {
    let long = PointRuns(runs: [.init(first: Self.point(0), step: 1, count: 1 << 20)])
    let apart = PointRuns(runs: [.init(first: Self.point(0, 1), step: 1, count: 1 << 20)])
    #expect(long.subtracting(apart) == long && long.subtracting(long).isEmpty)
    let middle = PointRuns(runs: [.init(first: Self.point(1000), step: 1, count: 1000)])
    #expect(
      long.subtracting(middle)
        == PointRuns(runs: [
          .init(first: Self.point(0), step: 1, count: 1000),
          .init(first: Self.point(2000), step: 1, count: (1 << 20) - 2000),
        ]))
  }

  // MARK: Bytes of other programs

  /// Versions of zlib may pack the same points differently. Stores with two versions must agree.
  @Test func readingsThatAnotherProgramPackedDifferentlyAreTheSame() throws {
    let guid = "0a1b2c3d-0000-4000-8000-000000000001"
    let series = SeriesName(device: "serial|V|S", kind: .cbg, positionKind: .time)
    let runs = PointRuns((0..<60).map { Self.point($0 * 300 + $0 % 2 * 7) })
    var packed: [UInt8] = []
    packed.append(number: UInt64(runs.bytes.count))
    packed += try Deflate.raw(runs.bytes)
    let other = Data(packed).base64EncodedString()
    #expect(other != runs.text && PointRuns(text: other) == runs)
    let mine = Withdrawal(.input(WithdrawnInput(group: guid, points: [series: runs])), isHidden: true).fields
    var theirs = mine
    theirs["points"] = .text("\(series.text) \(other)")
    let merged = Withdrawal.merged(mine, theirs, base: nil)
    #expect(merged == Withdrawal.merged(theirs, mine, base: nil) && [mine, theirs].contains(merged))
    #expect(Withdrawal(fields: theirs) == Withdrawal(fields: mine))
  }

  @Test func theGroupOfBroughtItemsFollowsFromItsItemsAndTheImport() {
    let series = SeriesName(device: "serial|V|S", kind: .cbg, positionKind: .time)
    func group(_ positions: [Int64], importID: String = "i", records: [String: String] = [:]) -> String {
      WithdrawnInput(
        group: "g", importID: importID, points: [series: PointRuns(positions.map { Self.point($0) })],
        records: records
      ).broughtGroup
    }
    #expect(group([1, 2]) == group([1, 2]) && Guid.isValid(group([1, 2])))
    let others = [
      group([1, 2]), group([1, 3]), group([1, 2], importID: "j"), group([1, 2], records: ["a": "b"]),
    ]
    #expect(Set(others).count == 4)
  }

  @Test func damagedPackedPointsNeverGiveUnorderedPoints() {
    for seed in UInt64(1)...2000 {
      var random = SeededGenerator(seed: seed)
      var bytes = PointRuns(points(&random).sorted()).bytes
      for _ in 0...random.next() % 3 where !bytes.isEmpty {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
        default: bytes.remove(at: index)
        }
      }
      guard let runs = PointRuns(text: PointRuns.text(packing: bytes)) else { continue }
      #expect(runs.count <= PointRuns.maxPoints, "seed \(seed)")
      // Each run needs at least one byte, so damaged bytes cannot give many runs.
      let steps = Array(runs.runs)
      #expect(steps.count <= bytes.count, "seed \(seed)")
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.last < $1.first }, "seed \(seed)")
      #expect(PointRuns(runs: steps).count == runs.count, "seed \(seed)")
    }
  }

  @Test func aRunWithMorePointsThanTheMaximumIsRefused() {
    for (count, isRead) in [(PointRuns.maxPoints, true), (PointRuns.maxPoints + 1, false), (1 << 40, false)] {
      var bytes: [UInt8] = []
      bytes.append(number: UInt64(count) << 2)
      let text = PointRuns.text(packing: bytes + [0, 1])
      #expect((PointRuns(text: text) != nil) == isRead, "\(count)")
    }
  }

  /// The bytes state no points, too many points, a step of 0, or positions that decrease or exceed the
  /// maximum.
  @Test(arguments: [
    "AA==", "AAA=", "BA==", "CAAA", "gICAgAQA", "/////w8AAQ==", "BAIEAQ==", "CP7///////////8BAg==",
    "BICAgICAgICAgICAgA==",
  ])
  func aListOfWithdrawnReadingsWithInvalidCountsOrStepsIsRefused(_ text: String) throws {
    let bytes = Array(try #require(Data(base64Encoded: text)))
    #expect(PointRuns(text: PointRuns.text(packing: bytes)) == nil, "\(text)")
  }

  @Test func aListOfWithdrawnReadingsThatIsNotPackedIsRefused() {
    let bytes = PointRuns([Self.point(1), Self.point(7)]).bytes
    #expect(PointRuns(text: Data(bytes).base64EncodedString()) == nil)
    for text in ["?", "AA==", "AQ==", "AQA="] { #expect(PointRuns(text: text) == nil, "\(text)") }
  }

  /// The points of a stretch must not be before each other, and their occurrences must not be negative.
  @Test(
    arguments: [
      ([0, 2, 2, 5, 1], [1, 7]), ([0, 2, 2, 5], nil), ([0, 1, 2, 5], nil), ([0, 2, 2, 0, 0], nil),
      ([2, 2, 2, 1, 5, 0, 1], [1, 6]), ([2, 2, 2, 1, 5, 0, 3], nil),
      ([0, 0x81, 2, 2, 5] + [UInt8](repeating: 0, count: 256), nil),
    ] as [([UInt8], [Int64]?)])
  func aStretchOfReadingsIsReadOrRefusedAsAWhole(_ bytes: [UInt8], _ positions: [Int64]?) {
    #expect(PointRuns(text: PointRuns.text(packing: bytes))?.points.map(\.position) == positions)
  }

  @Test func pointsSplitIntoPartsAreCompleteAndNoPartIsTooLarge() {
    var random = SeededGenerator(seed: 7)
    var position: Int64 = 0
    let points = (0..<5000).map { _ in
      position += Int64(random.next() % 10_000) + 1
      return Self.point(position, Int64(random.next() % 100))
    }
    let parts = PointRuns(points).parts(ofBytes: 2000)
    #expect(parts.count > 5 && parts.allSatisfy { $0.textBytes <= 2000 && !$0.isEmpty })
    #expect(parts.allSatisfy { $0.textBytes == $0.text.utf8.count })
    #expect(parts.flatMap { Array($0.points) } == points)
    let long = PointRuns(runs: [.init(first: Self.point(0), step: 1, count: 3 << 20)])
    let thirds = [Int64](repeating: 1 << 20, count: 3)
    #expect(long.parts(ofBytes: 1000).map { Int64($0.count) } == thirds)
  }
}
