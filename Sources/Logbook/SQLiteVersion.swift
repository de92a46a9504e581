// SPDX-License-Identifier: Apache-2.0

/// A version of SQLite as its library reports it: a million times the major number, plus a thousand times the
/// minor number, plus the patch.
package struct SQLiteVersion: Comparable, Sendable {
  /// The oldest version that this program can use: STRICT tables are from 3.37, `unixepoch` and `->>` from
  /// 3.38.
  package static let oldest = SQLiteVersion(3_038_000)

  /// The number that the library reports.
  package let number: Int32

  /// The version with this number, as the library reports it.
  package init(_ number: Int32) { self.number = number }

  /// Whether one version is older than another.
  package static func < (left: SQLiteVersion, right: SQLiteVersion) -> Bool { left.number < right.number }

  /// The options by which a library was built without a feature that stores need.
  ///
  /// - Parameter isSet: whether the library was built with the option of this name.
  package static func missing(isThreadSafe: Bool, _ isSet: (String) -> Bool) -> [String] {
    ["OMIT_JSON", "OMIT_TRIGGER", "OMIT_WAL"].filter(isSet) + (isThreadSafe ? [] : ["THREADSAFE=0"])
  }

  /// Throws if the library is too old for this program.
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
  /// The version in the usual notation, such as `3.38.0`.
  package var description: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }
}
