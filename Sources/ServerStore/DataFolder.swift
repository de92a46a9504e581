// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folder with everything that a server keeps.
struct DataFolder: Sendable {
  let path: String

  /// Finds the folder, or makes it.
  ///
  /// - Throws: `Failure`: `cannotCreate`, `permission` for a folder into which others may write.
  init(_ path: String) throws {
    self.path = path
    try Self.make(path)
    try Self.make(path + "/logbooks")
    // The files of logbooks are opened by their names there: who may write to it chooses them.
    for folder in [path, path + "/logbooks"] {
      var status = stat()
      guard stat(folder, &status) == 0, status.st_mode & 0o022 == 0 else {
        throw Failure(
          .permission,
          "\(folder): other users may write to this folder; run 'chmod 700' on it and check its files")
      }
    }
  }

  /// The file with logins and the names of logbooks.
  var serverFile: String { path + "/server.db" }

  func logbookFile(_ id: String) -> String { "\(path)/logbooks/\(id).db" }

  /// Removes everything that is kept of a logbook: whatever in the folder of logbooks begins with its id.
  ///
  /// - Throws: `Failure` of category `inputOutput` when something stays.
  func removeLogbook(_ id: String) throws {
    let folder = path + "/logbooks"
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(id) {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
    } catch {
      throw Failure(.inputOutput, "\(folder): cannot remove the logbook \(id): \(error.localizedDescription)")
    }
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Takes the folder for one server, until the returned lock is released, or goes, or its process ends.
  func lock() throws -> FolderLock { try FolderLock(path + "/lock") }

  /// Makes a file that nobody else can read, where it is missing or empty.
  static func makeFile(_ path: String) throws {
    let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .cannotCreate,
        "\(path): cannot open the file: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    // An empty file that somebody made before holds nothing to protect yet, and is to hold it.
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

/// A lock of the kernel's, which dies with its process.
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

  /// Lets the next server in.
  func release() { flock(descriptor, LOCK_UN) }
}
