// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A time span on the command line: seconds, or a number with `s`, `m` or `h`.
struct DurationArgument: ExpressibleByArgument {
  let seconds: Int

  init?(argument: String) {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
    let unit = argument.last.flatMap { units[$0] }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard digits.allSatisfy(\.isASCII), let number = Int(digits), number >= 0, number <= 1_000_000 else {
      return nil
    }
    seconds = number * (unit ?? 1)
  }
}
