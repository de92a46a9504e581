// SPDX-License-Identifier: Apache-2.0

import Logbook
import Sync

extension World {
  /// Compares a node with the server, and makes up for differences now and then. Nothing that people wrote is replaced,
  /// and what the server acknowledged is missing there only where it was put back.
  func verify(_ node: SimulatedNode) async throws {
    // An upload holds the lock to its end.
    guard kind == .server, node.session == nil,
      let session = VerifySession(try node.sync(), node.way, named: "simulation")
    else { return }
    before = try node.records()
    let isFixing = random.once(in: 2)
    do {
      try await session.compare()
      if isFixing { try session.fix(at: node.clock) }
    } catch let error as ServiceError {
      return say("\(node.name) cannot compare: \(error)")
    } catch let failure as Failure where failure.category == .temporary {
      return say("\(node.name) has nothing to compare")
    }
    node.forgetRead()
    say("\(node.name) compares: \(session.summary.differences) differences\(isFixing ? ", fixed" : "")")
    let missing =
      (session.summary.readings[.missingThere] ?? 0) + (session.summary.records[.missingThere] ?? 0)
    if !isServerRestored, missing > 0 {
      throw Broken("\(node.name): a comparison misses what the server has")
    }
    try checkNothingOverwritten(node)
  }

  /// Whoever is at rest finds no difference.
  func checkNoDifference(_ node: SimulatedNode) async throws {
    guard kind == .server, let session = VerifySession(try node.sync(), node.way, named: "simulation") else {
      return
    }
    do {
      try await session.compare()
    } catch let error as ServiceError where error == .nodeReused {
      // A copy of its store went on under its id. An upload gives one of them its own id.
      _ = try await uploadFindsNothing(node)
      try await session.compare()
    }
    guard session.summary == VerifySummary() else {
      throw Broken("\(node.name): at rest a comparison finds \(session.summary)")
    }
  }
}
