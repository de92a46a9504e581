// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import Sync

/// A simulated world: some nodes, a server, and people and programs that use them at the same time. One seed
/// determines everything.
///
/// Stores, storage and sync engine are real; only the network is simulated. After each event, the rules that
/// must always hold are checked. At the end, all nodes sync completely and must be equal.
final class World {
  let stage: Stage
  var folder: String { stage.worldFolder }
  var random: SeededGenerator
  var ledger = Ledger()
  var nodes: [SimulatedNode] = []
  var server: any SimulatedHost
  /// Whether the server was restored at least once. It may then lack data that it has acknowledged.
  var isServerRestored = false
  /// The ids of records that the server has as deleted and that no person has restored.
  var tombstones: Set<String> = []
  /// The ids of the records that a site had at the last check.
  var heldBefore: Set<String> = []
  /// The ids of records that people added on nodes.
  var addedHere: Set<String> = []
  /// The ids of records that a person restored, until the server has them again.
  var broughtBack: Set<String> = []
  /// Whether a store was restored and the edits that this restore lost are not marked as lost yet.
  var lostByRestore = false
  /// The records of the active node before the current step, or after the last edit during this step.
  var before: [String: SyncRecord] = [:]
  /// The identities of all readings that an import stored and that no restore removed.
  var owedReadings: Set<String> = []
  /// Whether a site may lack uploaded readings, because some are hidden or moved.
  var removesReadings = false
  /// The identities of readings that a person has hidden or shown again. No rule is checked for them.
  var decidedByPeople: Set<String> = []
  /// The serial numbers of devices whose readings a person has hidden.
  var hiddenDevices: Set<String> = []
  var nodeCount = 0
  var serverCount = 1
  var exportTime: Int64 = 1
  /// The kind of host with which the nodes sync.
  let kind: HostKind
  /// Whether attachment contents may be lost, because their only copy was on a restored or replaced store or
  /// server.
  var mayLackContents = false
  /// Whether the server permanently refuses some records and readings.
  let isPicky: Bool
  /// Whether the computers have different zones and people change the zone of the logbook. Such an event
  /// takes several times as long as others.
  let hasZones: Bool
  /// Whether people merge stores. Such worlds import no diaries, because `importDiary` cannot predict in
  /// which order a merge writes the contents of two exports.
  private let hasMerges: Bool
  private let isUnreliable: Bool
  /// A text for each event, for the person who examines a failing seed.
  private(set) var journal: [String] = []

  /// Makes a world on a stage that no other world is using.
  init(seed: UInt64, _ stage: Stage, _ kind: HostKind = .server) async throws {
    self.stage = stage
    self.kind = kind
    random = SeededGenerator(seed: seed)
    isUnreliable = Bool.random(using: &random)
    isPicky = random.once(in: 4)
    hasZones = random.once(in: 4)
    let merges = random.once(in: 4)
    hasMerges = merges && kind == .server
    server = try stage.host(kind, 0, seed: seed, isUnreliable: isUnreliable)
    for place in 0..<(random.once(in: 3) ? 3 : 2) {
      nodeCount += 1
      let node = SimulatedNode(
        name: "n\(nodeCount)", try stage.connections(place), await makeRemote(), seed: random.next())
      node.asksForParts = Bool.random(using: &random)
      try await node.connect(to: server, isNewRemote: false)
      try drawFirstZone(node)
      nodes.append(node)
    }
  }

  /// Runs `steps` random events, then lets all nodes sync completely, and compares them.
  func run(steps: Int) async throws {
    for _ in 0..<steps {
      try await runRandomEvent()
      try await checkServer()
      try checkDoses()
    }
    try await syncUntilNothingChanges()
    try await compare()
  }

  func log(_ line: String) { journal.append(line) }

  /// The faults of the nodes' calls. With a site, `SiteNetwork` simulates the faults instead.
  var weather: Weather { isUnreliable && kind == .server ? .stormy : .calm }

  /// A host of this world's kind, without any data.
  func makeHost(_ number: Int) throws -> any SimulatedHost {
    try stage.host(kind, number, seed: random.next(), isUnreliable: isUnreliable)
  }

  /// A connection of a node to the server. If `isPicky` is set, the connection permanently refuses every
  /// record with a word that ends in 7, and every fifth reading.
  func makeRemote() async -> FaultyRemote {
    let remote = FaultyRemote(server, seed: random.next(), weather)
    if isPicky {
      await remote.refuse { state in
        state.words.contains { $0.hasPrefix("w") && $0.hasSuffix("7") } ? "it ends in a 7" : nil
      }
      // A reading is refused because of its position and not its value. So if one node cannot send it, no
      // node can.
      await remote.refuseReadings { $0.position / 300 % 5 == 0 ? "the fifth" : nil }
    }
    return remote
  }

  // MARK: Events

  private func runRandomEvent() async throws {
    guard let node = nodes.randomElement(using: &random) else { return }
    if let site {
      site.moveClock(by: [0, 0, 1000, 20_000, 180_000].randomElement(using: &random) ?? 0)
      if random.once(in: 5) { return try actOnSite() }
    }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<46: try await upload(node)
    case 46..<78: try change(node)
    case 78..<84: try command(node, .importer) { try hasMerges ? merge(node) : importDiary(node) }
    case 84..<88: try command(node, .resolver) { try resolve(node) }
    case 88..<91:
      log("\(node.name) crashes")
      node.reopen()
    case 91..<94:
      await node.remote.deliverLate()
      await site?.network.deliverLate()
    case 94: try await verify(node)
    case 95: try await changeLogin(node)
    case 96:
      log("server restarts")
      try await server.restart()
    default: try await copyRestoreOrMove(node)
    }
  }

  /// Simulates an action of a person or a meter. It may also happen during a request.
  private func change(_ node: SimulatedNode) throws {
    switch Int.random(in: 0..<42, using: &random) {
    case 0..<12: try command(node, .editor) { try edit(node) }
    case 12..<20: try command(node, .editor) { try add(node) }
    case 20..<23: try command(node, .editor) { try delete(node) }
    case 23: try command(node, .editor) { try queue(node) }
    case 24..<28: try command(node, .editor) { try attach(node) }
    case 28..<31: try command(node, .editor) { try undo(node) }
    case 31..<33: try command(node, .editor) { try hide(node) }
    case 33: try command(node, .editor) { try stateZone(node) }
    case 34: try command(node, .importer) { try importGiven(node) }
    case 35: try command(node, .editor) { try step(node) }
    default: try command(node, .importer) { try importReadings(node) }
    }
  }

  /// Runs a command of a person. Sometimes one of its statements fails, and the command must then have done
  /// everything or nothing.
  private func command(_ node: SimulatedNode, _ role: StoreRole, _ work: () throws -> Void) throws {
    guard let place = drawFault() else { return try work() }
    let (records, known) = (try node.records(), (ledger, tombstones, broughtBack))
    let fault = try node.fault(role, at: place)
    defer { fault.end() }
    do {
      try work()
    } catch  where fault.hasFailed {
      let isUndone = try node.records() == records
      log("  its statement \(place) fails\(isUndone ? "" : ", and it is done")")
      if isUndone { (ledger, tombstones, broughtBack) = known }
    }
  }

  /// The number of the statement that fails in the next command; usually nil, so that none fails.
  private func drawFault() -> Int? { random.once(in: 12) ? Int.random(in: 1...24, using: &random) : nil }

  private func upload(_ node: SimulatedNode) async throws {
    node.clock += 7 * 3600
    if node.session == nil { try node.beginUpload(drawOptions(node)) }
    before = try node.records()
    let step = node.session.map { "\($0.nextStep)" } ?? ""
    var ending: UploadEnding?
    if random.once(in: 3) {
      await node.remote.interrupt(Meanwhile { try self.interrupt(node) })
      ending = try await takeStep(node)
    } else if let place = drawFault() {
      let hasFailed = try await node.failing(.sync, at: place) { ending = try await takeStep(node) }
      if hasFailed { log("  its statement \(place) fails") }
    } else {
      if let site, random.once(in: 3) {
        await site.network.interrupt(Meanwhile { try self.editAsApp(site) })
      }
      ending = try await takeStep(node)
    }
    if let failure = await node.remote.takeFailure() { throw failure }
    if let failure = await site?.network.takeFailure() { throw failure }
    log("\(node.name) \(step)\(ending.map { " \($0)" } ?? "")")
    try checkNothingOverwritten(node)
  }

  private func drawOptions(_ node: SimulatedNode) -> UploadOptions {
    var options = UploadOptions()
    (options.maxReadings, options.maxRecords, options.maxChanges) = (4, 3, 5)
    options.maxPartBytes = 48
    options.maxMoves = 20
    (options.joinsZones, options.zoneChoice) = (true, drawZoneChoice(node))
    node.isAskedForZone = false
    switch Int.random(in: 0..<12, using: &random) {
    case 0: options.pushes = false
    case 1: options.pulls = false
    default: break
    }
    return options
  }

  /// Simulates an action on the node while its request is running.
  private func interrupt(_ node: SimulatedNode) throws {
    log("while a request of \(node.name) is on its way:")
    if random.once(in: 6) { try resolve(node) } else { try change(node) }
    before = try node.records()
  }

  private func changeLogin(_ node: SimulatedNode) async throws {
    var weather = weather
    weather.isReadOnly = random.once(in: 2)
    log("\(node.name) has a login for \(weather.isReadOnly ? "reading only" : "writing")")
    await node.remote.setWeather(weather)
  }
}
