// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A time zone of the system's database, by its IANA name.
package struct NamedZone: Sendable {
  /// The IANA name, such as `Europe/Madrid`.
  package let name: String
  private let zone: TimeZone

  /// - Throws: `Failure` of category `configuration` if no zone has this name.
  package init(_ name: String) throws(Failure) {
    guard let zone = Self(known: name) else {
      let advice =
        Self.nearest(to: name).map { "did you mean \($0)?" } ?? "use an IANA name such as Europe/Madrid"
      throw Failure(.configuration, "'\(name)' is not a time zone; \(advice)")
    }
    self = zone
  }

  /// The zone with this name; nil if the system does not know it.
  package init?(known name: String) {
    guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
    self.name = name
    self.zone = zone
  }

  /// The zone UTC, which needs no time zone data of the system.
  package static let utc = NamedZone(name: "UTC", zone: .gmt)

  /// The names of all zones that the system knows, sorted.
  package static var names: [String] {
    (["UTC"] + TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }).sorted()
  }

  /// The name of the zone that a person probably means. The zone is found by its name or the name of its
  /// city, in upper or lower case, even with a typing error.
  private static func nearest(to text: String) -> String? {
    // The search compares the text with all names, so the length of the text is limited.
    guard text.count <= 64 else { return nil }
    let meant = text.lowercased().replacing(" ", with: "_")
    let names = names.filter { $0.contains("/") }
    func first(where isMeant: (String) -> Bool) -> String? { names.first { isMeant($0.lowercased()) } }
    if let name = first(where: { $0 == meant || $0.hasSuffix("/" + meant) }) { return name }
    if meant.contains("/") {
      let near = NearestWord.of(meant, among: names.map { $0.lowercased() })
      return near.flatMap { near in first { $0 == near } }
    }
    // Short texts are abbreviations such as CET. They resemble the name of some city by chance, so they are
    // not searched.
    guard meant.count > 4 else { return nil }
    let cities = names.compactMap { $0.split(separator: "/").last?.lowercased() }
    return NearestWord.of(meant, among: cities).flatMap { near in first { $0.hasSuffix("/" + near) } }
  }

  private init(name: String, zone: TimeZone) {
    self.name = name
    self.zone = zone
  }

  /// The offset at an instant, in seconds east of Greenwich.
  package func offset(atUTC seconds: Int64) -> Int32 {
    Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
  }

  /// The shown time at which a year begins, in civil seconds.
  static func start(of year: Int) -> Int64 {
    Int64(DeviceTime.daysSince1970(year: year, month: 1, day: 1)) * 86400
  }

  /// The placements of all shown times of a year. Each `Stretch` has one placement; they are in order and
  /// without gaps.
  func makeStretches(of year: Int) -> [Stretch] {
    let day: Int64 = 86400
    let (start, end) = (Self.start(of: year), Self.start(of: year + 1))
    var stretches: [Stretch] = []
    var from = start
    func add(until to: Int64, _ placement: Placement) {
      let last = min(to, end)
      if last > from {
        stretches.append(Stretch(from: from, to: last, placement: placement))
        from = last
      }
    }
    // No zone is more than 14 hours from Greenwich. So two days more on both sides include every change that
    // affects the year.
    let changes = changes(from: start - 2 * day, to: end + 2 * day)
    for change in changes {
      add(until: change.times.lowerBound, Placement(utcOffset: change.old, source: .zone))
      add(until: change.times.upperBound, change.placement)
    }
    add(until: end, Placement(utcOffset: changes.last?.new ?? offset(atUTC: start), source: .zone))
    return stretches
  }

  /// The changes of the zone's clocks from the UTC second `start` on, in order, until the end of the day that
  /// contains `end`.
  func changes(from start: Int64, to end: Int64) -> [ClockChange] {
    let day: Int64 = 86400
    var changes: [ClockChange] = []
    var (instant, old) = (start, offset(atUTC: start))
    while instant < end {
      let new = offset(atUTC: instant + day)
      if new != old {
        changes.append(
          ClockChange(
            instant: firstInstant(after: instant, until: instant + day, notAt: old), old: old, new: new))
      }
      old = new
      instant += day
    }
    return changes
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

/// A change of a zone's clocks, such as to summer time. It skips or repeats some shown times.
struct ClockChange: Hashable, Sendable {
  /// The first instant after the change, in UTC seconds.
  let instant: Int64
  /// The offset before the change, in seconds east of Greenwich.
  let old: Int32
  /// The offset after the change, in seconds east of Greenwich.
  let new: Int32

  /// The shown times that the change skips or repeats, in civil seconds.
  var times: Range<Int64> {
    let (before, after) = (instant + Int64(old), instant + Int64(new))
    return min(before, after)..<max(before, after)
  }

  /// The placement of a time that the change skips or repeats, with the offset before the change. A clock
  /// that shows a skipped time was not changed yet. A repeated time gets its first occurrence. Only ticks can
  /// show that it is the second one; see `TickClock`.
  var placement: Placement {
    Placement(utcOffset: old, source: new > old ? .zoneGap : .zoneOverlap)
  }
}
