// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// The storage of `glucoport serve`: a folder with one SQLite file for logins and one for each logbook. This
/// type, `Logins`, `ServerBackup`, `FolderSource` and `FolderTarget` are the interface of the module.
package final class EmbeddedStorage: ServerStorage {
  /// The directory of the logins of the storage.
  package var logins: any LoginDirectory { knownLogins }

  private let folder: DataFolder
  private let lock: FolderLock
  private let knownLogins: Logins
  private let logbooks: OpenLogbooks
  private let quota: LogbookQuota

  /// Opens or creates the data folder, and locks it so that no other server can use it.
  ///
  /// - Parameter quota: the limits of one logbook.
  /// - Throws: `Failure`: `temporary` if another server uses the folder, `cannotCreate`, `permission`,
  ///   `badInput`, `configuration` for the files of a newer program.
  package init(folder path: String, quota: LogbookQuota = LogbookQuota()) throws {
    folder = try DataFolder(path)
    lock = try folder.lock()
    knownLogins = try Logins(folder: path)
    // If a process was interrupted during a purge, files of the logbook may be left.
    for id in try knownLogins.purgedLogbooks() { try folder.removeLogbook(id) }
    logbooks = OpenLogbooks(folder: folder, quota: quota)
    self.quota = quota
  }

  /// The maximum number of file descriptors that the storage uses. They are for the lock, the logins, the
  /// logbooks that stay open, and one logbook for each concurrent request.
  package static func maxFiles(requests: Int) -> Int {
    1 + DatabaseFile.maxFiles * (1 + OpenLogbooks.maxOpen + requests)
  }

  /// The logbook with the permissions of a login.
  package func logbook(for login: Login) -> any LogbookService {
    EmbeddedLogbook(
      login: login, logins: knownLogins, logbooks: logbooks, maxContentBytes: quota.contentBytes)
  }

  /// Closes all files, and unlocks the folder. It must be called after the last request.
  package func close() async throws {
    try await logbooks.close()
    try knownLogins.close()
    lock.release()
  }
}

/// The open files of logbooks. Each is opened when it is first used, and the files used last stay open.
///
/// A file may be opened a second time while an earlier connection is still in use. SQLite keeps the writes of
/// both connections in order.
actor OpenLogbooks {
  /// The maximum number of files that stay open. Each uses some file descriptors and up to 8 MiB of memory.
  static let maxOpen = 16

  private let folder: DataFolder
  private var files: [String: LogbookFile] = [:]
  /// The ids of the open logbooks. The one used last is at the end.
  private var used: [String] = []
  /// The ids of purged logbooks. A request that began before the purge must not create the file again.
  private var purged: Set<String> = []

  private let quota: LogbookQuota
  private let compared = ComparedLogbook()

  init(folder: DataFolder, quota: LogbookQuota) {
    self.folder = folder
    self.quota = quota
  }

  /// The file of a logbook, which is opened or created if necessary.
  func file(_ id: String) throws(ServiceError) -> LogbookFile {
    guard !purged.contains(id) else { throw .purged }
    used.removeAll { $0 == id }
    used.append(id)
    if let open = files[id] { return open }
    do {
      let file = try LogbookFile(path: folder.logbookFile(id), id: id, quota: quota, compared: compared)
      files[id] = file
      if used.count > Self.maxOpen { files[used.removeFirst()] = nil }
      return file
    } catch let failure as Failure {
      throw DatabaseFile.storageFailure(failure.message)
    } catch {
      throw DatabaseFile.storageFailure("logbook \(id): \(error)")
    }
  }

  /// Removes all files of a logbook. It must be called after the last request on the logbook.
  func purge(_ id: String) throws(ServiceError) {
    purged.insert(id)
    used.removeAll { $0 == id }
    do {
      try files.removeValue(forKey: id)?.close()
      try folder.removeLogbook(id)
    } catch let failure as Failure {
      throw DatabaseFile.storageFailure(failure.message)
    } catch {
      throw DatabaseFile.storageFailure("logbook \(id): \(error)")
    }
  }

  /// Closes all files, even if one of them cannot be closed.
  func close() throws {
    let closed = files.values.map { file in Result { try file.close() } }
    files = [:]
    used = []
    for result in closed { try result.get() }
  }
}
