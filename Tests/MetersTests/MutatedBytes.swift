// SPDX-License-Identifier: Apache-2.0

import SeededRandom

extension SeededGenerator {
  /// These bytes with some changed, dropped or added.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &self) {
      let place = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0 where !bytes.isEmpty: bytes.remove(at: place)
      case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
      case 2: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &self)))
      default: if !bytes.isEmpty { bytes[place] = UInt8.random(in: 0...255, using: &self) }
      }
    }
    return bytes
  }
}
