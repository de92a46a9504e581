// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests that withdrawals are synced like other records, so that every store hides the same items.
@Suite(.timeLimit(.minutes(5)))
struct WithdrawalTests {
  @Test func anUndoneImportIsHiddenInBothStoresAndARedoShowsExactlyItsReadings() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<100)
    try await scene.upload(scene.a, scene.b)
    let before = try scene.b.shown()
    #expect(before.count == 100)
    #expect(try scene.a.undo(1).uploaded == 100)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.shown() == [] && scene.a.shown() == [])
    #expect(try scene.b.allReadings().count == 100)
    _ = try scene.a.redo(1)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.shown() == before && scene.a.shown() == before)
  }

  @Test func anUndoThatArrivesBeforeItsReadingsHidesThem() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.allReadings().count == 10)
    #expect(try scene.b.shown() == [])
  }

  @Test func independentEditsOfAnUndoAreNotAConflict() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, scene.b)
    // Each store imports some of the hidden readings again. Both imports remove readings from the same
    // withdrawal.
    try scene.a.importReadings(0..<4, digest: "a")
    try scene.b.importReadings(6..<10, digest: "b")
    try await scene.upload(scene.a, scene.b, scene.a, scene.b)
    #expect(try scene.a.shown() == scene.b.shown() && scene.a.shown().count == 8)
    #expect(try scene.a.sync().overview(ingests: 0).conflicts == 0)
  }

  @Test func readingsUndoneInTwoStoresAreShownAfterARedoInOneStore() async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] {
      try node.importReadings(0..<10)
      _ = try node.undo(1)
    }
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try scene.a.shown() == [] && scene.b.shown() == [])
    _ = try scene.a.redo(1)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.shown().count == 10 && scene.b.shown() == scene.a.shown())
    #expect(try scene.b.sync().overview(ingests: 0).conflicts == 0)
  }

  /// Both stores import readings that are partly the same, but only one store undoes its import.
  @Test(arguments: [false, true])
  func anUndoKeepsReadingsVisibleThatAnotherStoreImported(_ importsFirst: Bool) async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10, digest: "a")
    if importsFirst { try scene.b.importReadings(4..<8, digest: "b") }
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, scene.b)
    if !importsFirst { try scene.b.importReadings(4..<8, digest: "b") }
    try await scene.upload(scene.b, scene.a, scene.b)
    #expect(try scene.b.shown().count == 4 && scene.a.shown() == scene.b.shown())
    // If the second store undoes its import as well, the readings are hidden in both stores.
    let own = try #require(try scene.b.imports().last)
    #expect(try scene.b.undo(own).readings == 4)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.b.shown() == [] && scene.a.shown() == [])
    #expect(try scene.b.redo(own).readings == 4)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.b.shown().count == 4 && scene.a.shown() == scene.b.shown())
    for node in [scene.a, scene.b] {
      #expect(try node.sync().overview(ingests: 0).conflicts == 0)
    }
  }

  @Test func anUndoKeepsARecordVisibleThatAnotherStoreImported() async throws {
    let scene = try await Scene()
    for (node, digest) in [(scene.a, "a"), (scene.b, "b")] { try node.importFood(digest: digest) }
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try scene.b.shownRecords().count == 1 && scene.a.shownRecords().count == 1)
    #expect(try scene.b.undo(1).records == 1)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.b.shownRecords() == [] && scene.a.shownRecords() == [])
  }

  /// The store is copied before the undo. The copy receives the undo with a pull, and can redo the import.
  @Test func aStoreRestoredFromABackupLearnsItsUndoAndCanRedoTheImport() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    try await scene.upload(scene.a, scene.b)
    let restored = try await scene.copy(of: scene.a)
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a)
    #expect(try restored.shown().count == 10)
    try await scene.upload(restored, scene.b)
    #expect(try restored.sync().undoneImports() == [1])
    #expect(try restored.shown() == [] && scene.b.shown() == [])
    #expect(try restored.undo(1).isDoneAlready)
    #expect(try restored.redo(1).readings == 10)
    try await scene.upload(restored, scene.b)
    #expect(try restored.shown().count == 10 && scene.b.shown().count == 10)
  }

  /// Before the undo, the copy imports some of the readings from another file. So these readings stay
  /// visible.
  @Test func anUndoInACopiedStoreKeepsReadingsOfAnotherImportVisible() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<10)
    try await scene.upload(scene.a, scene.b)
    let copy = try await scene.copy(of: scene.a)
    try copy.importReadings(0..<3, digest: "later")
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, copy, scene.a, scene.b)
    for node in [scene.a, scene.b, copy] { #expect(try node.shown().count == 3) }
  }

  @Test func verifyNeverRestoresUndoneItems() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<20)
    try await scene.upload(scene.a, scene.b)
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a, scene.b)
    try DamagedFile.execute("DELETE FROM reading", in: scene.server.logbookFile)
    for node in [scene.a, scene.b] {
      let session = try #require(VerifySession(try node.sync(), node.way, named: "remote"))
      try await session.compare()
      try session.fix(at: node.clock)
      node.reopen()
      #expect(try await node.upload().ending == .complete)
      #expect(try node.shown() == [] && node.allReadings().count == 20)
    }
    #expect(try await scene.server.everything().readings == 20)
  }

  /// The server has lost the readings, and store b has not received the withdrawal. After `verify` and the
  /// next uploads, both stores hide the readings.
  @Test func verifyFetchesAnUndoBeforeItsReadings() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<20)
    try await scene.upload(scene.a, scene.b)
    _ = try scene.a.undo(1)
    try await scene.upload(scene.a)
    #expect(try scene.b.shown().count == 20)
    try DamagedFile.execute("DELETE FROM reading", in: scene.server.logbookFile)
    let session = try #require(VerifySession(try scene.b.sync(), scene.b.way, named: "remote"))
    try await session.compare()
    try session.fix(at: scene.b.clock)
    scene.b.reopen()
    try await scene.upload(scene.b, scene.a, scene.b)
    for node in [scene.a, scene.b] {
      #expect(try node.shown() == [] && node.allReadings().count == 20)
    }
  }

  @Test func undoneItemsAreRemovedFromASiteAndSentAgainAfterARedo() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.sensor([100, 110, 120]))
    _ = try await scene.upload("a")
    #expect(scene.site.documents("entries").count == 3)
    let undo = { (group: String) in try scene.editing("a").undo(1, group: group, at: 5000) }
    #expect(try undo(UUID().uuidString.lowercased()).uploaded == 3)
    _ = try await scene.upload("a")
    #expect(scene.site.documents("entries").isEmpty)
    #expect(try scene.store("a").overview(ingests: 0).pendingReadings == 0)
    // Items that were hidden before their first upload are never sent.
    try scene.ingest("a", SiteScene.sensor([100, 110, 120, 130]))
    _ = try scene.editing("a").undo(2, group: UUID().uuidString.lowercased(), at: 5000)
    _ = try await scene.upload("a")
    #expect(scene.site.documents("entries").isEmpty)
    #expect(try scene.editing("a").redo(1, at: 5000).readings == 3)
    _ = try await scene.upload("a")
    #expect(scene.site.documents("entries").count == 3)
    #expect(try scene.store("a").overview(ingests: 0).pendingReadings == 0)
  }
}

extension SimulatedNode {
  func undo(_ ingest: Int64) throws -> UndoCounts {
    try editing().undo(ingest, group: UUID().uuidString.lowercased(), at: clock)
  }

  func redo(_ ingest: Int64) throws -> UndoCounts { try editing().redo(ingest, at: clock) }

  /// Imports an export of one row, which has an id.
  func importFood(digest: String) throws {
    var batch = IngestBatch()
    batch.records = [
      ImportedRecord(
        kind: .food, at: DeviceTime(seconds: 1_700_000_000),
        placement: Placement(utcOffset: 3600, source: .zone), fields: RecordFields(["carbs": .number(20)]),
        sourceID: "s", line: 1)
    ]
    let source = IngestSource(name: "-", format: "test", startedAt: clock, modifiedAt: nil, decisions: [])
    try importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(end: .whole, digest: digest, generatedAt: nil, finishedAt: clock, decisions: [])
    }
  }

  func allReadings() throws -> [StoredReading] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var readings: [StoredReading] = []
    try sync().forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  /// The identities and the values of all visible readings, sorted.
  func shown() throws -> [String] {
    try allReadings().filter { !$0.isWithdrawn }.map { "\($0.identity.text) \($0.measurement)" }.sorted()
  }

  /// The ids of all visible records, sorted.
  func shownRecords() throws -> [String] {
    try allRecords().filter { !$0.isWithdrawn }.map(\.guid).sorted()
  }

  func allRecords() throws -> [StoredRecord] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    filter.readingKinds = []
    var records: [StoredRecord] = []
    try sync().forEachItem(filter) { item in
      if case .record(let record) = item { records.append(record) }
    }
    return records
  }

  func imports() throws -> [Int64] {
    try sync().ingests(limit: 100).filter { $0.digest != nil }.map(\.id)
  }

  /// Columns of each reading that only imports write. A sync must not change them.
  func rows() throws -> [String] {
    try allReadings().map { "\($0.identity.text) \($0.measurement) \($0.ingest) \($0.deviceTime)" }
  }

  func importReadings(_ places: Range<Int64>, digest: String) throws {
    try importSticks(places, kind: .cbg, digest: digest)
  }

  /// Imports readings that are five minutes apart. With `isWrong`, they have other values, so finger sticks
  /// have other identities.
  func importSticks(
    _ places: some Sequence<Int64>, kind: ReadingKind = .smbg, hasTicks: Bool = false, isWrong: Bool = false,
    digest: String
  ) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    batch.readings = places.map { place in
      let time = DeviceTime(seconds: 1_700_000_000 + 300 * place)
      let placement = Placement(utcOffset: 3600, source: .zone)
      let value = Logbook.Measurement.value(
        Quantity(isWrong ? 200 + Double(place) : 100, .milligramsPerDecilitre))
      return hasTicks
        ? Reading(
          device: DeviceIndex(0), kind: kind, tick: place + 1, at: time, placement: placement, value, line: 1)
        : Reading(device: DeviceIndex(0), kind: kind, at: time, placement: placement, value, line: 1)
    }
    let decisions = [Decision("unit", isWrong ? "wrong" : "right", .given)]
    let source = IngestSource(name: "-", format: "test", startedAt: clock, modifiedAt: nil, decisions: [])
    try importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest, generatedAt: nil, finishedAt: clock, decisions: decisions)
    }
  }
}
