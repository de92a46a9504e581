// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

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
