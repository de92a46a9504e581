// SPDX-License-Identifier: Apache-2.0

public import Logbook
public import LogbookAPI

/// The content of attachments stands in its logbook's file, so that it comes and goes with it.
extension EmbeddedStorage {
  /// How much of a content is there.
  public func held(
    _ digest: String, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> HeldContent {
    try await logbooks.file(login.logbook).held(digest, run)
  }

  /// Appends a part of a content.
  public func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64, _ login: Login,
    _ run: RunStamp
  ) async throws(StorageError) -> AppendOutcome {
    try await logbooks.file(login.logbook).append(bytes, to: content, at: offset, limit: limit, run)
  }

  /// A part of a content that is whole; nil while it is not.
  public func part(
    of digest: String, from offset: Int64, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ContentPart? {
    try await logbooks.file(login.logbook).part(of: digest, from: offset, limit: limit, run)
  }
}
