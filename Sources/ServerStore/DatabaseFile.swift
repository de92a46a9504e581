// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// An open SQLite file of the server: one writer, and readers that never wait for it.
struct DatabaseFile: Sendable {
  private let pool: DatabasePool
  private let name: String

  /// How long a connection waits for another process: `serve token` writes beside a running server.
  private static let busyTimeoutSeconds = 5.0
  private static let maxReaders = 3
  /// How many files are open for one: each connection has the database and its log, and they share their memory.
  static let maxFiles = 2 * (maxReaders + 1) + 1

  /// Opens the file, or creates it.
  ///
  /// - Throws: `Failure`: `cannotCreate`, `badInput` for a foreign file, `configuration` for a newer one or a library of
  ///   SQLite that is too old.
  init(path: String, name: String, schema: FileSchema) throws {
    self.name = name
    let configuration = try Configuration.ofFile(
      busyTimeoutSeconds: Self.busyTimeoutSeconds, maxReaders: Self.maxReaders, cacheKiB: 2048
    ) { _ = try schema.isMade(in: $0, path: path) }
    try DataFolder.makeFile(path)
    do {
      pool = try DatabasePool(path: path, configuration: configuration)
      try pool.writeWithoutTransaction { database in
        // The pool itself chooses NORMAL, under which a power cut takes commits back.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try Self.prepare(database, path, schema)
      }
    } catch let error as DatabaseError {
      throw Failure(.inputOutput, "\(path): cannot open the file: \(error.message ?? "\(error.resultCode)")")
    }
  }

  /// Runs a transaction that may write.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(ServiceError) -> Value {
    do { return try await pool.write(work) } catch { throw storageError(error) }
  }

  /// Runs a transaction that reads one state of the file.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(ServiceError) -> Value {
    do { return try await pool.read(work) } catch { throw storageError(error) }
  }

  /// Runs a transaction that may write, and waits for it.
  func writeNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.write(work) }

  /// Runs a transaction that reads, and waits for it.
  func readNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.read(work) }

  /// Brings everything into the file itself and empties its log, unless another process reads in it.
  func flush() async throws(ServiceError) {
    do {
      try await pool.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The log is emptied when the file is closed.
    } catch {
      throw storageError(error)
    }
  }

  /// Closes every connection, with everything in the file itself. SQLite does that when the last connection closes,
  /// but here the last ones only read.
  func close() throws {
    do {
      try pool.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // `serve token` reads or writes beside this server: what it sees stays in the log, which is as durable.
    }
    try pool.close()
  }
}

extension DatabaseFile {
  private static func prepare(_ database: Database, _ path: String, _ schema: FileSchema) throws {
    if try schema.isMade(in: database, path: path) { return }
    // Two processes may create one file at once: the second finds it made when it has the lock.
    try database.inTransaction(.immediate) {
      if try !schema.isMade(in: database, path: path) { try schema.make(in: database) }
      return .commit
    }
  }

  /// Another writer holds the file; trying again helps.
  private static var busy: ServiceError {
    .busy("the storage is busy; try again", retryAfterSeconds: 1)
  }

  /// The storage failed.
  ///
  /// - Parameter log: what happened, for the server's log.
  static func failed(_ log: String) -> ServiceError {
    .serverFailure("the server's storage failed; see the server's log", log: log)
  }

  private func storageError(_ error: any Error) -> ServiceError {
    switch error {
    case let known as ServiceError: known
    // The connection of the client is gone, or the server stops.
    case is CancellationError: Self.busy
    case let error as DatabaseError where error.resultCode == .SQLITE_BUSY: Self.busy
    case let damage as DamagedRow: Self.failed("\(name) is damaged: \(damage)")
    // The message of SQLite names tables and columns, never a value.
    case let error as DatabaseError:
      Self.failed("\(name): \(error.message ?? "") (SQLite \(error.extendedResultCode.rawValue))")
    default: Self.failed("\(name): \(type(of: error))")
    }
  }
}
