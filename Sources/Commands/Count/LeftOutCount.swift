// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The number of items that figures leave out because another source states them, too. Counted for the last
/// two weeks with items.
enum LeftOutCount {
  /// The two weeks that `stats` shows without options, in seconds.
  private static let seconds: Int64 = 14 * 86400

  static func recent(_ store: Store) throws -> Int {
    var filter = ItemFilter()
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    var newest = filter
    newest.newest = 1
    var last: Int64?
    try store.forEachItem(newest) { last = $0.utc }
    guard let last else { return 0 }
    filter.since = last - seconds + 1
    var count = 0
    try store.forEachCounted(filter) { _, _, verdict in
      if case .repeats = verdict { count += 1 }
    }
    return count
  }
}
