// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests random sequences of imports, undos, redos, hides, restores, uploads and copies on three stores. They
/// must end with the same visible data in all stores.
@Suite(.timeLimit(.minutes(10)))
struct UndoSequenceTests {
  /// What identifies the readings of a test: the times of finger sticks, the times of sensor values, or
  /// ticks.
  enum Axis: CaseIterable {
    case fingerStick, sensor, tick

    var kind: ReadingKind { self == .fingerStick ? .smbg : .cbg }
  }

  @Test(arguments: Axis.allCases, Seeds.share(of: Seeds.first(2), every: 2))
  func anySequenceOfImportsAndUndosEndsWithEqualDataOnThreeStores(_ axis: Axis, _ seed: UInt64) async throws {
    var run = try await Run(axis, seed: seed)
    for step in 0..<30 {
      let before = try run.rows()
      try await run.step()
      for (rows, earlier) in zip(try run.rows(), before) where !rows.isSuperset(of: earlier) {
        Issue.record("\(axis), seed \(seed), step \(step): a reading was changed or deleted")
      }
    }
    try await run.uploadAll(rounds: 4)
    try await run.expectEqual()
    // All stores have all imports. If an import is undone and redone, the store must show the same content as
    // before.
    let shown = try run.nodes[0].shown()
    for node in run.nodes { try run.expectRedoRestoresTheSameItems(node) }
    try await run.uploadAll(rounds: 4)
    try await run.expectEqual()
    #expect(try run.nodes[0].shown() == shown, "\(axis), seed \(seed)")
  }

  private struct Run {
    let axis: Axis
    let seed: UInt64
    let scene: Scene
    var nodes: [SimulatedNode]
    var random: SeededGenerator
    private var copies: UInt64 = 0

    init(_ axis: Axis, seed: UInt64) async throws {
      (self.axis, self.seed) = (axis, seed)
      random = SeededGenerator(seed: seed)
      scene = try await Scene()
      try scene.a.importSticks(0..<10, kind: axis.kind, hasTicks: axis == .tick, digest: "first")
      _ = try scene.a.add(["text": "shared"])
      try await scene.upload(scene.a, scene.b)
      nodes = [scene.a, scene.b, try await scene.copy(of: scene.a)]
    }

    var place: Comment { "\(axis), seed \(seed)" }

    mutating func step() async throws {
      let node = nodes[Int(random.next() % 3)]
      switch random.next() % 12 {
      case 0, 1, 2: try await importFile(node)
      case 3, 4, 5:
        if let number = try node.imports().randomElement(using: &random) { _ = try node.toggle(number) }
      case 6: try expectRedoRestoresTheSameItems(node)
      case 7: try hideReading(node)
      case 8: try hideRecord(node)
      case 9: try hideDevice(node)
      case 10: try await replaceByCopy()
      default: try await node.upload()
      }
    }

    /// Imports one of several overlapping files. Some files have only every second reading, and some are
    /// read in the wrong unit.
    private mutating func importFile(_ node: SimulatedNode) async throws {
      let (first, step) = (Int64(random.next() % 20), Int64(random.next() % 2) + 1)
      let isWrong = random.next() % 3 == 0
      // For a sensor or for ticks, each store keeps the first value at a position. So all stores must import
      // different values in the same order.
      let isOrdered = axis != .fingerStick
      if isOrdered { try await uploadAll(rounds: 2) }
      try node.importSticks(
        stride(from: first, to: first + 8, by: Int(step)), kind: axis.kind, hasTicks: axis == .tick,
        isWrong: isWrong, digest: "\(first) \(step)")
      if isOrdered { try await uploadAll(rounds: 2) }
    }

    /// Checks that a store shows the same items after an import is undone and redone.
    mutating func expectRedoRestoresTheSameItems(_ node: SimulatedNode) throws {
      let undone = try node.sync().undoneImports()
      let imports = try node.imports().filter { !undone.contains($0) }
      guard let number = imports.randomElement(using: &random) else { return }
      let before = try (node.shown(), node.shownRecords())
      let first = try node.undo(number)
      let second = try node.redo(number)
      if first.broughtNothing {
        #expect(second.isDoneAlready, place)
      } else {
        #expect(!first.isDoneAlready && !second.isDoneAlready && first.readings == second.readings, place)
      }
      #expect(try node.shown() == before.0, place)
      #expect(try node.shownRecords() == before.1, place)
    }

    private mutating func hideReading(_ node: SimulatedNode) throws {
      guard let reading = try node.allReadings().randomElement(using: &random) else { return }
      let editor = try WithdrawalEditor(node.editing(), at: node.clock)
      try editor.set(reading, isHidden: !reading.isWithdrawn, reason: "")
    }

    private mutating func hideRecord(_ node: SimulatedNode) throws {
      guard let record = try node.allRecords().randomElement(using: &random) else { return }
      let editor = try WithdrawalEditor(node.editing(), at: node.clock)
      try editor.set(record, isHidden: !record.isWithdrawn, reason: "")
    }

    private mutating func hideDevice(_ node: SimulatedNode) throws {
      guard let device = try node.sync().devices(named: "S").first else { return }
      let editor = try WithdrawalEditor(node.editing(), at: node.clock)
      guard try editor.restore(device, since: nil, until: nil).rules == 0 else { return }
      let since = 1_700_000_000 + 300 * Int64(random.next() % 20)
      _ = try editor.hide(
        device, since: DeviceTime(seconds: since), until: DeviceTime(seconds: since + 1200), reason: "",
        guid: UUID().uuidString.lowercased())
    }

    /// Replaces the third store by a copy of another store, as if its disk was lost.
    private mutating func replaceByCopy() async throws {
      // The third store uploads first. Otherwise its unsent data would be lost.
      try await nodes[2].upload()
      copies += 1
      let source = nodes[Int(random.next() % 2)]
      nodes[2] = try await scene.copy(of: source, number: copies)
      nodes[2].clock = source.clock
    }

    mutating func uploadAll(rounds: Int) async throws {
      for _ in 0..<rounds {
        for node in nodes.shuffled(using: &random) { try await node.upload() }
      }
    }

    func rows() throws -> [Set<String>] {
      // The third store may be a copy of another store, so its rows are not compared.
      try nodes[..<2].map { Set(try $0.rows()) }
    }

    func expectEqual() async throws {
      for node in nodes {
        #expect(try node.shown() == nodes[0].shown(), place)
        #expect(try node.shownRecords() == nodes[0].shownRecords(), place)
        let overview = try node.sync().overview(ingests: 0)
        #expect(overview.conflicts == 0 && overview.pending == 0, place)
      }
    }
  }
}

extension SimulatedNode {
  /// Undoes an import. If the import is already undone, redoes it.
  func toggle(_ ingest: Int64) throws -> UndoCounts {
    try sync().undoneImports().contains(ingest) ? redo(ingest) : undo(ingest)
  }
}
