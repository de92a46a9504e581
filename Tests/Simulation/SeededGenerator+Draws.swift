// SPDX-License-Identifier: Apache-2.0

import SeededRandom

extension SeededGenerator {
  /// Returns true in one of `times` calls on average.
  mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

  /// A random UUID in lower case.
  mutating func uuid() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<36).map { [8, 13, 18, 23].contains($0) ? "-" : digits[Int(next() & 15)] })
  }
}
