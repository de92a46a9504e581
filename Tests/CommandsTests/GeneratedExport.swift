// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

/// Exports that tests write themselves.
enum GeneratedExport {
  static let header = "time,glucose (mg/dL)"

  /// Readings five minutes apart, from 2024-01-01 on.
  static func csv(rows count: Int, from first: Int = 0) -> [UInt8] {
    var bytes = Array((header + "\n").utf8)
    bytes.reserveCapacity(count * 25)
    for row in first..<first + count {
      bytes += Array("\(time(row)),\(60 + row * 7 % 200)\n".utf8)
    }
    return bytes
  }

  static func time(_ row: Int) -> String {
    DeviceTime(seconds: 1_704_067_200 + Int64(row) * 300).text
  }
}

/// Numbers that are the same for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The repository's sample exports.
enum Samples {
  static func path(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Samples/\(name)").path
  }
}
