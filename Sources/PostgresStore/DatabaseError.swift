// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Why a statement failed. It holds no value of a row.
enum DatabaseError: Error, Hashable {
  /// No connection: the reason of the library.
  case unreachable(String)
  /// The connection ended, or there was no answer in time. What was sent may have been applied.
  case lost
  /// The connection ended while the commit was pending. The transaction may have been applied.
  case commitUnknown
  /// The database refused a statement.
  ///
  /// - Parameters:
  ///   - state: the SQLSTATE.
  ///   - object: the table and constraint, if the database names them.
  case refused(state: String, object: String)
  /// The database has something that glucoport never writes.
  case unexpected(String)

  /// Whether the whole transaction can be repeated at once.
  var isTransient: Bool {
    switch self {
    case .lost: true
    // Serialisation failure and deadlock; a shutdown, a crash or the start of the database.
    case .refused(let state, _): ["40001", "40P01", "57P01", "57P02"].contains(state)
    case .unreachable, .commitUnknown, .unexpected: false
    }
  }

  /// Whether the connection cannot be used any more.
  var endsConnection: Bool {
    switch self {
    case .lost, .commitUnknown, .unreachable: true
    case .refused(let state, _): state.hasPrefix("57P") || state.hasPrefix("08")
    case .unexpected: false
    }
  }

  /// Whether a constraint refused a value that exists.
  var isDuplicate: Bool {
    if case .refused(state: "23505", _) = self { true } else { false }
  }

  /// The error for a client.
  var serviceError: ServiceError {
    switch self {
    case .unreachable, .lost, .commitUnknown: .busy(Self.away, retryAfterSeconds: 2)
    // No table or no schema: a dump is being restored, or the database is not prepared any more.
    case .refused(state: "42P01", _), .refused(state: "3F000", _):
      .busy("the database of the server has no tables; try again", retryAfterSeconds: 30)
    case .refused(let state, let object):
      // A lock or the statement took too long; no connection or no memory is left; retries did not help.
      if ["55P03", "57014", "53300", "53400", "40001", "40P01", "25006"].contains(state)
        || ["57P", "08", "53"].contains(where: state.hasPrefix)
      {
        .busy("the storage is busy; try again", retryAfterSeconds: 1)
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

  /// The failure for a command at a terminal.
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
