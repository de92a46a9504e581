// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Finds the times whose sensor values a source does not have any more and the store never got.
enum SourceHoles {
  /// Sensors send a value each 15 minutes or more often. A longer time without one is a hole, in seconds.
  static let minSeconds: Int64 = 20 * 60

  /// The holes of a source after an answer.
  ///
  /// - Parameters:
  ///   - oldest: the instant of the oldest sensor value in the answer.
  ///   - newestKnown: that of the newest value in all earlier answers; nil before the first.
  static func after(_ holes: [SourceHole], oldest: Int64?, newestKnown: Int64?) -> [SourceHole] {
    guard let oldest, let newestKnown, oldest - newestKnown > minSeconds else { return holes }
    return (holes + [SourceHole(from: newestKnown, until: oldest)]).suffix(SourceState.maxHoles)
  }

  /// The parts of the holes that the store does not have from anywhere, such as an export that was imported meanwhile.
  static func remaining(_ holes: [SourceHole], in store: Store) throws -> [SourceHole] {
    try holes.flatMap { try remaining($0, in: store) }.suffix(SourceState.maxHoles)
  }

  private static func remaining(_ hole: SourceHole, in store: Store) throws -> [SourceHole] {
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([.cbg], [])
    (filter.since, filter.until) = (hole.from, hole.until + 1)
    var (last, rest): (Int64, [SourceHole]) = (hole.from, [])
    func note(_ next: Int64) {
      if next - last > minSeconds { rest.append(SourceHole(from: last, until: next)) }
      last = next
    }
    try store.forEachItem(filter) { note($0.utc) }
    note(hole.until)
    return rest
  }

  /// A hole in words: `2026-05-06 02:10–06:40`, in the zone of the logbook.
  static func text(_ hole: SourceHole, in zone: LogbookZone) -> String {
    let (from, until) = (shown(hole.from, zone), shown(hole.until, zone))
    return from.day == until.day
      ? "\(from.day) \(from.time)–\(until.time)" : "\(from.day) \(from.time) – \(until.day) \(until.time)"
  }

  private static func shown(_ instant: Int64, _ zone: LogbookZone) -> (day: Substring, time: Substring) {
    let text = DeviceTime(seconds: instant + Int64(zone.offset(atUTC: instant))).text
    return (text.prefix(10), text.dropFirst(11).prefix(5))
  }
}

extension Store {
  /// The sources, with the holes that the store still has.
  func sourcesWithHoles() throws -> [SourceSetting] {
    try sources().map { setting in
      var setting = setting
      setting.state.holes = try SourceHoles.remaining(setting.state.holes, in: self)
      return setting
    }
  }
}
