// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// What came of a part that was to be appended to a content.
public enum AppendOutcome: Hashable, Sendable {
  /// So much is held behind it. A content that is whole takes no part and stays.
  case holds(HeldContent)
  /// The part does not begin where the content ends: nothing was stored.
  case misplaced(HeldContent)
  /// With this part the content was whole and did not have its digest: all of it was dropped.
  case wrongDigest
  /// The logbook holds as much content as it may: nothing was stored.
  case full
}

/// What the server needs of its storage for the content of attachments: a logbook's contents by their SHA-256, each
/// grown at its end until it is whole, and never changed from then on.
///
/// Each call is one transaction, and checks the run first, as in `ServerStorage`.
public protocol AttachmentStorage: Sendable {
  /// How much of a content is there.
  func held(_ digest: String, _ login: Login, _ run: RunStamp) async throws(StorageError) -> HeldContent
  /// Appends a part. One from the first byte on, of another size than what is there, replaces it.
  ///
  /// - Parameter limit: the most bytes of all contents of the logbook.
  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, limit: Int64, _ login: Login,
    _ run: RunStamp
  ) async throws(StorageError) -> AppendOutcome
  /// A part of a content that is whole, of so many bytes at most; nil while it is not.
  func part(
    of digest: String, from offset: Int64, limit: Int, _ login: Login, _ run: RunStamp
  ) async throws(StorageError) -> ContentPart?
}
