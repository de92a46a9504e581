// SPDX-License-Identifier: Apache-2.0

package import GRDB
import Glibc
import Logbook

/// The numbers in the header of an SQLite database that identify its type and version.
package struct SchemaHeader: Hashable, Sendable {
  /// The application id, which identifies the program that created the file.
  package let applicationID: Int
  /// The user version, which is the number of the schema.
  package let version: Int

  /// Reads the header of a file; nil for a file that is not a database.
  ///
  /// It must not be used for a file that this process has open as a database. Closing a descriptor of the
  /// file would release the locks of all its connections.
  package init?(path: String) {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 100)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count,
      bytes.starts(with: Array("SQLite format 3\0".utf8))
    else { return nil }
    func number(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    (applicationID, version) = (number(at: 68), number(at: 60))
  }
}

/// Upgrades a file with an older schema to the current one. It does so in one transaction, after it has
/// stored a copy of the file next to it.
package struct SchemaUpgrade {
  /// The suffix of the copy's name. There is only one copy, of the file before its last upgrade.
  package static let copySuffix = ".before-schema"
  private static let partSuffix = ".part"

  private let schema: FileSchema
  private let path: String
  private let busyTimeoutSeconds: Double

  /// The upgrade of a file to a schema.
  package init(_ schema: FileSchema, path: String, busyTimeoutSeconds: Double) {
    (self.schema, self.path, self.busyTimeoutSeconds) = (schema, path, busyTimeoutSeconds)
  }

  /// Opens a file. If it has an older schema, it is upgraded first.
  ///
  /// Only SQLite reads the file, since the process may already have it open; see `SchemaHeader`.
  ///
  /// - Parameters:
  ///   - file: the path or URI with which SQLite opens the file.
  ///   - open: opens the file, and throws the errors of `FileSchema.isCreated`.
  package func opening<Connection>(_ file: String, _ open: () throws -> Connection) throws -> Connection {
    do {
      return try open()
    } catch let failure as Failure where failure.category == .configuration && !schema.steps.isEmpty {
      try run(opening: file)
      return try open()
    }
  }

  /// Applies the missing steps. Nothing is done for a file with the current schema, and for a file of another
  /// program.
  ///
  /// - Parameter file: the path or URI with which SQLite opens the file.
  /// - Throws: `Failure`: `cannotCreate`, `permission` and `inputOutput` if the copy cannot be stored;
  ///   `inputOutput` for a file with a view in place of a table; `DatabaseError`. After an error, the file is
  ///   unchanged.
  package func run(opening file: String) throws {
    guard !schema.steps.isEmpty else { return }
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeoutSeconds)
    let queue = try DatabaseQueue(path: file, configuration: configuration)
    try queue.inDatabase { database in
      // At first, the version is only read, so that files of another program or of a newer version are not
      // locked for writing.
      guard try Int.fetchOne(database, sql: "PRAGMA application_id") == schema.applicationID,
        try upgradableVersion(database) != nil
      else { return }
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.inTransaction(.immediate) {
        // Another process may have upgraded the file while this one waited for the lock, so the version is
        // read again.
        guard let found = try upgradableVersion(database) else { return .rollback }
        try keepCopy(file, configuration)
        try apply(from: found, to: database, replacingTriggers: schema.names(of: "trigger"))
        return .commit
      }
    }
    try queue.close()
  }

  /// Applies the missing steps to a copy of a file of unknown origin. Nothing is done for a copy with the
  /// current schema.
  ///
  /// - Throws: as `run(opening:)`.
  package func run(onCopy database: Database) throws {
    guard let found = try upgradableVersion(database) else { return }
    try database.inTransaction(.immediate) {
      let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name IS NOT NULL"
      try apply(from: found, to: database, replacingTriggers: String.fetchAll(database, sql: triggers))
      return .commit
    }
  }

  /// Applies the steps from version `found` on, inside a transaction. The triggers are removed and created
  /// again, so that steps can change immutable data. The views are also created again; they hold no data.
  ///
  /// - Parameter triggers: the names of the triggers that are removed. Other triggers of the file stay.
  private func apply(from found: Int, to database: Database, replacingTriggers triggers: [String]) throws {
    if let table = try schema.replacedTables(String.fetchAll(database, sql: FileSchema.views)).first {
      throw Failure(
        .inputOutput,
        "\(path): this \(schema.name) is damaged: table \(table) is missing or changed; use another copy of it"
      )
    }
    for name in triggers {
      try database.execute(sql: "DROP TRIGGER IF EXISTS \(name.quotedDatabaseIdentifier)")
    }
    for step in schema.steps where step.version >= found {
      for statement in step.statements { try database.execute(sql: statement) }
    }
    // The views are dropped after the steps. If they were dropped before, SQLite would refuse to rename a
    // column while another program's view uses a dropped view.
    for name in try schema.names(of: "view") {
      try database.execute(sql: "DROP VIEW IF EXISTS \(name.quotedDatabaseIdentifier)")
    }
    for type in ["view", "trigger"] {
      for statement in try schema.statements(of: type) { try database.execute(sql: statement) }
    }
    try database.execute(sql: "PRAGMA user_version = \(schema.version)")
  }

  /// The version of the file; nil if no step upgrades it.
  private func upgradableVersion(_ database: Database) throws -> Int? {
    let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    return (schema.firstKept..<schema.version).contains(found) ? found : nil
  }

  /// Stores a copy of the file, by another connection, while this process holds the lock for writing.
  private func keepCopy(_ file: String, _ configuration: Configuration) throws {
    let (copy, part) = (path + Self.copySuffix, path + Self.copySuffix + Self.partSuffix)
    // A killed process may have left the journal of a partial copy, which SQLite would apply to this copy.
    for name in [part + "-journal", part] {
      guard unlink(PathText.bytes(name)) == 0 || errno == ENOENT else { throw failure(name, .cannotCreate) }
    }
    let descriptor = open(PathText.bytes(part), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(part, .cannotCreate) }
    defer { close(descriptor) }
    let reader = try DatabaseQueue(path: file, configuration: configuration)
    // SQLite resolves this path to the file's real name, even if the name is not UTF-8.
    try reader.inDatabase {
      try $0.execute(sql: "VACUUM INTO ?", arguments: ["/proc/self/fd/\(descriptor)"])
    }
    try reader.close()
    guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0,
      rename(PathText.bytes(part), PathText.bytes(copy)) == 0
    else { throw failure(copy, .inputOutput) }
    let slash = path.lastIndex(of: "/")
    try synchroniseFolder(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
  }

  private func failure(_ name: String, _ category: FailureCategory) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM ? .permission : category,
      "\(name): cannot keep a copy of the \(schema.name) before its schema changes: \(String(cString: strerror(reason)))"
    )
  }
}
