// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A way to a host that offers more than every remote does.
protocol Way: AttachmentRemote, VerifyingRemote {
  var way: FaultyRemote { get }
}

/// A way to a host that takes files and can be compared.
struct AttachmentWay: Way {
  let way: FaultyRemote
}

/// A way to a host that takes files, and is asked for parts of its logbook.
struct SelectiveWay: Way, SelectiveRemote {
  let way: FaultyRemote

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ChangePage {
    try await way.changes(of: part, after: cursor, limit: limit, run)
  }
}

extension Way {
  func logbook() async throws(RemoteError) -> RemoteLogbook { try await way.logbook() }

  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws(RemoteError) -> ReadingAnswer {
    try await way.push(batch, run)
  }

  func push(_ changes: [RecordChange], _ run: RunStamp) async throws(RemoteError) -> RecordAnswer {
    try await way.push(changes, run)
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(RemoteError) -> ChangePage? {
    try await way.changes(after: cursor, limit: limit, run)
  }

  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await way.readingDigests(run)
  }

  func recordDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await way.recordDigests(run)
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(RemoteError) -> ReadingBatch {
    try await way.readings(in: buckets, run)
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(RemoteError) -> RecordPage {
    try await way.records(in: buckets, after: guid, run)
  }

  func held(_ digest: String, _ run: RunStamp) async throws(RemoteError) -> HeldContent {
    try await way.held(digest, run)
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(RemoteError) -> ContentAnswer {
    try await way.append(bytes, to: content, at: offset, run)
  }

  func fetch(
    _ digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ContentPart? {
    try await way.fetch(digest, from: offset, limit: limit, run)
  }
}
