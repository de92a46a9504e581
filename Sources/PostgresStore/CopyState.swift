// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// Thrown if the logbook was moved from the database of the request to another cluster.
struct LogbookMovedAway: Error {
  let cluster: String
}

/// The state of a logbook's copy in a database, which decides whether a request may use it.
///
/// Each copy stores by how many moves of the logbook it was created. A request has the number of moves that
/// the directory states. Only the copy with the same number answers the request. So a request that was
/// delayed during a move changes nothing, even if the logbook was moved away and back.
///
/// While a move reads the last changes, it sets the old copy to `leaving` and holds an advisory lock on one
/// connection. If the lock does not exist, the move was interrupted, and the old copy accepts changes as
/// before. When the new copy is complete, one commit sets the old copy to `left`. After this commit, requests
/// use the new copy.
///
/// The row of a guest has a second number of moves: the largest one with which the directory has named this
/// copy. With this number, a directory that was restored from a backup is corrected; see `DirectoryWatch`.
enum CopyState {
  /// The error for clients while their logbook is being moved.
  static let busy = ServiceError.busy(
    "the logbook is being moved to another database; try again", retryAfterSeconds: 1)

  /// The first key of a move's advisory lock. The second key is `lockKey`.
  static let lockClass = 0x676C_7563

  /// The second key of the advisory lock, computed from the number of a logbook.
  static func lockKey(_ logbook: String) -> String { "(\(logbook) % 2147483647)::int" }

  /// The columns of the table `r` that `check` reads.
  ///
  /// - Parameter writes: whether the transaction changes the logbook. Then it must have locked the counter,
  ///   or the row with the total size of the logbook's attachments.
  static func columns(writes: Bool) -> String {
    let isClosed =
      writes
      ? """
      CASE WHEN r.state = 'leaving' THEN NOT pg_try_advisory_xact_lock_shared(\(lockClass), \(lockKey("r.logbook")))
        ELSE false END
      """ : "false"
    return "coalesce(r.moves, 0), r.cluster, \(isClosed)"
  }

  /// A column of the table `r`: whether the copy is a guest that no request has used yet.
  static let isUnconfirmed =
    "coalesce((SELECT b.moves < r.moves FROM glucoport.logbook b WHERE b.id = r.logbook AND b.is_guest), false)"

  /// Throws if a request must not use this copy.
  ///
  /// - Parameter column: the index in `rows` of the first column of `columns(writes:)`.
  /// - Throws: `LogbookMovedAway` after a move; `ServiceError.busy` during a move, and for a request from
  ///   before a move.
  static func check(_ rows: DatabaseRows, from column: Int, _ place: LogbookPlace) throws {
    guard try rows.integer(0, column) == place.moves else { throw busy }
    if let cluster = try rows.optionalText(0, column + 1) { throw LogbookMovedAway(cluster: cluster) }
    guard try rows.integer(0, column + 2) == 0 else { throw busy }
  }
}
