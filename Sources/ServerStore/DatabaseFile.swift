// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// An open SQLite file of the server, with one writer and with readers that never wait for it.
struct DatabaseFile: Sendable {
  private let pool: DatabasePool
  private let name: String

  /// The time that a connection waits for another process: `serve token` can write while a server runs.
  private static let busyTimeoutSeconds = 5.0
  private static let maxReaders = 3
  /// The maximum number of open descriptors for one file. Each connection opens the database and its log; all share one
  /// memory file.
  static let maxFiles = 2 * (maxReaders + 1) + 1

  /// Opens or creates the file.
  ///
  /// - Throws: `Failure`: `cannotCreate`, `badInput` for a foreign file, `configuration` for a newer file or an SQLite
  ///   library that is too old.
  init(path: String, name: String, schema: FileSchema) throws {
    self.name = name
    let configuration = try Configuration.ofFile(
      busyTimeoutSeconds: Self.busyTimeoutSeconds, maxReaders: Self.maxReaders, cacheKiB: 2048
    ) { _ = try schema.isMade(in: $0, path: path) }
    try DataFolder.makeFile(path)
    try ForeignJournal.refuse(at: path)
    do {
      let upgrade = SchemaUpgrade(schema, path: path, busyTimeoutSeconds: Self.busyTimeoutSeconds)
      pool = try upgrade.opening(path) { try DatabasePool(path: path, configuration: configuration) }
      try pool.writeWithoutTransaction { database in
        // The pool sets NORMAL, with which a power failure can undo commits.
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

  /// Runs a transaction that may write, and blocks until it ends.
  func writeNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.write(work) }

  /// Runs a transaction that reads, and blocks until it ends.
  func readNow<Value>(_ work: (Database) throws -> Value) throws -> Value { try pool.read(work) }

  /// Moves all changes into the file and empties its log, unless another process is reading.
  func flush() async throws(ServiceError) {
    do {
      try await pool.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The log will be emptied when the file is closed.
    } catch {
      throw storageError(error)
    }
  }

  /// Moves all changes into the file and closes every connection. SQLite does so when the last connection closes, but
  /// here the last connections are read-only.
  ///
  /// - Throws: `Failure` of category `inputOutput` for a disk that fails. The changes then stay in the log.
  func close() throws {
    let moved = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    let closed = Result { try pool.close() }
    do {
      do {
        try moved.get()
      } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_INTERRUPT].contains(error.resultCode) {
        // `serve token` may be reading or writing, or a request was cancelled in this moment. The changes then stay in the
        // log, which is equally durable.
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
    if try schema.isMade(in: database, path: path) { return }
    // Two processes may create the file at the same time: the second one finds it complete once it has the lock.
    try database.inTransaction(.immediate) {
      if try !schema.isMade(in: database, path: path) { try schema.make(in: database) }
      return .commit
    }
  }

  /// Another writer holds the file; a retry can succeed.
  private static var busy: ServiceError {
    .busy("the storage is busy; try again", retryAfterSeconds: 1)
  }

  /// The storage failed.
  ///
  /// - Parameter log: the description for the server's log.
  static func failed(_ log: String) -> ServiceError {
    .serverFailure("the server's storage failed; see the server's log", log: log)
  }

  private func storageError(_ error: any Error) -> ServiceError {
    switch error {
    case let known as ServiceError: known
    // The client disconnected, or the server stops.
    case is CancellationError: Self.busy
    case let error as DatabaseError where error.resultCode == .SQLITE_BUSY: Self.busy
    case let damage as DamagedRow: Self.failed("\(name) is damaged: \(damage)")
    // SQLite's message names tables and columns, but no values.
    case let error as DatabaseError:
      Self.failed("\(name): \(error.message ?? "") (SQLite \(error.extendedResultCode.rawValue))")
    default: Self.failed("\(name): \(type(of: error))")
    }
  }
}
