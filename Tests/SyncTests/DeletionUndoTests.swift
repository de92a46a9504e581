// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests deletions that the person who made them undoes.
@Suite(.timeLimit(.minutes(5)))
struct DeletionUndoTests {
  @Test(arguments: [false, true])
  func anUndoneDeletionRestoresTheRecordOnEveryStore(_ isSynced: Bool) async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["text": "soup"])
    try await scene.upload(scene.a, scene.b)
    _ = try scene.a.editor().delete(guid)
    if isSynced {
      try await scene.upload(scene.a, scene.b)
      #expect(try scene.b.records()[guid]?.state.isDeleted == true)
    }
    let store = try scene.a.editing()
    guard case .action(let action)? = try store.nextStep(.undo) else {
      Issue.record("there is no action")
      return
    }
    #expect(try store.apply(.undo, to: action, at: scene.a.clock).changed == [guid])
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      let record = try #require(try node.records()[guid])
      #expect(!record.state.isDeleted && record.state.fields["text"] == .text("soup"))
      #expect(try node.sync().overview(ingests: 0).conflicts == 0)
    }
  }

  /// Another person edited the record meanwhile, so a person must compare the versions and decide.
  @Test func undoingADeletionConflictsWithAnEditOfAnotherStore() async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["text": "soup"])
    try await scene.upload(scene.a, scene.b)
    _ = try scene.a.editor().delete(guid)
    _ = try scene.b.editor().edit(guid) { $0.fields["text"] = .text("bread") }
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.sync().overview(ingests: 0).conflicts == 1)
  }
}
