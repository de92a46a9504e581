// SPDX-License-Identifier: Apache-2.0

/// Digests over items in buckets. With them two sides find where they differ without listing all items. Readings are
/// included by their identities, records by their contents.
package struct IdentityDigests: Hashable, Sendable {
  /// The number of values of three hexadecimal digits.
  package static let bucketCount = 4096
  /// The number of items in each bucket.
  package private(set) var counts = [Int](repeating: 0, count: bucketCount)
  /// For each bucket the exclusive or of the first eight bytes of the items' keys, which does not depend on the order.
  package private(set) var sums = [UInt64](repeating: 0, count: bucketCount)

  /// Digests of no items.
  package init() {}

  /// Adds a reading by the 16 bytes of its identity's UUID.
  package mutating func insert(_ identity: [UInt8]) { insert(identity, in: Self.bucket(of: identity)) }

  /// Adds a record with its content.
  package mutating func insert(_ guid: String, _ state: RecordState) {
    insert(Digest.uuidBytes(of: ["state", guid, state.contentJSON]), in: Self.bucket(ofRecord: guid))
  }

  /// Sets one bucket as a remote reports it.
  package mutating func set(_ bucket: Int, count: Int, sum: UInt64) {
    counts[bucket] = count
    sums[bucket] = sum
  }

  /// The bucket of an identity: the first three hexadecimal digits of its UUID.
  package static func bucket(of identity: [UInt8]) -> Int { Int(identity[0]) << 4 | Int(identity[1]) >> 4 }

  /// The bucket of a record: the first two hexadecimal digits of its id and a 0. There are few records compared with
  /// readings, so a sixteenth of the buckets is enough.
  package static func bucket(ofRecord guid: String) -> Int { Int(UInt8(guid.prefix(2), radix: 16) ?? 0) << 4 }

  /// The buckets in which the two sides differ.
  package func differing(from other: IdentityDigests) -> Set<Int> {
    // Most sides agree, which is found without a comparison of each bucket.
    if self == other { return [] }
    return Set((0..<Self.bucketCount).filter { counts[$0] != other.counts[$0] || sums[$0] != other.sums[$0] })
  }

  private mutating func insert(_ key: [UInt8], in bucket: Int) {
    counts[bucket] += 1
    sums[bucket] ^= key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
