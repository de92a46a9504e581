// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// In which bucket of a comparison each reading of a store is, in the order of its table: two bytes a reading. So a
/// comparison takes the buckets in portions, each in memory that a portion needs, and hashes no reading outside of them again.
package struct HeldBuckets: Sendable {
  /// How many readings are in each bucket, pending ones, too.
  package private(set) var counts = [Int](repeating: 0, count: IdentityDigests.bucketCount)
  private var numbers: [UInt16] = []
  /// The state of the file that was read, which other connections change.
  private let version: Int64

  /// The bucket of a reading that the remote has under other identities: it has to be looked at.
  private static let several = UInt16.max

  init(_ database: Database) throws { version = try Self.version(database) }

  mutating func append(_ bucket: Int, isAlone: Bool) {
    counts[bucket] += 1
    numbers.append(isAlone ? UInt16(bucket) : Self.several)
  }

  /// Whether the reading at each place of the table may be in these buckets; nil for a file that has changed since.
  func mayBe(in buckets: Set<Int>, _ database: Database) throws -> ((_ place: Int) -> Bool)? {
    guard try Self.version(database) == version else { return nil }
    var isWanted = [Bool](repeating: false, count: Int(Self.several) + 1)
    for bucket in buckets { isWanted[bucket] = true }
    isWanted[Int(Self.several)] = true
    return { [numbers] place in !numbers.indices.contains(place) || isWanted[Int(numbers[place])] }
  }

  private static func version(_ database: Database) throws -> Int64 {
    try Int64.fetchOne(database, sql: "PRAGMA data_version") ?? 0
  }
}
