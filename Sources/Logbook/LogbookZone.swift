// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The time zone of a logbook: places shown times on the UTC line.
public struct LogbookZone: Sendable {
  /// The IANA name, such as `Europe/Madrid`.
  public let name: String
  private let zone: TimeZone
  /// The stretch in which the last time lay. Rows are mostly close together, and asking the zone's rules costs
  /// some thousand times more than comparing two numbers.
  private var current = Stretch(from: 0, to: 0, placement: Placement(utcOffset: 0, source: .zone))
  private var stretchesByYear: [Int: [Stretch]] = [:]

  /// - Throws: `Failure` of category `configuration` when no zone has this name.
  public init(name: String) throws {
    guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else {
      throw Failure(.configuration, "'\(name)' is not a time zone; use an IANA name such as Europe/Madrid")
    }
    self.name = name
    self.zone = zone
  }

  /// Places a shown time: in a gap by the offset before the change, in an overlap at the first occurrence.
  public mutating func place(_ time: DeviceTime) -> Placement {
    if time.seconds >= current.from, time.seconds < current.to { return current.placement }
    let year = time.parts.year
    let stretches = stretchesByYear[year] ?? makeStretches(of: year)
    stretchesByYear[year] = stretches
    if let stretch = stretches.first(where: { time.seconds < $0.to }) { current = stretch }
    return current.placement
  }

  /// Places a shown time by the offset that its source states, else by the zone.
  @inlinable public mutating func place(_ time: DeviceTime, statedOffset: Int32?) -> Placement {
    if let statedOffset { return Placement(utcOffset: statedOffset, source: .stated) }
    return place(time)
  }

  /// The offset in force at an instant, in seconds east of Greenwich.
  public func offset(atUTC seconds: Int64) -> Int32 {
    Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
  }

  /// How the zone places the shown times of each stretch of a year, in order and without holes.
  package func makeStretches(of year: Int) -> [Stretch] {
    let day: Int64 = 86400
    let start = Int64(DeviceTime.daysSince1970(year: year, month: 1, day: 1)) * day
    let end = Int64(DeviceTime.daysSince1970(year: year + 1, month: 1, day: 1)) * day
    var stretches: [Stretch] = []
    var from = start
    func add(until to: Int64, _ offset: Int32, _ source: OffsetSource) {
      let last = min(to, end)
      if last > from {
        stretches.append(
          Stretch(from: from, to: last, placement: Placement(utcOffset: offset, source: source)))
        from = last
      }
    }
    // Zones are at most 14 hours from Greenwich, so two days on either side see every change of the year.
    var instant = start - 2 * day
    var old = offset(atUTC: instant)
    while instant < end + 2 * day {
      let new = offset(atUTC: instant + day)
      if new != old {
        let change = firstInstant(after: instant, until: instant + day, notAt: old)
        let (shownBefore, shownAfter) = (change + Int64(old), change + Int64(new))
        add(until: min(shownBefore, shownAfter), old, .zone)
        add(until: max(shownBefore, shownAfter), old, new > old ? .zoneGap : .zoneOverlap)
      }
      old = new
      instant += day
    }
    add(until: end, old, .zone)
    return stretches
  }

  private func firstInstant(after low: Int64, until high: Int64, notAt old: Int32) -> Int64 {
    var (low, high) = (low, high)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(atUTC: middle) == old { low = middle } else { high = middle }
    }
    return high
  }
}

/// A stretch of shown times that one placement serves: `from` inclusive, `to` exclusive, in civil seconds.
package struct Stretch: Sendable {
  /// The first shown time, in civil seconds.
  package let from: Int64
  /// The shown time behind the last, in civil seconds.
  package let to: Int64
  /// What places every time of the stretch.
  package let placement: Placement
}
