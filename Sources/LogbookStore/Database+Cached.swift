// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Database {
  /// Runs a statement that the connection prepares only once. A run repeats the same few statements.
  /// Preparing them with the triggers of the schema takes longer than running them.
  func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
