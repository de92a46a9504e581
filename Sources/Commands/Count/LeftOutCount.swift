// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// How many items of the last two weeks with any are left out of figures because another source states them, too.
enum LeftOutCount {
  /// The weeks that `stats` shows without options.
  private static let seconds: Int64 = 14 * 86400

  static func recent(_ store: Store) throws -> Int {
    var filter = ItemFilter()
    filter.readingKinds = [.smbg, .ketone]
    filter.recordKinds = [.insulin, .food]
    var newest = filter
    newest.newest = 1
    var last: Int64?
    try store.forEachItem(newest) { last = $0.utc }
    guard let last else { return 0 }
    filter.since = last - seconds - CountingMargin.seconds
    var counting = CountedOnce<Int64>(try store.countingRules())
    var count = 0
    func take() {
      while let (instant, _, verdict) = counting.next() {
        if instant > last - seconds, case .repeats = verdict { count += 1 }
      }
    }
    try store.forEachItem(filter) { item in
      counting.add(item.utc, CountableItem(item), at: item.utc)
      take()
    }
    counting.finish()
    take()
    return count
  }
}
