// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import TestArchives
import Testing

@testable import Logbook

/// Tests the parts of packed points: numbers with 7 bits per byte, packed bytes, and runs.
@Suite struct PackedNumbersTests {
  @Test func smallPositiveAndNegativeNumbersHaveSmallCodes() {
    #expect([0, -1, 1, -2, 2].map(zigzag) == [0, 1, 2, 3, 4])
    #expect(zigzag(.max) == .max - 1 && zigzag(.min) == .max)
    var random = SeededGenerator(seed: 1)
    for shift in 0..<64 {
      let number = Int64(bitPattern: random.next()) >> Int64(shift)
      #expect(unzigzag(zigzag(number)) == number)
    }
  }

  @Test(
    arguments: [
      (0, [0]), (127, [0x7F]), (128, [0x80, 1]), (300, [0xAC, 2]), (16_383, [0xFF, 0x7F]),
      (16_384, [0x80, 0x80, 1]),
    ] as [(UInt64, [UInt8])])
  func aNumberIsPackedSevenBitsToAByteLowestBitsFirst(_ number: UInt64, _ bytes: [UInt8]) {
    var out: [UInt8] = []
    out.append(number: number)
    #expect(out == bytes)
  }

  @Test func theLargestNumberIsPackedIntoTenBytes() {
    var out: [UInt8] = []
    out.append(number: .max)
    #expect(out == Array(repeating: 0xFF, count: 9) + [1])
  }

  @Test func anyPackedNumberIsReadBackUnchanged() {
    var random = SeededGenerator(seed: 1)
    let numbers =
      [0, 1, 127, 128, .max, .max >> 1] + (0..<500).map { _ in random.next() >> (random.next() % 64) }
    var bytes: [UInt8] = []
    for number in numbers { bytes.append(number: number) }
    var index = 0
    for number in numbers { #expect(bytes.number(at: &index) == number) }
    #expect(index == bytes.count && bytes.number(at: &index) == nil)
  }

  /// The numbers are truncated, larger than 64 bits, or have more bytes than necessary.
  @Test(
    arguments: [
      [], [0x80], [0x80, 0], [0xFF, 0x80, 0], [UInt8](repeating: 0xFF, count: 9),
      [UInt8](repeating: 0xFF, count: 9) + [2], [UInt8](repeating: 0xFF, count: 10) + [0],
      [UInt8](repeating: 0x80, count: 9) + [0],
    ] as [[UInt8]])
  func aTruncatedOrOverlongPackedNumberIsRefused(_ bytes: [UInt8]) {
    var index = 0
    #expect(bytes.number(at: &index) == nil)
  }

  // MARK: Bytes in a record

  private static func bytes(_ count: Int, below limit: UInt64, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(random.next() % limit) }
  }

  @Test(arguments: [1, 2, 7, 300, 20_000, 200_000], [1, 2, 5, 256] as [UInt64])
  func packedBytesAreUnpackedUnchanged(_ count: Int, _ limit: UInt64) {
    let bytes = Self.bytes(count, below: limit)
    let packed = PackedBytes.pack(bytes)
    #expect(PackedBytes.unpack(packed) == bytes)
    #expect(packed.count <= PackedBytes.maxPackedCount(count))
    // Eight bytes take at least one packed byte, even if all are equal.
    #expect(packed.count >= count / PackedBytes.maxExpansion)
  }

  @Test func packedBytesThatAreTruncatedOrContinueAreRefused() {
    let packed = PackedBytes.pack(Self.bytes(300, below: 20))
    for length in 0..<packed.count {
      #expect(PackedBytes.unpack(Array(packed.prefix(length))) == nil, "\(length)")
    }
    #expect(PackedBytes.unpack(packed + [0]) == nil)
    #expect(PackedBytes.unpack([0]) == nil && PackedBytes.unpack(PackedBytes.pack([])) == nil)
  }

  /// The bytes before the Huffman codes state their number.
  @Test func packedBytesThatStateAnotherNumberAreRefused() {
    let bytes = Self.bytes(300, below: 20)
    let codes = PackedBytes.pack(bytes).dropFirst(2)
    for count in [1, 299, 300, 301, 1200, 1 << 32, 1 << 62, .max] as [UInt64] {
      var packed: [UInt8] = []
      packed.append(number: count)
      #expect(PackedBytes.unpack(packed + codes) == (count == 300 ? bytes : nil), "\(count)")
    }
  }

  /// With references to earlier bytes, deflate makes a thousand bytes from one. Such a text is refused before
  /// it is unpacked.
  @Test func packedBytesThatExpandMoreThanEightTimesAreRefused() throws {
    for (count, isRefused) in [(40, false), (400, true), (100_000_000, true)] {
      var packed: [UInt8] = []
      packed.append(number: UInt64(count))
      packed += try Deflate.raw([UInt8](repeating: 7, count: count))
      #expect((PackedBytes.unpack(packed) == nil) == isRefused, "\(count) in \(packed.count)")
    }
  }

  // MARK: Runs

  private static func point(_ position: Int64, _ bucket: Int64 = 0, _ occurrence: Int64 = 0) -> SeriesPoint {
    SeriesPoint(position: position, valueBucket: bucket, occurrence: occurrence)
  }

  @Test func seriesPointsAreOrderedByPositionThenValueThenOccurrence() {
    let points = [
      Self.point(.min), Self.point(-1, 5, 5), Self.point(0, -2), Self.point(0, -1, 9), Self.point(0, 0),
      Self.point(0, 0, 1),
      Self.point(0, 1), Self.point(.max, .min),
    ]
    for (index, one) in points.enumerated() {
      for (other, second) in points.enumerated() { #expect((one < second) == (index < other)) }
    }
  }

  @Test func aPackedRunContainsItsPointsAndNoneInBetween() {
    let run = PointRuns.Run(first: Self.point(10, 3, 1), step: 5, count: 4)
    #expect(run.lastPosition == 25 && run.last == Self.point(25, 3, 1))
    #expect((0...40).filter { run.contains(Self.point($0, 3, 1)) } == [10, 15, 20, 25])
    for other in [
      Self.point(15), Self.point(15, 3), Self.point(15, 2, 1), Self.point(5, 3, 1), Self.point(30, 3, 1),
    ] {
      #expect(!run.contains(other))
    }
    let single = PointRuns.Run(first: Self.point(7), step: 0, count: 1)
    #expect((0...10).filter { single.contains(Self.point($0)) } == [7])
  }

  @Test func runsArePackedIntoTheSameBytesAsTheirPoints() {
    for seed in UInt64(1)...150 {
      var random = SeededGenerator(seed: seed)
      var (runs, position) = ([PointRuns.Run](), Int64(random.next() % 100) - 50)
      for _ in 0..<1 + random.next() % 6 {
        let count = Int64(1 + random.next() % 30)
        let step = count == 1 ? 0 : Int64(1 + random.next() % 4)
        let run = PointRuns.Run(
          first: Self.point(position, Int64(random.next() % 2), Int64(random.next() % 2)), step: step,
          count: count)
        runs.append(run)
        position = run.lastPosition + 1 + Int64(random.next() % 4)
      }
      let points = runs.flatMap { run in (0..<run.count).map { run.point($0) } }
      #expect(PointRuns(runs: runs) == PointRuns(points), "seed \(seed)")
      #expect(PointRuns(points).ends == points[0]...points[points.count - 1])
      #expect(PointRuns(points).positions == points[0].position...points[points.count - 1].position)
    }
  }

  @Test func anEmptySetOfPointsIsPackedIntoNoBytes() {
    let none = PointRuns([SeriesPoint]())
    #expect(none.isEmpty && none.count == 0 && none.ends == nil && none.positions == nil && none.text.isEmpty)
    #expect(PointRuns(text: "") == none && none.parts(ofBytes: 10).isEmpty)
    let some = PointRuns([Self.point(1)])
    #expect(none.union(some) == some && some.union(none) == some && some.subtracting(none) == some)
    #expect(
      none.intersection(some).isEmpty && some.intersection(none).isEmpty && !none.contains(Self.point(1)))
  }

  /// The operations obey the laws of sets, even if runs touch only at their ends.
  @Test func setOperationsOnPackedPointsObeyTheLawsOfSets() {
    func draw(_ random: inout SeededGenerator) -> PointRuns {
      var points: Set<SeriesPoint> = []
      for _ in 0..<random.next() % 4 {
        let (first, step) = (Int64(random.next() % 40), Int64(1 + random.next() % 5))
        for index in 0..<Int64(1 + random.next() % 25) {
          points.insert(Self.point(first + index * step, Int64(random.next() % 2)))
        }
      }
      return PointRuns(points.sorted())
    }
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let (a, b, c) = (draw(&random), draw(&random), draw(&random))
      #expect(a.union(b).union(c) == a.union(b.union(c)), "seed \(seed)")
      #expect(a.subtracting(b).union(a.intersection(b)) == a, "seed \(seed)")
      #expect(a.subtracting(b.union(c)) == a.subtracting(b).subtracting(c), "seed \(seed)")
      #expect(a.intersection(b.union(c)) == a.intersection(b).union(a.intersection(c)), "seed \(seed)")
      #expect(a.union(b).count == a.count + b.count - a.intersection(b).count, "seed \(seed)")
      #expect(a.subtracting(a).isEmpty && a.intersection(a) == a && a.union(a) == a)
    }
  }
}
