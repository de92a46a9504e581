// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests the base zone of a store that joins a logbook without sending anything: it only fetches, has a
/// read-only token, or runs `remote set`.
@Suite struct ZoneJoinTests {
  private static let tokyo = "Asia/Tokyo"
  private static let madrid = "Europe/Madrid"

  /// Store a has five readings and is synced with a logbook in Madrid's zone. Store b is not synced yet.
  private func scene(given zone: String? = nil, system: String? = nil) async throws -> Scene {
    let scene = try await Scene()
    try scene.a.importReadings(0..<5)
    try await scene.a.upload { $0.joinsZones = true }
    if let zone {
      _ = try Store(path: scene.b.path, role: .editor).setTimezone(LogbookZone(name: zone), at: 5)
    }
    if let system { try scene.b.setSystemZone(system) }
    return scene
  }

  private func fetch(_ node: SimulatedNode, _ choice: ZoneChoice? = nil) async throws -> UploadEnding? {
    try await node.upload {
      ($0.joinsZones, $0.pushes, $0.zoneChoice) = (true, false, choice)
    }.ending
  }

  private func makeReadOnly(_ node: SimulatedNode) async {
    var weather = Weather.calm
    weather.isReadOnly = true
    await node.remote.setWeather(weather)
  }

  @Test func aFetchOnlyUploadEndsIfPeopleSetTwoTimeZones() async throws {
    let scene = try await scene(given: Self.tokyo)
    for _ in 0..<2 {
      let failure = await #expect(throws: Failure.self) { try await fetch(scene.b) }
      #expect(failure?.category == .configuration)
      #expect(
        failure?.message.contains("--zone mine") == true && failure?.message.contains("--zone theirs") == true
      )
    }
    #expect(try scene.b.base() == "Asia/Tokyo given")
    #expect(try await fetch(scene.b, .theirs) == .complete)
    #expect(try scene.b.base() == "Europe/Madrid given")
    #expect(try scene.a.instants() == scene.b.instants())
  }

  @Test func aTimeZoneKeptInAFetchOnlyUploadIsSentByTheNextUpload() async throws {
    let scene = try await scene(given: Self.tokyo)
    #expect(try await fetch(scene.b, .mine) == .complete)
    #expect(try scene.b.record(LogbookZones.baseGuid).isPending)
    #expect(try scene.b.base() == "Asia/Tokyo given")
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.base() == "Asia/Tokyo given")
    #expect(try scene.a.instants() == scene.b.instants() && scene.a.instants().count == 6)
  }

  @Test func aFetchOnlyUploadReplacesASystemTimeZone() async throws {
    let scene = try await scene(system: Self.tokyo)
    #expect(try await fetch(scene.b) == .complete)
    #expect(try scene.b.base() == "Europe/Madrid given")
    #expect(try !scene.b.record(LogbookZones.baseGuid).isPending)
  }

  @Test func equalTimeZonesSetByPeopleAreFetchedSilently() async throws {
    let scene = try await scene()
    #expect(try await fetch(scene.b) == .complete)
    #expect(try !scene.b.record(LogbookZones.baseGuid).isPending)
  }

  /// Deletes the base zone's record on the server. glucoport never does this, but another program could.
  private func deleteBaseZone(_ scene: Scene) async throws {
    let base = try #require(
      await scene.server.everything().records.first { $0.guid == LogbookZones.baseGuid })
    var state = base.state
    state.isDeleted = true
    state.fields = RecordFields()
    let change = RecordChange(
      guid: base.guid, node: Self.run.node, version: 1, base: base.revision, state: state)
    let answer = try await scene.server.connection()().apply([change], Self.run)
    guard case .accepted? = answer.verdicts.first else {
      Issue.record("\(answer)")
      return
    }
  }

  @Test(arguments: [false, true])
  func aHomeTimeZoneDeletedByAnotherProgramIsSentAgain(_ isEdited: Bool) async throws {
    let scene = try await scene()
    try await scene.b.upload { $0.joinsZones = true }
    try await deleteBaseZone(scene)
    if isEdited { _ = try scene.b.editing().setTimezone(LogbookZone(name: Self.tokyo), at: 5) }
    // If an upload pulls the deletion, the next upload sends the zone again.
    for node in [scene.b, scene.a, scene.b, scene.a, scene.b] {
      try await node.upload { $0.joinsZones = true }
    }
    for node in [scene.a, scene.b] {
      #expect(try node.base() == (isEdited ? "Asia/Tokyo given" : "Europe/Madrid given"))
      let record = try node.record(LogbookZones.baseGuid)
      #expect(!record.isPending && !record.isConflicted && !record.state.isDeleted)
    }
    #expect(try await scene.held(LogbookZones.baseGuid)?.isDeleted == false)
  }

  @Test func aSystemTimeZoneNeverReplacesADeletedOneThatAPersonSet() async throws {
    let scene = try await scene()
    try await deleteBaseZone(scene)
    try scene.b.setSystemZone(Self.tokyo)
    for node in [scene.b, scene.a, scene.a, scene.b] { try await node.upload { $0.joinsZones = true } }
    for node in [scene.a, scene.b] { #expect(try node.base() == "Europe/Madrid given") }
    #expect(try scene.a.instants() == scene.b.instants())
  }

  /// A person sets the zone after the system's zone was synced. It replaces the system's zone in all stores.
  @Test func aTimeZoneSetByAPersonReplacesASystemTimeZoneEverywhere() async throws {
    let scene = try await Scene()
    try scene.a.setSystemZone(Self.tokyo)
    try scene.b.setSystemZone(Self.madrid)
    for node in [scene.a, scene.b] { try await node.upload { $0.joinsZones = true } }
    #expect(try scene.b.base() == "Asia/Tokyo system")
    _ = try scene.b.editing().setTimezone(LogbookZone(name: Self.madrid), at: 5)
    for node in [scene.b, scene.a] { try await node.upload { $0.joinsZones = true } }
    for node in [scene.a, scene.b] { #expect(try node.base() == "Europe/Madrid given") }
  }

  @Test func aTimeZoneSetByAPersonIsKeptIfTheLogbookHasASystemTimeZone() async throws {
    let scene = try await Scene()
    try scene.a.setSystemZone(Self.tokyo)
    try await scene.a.upload { $0.joinsZones = true }
    #expect(try await fetch(scene.b) == .complete)
    #expect(try scene.b.base() == "Europe/Madrid given")
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.base() == "Europe/Madrid given")
  }

  @Test func aReadOnlyUploadEndsIfPeopleSetTwoTimeZones() async throws {
    let scene = try await scene(given: Self.tokyo)
    await makeReadOnly(scene.b)
    let failure = await #expect(throws: Failure.self) { try await scene.b.upload { $0.joinsZones = true } }
    #expect(failure?.category == .configuration)
    #expect(try scene.b.base() == "Asia/Tokyo given")
    let kept = try await scene.b.upload { ($0.joinsZones, $0.zoneChoice) = (true, .mine) }
    #expect(kept.ending == .failed(.readOnly))
    #expect(try scene.b.base() == "Asia/Tokyo given")
  }

  @Test func aReadOnlyUploadAdoptsTheTimeZoneThatIsChosenOrHasPrecedence() async throws {
    for (given, choice) in [(Self.tokyo, ZoneChoice.theirs), (nil, nil)] as [(String?, ZoneChoice?)] {
      let scene = try await scene(given: given, system: given == nil ? Self.tokyo : nil)
      await makeReadOnly(scene.b)
      let ending = try await scene.b.upload { ($0.joinsZones, $0.zoneChoice) = (true, choice) }.ending
      #expect(ending == .complete)
      #expect(try scene.b.base() == "Europe/Madrid given")
      #expect(try !scene.b.record(LogbookZones.baseGuid).isPending)
    }
  }

  @Test func theTimeZoneOfANightscoutSiteIsAdoptedLikeThatOfAServer() async throws {
    let scene = try SiteScene()
    _ = try scene.store("a")
    try await scene.upload("a") { $0.joinsZones = true }
    let other = try scene.store("b")
    _ = try scene.editing("b").setTimezone(LogbookZone(name: Self.tokyo), at: 5)
    let failure = await #expect(throws: Failure.self) {
      try await scene.upload("b") { ($0.joinsZones, $0.pushes) = (true, false) }
    }
    #expect(failure?.category == .configuration)
    #expect(try other.zones().base.name == Self.tokyo)
    try await scene.upload("b") {
      ($0.joinsZones, $0.pushes, $0.zoneChoice) = (true, false, .theirs)
    }
    #expect(try other.zones().base.name == "UTC")
  }

  // MARK: remote set

  private static let run = RunStamp(
    node: "11111111-1111-4111-8111-111111111111", number: 1, id: "22222222-2222-4222-8222-222222222222")

  @Test func readingTheHomeTimeZoneOfARemoteFetchesOnlyItsRecord() async throws {
    let empty = try await Scene()
    #expect(try await BaseZone.fetch(from: empty.a.remote, Self.run) == nil)
    let scene = try await scene()
    let record = try #require(try await BaseZone.fetch(from: scene.b.remote, Self.run))
    #expect(record.state.agrees(with: LogbookZones.baseState(try NamedZone(Self.madrid), .given)))
    // If the remote does not offer parts of a logbook, `remote set` gets no zone. The first upload then
    // requests it.
    #expect(try await BaseZone.fetch(from: ChosenPorts(scene.b.remote), Self.run) == nil)
  }

  @Test func aStoreAdoptsTheFetchedTimeZoneOrRefusesIt() async throws {
    let scene = try await scene(given: Self.tokyo)
    let record = try #require(try await BaseZone.fetch(from: scene.b.remote, Self.run))
    let store = try scene.b.sync()
    let before = try scene.b.records()
    let failure = #expect(throws: Failure.self) {
      try store.checkBaseZone(record, nil, at: "remote", command: "set")
    }
    #expect(failure?.message.contains("'set --zone theirs'") == true)
    #expect(throws: Failure.self) {
      try store.joinBaseZone(record, nil, at: "remote", command: "set", now: 9)
    }
    // Opens another connection, which reads the records from the file again.
    _ = try scene.b.importer()
    #expect(try scene.b.records() == before)
    try store.checkBaseZone(record, .theirs, at: "remote", command: "set")
    try store.joinBaseZone(record, .theirs, at: "remote", command: "set", now: 9)
    #expect(try scene.b.base() == "Europe/Madrid given")
    // Both sides agree on the zone, so the upload does not request it again.
    #expect(try await scene.b.upload { $0.joinsZones = true }.ending == .complete)
    #expect(try scene.a.instants() == scene.b.instants())
  }
}

extension SimulatedNode {
  /// The name and the origin of the base zone.
  fileprivate func base() throws -> String {
    let zones = try sync().zones()
    return "\(zones.base.name) \(zones.origin.rawValue)"
  }
}
