// SPDX-License-Identifier: Apache-2.0

import Crypto

/// SHA-256 of bytes that arrive in pieces.
package struct Digest: Sendable {
  private var hash = SHA256()

  /// The digest of no bytes.
  package init() {}

  /// Adds bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

  /// Adds the bytes of a text in UTF-8.
  package mutating func update(_ text: String) { hash.update(data: Array(text.utf8)) }

  /// The 32 bytes of the digest.
  package func bytes() -> [UInt8] { Array(hash.finalize()) }

  /// The digest as 64 lower-case hexadecimal digits.
  package func hexadecimal() -> String { hexadecimalText(bytes()) }

  /// A UUID of version 8 (RFC 9562 §5.8) from SHA-256 over these parts. Before each part, its length in bytes
  /// and a colon are hashed. So two different lists of parts never have the same bytes.
  package static func uuid(of parts: [String]) -> String {
    let bytes = uuidBytes(of: parts)
    let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimalText(bytes[$0]) }
    return groups.joined(separator: "-")
  }

  /// The 16 bytes of `uuid(of:)`.
  package static func uuidBytes(of parts: [String]) -> [UInt8] {
    uuidBytes(ofCountedParts: parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) })
  }

  /// The 16 bytes of `uuid(of:)` for bytes that already contain the length before each part.
  static func uuidBytes(ofCountedParts parts: [UInt8]) -> [UInt8] {
    var digest = Digest()
    parts.withUnsafeBytes { digest.update($0) }
    var bytes = digest.hash.finalize().withUnsafeBytes { Array($0.prefix(16)) }
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }
}

private func hexadecimalText(_ bytes: some Collection<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var out: [UInt8] = []
  out.reserveCapacity(bytes.count * 2)
  for byte in bytes {
    out.append(digits[Int(byte >> 4)])
    out.append(digits[Int(byte & 15)])
  }
  return String(decoding: out, as: UTF8.self)
}

/// Digests over the items of a logbook, one for each of 4096 buckets. By comparing the digests, a store and a
/// remote find the buckets in which they differ without listing all items. A reading is hashed by its
/// identity, a record by its content.
package struct IdentityDigests: Hashable, Sendable {
  /// The number of buckets: one for each value of three hexadecimal digits.
  package static let bucketCount = 4096
  /// The number of items in each bucket.
  package private(set) var counts = [Int](repeating: 0, count: bucketCount)
  /// For each bucket, the exclusive or over its items of the first eight bytes of the item's UUID. The UUID
  /// of a reading is computed from its identity, that of a record from its content. The result does not
  /// depend on the order of the items.
  package private(set) var sums = [UInt64](repeating: 0, count: bucketCount)

  /// Digests of no items.
  package init() {}

  /// Adds a reading by the 16 bytes of its identity's UUID.
  package mutating func insert(_ identity: [UInt8]) { insert(identity, in: Self.bucket(of: identity)) }

  /// Adds a record with its content.
  package mutating func insert(_ guid: String, _ state: RecordState) {
    insert(Digest.uuidBytes(of: ["state", guid, state.contentJSON]), in: Self.bucket(ofRecord: guid))
  }

  /// Sets one bucket to the values that a remote reports.
  package mutating func set(_ bucket: Int, count: Int, sum: UInt64) {
    counts[bucket] = count
    sums[bucket] = sum
  }

  /// The bucket of an identity: the first three hexadecimal digits of its UUID.
  package static func bucket(of identity: [UInt8]) -> Int { Int(identity[0]) << 4 | Int(identity[1]) >> 4 }

  /// The bucket of a record: the first two hexadecimal digits of its id and a 0. There are few records
  /// compared with readings, so a sixteenth of the buckets is enough.
  package static func bucket(ofRecord guid: String) -> Int { Int(UInt8(guid.prefix(2), radix: 16) ?? 0) << 4 }

  /// The numbers of the buckets whose count or sum differs from the one in `other`.
  package func differing(from other: IdentityDigests) -> Set<Int> {
    // The digests are usually equal as a whole. The comparison of the whole values shows this fastest.
    if self == other { return [] }
    return Set((0..<Self.bucketCount).filter { counts[$0] != other.counts[$0] || sums[$0] != other.sums[$0] })
  }

  private mutating func insert(_ key: [UInt8], in bucket: Int) {
    counts[bucket] += 1
    sums[bucket] ^= key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
