// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import LogbookStore
import ServerStore
import Sync

extension World {
  /// What people wrote and see on a node is still there after a step that was not theirs, unless somebody who saw it
  /// took it away.
  func checkNothingOverwritten(_ node: SimulatedNode, before: [String: SyncRecord]) throws {
    let after = try node.records()
    for (guid, old) in before {
      guard let record = after[guid] else { throw Broken("\(node.name): the record \(guid) is gone") }
      let lost = old.state.words.intersection(ledger.owed(of: guid)).subtracting(record.state.words)
      guard lost.isEmpty else { throw Broken("\(node.name): the edits \(lost) of \(guid) were overwritten") }
      if old.state.isDeleted, !record.state.isDeleted, tombstones.contains(guid) {
        throw Broken("\(node.name): the deleted record \(guid) came back")
      }
    }
  }

  /// Deleted stays deleted, and what a node calls uploaded is there.
  func checkServer() async throws {
    try await settleLosses()
    guard random.once(in: 4) else { return }
    let held = try await server.everything(login)
    for record in held.records {
      if record.state.isDeleted {
        tombstones.insert(record.guid)
      } else if tombstones.contains(record.guid) {
        throw Broken("server: the deleted record \(record.guid) came back")
      }
    }
    guard !isServerRestored else { return }
    let states = Dictionary(uniqueKeysWithValues: held.records.map { ($0.guid, $0) })
    for node in nodes {
      for record in try node.records().values where !record.isPending {
        guard states[record.guid] != nil else {
          throw Broken("\(node.name): \(record.guid) counts as synced, and the server does not have it")
        }
      }
    }
  }

  /// Everybody syncs and decides until a whole round finds nothing to do.
  func comeToRest() async throws {
    try await settleLosses()
    for node in nodes { await node.remote.setWeather(.calm) }
    for _ in 0..<40 {
      var isQuiet = true
      for node in nodes {
        if try await !uploadFindsNothing(node) { isQuiet = false }
        for conflict in try node.resolver.conflicts() {
          isQuiet = false
          // One decision can settle the next: an entry and what belongs to it.
          if try node.resolver.conflicts().contains(conflict) { try resolve(conflict, node) }
        }
      }
      if isQuiet { return }
    }
    throw Broken("the nodes do not come to rest")
  }

  private func uploadFindsNothing(_ node: SimulatedNode) async throws -> Bool {
    node.clock += 86_400
    let before = try node.records()
    node.beginUpload()
    var (ending, summary) = (UploadEnding?.none, UploadSummary())
    for _ in 0..<500 where ending == nil {
      summary = node.session?.summary ?? summary
      ending = try await node.stepUpload()
    }
    try checkNothingOverwritten(node, before: before)
    say("\(node.name) at rest: \(ending.map { "\($0)" } ?? "never ends")")
    return ending == .complete && summary == UploadSummary()
  }

  /// All sides hold the same, and every edit is in it that nobody took away.
  func compare() async throws {
    let held = try await server.everything(login)
    let theirs = try await server.storage.readingDigests(login, observer)
    for node in nodes {
      let mine = try node.sync.sync { try $0.uploadedDigests() }
      guard mine.differing(from: theirs).isEmpty else {
        throw Broken("\(node.name): its readings are not those of the server")
      }
      let records = try node.records()
      guard records.count == held.records.count else {
        throw Broken("\(node.name): it has \(records.count) records, the server \(held.records.count)")
      }
      for record in held.records {
        guard let mine = records[record.guid], mine.state.agrees(with: record.state), !mine.isPending else {
          throw Broken("\(node.name): \(record.guid) is not what the server has")
        }
      }
    }
    let words = held.records.reduce(into: Set<String>()) { $0.formUnion($1.state.words) }
    let lost = ledger.allOwed.subtracting(words)
    guard lost.isEmpty else { throw Broken("the edits \(lost.sorted()) are lost") }
  }

  private var observer: RunStamp {
    RunStamp(
      node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: "ffffffff-ffff-ffff-ffff-ffffffffffff")
  }
}
