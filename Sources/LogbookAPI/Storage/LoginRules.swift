// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The rules for names of logins and logbooks, which are the same in every storage.
package enum LoginRules {
  /// Checks the names of a login and its logbook.
  ///
  /// - Throws: `Failure` of category `usage` for an invalid name.
  package static func check(_ names: String?...) throws(Failure) {
    for name in names.compactMap({ $0 }) where !canBeName(name) {
      throw Failure(.usage, "a name must have 1 to 64 characters and no control characters")
    }
  }

  /// The failure for adding a login whose name already exists.
  package static func exists(_ name: String) -> Failure {
    Failure(.usage, "a token named '\(name)' exists already; revoke it first, or choose another name")
  }

  /// The failure for a login that does not exist.
  package static func unknown(_ name: String) -> Failure {
    Failure(.missingInput, "no token is named '\(name)'; 'glucoport serve token list' shows the names")
  }

  /// The id of the logbook for a new login; nil if a logbook with this name must be created.
  ///
  /// - Parameters:
  ///   - name: the name of the logbook; nil for the only logbook.
  ///   - known: all logbooks by name.
  /// - Throws: `Failure` of category `usage` if no name is given and there is not exactly one logbook.
  package static func logbookID(
    _ name: String?, among known: [(name: String, id: String)]
  ) throws(Failure) -> String? {
    if let name { return known.first { $0.name == name }?.id }
    if known.count == 1 { return known[0].id }
    throw Failure(
      .usage,
      known.isEmpty
        ? "no logbook exists yet; name the one to create with --logbook"
        : "there are several logbooks (\(known.map(\.name).joined(separator: ", "))); choose one with --logbook"
    )
  }

  private static func canBeName(_ name: String) -> Bool {
    (1...64).contains(name.unicodeScalars.count)
      && name.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
          false
        default: true
        }
      }
  }
}
