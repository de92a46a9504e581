// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
package import Logbook

extension Store {
  /// The suffixes of a store's files, in the order of removal. The log comes before the store: a log that is
  /// left over could be applied to a later store with the same name.
  private static let companions = ["-wal", "-shm", "-journal", "", "-upload", "-fetch"]
  /// The suffixes of copies of the store that `backup`, `restore` and other commands leave next to it.
  private static let copies = ([".before-restore", ".before-schema", ".restoring", ".part"] + beforeMerges)
    .flatMap { name in
      ["", ".part"].flatMap { part in ["", "-journal", "-wal", "-shm"].map { name + part + $0 } }
    }

  /// The suffixes of the copies that `import` makes of a store before each merge.
  package static let beforeMerges = [".before-merge"] + (2...99).map { ".before-merge-\($0)" }

  /// Closes the store and removes its files permanently, for the role `sync`. If another process has an open
  /// transaction, the removal waits until this transaction ends.
  ///
  /// - Parameter overwriting: whether the files are overwritten first. If so, copies next to the store are
  ///   removed as well.
  /// - Throws: `Failure` of category `temporary` while another process keeps the store busy, `inputOutput`
  ///   when a file cannot be removed.
  package func remove(overwriting: Bool = false) throws {
    // The empty write transaction waits until other processes have ended their transactions, so none is
    // interrupted.
    try write { _ in }
    // Overwriting must come before closing: SQLite removes its log when it closes, and the content would stay
    // on the disk.
    if overwriting { for suffix in ["-wal", ""] { try ErasedFile(path + suffix).overwrite() } }
    try translatingErrors(path) { try queue.close() }
    try Self.removeFiles(of: path, overwriting: overwriting)
  }

  /// Removes the files of a store that is not open, because it is damaged or because an earlier removal was
  /// interrupted.
  ///
  /// - Throws: `Failure` of category `inputOutput` or `permission` when a file cannot be removed.
  package static func eraseFiles(of path: String) throws(Failure) {
    try removeFiles(of: path, overwriting: true)
  }

  /// Whether a file can be erased although it cannot be opened as a store. True if it begins with the bytes
  /// of a store, or with zeros, which an interrupted removal wrote. Also true for an empty file.
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
