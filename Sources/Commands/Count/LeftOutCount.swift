// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// How many items of the last two weeks with any are left out of figures because another source states them, too.
struct LeftOutCount {
  /// Items that another source states, too.
  private(set) var doubled = 0
  /// Finger sticks that are the own values of a sensor.
  private(set) var sensorCopies = 0

  /// The weeks that `stats` shows without options.
  private static let seconds: Int64 = 14 * 86400

  /// Nothing.
  init() {}

  static func recent(_ store: Store) throws -> LeftOutCount {
    var filter = ItemFilter()
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    var newest = filter
    newest.newest = 1
    var last: Int64?
    try store.forEachItem(newest) { last = $0.utc }
    var count = LeftOutCount()
    guard let last else { return count }
    filter.since = last - seconds + 1
    try store.forEachCounted(filter) { _, _, verdict in
      switch verdict {
      case .repeats: count.doubled += 1
      case .sensorValue: count.sensorCopies += 1
      case .counts, .notChosen: break
      }
    }
    return count
  }
}
