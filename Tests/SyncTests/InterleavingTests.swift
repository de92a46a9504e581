// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests two people who edit one record and sync, for every order of their steps.
@Suite struct InterleavingTests {
  enum Step: CaseIterable { case edit, push, pull }

  /// Every way to mix three steps of one person with three steps of another. Each Boolean states who performs
  /// the next step.
  static let orders: [[Bool]] = (0..<64).filter { $0.nonzeroBitCount == 3 }.map { bits in
    (0..<6).map { bits >> $0 & 1 == 1 }
  }

  @Test(arguments: Seeds.share(of: orders, every: 2), [true, false])
  func noInterleavingOfTwoEditorsLosesAnEdit(order: [Bool], isSameField: Bool) async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    var next = [0, 0]
    for isFirst in order {
      let place = isFirst ? 0 : 1
      let node = isFirst ? scene.a : scene.b
      let step = Step.allCases[next[place]]
      next[place] += 1
      switch step {
      case .edit: try node.edit(guid, isFirst || isSameField ? "a" : "b", isFirst ? "mine" : "theirs")
      case .push: try await node.upload { $0.pulls = false }
      case .pull: try await node.upload { $0.pushes = false }
      }
    }
    try await scene.upload(scene.a, scene.b, scene.a)
    let conflicts = try [scene.a, scene.b].flatMap { try $0.resolver().conflicts() }
    if let conflict = conflicts.first {
      #expect(isSameField && conflicts.count == 1)
      let sides = [conflict.mine, conflict.theirs].map { $0.fields["a"] }
      #expect(Set(sides) == [.text("mine"), .text("theirs")], "both sides are kept")
      try (try scene.a.record(guid).isConflicted ? scene.a : scene.b).resolve(guid, .mine)
      try await scene.upload(scene.a, scene.b, scene.a)
    } else if isSameField {
      // There is no conflict, so one person performed all three steps before the other person edited the
      // record.
      let (first, last) = (try #require(order.firstIndex(of: order[0])), order[0] ? "theirs" : "mine")
      #expect(first == 0 && order.prefix(3).allSatisfy { $0 == order[0] })
      #expect(try scene.a.text(guid, "a") == last)
    } else {
      #expect(try scene.a.text(guid, "a") == "mine" && scene.a.text(guid, "b") == "theirs")
    }
    let held = try #require(try await scene.held(guid))
    for node in [scene.a, scene.b] {
      let record = try node.record(guid)
      #expect(record.state.agrees(with: held) && !record.isPending)
    }
  }
}
