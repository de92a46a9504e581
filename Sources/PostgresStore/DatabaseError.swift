// SPDX-License-Identifier: Apache-2.0

import Logbook
import Synchronization

/// Why an SQL statement failed. The error contains no value of a row.
enum DatabaseError: Error, Hashable {
  /// No connection could be opened. The text is libpq's reason.
  case unreachable(String)
  /// The connection ended, or no response came in time. The SQL statements that were sent may have been
  /// applied.
  case lost
  /// The connection ended during the commit. The transaction may have been applied.
  case commitUnknown
  /// The database refused an SQL statement.
  ///
  /// - Parameters:
  ///   - state: the SQLSTATE code of the error.
  ///   - object: the names of the table and constraint, if the database states them.
  case refused(state: String, object: String)
  /// The database contains data that glucoport never writes.
  case unexpected(String)

  /// Whether the transaction may succeed if it is repeated at once.
  var isTransient: Bool {
    switch self {
    case .lost: true
    // The codes for a serialisation failure, a deadlock, and a shutdown or crash of the database.
    case .refused(let state, _): ["40001", "40P01", "57P01", "57P02"].contains(state)
    case .unreachable, .commitUnknown, .unexpected: false
    }
  }

  /// Whether the connection can no longer be used.
  var endsConnection: Bool {
    switch self {
    case .lost, .commitUnknown, .unreachable: true
    case .refused(let state, _): state.hasPrefix("57P") || state.hasPrefix("08")
    case .unexpected: false
    }
  }

  /// Whether a unique constraint refused a value that already exists.
  var isDuplicate: Bool {
    if case .refused(state: "23505", _) = self { true } else { false }
  }

  /// The error for a client.
  var serviceError: ServiceError {
    switch self {
    case .unreachable, .lost, .commitUnknown: .busy(Self.away, retryAfterSeconds: 2)
    case .refused(let state, let object):
      // The codes of errors that may end by themselves. In these, a lock or the SQL statement took too long,
      // no connection or memory is left, or retries did not help.
      if ["55P03", "57014", "40001", "40P01", "25006"].contains(state)
        || ["57P", "08", "53"].contains(where: state.hasPrefix)
      {
        .busy("the storage is busy; try again", retryAfterSeconds: 1)
      } else if let fault = SetupFault(state: state) {
        // A smaller request would fail, too. With `busy`, the client neither divides the request nor skips
        // items.
        .busy(fault.sentence, retryAfterSeconds: SetupFault.retrySeconds)
      } else {
        .serverFailure(
          "the server's storage failed; see the server's log",
          log: "the database refused a statement (SQLSTATE \(state)\(object.isEmpty ? "" : ", \(object)"))")
      }
    case .unexpected(let reason):
      .serverFailure(
        "the server's storage failed; see the server's log", log: "the database is damaged: \(reason)")
    }
  }

  /// What an administrator must know in addition to `serviceError`, for the log. Nil for an error that needs
  /// no administrator.
  var warning: String? {
    switch self {
    case .unreachable(let reason): "the database cannot be reached: \(reason)"
    case .refused(let state, _):
      if state == "25006" {
        "the database accepts no changes (SQLSTATE \(state)); see target_session_attrs in glucoport-postgresql(7)"
      } else if state.hasPrefix("53") {
        "the database has too little memory, disk space or connections (SQLSTATE \(state)); see its log"
      } else {
        SetupFault(state: state)?.warning(state)
      }
    case .lost, .commitUnknown, .unexpected: nil
    }
  }

  /// The error as the failure of a command.
  var failure: Failure {
    switch self {
    case .unreachable(let reason): Failure(.unavailable, "the database cannot be reached: \(reason)")
    case .lost, .commitUnknown: Failure(.unavailable, "the connection to the database was lost; try again")
    case .refused(state: "42501", _):
      Failure(.permission, "the database role may not do this; see glucoport-postgresql(7)")
    case .refused(state: "42P01", _), .refused(state: "3F000", _):
      Failure(
        .configuration, "the database is not prepared; run 'glucoport serve database prepare' as its owner")
    case .refused(let state, let object):
      Failure(
        .temporary,
        "the database refused a statement: SQLSTATE \(state)\(object.isEmpty ? "" : ", \(object)")")
    case .unexpected(let reason): Failure(.inputOutput, "the database is damaged: \(reason)")
    }
  }

  static let away = "the database of the server cannot be reached; try again"
}

/// A fault of the database that affects every request, and that its administrator must repair.
private enum SetupFault {
  /// The role lacks a right that was revoked, or row security refuses a row.
  case rights
  /// The tables are missing or of another version, or a dump is being restored.
  case tables

  /// The time after which a client should try again, in seconds.
  static let retrySeconds = 30

  /// The fault that this SQLSTATE code shows; nil for any other code.
  init?(state: String) {
    switch state {
    case "42501": self = .rights
    // The codes for a missing table, schema, column or function.
    case "42P01", "3F000", "42703", "42883": self = .tables
    default: return nil
    }
  }

  /// The message for a client.
  var sentence: String {
    switch self {
    case .rights: "the server lacks a right in its database, which its administrator must repair; try again"
    case .tables: "the database of the server has no tables; try again"
    }
  }

  /// The message for the log.
  func warning(_ state: String) -> String {
    let fault =
      switch self {
      case .rights: "the database role of the server lacks a right"
      case .tables: "the database lacks a table, column or function of this program"
      }
    return "\(fault) (SQLSTATE \(state)); run 'glucoport serve database check' with the address of the server"
  }
}

/// Writes warnings to the log of the server. An equal warning is repeated only after the time `silence`.
final class FaultLog: Sendable {
  /// The time in which an equal warning is not repeated. Otherwise, every request of every client could write
  /// it.
  static let silence = Duration.seconds(600)
  private static let maxWarnings = 100

  private let write: @Sendable (_ warning: String) -> Void
  /// When each warning was last written. The lock protects only this table, and `write` is called without it.
  private let written = Mutex<[String: ContinuousClock.Instant]>([:])

  /// - Parameter write: writes a line to the log.
  init(_ write: @escaping @Sendable (_ warning: String) -> Void) { self.write = write }

  func log(_ error: DatabaseError, at now: ContinuousClock.Instant = .now) {
    if let warning = error.warning { log(warning, at: now) }
  }

  /// Writes the reason of a failure of the storage. The pool of connections writes all other errors that an
  /// administrator must repair.
  func log(_ error: ServiceError) {
    if case .serverFailure(_, let reason) = error, !reason.isEmpty { log(reason) }
  }

  func log(_ warning: String, at now: ContinuousClock.Instant = .now) {
    let isDue = written.withLock { written in
      if let last = written[warning], now - last < Self.silence { return false }
      if written.count >= Self.maxWarnings { written = [:] }
      written[warning] = now
      return true
    }
    if isDue { write(warning) }
  }
}
