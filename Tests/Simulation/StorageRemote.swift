// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import ServerStore

/// The storage of a simulated server as a remote, asked at once and for certain.
struct StorageRemote: SelectiveRemote, AttachmentRemote, VerifyingRemote {
  let server: SimulatedServer

  func logbook() async throws(RemoteError) -> RemoteLogbook {
    try await ask { (storage) async throws(StorageError) in try await storage.logbook(server.login) }
  }

  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws(RemoteError) -> ReadingAnswer {
    try await ask { (storage) async throws(StorageError) in
      try await storage.store(batch, server.login, run)
    }
  }

  func push(_ changes: [RecordChange], _ run: RunStamp) async throws(RemoteError) -> RecordAnswer {
    try await ask { (storage) async throws(StorageError) in
      try await storage.apply(changes, server.login, run)
    }
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(RemoteError) -> ChangePage? {
    try await ask { (storage) async throws(StorageError) in
      try await storage.changes(after: cursor, limit: limit, server.login, run)
    }
  }

  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await ask { (storage) async throws(StorageError) in
      try await storage.readingDigests(server.login, run)
    }
  }

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ChangePage {
    try await ask { (storage) async throws(StorageError) in
      try await storage.changes(of: part, after: cursor, limit: limit, server.login, run)
    }
  }

  func recordDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await ask { (storage) async throws(StorageError) in
      try await storage.recordDigests(server.login, run)
    }
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(RemoteError) -> ReadingBatch {
    try await ask { (storage) async throws(StorageError) in
      try await storage.readings(in: Set(buckets), server.login, run)
    }
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(RemoteError) -> RecordPage {
    try await ask { (storage) async throws(StorageError) in
      try await storage.records(in: Set(buckets), after: guid, server.login, run)
    }
  }

  func held(_ digest: String, _ run: RunStamp) async throws(RemoteError) -> HeldContent {
    try await ask { (storage) async throws(StorageError) in
      try await storage.held(digest, server.login, run)
    }
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(RemoteError) -> ContentAnswer {
    let outcome = try await ask { (storage) async throws(StorageError) in
      try await storage.append(bytes, to: content, at: offset, limit: 1 << 30, server.login, run)
    }
    switch outcome {
    case .holds(let held), .misplaced(let held): return .holds(held)
    case .wrongDigest: return .wrongDigest
    case .full: throw .refused("full")
    }
  }

  func fetch(
    _ digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ContentPart? {
    try await ask { (storage) async throws(StorageError) in
      try await storage.part(of: digest, from: offset, limit: limit, server.login, run)
    }
  }

  private func ask<Answer>(
    _ request: (EmbeddedStorage) async throws(StorageError) -> Answer
  ) async throws(RemoteError) -> Answer {
    do throws(StorageError) {
      return try await request(server.storage)
    } catch {
      throw RemoteError(error)
    }
  }
}

extension RemoteError {
  fileprivate init(_ error: StorageError) {
    self =
      switch error {
      case .nodeReused: .nodeReused
      case .otherLogbook(let id): .otherLogbook(id: id)
      case .positionUnknown: .positionUnknown
      case .purged: .purged
      case .tooLarge: .tooLarge
      case .busy: .busy("the storage is busy", retryAfterSeconds: nil)
      case .failed(let detail): .serverFailure(detail)
      }
  }
}
