// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// What a login token permits.
public enum LoginRole: String, CaseIterable, Sendable {
  /// To read a logbook.
  case read
  /// To read and to change it.
  case write
}

/// A token that the server knows.
public struct Login: Hashable, Sendable {
  /// The name under which people find it.
  public var name: String
  /// The logbook it opens.
  public var logbook: String
  /// What it permits there.
  public var role: LoginRole

  /// A token of this name.
  public init(name: String, logbook: String, role: LoginRole) {
    self.name = name
    self.logbook = logbook
    self.role = role
  }

  /// By which logs tell logins apart without naming people: eight digits of the name's SHA-256.
  public static func logID(_ name: String) -> String {
    var digest = Digest()
    digest.update(name)
    return String(digest.hexadecimal().prefix(8))
  }
}

/// Why a storage does not carry out a request. Nothing of it was applied.
public enum StorageError: Error, Hashable, Sendable {
  /// A later run of this node was seen, or another one of this number.
  case nodeReused
  /// The logbook is another than the request expects.
  case otherLogbook(id: String)
  /// A cursor or mark was never given by this storage, or by a part of its history that a restore took away.
  case positionUnknown
  /// The logbook was removed for ever.
  case purged
  /// The answer would be larger than a body may be; half of the request may pass.
  case tooLarge
  /// Another writer holds the storage; trying again helps.
  case busy
  /// The storage failed; the sentence is for the server's log.
  case failed(String)
}

/// What the server needs of its storage: one logbook's readings and records in a strictly increasing order of changes.
///
/// Each call is one transaction: it is applied whole or not at all, and is durable when it returns. A call with a run
/// checks the run, the expected logbook and the mark first, in the same transaction. No change with a smaller number
/// becomes visible after a larger one was handed out. The conformance suite holds every storage to this.
public protocol ServerStorage: AttachmentStorage {
  /// The login whose token has this SHA-256; nil when there is none. For a token of a logbook that was removed it
  /// throws `purged`, for ever.
  func login(tokenHash: [UInt8]) async throws(StorageError) -> Login?
  /// The logbook of a login.
  func logbook(_ login: Login) async throws(StorageError) -> RemoteLogbook
  /// Stores the readings that are not there.
  func store(_ batch: ReadingBatch, _ login: Login, _ run: RunStamp) async throws(StorageError)
    -> ReadingAnswer
  /// Applies changes of records, each on its own.
  func apply(_ changes: [RecordChange], _ login: Login, _ run: RunStamp) async throws(StorageError)
    -> RecordAnswer
  /// What changed behind the cursor, without what the run's node wrote itself; nil when nothing changed at all.
  func changes(
    after cursor: String?, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ChangePage?
  /// What others wrote of one part of the logbook: readings in the order of their changes, or a record's current state.
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ChangePage
  /// Digests over the identities of all readings.
  func readingDigests(_ login: Login, _ run: RunStamp) async throws(StorageError) -> IdentityDigests
  /// Digests over the contents of all records, tombstones, too.
  func recordDigests(_ login: Login, _ run: RunStamp) async throws(StorageError) -> IdentityDigests
  /// The readings in these buckets of `readingDigests`; `tooLarge` for more than `Wire.maxReadings`.
  func readings(in buckets: Set<Int>, _ login: Login, _ run: RunStamp) async throws(StorageError)
    -> ReadingBatch
  /// The records in these buckets of `recordDigests`, by their ids, behind the one of this id: as many as a page takes.
  func records(
    in buckets: Set<Int>, after guid: String?, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> RecordPage
  /// Removes the logbook of the login for ever, with all that is kept of it but its id. It is gone when this returns,
  /// and after a crash when the storage starts again.
  func purge(_ login: Login) async throws(StorageError)
}
