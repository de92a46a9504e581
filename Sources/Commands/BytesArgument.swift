// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// An amount of bytes on the command line: a number, with `k` for thousands or `M` for millions.
struct BytesArgument: ExpressibleByArgument {
  let bytes: Int

  init?(argument: String) {
    let units: [Character: Int] = ["k": 1000, "M": 1_000_000]
    let unit = argument.last.flatMap { units[$0] }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits),
      number <= 1_000_000_000
    else { return nil }
    bytes = number * (unit ?? 1)
  }
}
