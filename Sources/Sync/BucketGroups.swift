// SPDX-License-Identifier: Apache-2.0

import LogbookAPI

/// Buckets in groups, of which one request each asks for the items: as many as one answer holds.
struct BucketGroups {
  let groups: [[Int]]

  /// - Parameters:
  ///   - counts: how many items the remote has in each bucket; of an empty one there is nothing to ask for.
  ///   - maxItems: the most items of a group, unless one bucket alone has more.
  ///   - maxBuckets: the most buckets of a group.
  init(_ buckets: Set<Int>, counts: [Int], maxItems: Int, maxBuckets: Int = WireProtocol.maxBuckets) {
    var (groups, group, items) = ([[Int]](), [Int](), 0)
    for bucket in buckets.sorted() where counts[bucket] > 0 {
      // A remote may report any number.
      let count = min(counts[bucket], maxItems)
      if !group.isEmpty, items + count > maxItems || group.count == maxBuckets {
        groups.append(group)
        (group, items) = ([], 0)
      }
      group.append(bucket)
      items += count
    }
    self.groups = group.isEmpty ? groups : groups + [group]
  }
}
