// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import LogbookStore
import ServerStore
import Sync

/// Some nodes, a server, and people and programs that work on them at the same time, all drawn from one seed.
///
/// Everything is real but the network: stores, storage, engine. After each step the rules are checked that hold at
/// every instant; at the end everybody comes to rest, and then all sides are equal.
public final class World {
  let folder: String
  var random: SeededGenerator
  var ledger = Ledger()
  var nodes: [SimulatedNode] = []
  var server: SimulatedServer
  var login: Login
  var isServerRestored = false
  /// Records that were seen deleted on the server, until a person brings one back.
  var tombstones: Set<String> = []
  private let isStormy: Bool
  private var nodeCount = 0
  private var serverCount = 1
  private var exportTime: Int64 = 1
  /// What happened, for who reads a failing seed.
  public private(set) var journal: [String] = []

  /// A world in a folder that is its own.
  public init(seed: UInt64, folder: String) async throws {
    self.folder = folder
    random = SeededGenerator(seed: seed)
    isStormy = Bool.random(using: &random)
    server = try SimulatedServer(folder: folder + "/server1")
    login = try await server.login(logbook: "one", &random)
    for _ in 0..<Int.random(in: 2...3, using: &random) { try await addNode(copying: nil) }
  }

  /// Lets so many things happen, then brings everybody to rest and compares.
  public func run(steps: Int) async throws {
    for _ in 0..<steps {
      try await happen()
      try await checkServer()
    }
    try await comeToRest()
    try await compare()
  }

  func say(_ line: String) { journal.append(line) }

  // MARK: Nodes

  func makeRemote() -> FaultyRemote {
    FaultyRemote(server, login, seed: random.next(), isStormy ? .stormy : .calm)
  }

  func addNode(copying original: SimulatedNode?) async throws {
    nodeCount += 1
    let path = "\(folder)/node\(nodeCount).db"
    if let original { try Self.copyStore(original.path, to: path) }
    let node = try SimulatedNode(name: "n\(nodeCount)", path: path, makeRemote(), seed: random.next())
    if original == nil { try await connect(node, isNewRemote: false) }
    nodes.append(node)
  }

  func connect(_ node: SimulatedNode, isNewRemote: Bool) async throws {
    let logbook = try await server.storage.logbook(login)
    try node.sync.setRemote(
      RemoteAccess(kind: "glucoport", url: "http://127.0.0.1", token: .file("/none")), logbook: logbook,
      isNewRemote: isNewRemote, at: node.clock)
  }

  /// The files of a store as a copy program finds them: SQLite's journal belongs to them.
  static func copyStore(_ path: String, to copy: String) throws {
    for suffix in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: copy + suffix)
      if FileManager.default.fileExists(atPath: path + suffix) {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
    }
    try? FileManager.default.removeItem(atPath: copy + "-shm")
  }

  // MARK: Events

  private func happen() async throws {
    guard let node = nodes.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<46: try await upload(node)
    case 46..<58: try edit(node)
    case 58..<66: try add(node)
    case 66..<70: try delete(node)
    case 70..<78: try importReadings(node)
    case 78..<84: try importDiary(node)
    case 84..<88: try resolve(node)
    case 88..<91:
      say("\(node.name) crashes")
      try node.reopen()
    case 91..<95: await node.remote.deliverLate()
    case 95..<97:
      say("server restarts")
      try await server.restart()
    default: try await meddle(node)
    }
  }

  private func upload(_ node: SimulatedNode) async throws {
    node.clock += 7 * 3600
    node.beginUpload()
    let before = try node.records()
    let step = node.session.map { "\($0.nextStep)" } ?? ""
    let ending = try await node.stepUpload()
    say("\(node.name) \(step)\(ending.map { " \($0)" } ?? "")")
    try checkNothingOverwritten(node, before: before)
  }

  private func add(_ node: SimulatedNode) throws {
    let guid = random.uuid()
    let entries = try node.records().values.filter { !$0.state.isDeleted && $0.state.entryGuid == nil }
      .sorted { $0.guid < $1.guid }
    var draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields(["a": .text(ledger.word(for: guid))]))
    if random.once(in: 2) { draft.entryGuid = entries.randomElement(using: &random)?.guid }
    say("\(node.name) adds \(guid.prefix(4)) to \(draft.entryGuid?.prefix(4) ?? "-")")
    _ = try node.editor.add(draft, guid: guid)
  }

  private func liveRecord(of node: SimulatedNode) throws -> SyncRecord? {
    try node.records().values.filter { !$0.state.isDeleted }.sorted { $0.guid < $1.guid }
      .randomElement(using: &random)
  }

  private func edit(_ node: SimulatedNode) throws {
    guard let record = try liveRecord(of: node) else { return }
    let field = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    if case .text(let old)? = record.state.fields[field] { ledger.retire([old]) }
    let word = ledger.word(for: record.guid)
    say("\(node.name) edits \(record.guid.prefix(4)) \(field)=\(word)")
    _ = try node.editor.edit(record.guid) { $0.fields[field] = .text(word) }
  }

  private func delete(_ node: SimulatedNode) throws {
    guard let record = try liveRecord(of: node) else { return }
    let all = try node.records().values.filter {
      $0.guid == record.guid || $0.state.entryGuid == record.guid
    }
    for gone in all { ledger.retire(gone.state.words) }
    say("\(node.name) deletes \(record.guid.prefix(4))")
    _ = try node.editor.delete(record.guid)
  }

  private func resolve(_ node: SimulatedNode) throws {
    let conflicts = try node.resolver.conflicts()
    guard let conflict = conflicts.randomElement(using: &random) else { return }
    try resolve(conflict, node)
  }

  func resolve(_ conflict: RecordConflict, _ node: SimulatedNode) throws {
    let both = conflict.mine.words.union(conflict.theirs.words)
    let canKeepBoth = !conflict.mine.isDeleted && !conflict.theirs.isDeleted
    switch Int.random(in: 0..<(canKeepBoth ? 3 : 2), using: &random) {
    case 0:
      say("\(node.name) keeps mine of \(conflict.guid.prefix(4)) (\(conflict.cause))")
      ledger.retire(both.subtracting(conflict.mine.words))
      if conflict.cause == .bereft {
        for child in try node.records().values where child.state.entryGuid == conflict.guid {
          ledger.retire(child.state.words)
        }
      }
      try node.resolver.resolve(conflict, .mine, at: node.clock)
    case 1:
      say("\(node.name) keeps theirs of \(conflict.guid.prefix(4)) (\(conflict.cause))")
      ledger.retire(both.subtracting(conflict.theirs.words))
      if !conflict.theirs.isDeleted { tombstones.remove(conflict.guid) }
      try node.resolver.resolve(conflict, .theirs, at: node.clock)
    default:
      let copy = random.uuid()
      say("\(node.name) keeps both of \(conflict.guid.prefix(4)), the other as \(copy.prefix(4))")
      ledger.move(conflict.theirs.words.subtracting(conflict.mine.words), from: conflict.guid, to: copy)
      try node.resolver.resolve(conflict, .both(guid: copy), at: node.clock)
    }
    if !conflict.mine.isDeleted { tombstones.remove(conflict.guid) }
  }

  private func importReadings(_ node: SimulatedNode) throws {
    var batch = IngestBatch()
    let device = ["a", "b"].randomElement(using: &random) ?? "a"
    batch.devices = [Device(vendor: "Maker", model: "M", serial: device, format: "sim")]
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      // Few places and values, so that nodes meet each other's readings, some with another value.
      let isSensor = random.once(in: 2)
      let time = DeviceTime(seconds: 1_700_000_000 + 300 * Int64.random(in: 0..<12, using: &random))
      let value = Quantity(Double(Int.random(in: 100...103, using: &random)), .milligramsPerDecilitre)
      batch.readings.append(
        Reading(
          device: DeviceIndex(0), kind: isSensor ? .cbg : .smbg, at: time,
          placement: Placement(utcOffset: 3600, source: .zone), .value(value), line: 1))
    }
    say("\(node.name) imports \(batch.readings.count) readings")
    try ingest(batch, node)
  }

  /// An export of a diary with rows of its own ids, made at some time: older and newer ones come in any order.
  private func importDiary(_ node: SimulatedNode) throws {
    if random.once(in: 2) { exportTime += 1 }
    let made = Int64.random(in: max(1, exportTime - 2)...exportTime, using: &random)
    var batch = IngestBatch()
    for id in 0..<3 where random.once(in: 2) {
      batch.records.append(
        ImportedRecord(
          kind: .food, at: DeviceTime(seconds: 1_700_000_000),
          placement: Placement(utcOffset: 3600, source: .zone),
          fields: RecordFields(["carbs": .number(Double(made)), "text": .text("row\(id)")]),
          sourceID: "s\(id)",
          line: 1))
    }
    say("\(node.name) imports an export of \(made)")
    try ingest(batch, node, generatedAt: made)
  }

  private func ingest(_ batch: IngestBatch, _ node: SimulatedNode, generatedAt: Int64? = nil) throws {
    let before = try node.records()
    let source = IngestSource(name: "-", format: "sim", startedAt: node.clock, modifiedAt: nil, decisions: [])
    try node.importer.ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: "", generatedAt: generatedAt, finishedAt: node.clock, decisions: [])
    }
    try checkNothingOverwritten(node, before: before)
  }

  // MARK: Copies, restores, another server

  private func meddle(_ node: SimulatedNode) async throws {
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where nodes.count < 4:
      say("\(node.name) is copied to n\(nodeCount + 1)")
      try await addNode(copying: node)
    case 1:
      say("\(node.name) is backed up")
      try Self.copyStore(node.path, to: node.path + "-backup")
    case 2 where FileManager.default.fileExists(atPath: node.path + "-backup"):
      say("\(node.name) is restored")
      try await restore(node)
    case 3:
      say("server is backed up")
      try await server.takeBackup()
    case 4:
      guard try await server.restoreBackup() else { return }
      say("server is restored")
      isServerRestored = true
      tombstones = []
      try await forgetWhatIsNowhere()
    case 5 where serverCount == 1:
      try await moveToAnotherServer()
    default: break
    }
  }

  private func restore(_ node: SimulatedNode) async throws {
    let path = "\(folder)/restored\(nodeCount).db"
    nodeCount += 1
    try Self.copyStore(node.path + "-backup", to: path)
    let restored = try SimulatedNode(name: node.name + "'", path: path, makeRemote(), seed: random.next())
    restored.clock = node.clock
    // The backup may be from before the move to another server.
    try await connect(restored, isNewRemote: true)
    if let place = nodes.firstIndex(where: { $0 === node }) { nodes[place] = restored }
    lostByRestore = true
  }

  private var lostByRestore = false

  private func moveToAnotherServer() async throws {
    say("all move to another server")
    serverCount += 1
    server = try SimulatedServer(folder: "\(folder)/server\(serverCount)")
    login = try await server.login(logbook: "two", &random)
    tombstones = []
    for place in nodes.indices {
      let old = nodes[place]
      let moved = try SimulatedNode(name: old.name, path: old.path, makeRemote(), seed: random.next())
      moved.clock = old.clock
      nodes[place] = moved
      try await connect(moved, isNewRemote: true)
    }
    try await forgetWhatIsNowhere()
  }

  /// Whoever puts an older state back gives up what was nowhere else.
  func forgetWhatIsNowhere() async throws {
    var words: Set<String> = []
    for record in try await server.everything(login).records { words.formUnion(record.state.words) }
    for node in nodes {
      for record in try node.records().values { words.formUnion(record.state.words) }
      for conflict in try node.resolver.conflicts() { words.formUnion(conflict.theirs.words) }
    }
    ledger.keepOnly(words)
  }

  func settleLosses() async throws {
    if lostByRestore {
      lostByRestore = false
      try await forgetWhatIsNowhere()
    }
  }
}
