// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Glibc
import Logbook
import TemporaryFiles

/// A copy of a store at one moment. Stores with equal content give copies with equal bytes. So a program that
/// keeps many backups can store equal copies only once.
package struct BackupFile: Hashable, Sendable {
  /// The path of the file.
  package let path: String
  /// The length of the file in bytes.
  package let size: Int64
  /// The SHA-256 of the file's bytes, in hexadecimal.
  package let sha256: String
  /// The number of readings in the backup.
  package let readings: Int
  /// The number of records in the backup, including deleted ones.
  package let records: Int

  /// Copies a store to a path where no file exists. Either the copy is complete and checked, or no file is
  /// created.
  ///
  /// - Parameter part: the file in which the copy is made, on the same file system. A file that a killed
  ///   process left there is overwritten.
  /// - Throws: `Failure`: `cannotCreate`, also if a file exists at the path; `temporary` while another
  ///   process uses `part`; `inputOutput` for a damaged copy; `permission`.
  package static func make(of store: Store, at path: String, part: String) throws -> BackupFile {
    try make(of: store, part: part, for: path) { try $0.moveIntoPlace(at: path, replaces: false) }
  }

  /// Like `make`, but replaces an existing file at the path.
  package static func replace(_ path: String, by store: Store, part: String) throws -> BackupFile {
    try make(of: store, part: part, for: path) { try $0.moveIntoPlace(at: path, replaces: true) }
  }

  /// Copies a store into a file without a name and passes its bytes to `body`.
  ///
  /// - Parameter folder: the folder in which the copy is made. SQLite needs a name for the file; the name is
  ///   removed before the first byte is read.
  package static func stream(
    _ store: Store, in folder: String, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> BackupFile {
    let file = try NamedFile(
      folder + "/glucoport.", orFailWith: "\(folder): cannot create a temporary file")
    close(file.descriptor)
    return try make(of: store, part: file.path) { part in
      part.remove()
      try part.forEachPiece(body)
      return ""
    }
  }

  /// Finds the size and the digest that a copy of the store has. The copy is deleted.
  package static func measure(_ store: Store, part: String) throws -> BackupFile {
    try make(of: store, part: part) { part in
      part.remove()
      return ""
    }
  }

  /// - Parameter target: the path that a person named, for messages; nil if that is `path`.
  private static func make(
    of store: Store, part path: String, for target: String? = nil, _ finish: (BackupPart) throws -> String
  ) throws -> BackupFile {
    let part = try BackupPart(path, for: target ?? path)
    defer { part.close() }
    do {
      try store.copy(into: path)
      try part.resetSchemaCookie()
      let counts = try StoreExaminer(path: path).checkedCounts()
      var (digest, size) = (Digest(), Int64(0))
      try part.forEachPiece { piece in
        digest.update(piece)
        size += Int64(piece.count)
      }
      try part.synchronise()
      let placed = try finish(part)
      return BackupFile(
        path: placed, size: size, sha256: digest.hexadecimal(), readings: counts.readings,
        records: counts.records)
    } catch {
      part.remove()
      throw error
    }
  }
}

/// The file in which a copy is made. It is locked, so that two processes never write the same file.
private struct BackupPart {
  private static let pieceBytes = 1 << 20

  let path: String
  private let descriptor: Int32

  /// - Parameter target: the path that a person named, for the message if the file cannot be created.
  init(_ path: String, for target: String) throws(Failure) {
    self.path = path
    descriptor = open(PathText.bytes(path), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Failure(systemCallOn: target, "cannot be created", .cannotCreate) }
    var (held, named) = (stat(), stat())
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
      // Checks that the locked file still has this name. Another process may have renamed it after it was
      // opened.
      fstat(descriptor, &held) == 0, stat(PathText.bytes(path), &named) == 0, held.st_ino == named.st_ino
    else {
      Glibc.close(descriptor)
      throw Failure(.temporary, "\(path): another backup writes this file; try again")
    }
    guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
      defer { Glibc.close(descriptor) }
      throw Failure(systemCallOn: path, "cannot be emptied", .cannotCreate)
    }
    // If a killed process left one of these log files next to the file, SQLite would apply it to the copy.
    for suffix in ["-journal", "-wal", "-shm"] { unlink(PathText.bytes(path + suffix)) }
  }

  func close() { Glibc.close(descriptor) }

  func remove() { unlink(PathText.bytes(path)) }

  func synchronise() throws(Failure) {
    guard fsync(descriptor) == 0 else {
      throw Failure(systemCallOn: path, "cannot be written to disk", .inputOutput)
    }
  }

  func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    var offset = 0
    while true {
      let count = uninterrupted { pread(descriptor, piece.baseAddress, piece.count, off_t(offset)) }
      guard count >= 0 else { throw Failure(systemCallOn: path, "cannot be read", .inputOutput) }
      guard count > 0 else { return }
      try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      offset += count
    }
  }

  /// Sets the schema cookie to a constant, so that equal content has equal bytes. SQLite increases it in each
  /// copy and each restored store. The cookie only needs to differ between two states of one file; see
  /// "Schema cookie" in the SQLite file format.
  func resetSchemaCookie() throws(Failure) {
    let (offset, cookie): (off_t, [UInt8]) = (40, [0, 0, 0, 1])
    guard pwrite(descriptor, cookie, cookie.count, offset) == cookie.count else {
      throw Failure(systemCallOn: path, "cannot be written", .inputOutput)
    }
  }

  /// Renames the copy to its final name and writes the folder to disk, so that the name survives a crash of
  /// the computer.
  func moveIntoPlace(at target: String, replaces: Bool) throws(Failure) -> String {
    try clearLogs(of: target, replaces: replaces)
    if replaces {
      guard rename(PathText.bytes(path), PathText.bytes(target)) == 0 else {
        throw Failure(systemCallOn: target, "cannot be created", .cannotCreate)
      }
    } else if link(PathText.bytes(path), PathText.bytes(target)) == 0 {
      remove()
    } else {
      // Some file systems, such as those of memory cards, support no hard links. There, the copy is renamed.
      let mayRename = errno == EPERM || errno == ENOTSUP
      guard mayRename, access(PathText.bytes(target), F_OK) != 0,
        rename(PathText.bytes(path), PathText.bytes(target)) == 0
      else {
        if mayRename { errno = EEXIST }
        throw Failure(systemCallOn: target, "cannot be created", .cannotCreate)
      }
    }
    try synchroniseFolder(PathText.folder(of: target))
    return target
  }

  /// Makes sure that SQLite applies no log of another database to the copy. Such a log has the name of
  /// `target` plus a suffix. If an existing file is replaced, its logs are removed. If no file is at
  /// `target`, such a log may be the last trace of a lost store, so the backup fails.
  private func clearLogs(of target: String, replaces: Bool) throws(Failure) {
    for suffix in ["-wal", "-journal"] {
      let log = target + suffix
      if replaces {
        guard unlink(PathText.bytes(log)) == 0 || errno == ENOENT else {
          throw Failure(systemCallOn: log, "cannot be removed", .inputOutput)
        }
      } else if access(PathText.bytes(log), F_OK) == 0 {
        throw Failure(
          .cannotCreate, "\(log): the log of a database that is gone would damage the copy; move it away")
      }
    }
  }

}

extension Store {
  /// Writes the store's state at one moment into an empty file, without free pages and without a log. Other
  /// processes can read and write the store during the copy.
  fileprivate func copy(into file: String) throws {
    guard isFrozen || access(PathText.bytes(self.path), W_OK) != 0 else {
      return try translatingErrors(file) { try queue.inDatabase { try Self.vacuum($0, into: file) } }
    }
    // SQLite 3.40 fails with VACUUM INTO if it may not write the source and a table has a generated column.
    // So the pages are copied to a temporary database first. It has no name, so that a killed process leaves
    // no file.
    try translatingErrors(file) {
      let writable = try DatabaseQueue(path: "")
      try queue.backup(to: writable)
      try writable.inDatabase { try Self.vacuum($0, into: file) }
      try writable.close()
    }
  }

  private static func vacuum(_ database: Database, into file: String) throws {
    // SQLite refuses VACUUM INTO while `query_only` is on, although VACUUM INTO writes only another file.
    // So the setting is turned off during the copy.
    let isReader = try Bool.fetchOne(database, sql: "PRAGMA query_only") ?? false
    try database.execute(sql: "PRAGMA query_only = OFF")
    let copied = Result {
      try StoreFile.withText(file) { try database.execute(sql: "VACUUM INTO ?", arguments: [$0]) }
    }
    try database.execute(sql: "PRAGMA query_only = \(isReader ? "ON" : "OFF")")
    try copied.get()
  }

  /// Replaces the whole content of the store by the content of another file, in one transaction. Other
  /// processes see either the old or the new content. From the call of `keep` to the end, no other process
  /// can write.
  ///
  /// - Parameter keep: saves the old content, through another connection. If it throws, nothing is replaced.
  /// - Throws: `Failure`, as for reading a store, and errors of `keep`.
  package func replace(by path: String, keeping keep: () throws -> Void) throws {
    try translatingErrors(self.path) {
      var configuration = GRDB.Configuration()
      configuration.readonly = true
      let source = try StoreFile.withText(path) { try DatabaseQueue(path: $0, configuration: configuration) }
      try source.inDatabase { from in
        try queue.inDatabase { to in try Self.copy(from, to, afterLock: keep) }
      }
      try source.close()
    }
  }

  private static func copy(_ from: Database, _ to: Database, afterLock keep: () throws -> Void) throws {
    let connection = to.sqliteConnection
    guard let backup = sqlite3_backup_init(connection, "main", from.sqliteConnection, "main") else {
      throw DatabaseError(resultCode: to.lastErrorCode, message: to.lastErrorMessage)
    }
    var isOpen = true
    defer { if isOpen { sqlite3_backup_finish(backup) } }
    func require(_ code: Int32, _ expected: Int32) throws {
      guard code == expected else {
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: to.lastErrorMessage)
      }
    }
    // A step of zero pages only takes the write lock. The lock is held until the backup ends, so the store
    // cannot change between `keep` and the copy.
    try require(sqlite3_backup_step(backup, 0), SQLITE_OK)
    try keep()
    try require(sqlite3_backup_step(backup, -1), SQLITE_DONE)
    isOpen = false
    try require(sqlite3_backup_finish(backup), SQLITE_OK)
  }
}

extension StoreExaminer {
  /// Checks a copy that no other connection has open, and counts its readings and records.
  ///
  /// - Throws: `Failure` of category `inputOutput` for a damaged copy.
  package func checkedCounts() throws -> (readings: Int, records: Int) {
    let found = try examine(isDeep: false)
    guard let found, found.damage.isEmpty, found.changedSchema.isEmpty else {
      throw Failure(.inputOutput, "\(path): the copy is damaged; 'glucoport doctor --deep' checks the store")
    }
    return try translatingErrors(path) {
      let file = try ExaminedFile(path, isImmutable: !hasLog)
      let readings = try file.number("SELECT count(*) FROM reading") ?? 0
      guard try file.number("SELECT coalesce(sum(readings), 0) FROM series") == readings else {
        throw Failure(
          .inputOutput,
          "\(path): the copy has \(readings) readings, and counts others; 'glucoport doctor --deep' checks the store"
        )
      }
      return (Int(readings), Int(try file.number("SELECT count(*) FROM record") ?? 0))
    }
  }
}
