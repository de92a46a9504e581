// SPDX-License-Identifier: Apache-2.0

import LogbookAPI

/// Divides buckets into groups. One request for each group asks for its items, at most as many as one answer holds.
struct BucketGroups {
  let groups: [[Int]]

  /// - Parameters:
  ///   - counts: the remote's number of items in each bucket. Empty buckets are left out.
  ///   - maxItems: the maximum number of items of a group, unless a single bucket has more.
  ///   - maxBuckets: the maximum number of buckets of a group.
  init(_ buckets: Set<Int>, counts: [Int], maxItems: Int, maxBuckets: Int = WireProtocol.maxBuckets) {
    var (groups, group, items) = ([[Int]](), [Int](), 0)
    for bucket in buckets.sorted() where counts[bucket] > 0 {
      // Limited, since a remote may report any number.
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
