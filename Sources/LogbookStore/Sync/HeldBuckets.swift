// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The bucket of each reading of a store in a comparison, in the order of the table: two bytes for each
/// reading. So a comparison processes the buckets in portions with limited memory, and hashes no reading
/// outside of a portion again.
package struct HeldBuckets: Sendable {
  /// The number of readings in each bucket, including pending ones.
  package private(set) var counts = [Int](repeating: 0, count: IdentityDigests.bucketCount)
  private var numbers: [UInt16] = []
  /// The version of the file that was read, which other connections change.
  private let version: Int64

  /// The bucket of a reading that the remote has under other identities: it must be read.
  private static let several = UInt16.max

  init(_ database: Database) throws { version = try Self.version(database) }

  mutating func append(_ bucket: Int, isAlone: Bool) {
    counts[bucket] += 1
    numbers.append(isAlone ? UInt16(bucket) : Self.several)
  }

  /// Whether the reading at each index of the table may be in these buckets; nil if the file has changed
  /// since.
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
