// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import Logbook
import SQLiteRows

/// A copy of a server's data folder, which can be made while the server runs. Each logbook is copied as it is
/// at one moment. The logins are copied last, so that no login refers to data that the copy lacks.
package struct ServerBackup: Hashable, Sendable {
  /// The folder of the copy.
  package let path: String
  /// The number of logbooks.
  package let logbooks: Int
  /// The total size of the files in bytes.
  package let size: Int64

  private static let prefix = "server-"
  private static let partName = ".glucoport-server-backup.part"

  /// Makes a copy whose name contains the time. Either the copy is complete and checked, or none is created.
  ///
  /// - Parameters:
  ///   - source: the data folder of the server.
  ///   - target: an existing folder outside of the data folder, best on another disk.
  ///   - stamp: the time, as it is written in the name.
  /// - Throws: `Failure`: `missingInput` if `source` is not a server's data folder; `temporary` while another
  ///   process copies to `target`; `cannotCreate`, `permission`; `inputOutput` for a damaged file.
  package static func make(of source: String, in target: String, stamp: String) throws -> ServerBackup {
    guard access(source + "/server.db", F_OK) == 0 else {
      throw Failure(.missingInput, "\(source): no data of a server; name its folder with --data")
    }
    let base = target.hasSuffix("/") ? target : target + "/"
    let part = base + partName
    let lock = try lock(part + ".lock")
    defer { close(lock) }
    // If there is already a copy of the same second, a number is added to the name.
    let names = [stamp] + (2...99).map { "\(stamp)-\($0)" }
    guard let final = names.map({ base + prefix + $0 }).first(where: { access($0, F_OK) != 0 }) else {
      throw Failure(.cannotCreate, "\(base + prefix + stamp): File exists")
    }
    try remove(part)
    do {
      let backup = try copy(source, part, final)
      guard rename(part, final) == 0 else {
        throw Failure(systemCallOn: final, "cannot be created", .cannotCreate)
      }
      try synchroniseFolder(target)
      return backup
    } catch {
      try remove(part)
      throw error
    }
  }

  /// Removes older copies of a server from the folder that contains this copy. Returns their paths. This copy
  /// stays, even if a wrong clock makes it look older. Copies without any logbook of this server stay, since
  /// they are of another server.
  ///
  /// - Parameter count: the number of copies that stay, including this one.
  /// - Throws: `Failure` of category `inputOutput`.
  package func removeOlder(of source: String, keeping count: Int) throws -> [String] {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let (base, own) = (path[...slash], path[path.index(after: slash)...])
    let logbooks = try Self.logbooks(in: source)
    let names = try FileManager.default.contentsOfDirectory(atPath: String(base)).filter {
      $0 != own && $0.wholeMatch(of: /server-\d{4}-\d\d-\d\dT\d{6}Z(-\d+)?/) != nil
    }
    let older = try names.filter { name in
      guard access(base + name + "/server.db", F_OK) == 0, access(base + name + "/logbooks", F_OK) == 0 else {
        return false
      }
      return try !logbooks.isDisjoint(with: Self.logbooks(in: base + name))
    }
    return try older.sorted().dropLast(count - 1).map { name in
      try Self.remove(base + name)
      return base + name
    }
  }

  /// The names of the logbooks' files in a data folder. Each name contains the id of its logbook.
  private static func logbooks(in folder: String) throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(atPath: folder + "/logbooks").filter { $0.hasSuffix(".db") }
    )
  }

  private static func copy(_ source: String, _ part: String, _ final: String) throws -> ServerBackup {
    for folder in [part, part + "/logbooks"] where mkdir(folder, 0o700) != 0 {
      throw Failure(systemCallOn: folder, "cannot be created", .cannotCreate)
    }
    let logbooks = try logbooks(in: source).sorted()
    var size: Int64 = 0
    for name in logbooks {
      size += try copy(file: "/logbooks/" + name, LogbookSchema.schema, source, part)
    }
    size += try copy(file: "/server.db", LoginSchema.schema, source, part)
    try synchroniseFolder(part + "/logbooks")
    try synchroniseFolder(part)
    return ServerBackup(path: final, logbooks: logbooks.count, size: size)
  }

  /// Copies one file, checks the copy and writes it to disk. Returns the size of the copy in bytes.
  private static func copy(
    file: String, _ schema: FileSchema, _ source: String, _ part: String
  ) throws -> Int64 {
    try ForeignJournal.refuse(at: source + file)
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(30)
      let queue = try DatabaseQueue(path: source + file, configuration: configuration)
      try queue.inDatabase { database in
        guard try schema.isCreated(in: database, path: source + file) else { return }
        try database.execute(sql: "VACUUM INTO ?", arguments: [part + file])
      }
      try queue.close()
      // If the source has no tables yet, no file was copied.
      guard access(part + file, F_OK) == 0 else { return 0 }
      guard chmod(part + file, 0o600) == 0 else {
        throw Failure(systemCallOn: part + file, "cannot be made private", .permission)
      }
      try requireIntact(part + file)
    } catch let error as DatabaseError {
      throw Failure(
        .inputOutput, "\(source + file): cannot be copied: \(error.message ?? "\(error.resultCode)")")
    }
    let descriptor = open(part + file, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var status = stat()
    guard descriptor >= 0, fsync(descriptor) == 0, fstat(descriptor, &status) == 0 else {
      throw Failure(systemCallOn: part + file, "cannot be written to disk", .inputOutput)
    }
    return Int64(status.st_size)
  }

  private static func requireIntact(_ path: String) throws {
    let queue = try DatabaseQueue(path: path)
    let found = try queue.inDatabase { try String.fetchAll($0, sql: "PRAGMA quick_check(1)") }
    try queue.close()
    guard found == ["ok"] else { throw Failure(.inputOutput, "\(path): the copy is damaged") }
  }

  private static func lock(_ path: String) throws -> Int32 {
    let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Failure(systemCallOn: path, "cannot be created", .cannotCreate) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw Failure(.temporary, "\(path): another backup of a server writes into this folder; try again")
    }
    return descriptor
  }

  /// Removes a copy, or the incomplete copy that a killed process left.
  private static func remove(_ path: String) throws {
    guard access(path, F_OK) == 0 else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw Failure(.inputOutput, "\(path): cannot be removed: \(error.localizedDescription)")
    }
  }

}
