// SPDX-License-Identifier: Apache-2.0

/// Records of a remote in the order of their ids.
public struct RecordPage: Hashable, Sendable {
  /// The records.
  public var records: [RemoteRecord]
  /// Whether others follow behind the last one.
  public var hasMore: Bool

  /// A page of records.
  public init(records: [RemoteRecord], hasMore: Bool) {
    self.records = records
    self.hasMore = hasMore
  }
}

/// A remote that can be compared with a store in traffic that grows with the differences: by digests over buckets, and
/// by the items of those buckets alone that differ.
public protocol VerifyingRemote: Sendable {
  /// Digests over the identities of the readings that the remote has.
  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests
  /// Digests over the contents of the records that the remote has, tombstones, too.
  func recordDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests
  /// The readings that the remote has in these buckets; `tooLarge` where there are more than in one batch.
  func readings(in buckets: [Int], _ run: RunStamp) async throws(RemoteError) -> ReadingBatch
  /// The records that the remote has in these buckets, behind the one of this id.
  func records(in buckets: [Int], after guid: String?, _ run: RunStamp) async throws(RemoteError)
    -> RecordPage
}
