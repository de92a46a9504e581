// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// A logbook was moved from the database of the request to a cluster of the directory.
struct LogbookLeft: Error {
  let cluster: String
}

/// The state of a database's copy of a logbook, which decides whether a request may use it.
///
/// A copy belongs to a number of moves, which a request has from the directory. Only the copy with that number answers it.
/// Therefore a request that was delayed during a move, or during one there and back, changes nothing.
///
/// A move sets a copy to `leaving` while it reads the last changes, and holds an advisory lock on one connection. Without that
/// lock the move was interrupted, and the copy accepts changes as before. One commit sets it to `left`, when the other copy
/// is complete: from then on requests go there.
///
/// The database of a guest has a second number of moves with its id: that of a copy which the directory stated. By it, a
/// directory from a backup is corrected; see `DirectoryWatch`.
enum Residence {
  /// The answer to clients while their logbook is moved.
  static let busy = ServiceError.busy(
    "the logbook is being moved to another database; try again", retryAfterSeconds: 1)

  /// The first key of the advisory lock of a move; the second one is `lockKey`.
  static let lockClass = 0x676C_7563

  /// The second key of the lock for the number of a logbook.
  static func lockKey(_ logbook: String) -> String { "(\(logbook) % 2147483647)::int" }

  /// The columns for `check`, of the table `r`.
  ///
  /// - Parameter writes: whether the transaction changes the logbook. It has locked the counter, or the total of contents.
  static func columns(writes: Bool) -> String {
    let isClosed =
      writes
      ? """
      CASE WHEN r.state = 'leaving' THEN NOT pg_try_advisory_xact_lock_shared(\(lockClass), \(lockKey("r.logbook")))
        ELSE false END
      """ : "false"
    return "coalesce(r.moves, 0), r.cluster, \(isClosed)"
  }

  /// A column of the table `r`: whether the copy is that of a guest, and no request has used it.
  static let isUnconfirmed =
    "coalesce((SELECT b.moves < r.moves FROM glucoport.logbook b WHERE b.id = r.logbook AND b.is_guest), false)"

  /// Checks that a copy is the one for a request.
  ///
  /// - Parameter column: the first of its columns.
  /// - Throws: `LogbookLeft`; `ServiceError.busy` while the logbook is moved, or for a request from before a move.
  static func check(_ rows: DatabaseRows, from column: Int, _ place: LogbookPlace) throws {
    guard try rows.integer(0, column) == place.moves else { throw busy }
    if let cluster = try rows.optionalText(0, column + 1) { throw LogbookLeft(cluster: cluster) }
    guard try rows.integer(0, column + 2) == 0 else { throw busy }
  }
}
