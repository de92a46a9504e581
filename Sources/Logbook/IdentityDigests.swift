// SPDX-License-Identifier: Apache-2.0

/// Digests over items in buckets, by which two sides find out where they differ without listing for each other all they
/// hold. Readings are there by their identities, records by their contents.
package struct IdentityDigests: Hashable, Sendable {
  /// As many as three hexadecimal digits count.
  package static let bucketCount = 4096
  /// How many items are in each bucket.
  package private(set) var counts = [Int](repeating: 0, count: bucketCount)
  /// In each bucket the exclusive or of the first eight bytes of the items' keys, which no order changes.
  package private(set) var sums = [UInt64](repeating: 0, count: bucketCount)

  /// Digests over nothing.
  package init() {}

  /// Takes a reading by the 16 bytes of its identity's UUID.
  package mutating func insert(_ identity: [UInt8]) { insert(identity, in: Self.bucket(of: identity)) }

  /// Takes a record with what it says.
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

  /// The bucket of a record: the first two hexadecimal digits of its id and a 0. Records are few beside readings, so
  /// that a sixteenth of the buckets is enough.
  package static func bucket(ofRecord guid: String) -> Int { Int(UInt8(guid.prefix(2), radix: 16) ?? 0) << 4 }

  /// The buckets in which the two sides differ.
  package func differing(from other: IdentityDigests) -> Set<Int> {
    // Two sides that agree are the rule, and found out without a look at each bucket.
    if self == other { return [] }
    return Set((0..<Self.bucketCount).filter { counts[$0] != other.counts[$0] || sums[$0] != other.sums[$0] })
  }

  private mutating func insert(_ key: [UInt8], in bucket: Int) {
    counts[bucket] += 1
    sums[bucket] ^= key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
