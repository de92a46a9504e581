// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A time zone of the system's database, by its IANA name.
package struct NamedZone: Sendable {
  /// The IANA name, such as `Europe/Madrid`.
  package let name: String
  private let zone: TimeZone

  /// - Throws: `Failure` of category `configuration` when no zone has this name.
  package init(_ name: String) throws(Failure) {
    guard let zone = Self(known: name) else {
      throw Failure(.configuration, "'\(name)' is not a time zone; use an IANA name such as Europe/Madrid")
    }
    self = zone
  }

  /// The zone of this name; nil where the system knows none.
  package init?(known name: String) {
    guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
    self.name = name
    self.zone = zone
  }

  /// Greenwich, which every system knows.
  package static let utc = NamedZone(name: "UTC", zone: .gmt)

  private init(name: String, zone: TimeZone) {
    self.name = name
    self.zone = zone
  }

  /// The offset in force at an instant, in seconds east of Greenwich.
  package func offset(atUTC seconds: Int64) -> Int32 {
    Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
  }

  /// The civil seconds at which a year begins.
  static func start(of year: Int) -> Int64 {
    Int64(DeviceTime.daysSince1970(year: year, month: 1, day: 1)) * 86400
  }

  /// How the zone places the shown times of each stretch of a year, in order and without holes.
  func makeStretches(of year: Int) -> [Stretch] {
    let day: Int64 = 86400
    let (start, end) = (Self.start(of: year), Self.start(of: year + 1))
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

extension NamedZone: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.name == right.name }
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
