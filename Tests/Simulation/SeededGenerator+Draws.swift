// SPDX-License-Identifier: Apache-2.0

import SeededRandom

extension SeededGenerator {
  /// True once in this many calls on average.
  mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

  /// A UUID in lower case.
  mutating func uuid() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<36).map { [8, 13, 18, 23].contains($0) ? "-" : digits[Int(next() & 15)] })
  }
}
