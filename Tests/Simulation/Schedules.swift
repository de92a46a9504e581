// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs many worlds, each from a seed of its own.
public enum Schedules {
  /// How much happens in one world before it comes to rest.
  public static let steps = 60

  /// Runs one world.
  ///
  /// - Returns: what was broken, with everything that happened; nil when every rule held.
  public static func run(seed: UInt64, steps: Int = steps) async -> String? {
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let folder = "\(parent)/glucoport-simulation-\(ProcessInfo.processInfo.processIdentifier)-\(seed)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var world: World?
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let made = try await World(seed: seed, folder: folder)
      world = made
      try await made.run(steps: steps)
      return nil
    } catch {
      return "seed \(seed): \(error)\n" + (world?.journal ?? []).map { "  \($0)\n" }.joined()
    }
  }

  /// The program: `simulate [COUNT [FIRST-SEED [STEPS]]]`. Ends with 1 at the first seed that breaks a rule.
  public static func main() async {
    let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
    let count = arguments.first ?? 1000
    let first = arguments.dropFirst().first ?? 1
    let steps = arguments.dropFirst(2).first.map(Int.init) ?? steps
    let broken = await withTaskGroup(of: String?.self, returning: String?.self) { group in
      for lane in 0..<UInt64(ProcessInfo.processInfo.activeProcessorCount) {
        group.addTask {
          for seed in stride(
            from: first + lane, to: first + count, by: ProcessInfo.processInfo.activeProcessorCount)
          {
            if let broken = await run(seed: seed, steps: steps) { return broken }
            if Task.isCancelled { return nil }
          }
          return nil
        }
      }
      for await broken in group {
        if let broken {
          group.cancelAll()
          return broken
        }
      }
      return nil
    }
    if let broken {
      print(broken)
      exit(1)
    }
    print("\(count) schedules of \(steps) steps from seed \(first): every rule held")
  }
}
