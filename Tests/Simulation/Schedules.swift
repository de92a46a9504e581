// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestPostgres

/// Runs many simulated worlds, each with a separate seed.
package enum Schedules {
  /// The number of random events in a world before all nodes sync completely.
  package static let steps = 20

  /// Runs one world after `others` earlier worlds on the same `Stage`. Returns the broken rule, or nil if
  /// all rules held, and the list of events.
  package static func journal(
    seed: UInt64, after others: UInt64, _ template: Template, steps: Int = steps, on kind: HostKind = .server
  ) async throws -> (broken: String?, lines: [String]) {
    try await withStage(template) { stage in
      for other in seed - others..<seed { _ = await journal(seed: other, stage, steps: steps, kind) }
      return await journal(seed: seed, stage, steps: steps, kind)
    }
  }

  private static func journal(
    seed: UInt64, _ stage: Stage, steps: Int, _ kind: HostKind
  ) async -> (broken: String?, lines: [String]) {
    var world: World?
    do {
      try stage.clear()
      let made = try await World(seed: seed, stage, kind)
      world = made
      try await made.run(steps: steps)
      return (nil, made.journal)
    } catch {
      let lines = world?.journal ?? []
      return ("\(kind) seed \(seed), \(steps) steps: \(error)\n" + lines.map { "  \($0)\n" }.joined(), lines)
    }
  }

  private static func withStage<Value>(
    _ template: Template, _ work: (Stage) async throws -> Value
  ) async throws -> Value {
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let folder = "\(parent)/glucoport-simulation-\(UUID().uuidString)"
    let value: Value
    do {
      value = try await work(Stage(template: template, folder: folder))
    } catch {
      try FileManager.default.removeItem(atPath: folder)
      throw error
    }
    try FileManager.default.removeItem(atPath: folder)
    return value
  }

  /// The main function of `simulate [site | database] [COUNT [FIRST-SEED [STEPS]]]`. The exit status is 1 if
  /// a seed breaks a rule.
  package static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
    let count = arguments.first ?? 1000
    let first = arguments.dropFirst().first ?? 1
    let steps = arguments.dropFirst(2).first.map(Int.init) ?? steps
    let kind = CommandLine.arguments.dropFirst().lazy.compactMap(HostKind.init).first ?? .server
    let hasDatabase = CommandLine.arguments.dropFirst().contains("database")
    let databases = hasDatabase ? try TestDatabases(PostgresServer()) : nil
    let template = try await Template(databases: databases)
    let broken = try await firstBroken(first..<first + count, template, steps: steps, on: kind)
    databases?.server.remove()
    if let broken {
      print(broken)
      exit(1)
    }
    print(
      "\(hasDatabase ? "database" : "\(kind)"): \(count) schedules of \(steps) steps from seed \(first): every rule held"
    )
  }

  /// Runs a world for each seed. As many worlds run at the same time as the computer has processors. Returns
  /// the first broken rule.
  package static func firstBroken(
    _ seeds: Range<UInt64>, _ template: Template, steps: Int = steps, on kind: HostKind = .server
  ) async throws -> String? {
    let lanes = min(ProcessInfo.processInfo.activeProcessorCount, seeds.count)
    return try await withThrowingTaskGroup(of: String?.self, returning: String?.self) { group in
      for lane in 0..<UInt64(lanes) {
        let own = stride(from: seeds.lowerBound + lane, to: seeds.upperBound, by: lanes)
        group.addTask { try await firstBroken(own, template, steps: steps, kind) }
      }
      for try await broken in group where broken != nil {
        group.cancelAll()
        return broken
      }
      return nil
    }
  }

  private static func firstBroken(
    _ seeds: StrideTo<UInt64>, _ template: Template, steps: Int, _ kind: HostKind
  ) async throws -> String? {
    try await withStage(template) { stage in
      for seed in seeds where !Task.isCancelled {
        if let broken = await journal(seed: seed, stage, steps: steps, kind).broken { return broken }
      }
      return nil
    }
  }
}
