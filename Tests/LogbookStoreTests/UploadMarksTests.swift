// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests which readings are marked as uploaded when the remote acknowledges few or many readings.
@Suite struct UploadMarksTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// Readings of two devices and two kinds. Every three consecutive readings have the same time.
  private static func readings(_ range: Range<Int>) -> [Reading] {
    range.map { place in
      Make.reading(
        place % 5 == 0 ? .smbg : .cbg, Make.milligrams(Double(80 + place % 3)),
        at: Make.noon + Int64(place / 3) * 300, device: Int32(place % 2))
    }
  }

  private static let devices = ["A", "B"].map {
    Device(vendor: "Test", model: "Meter", serial: $0, format: "test")
  }

  private func store(_ range: Range<Int>) throws {
    try scratch.ingest(Make.batch(Self.readings(range), devices: Self.devices))
  }

  private func pending() throws -> [ReadingKey] {
    try scratch.open(.sync).sync { try $0.pendingReadings(after: nil, limit: .max) }.keys
  }

  private static let few = 300
  private static let many = 4 * UploadMarks.many

  @Test(arguments: [few, many])
  func laterImportsWithTimesBetweenThoseOfSentReadingsStayPending(count: Int) throws {
    try store(0..<count / 2)
    let sent = try pending()
    // Readings of another kind, half of them at the times of the sent readings and half of them a minute
    // later.
    let between = Self.readings(0..<count).enumerated().map { place, reading in
      Make.reading(
        .ketone, Make.milligrams(5), at: reading.deviceTime.seconds + Int64(place % 2) * 60,
        device: reading.device.number)
    }
    try scratch.ingest(Make.batch(between, devices: Self.devices))
    try store(0..<count)
    let others = Set(try pending()).subtracting(sent)
    #expect(!others.isEmpty)
    try scratch.open(.sync).sync { try $0.markUploaded(sent, except: [], at: 1) }
    #expect(Set(try pending()) == others)
    try scratch.expectCountersEqualCount()
  }

  @Test(arguments: [few, many], [2, 7])
  func exactlyTheSentReadingsAreMarkedAsUploaded(count: Int, gap: Int) throws {
    try store(0..<count)
    let all = try pending()
    // Every `gap`th reading is not sent. The others are sent in reverse order, and the remote refuses one of
    // them.
    let sent = all.enumerated().filter { $0.offset % gap != 0 }.map(\.element).reversed()
    let refusal = RefusedItem(item: sent.count / 2, reason: "too old")
    let refused = Array(sent)[refusal.item]
    try scratch.open(.sync).sync { try $0.markUploaded(Array(sent), except: [refusal], at: 1) }
    let marked = Set(sent).subtracting([refused])
    #expect(
      try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 0") == all.count - marked.count)
    #expect(Set(try pending()) == Set(all).subtracting(marked).subtracting([refused]))
    try scratch.expectCountersEqualCount()
  }

  @Test(arguments: [few, many])
  func readingsAlreadyMarkedAsUploadedAreCountedOnce(count: Int) throws {
    try store(0..<count)
    let sent = try pending()
    let store = try scratch.open(.sync)
    try store.sync { try $0.markUploaded(Array(sent.prefix(count / 2)), except: [], at: 1) }
    try store.sync { try $0.markUploaded(sent, except: [], at: 1) }
    #expect(try pending().isEmpty)
    try scratch.expectCountersEqualCount()
  }

  /// Marking many readings drops triggers for a moment. After a success and after a failure, all triggers
  /// must exist again.
  @Test(arguments: [few, many], [true, false])
  func afterAnUploadAReadingIsStillQueuedAgainOnlyWithAReason(count: Int, fails: Bool) throws {
    struct Stopped: Error {}
    try store(0..<count)
    let sent = try pending()
    let store = try scratch.open(.sync)
    do {
      try store.sync { store in
        try store.markUploaded(sent, except: [], at: 1)
        if fails { throw Stopped() }
      }
    } catch is Stopped {}
    #expect(try pending().count == (fails ? sent.count : 0))
    try store.sync { try $0.markUploaded(sent, except: [], at: 1) }
    #expect(throws: Failure.self) {
      try store.write { try $0.execute(sql: "UPDATE reading SET uploaded = 0") }
    }
    try store.write { database in
      try database.execute(sql: "INSERT INTO requeue (at, reason) VALUES (1, 'new remote')")
      try database.execute(sql: "UPDATE reading SET uploaded = 0")
    }
    try scratch.expectCountersEqualCount()
    #expect(try pending().count == sent.count)
  }

  // MARK: - Whole batches

  private func batch(_ store: Store) throws -> PendingReadings {
    try store.sync { try $0.pendingReadings(after: nil, limit: .max) }
  }

  private func mark(_ batch: PendingReadings, _ refused: [RefusedItem] = [], in store: Store) throws {
    try store.sync { try $0.markUploaded(batch, except: refused, sameAs: [], at: 1) }
  }

  @Test(arguments: [few, many])
  func allReadingsOfAWholeBatchAreMarkedAsUploadedAndCounted(count: Int) throws {
    try store(0..<count)
    let store = try scratch.open(.sync)
    let batch = try batch(store)
    try mark(batch, in: store)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 1") == batch.keys.count)
    #expect(try scratch.number("SELECT count(*) FROM pending_range") == 0)
    try scratch.expectCountersEqualCount()
    #expect(throws: Failure.self) {
      try store.write { try $0.execute(sql: "UPDATE reading SET uploaded = 0") }
    }
  }

  @Test func onlyAWholeLargeBatchIsMarkedWithoutALookup() throws {
    try store(0..<Self.many)
    let store = try scratch.open(.sync)
    func marksWhole(_ batch: PendingReadings) throws -> Bool {
      try store.sync { try UploadMarks(database: $0.database).setWhole(batch) }
    }
    let whole = try batch(store)
    func part(_ keys: some Sequence<ReadingKey>) -> PendingReadings {
      PendingReadings(keys: whole.keys, inStoreOrder: Array(keys), version: whole.version)
    }
    let keys = whole.inStoreOrder
    #expect(keys == whole.keys.sorted() && keys != whole.keys)
    #expect(try !marksWhole(part(keys.prefix(UploadMarks.many - 1))))
    #expect(try !marksWhole(part(keys.enumerated().filter { $0.offset != 7 }.map(\.element))))
    #expect(try !marksWhole(part([])))
    #expect(try batch(store).keys == whole.keys)
    try scratch.expectCountersEqualCount()
    #expect(try marksWhole(whole))
    #expect(try batch(store).keys == [])
    try scratch.expectCountersEqualCount()
  }

  /// The batch was selected before another connection changed what is pending.
  @Test func readingsImportedAfterTheSelectionOfABatchStayPending() throws {
    try store(0..<Self.many)
    let store = try scratch.open(.sync)
    let sent = try batch(store)
    // Another run marks one reading, and an import adds another one. So the number of readings is the same.
    try scratch.open(.sync).sync { try $0.markUploaded([sent.inStoreOrder[50]], except: [], at: 1) }
    try scratch.ingest(
      Make.batch([Make.reading(.cbg, Make.milligrams(90), at: Make.noon + 301)], devices: Self.devices))
    try mark(sent, in: store)
    let left = try batch(store)
    #expect(left.batch.readings.map(\.position) == [Make.noon + 301])
    try scratch.expectCountersEqualCount()
  }

  @Test func aRefusedReadingOfAWholeBatchStaysPending() throws {
    try store(0..<Self.many)
    let store = try scratch.open(.sync)
    let sent = try batch(store)
    try mark(sent, [RefusedItem(item: 9, reason: "too old")], in: store)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 0") == 1)
    #expect(try batch(store).keys == [])
    try scratch.expectCountersEqualCount()
  }

  /// The batch was selected without a refused reading, which is pending between its readings.
  @Test func aReadingRefusedBeforeABatchStaysPending() throws {
    try store(0..<Self.many)
    let store = try scratch.open(.sync)
    let all = try batch(store)
    let refused = all.inStoreOrder[all.inStoreOrder.count / 2]
    try store.sync { try $0.quarantine([refused], reason: "too old", at: 1) }
    let sent = try batch(store)
    #expect(Set(sent.keys) == Set(all.keys).subtracting([refused]))
    try mark(sent, in: store)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 0") == 1)
    try scratch.expectCountersEqualCount()
  }

  // MARK: - Order

  /// The store has more devices than `SeriesDevices` remembers at once. They occur in another order than that
  /// of their ids.
  @Test func pendingReadingsOfManyDevicesAreSortedBySeries() throws {
    let devices = (0..<40).map {
      Device(vendor: "Test", model: "Meter", serial: "\($0)", format: "test")
    }
    let readings = (0..<400).map { place in
      let device = place * 7 % devices.count
      return Make.reading(
        .cbg, Make.milligrams(Double(50 + device)), at: Make.noon + Int64(place) * 300, device: Int32(device))
    }
    try scratch.ingest(Make.batch(readings, devices: devices))
    let found = try batch(scratch.open(.sync))
    #expect(found.keys.count == readings.count && found.last == found.keys.max())
    #expect(
      found.keys
        == found.keys.sorted {
          ($0.series, $0.position, $0.valueBucket, $0.occurrence)
            < ($1.series, $1.position, $1.valueBucket, $1.occurrence)
        })
    for (key, reading) in zip(found.keys, found.batch.readings) {
      let serial = found.batch.devices[Int(reading.device.number)].serial
      #expect(reading.position == key.position)
      #expect(reading.measurement == Make.milligrams(Double(50 + (Int(serial) ?? -1))))
    }
  }
}
