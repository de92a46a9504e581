// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
import GRDBSQLite
import Glibc
package import Logbook
import SQLiteRows

/// What a connection may change. TEMP triggers of the connection enforce its role.
package enum StoreRole: String, Sendable {
  /// Reads only.
  case reader
  /// Stores readings and the records of an export.
  case importer
  /// Edits records and settings.
  case editor
  /// Edits records and resolves conflicts. No other role can make the remote's state in a conflict the base.
  case resolver
  /// Writes `uploaded`, `version_synced` and the other columns of sync, which no other role can write.
  case sync
}

/// One person's logbook in an SQLite file. This type and its extensions are the whole interface of the
/// module.
package final class Store {
  /// The path of the file; empty for a temporary copy.
  package let path: String
  /// Whether the file is read without locks, since its folder is not writable.
  package let isFrozen: Bool
  /// The connection. It is `package`, so that tests can make its SQL statements fail.
  package let queue: DatabaseQueue
  /// The table `batch` in memory, from which SQL statements read many readings at once.
  let batch: BatchTable

  /// How long a connection waits for a transaction of another connection, in seconds. Imports commit at least
  /// every second.
  static let busyTimeoutSeconds = 30.0

  /// What a message advises for a damaged file.
  package static let recovery =
    "move it away, then restore a backup with 'glucoport restore', or import again and download the rest with "
    + "'glucoport remote set' and 'glucoport upload'"

  /// Opens an existing store.
  ///
  /// - Throws: `Failure`: `missingInput` without a file and for a folder; `badInput` for a file that is not a
  ///   store; `permission`; `inputOutput`. `configuration` for a newer schema, and for a library of SQLite
  ///   that is too old.
  package convenience init(path: String, role: StoreRole) throws {
    guard try StoreFile.exists(path) else {
      throw Failure(.missingInput, "\(path): No such store; 'glucoport import' creates one")
    }
    try self.init(opening: path, role: role)
  }

  /// Opens a store that must not change, such as a backup, for reading. If a program with an older schema
  /// wrote it, a copy is upgraded in a file without a name.
  ///
  /// - Throws: `Failure`, as `init(path:role:)`; for a copy, also as `StoreExaminer.requireOwnSchema`.
  package static func unchanged(path: String) throws -> Store {
    let examiner = StoreExaminer(path: path)
    guard try translatingErrors(path, { try examiner.isOlder }) else {
      return try Store(opening: path, role: .reader, source: .itself)
    }
    return try Store(opening: "", role: .reader, source: .older(examiner))
  }

  /// Whether a file exists that may be a store.
  ///
  /// - Throws: `Failure`: `missingInput` for a folder, `permission`, `badInput` if it is not a regular file.
  package static func exists(path: String) throws -> Bool { try StoreFile.exists(path) }

  /// Whether the first bytes of a file are those of a store.
  package static func isStore(path: String) -> Bool {
    SchemaHeader(path: path)?.applicationID == Schema.schema.applicationID
  }

  /// Opens a store. If it does not exist, creates it with this base zone.
  ///
  /// - Parameters:
  ///   - isGiven: whether a person gave the zone. A zone of the system is later replaced by that of the
  ///     remote's logbook.
  ///   - isForImport: whether a person gave the zone for the import that creates the store; see
  ///     `endFirstImport`.
  /// - Throws: `Failure` as for opening, and `cannotCreate`.
  package static func openOrCreate(
    path: String, role: StoreRole, zone: LogbookZone, isGiven: Bool = true, isForImport: Bool = false
  ) throws -> Store {
    if try !StoreFile.exists(path) || StoreFile.isEmpty(path) { try StoreFile.create(path) }
    let store = try Store(
      opening: path, role: role, base: LogbookZones(base: zone.base, origin: isGiven ? .given : .system),
      isForImport: isForImport)
    return store
  }

  /// A copy of a store, or a new one, in a file without a name. Imports into it change nothing permanently.
  package static func scratch(
    copyOf original: Store?, zone: LogbookZone, isGiven: Bool = true, isForImport: Bool = false,
    role: StoreRole = .importer
  ) throws -> Store {
    let base = LogbookZones(base: zone.base, origin: isGiven ? .given : .system)
    let copy = try Store(
      opening: "", role: role, base: original == nil ? base : nil, isForImport: isForImport,
      source: original.map(ConnectionTarget.copy) ?? .itself)
    return copy
  }

  /// The database that a new connection opens.
  private enum ConnectionTarget {
    /// The file. If its schema is older, it is upgraded.
    case upgraded
    /// The file, without any change.
    case itself
    /// A copy of another store.
    case copy(Store)
    /// An upgraded copy of a store with an older schema.
    case older(StoreExaminer)
  }

  private init(
    opening path: String, role: StoreRole, base: LogbookZones? = nil, isForImport: Bool = false,
    source: ConnectionTarget = .upgraded
  ) throws {
    self.path = path
    let frozen = role == .reader && !path.isEmpty ? try FrozenFile(path: path) : nil
    isFrozen = frozen != nil
    if !path.isEmpty { try ForeignJournal.refuse(at: path) }
    queue = try translatingErrors(path) {
      let configuration = try Configuration.ofFile(
        busyTimeoutSeconds: Self.busyTimeoutSeconds, maxReaders: 1, cacheKiB: role == .importer ? 512 : 4096
      ) { database in
        if try Schema.schema.isCreated(in: database, path: path) {
          try SchemaComparison.require(in: database, path: path, isWritten: role != .reader)
        }
        // Setting the journal mode would change the bytes of a backup, so a reader does not set it.
        if !path.isEmpty, role != .reader { try database.execute(sql: "PRAGMA journal_mode = WAL") }
      }
      if let frozen { return try DatabaseQueue(path: frozen.name, configuration: configuration) }
      guard case .upgraded = source else { return try Self.openQueue(path, configuration) }
      let upgrade = SchemaUpgrade(Schema.schema, path: path, busyTimeoutSeconds: Self.busyTimeoutSeconds)
      return try StoreFile.withText(path) { file in
        try upgrade.opening(file) { try Self.openQueue(path, configuration) }
      }
    }
    batch = try translatingErrors(path) { [queue] in
      switch source {
      case .upgraded, .itself: break
      case .copy(let original): try original.queue.backup(to: queue)
      case .older(let examiner): try examiner.copyUpgraded(to: queue)
      }
      return try queue.inDatabase { database in
        if case .copy(let original) = source, role != .reader {
          try SchemaComparison.require(in: database, path: original.path, isWritten: true)
        }
        try Self.prepareSchema(database, path: path, base: base, isForImport: isForImport)
        try Roles.install(role, in: database)
        if role == .importer { try IngestWriter.makeTables(database) }
        if role != .reader { try UnknownZones.deriveWhatIsKnown(database) }
        return try BatchTable(database)
      }
    }
  }

  /// Opens the file. If two processes switch a new file to its write-ahead log at the same time, each holds a
  /// lock that the other needs. SQLite then refuses one of them at once. The refused process tries again.
  private static func openQueue(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
    let end = ContinuousClock.now + .seconds(busyTimeoutSeconds)
    while true {
      do {
        return try StoreFile.withText(path) { try DatabaseQueue(path: $0, configuration: configuration) }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
        usleep(2000)
      }
    }
  }

  private static func prepareSchema(
    _ database: Database, path: String, base: LogbookZones?, isForImport: Bool
  ) throws {
    if try Schema.schema.isCreated(in: database, path: path) { return }
    // Two processes may create the store at the same time. The second one waits for the lock, and then finds
    // the store complete.
    try database.inTransaction(.immediate) {
      if try Schema.schema.isCreated(in: database, path: path) { return .commit }
      // The file has no tables: a crash interrupted its creation, or another process is still creating it. To
      // complete it, the zone must be known.
      guard let base else {
        throw Failure(.missingInput, "\(path): the store is still empty; 'glucoport import' completes it")
      }
      try Schema.schema.make(in: database)
      try database.execute(
        sql: "INSERT INTO setting (name, value) VALUES ('store-id', ?)",
        arguments: [UUID().uuidString.lowercased()])
      try ZoneRecords.setUnjoinedBase(base.base, base.origin, database)
      if isForImport { try Store.set(.baseOfImport, "1", database) }
      return .commit
    }
  }
}

/// Runs work with the database. Errors of SQLite become failures with a sentence and a category.
func translatingErrors<Value>(_ path: String, _ work: () throws -> Value) throws -> Value {
  do {
    return try work()
  } catch let error as DatabaseError {
    throw failure(for: error, path: path).of(store: path)
  } catch let damage as DamagedRow {
    throw Failure(.inputOutput, "the store \(fileName(path)) is damaged: \(damage); \(Store.recovery)")
      .of(store: path)
  } catch is RowDecodingError {
    // The error's own text contains the row, and with it health data, so it is not shown.
    throw Failure(
      .inputOutput,
      "the store \(fileName(path)) is damaged: a row holds another type than its column; \(Store.recovery)"
    ).of(store: path)
  }
}

private func fileName(_ path: String) -> String { path.isEmpty ? "the temporary copy" : path }

private func failure(for error: DatabaseError, path: String) -> Failure {
  let name = fileName(path)
  switch error.resultCode {
  case .SQLITE_BUSY, .SQLITE_LOCKED:
    return Failure(.temporary, "\(name): another process holds the lock on the store; try again")
  case .SQLITE_FULL:
    let place =
      StoreFile.hasRoom(path) ? "the folder for temporary files (TMPDIR) is full" : "the disk is full"
    return Failure(.inputOutput, "\(name): \(place); the last batch was not stored, earlier ones are safe")
  case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
    return Failure(
      .permission,
      "\(name): cannot write to the store: permission denied or read-only; check the file and its folder")
  case .SQLITE_CANTOPEN:
    return path.isEmpty
      ? Failure(.cannotCreate, "\(name): cannot be created in the folder for temporary files")
      : StoreFile.refusal(path)
  case .SQLITE_NOTADB:
    return Failure(.badInput, "\(name): not a glucoport store")
  case .SQLITE_CORRUPT:
    return Failure(.inputOutput, "\(name): the store is damaged; \(Store.recovery)")
  case .SQLITE_IOERR:
    return Failure(
      .inputOutput,
      "\(name): reading or writing the store failed (\(error.message ?? "I/O error")); is the disk full?")
  default:
    return Failure(.inputOutput, "\(name): \(error.message ?? "database error \(error.resultCode.rawValue)")")
  }
}

/// A store that can be read although nothing can be written next to it: on read-only media, or in a folder of
/// another user.
///
/// SQLite needs a file for its log next to the store, even to read it. It needs no such file if a URI
/// declares the store immutable.
struct FrozenFile {
  /// The URI that SQLite opens in place of the path.
  let name: String

  /// The store at a path; nil if its folder is writable, or if SQLite was built without URIs.
  ///
  /// - Throws: `Failure`: `permission` if the log next to the store has changes that cannot be read without
  ///   writing.
  init?(path: String) throws(Failure) {
    // SQLite creates the log next to the file itself, not next to a symbolic link to it. So links are
    // resolved.
    guard sqlite3_compileoption_used("USE_URI") != 0 else { return nil }
    let real = StoreFile.resolved(path)
    guard access(PathText.bytes(PathText.folder(of: real)), W_OK) != 0 else { return nil }
    if Self.size(real + "-wal") > 0 {
      // If the index of the log exists, SQLite can read the log without writing.
      if access(PathText.bytes(real + "-shm"), R_OK) == 0 { return nil }
      throw Failure(
        .permission,
        "\(path): its last changes are in '\(real)-wal', which can only be read in a folder that can be written; copy both "
          + "files into one"
      )
    }
    name = "file:" + Self.escaped(real) + "?mode=ro&immutable=1"
  }

  /// Refuses a store whose log has changes that cannot be read without writing.
  ///
  /// - Throws: `Failure` of category `permission`.
  static func requireReadableLog(of path: String) throws(Failure) { _ = try FrozenFile(path: path) }

  /// The length of a file in bytes; 0 if it does not exist.
  private static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 ? Int64(status.st_size) : 0
  }

  /// The path with its bytes escaped for a URI.
  private static func escaped(_ path: String) -> String {
    PathText.bytes(path).dropLast().map { unit in
      let byte = UInt8(bitPattern: unit)
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        return String(UnicodeScalar(byte))
      default: return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
      }
    }.joined()
  }
}

extension Store {
  /// Two texts that distinguish this store from those of other people. Callers use hashes of them as
  /// identifiers. The texts are the time at which the first import began, and the digest of its input. No
  /// import is ever removed, so they never change. Nil for a store without imports.
  ///
  /// The name of the file is not used: an attacker could guess names and compare the hashes.
  package func identityParts() throws -> [String]? {
    try read { database in
      try Row.fetchOne(
        database, sql: "SELECT started_at, coalesce(digest, '') FROM ingest ORDER BY id LIMIT 1"
      ).map { row in
        let row = StoredRow(row, of: "ingest")
        let (startedAt, digest): (Int64, String) = (try row.seconds(0), try row[1])
        return [String(startedAt), digest]
      }
    }
  }
}
