// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// An open SQLite file of the server. One connection writes; others can read at the same time without waiting
/// for it.
struct DatabaseFile: Sendable {
  private let pool: DatabasePool
  private let name: String

  /// How long a connection waits for another process, in seconds. The command `serve token` can write while a
  /// server runs.
  private static let busyTimeoutSeconds = 5.0
  private static let maxReaders = 3
  /// The maximum number of file descriptors for one database file. Each connection opens the database and its
  /// log. All of them share the file of the log's index.
  static let maxFiles = 2 * (maxReaders + 1) + 1

  /// Opens the file, or creates it with its schema.
  ///
  /// - Throws: `Failure`: `cannotCreate`, `badInput` for a foreign file, `configuration` for a newer file or
  ///   an SQLite library that is too old.
  init(path: String, name: String, schema: FileSchema) throws {
    self.name = name
    let configuration = try Configuration.ofFile(
      busyTimeoutSeconds: Self.busyTimeoutSeconds, maxReaders: Self.maxReaders, cacheKiB: 2048
    ) { _ = try schema.isCreated(in: $0, path: path) }
    try DataFolder.makeFile(path)
    try ForeignJournal.refuse(at: path)
    do {
      let upgrade = SchemaUpgrade(schema, path: path, busyTimeoutSeconds: Self.busyTimeoutSeconds)
      pool = try upgrade.opening(path) { try DatabasePool(path: path, configuration: configuration) }
      try pool.writeWithoutTransaction { database in
        // The connection pool sets NORMAL, with which a power failure can lose committed transactions.
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

  /// Runs a transaction that reads. All its queries see the same state of the file.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(ServiceError) -> Value {
    do { return try await pool.read(work) } catch { throw storageError(error) }
  }

  /// Runs a transaction that may write, and blocks until it ends.
  func writeNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.write(work) }

  /// Runs a transaction that only reads, and blocks until it ends.
  func readNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.read(work) }

  /// Writes the changes in the log to the file and empties the log, unless another process is reading.
  func flush() async throws(ServiceError) {
    do {
      try await pool.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // Another process is reading, so the log stays until the file is closed.
    } catch {
      throw storageError(error)
    }
  }

  /// Writes the changes in the log to the file, and closes all connections. SQLite would do so when the last
  /// connection closes, but the last connection of this pool is read-only.
  ///
  /// - Throws: `Failure` of category `inputOutput` if the disk fails. The changes then stay in the log.
  func close() throws {
    let moved = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    let closed = Result { try pool.close() }
    do {
      do {
        try moved.get()
      } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_INTERRUPT].contains(error.resultCode) {
        // `serve token` may be using the file, or a request was cancelled at this moment. The changes then
        // stay in the log, where they are as durable as in the file.
      }
      try closed.get()
    } catch let error as DatabaseError {
      throw Failure(
        .inputOutput,
        "\(name): its file cannot be closed: \(error.message ?? "\(error.resultCode)"); the changes that clients sent are in the log beside it, which the next server reads"
      )
    }
  }
}

extension DatabaseFile {
  private static func prepare(_ database: Database, _ path: String, _ schema: FileSchema) throws {
    if try schema.isCreated(in: database, path: path) { return }
    // Two processes may create the file at the same time. The second one waits for the lock, and then finds
    // the file complete.
    try database.inTransaction(.immediate) {
      if try !schema.isCreated(in: database, path: path) { try schema.make(in: database) }
      return .commit
    }
  }

  /// The error if another process is writing to the file for too long. The client can retry.
  private static var busy: ServiceError {
    .busy("the storage is busy; try again", retryAfterSeconds: 1)
  }

  /// The error for a failure of the storage.
  ///
  /// - Parameter log: the description that is written to the server's log.
  static func storageFailure(_ log: String) -> ServiceError {
    .serverFailure("the server's storage failed; see the server's log", log: log)
  }

  private func storageError(_ error: any Error) -> ServiceError {
    switch error {
    case let known as ServiceError: known
    // The client has disconnected, or the server is stopping.
    case is CancellationError: Self.busy
    case let error as DatabaseError where error.resultCode == .SQLITE_BUSY: Self.busy
    case let damage as DamagedRow: Self.storageFailure("\(name) is damaged: \(damage)")
    // The message of SQLite contains names of tables and columns, but no values, so it can be logged.
    case let error as DatabaseError:
      Self.storageFailure("\(name): \(error.message ?? "") (SQLite \(error.extendedResultCode.rawValue))")
    default: Self.storageFailure("\(name): \(type(of: error))")
    }
  }
}
