// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests that stores agree on the values of a repeated hour, which a clock shows in a first and in a second
/// pass. An occurrence number distinguishes two values of one device time. Stores that imported different
/// passes number the same values differently.
@Suite struct ValueSetTests {
  private static let (first, second) = ([90.0, 95, 100], [110.0, 115, 120])

  private func expect(
    _ scene: Scene, _ passes: [Double]..., source: SourceLocation = #_sourceLocation
  ) async throws {
    let values = passes.joined().sorted()
    for node in [scene.a, scene.b] {
      #expect(try node.shownValues() == values, sourceLocation: source)
      #expect(try node.pendingReadings() == 0, sourceLocation: source)
      #expect(
        try node.rows("SELECT sum(readings) - (SELECT count(*) FROM reading), sum(pending) FROM series") == [
          "0 0"
        ],
        sourceLocation: source)
    }
    let third = try await scene.another(seed: 3)
    try await third.upload()
    #expect(try third.shownValues() == values, sourceLocation: source)
  }

  /// Uploads the nodes in turn until nothing is pending and nothing is pulled.
  private func settle(_ scene: Scene, _ nodes: SimulatedNode...) async throws {
    for _ in 0..<3 { for node in nodes { try await node.upload() } }
  }

  @Test(arguments: [false, true]) func bothPassesOfARepeatedHourReachBothStoresWhicheverUploadsFirst(
    hasBothPasses: Bool
  ) async throws {
    let scene = try await Scene()
    try scene.a.importPasses(Self.first, Self.second)
    try scene.b.importPasses(Self.second)
    let nodes = hasBothPasses ? [scene.a, scene.b] : [scene.b, scene.a]
    try await settle(scene, nodes[0], nodes[1])
    try await expect(scene, Self.first, Self.second)
  }

  @Test(arguments: [false, true]) func aSecondPassOfARepeatedHourImportedLaterReachesBothStores(
    uploadsFirst isA: Bool
  )
    async throws
  {
    let scene = try await Scene()
    try scene.a.importPasses(Self.first)
    try scene.b.importPasses(Self.second)
    let nodes = isA ? [scene.a, scene.b] : [scene.b, scene.a]
    try await settle(scene, nodes[0], nodes[1])
    // No store has imported both passes yet. So the second pass looks like values that the source has
    // corrected.
    #expect(try scene.a.shownValues() == Self.first && scene.b.shownValues() == Self.second)
    try scene.a.importPasses(Self.first, Self.second)
    try await settle(scene, nodes[0], nodes[1])
    try await expect(scene, Self.first, Self.second)
  }

  @Test func valuesChangedAtTheSourceAreNotTakenForARepeatedHour() async throws {
    let scene = try await Scene()
    try scene.a.importPasses(Self.first, Self.second)
    // Store b imports a later export, in which the source has corrected the values of the second pass.
    try scene.b.importPasses(Self.first, Self.second.map { $0 + 1 })
    try await settle(scene, scene.a, scene.b)
    #expect(try scene.a.shownValues() == (Self.first + Self.second).sorted())
    #expect(try scene.b.shownValues() == (Self.first + Self.second.map { $0 + 1 }).sorted())
    #expect(try await scene.server.everything().readings == 6)
  }

  @Test(arguments: [false, true]) func bothFingerSticksOfOneInstantReachBothStoresWhicheverUploadsFirst(
    hasBoth: Bool
  ) async throws {
    let scene = try await Scene()
    try scene.a.importSticks([104, 100])
    try scene.b.importSticks([104])
    let nodes = hasBoth ? [scene.a, scene.b] : [scene.b, scene.a]
    try await settle(scene, nodes[0], nodes[1])
    try await expect(scene, [100, 104])
  }

  @Test func aFingerStickChangedAtTheSourceIsNotTakenForASecondOne() async throws {
    let scene = try await Scene()
    try scene.a.importSticks([104])
    try scene.b.importSticks([100])
    try await settle(scene, scene.a, scene.b)
    #expect(try scene.a.shownValues() == [104] && scene.b.shownValues() == [100])
    #expect(try await scene.server.everything().readings == 1)
  }

  @Test func aRepeatedHourImportedInBothStoresIsStoredOnce() async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] { try node.importPasses(Self.first, Self.second) }
    try await settle(scene, scene.a, scene.b)
    try await expect(scene, Self.first, Self.second)
    #expect(try await scene.server.everything().readings == 6)
    #expect(try scene.a.rows("SELECT count(*) FROM reading") == ["6"])
  }

  @Test func anUndoHidesInAnotherStoreOnlyValuesThatItDidNotImport() async throws {
    let scene = try await Scene()
    try scene.b.importPasses(Self.second)
    try scene.a.importPasses(Self.first, Self.second)
    try await settle(scene, scene.b, scene.a)
    _ = try scene.a.undo(1)
    try await settle(scene, scene.a, scene.b)
    // The second pass stays visible in the other store, since this store has imported it as well.
    #expect(try scene.b.shownValues() == Self.second)
  }

  /// Tests that imports and uploads in random order show each value once, in both stores and on the server.
  @Test(arguments: Seeds.share(of: Seeds.first(40), every: 4))
  func importsAndUploadsInAnyOrderShowEachValueOnce(seed: UInt64)
    async throws
  {
    var generator = SeededGenerator(seed: seed)
    let scene = try await Scene()
    for _ in 0..<8 {
      let node = Bool.random(using: &generator) ? scene.a : scene.b
      if Bool.random(using: &generator) {
        try await node.upload()
      } else {
        let inputs = [[Self.first], [Self.second], [Self.first, Self.second]]
        try node.importPasses(inputs[Int.random(in: 0..<3, using: &generator)])
      }
    }
    try scene.a.importPasses(Self.first, Self.second)
    try scene.b.importPasses(Self.second)
    try await settle(scene, scene.a, scene.b)
    try await expect(scene, Self.first, Self.second)
  }
}

/// Tests values of an hour that a clock showed twice, in two stores that sync with a Nightscout site.
@Suite struct SiteValueSetTests {
  private static let (first, second) = ([90.0, 95, 100], [110.0, 115, 120])

  private func values(_ scene: SiteScene, _ name: String) throws -> [Double] {
    try scene.readings(name).filter { !$0.isWithdrawn }.compactMap { $0.measurement.quantity?.number }
      .sorted()
  }

  @Test(arguments: [["a", "b"], ["b", "a"]]) func throughASiteBothPassesOfARepeatedHourReachEveryStore(
    _ names: [String]
  ) async throws {
    let scene = try SiteScene()
    let (first, second) = (SiteScene.derived(Self.first), SiteScene.derived(Self.second))
    try scene.ingest("a", first + second)
    try scene.ingest("b", second)
    for name in names + names + names + ["c"] { try await scene.finish(name) }
    for name in ["a", "b", "c"] { #expect(try values(scene, name) == Self.first + Self.second, "\(name)") }
  }

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func throughASiteAFirstPassOfARepeatedHourImportedLaterReachesEveryStore(
    _ names: [String]
  ) async throws {
    let scene = try SiteScene()
    let (first, second) = (SiteScene.derived(Self.first), SiteScene.derived(Self.second))
    for name in ["a", "b"] { try scene.ingest(name, second) }
    for name in names { try await scene.finish(name) }
    try scene.ingest("a", first + second)
    for name in names + names + names + ["c"] { try await scene.finish(name) }
    for name in ["a", "b", "c"] { #expect(try values(scene, name) == Self.first + Self.second, "\(name)") }
  }

  /// Both stores have equal readings, but with different occurrence numbers. The undo removes the site's
  /// document of a reading that both stores have.
  @Test func anUndoLeavesReadingsVisibleThatTheOtherStoreImported() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.derived(Self.first))
    try await scene.finish("a")
    try scene.ingest("b", SiteScene.derived(Self.second) + SiteScene.derived(Self.first))
    try await scene.finish("b")
    for name in ["a", "b"] { try await scene.finish(name) }
    #expect(scene.ownEntries().count == 6)
    _ = try scene.editing("a").undo(1, group: Digest.uuid(of: ["undo"]), at: SiteScene.clock / 1000)
    for name in ["a", "b", "b", "a"] { try await scene.finish(name) }
    #expect(try values(scene, "b").filter(Self.first.contains) == Self.first)
  }

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func throughASiteBothFingerSticksOfOneInstantReachEveryStore(_ names: [String]) async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.sticks([104, 100]))
    try scene.ingest("b", SiteScene.sticks([104]))
    for name in names + names + names + ["c"] { try await scene.finish(name) }
    for name in ["a", "b", "c"] { #expect(try values(scene, name) == [100, 104], "\(name)") }
  }

  @Test func throughASiteValuesChangedAtTheSourceAreNotTakenForARepeatedHour() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.derived(Self.first))
    try scene.ingest("b", SiteScene.derived(Self.first.map { $0 + 1 }))
    for name in ["a", "b", "a", "b", "c"] { try await scene.finish(name) }
    #expect(try values(scene, "a") == Self.first && values(scene, "c") == Self.first)
    #expect(try values(scene, "b") == Self.first.map { $0 + 1 })
  }
}

extension SimulatedNode {
  /// Imports sensor values of an hour that the clock showed several times. Each array has the values of one
  /// pass. All passes have the same device times.
  fileprivate func importPasses(_ passes: [Double]...) throws { try importPasses(passes) }

  fileprivate func importPasses(_ passes: [[Double]]) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    batch.readings = passes.joined().enumerated().map { index, value in
      Reading(
        device: DeviceIndex(0), kind: .cbg,
        at: DeviceTime(seconds: 1_700_000_000 + 300 * Int64(index % passes[0].count)),
        placement: Placement(utcOffset: 3600, source: .zone),
        .value(Quantity(value, .milligramsPerDecilitre)),
        line: Int64(index) + 1)
    }
    try ingest(batch, generatedAt: nil)
  }

  /// Imports finger sticks at one instant, which the source states.
  fileprivate func importSticks(_ values: [Double]) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    batch.readings = SiteScene.sticks(values)
    try ingest(batch, generatedAt: nil)
  }

  fileprivate func shownValues() throws -> [Double] {
    try rows("SELECT value FROM readings WHERE NOT withdrawn ORDER BY value").compactMap(Double.init)
  }
}

extension SiteScene {
  /// Finger sticks at one instant, which the source states.
  fileprivate static func sticks(_ values: [Double]) -> [Reading] {
    values.enumerated().map { index, value in
      Reading(
        device: DeviceIndex(0), kind: .smbg, tick: 1_700_000_000_000, at: DeviceTime(seconds: 1_700_003_600),
        placement: Placement(utcOffset: 3600, source: .stated),
        .value(Quantity(value, .milligramsPerDecilitre)), line: Int64(index) + 1)
    }
  }
}
