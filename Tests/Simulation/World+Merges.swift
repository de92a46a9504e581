// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// Simulates merges of two stores of one person that sync with the same server.
extension World {
  /// Merges the store of another node into the store of `node`, as `import other.db` does.
  func merge(_ node: SimulatedNode) throws {
    guard kind == .server, let other = nodes.filter({ $0 !== node }).randomElement(using: &random) else {
      return
    }
    before = try node.records()
    let theirs = try other.records()
    log("\(node.name) merges \(other.name)")
    do {
      _ = try StoreMerge(other.sync(), named: "other", at: node.clock).run(into: node.importer())
    } catch let failure as Failure where failure.category == .configuration {
      return log("  its zone is another one")
    }
    other.forgetRead()
    for (guid, mine) in before {
      guard let theirs = theirs[guid], mayReplace(theirs, mine) else { continue }
      ledger.retire(mine.state.words.subtracting(theirs.state.words))
    }
    owedReadings.formUnion(try node.identities())
    try checkNothingOverwritten(node)
    try checkMerged(node, theirs)
  }

  /// Whether a merge may replace the record `mine`: only imports wrote it, or a person edited it earlier than
  /// the record `theirs`.
  private func mayReplace(_ theirs: SyncRecord, _ mine: SyncRecord) -> Bool {
    mine.isImportedOnly || (mine.state.editedAt ?? 0) <= (theirs.state.editedAt ?? 0)
  }

  /// Checks that the node has each merged record, and each deletion that is later than its own edit. If a
  /// deletion is already the remote side of a conflict, a person must decide.
  private func checkMerged(_ node: SimulatedNode, _ theirs: [String: SyncRecord]) throws {
    let mine = try node.records()
    let deletedAsConflict = Set(try node.conflicts().filter(\.theirs.isDeleted).map(\.guid))
    for (guid, record) in theirs where guid != LogbookZones.baseGuid {
      guard let held = mine[guid] else { throw Broken("\(node.name): it merged no record \(guid)") }
      guard
        held.state.isDeleted || !record.state.isDeleted || deletedAsConflict.contains(guid)
          || (held.state.editedAt ?? 0) > (record.state.editedAt ?? 0)
      else { throw Broken("\(node.name): the merge left the deleted record \(guid)") }
    }
  }
}
