// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Logbook
import Testing

@testable import LogbookStore

/// Tests that the cost of a query grows with the number of its results and not with the size of the store.
@Suite struct LookupCostTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func fill(_ count: Int64) throws {
    let devices = [Make.device, Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")]
    let readings = (0..<count).flatMap { number in
      let time = Make.noon + number * 300
      return [
        Make.reading(.cbg, Make.milligrams(100), at: time, device: Int32(number % 2)),
        Self.instant(time * 1000 + 500),
      ]
    }
    try scratch.ingest(Make.batch(readings, devices: devices))
  }

  private static func instant(_ milliseconds: Int64) -> Reading {
    Reading(
      device: DeviceIndex(0), kind: .cbg, tick: milliseconds,
      at: DeviceTime(seconds: milliseconds / 1000 + 3600),
      placement: Placement(utcOffset: 3600, source: .stated), Make.milligrams(90), line: 1)
  }

  private static func newest(_ count: Int) -> ItemFilter {
    var filter = ItemFilter()
    filter.newest = count
    return filter
  }

  private static func since(_ time: Int64) -> ItemFilter {
    var filter = ItemFilter()
    filter.since = time
    return filter
  }

  // MARK: Plans

  /// The lines of SQLite's query plans for all statements that `work` runs.
  private func plan(_ work: (Store) throws -> Void) throws -> [String] {
    let store = try scratch.open(.reader)
    var statements: [String] = []
    store.queue.inDatabase { database in
      database.trace { event in
        if case .statement(let statement) = event { statements.append(statement.sql) }
      }
    }
    try work(store)
    return try store.queue.inDatabase { database in
      database.trace(options: [])
      return try statements.filter { $0.hasPrefix("SELECT") || $0.hasPrefix("WITH") }.flatMap { sql in
        try Self.steps(of: sql, database)
      }
    }
  }

  /// The lines of SQLite's query plan for a statement. The plan does not depend on the parameters.
  private static func steps(of sql: String, _ database: Database) throws -> [String] {
    let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
    statement.setUncheckedArguments(StatementArguments())
    return try Row.fetchAll(statement).map { $0["detail"] }
  }

  /// The lines of a query plan that show a read of all readings.
  private static func scans(_ plan: [String]) -> [String] {
    plan.filter {
      $0 == "SCAN r" || $0 == "SCAN reading" || $0.hasPrefix("SCAN r ") || $0.hasPrefix("SCAN reading ")
    }
  }

  @Test func noQueryScansAllReadings() throws {
    try fill(20)
    let looks: [(String, (Store) throws -> Void)] = [
      ("list", { try $0.forEachItem(Self.newest(5)) { _ in } }),
      ("range", { try $0.forEachItem(Self.since(Make.noon)) { _ in } }),
      ("days", { _ = try $0.readingDays(Self.newest(5), .none) }),
      ("days of a range", { _ = try $0.readingDays(Self.since(Make.noon), .none) }),
      ("show", { _ = try $0.reading(at: "r1.cbg.time\(Make.noon).0.0") }),
      (
        "status",
        { store in
          let overview = try store.overview(ingests: 5)
          _ = try store.syncOverview(overview, pendingContents: 0)
        }
      ),
    ]
    for (name, look) in looks {
      let plan = try plan(look)
      #expect(!plan.isEmpty && Self.scans(plan).isEmpty, "\(name): \(plan)")
    }
  }

  @Test func aQueryInPrimaryKeyOrderNeedsNoSorting() throws {
    try fill(20)
    for isDescending in [false, true] {
      let sql = PartitionWalk.sql(ItemFilter(), ListOrder(isDescending: isDescending))
      let plan = try scratch.open(.reader).queue.inDatabase { try Self.steps(of: sql, $0) }
      #expect(
        plan.contains {
          $0.contains("SEARCH r USING PRIMARY KEY (partition=? AND position>? AND position<?)")
        },
        "\(plan)")
      #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }
  }

  @Test func theReadingsOfAnImportAreReadBetweenItsFirstAndLastPosition() throws {
    try fill(20)
    try scratch.ingest(
      Make.batch((30..<40).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) }))
    let import2 = try Int64(scratch.number("SELECT max(id) FROM ingest"))
    let series = try Int64(scratch.number("SELECT DISTINCT series FROM reading WHERE ingest = \(import2)"))
    let ends = try scratch.rows("SELECT min(position), max(position) FROM reading WHERE ingest = \(import2)")
    let positions = try #require(ends.first).split(separator: " ").compactMap { Int64($0) }
    func brought(_ stored: [Int64: ClosedRange<Int64>]?) throws -> [Int64: PointRuns] {
      try scratch.open(.reader).queue.inDatabase {
        try ImportContribution(import2, $0, stored: stored).readings().mapValues(\.points)
      }
    }
    func scans(_ stored: [Int64: ClosedRange<Int64>]?) throws -> [String] {
      let plan = try plan { store in
        _ = try store.queue.inDatabase { try ImportContribution(import2, $0, stored: stored).readings() }
      }
      return Self.scans(plan)
    }
    let own = [series: positions[0]...positions[1]]
    #expect(try brought(own) == brought(nil) && brought(own)[series]?.count == 10)
    #expect(try scans(own).isEmpty)
    #expect(try scans(nil) == ["SCAN reading"])
  }

  @Test func theScanCheckFindsAQueryThatReadsAllReadings() throws {
    try fill(20)
    let plan = try plan { store in
      _ = try store.read { try Int.fetchOne($0, sql: "SELECT sum(r.value) FROM reading AS r") }
    }
    #expect(Self.scans(plan) == ["SCAN r"])
  }

  /// A withdrawal of an import has its changes as long JSON, and the query runs for each record of an undo.
  @Test func whetherAnImportIsUndoneIsDecidedWithoutItsWithdrawals() throws {
    let plan = try scratch.rows("EXPLAIN QUERY PLAN SELECT \(ImportContribution.isUndone) FROM ingest")
    #expect(
      plan.contains {
        $0.contains("SEARCH u USING INDEX record_withdrawal_import (<expr>=? AND <expr>=? AND deleted=?)")
      },
      "\(plan)")
  }

  // MARK: Steps

  /// The number of SQLite instructions that `work` takes, in hundreds.
  private func steps(_ work: (Store) throws -> Void) throws -> Int {
    let store = try scratch.open(.reader)
    let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counter.initialize(to: 0)
    defer { counter.deallocate() }
    store.queue.inDatabase { database in
      sqlite3_progress_handler(
        database.sqliteConnection, 100,
        { context in
          context?.assumingMemoryBound(to: Int.self).pointee += 1
          return 0
        }, counter)
    }
    try work(store)
    store.queue.inDatabase { sqlite3_progress_handler($0.sqliteConnection, 0, nil, nil) }
    return counter.pointee
  }

  /// A store with two weeks of readings is filled until it has ten times as many readings.
  @Test func aQueryTakesTheSameStepsInATenTimesLargerStore() throws {
    let looks: [(Store) throws -> Void] = [
      { try $0.forEachItem(Self.newest(5)) { _ in } },
      { _ = try $0.readingDays(Self.newest(5), .none) },
      { _ = try $0.overview(ingests: 5) },
      { store in
        var filter = Self.newest(1)
        filter.includesDevice = { $0.serial == "S1" }
        try store.forEachItem(filter) { _ in }
      },
    ]
    let whole: (Store) throws -> Void = { try $0.forEachItem(ItemFilter()) { _ in } }
    try fill(4000)
    let small = try looks.map(steps)
    let smallWhole = try steps(whole)
    try fill(40_000)
    for (before, after) in zip(small, try looks.map(steps)) {
      #expect(after <= before + before / 10 + 2, "\(before) → \(after)")
    }
    #expect(try steps(whole) > 8 * smallWhole)
  }

  /// Stores `count` notes, one every ten minutes.
  private func note(_ count: Int64) throws {
    try scratch.ingest(
      Make.batch(
        (0..<count).map {
          Make.record(["text": .text("\($0)")], kind: .note, at: Make.noon + $0 * 600)
        }))
  }

  /// Both the newest records and the records of the last days are found with the index over the times.
  @Test func aRecordQueryTakesTheSameStepsInATenTimesLargerStore() throws {
    func look(_ filter: ItemFilter) throws -> Int {
      var filter = filter
      filter.readingKinds = []
      return try steps { try $0.forEachItem(filter) { _ in } }
    }
    func looks(_ count: Int64) throws -> [Int] {
      var newest = Self.newest(5)
      newest.recordKinds = [.note, .food]
      return try [newest, Self.newest(5), Self.since(Make.noon + (count - 100) * 600)].map(look)
    }
    try note(2000)
    let small = try looks(2000)
    let smallWhole = try look(ItemFilter())
    try note(20_000)
    for (before, after) in zip(small, try looks(20_000)) {
      #expect(after <= before + before / 10 + 2, "\(before) → \(after)")
    }
    #expect(try look(ItemFilter()) > 8 * smallWhole)
  }

  /// A device that was last used years ago is found without reading the later readings of another one.
  /// Without refused readings and moves, no row is looked up for a pending reading. This takes 34 steps a
  /// reading instead of 51.
  @Test func pendingReadingsAreSelectedInFewSteps() throws {
    try fill(2000)
    let count = try scratch.number("SELECT count(*) FROM reading")
    let select: (Store) throws -> Void = { store in
      let found = try store.compare { try $0.pendingReadings(after: nil, limit: .max) }
      #expect(found.keys.count == count)
    }
    #expect(try steps(select) * 100 < 40 * count)
    // If the store has a refused reading, SQLite looks up every pending reading among the refused ones.
    try scratch.open(.sync).sync { store in
      let refused = try store.pendingReadings(after: nil, limit: 1).keys
      try store.quarantine(refused, reason: "too old", at: 1)
    }
    let left = try scratch.open(.reader).compare { try $0.pendingReadings(after: nil, limit: .max) }
    #expect(left.keys.count == count - 1)
  }

  @Test func theNewestReadingOfAnOldDeviceIsFoundInFewSteps() throws {
    let devices = [Make.device, Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")]
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100))], devices: devices))
    try scratch.ingest(
      Make.batch(
        (1...20_000).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300, device: 1) },
        devices: devices))
    var filter = Self.newest(1)
    filter.includesDevice = { $0.serial == "S1" }
    var found: [Int64] = []
    let taken = try steps { store in
      try store.forEachItem(filter) { if case .reading(let reading) = $0 { found.append(reading.position) } }
    }
    #expect(found == [Make.noon] && taken < 50, "\(taken)")
  }
}
