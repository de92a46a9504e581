// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
package import Logbook

extension Store {
  /// The files of a store in the order of removal: the log before the store, since a log that is left could be taken for
  /// that of a new store of the same name.
  private static let companions = ["-wal", "-shm", "-journal", "", "-upload", "-fetch"]
  /// The files that `backup`, `restore` and others leave next to it.
  private static let copies = ([".before-restore", ".before-schema", ".restoring", ".part"] + beforeMerges)
    .flatMap { name in
      ["", ".part"].flatMap { part in ["", "-journal", "-wal", "-shm"].map { name + part + $0 } }
    }

  /// The ends of the names under which `import` keeps the store as it was before each merge.
  package static let beforeMerges = [".before-merge"] + (2...99).map { ".before-merge-\($0)" }

  /// Closes the store and removes its files permanently, for the role `sync`. Waits until the transaction of
  /// another process ends.
  ///
  /// - Parameter overwriting: whether the files are overwritten before, and the copies next to the store are removed as well.
  /// - Throws: `Failure` of category `temporary` while another process keeps the store busy, `inputOutput` when a file
  ///   cannot be removed.
  package func remove(overwriting: Bool = false) throws {
    // After this, the file itself has everything that others committed, and no transaction of theirs is
    // interrupted.
    try write { _ in }
    // SQLite removes its log when it closes, and with it what the log holds.
    if overwriting { for suffix in ["-wal", ""] { try ErasedFile(path + suffix).overwrite() } }
    try translatingErrors(path) { try queue.close() }
    try Self.removeFiles(of: path, overwriting: overwriting)
  }

  /// Removes the files of a store that is not open: one that is damaged, or what an interrupted removal left.
  ///
  /// - Throws: `Failure` of category `inputOutput` or `permission` when a file cannot be removed.
  package static func eraseFiles(of path: String) throws(Failure) {
    try removeFiles(of: path, overwriting: true)
  }

  /// Whether the file of a path can be erased although it cannot be opened: a store by its first bytes, or a file that an
  /// interrupted removal has overwritten.
  package static func isErasable(path: String) -> Bool {
    if isStore(path: path) { return true }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 100)
    return pread(descriptor, &bytes, bytes.count, 0) >= 0 && bytes.allSatisfy { $0 == 0 }
  }

  private static func removeFiles(of path: String, overwriting: Bool) throws(Failure) {
    for suffix in (overwriting ? copies : []) + companions {
      if overwriting { try ErasedFile(path + suffix).overwrite() }
      guard unlink(PathText.bytes(path + suffix)) == 0 || errno == ENOENT else {
        throw Failure(
          .inputOutput, "\(path + suffix): cannot remove the file: \(String(cString: strerror(errno)))")
      }
    }
  }
}
