// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A number of bytes on the command line, optionally with `KiB`, `MiB` or `GiB`.
struct ByteCountArgument: ExpressibleByArgument {
  private static let units: [(word: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  let bytes: Int64

  init?(argument: String) {
    let unit = Self.units.first { argument.hasSuffix($0.word) }
    let digits = argument.dropLast(unit?.word.count ?? 0)
    guard (1...9).contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    bytes = number * (unit?.bytes ?? 1)
  }

  /// A number of bytes in the form of the command line, in the largest unit of which it is a multiple.
  static func text(_ bytes: Int64) -> String {
    let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 } ?? ("B", 1)
    return "\(bytes / unit.bytes)\(unit.word)"
  }

  /// A number of bytes as text, with one decimal of its unit.
  static func rounded(_ bytes: Int64) -> String {
    guard let unit = units.first(where: { bytes >= $0.bytes && $0.bytes > 1 }) else { return "\(bytes) B" }
    let tenths = (bytes * 10 + unit.bytes / 2) / unit.bytes
    return "\(tenths / 10).\(tenths % 10) \(unit.word)"
  }
}
