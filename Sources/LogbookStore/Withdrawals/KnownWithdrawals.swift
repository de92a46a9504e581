// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// What the withdrawals of a store say, kept from one batch of an import to the next: an undone import of a million readings is
/// megabytes to decode, and few batches meet another state of them.
final class KnownWithdrawals {
  /// How often they were decoded.
  private(set) var decodings = 0
  private var kept: (stamp: String, visibility: Visibility)?

  /// The name of the setting that each change of a withdrawal writes anew, at random, in the transaction that makes it.
  static let stampName = "withdrawals-stamp"

  /// What they say in the caller's transaction, whoever wrote them.
  func visibility(_ database: Database) throws -> Visibility {
    // A transaction that is rolled back brings the stamp of before back, and no later one is the same.
    let stamp = try String.fetchOne(
      database.cachedStatement(sql: "SELECT value FROM setting WHERE name = '\(Self.stampName)'"))
    if let kept, kept.stamp == stamp { return kept.visibility }
    decodings += 1
    let visibility = try Visibility(WithdrawalChanges.items(database))
    kept = stamp.map { ($0, visibility) }
    return visibility
  }
}
