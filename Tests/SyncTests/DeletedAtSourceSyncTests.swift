// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests that a record which its source deleted is hidden in every store, whichever store imported which
/// export.
@Suite struct DeletedAtSourceSyncTests {
  private static let guid = Digest.uuid(of: ["record", "test", "row"])

  private func isShown(_ node: SimulatedNode) throws -> Bool {
    try node.shownRecords().contains(Self.guid)
  }

  @Test(arguments: [false, true])
  func aDeletionThatOneStoreImportsHidesTheRecordInTheOther(_ isFirst: Bool) async throws {
    let scene = try await Scene()
    if !isFirst {
      try scene.a.importDiary(carbs: 30, generatedAt: 5)
      try await scene.upload(scene.a, scene.b)
    }
    try scene.b.importDiary(carbs: 30, generatedAt: 6) { $0.isDeletedAtSource = true }
    try await scene.upload(scene.b, scene.a)
    if isFirst { try scene.a.importDiary(carbs: 30, generatedAt: 5) }
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try !isShown(node) && node.sync().overview(ingests: 0).conflicts == 0)
    }
    // A later export that the first store imports shows the record again in both stores.
    try scene.a.importDiary(carbs: 30, generatedAt: 7)
    try await scene.upload(scene.a, scene.b)
    #expect(try isShown(scene.a) && isShown(scene.b))
  }

  @Test func theSameDeletionAtTheSourceImportedInTwoStoresIsNotAConflict() async throws {
    let scene = try await Scene()
    for node in [scene.a, scene.b] {
      try node.importDiary(carbs: 30, generatedAt: 6) { $0.isDeletedAtSource = true }
    }
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try !isShown(node) && node.sync().overview(ingests: 0).conflicts == 0)
    }
  }

  @Test func aRecordDeletedAtItsSourceStaysVisibleAfterAnEditInAnotherStore() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try await scene.upload(scene.a, scene.b)
    try scene.a.edit(Self.guid, "text", "soup")
    try scene.b.importDiary(carbs: 30, generatedAt: 6) { $0.isDeletedAtSource = true }
    #expect(try !isShown(scene.b))
    try await scene.upload(scene.a, scene.b, scene.a)
    #expect(try isShown(scene.a) && isShown(scene.b))
  }

  @Test func undoOfADeletionAtTheSourceShowsTheRecordInBothStores() async throws {
    let scene = try await Scene()
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try await scene.upload(scene.a, scene.b)
    try scene.b.importDiary(carbs: 30, generatedAt: 6) { $0.isDeletedAtSource = true }
    try await scene.upload(scene.b, scene.a)
    let own = try #require(try scene.b.imports().last)
    _ = try scene.b.undo(own)
    // Only the first store knows that its import has the record, too.
    try await scene.upload(scene.b, scene.a, scene.b)
    #expect(try isShown(scene.a) && isShown(scene.b))
    _ = try scene.b.redo(own)
    try await scene.upload(scene.b, scene.a)
    #expect(try !isShown(scene.a) && !isShown(scene.b))
  }
}
