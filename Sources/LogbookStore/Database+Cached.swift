// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Database {
  /// Runs one statement that the connection prepares once: a run repeats the same few, and preparing them with the
  /// triggers of the schema takes longer than they do.
  func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
