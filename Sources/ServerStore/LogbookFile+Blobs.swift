// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// The content of attachments. Writing it is not a change for other nodes.
extension LogbookFile {
  func held(_ digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await reading(run, hidesOwn: false) { database, _ in
      try BlobStorage(database: database).held(digest)
    }
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    try await file.write { [id, quota] database in
      _ = try Nodes(database: database, logbook: id, max: quota.nodes).admit(run, hidesOwn: false)
      return try BlobStorage(database: database).append(bytes, to: content, at: offset, limit: limit)
    }
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    try await reading(run, hidesOwn: false) { database, _ in
      try BlobStorage(database: database).part(of: digest, from: offset, limit: limit)
    }
  }
}
