// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The bucket (see `IdentityDigests`) of each reading of a logbook, and the digests over all readings. A
/// comparison of two logbooks needs both.
///
/// The bucket of a reading is computed from the SHA-256 of its identity. Computing the buckets takes seconds
/// for two million readings, and a comparison requests hundreds of groups of buckets. Readings never change
/// and are never deleted, so only new ones are hashed.
package struct ReadingBuckets: Sendable {
  /// The digests over all readings that were added.
  package private(set) var digests = IdentityDigests()
  /// The sequence number of the last reading that was added.
  package private(set) var last: Int64 = 0
  /// The number of readings that were added.
  package private(set) var count = 0
  /// For each bucket, the sequence numbers of its readings, ascending, with eight bytes each. An array with
  /// the sequence number as index could need too much memory. A client or a damaged file can make these
  /// numbers arbitrarily large.
  private var numbers = [[Int64]](repeating: [], count: IdentityDigests.bucketCount)

  /// Buckets without readings.
  package init() {}

  /// Adds a reading. Its sequence number must be larger than those of all readings added before.
  ///
  /// - Parameter key: the 16 bytes of the UUID of the reading's identity.
  package mutating func insert(_ key: [UInt8], seq: Int64) {
    digests.insert(key)
    last = seq
    count += 1
    numbers[IdentityDigests.bucket(of: key)].append(seq)
  }

  /// The sequence numbers of the readings in these buckets, ascending; nil if they are more than one answer
  /// can contain.
  package func numbers(in wanted: Set<Int>) -> [Int64]? {
    let wanted = wanted.filter(numbers.indices.contains)
    guard wanted.reduce(0, { $0 + numbers[$1].count }) <= WireProtocol.maxReadings else { return nil }
    return wanted.flatMap { numbers[$0] }.sorted()
  }
}

/// Caches the buckets of the latest comparisons. A comparison consists of many requests, and several can run
/// at once.
package actor ComparedLogbook {
  /// The maximum number of comparisons in the cache. The latest one is kept even if it is large.
  private static let maxComparisons = 8
  /// The maximum number of readings in all cached comparisons except the latest: 32 MiB of memory.
  private let maxReadings: Int
  private var cached: [(comparison: String, buckets: ReadingBuckets)] = []

  /// An empty cache.
  package init(maxReadings: Int = 4 << 20) { self.maxReadings = maxReadings }

  /// The cached buckets of a comparison; without readings if it is not in the cache.
  ///
  /// - Parameter comparison: a text that identifies the run, and the opened file or database.
  package func buckets(of comparison: String) -> ReadingBuckets {
    cached.first { $0.comparison == comparison }?.buckets ?? ReadingBuckets()
  }

  /// Removes a comparison from the cache.
  package func forget(_ comparison: String) { cached.removeAll { $0.comparison == comparison } }

  /// Puts the buckets of a comparison in the cache. Comparisons that were used longest ago are removed if
  /// necessary.
  package func cache(_ buckets: ReadingBuckets, of comparison: String) {
    var last = (comparison: comparison, buckets: buckets)
    if let place = cached.firstIndex(where: { $0.comparison == comparison }) {
      let known = cached.remove(at: place)
      if known.buckets.last > buckets.last { last = known }
    }
    cached.append(last)
    var others = cached.dropLast().reduce(0) { $0 + $1.buckets.count }
    while cached.count > 1, cached.count > Self.maxComparisons || others > maxReadings {
      others -= cached.removeFirst().buckets.count
    }
  }
}
