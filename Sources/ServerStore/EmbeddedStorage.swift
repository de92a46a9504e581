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

/// One logbook of the data folder, for a login. The first request opens the logbook's file.
struct EmbeddedLogbook: LogbookService {
  let login: Login
  let logins: Logins
  let logbooks: OpenLogbooks
  /// The maximum total size of attachments in the logbook, in bytes.
  let maxContentBytes: Int64

  var parts: (any PartService)? { self }
  var digests: (any DigestService)? { self }
  var attachments: (any AttachmentService)? { self }
  var purging: (any PurgeService)? { self }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    let position = try await file().position()
    return RemoteLogbook(
      id: login.logbook, name: try await logins.logbookName(login.logbook), isWritable: login.role == .write,
      maxReadings: WireProtocol.maxReadings, maxRecords: WireProtocol.maxRecords, position: position)
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await writableFile().store(batch, run)
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await writableFile().apply(changes, run)
  }

  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await file().changes(after: cursor, limit: limit, run)
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await file().readingDigests(run)
  }

  private func file() async throws(ServiceError) -> LogbookFile { try await logbooks.file(login.logbook) }

  private func writableFile() async throws(ServiceError) -> LogbookFile {
    guard login.role == .write else { throw .readOnly }
    return try await file()
  }
}

extension EmbeddedLogbook: PartService {
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    try await file().changes(of: part, after: cursor, limit: limit, run)
  }
}

extension EmbeddedLogbook: DigestService {
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await file().recordDigests(run)
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    try await file().readings(in: Set(buckets), run)
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    try await file().records(in: Set(buckets), after: guid, run)
  }
}

/// The contents of attachments are in the file of their logbook, so that both are removed together.
extension EmbeddedLogbook: AttachmentService {
  func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await file().held(digest, run)
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    try await writableFile().append(bytes, to: content, at: offset, limit: maxContentBytes, run)
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    try await file().part(of: digest, from: offset, limit: limit, run)
  }
}

extension EmbeddedLogbook: PurgeService {
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError) {
    guard logbook.id == login.logbook else { throw .otherLogbook(id: login.logbook) }
    guard login.role == .write else { throw .readOnly }
    guard logbook.name == (try await self.logbook()).name else {
      throw .refused("this is not the name of the logbook")
    }
    // The login is removed first. If a crash follows, no login can open the file, and the next start removes
    // it.
    try await logins.purge(login.logbook)
    try await logbooks.purge(login.logbook)
  }
}
