// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests every combination of a local change, a remote change and a base that is equal to the remote version
/// or older.
@Suite struct ConflictMatrixTests {
  enum Local: CaseIterable { case edit, delete, resolve }
  enum Remote: CaseIterable { case editsSameField, editsOtherField, editsEqually, delete, none }

  /// All pairs of a local and a remote change, except one: a record that the remote deleted has no conflict
  /// that can be resolved.
  static let pairs = Local.allCases.flatMap { local in Remote.allCases.map { (local, $0) } }
    .filter { $0 != (.resolve, .delete) }

  /// The node pulls the remote change before it makes its own change, so its base equals the version on the
  /// server.
  @Test(arguments: pairs)
  func anEditOfTheVersionOnTheServerIsNeverAConflict(local: Local, remote: Remote) async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try perform(remote, on: scene.b, guid)
    try await scene.upload(scene.b, scene.a)
    let isDeleted = remote == .delete
    if local == .resolve {
      try await putInConflict(scene, guid)
      try scene.a.resolve(guid, .mine)
    } else if !isDeleted {
      try local == .delete ? scene.a.delete(guid) : scene.a.edit(guid, "a", "mine")
    }
    let mine = try scene.a.record(guid).state
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete)
    #expect(summary.conflicts == 0)
    #expect(try await scene.held(guid)?.agrees(with: mine) == true)
    try await scene.b.upload()
    #expect(try scene.b.record(guid).state.agrees(with: mine))
  }

  @Test(arguments: Remote.allCases)
  func anEditOfAnOlderVersionIsMergedOrBothVersionsAreKept(remote: Remote) async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try perform(remote, on: scene.b, guid)
    try await scene.upload(scene.b)
    try scene.a.edit(guid, "a", remote == .editsEqually ? "theirs" : "mine")
    try await scene.upload(scene.a)
    let record = try scene.a.record(guid)
    switch remote {
    case .editsSameField, .delete:
      #expect(record.isConflicted)
      #expect(try scene.a.text(guid, "a") == "mine")
      #expect(try scene.a.resolver().conflicts().map(\.theirs.isDeleted) == [remote == .delete])
    case .editsOtherField:
      #expect(try scene.a.text(guid, "a") == "mine" && scene.a.text(guid, "b") == "theirs")
      try await scene.upload(scene.b)
      #expect(try scene.b.record(guid).state == record.state)
    case .editsEqually, .none:
      #expect(!record.isConflicted && !record.isPending)
    }
  }

  @Test(arguments: Remote.allCases)
  func aDeletionOfAnOlderVersionConflictsUnlessBothSidesDeleted(remote: Remote) async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try perform(remote, on: scene.b, guid)
    try await scene.upload(scene.b)
    try scene.a.delete(guid)
    try await scene.upload(scene.a, scene.b)
    let record = try scene.a.record(guid)
    #expect(record.state.isDeleted)
    switch remote {
    case .delete, .none:
      #expect(!record.isConflicted && !record.isPending)
      #expect(try scene.b.record(guid).state.isDeleted)
    case .editsSameField, .editsOtherField, .editsEqually:
      #expect(record.isConflicted)
      #expect(try !scene.b.record(guid).state.isDeleted)
    }
  }

  /// The remote changes the record again before the person's resolution is uploaded.
  @Test(arguments: Remote.allCases)
  func aConflictResolutionOfAnOlderVersionIsHandledLikeAnEdit(remote: Remote) async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try await putInConflict(scene, guid)
    try scene.a.resolve(guid, .mine)
    switch remote {
    case .editsEqually: try scene.b.edit(guid, "a", "mine")
    default: try perform(remote, on: scene.b, guid)
    }
    try await scene.upload(scene.b, scene.a)
    let record = try scene.a.record(guid)
    #expect(try scene.a.text(guid, "a") == "mine")
    #expect(record.isConflicted == (remote == .editsSameField || remote == .delete))
    if !record.isConflicted { #expect(!record.isPending) }
  }

  @Test func anEditOfARecordInConflictIsKeptAndTheConflictStays() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    try await putInConflict(scene, guid)
    try scene.a.edit(guid, "a", "later")
    try await scene.upload(scene.a)
    #expect(try scene.a.record(guid).isConflicted)
    #expect(try scene.a.text(guid, "a") == "later")
    try scene.a.resolve(guid, .mine)
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.text(guid, "a") == "later")
  }

  private func perform(_ remote: Remote, on node: SimulatedNode, _ guid: String) throws {
    switch remote {
    case .editsSameField: try node.edit(guid, "a", "their next")
    case .editsEqually: try node.edit(guid, "a", "theirs")
    case .editsOtherField: try node.edit(guid, "b", "theirs")
    case .delete: try node.delete(guid)
    case .none: break
    }
  }

  private func putInConflict(_ scene: Scene, _ guid: String) async throws {
    try scene.b.edit(guid, "a", "there")
    try await scene.upload(scene.b)
    try scene.a.edit(guid, "a", "mine")
    try await scene.upload(scene.a)
    #expect(try scene.a.record(guid).isConflicted)
  }
}
