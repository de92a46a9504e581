// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

/// Protects from a dangerous rollback journal next to a database file.
///
/// The end of such a journal can name a super-journal, which SQLite writes for transactions over several
/// files. When SQLite rolls the journal back, it deletes the named file, whatever it is. So someone who sends
/// a database with such a journal could delete any file of the person who opens it. glucoport itself has no
/// transactions over several files.
package enum ForeignJournal {
  /// These bytes are at the start of every journal, and at the end of a journal that names a super-journal.
  private static let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  /// The path of a database's journal. It is next to the file itself, not next to a symbolic link to it.
  package static func path(of database: String) -> String {
    (PathText.real(database) ?? database) + "-journal"
  }

  /// Whether a database has a journal with content, which SQLite would apply when it opens the database.
  package static func isPresent(at database: String) -> Bool {
    var status = stat()
    return stat(PathText.bytes(path(of: database)), &status) == 0 && status.st_size > 0
  }

  /// Throws if the journal of a database names another file. Must be called before SQLite opens the database.
  ///
  /// - Throws: `Failure` of category `badInput`; `inputOutput` and `permission` for a journal that cannot be
  ///   read.
  package static func refuse(at database: String) throws(Failure) {
    let journal = path(of: database)
    let descriptor = open(PathText.bytes(journal), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0, errno == ENOENT || errno == ENOTDIR { return }
    guard descriptor >= 0 else { throw failure(journal) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(journal) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size >= mark.count else { return }
    var end = [UInt8](repeating: 0, count: mark.count)
    guard pread(descriptor, &end, end.count, status.st_size - off_t(end.count)) == end.count else {
      throw failure(journal)
    }
    guard end != mark else {
      throw Failure(
        .badInput,
        "\(journal): this journal names another file, which SQLite would delete, and glucoport never writes such a journal; move it away"
      )
    }
  }

  private static func failure(_ journal: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM ? .permission : .inputOutput,
      "\(journal): cannot be read: \(String(cString: strerror(reason)))")
  }
}
