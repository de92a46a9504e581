// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Store {
  /// What may be beside a store, in the order of removal: the log before the store, since a log that is left behind
  /// could be taken for that of a store of the same name.
  private static let companions = ["-wal", "-shm", "", "-upload"]
  /// What `backup` and `restore` leave beside it.
  private static let copies = [
    ".before-restore", ".before-restore.part", ".restoring", "-backups", "-backups.part",
  ]

  /// Closes the store and removes its files permanently, for the role `sync`. Waits for the transaction of another
  /// process to end.
  ///
  /// - Parameter overwriting: whether the files are overwritten before, and those beside the store that hold copies of it are
  ///   removed, too.
  /// - Throws: `Failure` of category `temporary` while another process keeps the store busy, `inputOutput` when a file
  ///   cannot be removed.
  package func remove(overwriting: Bool = false) throws {
    // What others committed is in the file itself from here on, and no transaction of theirs is truncated.
    try write { _ in }
    // SQLite removes its log when it closes, and with it what the log holds.
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
