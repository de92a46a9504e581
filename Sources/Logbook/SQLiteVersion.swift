// SPDX-License-Identifier: Apache-2.0

/// A version of SQLite's library, as the library reports it: a million for the major number, a thousand for the minor.
package struct SQLiteVersion: Comparable, Sendable {
  /// The oldest that the files of this program work with: STRICT tables came with 3.37, `unixepoch` and `->>` with 3.38.
  package static let oldest = SQLiteVersion(3_038_000)

  /// The number that the library reports.
  package let number: Int32

  /// The version under a number of the library.
  package init(_ number: Int32) { self.number = number }

  /// Whether one version came before another.
  package static func < (left: SQLiteVersion, right: SQLiteVersion) -> Bool { left.number < right.number }

  /// Refuses a library that is too old, before it is asked for anything that it does not know.
  ///
  /// - Throws: `Failure`: `configuration`.
  package func check() throws {
    guard self < .oldest else { return }
    throw Failure(
      .configuration,
      "the SQLite library of this system is \(self); glucoport needs \(Self.oldest) or newer: update libsqlite3"
    )
  }
}

extension SQLiteVersion: CustomStringConvertible {
  /// The version as people write it, such as `3.38.0`.
  package var description: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }
}
