// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import LogbookAPI

/// The data folder of a server.
struct DataFolder: Sendable {
  let path: String

  /// Opens or creates the folder.
  ///
  /// - Parameter mayBeMoved: whether to accept a folder whose data were moved to a database.
  /// - Throws: `Failure`: `cannotCreate`, `permission` for a folder that other users can write to,
  ///   `configuration` for a folder whose data were moved.
  init(_ path: String, mayBeMoved: Bool = false) throws {
    self.path = path
    guard mayBeMoved || access(moveMark, F_OK) != 0 else {
      let name = try movedTo.map { "the database \($0.name)" } ?? "a database"
      throw Failure(
        .configuration,
        "\(path): these data were moved to \(name) by 'glucoport serve import'; use --database"
      )
    }
    try Self.createFolder(path)
    try Self.createFolder(path + "/logbooks")
    // Files of logbooks are opened by name. Other users who can write to the folder could replace them.
    for folder in [path, path + "/logbooks"] {
      var status = stat()
      guard stat(folder, &status) == 0, status.st_mode & 0o022 == 0 else {
        throw Failure(
          .permission,
          "\(folder): other users may write to this folder; run 'chmod 700' on it and check its files")
      }
    }
  }

  /// The path of the file with the logins and the names of logbooks.
  var serverFile: String { path + "/server.db" }

  /// The path of a file that marks the folder as moved to a database, and names the database.
  var moveMark: String { path + "/moved-to-database" }

  /// The database to which the data were moved. Nil if they were not moved, or if the mark names no database.
  ///
  /// - Throws: `Failure` if there is a mark that cannot be read.
  var movedTo: MovedDatabase? {
    get throws {
      guard access(moveMark, F_OK) == 0 else { return nil }
      do {
        return MovedDatabase(line: try String(contentsOfFile: moveMark, encoding: .utf8))
      } catch {
        throw Failure(.inputOutput, "\(moveMark): cannot be read: \(error.localizedDescription)")
      }
    }
  }

  /// Marks the folder as moved to a database.
  func mark(_ database: MovedDatabase) throws {
    try Self.makeFile(moveMark)
    let descriptor = open(moveMark, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
    let line = Array(database.line.utf8)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw Failure(.inputOutput, "\(moveMark): cannot be written: \(String(cString: strerror(errno)))")
    }
    try synchroniseFolder(path)
  }

  func logbookFile(_ id: String) -> String { "\(path)/logbooks/\(id).db" }

  /// Removes all files of a logbook: those whose names begin with the logbook's id.
  ///
  /// - Throws: `Failure` of category `inputOutput` if a file remains.
  func removeLogbook(_ id: String) throws {
    let folder = path + "/logbooks"
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(id) {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
    } catch {
      throw Failure(.inputOutput, "\(folder): cannot remove the logbook \(id): \(error.localizedDescription)")
    }
    try synchroniseFolder(folder)
  }

  /// Locks the folder for one server. The lock ends when it is released or the process ends.
  func lock() throws -> FolderLock { try FolderLock(path + "/lock") }

  /// Creates a file that only its owner can read. An existing file is not changed, except that an empty one
  /// becomes private.
  static func makeFile(_ path: String) throws {
    let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .cannotCreate,
        "\(path): cannot open the file: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    // An existing empty file may be readable for others. It contains nothing yet, so its mode can be
    // restricted.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == 0, status.st_mode & 0o077 != 0 else { return }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw Failure(.permission, "\(path): cannot make the file private: \(String(cString: strerror(errno)))")
    }
  }

  private static func createFolder(_ path: String) throws {
    if access(path, F_OK) == 0 { return }
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .cannotCreate,
        "\(path): cannot create the folder: \(String(cString: strerror(errno)))")
    }
  }
}

/// A lock on a file, which the kernel releases when the process ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  fileprivate init(_ path: String) throws {
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(.permission, "\(path): cannot open the lock: \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw Failure(.temporary, "\(path): another 'glucoport serve' uses this folder")
    }
  }

  deinit { close(descriptor) }

  /// Releases the lock, so that another server can use the folder.
  func release() { flock(descriptor, LOCK_UN) }
}
