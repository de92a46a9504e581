// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests the spool, which sorts the readings of an unsorted file before they are stored.
@Suite struct UnsortedSpoolTests {
  private static let count: Int64 = 12_000

  /// Sensor readings five minutes apart. The value and the line of a reading equal its number.
  private static func readings(_ numbers: some Sequence<Int64>) -> [Reading] {
    numbers.map { number in
      var reading = Make.reading(.cbg, Make.milligrams(Double(number)), at: Make.noon + number * 300)
      reading.line = number
      return reading
    }
  }

  private static func shuffled(_ numbers: Range<Int64> = 0..<count, seed: UInt64 = 1) -> [Reading] {
    var random = SeededGenerator(seed: seed)
    return readings(numbers.shuffled(using: &random))
  }

  @Test func onlyUnsortedReadingsAreKeptForSorting() {
    let numbers = 0..<Self.count
    #expect(UnsortedSpool.areUnsorted(Self.shuffled()))
    #expect(!UnsortedSpool.areUnsorted(Self.readings(numbers)))
    #expect(!UnsortedSpool.areUnsorted(Self.readings(numbers.reversed())))
    // The first list has the same 3000 times four times in sequence, as a file with four devices does. In the
    // second list, every twentieth reading is late.
    #expect(!UnsortedSpool.areUnsorted(Self.readings(numbers.map { $0 % 3000 })))
    #expect(!UnsortedSpool.areUnsorted(Self.readings(numbers.map { $0 % 20 == 0 ? $0 - 700 : $0 })))
    #expect(!UnsortedSpool.areUnsorted(Self.readings(numbers.map { _ in 7 })))
    #expect(!UnsortedSpool.areUnsorted(Array(Self.shuffled().prefix(UnsortedSpool.minCount - 1))))
    #expect(!UnsortedSpool.areUnsorted([]))
  }

  @Test func readingsThatMostlyGoBackInTimeAreTreatedAsNewestFirst() {
    let numbers = 0..<Self.count
    #expect(UnsortedSpool.areNewestFirst(Self.readings(numbers.reversed())))
    // The newest reading comes first, but every twentieth reading is late.
    #expect(UnsortedSpool.areNewestFirst(Self.readings(numbers.map { $0 % 20 == 0 ? 700 - $0 : -$0 })))
    #expect(!UnsortedSpool.areNewestFirst(Self.readings(numbers)))
    #expect(!UnsortedSpool.areNewestFirst(Self.readings(numbers.map { $0 % 3000 })))
    #expect(!UnsortedSpool.areNewestFirst(Self.readings(numbers.map { _ in 7 })))
    let few = numbers.reversed().prefix(UnsortedSpool.minCount - 1)
    #expect(!UnsortedSpool.areNewestFirst(Self.readings(few)))
    #expect(!UnsortedSpool.areNewestFirst([]))
  }

  @Test func sortedRunsWithAdjacentReadingsAreMergedIntoOne() throws {
    var waiting = try UnsortedSpool()
    // Each `add` stores a sorted run of readings. The last two runs both contain a reading with the number
    // 300.
    for numbers in [900..<1000, 600..<900, 100..<301, 300..<600] as [Range<Int64>] {
      try waiting.add(Self.readings(numbers.reversed()), of: [1])
    }
    var merged: [Int64] = []
    try waiting.merge(of: [1]) { merged += $0.map(\.line) }
    #expect(merged == Array(100...300) + Array(300..<1000))
  }

  @Test func sortedRunsAreMergedInPrimaryKeyOrderThenInputOrder() throws {
    var waiting = try UnsortedSpool()
    var all: [Reading] = []
    for round in 0..<4 as Range<UInt64> {
      var batch = Self.shuffled(seed: round)
      for index in batch.indices where index % 3 == 0 {
        (batch[index].positionKind, batch[index].device) = (.tick, DeviceIndex(Int32(index % 2)))
        if index % 4 == 0 { batch[index].position += 1_748_779_200_000 }
      }
      for index in batch.indices where index % 5 == 0 { batch[index].kind = .smbg }
      for index in batch.indices { batch[index].line = Int64(all.count + index) }
      all += batch
      try waiting.add(batch, of: [1, 2])
    }
    var merged: [Reading] = []
    var sizes: [Int] = []
    try waiting.merge(of: [1, 2]) { batch in
      // Readings with the same position are never split between two batches.
      if let last = merged.last, let first = batch.first { #expect(key(last) != key(first)) }
      merged += batch
      sizes.append(batch.count)
    }
    let order = all.sorted { (key($0) + [$0.line]).lexicographicallyPrecedes(key($1) + [$1.line]) }
    let isInOrder = merged.map(\.line) == order.map(\.line)
    #expect(isInOrder)
    #expect(sizes.dropLast().allSatisfy { $0 >= IngestBatch.size } && sizes.count == 3)
  }

  private func key(_ reading: Reading) -> [Int64] {
    let kind = Int64(reading.kind.rawValue)
    if reading.positionKind == .time { return [0, 0, kind, reading.position] }
    if reading.isPlacedByInstant { return [-1, 0, -kind, reading.position] }
    return [1, Int64(reading.device.number), kind, reading.position]
  }

  @Test func tooManyReadingsAtOneTimeAreSplitIntoBatches() throws {
    var waiting = try UnsortedSpool()
    let most = IngestBatch.size + IngestBatch.maxTogether
    try waiting.add(Self.readings((0..<Int64(most) + 10).map { _ in 7 }), of: [1])
    var sizes: [Int] = []
    try waiting.merge(of: [1]) { sizes.append($0.count) }
    #expect(sizes == [most, 10])
  }

  @Test func aReadingKeptForSortingIsReadBackUnchanged() throws {
    var reading = Reading(
      device: DeviceIndex(3), kind: .scan, tick: -12, at: DeviceTime(seconds: 99),
      placement: Placement(utcOffset: -3600, source: .ticks),
      .high(above: 27.8, .millimolesPerLitre), marks: [.linked, .fasting], line: 1 << 40)
    reading.occurrence = 2
    reading.occurrenceIsStated = true
    var waiting = try UnsortedSpool()
    try waiting.add([reading], of: [1, 2, 3, 4])
    try waiting.merge(of: [1, 2, 3, 4]) { #expect($0.map { "\($0)" } == ["\(reading)"]) }
  }

  @Test func noMoreSortedRunsAreKeptThanCanBeMergedAtOnce() throws {
    var waiting = try UnsortedSpool()
    for number in 0..<Int64(UnsortedSpool.maxRuns) {
      #expect(!waiting.isFull)
      try waiting.add(Self.readings([number]), of: [1])
    }
    #expect(waiting.isFull)
  }
}

/// Tests imports whose readings may be kept in the spool until the end of the input.
@Suite struct SpooledImportTests {
  private struct Interruption: Error {}
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// An unsorted batch of readings. `reading` makes the reading for a time.
  private func scattered(_ reading: (Int64) -> Reading) -> IngestBatch {
    Make.batch((0..<12_000).map { reading(Make.noon + $0 * 7919 % 12_000 * 300) })
  }

  private func ingest(
    mayWait: Bool = true, isAtomic: Bool = false, _ body: (IngestWriter) throws -> Void
  ) throws {
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1, modifiedAt: 1, decisions: [], mayWait: mayWait)
    try scratch.open().ingest(source, isAtomic: isAtomic) { writer in
      try body(writer)
      try writer.finish(end: .whole, digest: nil, generatedAt: nil, finishedAt: 2, decisions: [])
    }
    try scratch.expectCountersEqualCount()
  }

  private let hundred = { (time: Int64) in Make.reading(.cbg, Make.milligrams(100), at: time) }
  private let other = { (time: Int64) in Make.reading(.cbg, Make.milligrams(200), at: time) }

  @Test func unsortedReadingsAreSortedAndStoredInBatches() throws {
    try ingest { writer in
      try writer.write(scattered(hundred))
      try writer.write(scattered(hundred))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 0)
      var counts: [Int] = []
      try writer.storeSpooled { _ in counts.append(writer.counts.newReadings) }
      #expect(counts.count == 2 && counts.last == 12_000 && writer.counts.repeatedReadings == 12_000)
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == 12_000)
  }

  private func newestFirst(_ reading: (Int64) -> Reading, days: Int64 = 0) -> IngestBatch {
    Make.batch((0..<12_000).map { reading(Make.noon + days * 86_400 - $0 * 300) })
  }

  @Test func newestFirstReadingsAreKeptForSortingIfTheStoreHasNoLaterOnes() throws {
    try ingest { writer in
      try writer.write(newestFirst(hundred))
      try writer.write(newestFirst(other, days: -40))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 0)
      try writer.storeSpooled { _ in }
      #expect(writer.counts.newReadings == 24_000 && writer.counts.changedReadings == 0)
    }
    // Two readings have the same time. The first of them in the input gets the number 0 in the column
    // `occurrence`.
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE value = 100 AND occurrence = 0") == 12_000)
  }

  @Test func newestFirstReadingsAreStoredAtOnceIfLaterOnesAreStored() throws {
    try scratch.ingest(Make.batch([hundred(Make.noon)]))
    try ingest { writer in
      try writer.write(newestFirst(hundred))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 12_000)
      try writer.write(newestFirst(hundred, days: 1))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 12_000)
      try writer.storeSpooled { _ in }
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == 12_288)
  }

  @Test func unsortedReadingsAreStoredAtOnceIfTheSourceMustNotWait() throws {
    try ingest(mayWait: false) { writer in
      try writer.write(scattered(hundred))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 12_000)
    }
  }

  @Test func readingsAfterOnesKeptForSortingKeepTheirOrder() throws {
    try ingest { writer in
      try writer.write(scattered(hundred))
      try writer.write(Make.batch([other(Make.noon), hundred(Make.noon - 300)]))
      #expect(try scratch.number("SELECT count(*) FROM reading") == 0)
      try writer.storeSpooled { _ in }
      #expect(writer.counts.newReadings == 12_002 && writer.counts.changedReadings == 0)
    }
    #expect(try scratch.rows("SELECT DISTINCT value FROM reading WHERE occurrence = 0") == ["100.0"])
  }

  @Test func sortingKeepsTheOrderOfReadingsAtOneTime() throws {
    try ingest { writer in
      try writer.write(scattered(hundred))
      try writer.write(scattered(other))
      try writer.storeSpooled { _ in }
      #expect(writer.counts.newReadings == 24_000 && writer.counts.changedReadings == 0)
    }
    #expect(try scratch.rows("SELECT DISTINCT value FROM reading WHERE occurrence = 0") == ["100.0"])
  }

  @Test(arguments: [false, true]) func readingsKeptForSortingAreStoredIfANonatomicImportFails(isAtomic: Bool)
    throws
  {
    #expect(throws: Interruption.self) {
      try ingest(isAtomic: isAtomic) { writer in
        try writer.write(scattered(hundred))
        throw Interruption()
      }
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == (isAtomic ? 0 : 12_000))
    #expect(try scratch.rows("SELECT outcome FROM ingest") == (isAtomic ? [] : ["failed"]))
    try scratch.expectCountersEqualCount()
  }

  @Test func readingsThatAreRejectedAfterSortingAreReported() throws {
    try scratch.ingest(Make.batch([Make.tick(5, 100, at: Make.noon - 90 * 86_400)]))
    try ingest { writer in
      try writer.write(scattered { Make.tick(($0 - Make.noon) / 300, 100, at: $0) })
      var refused: [Rejection] = []
      try writer.storeSpooled { refused += $0 }
      #expect(refused.count == 1 && writer.counts.rejected == 1 && writer.counts.newReadings == 11_999)
    }
    #expect(try scratch.number("SELECT count(*) FROM rejection") == 1)
  }

  /// The input lists two devices with the same identity, so the store has one device. The readings of the
  /// second have another value.
  @Test func theReadingsOfTheFirstOfTwoEqualDevicesAreKept() throws {
    var batch = scattered { Make.tick(($0 - Make.noon) / 300, 100, at: $0) }
    let second = batch.readings.map { reading in
      var reading = reading
      (reading.device, reading.measurement) = (DeviceIndex(0), Make.milligrams(101))
      return reading
    }
    for index in batch.readings.indices { batch.readings[index].device = DeviceIndex(1) }
    batch.readings += second
    batch.devices = [Make.device, Make.device]
    try ingest { writer in
      try writer.write(batch)
      try writer.storeSpooled { _ in }
      #expect(writer.counts.newReadings == 12_000 && writer.counts.changedReadings == 12_000)
    }
    #expect(try scratch.rows("SELECT DISTINCT value FROM reading") == ["100.0"])
  }

  /// The batch fails and is rolled back. Its readings and counts must not remain in the spool, since the
  /// rollback also removed its device.
  @Test func aRolledBackBatchIsNotKeptForSorting() throws {
    let store = try scratch.open()
    try store.queue.inDatabase { database in
      try database.execute(
        sql: """
          CREATE TEMP TRIGGER refuses BEFORE INSERT ON main.rejection
          BEGIN SELECT RAISE(ABORT, 'refused'); END
          """)
    }
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1, modifiedAt: 1, decisions: [], mayWait: true)
    var batch = scattered(hundred)
    batch.records = [Make.record(["carbs": .number(1)])]
    batch.rejections = [Rejection(line: 3, reason: "no value")]
    try store.ingest(source, isAtomic: false) { writer in
      #expect(throws: DatabaseError.self) { try writer.write(batch) }
      #expect(writer.counts.newRecords == 0)
      try writer.storeSpooled { _ in }
      #expect(
        try scratch.number("SELECT (SELECT count(*) FROM reading) + (SELECT count(*) FROM device)") == 0)
      batch.rejections = []
      try writer.write(batch)
      try writer.storeSpooled { _ in }
      #expect(writer.counts.newRecords == 1 && writer.counts.newReadings == 12_000)
    }
    try scratch.expectCountersEqualCount()
  }

  @Test func aCounterThatRestartsWithinABatchIsDetected() throws {
    let counts = try scratch.ingest(
      Make.batch([
        Make.tick(5, 100), Make.tick(5, 100, at: Make.noon + 3600),
        Make.tick(5, 100, at: Make.noon + 90 * 86_400),
        Make.tick(5, 120, at: Make.noon + 90 * 86_400),
      ]))
    #expect(counts.newReadings == 1 && counts.repeatedReadings == 1 && counts.rejected == 2)
    #expect(counts.changedReadings == 0)
  }
}
