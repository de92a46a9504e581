// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The files of logbooks that are open: each from its first use on, and the ones in use last.
///
/// Two may be open of one logbook while the older is still at work: the file itself keeps their order.
actor OpenLogbooks {
  /// Each holds some file descriptors and up to 8 MiB of pages.
  static let maxOpen = 16

  private let folder: DataFolder
  private var files: [String: LogbookFile] = [:]
  /// The ids in the order of their last use.
  private var used: [String] = []
  /// The ids of logbooks that were removed: a request that was let in before must not make the file again.
  private var purged: Set<String> = []

  private let quota: LogbookQuota
  private let compared = ComparedLogbook()

  init(folder: DataFolder, quota: LogbookQuota) {
    self.folder = folder
    self.quota = quota
  }

  /// The file of a logbook, which is opened, or created, where it is not open.
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
      throw DatabaseFile.failed(failure.message)
    } catch {
      throw DatabaseFile.failed("logbook \(id): \(error)")
    }
  }

  /// Removes everything that the folder keeps of a logbook, behind the last request at work on it.
  func purge(_ id: String) throws(ServiceError) {
    purged.insert(id)
    used.removeAll { $0 == id }
    do {
      try files.removeValue(forKey: id)?.close()
      try folder.removeLogbook(id)
    } catch let failure as Failure {
      throw DatabaseFile.failed(failure.message)
    } catch {
      throw DatabaseFile.failed("logbook \(id): \(error)")
    }
  }

  /// Closes all of them.
  func close() throws {
    for file in files.values { try file.close() }
    files = [:]
    used = []
  }
}
