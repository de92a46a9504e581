// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The bucket of each reading of a logbook for comparisons, and the digests over all readings.
///
/// A bucket is a part of a SHA-256, which takes seconds for two million readings, and a comparison asks for hundreds of
/// groups of buckets. Readings are immutable and permanent, so only new ones are hashed.
package struct ReadingBuckets: Sendable {
  /// The digests over the readings included.
  package private(set) var digests = IdentityDigests()
  /// The number up to which readings are included.
  package private(set) var last: Int64 = 0
  /// The number of readings included.
  package private(set) var count = 0
  /// The sequence numbers of the readings in each bucket, ascending: eight bytes each. An array indexed by number would
  /// be unsafe: the numbers have gaps, which a client or a damaged file can make arbitrarily large.
  private var numbers = [[Int64]](repeating: [], count: IdentityDigests.bucketCount)

  /// The buckets of no readings.
  package init() {}

  /// Adds the reading with the next larger number.
  ///
  /// - Parameter key: the 16 bytes of its identity's UUID.
  package mutating func insert(_ key: [UInt8], seq: Int64) {
    digests.insert(key)
    last = seq
    count += 1
    numbers[IdentityDigests.bucket(of: key)].append(seq)
  }

  /// The numbers of the readings in these buckets, ascending; nil if there are more than an answer holds.
  package func numbers(in wanted: Set<Int>) -> [Int64]? {
    let wanted = wanted.filter(numbers.indices.contains)
    guard wanted.reduce(0, { $0 + numbers[$1].count }) <= WireProtocol.maxReadings else { return nil }
    return wanted.flatMap { numbers[$0] }.sorted()
  }
}

/// The buckets of the latest comparisons. A comparison takes many requests, and several can run at the same time.
package actor ComparedLogbook {
  /// The maximum number of comparisons kept; the latest one is kept whatever its size.
  private static let maxComparisons = 8
  /// The maximum number of readings in all comparisons except the latest: 32 MiB.
  private let maxReadings: Int
  private var kept: [(comparison: String, buckets: ReadingBuckets)] = []

  /// No buckets yet.
  package init(maxReadings: Int = 4 << 20) { self.maxReadings = maxReadings }

  /// The known buckets of a comparison.
  ///
  /// - Parameter comparison: identifies the run and the opened file or database.
  package func buckets(of comparison: String) -> ReadingBuckets {
    kept.first { $0.comparison == comparison }?.buckets ?? ReadingBuckets()
  }

  /// Discards the buckets of a comparison.
  package func forget(_ comparison: String) { kept.removeAll { $0.comparison == comparison } }

  /// Stores the buckets of a comparison, and discards those used longest ago.
  package func keep(_ buckets: ReadingBuckets, of comparison: String) {
    var last = (comparison: comparison, buckets: buckets)
    if let place = kept.firstIndex(where: { $0.comparison == comparison }) {
      let known = kept.remove(at: place)
      if known.buckets.last > buckets.last { last = known }
    }
    kept.append(last)
    var others = kept.dropLast().reduce(0) { $0 + $1.buckets.count }
    while kept.count > 1, kept.count > Self.maxComparisons || others > maxReadings {
      others -= kept.removeFirst().buckets.count
    }
  }
}
