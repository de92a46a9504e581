// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Finds the times whose sensor values a source does not have any more and the store never got.
package enum SourceHoles {
  /// Sensors send a value each 15 minutes or more often. A longer time without one is a hole, in seconds.
  static let minSeconds: Int64 = 20 * 60

  /// How long after its time a source may show a value, in seconds: the graph of LibreLinkUp is 17 minutes late.
  static let lagSeconds: Int64 = 3600

  /// How long a hole that was filled is kept, because what filled it may be undone, in seconds.
  static let keptSeconds: Int64 = 90 * 86400

  /// The holes of a source after an answer, also those that the store has filled since. While a source answers, it has what there is: a time without values is then one
  /// without a sensor, unless the source was late.
  ///
  /// - Parameters:
  ///   - state: that before the answer.
  ///   - oldest: the instant of the oldest sensor value in the answer.
  ///   - count: the number of its sensor values.
  ///   - now: the host's clock in UTC seconds.
  package static func after(_ state: SourceState, oldest: Int64?, count: Int, now: Int64) -> [SourceHole] {
    let found = state.foundHoles ?? state.holes
    guard let oldest, var from = state.newestValue else { return found }
    // The clock may have been ahead. An older value that the last answer lacked shows that the source itself was late.
    // An example is a service that a phone had not reached for days.
    if let answered = state.answeredAt, answered <= now, oldest > answered - lagSeconds {
      // Every source keeps its values for more than two hours: this answer has what the last one could not show yet.
      if now - answered <= lagSeconds { return found }
      // There was no sensor at the last answer, and this one has all values of the next sensor.
      if from <= answered - lagSeconds, isWhole(state, oldest: oldest, count: count, now: now) {
        return found
      }
      from = max(from, answered - lagSeconds)
    }
    guard oldest - from > minSeconds else { return found }
    return found + [SourceHole(from: from, until: oldest)]
  }

  /// Whether a source has cut off nothing at the start of an answer: it reaches less far back than an earlier one, and has
  /// fewer values. The first says that it forgets nothing by time, the second that it forgets nothing by number.
  private static func isWhole(_ state: SourceState, oldest: Int64, count: Int, now: Int64) -> Bool {
    guard let reach = state.reachSeconds, let most = state.mostValues else { return false }
    return now - oldest < reach - minSeconds && count < most
  }

  /// Stores how far back an answer reaches. One without a recent value does not say it: its sensor may be silent, or the
  /// clock of this computer may be ahead.
  package static func updateReach(
    of values: ClosedRange<Int64>?, count: Int, now: Int64, _ state: inout SourceState
  ) {
    guard let values, (0...lagSeconds).contains(now - values.upperBound) else { return }
    state.reachSeconds = max(state.reachSeconds ?? 0, now - values.lowerBound)
    state.mostValues = max(state.mostValues ?? 0, count)
  }

  /// The holes as they were found, without those that stay filled, and what is left of them. An export that was imported
  /// meanwhile may have filled a part.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  package static func examine(
    _ found: [SourceHole], in store: Store, now: Int64
  ) throws -> (found: [SourceHole], remaining: [SourceHole]) {
    var examined = try found.map { (hole: $0, rest: try remaining($0, in: store)) }
    examined.removeAll { $0.rest.isEmpty && $0.hole.until < now - keptSeconds }
    // A filled one makes room for one that is not.
    while examined.count > SourceState.maxHoles {
      examined.remove(at: examined.firstIndex { $0.rest.isEmpty } ?? 0)
    }
    return (examined.map(\.hole), examined.flatMap(\.rest).suffix(SourceState.maxHoles))
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
  package static func text(_ hole: SourceHole, in zone: LogbookZone) -> String {
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
  package func sourcesWithHoles() throws -> [SourceSetting] {
    try sources().map { setting in
      var setting = setting
      let found = setting.state.foundHoles ?? setting.state.holes
      setting.state.holes = try SourceHoles.examine(found, in: self, now: Host.now()).remaining
      return setting
    }
  }
}
