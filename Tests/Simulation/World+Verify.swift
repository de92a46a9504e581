// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Sync

extension World {
  /// Compares a node with the server and sometimes fixes differences. A fix must not replace edits. The
  /// server may lack acknowledged items only if it was restored.
  func verify(_ node: SimulatedNode) async throws {
    // `verify` needs the lock of the upload, so no upload may be running.
    guard kind == .server, node.session == nil,
      let session = VerifySession(try node.sync(), node.way, named: "simulation")
    else { return }
    before = try node.records()
    let isFixing = random.once(in: 2)
    do {
      try await session.compare()
      if isFixing { try session.fix(at: node.clock) }
    } catch let error as ServiceError {
      return log("\(node.name) cannot compare: \(error)")
    } catch let failure as Failure where failure.category == .temporary {
      return log("\(node.name) has nothing to compare")
    }
    node.forgetRead()
    log("\(node.name) compares: \(session.summary.differences) differences\(isFixing ? ", fixed" : "")")
    let missing =
      (session.summary.readings[.missingOnRemote] ?? 0) + (session.summary.records[.missingOnRemote] ?? 0)
    if !isServerRestored, missing > 0 {
      throw Broken("\(node.name): a comparison misses what the server has")
    }
    try checkNothingOverwritten(node)
  }

  /// Checks that a comparison finds no difference after all nodes have synced.
  func checkNoDifference(_ node: SimulatedNode) async throws {
    let way = try site?.observer().convertingTimes(in: node.sync().compare { try $0.timezone() }) ?? node.way
    guard let session = VerifySession(try node.sync(), way, named: "simulation") else { return }
    do {
      try await session.compare()
    } catch let error as ServiceError where error == .nodeReused {
      // Two copies of a store still have the same node id. An upload changes the id of one of them.
      _ = try await uploadFindsNothing(node)
      try await session.compare()
    }
    let summary = session.summary
    // Another store may have hidden a record and removed it from the site, while this store shows it with
    // other content.
    let isExplained =
      try kind == .site && summary.listed.count == summary.differences
      && summary.listed.allSatisfy { difference in
        guard difference.kind == .missingOnRemote, case .record(_, let guid, _) = difference.item else {
          return false
        }
        return try differsWhileHidden(guid)
      }
    guard summary == VerifySummary() || isExplained else {
      throw Broken("\(node.name): at rest a comparison finds \(summary)")
    }
  }
}
