// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests that the order in which pending records are sent does not change the result.
@Suite struct SendOrderTests {
  /// The final records on the server and in both nodes, with counts of accepted changes, pending records and
  /// conflicts.
  private struct Outcome: Equatable {
    var accepted = 0
    var server: [String: RecordState] = [:]
    var nodes: [[String: RecordState]] = []
    var pending = 0
    var conflicts = 0
  }

  private static func guid(_ entry: Int, _ child: Int = 0) -> String {
    "\(entry)000000\(child)-0000-4000-8000-000000000000"
  }

  /// Adds entries with records. Then edits some of them, moves one, and deletes an entry with its records.
  private static func fill(_ node: SimulatedNode) throws {
    let editor = try node.editor()
    for entry in 1...5 {
      for child in 0...3 {
        var draft = RecordDraft(
          kind: .note, at: DeviceTime(seconds: Int64(entry * 100 + child)),
          placement: Placement(utcOffset: 3600, source: .zone),
          fields: RecordFields(["a": .text("\(entry) \(child)")]))
        draft.entryGuid = child == 0 ? nil : guid(entry)
        _ = try editor.add(draft, guid: guid(entry, child))
      }
    }
    for child in 0...1 { try node.edit(guid(2, child), "a", "edited") }
    _ = try editor.edit(guid(3, 1)) { $0.entryGuid = guid(4) }
    try node.delete(guid(5))
    try node.delete(guid(1, 2))
  }

  /// Sends each change in a separate request and returns the final state.
  ///
  /// - Parameter order: sorts the changes into the order in which they are sent.
  private func outcome(_ order: ([RecordChange]) -> [RecordChange]) async throws -> Outcome {
    let scene = try await Scene()
    try Self.fill(scene.a)
    let guids = try scene.a.records().keys.sorted()
    let node = try #require(try scene.a.sync().remote()).node
    let (changes, run) = try scene.a.sync().sync { store in
      let run = try store.beginRun(id: "00000000-0000-4000-8000-000000000001")
      let changes = try guids.map { try store.prepare(try #require(try store.record($0)), node: node) }
      return (changes, run)
    }
    #expect(changes.count == 20)
    var outcome = Outcome()
    for change in order(changes) {
      let verdict = try await scene.a.remote.apply([change], run).verdicts.first
      if case .accepted? = verdict { outcome.accepted += 1 }
    }
    // The server already has all changes. This upload gets the answers to them.
    try await scene.upload(scene.a, scene.b)
    for record in try await scene.server.everything().records { outcome.server[record.guid] = record.state }
    for node in [scene.a, scene.b] {
      outcome.nodes.append(try node.records().mapValues(\.state))
      outcome.pending += try node.records().values.count(where: \.isPending)
      outcome.conflicts += try node.resolver().conflicts().count
    }
    return outcome
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func uploadsInAnyOrderGiveTheSameResult(seed: UInt64) async throws {
    let ordered = try await outcome { changes in
      changes.filter { $0.state.entryGuid == nil } + changes.filter { $0.state.entryGuid != nil }
    }
    #expect(ordered.accepted == 20 && ordered.server.count == 20)
    #expect(ordered.pending == 0 && ordered.conflicts == 0)
    #expect(ordered.server.values.count(where: \.isDeleted) == 5)
    var random = SeededGenerator(seed: seed)
    let shuffled = try await outcome { $0.shuffled(using: &random) }
    #expect(shuffled == ordered, "seed \(seed)")
  }

  @Test func recordsAreSentInTheOrderOfTheirFirstEdit() async throws {
    let scene = try await Scene()
    let guids = ["9", "1", "5", "0", "7"].map { "\($0)0000000-0000-4000-8000-000000000000" }
    for guid in guids {
      let draft = RecordDraft(
        kind: .note, at: DeviceTime(seconds: 1000), placement: Placement(utcOffset: 3600, source: .zone),
        fields: RecordFields(["a": .text(guid)]))
      _ = try scene.a.editor().add(draft, guid: guid)
    }
    // A pending record keeps its position in the queue if it is edited again.
    try scene.a.edit(guids[1], "a", "later")
    let child = try scene.a.add(["a": "child"], to: guids[0])
    let order = try scene.a.sync().sync { store in
      try [PushPhase.entries, .children].flatMap {
        try store.pendingRecords($0, limit: 100, heldBack: []).map(\.guid)
      }
    }
    #expect(order.filter { $0 != LogbookZones.baseGuid } == guids + [child])
    try await scene.upload(scene.a)
    let held = try await scene.server.everything().records.map(\.guid)
    #expect(Set(held).isSuperset(of: guids + [child]))
    // A record that was already sent and is edited again goes to the end of the queue.
    try scene.a.edit(guids[0], "a", "again")
    try scene.a.edit(guids[3], "a", "again")
    try scene.a.edit(guids[2], "a", "again")
    let again = try scene.a.sync().sync {
      try $0.pendingRecords(.entries, limit: 2, heldBack: []).map(\.guid)
    }
    #expect(again == [guids[0], guids[3]])
  }
}
