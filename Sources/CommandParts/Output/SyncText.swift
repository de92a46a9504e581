// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The words for the sync state of an item.
enum SyncText {
  /// The word for a sync state, with the reason after `queued`. It is empty for a synced item. An item that
  /// only waits for the next upload has no reason.
  static func mark(_ state: SyncState) -> String {
    switch state {
    case .synced: ""
    case .syncing, .queued(.waiting): state.name
    case .queued(let reason): "\(state.name): \(reason.name)"
    }
  }
}

/// The text about a day with readings, in one line.
enum DayText {
  /// The day with the number of its readings, and how many of them are queued.
  ///
  /// - Parameter marksQueued: whether to mark a day whose readings wait for an upload. Without a remote, all
  ///   readings wait, so a mark would mean nothing.
  static func line(_ day: ReadingDay, marksQueued: Bool) -> String {
    let mark = day.state == .queued(.waiting) && !marksQueued ? "" : SyncText.mark(day.state)
    let count = mark.isEmpty ? "" : "  (\(mark), \(grouped(day.queued)) of them)"
    return "\(day.start.text.prefix(10))  \(counted(day.readings, "reading"))\(count)"
  }
}
