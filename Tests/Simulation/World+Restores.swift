// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore

/// Simulates copies and restores of stores, and restores and changes of the server.
extension World {
  func copyRestoreOrMove(_ node: SimulatedNode) async throws {
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where nodes.count < 4:
      nodeCount += 1
      log("\(node.name) is copied to n\(nodeCount)")
      let path = "\(folder)/copy\(nodeCount).db"
      try Self.copyStore(node.path, to: path)
      let copy = SimulatedNode(
        name: "n\(nodeCount)", Connections(path: path), await makeRemote(), seed: random.next())
      copy.asksForParts = node.asksForParts
      nodes.append(copy)
    case 1:
      log("\(node.name) is backed up")
      try Self.copyStore(node.path, to: backup(of: node))
    case 2 where FileManager.default.fileExists(atPath: backup(of: node)):
      log("\(node.name) is restored")
      try await restore(node)
    case 3 where kind == .server:
      log("server is backed up")
      try await server.takeBackup()
    case 4:
      guard try await server.restoreBackup() else { return }
      log("server is restored")
      isServerRestored = true
      mayLackContents = true
      tombstones = []
      // The position that a server reports does not include attachment contents. So a person who restores a
      // server must queue them again.
      for node in nodes { try node.sync().requeueContents() }
      try await forgetLostItems()
    case 5 where serverCount == 1:
      try await moveToAnotherServer()
    default: break
    }
  }

  private func backup(of node: SimulatedNode) -> String { "\(folder)/\(node.name)-backup.db" }

  /// Copies the files of a store with its write-ahead log, as a copy program does.
  private static func copyStore(_ path: String, to copy: String) throws {
    let manager = FileManager.default
    for suffix in ["", "-wal", "-shm"] where manager.fileExists(atPath: copy + suffix) {
      try manager.removeItem(atPath: copy + suffix)
    }
    for suffix in ["", "-wal"] where manager.fileExists(atPath: path + suffix) {
      try manager.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
  }

  private func restore(_ node: SimulatedNode) async throws {
    nodeCount += 1
    let path = "\(folder)/restored\(nodeCount).db"
    try Self.copyStore(backup(of: node), to: path)
    let restored = SimulatedNode(
      name: node.name + "'", Connections(path: path), await makeRemote(), seed: random.next())
    restored.clock = node.clock
    restored.asksForParts = node.asksForParts
    // The backup may be from before the nodes moved to another server, so it is connected again.
    try await restored.connect(to: server, isNewRemote: true)
    if let place = nodes.firstIndex(where: { $0 === node }) { nodes[place] = restored }
    lostByRestore = true
    mayLackContents = true
  }

  private func moveToAnotherServer() async throws {
    log("all move to another server")
    server = try makeHost(serverCount)
    serverCount += 1
    mayLackContents = true
    tombstones = []
    heldBefore = []
    for place in nodes.indices {
      let old = nodes[place]
      let moved = SimulatedNode(name: old.name, old.connections, await makeRemote(), seed: random.next())
      moved.clock = old.clock
      moved.asksForParts = old.asksForParts
      nodes[place] = moved
      try await moved.connect(to: server, isNewRemote: true)
    }
    try await forgetLostItems()
  }

  /// Marks words of the `Ledger` and readings as lost if a restore replaced their only copy. They are then
  /// in no store and not on the server.
  func forgetLostItems() async throws {
    var words: Set<String> = []
    for record in try await server.everything().records { words.formUnion(record.state.words) }
    for node in nodes {
      for record in try node.records().values { words.formUnion(record.state.words) }
      for conflict in try node.conflicts() { words.formUnion(conflict.theirs.words) }
    }
    ledger.keepOnly(words)
    var readings: Set<String> = []
    for node in nodes { readings.formUnion(try node.identities()) }
    owedReadings.formIntersection(readings)
  }

  func forgetItemsLostByRestore() async throws {
    if lostByRestore {
      lostByRestore = false
      try await forgetLostItems()
    }
  }
}
