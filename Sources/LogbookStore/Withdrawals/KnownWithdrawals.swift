// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The content of the withdrawals of a store, kept from one batch of an import to the next. The withdrawal of
/// a million readings takes megabytes to decode, and few batches find it changed.
final class KnownWithdrawals {
  /// How often they were decoded.
  private(set) var decodings = 0
  private var kept: (stamp: String, visibility: Visibility)?

  /// The setting to which each change of a withdrawal writes a new random value, in the same transaction.
  static let stampName = "withdrawals-stamp"

  /// The withdrawals in the caller's transaction, whichever process wrote them.
  func visibility(_ database: Database) throws -> Visibility {
    // A rollback restores the earlier stamp, and no later stamp equals it.
    let stamp = try String.fetchOne(
      database.cachedStatement(sql: "SELECT value FROM setting WHERE name = '\(Self.stampName)'"))
    if let kept, kept.stamp == stamp { return kept.visibility }
    decodings += 1
    let visibility = try Visibility(WithdrawalChanges.items(database))
    kept = stamp.map { ($0, visibility) }
    return visibility
  }
}
