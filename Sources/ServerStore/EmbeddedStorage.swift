// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// The storage of `glucoport serve`: a folder with one SQLite file for logins and one for each logbook. This type and
/// `Logins` are the room's interface.
package final class EmbeddedStorage: ServerStorage {
  /// The logins of the storage.
  package var logins: any LoginDirectory { knownLogins }

  private let folder: DataFolder
  private let lock: FolderLock
  private let knownLogins: Logins
  private let logbooks: OpenLogbooks
  private let quota: LogbookQuota

  /// Opens or creates the folder, and locks it against other servers.
  ///
  /// - Parameter quota: the limits of one logbook.
  /// - Throws: `Failure`: `temporary` if another server uses the folder, `cannotCreate`, `permission`, `badInput`,
  ///   `configuration` for the files of a newer program.
  package init(folder path: String, quota: LogbookQuota = LogbookQuota()) throws {
    folder = try DataFolder(path)
    lock = try folder.lock()
    knownLogins = try Logins(folder: path)
    // An interrupted process may have left files of purged logbooks.
    for id in try knownLogins.purgedLogbooks() { try folder.removeLogbook(id) }
    logbooks = OpenLogbooks(folder: folder, quota: quota)
    self.quota = quota
  }

  /// The maximum number of open descriptors: the lock, the logins, the cached logbooks, and one logbook for each
  /// concurrent request.
  package static func maxFiles(requests: Int) -> Int {
    1 + DatabaseFile.maxFiles * (1 + OpenLogbooks.maxOpen + requests)
  }

  /// The logbook with the permissions of a login.
  package func logbook(for login: Login) -> any LogbookService {
    EmbeddedLogbook(
      login: login, logins: knownLogins, logbooks: logbooks, maxContentBytes: quota.contentBytes)
  }

  /// Closes every file after the last request, and releases the folder for the next server.
  package func close() async throws {
    try await logbooks.close()
    try knownLogins.close()
    lock.release()
  }
}
