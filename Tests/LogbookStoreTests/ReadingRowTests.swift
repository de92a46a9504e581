// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests readings that are stored in chunks. If the readings of a chunk differ only in a few columns,
/// `ReadingWriter` uses a faster SQL statement. Unsorted readings are sorted first.
@Suite struct ReadingRowTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private static func alike(_ count: Int64) -> [Reading] {
    (0..<count).map { Make.reading(.cbg, Make.milligrams(Double(80 + $0)), at: Make.noon + $0 * 300) }
  }

  /// The columns that the schema requires for a reading, joined with blanks.
  private static func columns(_ reading: Reading) -> String {
    func text(_ number: Double?) -> String { number.map { "\($0)" } ?? "NULL" }
    let offset = String(reading.placement.utcOffset)
    let isDerived = reading.placement.source.isDerived
    let (value, threshold, flag): (Double?, Double?, Int) =
      switch reading.measurement {
      case .value(let quantity): (quantity.number, nil, 0)
      case .low(let below, _): (nil, below, 1)
      case .high(let above, _): (nil, above, 2)
      }
    return [
      "\(reading.kind.rawValue)", "\(reading.position)", "\(reading.deviceTime.seconds)",
      isDerived ? "NULL" : offset, isDerived ? offset : "NULL", "\(reading.placement.source.rawValue)",
      text(value), "\(reading.measurement.unit.rawValue)", "\(flag)", text(threshold),
      "\(reading.marks.rawValue)", "0",
    ].joined(separator: " ")
  }

  private func stored() throws -> [String] {
    try scratch.rows(
      """
      SELECT partition, position, device_time, stated_offset, derived_offset, offset_source, value, unit, range_flag,
        threshold, marks, uploaded FROM reading ORDER BY partition, position, series
      """)
  }

  @Test(
    arguments: [
      (.millimoles(5.5), .zone, []), (.low(below: 40, .milligramsPerDecilitre), .zone, []),
      (.low(below: nil, .milligramsPerDecilitre), .zone, []),
      (.high(above: 400, .milligramsPerDecilitre), .zone, []), (.milligrams(90), .stated, []),
      (.milligrams(90), .zone, [.manual]), (.milligrams(90), .zone, [.doubtfulTime, .afterMeal]),
      (.milligrams(91), .zone, []),
    ] as [(Value, OffsetSource, ReadingMarks)])
  func oneDifferentReadingAmongEqualOnesKeepsItsColumns(
    _ value: Value, _ source: OffsetSource, _ marks: ReadingMarks
  ) throws {
    for place in [0, 7, 19] {
      let scratch = try ReadingRowTests()
      var readings = Self.alike(20)
      readings[place].measurement = value.measurement
      readings[place].placement = Placement(utcOffset: 7200, source: source)
      readings[place].marks = marks
      try scratch.scratch.ingest(Make.batch(readings))
      #expect(try scratch.stored() == readings.map(Self.columns), "\(value) at \(place)")
    }
  }

  /// A measurement. Unlike `Measurement`, it can be an argument of a test.
  enum Value: Sendable {
    case milligrams(Double), millimoles(Double)
    case low(below: Double?, GlucoseUnit), high(above: Double?, GlucoseUnit)

    var measurement: Logbook.Measurement {
      switch self {
      case .milligrams(let number): Make.milligrams(number)
      case .millimoles(let number): Make.millimoles(number)
      case .low(let below, let unit): .low(below: below, unit)
      case .high(let above, let unit): .high(above: above, unit)
      }
    }
  }

  @Test func readingsOfTwoKindsInOneBatchAreStoredInSeparatePartitions() throws {
    var readings = Self.alike(20)
    readings[5].kind = .scan
    try scratch.ingest(Make.batch(readings))
    let expected = (readings.filter { $0.kind == .cbg } + [readings[5]]).map(Self.columns)
    #expect(try stored() == expected)
  }

  @Test func allReadingsOfManyBatchesAreStoredInOrder() throws {
    let readings = Self.alike(1700)
    try scratch.ingest(Make.batch(readings))
    #expect(try stored() == readings.map(Self.columns))
  }

  @Test(arguments: 0..<6) func readingsOutOfOrderAreStoredLikeSortedOnes(_ disorder: Int) throws {
    var generator = SeededGenerator(seed: UInt64(disorder))
    let readings = Self.alike(1200)
    var given = readings
    switch disorder {
    case 0: given.reverse()
    case 1: given.shuffle(using: &generator)
    case 2: given.append(given.removeFirst())
    case 3: given.insert(given.removeLast(), at: 0)
    case 4: given.swapAt(599, 600)
    default:
      for _ in 0..<60 {
        given.append(given.remove(at: Int.random(in: 0..<1100, using: &generator)))
      }
    }
    // Repeats some readings. In the order of the primary key, a repeated reading follows the first one.
    given += readings.prefix(40) + readings.prefix(3)
    let counts = try scratch.ingest(Make.batch(given))
    #expect(counts.newReadings == 1200 && counts.repeatedReadings == 43)
    #expect(try stored() == readings.map(Self.columns))
  }
}
