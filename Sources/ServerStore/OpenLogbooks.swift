// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The open files of logbooks: each is opened at its first use, and the latest ones stay open.
///
/// A logbook may be opened a second time while an older file is still in use; SQLite keeps their writes in order.
actor OpenLogbooks {
  /// Each open logbook uses some file descriptors and up to 8 MiB of pages.
  static let maxOpen = 16

  private let folder: DataFolder
  private var files: [String: LogbookFile] = [:]
  /// The ids in the order of their latest use.
  private var used: [String] = []
  /// The ids of purged logbooks: a request that started before the purge must not recreate the file.
  private var purged: Set<String> = []

  private let quota: LogbookQuota
  private let compared = ComparedLogbook()

  init(folder: DataFolder, quota: LogbookQuota) {
    self.folder = folder
    self.quota = quota
  }

  /// The file of a logbook, opened or created if necessary.
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

  /// Removes all files of a logbook, after the last request on it.
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

  /// Closes all files.
  func close() throws {
    for file in files.values { try file.close() }
    files = [:]
    used = []
  }
}
