// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Store {
  /// The files that may be next to a store, in the order of removal. The log comes before the store: a log
  /// without its store could later be used for another store of the same name.
  private static let companions = ["-wal", "-shm", "", "-upload"]
  /// The files that `backup` and `restore` leave next to it.
  private static let copies = [
    ".before-restore", ".before-restore.part", ".restoring", "-backups", "-backups.part",
  ]

  /// Closes the store and removes its files permanently, for the role `sync`. Waits until the transaction of
  /// another process ends.
  ///
  /// - Parameter overwriting: whether to overwrite the files first, and to remove the copies of the store
  ///   next to it as well.
  /// - Throws: `Failure` of category `temporary` while another process uses the store, `inputOutput` if a
  ///   file cannot be removed.
  package func remove(overwriting: Bool = false) throws {
    // After this, the file itself has everything that others committed, and no transaction of theirs is
    // interrupted.
    try write { _ in }
    // SQLite removes its log when it closes, without overwriting it.
    if overwriting { for suffix in ["-wal", ""] + Self.copies { try ErasedFile(path + suffix).overwrite() } }
    try translatingErrors(path) { try queue.close() }
    for suffix in Self.companions + (overwriting ? Self.copies : []) {
      guard unlink(PathText.bytes(path + suffix)) == 0 || errno == ENOENT else {
        throw Failure(
          .inputOutput, "\(path + suffix): cannot remove the file: \(String(cString: strerror(errno)))")
      }
    }
  }
}
