// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// The readings of one day as the devices showed it, and their sync state.
package struct ReadingDay: Hashable, Sendable {
  /// The first second of the day, in civil seconds.
  package let start: DeviceTime
  /// How many readings there are.
  package let readings: Int
  /// How many of them the remote does not have.
  package let queued: Int
  /// The state of the day: that of the reading that is furthest from being synced.
  package let state: SyncState
}

extension Store {
  /// The days with readings that pass the filter, oldest first, of all devices; of a limit the newest so many days. What is
  /// read grows with these days and not with the store.
  package func readingDays(_ filter: ItemFilter, _ activity: SyncActivity) throws -> [ReadingDay] {
    try translatingErrors(path) {
      try queue.inDatabase { database in
        var days: [ReadingDay] = []
        try database.inTransaction(.deferred) {
          days = try Self.readingDays(database, filter, activity)
          return .commit
        }
        return days
      }
    }
  }

  private static func readingDays(
    _ database: Database, _ filter: ItemFilter, _ activity: SyncActivity
  ) throws -> [ReadingDay] {
    let limit = filter.newest ?? .max
    guard limit > 0 else { return [] }
    var tallies: [Int64: DayCounts] = [:]
    // The first day of those that are listed, once there are enough of them.
    var first: Int64?
    var readings = try OrderedReadings(database, filter, isDescending: true)
    while let reading = try readings.next() {
      // Those that follow were taken no later, and none of them shows a day that is later by more than an offset.
      if let first, reading.utc < first - PositionSpan.maxOffset { break }
      let day = reading.deviceTime.startOfDay
      let isNew = tallies[day] == nil
      tallies[day, default: DayCounts()].add(reading, activity)
      if isNew, tallies.count >= limit { first = tallies.keys.sorted().suffix(limit).first }
    }
    return tallies.sorted { $0.key < $1.key }.suffix(limit).map { $1.day(from: $0) }
  }
}

/// What is counted of the readings of a day.
private struct DayCounts {
  private var readings = 0
  private var queued = 0
  private var refused = 0
  private var isMoving = false

  mutating func add(_ reading: StoredReading, _ activity: SyncActivity) {
    readings += 1
    guard !reading.isUploaded else { return }
    queued += 1
    if reading.refusal != nil { refused += 1 }
    if reading.syncState(activity) == .syncing { isMoving = true }
  }

  func day(from start: Int64) -> ReadingDay {
    let state: SyncState =
      queued == 0 ? .synced : isMoving ? .syncing : .queued(refused > 0 ? .refused : .waiting)
    return ReadingDay(start: DeviceTime(seconds: start), readings: readings, queued: queued, state: state)
  }
}

extension DeviceTime {
  /// Its midnight, in civil seconds.
  fileprivate var startOfDay: Int64 { seconds &- (seconds % 86400 + 86400) % 86400 }
}
