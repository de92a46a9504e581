// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Statements of an administrator, for tools and tests.
extension PostgresDatabase {
  private static let scriptSeconds = 60

  /// Runs statements without parameters, separated by semicolons.
  ///
  /// - Throws: `Failure`: `unavailable` without a connection, otherwise with the SQLSTATE.
  package func run(_ script: String) throws(Failure) {
    do throws(DatabaseError) {
      try DatabaseConnection(address).run(script, by: .now + .seconds(Self.scriptSeconds))
    } catch {
      throw error.failure
    }
  }

  /// The whole number in the first row of a query.
  ///
  /// - Throws: as `run`.
  package func number(_ query: String) throws(Failure) -> Int64 {
    do throws(DatabaseError) {
      return try DatabaseConnection(address).rows(query, [], by: .now + .seconds(Self.scriptSeconds))
        .integer(0, 0)
    } catch {
      throw error.failure
    }
  }
}
