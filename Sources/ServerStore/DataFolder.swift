// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import LogbookAPI

/// The folder with all files of a server.
struct DataFolder: Sendable {
  let path: String

  /// Opens or creates the folder.
  ///
  /// - Parameter mayBeMoved: whether a folder whose data were moved to a database is accepted.
  /// - Throws: `Failure`: `cannotCreate`, `permission` for a folder that others can write to, `configuration` for one
  ///   whose data were moved.
  init(_ path: String, mayBeMoved: Bool = false) throws {
    self.path = path
    guard mayBeMoved || access(moveMark, F_OK) != 0 else {
      let name = try movedTo.map { "the database \($0.name)" } ?? "a database"
      throw Failure(
        .configuration,
        "\(path): these data were moved to \(name) by 'glucoport serve import'; use --database"
      )
    }
    try Self.make(path)
    try Self.make(path + "/logbooks")
    // Files of logbooks are opened by name, so write permission for the folder would allow replacing them.
    for folder in [path, path + "/logbooks"] {
      var status = stat()
      guard stat(folder, &status) == 0, status.st_mode & 0o022 == 0 else {
        throw Failure(
          .permission,
          "\(folder): other users may write to this folder; run 'chmod 700' on it and check its files")
      }
    }
  }

  /// The file with logins and names of logbooks.
  var serverFile: String { path + "/server.db" }

  /// The file that marks a folder whose data are moved to a database, and names that one.
  var moveMark: String { path + "/moved-to-database" }

  /// The database that the mark names; nil without a mark, and for one that names none.
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

  /// Removes all files of a logbook: those in the folder of logbooks whose names begin with its id.
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

  /// Locks the folder for one server, until the returned lock is released or its process ends.
  func lock() throws -> FolderLock { try FolderLock(path + "/lock") }

  /// Creates a file that only its owner can read, if it is missing or empty.
  static func makeFile(_ path: String) throws {
    let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .cannotCreate,
        "\(path): cannot open the file: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    // An existing empty file has no content to protect yet, so its mode is restricted before use.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == 0, status.st_mode & 0o077 != 0 else { return }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw Failure(.permission, "\(path): cannot make the file private: \(String(cString: strerror(errno)))")
    }
  }

  private static func make(_ path: String) throws {
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

/// A lock of the kernel, which ends with its process.
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

  /// Releases the folder for the next server.
  func release() { flock(descriptor, LOCK_UN) }
}
