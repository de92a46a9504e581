// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests the parts of packed points: bits, codes, and numbers with 7 bits per byte.
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

  @Test func randomBitsAreReadBackAsTheyWereWritten() {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let numbers = (0..<50).map { _ in
        let width = Int(random.next() % 41)
        return (number: random.next() & ((1 << UInt64(width)) - 1), width: width)
      }
      var writer = BitWriter()
      for (number, width) in numbers { writer.append(number, width: width) }
      let bytes = writer.finish()
      #expect(bytes.count == (numbers.reduce(0) { $0 + $1.width } + 7) / 8)
      var reader = BitReader(from: 0)
      for (number, width) in numbers { #expect(reader.next(width, in: bytes) == number, "seed \(seed)") }
      #expect(reader.nextByte == bytes.count)
      #expect(reader.next(8, in: bytes) == nil)
    }
  }

  @Test func leadingOneBitsAreCountedUpToALimitOrTheEnd() {
    let bytes: [UInt8] = [0b0000_0111, 0xFF, 0xFF]
    var reader = BitReader(from: 0)
    #expect(reader.ones(atMost: 2, in: bytes) == 2)
    #expect(reader.ones(atMost: 24, in: bytes) == 1)
    #expect(reader.next(5, in: bytes) == 0)
    #expect(reader.ones(atMost: 24, in: bytes) == 16)
    #expect(reader.ones(atMost: 24, in: bytes) == 0 && reader.nextByte == 3)
  }

  /// Each width is tested with numbers that fit it, and with larger numbers, which need the escape code.
  @Test(arguments: 0...40) func anyPackedNumberIsReadBackUnchanged(_ width: Int) {
    var random = SeededGenerator(seed: UInt64(width))
    let code = RiceCode(width: width)
    let small = UInt64(24) << UInt64(width)
    let borders: [UInt64] = [0, 1, small - 1, small, .max, .max >> 1, 1 << 32, (1 << 32) - 1]
    let numbers = borders + (0..<60).map { _ in random.next() >> (random.next() % 64) }
    var writer = BitWriter()
    for number in numbers { code.write(number, to: &writer) }
    let bytes = writer.finish()
    var reader = BitReader(from: 0)
    for number in numbers { #expect(code.read(&reader, in: bytes) == number) }
  }

  /// A truncated number is invalid, wherever the bytes end.
  @Test func aTruncatedPackedNumberIsRefused() {
    for number in [5, 200, .max] as [UInt64] {
      var writer = BitWriter()
      RiceCode(width: 3).write(number, to: &writer)
      let bytes = writer.finish()
      for length in 0..<bytes.count {
        var reader = BitReader(from: 0)
        #expect(
          RiceCode(width: 3).read(&reader, in: Array(bytes.prefix(length))) == nil, "\(number) \(length)")
      }
    }
  }

  @Test func theChosenRiceCodeIsNearlyTheShortest() {
    func bits(_ numbers: [UInt64], _ code: RiceCode) -> Int {
      var writer = BitWriter()
      for number in numbers { code.write(number, to: &writer) }
      return writer.finish().count
    }
    for seed in UInt64(1)...60 {
      var random = SeededGenerator(seed: seed)
      let shift = random.next() % 60
      let numbers = (0..<100).map { _ in random.next() >> (shift + random.next() % 4) }
      let fitting = RiceCode(fitting: numbers)
      #expect((0...RiceCode.maxWidth).contains(fitting.width))
      let best = (0...RiceCode.maxWidth).map { bits(numbers, RiceCode(width: $0)) }.min() ?? 0
      #expect(bits(numbers, fitting) <= best + best / 8 + 1, "seed \(seed)")
    }
    #expect(RiceCode(fitting: []).width == 0 && RiceCode(fitting: [0, 0, 0]).width == 0)
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
