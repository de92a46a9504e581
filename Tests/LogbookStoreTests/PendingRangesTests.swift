// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests the ranges in which the store searches for pending readings. Every pending reading must be in a
/// range, whichever program stored it. A range contains few readings that are not pending.
@Suite struct PendingRangesTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func ranges() throws -> [String] {
    try scratch.rows("SELECT first_position - \(Make.noon), last_position - \(Make.noon) FROM pending_range")
  }

  private func pending() throws -> [ReadingKey] {
    try scratch.open(.sync).sync { try $0.pendingReadings(after: nil, limit: .max) }.keys
  }

  private func mark(_ keys: [ReadingKey]) throws {
    try scratch.open(.sync).sync { try $0.markUploaded(keys, except: [], at: 1) }
  }

  /// Sensor readings at these seconds after noon.
  private static func readings(_ times: some Sequence<Int64>) -> IngestBatch {
    Make.batch(times.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0) })
  }

  private static let day: Int64 = 86_400

  // MARK: - Imports

  @Test func anImportPutsNeighbouringReadingsIntoOnePendingRange() throws {
    try scratch.ingest(Self.readings([0, 300, 600, 600 + Self.day, 601 + 2 * Self.day]))
    #expect(
      try ranges() == ["0 \(600 + Self.day)", "\(601 + 2 * Self.day) \(601 + 2 * Self.day)"])
  }

  @Test(arguments: [10, 3000]) func laterImportsExtendAPendingRange(count: Int64) throws {
    try scratch.ingest(Self.readings(stride(from: 0, to: count * 300, by: 300)))
    try scratch.ingest(Self.readings(stride(from: count * 300, to: count * 600, by: 300)))
    try scratch.ingest(Self.readings([-300]))
    #expect(try ranges() == ["-300 -300", "0 \(count * 600 - 300)"])
    // These readings are before, between, inside and after the two ranges.
    try scratch.ingest(Self.readings([-200, 5 * Self.day * count, 10]))
    try scratch.ingest(Self.readings([-400, -350, -250, 5, count * 600]))
    #expect(try pending().count == Int(count) * 2 + 9)
    try scratch.expectRangesHoldWhatIsPending()
  }

  @Test func aReadingFromTheRemoteIsInNoPendingRange() throws {
    try scratch.ingest(Self.readings([0]))
    try scratch.open(.sync).write { database in
      let pulled = Self.readings([Self.day * 3])
      _ = try ReadingWriter(database, BatchTable(database), ingest: 1, isUploaded: true).write(
        pulled.readings, of: [Make.device], deviceIDs: [1], placedBy: nil)
    }
    #expect(try ranges() == ["0 0"])
  }

  // MARK: - Uploads

  @Test func uploadedReadingsLeaveTheirPendingRange() throws {
    try scratch.ingest(Self.readings(stride(from: 0, to: 3000, by: 300)))
    let keys = try pending()
    try mark(Array(keys[..<3]))
    #expect(try ranges() == ["900 2700"])
    try mark(Array(keys[5...6]))
    #expect(try ranges() == ["900 1200", "2100 2700"])
    try mark([keys[9], keys[3]])
    #expect(try ranges() == ["1200 1200", "2100 2400"])
    try mark(keys)
    #expect(try ranges() == [])
  }

  @Test func aPendingRangeIsKeptUntilAllItsReadingsAreUploaded() throws {
    let place = [Make.reading(.smbg, Make.milligrams(100)), Make.reading(.smbg, Make.milligrams(200))]
    try scratch.ingest(Make.batch(place))
    let keys = try pending()
    for (key, expected) in zip(keys, [["0 0"], []]) {
      try mark([key])
      #expect(try ranges() == expected)
    }
  }

  @Test func anUploadOfManyReadingsChangesEachPendingRangeOnce() throws {
    let count: Int64 = 3 * Int64(UploadMarks.many)
    try scratch.ingest(Self.readings(stride(from: 0, to: count * 300, by: 300)))
    let keys = try pending()
    try mark(Array(keys[100..<(2 * UploadMarks.many)]))
    #expect(try ranges() == ["0 \(99 * 300)", "\(2 * UploadMarks.many * 300) \((count - 1) * 300)"])
    try scratch.expectRangesHoldWhatIsPending()
  }

  @Test func readingsQueuedAgainAreInPendingRangesAgain() throws {
    try scratch.ingest(Self.readings(stride(from: 0, to: 3000, by: 300)))
    try scratch.ingest(Make.batch([Make.tick(7, 90), Make.reading(.smbg, Make.milligrams(90))]))
    let keys = try pending()
    try mark(keys)
    let sensor = keys.filter { $0.partition == 2 }
    _ = try scratch.open(.sync).sync { try $0.requeue([sensor[4], sensor[2]], reason: "missing", at: 1) }
    #expect(try ranges() == ["600 1200"])
    try scratch.open(.sync).write { try Requeue.all(reason: "new remote", at: 2, $0) }
    #expect(try pending() == keys)
    try scratch.expectRangesHoldWhatIsPending()
  }

  // MARK: - Other programs

  private static let copy = """
    INSERT INTO reading SELECT partition, position + 86400, series, value_bucket, occurrence, device_time, stated_offset,
      derived_offset, offset_source, value, unit, range_flag, threshold, marks, ingest, 0, zone FROM reading
    """

  @Test(arguments: [copy, "UPDATE reading SET uploaded = 0"])
  func readingsThatAnotherProgramMakesPendingAreUploaded(_ sql: String) throws {
    try scratch.ingest(Self.readings(stride(from: 0, to: 3000, by: 300)))
    try mark(try pending())
    try DatabaseQueue(path: scratch.path).inDatabase { try $0.execute(sql: sql) }
    #expect(try pending().count == 10)
    try scratch.expectRangesHoldWhatIsPending()
  }

  @Test(
    arguments: [
      "DELETE FROM pending_range", "UPDATE pending_range SET first_position = first_position + 1",
      "UPDATE pending_range SET last_position = last_position - 1",
      "UPDATE pending_range SET first_position = last_position + 1, last_position = last_position + 2",
      "UPDATE pending_range SET last_position = last_position - 1, first_position = first_position + 1",
      "UPDATE pending_range SET partition = 3",
    ], [StoreRole.importer, .editor, .sync])
  func noProgramCanRemoveThePendingRangeOfAReading(_ sql: String, _ role: StoreRole) throws {
    try scratch.ingest(Self.readings([0, 300, 600]))
    let keys = try pending()
    #expect(try scratch.refusal(role, sql)?.contains("range") == true)
    #expect(throws: DatabaseError.self) {
      try DatabaseQueue(path: scratch.path).inDatabase { try $0.execute(sql: sql) }
    }
    #expect(try pending() == keys)
  }

  @Test(arguments: [
    "DELETE FROM pending_range WHERE first_position < last_position",
    "UPDATE pending_range SET first_position = first_position - 1",
    "UPDATE pending_range SET last_position = last_position + 1000",
  ])
  func aPendingRangeWithoutReadingsCanBeRemoved(_ sql: String) throws {
    try scratch.ingest(Self.readings([0, 300]))
    // Adds two ranges: one with the same two readings as the first range, and one without any reading.
    let more =
      "INSERT INTO pending_range SELECT partition, first_position, last_position + delta FROM pending_range, (SELECT 1 AS delta UNION ALL SELECT 99)"
    try #require(try scratch.refusal(.sync, more) == nil)
    #expect(
      try scratch.refusal(
        .sync, sql.replacing("WHERE", with: "WHERE last_position - first_position <> 301 AND")) == nil)
    #expect(try pending().count == 2)
  }

  /// If two ranges overlap, some readings are read twice, but the result has each of them once.
  @Test func overlappingPendingRangesReturnEachReadingOnce() throws {
    try scratch.ingest(Self.readings(stride(from: 0, to: 3000, by: 300)))
    let keys = try pending()
    let more =
      "INSERT INTO pending_range SELECT partition, first_position + 600, last_position + 9 FROM pending_range"
    try #require(try scratch.refusal(.sync, more) == nil)
    #expect(try pending() == keys)
    #expect(
      try scratch.open(.sync).sync { try $0.pendingReadings(after: keys[4], limit: 100) }.keys
        == Array(keys[5...]))
    try mark(Array(keys[3...6]))
    #expect(try pending() == Array(keys[..<3] + keys[7...]))
    try mark(keys)
    #expect(try ranges() == [])
  }

  // MARK: - Any order

  /// Random readings are imported, uploaded and queued again in random order.
  @Test(arguments: Seeds.share(of: Seeds.first(12), every: 3))
  func everyPendingReadingIsInAPendingRange(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let start = Int64.random(in: 0..<40, using: &random) * 3600
      let distance = [60, 300, 7200, Self.day][Int.random(in: 0..<4, using: &random)]
      let times = (0..<Int64.random(in: 1..<30, using: &random)).map { start + $0 * distance }
      try scratch.ingest(Self.readings(times.shuffled(using: &random)))
      let keys = try pending()
      let first = Int.random(in: 0...keys.count, using: &random)
      let some = keys[first...].prefix(Int.random(in: 1...20, using: &random))
      try mark(some.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }.shuffled(using: &random))
      try scratch.expectRangesHoldWhatIsPending("seed \(seed)")
      if Int.random(in: 0..<3, using: &random) == 0 {
        let again = some.filter { _ in Bool.random(using: &random) }
        _ = try scratch.open(.sync).sync { try $0.requeue(Array(again), reason: "missing", at: 1) }
      }
      try scratch.expectCountersEqualCount()
    }
    try mark(try pending())
    #expect(try ranges() == [], "seed \(seed)")
  }
}
