// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// The storage of `glucoport serve`: a folder with one SQLite file for logins and one for each logbook. This type and
/// `Logins` are the room's interface.
package final class EmbeddedStorage: ServerStorage {
  /// Who may use it.
  package var logins: any LoginDirectory { knownLogins }

  private let folder: DataFolder
  private let lock: FolderLock
  private let knownLogins: Logins
  private let logbooks: OpenLogbooks
  private let quota: LogbookQuota

  /// Opens the folder, or creates it, and keeps every other server out of it.
  ///
  /// - Parameter quota: how much one logbook may hold.
  /// - Throws: `Failure`: `temporary` where another server has the folder, `cannotCreate`, `permission`, `badInput`,
  ///   `configuration` for the files of a newer program.
  package init(folder path: String, quota: LogbookQuota = LogbookQuota()) throws {
    folder = try DataFolder(path)
    lock = try folder.lock()
    knownLogins = try Logins(folder: path)
    // A process that ended in the middle may have left them behind.
    for id in try knownLogins.purgedLogbooks() { try folder.removeLogbook(id) }
    logbooks = OpenLogbooks(folder: folder, quota: quota)
    self.quota = quota
  }

  /// How many files are open at most: the lock, the logins, the logbooks that were used last, and for each request that is
  /// worked on a logbook that others have displaced.
  package static func maxFiles(requests: Int) -> Int {
    1 + DatabaseFile.maxFiles * (1 + OpenLogbooks.maxOpen + requests)
  }

  /// What the logbook of a login offers to it.
  package func logbook(for login: Login) -> any LogbookService {
    EmbeddedLogbook(
      login: login, logins: knownLogins, logbooks: logbooks, maxContentBytes: quota.contentBytes)
  }

  /// Closes every file, after the last request, and lets the next server in.
  package func close() async throws {
    try await logbooks.close()
    try knownLogins.close()
    lock.release()
  }
}
