// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests conflicts that two people resolve, and conflicts about entries that would contain each other.
@Suite struct ConflictResolutionSyncTests {
  /// Makes a conflict in both nodes: one node deletes an entry while the other node adds a record to it.
  private func orphaned() async throws -> (scene: Scene, entry: String, child: String) {
    let scene = try await Scene()
    let entry = try await scene.sharedNote()
    let child = try scene.b.add(["a": "child"], to: entry)
    try scene.a.delete(entry)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try node.resolver().conflicts().map(\.guid) == [entry])
    }
    return (scene, entry, child)
  }

  @Test(arguments: [true, false]) func oppositeResolutionsOfAConflictCauseAnotherConflict(restoresFirst: Bool)
    async throws
  {
    let (scene, entry, child) = try await orphaned()
    let (first, second) = restoresFirst ? (scene.a, scene.b) : (scene.b, scene.a)
    try first.resolve(entry, restoresFirst ? .theirs : .mine)
    try second.resolve(entry, restoresFirst ? .mine : .theirs)
    try await scene.upload(first, second, first)
    #expect(try second.record(entry).isConflicted)
    #expect(try second.record(entry).state.isDeleted == restoresFirst)
    #expect(try second.resolver().conflicts().map(\.guid) == [entry])
    #expect(try first.record(child).state.isDeleted)
    // The second person has received the first person's resolution, and resolves the conflict that it caused.
    try second.resolve(entry, .theirs)
    try await scene.upload(second, first, second)
    for node in [first, second] {
      #expect(try node.record(entry).state.isDeleted == !restoresFirst)
      #expect(try node.resolver().conflicts().isEmpty)
    }
  }

  @Test(arguments: [Resolution.mine, .theirs]) func equalResolutionsOfAConflictInTwoStoresEndIt(
    _ resolution: Resolution
  )
    async throws
  {
    let (scene, entry, child) = try await orphaned()
    try scene.a.resolve(entry, resolution)
    try scene.b.resolve(entry, resolution)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try node.resolver().conflicts().isEmpty)
      #expect(try node.record(entry).state.isDeleted == (resolution == .mine))
      #expect(try node.record(child).state.isDeleted == (resolution == .mine))
      #expect(try !node.record(entry).isPending && !node.record(child).isPending)
    }
  }

  @Test(arguments: [Resolution.mine, .theirs]) func aConflictResolvedInOneStoreIsResolvedInAll(
    _ resolution: Resolution
  )
    async throws
  {
    let (scene, entry, child) = try await orphaned()
    try scene.b.resolve(entry, resolution)
    try await scene.upload(scene.b, scene.a, scene.b)
    for node in [scene.a, scene.b] {
      #expect(try node.resolver().conflicts().isEmpty)
      #expect(try node.record(entry).state.isDeleted == (resolution == .mine))
      #expect(try node.record(child).state.isDeleted == (resolution == .mine))
    }
  }

  /// On the remote, the entry was edited and got a record. In store a, the entry was deleted. This is one
  /// conflict, which one resolution ends.
  @Test(arguments: [Resolution.mine, .theirs])
  func aDeletedEntryThatWasEditedAndGotARecordIsOneConflict(_ resolution: Resolution) async throws {
    let scene = try await Scene()
    let entry = try await scene.sharedNote()
    try scene.b.edit(entry, "a", "theirs")
    let child = try scene.b.add(["a": "child"], to: entry)
    try await scene.upload(scene.b)
    try scene.a.delete(entry)
    let (_, summary) = try await scene.a.upload()
    #expect(summary.conflicts == 1)
    #expect(try scene.a.resolver().conflicts().count == 1)
    try scene.a.resolve(entry, resolution)
    #expect(try scene.a.resolver().conflicts().isEmpty)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try node.resolver().conflicts().isEmpty)
      #expect(try node.record(entry).state.isDeleted == (resolution == .mine))
      #expect(try node.record(child).state.isDeleted == (resolution == .mine))
    }
  }

  private func move(_ guid: String, into entry: String?, _ node: SimulatedNode) throws {
    _ = try node.editor().edit(guid) { $0.entryGuid = entry }
  }

  @Test func entriesThatWouldContainEachOtherAreAConflict() async throws {
    let scene = try await Scene()
    let (x, y) = (try await scene.sharedNote(), try await scene.sharedNote())
    try move(x, into: y, scene.a)
    try move(y, into: x, scene.b)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try scene.a.resolver().conflicts().map(\.guid) == [y])
    #expect(try scene.b.resolver().conflicts().map(\.guid) == [x])
    #expect(try scene.a.record(y).state.entryGuid == nil && scene.b.record(x).state.entryGuid == nil)
    // In store a, Y was not moved into X. So if X is deleted, Y remains.
    try scene.a.delete(x)
    #expect(try !scene.a.record(y).state.isDeleted)
  }

  @Test func aResolutionThatWouldNestEntriesInEachOtherIsRefused() async throws {
    let scene = try await Scene()
    let (x, y) = (try await scene.sharedNote(), try await scene.sharedNote())
    try move(x, into: y, scene.a)
    try move(y, into: x, scene.b)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect { try scene.a.resolve(y, .theirs) } throws: { ($0 as? Failure)?.category == .usage }
    #expect(try scene.a.record(y).isConflicted)
    try scene.a.resolve(y, .mine)
    try await scene.upload(scene.a, scene.b)
    // Store b has not edited X. After the decision about Y, nothing prevents it from adopting the move of X
    // into Y.
    #expect(try !scene.b.record(x).isConflicted)
    try await scene.upload(scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try node.resolver().conflicts().isEmpty)
      #expect(try node.record(x).state.entryGuid == y && node.record(y).state.entryGuid == nil)
    }
  }

  @Test func nestingDeeperThanTheCommandLinePermitsIsAConflict() async throws {
    let scene = try await Scene()
    let (top, middle, low) = (
      try await scene.sharedNote(), try await scene.sharedNote(), try await scene.sharedNote()
    )
    try move(middle, into: top, scene.a)
    try move(low, into: middle, scene.b)
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try scene.a.resolver().conflicts().map(\.guid) == [low])
    #expect(try scene.b.resolver().conflicts().map(\.guid) == [middle])
  }

  @Test func movingARecordToAnotherEntryIsNotAConflict() async throws {
    let scene = try await Scene()
    let (one, other) = (try await scene.sharedNote(), try await scene.sharedNote())
    let child = try scene.a.add(["a": "child"], to: one)
    try await scene.upload(scene.a, scene.b)
    try move(child, into: other, scene.b)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.record(child).state.entryGuid == other)
    #expect(try scene.a.resolver().conflicts().isEmpty)
  }
}
