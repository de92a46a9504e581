// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Finds the holes of a source: times whose sensor values the source does not keep any more, and that the
/// store never got.
package enum SourceHoles {
  /// The shortest hole, in seconds. Sensors send a value at least every 15 minutes, so a longer time without
  /// values is a gap.
  static let minSeconds: Int64 = 20 * 60

  /// How much later than its time a value may appear in a source, in seconds. The graph of LibreLinkUp is 17
  /// minutes late.
  static let lagSeconds: Int64 = 3600

  /// How long a filled hole is kept, in seconds. The import that filled it may be undone in this time.
  static let keptSeconds: Int64 = 90 * 86400

  /// The holes of a source after it has answered, including earlier holes that the store has filled since. If
  /// a source answers regularly and its values are not late, a time without values is a time without a
  /// sensor, and not a hole.
  ///
  /// - Parameters:
  ///   - state: the state before this answer.
  ///   - oldest: the instant of the oldest sensor value in the answer, in UTC seconds; nil if it has none.
  ///   - count: the number of sensor values in the answer.
  ///   - now: the host's clock in UTC seconds.
  package static func after(_ state: SourceState, oldest: Int64?, count: Int, now: Int64) -> [SourceHole] {
    let found = state.foundHoles ?? state.holes
    guard let oldest, var from = state.newestValue else { return found }
    // If `answeredAt` is in the future, the clock was ahead at that time. If the oldest value is before the
    // last answer, the source itself was late: for example, a phone did not send values for days. In both
    // cases, the last answer does not show when a sensor was active.
    if let answered = state.answeredAt, answered <= now, oldest > answered - lagSeconds {
      // Every source keeps values for more than two hours. So this answer contains all values that the last
      // answer could not contain yet.
      if now - answered <= lagSeconds { return found }
      // No sensor was active at the last answer, and this answer contains all values of the next sensor. So
      // no values are missing.
      if from <= answered - lagSeconds, isWhole(state, oldest: oldest, count: count, now: now) {
        return found
      }
      from = max(from, answered - lagSeconds)
    }
    guard oldest - from > minSeconds else { return found }
    return found + [SourceHole(from: from, until: oldest)]
  }

  /// Whether an answer contains all values since the start of its sensor. That is certain if an earlier
  /// answer reached further back and had more values. The source then dropped no values, neither by age nor
  /// by number.
  private static func isWhole(_ state: SourceState, oldest: Int64, count: Int, now: Int64) -> Bool {
    guard let reach = state.reachSeconds, let most = state.maxValues else { return false }
    return now - oldest < reach - minSeconds && count < most
  }

  /// Stores how far back an answer reaches and how many values it has, if they exceed the stored maximum. An
  /// answer without a recent value is ignored: its sensor may be silent, or this computer's clock may be
  /// wrong.
  package static func updateReach(
    of values: ClosedRange<Int64>?, count: Int, now: Int64, _ state: inout SourceState
  ) {
    guard let values, (0...lagSeconds).contains(now - values.upperBound) else { return }
    state.reachSeconds = max(state.reachSeconds ?? 0, now - values.lowerBound)
    state.maxValues = max(state.maxValues ?? 0, count)
  }

  /// Compares holes with the values in the store. `found` of the result has complete holes, but no old holes
  /// that are filled. `remaining` has the parts of these holes that are still without values.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  package static func examine(
    _ found: [SourceHole], in store: Store, now: Int64
  ) throws -> (found: [SourceHole], remaining: [SourceHole]) {
    var examined = try found.map { (hole: $0, rest: try remaining($0, in: store)) }
    examined.removeAll { $0.rest.isEmpty && $0.hole.until < now - keptSeconds }
    // If there are too many holes, the filled ones are dropped first, and then the oldest.
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
    func addHole(until next: Int64) {
      if next - last > minSeconds { rest.append(SourceHole(from: last, until: next)) }
      last = next
    }
    try store.forEachItem(filter) { addHole(until: $0.utc) }
    addHole(until: hole.until)
    return rest
  }

  /// A hole in words, with times in the zone of the logbook: `2026-05-06 02:10–06:40`.
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
  /// The settings of all sources. Their `holes` have only those parts of holes whose values the store still
  /// lacks.
  package func sourcesWithHoles() throws -> [SourceSetting] {
    try sources().map { setting in
      var setting = setting
      let found = setting.state.foundHoles ?? setting.state.holes
      setting.state.holes = try SourceHoles.examine(found, in: self, now: Host.now()).remaining
      return setting
    }
  }
}
