// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests that the upload after a failed upload completes the work, wherever the failure occurred. Nothing is
/// lost or duplicated.
@Suite struct FaultTests {
  enum Failing: CaseIterable { case lostRequest, lostAnswer, server, busy }

  @Test(arguments: Failing.allCases)
  func aRemoteThatFailsAtAnyRequestLosesNothing(failing: Failing) async throws {
    let scene = try await Scene()
    let work = Work(scene, shared: try await scene.sharedNote())
    for request in 0..<20 {
      try await work.prepare(round: request)
      await scene.a.remote.forgetRequests()
      await fail(failing, at: request, scene.a.remote)
      try await scene.a.upload()
      let isReached = await scene.a.remote.requests.count > request
      await scene.a.remote.forgetScript()
      try await work.check(round: request)
      if !isReached { return }
    }
    Issue.record("a run never ends before its twentieth request")
  }

  private func fail(_ failing: Failing, at request: Int, _ remote: FaultyRemote) async {
    for _ in 0..<request { await remote.script(nil) }
    switch failing {
    case .lostRequest: await remote.script(.unavailable("lost"))
    case .lostAnswer: await remote.loseAnswer(after: request)
    case .server: await remote.script(.serverFailure("500"))
    case .busy: await remote.script(.busy("wait", retryAfterSeconds: 1))
    }
  }

  @Test func aStoreThatFailsAtAnySQLStatementLosesNothing() async throws {
    let scene = try await Scene()
    let work = Work(scene, shared: try await scene.sharedNote())
    for place in 1..<300 {
      try await work.prepare(round: place)
      let hasFailed = try await scene.a.failing(.sync, at: place) { _ = try await scene.a.upload() }
      try await work.check(round: place)
      if !hasFailed { return }
    }
    Issue.record("a run never ends before its three hundredth statement")
  }
}

/// Makes changes in two stores and checks the result after a failure.
private final class Work {
  private let scene: Scene
  private let shared: String
  private var records: Set<String>
  private var readings = 0

  init(_ scene: Scene, shared: String) {
    self.scene = scene
    self.shared = shared
    records = [shared]
  }

  /// Imports readings into both stores, adds an entry with two records, and edits different fields of one
  /// record in both stores.
  func prepare(round: Int) async throws {
    let place = Int64(round) * 10
    try scene.a.importReadings(place..<place + 3)
    try scene.b.importReadings(place + 5..<place + 7)
    readings += 5
    let entry = try scene.a.add(["a": "\(round)"])
    for _ in 0..<2 { records.insert(try scene.a.add(["a": "child"], to: entry)) }
    records.formUnion([entry, try scene.b.add(["b": "\(round)"])])
    try scene.b.edit(shared, "b", "theirs \(round)")
    try await scene.upload(scene.b)
    try scene.a.edit(shared, "a", "mine \(round)")
  }

  func check(round: Int) async throws {
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.conflicts == 0, "round \(round)")
    try await scene.upload(scene.b)
    let held = try await scene.server.everything()
    #expect(held.readings == readings && Set(held.records.map(\.guid)) == records, "round \(round)")
    for node in [scene.a, scene.b] {
      #expect(try node.text(shared, "a") == "mine \(round)" && node.text(shared, "b") == "theirs \(round)")
      #expect(try node.records().values.allSatisfy { !$0.isPending && !$0.isConflicted }, "round \(round)")
      #expect(try Set(node.records().keys) == records && node.pendingReadings() == 0, "round \(round)")
    }
  }
}
