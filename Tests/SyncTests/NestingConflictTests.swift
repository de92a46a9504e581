// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests two entries that contain each other. One person moved the first entry into the second, while another
/// person moved the second entry into the first. Also tests how a third store handles such entries.
@Suite(.timeLimit(.minutes(10))) struct NestingConflictTests {
  private func move(_ guid: String, into entry: String?, _ node: SimulatedNode) throws {
    _ = try node.editor().edit(guid) { $0.entryGuid = entry }
  }

  /// The records of a node that are not deleted and that are nested in a circle or more than one level deep.
  private func misplaced(_ node: SimulatedNode) throws -> [String] {
    let records = try node.records().filter { !$0.value.state.isDeleted }
    return records.values.filter { record in
      guard let entry = record.state.entryGuid else { return false }
      return entry == record.guid || records[entry]?.state.entryGuid != nil
    }.map(\.guid)
  }

  /// Makes two entries that contain each other on the server. Only the two nodes that moved the entries have
  /// pulled both moves.
  private func circle() async throws -> (scene: Scene, x: String, y: String) {
    let scene = try await Scene()
    let (x, y) = (try await scene.sharedNote(), try await scene.sharedNote())
    try move(x, into: y, scene.a)
    try move(y, into: x, scene.b)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try await scene.held(x)?.entryGuid == y)
    #expect(try await scene.held(y)?.entryGuid == x)
    return (scene, x, y)
  }

  @Test(arguments: [1, 1000]) func aThirdStoreThatDownloadsTwoEntriesInsideEachOtherHasOneConflict(page: Int)
    async throws
  {
    let (scene, x, y) = try await circle()
    let third = try await scene.another(seed: 9)
    await third.remote.setPage(page)
    let (ending, summary) = try await third.upload()
    #expect(ending == .complete && summary.conflicts == 1)
    #expect(try misplaced(third).isEmpty)
    #expect(try third.resolver().conflicts().map(\.guid) == [y], "that of X came first")
    let kept = try third.record(y)
    #expect(kept.state.entryGuid == nil && !kept.isPending && kept.state.fields["a"] == .text("1"))
    // The third store does not send Y while its conflict is unresolved. In this store, Y is outside of X, so
    // a deletion of X does not delete Y.
    #expect(try await third.upload().summary == UploadSummary())
    try third.delete(x)
    #expect(try !third.record(y).state.isDeleted)
  }

  @Test func aNestingConflictDecidedInOneStoreEndsInTheThirdStore() async throws {
    let (scene, x, y) = try await circle()
    let third = try await scene.another(seed: 9)
    try await scene.upload(third)
    // The resolution makes X an entry outside of Y again, so that Y can belong to X.
    try scene.b.resolve(x, .mine)
    try await scene.upload(scene.b, third, scene.a)
    for node in [scene.a, scene.b, third] {
      #expect(try node.resolver().conflicts().isEmpty)
      #expect(try node.record(x).state.entryGuid == nil && node.record(y).state.entryGuid == x)
      #expect(try !node.record(x).isPending && !node.record(y).isPending)
    }
  }

  @Test(arguments: [Resolution.mine, .theirs])
  func anyStoreCanDecideANestingConflict(_ resolution: Resolution) async throws {
    let (scene, x, y) = try await circle()
    let third = try await scene.another(seed: 9)
    try await scene.upload(third)
    if resolution == .theirs {
      #expect { try third.resolve(y, .theirs) } throws: { ($0 as? Failure)?.category == .usage }
      try move(x, into: nil, third)
    }
    try third.resolve(y, resolution)
    try await scene.upload(third, scene.a, scene.b, third)
    #expect(try misplaced(third).isEmpty)
    #expect(try await scene.held(y)?.entryGuid == (resolution == .theirs ? x : nil))
    #expect(try third.resolver().conflicts().isEmpty)
  }

  /// One person moves the entry `middle` into the entry `top`, while another person adds a record to
  /// `middle`. A third store receives both changes.
  @Test(arguments: [1, 2, 1000]) func tooDeepNestingIsAConflictForTheFirstStoreThatSeesIt(page: Int)
    async throws
  {
    let scene = try await Scene()
    let (top, middle) = (try await scene.sharedNote(), try await scene.sharedNote())
    try move(middle, into: top, scene.a)
    _ = try scene.b.add(["a": "low"], to: middle)
    try await scene.upload(scene.b, scene.a)
    let third = try await scene.another(seed: 9)
    await third.remote.setPage(page)
    try await scene.upload(third)
    #expect(try misplaced(third).isEmpty && third.records().count == 3)
    #expect(try third.resolver().conflicts().count == 1)
  }

  /// The entries would contain each other only between two changes of one page. This is not a conflict.
  @Test(arguments: [1, 1000]) func entriesThatContainEachOtherOnlyTemporarilyAreNotAConflict(page: Int)
    async throws
  {
    let scene = try await Scene()
    let (x, y) = (try await scene.sharedNote(), try await scene.sharedNote())
    let child = try scene.a.add(["a": "child"], to: x)
    try await scene.upload(scene.a, scene.b)
    await scene.b.remote.setPage(page)
    // The child leaves X, then X moves into Y. The later edit of the child makes the server list the child
    // after X.
    try move(child, into: nil, scene.a)
    try await scene.upload(scene.a)
    try move(x, into: y, scene.a)
    try await scene.upload(scene.a)
    try scene.a.edit(child, "a", "alone")
    try await scene.upload(scene.a)
    let (_, summary) = try await scene.b.upload()
    #expect(try scene.b.resolver().conflicts().isEmpty && summary.conflicts == 0)
    #expect(summary.pulledRecords >= 2)
    #expect(try scene.b.record(x).state.entryGuid == y && scene.b.record(child).state.entryGuid == nil)
  }

  /// The third store did not edit the entry, so it adopts a later decision of another store.
  @Test(arguments: [true, false]) func aLaterValidNestingEndsANestingConflict(isDeleted: Bool) async throws {
    let (scene, _, y) = try await circle()
    let third = try await scene.another(seed: 9)
    try await scene.upload(third)
    #expect(try third.record(y).isConflicted)
    if isDeleted { try scene.b.delete(y) } else { try move(y, into: nil, scene.b) }
    try await scene.upload(scene.b, third)
    #expect(try !third.record(y).isConflicted && third.record(y).state.isDeleted == isDeleted)
    // If the third store has edited the entry as well, a person must decide there.
    let fourth = try await circle()
    let other = try await fourth.scene.another(seed: 9)
    try await fourth.scene.upload(other)
    try other.edit(fourth.y, "a", "mine")
    try move(fourth.y, into: nil, fourth.scene.b)
    try fourth.scene.b.edit(fourth.y, "a", "theirs")
    try await fourth.scene.upload(fourth.scene.b, other)
    #expect(try other.record(fourth.y).isConflicted && other.text(fourth.y, "a") == "mine")
  }

  /// Three stores move records and sync in random order.
  @Test(arguments: Seeds.share(of: Seeds.first(12), every: 3))
  func inAnyOrderOfMovesNestingStaysValidAndDecisionsEndAllConflicts(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let scene = try await Scene()
    let guids = try (0..<4).map { _ in try scene.a.add(["a": "1"]) }
    try await scene.upload(scene.a, scene.b)
    let third = try await scene.another(seed: 9)
    if Bool.random(using: &random) { try await scene.upload(third) }
    let nodes = [scene.a, scene.b, third]
    for _ in 0..<Int.random(in: 3...10, using: &random) {
      let node = nodes[Int.random(in: 0..<3, using: &random)]
      await node.remote.setPage(Int.random(in: 1...4, using: &random))
      let (guid, entry) = (guids.randomElement(using: &random), guids.randomElement(using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try await scene.upload(node)
      default:
        guard let guid, let entry, try node.records()[guid] != nil else { continue }
        do {
          try move(guid, into: Bool.random(using: &random) ? entry : nil, node)
        } catch let failure as Failure where [.usage, .missingInput].contains(failure.category) {
          // The command refuses such a move, since it would nest entries too deep.
        }
      }
      for node in nodes { #expect(try misplaced(node).isEmpty, "seed \(seed)") }
    }
    // In turn, the person of each store resolves its conflicts, and every node syncs.
    for round in 0..<12 {
      for node in nodes { try await scene.upload(node) }
      for node in nodes { #expect(try misplaced(node).isEmpty, "seed \(seed)") }
      let node = nodes[round % 3]
      for conflict in try node.resolver().conflicts() {
        try node.resolve(conflict.guid, .mine)
      }
    }
    for _ in 0..<3 { for node in nodes { try await scene.upload(node) } }
    let held = try await scene.server.everything().records.filter { guids.contains($0.guid) }
    #expect(held.count == 4)
    for node in nodes {
      #expect(try node.resolver().conflicts().isEmpty && misplaced(node).isEmpty, "seed \(seed)")
      for record in held {
        #expect(try node.record(record.guid).state.agrees(with: record.state), "seed \(seed)")
      }
    }
  }
}
