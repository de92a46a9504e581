// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// The readings of one day, and their sync state. A reading belongs to the day that its device showed.
package struct ReadingDay: Hashable, Sendable {
  /// The first second of the day, in civil seconds.
  package let start: DeviceTime
  /// The number of readings.
  package let readings: Int
  /// The number of readings that the remote does not have yet.
  package let queued: Int
  /// The sync state of the day: that of the reading which is furthest from being synced.
  package let state: SyncState
}

/// The day in `list --days --format ndjson`.
extension ReadingDay: Encodable {
  private enum CodingKeys: String, CodingKey { case day, readings, queued, state, reason }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(String(start.text.prefix(10)), forKey: .day)
    try container.encode(readings, forKey: .readings)
    try container.encode(queued, forKey: .queued)
    try container.encode(state.name, forKey: .state)
    try container.encode(state.reason?.name, forKey: .reason)
  }
}

extension Store {
  /// The days with readings of any device that pass the filter, oldest first. `newest` limits the number of
  /// days. Only the rows of these days are read, whatever the size of the store.
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
    // The start of the oldest day in the result; nil until the maximum number of days is found.
    var first: Int64?
    var readings = try OrderedReadings(database, filter, isDescending: true)
    while let reading = try readings.next() {
      // All further readings have this instant or an earlier one. The day that a device showed can be later
      // than the instant by at most one offset.
      if let first, reading.utc < first - PositionSpan.maxOffset { break }
      let day = reading.deviceTime.startOfDay
      let isNew = tallies[day] == nil
      tallies[day, default: DayCounts()].add(reading, activity)
      if isNew, tallies.count >= limit { first = tallies.keys.sorted().suffix(limit).first }
    }
    return tallies.sorted { $0.key < $1.key }.suffix(limit).map { $1.day(from: $0) }
  }
}

/// The counts of the readings of a day.
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
  /// The midnight at which the day of this time begins, in civil seconds.
  fileprivate var startOfDay: Int64 { seconds &- (seconds % 86400 + 86400) % 86400 }
}
