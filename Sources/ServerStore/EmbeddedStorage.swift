// SPDX-License-Identifier: Apache-2.0

public import Logbook
public import LogbookAPI

/// The storage of `glucoport serve`: a folder with one SQLite file for logins and one for each logbook. This type and
/// `Logins` are the room's interface.
public final class EmbeddedStorage: Sendable {
  private let folder: DataFolder
  private let lock: FolderLock
  private let logins: Logins
  let logbooks: OpenLogbooks

  /// Opens the folder, or creates it, and keeps every other server out of it.
  ///
  /// - Throws: `Failure`: `temporary` where another server has the folder, `cannotCreate`, `permission`, `badInput`,
  ///   `configuration` for the files of a newer program.
  public init(folder path: String) throws {
    folder = try DataFolder(path)
    lock = try folder.lock()
    logins = try Logins(folder: path)
    // A process that ended in the middle may have left them behind.
    for id in try logins.purgedLogbooks() { try folder.removeLogbook(id) }
    logbooks = OpenLogbooks(folder: folder)
  }

  /// Closes every file, behind the last request, and lets the next server in.
  public func close() async throws {
    try await logbooks.close()
    try logins.close()
    lock.release()
  }
}

extension EmbeddedStorage: ServerStorage {
  /// The login whose token has this SHA-256; nil when there is none.
  public func login(tokenHash: [UInt8]) async throws(StorageError) -> Login? {
    try await logins.login(tokenHash: tokenHash)
  }

  /// The logbook of a login.
  public func logbook(_ login: Login) async throws(StorageError) -> RemoteLogbook {
    let mark = try await logbooks.file(login.logbook).mark()
    return RemoteLogbook(
      id: login.logbook, name: try await logins.logbookName(login.logbook), isWritable: login.role == .write,
      maxReadings: Wire.maxReadings, maxRecords: Wire.maxRecords, mark: mark)
  }

  /// Stores the readings that are not there.
  public func store(
    _ batch: ReadingBatch, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ReadingAnswer {
    try await logbooks.file(login.logbook).store(batch, run)
  }

  /// Applies changes of records, each on its own.
  public func apply(
    _ changes: [RecordChange], _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> RecordAnswer {
    try await logbooks.file(login.logbook).apply(changes, run)
  }

  /// What changed behind the cursor, without what the run's node wrote itself; nil when nothing changed at all.
  public func changes(
    after cursor: String?, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ChangePage? {
    try await logbooks.file(login.logbook).changes(after: cursor, limit: limit, run)
  }

  /// What others wrote of one part of the logbook.
  public func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ChangePage {
    try await logbooks.file(login.logbook).changes(of: part, after: cursor, limit: limit, run)
  }

  /// Digests over the identities of all readings.
  public func readingDigests(_ login: Login, _ run: RunStamp) async throws(StorageError) -> IdentityDigests {
    try await logbooks.file(login.logbook).readingDigests(run)
  }

  /// Digests over the contents of all records, tombstones, too.
  public func recordDigests(_ login: Login, _ run: RunStamp) async throws(StorageError) -> IdentityDigests {
    try await logbooks.file(login.logbook).recordDigests(run)
  }

  /// The readings in these buckets.
  public func readings(
    in buckets: Set<Int>, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ReadingBatch {
    try await logbooks.file(login.logbook).readings(in: buckets, run)
  }

  /// The records in these buckets, behind the one of this id.
  public func records(
    in buckets: Set<Int>, after guid: String?, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> RecordPage {
    try await logbooks.file(login.logbook).records(in: buckets, after: guid, run)
  }

  /// Removes the logbook of the login for ever.
  public func purge(_ login: Login) async throws(StorageError) {
    // In this order: what a crash leaves of the file is removed when the storage starts again, and opened by nobody.
    try await logins.purge(login.logbook)
    try await logbooks.purge(login.logbook)
  }
}
