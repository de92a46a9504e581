// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects that the database with the logins was restored or replaced, before a request uses its data.
///
/// A restored directory may state where logbooks were before later moves. Requests would then change outdated
/// copies.
actor DirectoryWatch {
  /// The SQL expression for a text that changes after a restart, a promotion and a restore. Each look-up of a
  /// login computes it, so it must be cheap.
  static let instance = """
    concat_ws('/', extract(epoch FROM pg_postmaster_start_time()), \
    (SELECT oid FROM pg_database WHERE datname = current_database()))
    """

  /// The time after which a repair is tried again, if not all clusters answered.
  static let pause = Duration.seconds(30)

  private let work: @Sendable () async -> Bool
  private var known: String?
  private var isRepairing = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var repeatedAt: ContinuousClock.Instant?

  /// - Parameter repair: corrects the directory. It returns false if a cluster did not answer.
  init(repair: @escaping @Sendable () async -> Bool) { work = repair }

  /// Corrects the directory if the database has changed. All requests wait until this is done. If clusters
  /// did not answer, one request tries again after a pause, and only this request waits.
  ///
  /// - Returns: whether a look-up that was made before must be repeated.
  func repair(_ instance: String) async -> Bool {
    if known != instance {
      known = instance
      isRepairing = true
      repeatedAt = await work() ? nil : .now + Self.pause
      isRepairing = false
      for request in waiting { request.resume() }
      waiting = []
      return true
    }
    if isRepairing {
      await withCheckedContinuation { waiting.append($0) }
      return true
    }
    guard let time = repeatedAt, time <= .now else { return false }
    repeatedAt = .now + Self.pause
    if await work() { repeatedAt = nil }
    return true
  }
}

extension PostgresClusters {
  /// Corrects a directory that was restored from a backup. If requests have used a copy after a move that the
  /// directory does not know, this copy is the valid one.
  ///
  /// - Returns: false if a cluster did not answer.
  func repairDirectory() async -> Bool {
    do throws(ServiceError) {
      var (isComplete, later) = (true, [String: LaterCopy]())
      let clusters = try await home.namedClusters()
      if clusters.isEmpty { return true }
      let stated = try await home.moves()
      for cluster in clusters {
        do throws(ServiceError) {
          for guest in try await core(at: cluster.address).confirmedGuests()
          where guest.moves > max(stated[guest.guid] ?? .max, later[guest.guid]?.moves ?? 0) {
            later[guest.guid] = LaterCopy(cluster: cluster, number: guest.number, moves: guest.moves)
          }
        } catch {
          faults.log(error)
          isComplete = false
        }
      }
      for (guid, copy) in later.sorted(by: { $0.key < $1.key }) {
        if try await core(at: copy.cluster.address).isOpen(copy) {
          try await home.storeLaterCopy(guid, copy)
        } else {
          faults.log(
            "the database with the logins is older than a move of a logbook; run 'glucoport serve logbook recover'"
          )
        }
      }
      return isComplete
    } catch {
      faults.log(error)
      return false
    }
  }
}

/// A copy of a logbook that was moved after the backup of the directory was made.
private struct LaterCopy {
  let cluster: (name: String, address: String)
  /// The number of the logbook in the copy's database.
  let number: Int64
  let moves: Int64
}

extension PostgresCore {
  /// For each logbook of this directory, by id: the number of moves that the directory knows.
  fileprivate func moves() async throws(ServiceError) -> [String: Int64] {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows("SELECT guid, moves FROM glucoport.logbook WHERE NOT is_guest")
      return try Dictionary(
        (0..<rows.count).map { (try rows.text($0, 0), try rows.integer($0, 1)) }, uniquingKeysWith: max)
    }
  }

  /// The logbooks of this cluster that requests have used after the move to the cluster.
  fileprivate func confirmedGuests() async throws(ServiceError) -> [(
    guid: String, number: Int64, moves: Int64
  )] {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows(
        "SELECT guid, id, moves FROM glucoport.logbook WHERE is_guest AND moves > 0")
      return try (0..<rows.count).map {
        (try rows.text($0, 0), try rows.integer($0, 1), try rows.integer($0, 2))
      }
    }
  }

  /// Whether a copy is still in use: the logbook was not moved away from it.
  fileprivate func isOpen(_ copy: LaterCopy) async throws(ServiceError) -> Bool {
    try await pool.run(.reading(logbook: copy.number)) { transaction in
      try transaction.rows(
        "SELECT 1 FROM glucoport.residence WHERE logbook = $1 AND moves = $2 AND state <> 'left'",
        .integer(copy.number), .integer(copy.moves)
      ).count == 1
    }
  }

  fileprivate func storeLaterCopy(_ guid: String, _ copy: LaterCopy) async throws(ServiceError) {
    try await pool.run(.directory) { transaction in
      _ = try transaction.rows(
        "SELECT glucoport.adopt($1, $2, $3)", .text(guid), .integer(copy.moves), .text(copy.cluster.name))
    }
  }
}
