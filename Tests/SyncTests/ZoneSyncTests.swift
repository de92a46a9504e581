// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests that all stores have the same instants, whatever zone the system of the importing store had.
@Suite struct ZoneSyncTests {
  private static let names = ["Asia/Tokyo", "America/New_York", "Europe/Madrid", "Australia/Lord_Howe"]

  @Test func aSystemTimeZoneIsReplacedByThatOfTheLogbook() async throws {
    let scene = try await Scene()
    try scene.b.setSystemZone("Asia/Tokyo")
    try scene.a.importReadings(0..<5)
    try scene.b.importReadings(5..<10)
    try await scene.a.join()
    try await scene.b.join()
    try await scene.a.join()
    #expect(try scene.b.zones().base.name == "Europe/Madrid")
    #expect(try scene.a.instants() == scene.b.instants() && scene.a.instants().count == 11)
    #expect(try scene.b.records().values.allSatisfy { !$0.isPending && !$0.isConflicted })
  }

  @Test func aTimeZoneSetByAPersonReplacesASystemTimeZoneOnTheRemote() async throws {
    let scene = try await Scene()
    try scene.a.setSystemZone("Asia/Tokyo")
    try scene.a.importReadings(0..<5)
    try await scene.a.join()
    try await scene.b.join()
    try await scene.a.join()
    for node in [scene.a, scene.b] { #expect(try node.zones().base.name == "Europe/Madrid") }
    #expect(try scene.a.instants() == scene.b.instants())
  }

  @Test(arguments: [ZoneChoice.mine, .theirs])
  func twoTimeZonesSetByPeopleEndTheUploadUntilOneIsChosen(_ choice: ZoneChoice) async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    try await scene.a.join()
    _ = try Store(path: scene.b.path, role: .editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    try scene.b.importReadings(5..<10)
    for _ in 0..<2 {
      let failure = await #expect(throws: Failure.self) { try await scene.b.join() }
      #expect(failure?.category == .configuration)
    }
    #expect(try await scene.server.everything().readings == 5)
    #expect(try scene.b.zones().base.name == "Asia/Tokyo")
    try await scene.b.upload {
      $0.joinsZones = true
      $0.zoneChoice = choice
    }
    try await scene.a.join()
    let name = choice == .mine ? "Asia/Tokyo" : "Europe/Madrid"
    #expect(try [scene.a, scene.b].map { try $0.zones().base.name } == [name, name])
    #expect(try scene.a.instants() == scene.b.instants())
    // These readings were imported after a person had set the zone Tokyo. The readings keep this zone, even
    // if the person chooses the other zone afterwards.
    #expect(try scene.b.offset(at: 7) == "32400")
    #expect(try scene.b.offset(at: 2) == (choice == .mine ? "32400" : "3600"))
    #expect(try scene.b.records().values.allSatisfy { !$0.isPending })
    // Later imports use the zone of the logbook, which is the chosen one.
    try scene.b.importReadings(10..<12)
    #expect(try scene.b.offset(at: 11) == (choice == .mine ? "32400" : "3600"))
  }

  /// Two stores import the same items with different zones. In both stores, the zone that was given later
  /// then applies to all items.
  @Test func manyDevicesGivenTwoTimeZonesInTwoStoresEndWithTheLaterOne() async throws {
    let scene = try await Scene()
    for (node, zone) in [(scene.a, "Asia/Tokyo"), (scene.b, "America/New_York")] {
      try node.importGiven(zone, devices: 250, meals: 6000)
    }
    for node in [scene.a, scene.b, scene.a, scene.b] { try await node.join() }
    #expect(try scene.a.instants() == scene.b.instants())
    for node in [scene.a, scene.b] {
      #expect(try node.rows("SELECT count(*) FROM reading") == ["250"])
      let offsets = try node.rows(
        "SELECT derived_offset FROM reading UNION SELECT utc_offset FROM record WHERE kind = 'food'")
      #expect(offsets.count == 1 && offsets != ["3600"], "\(offsets)")
      #expect(try node.rows("SELECT count(*) FROM item_zone") != ["2"])
    }
  }

  @Test(arguments: [false, true], [[0, 1, 0], [1, 0, 1, 0]])
  func aZonePeriodAndAZoneOfAnImportSyncInAnyOrderToTheSameResult(_ isPeriodLater: Bool, _ order: [Int])
    async throws
  {
    let scene = try await Scene()
    // `made_at` of the import's zone is second 0 of the test's clock, or one second after the latest zone in
    // the store.
    try scene.a.importGiven("Asia/Tokyo", devices: 3, meals: 3)
    let made = try #require(
      try scene.a.rows("SELECT max(made_at) FROM item_zone").first.flatMap { Int64($0) })
    let period = ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: nil, until: nil, zone: try NamedZone("Australia/Lord_Howe"),
      madeAt: made + (isPeriodLater ? 1 : -1))
    _ = try scene.b.editing().add(period, at: 5)
    for index in order { try await [scene.a, scene.b][index].join() }
    #expect(try scene.a.instants() == scene.b.instants())
    for node in [scene.a, scene.b] {
      let offsets = try node.rows(
        "SELECT derived_offset FROM reading UNION SELECT utc_offset FROM record WHERE kind = 'food'")
      #expect(offsets == [isPeriodLater ? "39600" : "32400"])
    }
  }

  /// The zone that store a gave ends if store a undoes its import. So store b must store the zone for its own
  /// import, too.
  @Test func aTimeZoneGivenForAnImportIsStoredEvenIfAnotherStoreGaveOne() async throws {
    let scene = try await Scene()
    try scene.a.importGiven("Asia/Tokyo", devices: 3)
    for node in [scene.a, scene.b] { try await node.join() }
    for _ in 0..<2 { try scene.b.importGiven("Asia/Tokyo", devices: 3) }
    #expect(try scene.b.rows("SELECT count(*) FROM item_zone") == ["2"])
  }

  @Test func theTimeZoneOfAnUndoneImportEndsInEveryStore() async throws {
    let scene = try await Scene()
    try scene.a.importGiven("Asia/Tokyo")
    // This import states the zone of the logbook. So its items keep the zone when the zone of the logbook
    // changes.
    try scene.b.importGiven("Europe/Madrid", devices: 3)
    for node in [scene.a, scene.b, scene.a] { try await node.join() }
    #expect(try scene.b.rows("SELECT DISTINCT derived_offset FROM reading ORDER BY 1") == ["3600", "32400"])
    _ = try scene.b.editing().setTimezone(LogbookZone(name: "Australia/Lord_Howe"), at: 5)
    for node in [scene.b, scene.a] { try await node.join() }
    for node in [scene.a, scene.b] {
      #expect(try node.rows("SELECT DISTINCT derived_offset FROM reading ORDER BY 1") == ["3600", "32400"])
    }
    let imports = try scene.a.rows("SELECT ingest FROM record WHERE kind = 'zone' AND ingest IS NOT NULL")
    let number = try #require(imports.first.flatMap { Int64($0) })
    for (isRedo, offsets) in [(false, ["3600", "39600"]), (true, ["3600", "32400"])] {
      if isRedo {
        _ = try scene.a.editing().redo(number, at: 10)
      } else {
        _ = try scene.a.editing().undo(number, group: UUID().uuidString.lowercased(), at: 9)
      }
      for node in [scene.a, scene.b, scene.a] { try await node.join() }
      for node in [scene.a, scene.b] {
        #expect(try node.rows("SELECT DISTINCT derived_offset FROM reading ORDER BY 1") == offsets)
      }
    }
  }

  @Test func equalTimeZonesSetByPeopleNeedNoDecision() async throws {
    let scene = try await Scene()
    try await scene.a.join()
    #expect(try await scene.b.join().ending == .complete)
    #expect(try await scene.server.everything().records.count == 1)
  }

  @Test func derivedUTCOffsetsAreNotTreatedAsEdits() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try scene.b.setSystemZone("Asia/Tokyo")
    _ = try Store(path: scene.b.path, role: .editor).setTimezone(LogbookZone(name: "Asia/Kolkata"), at: 5)
    #expect(try scene.b.record(guid).isPending == false)
    #expect(try scene.a.record(guid).state == scene.b.record(guid).state)
    try scene.a.edit(guid, "a", "2")
    try scene.b.edit(guid, "b", "2")
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try scene.a.text(guid, "b") == "2" && scene.b.text(guid, "a") == "2")
    #expect(try scene.b.resolver().conflicts().isEmpty)
    #expect(try await scene.held(guid)?.statedOffset == nil)
  }

  @Test func aJourneyEnteredInOneStoreMovesReadingsInAnother() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<600)
    try await scene.a.join()
    try await scene.b.join()
    let before = try scene.b.instants()
    let start = DeviceTime(seconds: 1_700_000_000 + 300 * 100)
    let journey = ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: start, until: DeviceTime(seconds: start.seconds + 86_400),
      zone: try NamedZone("Asia/Tokyo"), madeAt: 5)
    let editor = try Store(path: scene.a.path, role: .editor)
    #expect(try editor.add(journey, at: 5).readings == 288)
    try await scene.a.join()
    try await scene.b.join()
    #expect(try scene.a.instants() == scene.b.instants() && scene.b.instants() != before)
    _ = try editor.remove(journey, at: 6)
    try await scene.a.join()
    try await scene.b.join()
    #expect(try scene.b.instants().filter { $0.hasPrefix("S") } == before.filter { $0.hasPrefix("S") })
  }

  @Test func aSiteStoresTimeZonesAsTreatmentsWithOnlyTheGlucoportField() async throws {
    let scene = try SiteScene()
    let journey = ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: DeviceTime(seconds: SiteScene.start), until: nil,
      zone: try NamedZone("Asia/Tokyo"), madeAt: SiteScene.start)
    _ = try scene.store("a").add(journey, at: 5)
    for name in ["a", "b", "a"] { try await scene.upload(name) { $0.joinsZones = true } }
    #expect(try scene.store("b").zones() == scene.store("a").zones())
    #expect(try scene.store("b").zones().periods == [journey])
    let documents = scene.site.documents("treatments")
    #expect(documents.count == 2)
    for document in documents {
      #expect(document["eventType"] == "Time Zone" && document["notes"] == nil && document["duration"] == nil)
    }
    _ = try Store(path: scene.store("b").path, role: .editor).remove(journey, at: 6)
    for name in ["b", "a"] { try await scene.upload(name) { $0.joinsZones = true } }
    #expect(try scene.store("a").zones().periods.isEmpty)
  }

  /// A site knows only instants. The instants of these items follow from the zone that was given for their
  /// import. If the items are imported again with another zone, the instants follow from that zone.
  @Test func aSiteShowsReadingsAtTheInstantsOfTheTimeZoneOfTheirImport() async throws {
    let scene = try SiteScene()
    let store = try scene.store("a")
    let time = DeviceTime(seconds: SiteScene.start + 3600)
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    let placement = Placement(utcOffset: 0, source: .zone)
    batch.readings = [
      Reading(
        device: DeviceIndex(0), kind: .smbg, at: time, placement: placement,
        .value(Quantity(100, .milligramsPerDecilitre)), line: 1)
    ]
    batch.records = [
      ImportedRecord(
        kind: .food, at: time, placement: placement, fields: RecordFields(["carbs": .number(20)]),
        sourceID: "meal", line: 1)
    ]
    for (name, hours) in [("Asia/Tokyo", Int64(9)), ("Asia/Dubai", 4)] {
      let source = IngestSource(
        name: "-", format: "test", startedAt: SiteScene.start, modifiedAt: nil, decisions: [],
        zone: InputZone(try LogbookZone(name: name), isGiven: true, placesReadings: false))
      try Store(path: store.path, role: .importer).ingest(source, isAtomic: false) { writer in
        try writer.write(batch)
        try writer.finish(
          end: .whole, digest: "", generatedAt: nil, finishedAt: SiteScene.start, decisions: [])
      }
      try await scene.finish("a")
      try scene.expectInPlace("a", "\(name)")
      let instants = [[time.seconds - hours * 3600]]
      #expect(Array(scene.ownTreatments().values) == instants, "\(name)")
      #expect(Array(scene.ownEntries().values) == instants, "\(name)")
    }
  }

  /// Two or three stores import, undo and redo imports, change zones and upload in random order. Then
  /// conflicts are resolved, and all stores upload.
  @Test(arguments: Seeds.share(of: Seeds.first(3), every: 3), [2, 3])
  func storesWithDifferentSystemTimeZonesEndWithEqualInstants(
    seed: UInt64, count: Int
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    let scene = try await Scene()
    let nodes = [scene.a, scene.b] + (count == 3 ? [try await scene.another(seed: 3)] : [])
    for (node, name) in zip(nodes, Self.names) { try node.setSystemZone(name) }
    for _ in 0..<24 {
      let node = try #require(nodes.randomElement(using: &generator))
      switch Int.random(in: 0..<10, using: &generator) {
      case 0, 1:
        let first = Int64.random(in: 0..<500, using: &generator)
        try node.importReadings(first..<first + 100)
      case 2: try node.importDiary(carbs: 30, generatedAt: 5)
      case 3: try node.statePeriod(&generator, names: Self.names)
      case 4:
        let first = Int64.random(in: -24..<40, using: &generator)
        try node.importNight(first..<first + 20)
      case 5: try node.importGiven(Self.names.randomElement(using: &generator) ?? "UTC")
      case 6: try node.undoGiven(&generator)
      default: try await node.join()
      }
    }
    // Two people may have extended one period in different ways. The two sides of such a conflict differ,
    // and a person must resolve it.
    for node in nodes + nodes + nodes {
      try await node.join()
      for conflict in try node.resolver().conflicts() {
        #expect(!conflict.mine.agrees(with: conflict.theirs), "seed \(seed)")
        try node.resolve(conflict.guid, .mine)
      }
    }
    for node in nodes + nodes { try await node.join() }
    let expected = try nodes[0].instants()
    for node in nodes {
      #expect(try node.instants() == expected, "seed \(seed)")
      #expect(try node.zones() == nodes[0].zones(), "seed \(seed)")
      #expect(try node.resolver().conflicts().isEmpty, "seed \(seed)")
      #expect(try node.records().values.allSatisfy { !$0.isPending }, "seed \(seed)")
      let verify = try #require(VerifySession(node.sync(), node.remote, named: "remote"))
      try await verify.compare()
      #expect(verify.summary.differences == 0, "seed \(seed)")
    }
  }
}

extension SimulatedNode {
  /// Uploads with the option `joinsZones`, which the program always sets.
  @discardableResult
  fileprivate func join() async throws -> (ending: UploadEnding?, summary: UploadSummary) {
    try await upload { $0.joinsZones = true }
  }

  fileprivate func zones() throws -> LogbookZones { try sync().zones() }

  fileprivate func statePeriod(_ generator: inout SeededGenerator, names: [String]) throws {
    let from = 1_700_000_000 + 3600 * Int64.random(in: 0..<40, using: &generator)
    let name = try #require(names.randomElement(using: &generator))
    let period = ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: DeviceTime(seconds: from),
      until: DeviceTime(seconds: from + 36_000), zone: try NamedZone(name),
      devices: [[], ["serial|Maker|S"], ["serial|Maker|T"], ["serial|Maker|U"]].randomElement(
        using: &generator) ?? [],
      madeAt: Int64.random(in: 1..<1_000_000, using: &generator))
    _ = try Store(path: path, role: .editor).add(period, at: 5)
    _ = try importer()
  }

  /// Imports readings with counters in seconds, one every five minutes. They are from the night in which
  /// clocks in Madrid show an hour twice.
  fileprivate func importNight(_ steps: Range<Int64>) throws {
    let start: Int64 = 1_761_436_800  // 2025-10-26T00:00:00Z
    try importReadings(
      steps.map { step in
        let utc = start + step * 300
        return Reading(
          device: DeviceIndex(0), kind: .cbg, tick: 50_000 + step * 300,
          at: DeviceTime(seconds: utc + (utc < 1_761_440_400 ? 7200 : 3600)),
          placement: Placement(utcOffset: 3600, source: .zone),
          .value(Quantity(100, .milligramsPerDecilitre)),
          line: 1)
      }, serial: "T", zone: nil)
  }

  /// Imports readings with a zone that a person states. The clock advances, since the order of two statements
  /// at the same time would be undefined.
  fileprivate func importGiven(_ name: String) throws {
    clock += 60
    let readings = (0..<10).map { place in
      Reading(
        device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: 1_700_100_000 + 7200 * Int64(place)),
        placement: Placement(utcOffset: 0, source: .zone), .value(Quantity(100, .milligramsPerDecilitre)),
        line: 1)
    }
    try importReadings(readings, serial: "U", zone: Self.given(name))
  }

  /// Imports one reading for each of `devices` devices, and `meals` meals, with a zone that a person states.
  /// The time at which the zone was stated is the same in every store.
  fileprivate func importGiven(_ name: String, devices: Int, meals: Int = 0) throws {
    var batch = IngestBatch()
    batch.devices = (0..<devices).map {
      Device(vendor: "Maker", model: "M", serial: "D\($0)", format: "test")
    }
    batch.readings = (0..<devices).map { device in
      Reading(
        device: DeviceIndex(Int32(device)), kind: .smbg, at: DeviceTime(seconds: 1_700_100_000),
        placement: Placement(utcOffset: 0, source: .zone), .value(Quantity(100, .milligramsPerDecilitre)),
        line: 1)
    }
    batch.records = (0..<meals).map {
      ImportedRecord(
        kind: .food, at: DeviceTime(seconds: 1_700_100_000),
        placement: Placement(utcOffset: 0, source: .zone),
        fields: RecordFields(["carbs": .number(20)]), sourceID: "meal\($0)", line: 1)
    }
    try ingest(batch, zone: Self.given(name))
  }

  private static func given(_ name: String) throws -> InputZone {
    InputZone(try LogbookZone(name: name), isGiven: true, placesReadings: false)
  }

  /// Undoes or redoes a random import for which a zone was given.
  fileprivate func undoGiven(_ generator: inout SeededGenerator) throws {
    let imports = try rows("SELECT DISTINCT ingest FROM record WHERE kind = 'zone' AND ingest IS NOT NULL")
    guard let number = imports.compactMap({ Int64($0) }).randomElement(using: &generator) else { return }
    let editor = try Store(path: path, role: .editor)
    if Bool.random(using: &generator) {
      _ = try editor.redo(number, at: clock)
    } else {
      _ = try editor.undo(number, group: UUID().uuidString.lowercased(), at: clock)
    }
    _ = try importer()
  }

  /// The derived offset of the reading with this number in `importReadings`.
  fileprivate func offset(at place: Int64) throws -> String? {
    try rows(
      "SELECT derived_offset FROM reading WHERE device_time = \(1_700_000_000 + 300 * place)"
    ).first
  }

  private func importReadings(_ readings: [Reading], serial: String, zone: InputZone?) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: serial, format: "test")]
    batch.readings = readings
    try ingest(batch, zone: zone)
  }

  private func ingest(_ batch: IngestBatch, zone: InputZone?) throws {
    let source = IngestSource(
      name: "-", format: "test", startedAt: clock, modifiedAt: nil, decisions: [], zone: zone)
    try importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: clock, decisions: [])
    }
  }
}
