// SPDX-License-Identifier: Apache-2.0

/// The time zones of a logbook for the clock of one device. They determine the UTC offsets of shown times.
public struct LogbookZone: Sendable {
  /// A period with another zone than the base, in civil seconds of shown time.
  package struct Period: Hashable, Sendable {
    package let from: Int64
    package let until: Int64
    package let zone: NamedZone
  }

  /// The base zone, such as `Europe/Madrid`.
  package let base: NamedZone
  /// The periods. For each time, the first period that contains it is used.
  package let periods: [Period]
  /// The zones stated for imports, by the guid of each imported record. Callers set this property for the
  /// records that they will send next.
  package var recordZones: [String: NamedZone] = [:]
  /// The range of times (`Stretch`) that contains the time of the last call of `placement(of:)`. Successive
  /// rows usually have close times. A search in the rules of a zone takes about a thousand times longer than
  /// a comparison with both ends of this range.
  private var current = Stretch(from: 0, to: 0, placement: Placement(utcOffset: 0, source: .zone))
  private var stretchesByYear: [Int: [Stretch]] = [:]

  /// A zone without periods.
  ///
  /// - Throws: `Failure` of category `configuration` if no zone has this name.
  public init(name: String) throws(Failure) {
    self.init(base: try NamedZone(name), periods: [])
  }

  /// A base zone with periods of other zones.
  package init(base: NamedZone, periods: [Period]) {
    self.base = base
    self.periods = periods
  }

  /// The zones that apply to a record: the zone stated for its import, otherwise the zones of this value.
  package func zone(ofRecord guid: String) -> LogbookZone {
    recordZones[guid].map { LogbookZone(base: $0, periods: []) } ?? self
  }

  /// The IANA name of the base zone.
  public var name: String { base.name }

  /// Determines the offset of a shown time. If a change of clocks skips the time, the result is the offset
  /// before the change. If a change repeats the time, the result is the offset of the first occurrence.
  public mutating func placement(of time: DeviceTime) -> Placement {
    if time.seconds >= current.from, time.seconds < current.to { return current.placement }
    let year = time.parts.year
    let stretches = stretchesByYear[year] ?? makeStretches(of: year)
    stretchesByYear[year] = stretches
    if let stretch = stretches.first(where: { time.seconds < $0.to }) { current = stretch }
    return current.placement
  }

  /// Determines the placement of a shown time by the offset that its source states, or otherwise by the zone.
  @inlinable public mutating func placement(of time: DeviceTime, statedOffset: Int32?) -> Placement {
    if let statedOffset { return Placement(utcOffset: statedOffset, source: .stated) }
    return placement(of: time)
  }

  /// The offset at an instant, in seconds east of Greenwich.
  public func offset(atUTC seconds: Int64) -> Int32 {
    for period in periods {
      let offset = period.zone.offset(atUTC: seconds)
      let shown = seconds + Int64(offset)
      if shown >= period.from, shown < period.until { return offset }
    }
    return base.offset(atUTC: seconds)
  }

  /// The offset at an instant in the zone that applies at a shown time. Clocks may change between that time
  /// and the instant.
  package func offset(of time: DeviceTime, atUTC seconds: Int64) -> Int32 {
    zone(at: time.seconds).offset(atUTC: seconds)
  }

  /// The placements of all shown times of a year. Each `Stretch` has one placement; they are in order and
  /// without gaps.
  package func makeStretches(of year: Int) -> [Stretch] {
    let (start, end) = (NamedZone.start(of: year), NamedZone.start(of: year + 1))
    let borders = Set(periods.flatMap { [$0.from, $0.until] }.filter { $0 > start && $0 < end }).sorted()
    var stretches: [Stretch] = []
    // A search in the rules of a zone takes about a hundred times longer than reading a result from this
    // dictionary.
    var known: [NamedZone: [Stretch]] = [:]
    for (from, to) in zip([start] + borders, borders + [end]) {
      let zone = zone(at: from)
      let all = known[zone] ?? zone.makeStretches(of: year)
      known[zone] = all
      for stretch in all where stretch.to > from && stretch.from < to {
        stretches.append(
          Stretch(from: max(from, stretch.from), to: min(to, stretch.to), placement: stretch.placement))
      }
    }
    return stretches
  }

  /// Determines the shown time and the placement in these zones. For an instant, these zones determine the
  /// shown time. For any other time, they determine the offset. A time with a stated offset stays as it is.
  package mutating func recalculated(_ time: DeviceTime, _ placement: Placement) -> (DeviceTime, Placement) {
    switch placement.source {
    case .stated: return (time, placement)
    case .zone, .zoneGap, .zoneOverlap, .ticks: return (time, self.placement(of: time))
    case .instant:
      let utc = placement.instant(of: time).seconds
      let offset = shownOffset(atUTC: utc)
      return (DeviceTime(seconds: utc + Int64(offset)), Placement(utcOffset: offset, source: .instant))
    }
  }

  /// The instants whose shown times the zones determine, in UTC seconds: from 1970 to the last day before the
  /// year 10000. Other instants are shown in UTC.
  package static let movable: ClosedRange<Int64> = 0...LogbookZones.lastSecond - 86_400

  /// The offset with which the zones show an instant, in seconds east of Greenwich.
  func shownOffset(atUTC seconds: Int64) -> Int32 {
    Self.movable.contains(seconds) ? offset(atUTC: seconds) : 0
  }

  /// The offsets at all instants of a year. Each returned range has one offset, and ends where the next one
  /// begins. The first range begins two days before the year.
  package func makeInstantStretches(of year: Int) -> [(start: Int64, utcOffset: Int32)] {
    let (first, end) = (NamedZone.start(of: year) - 2 * 86400, NamedZone.start(of: year + 1) + 2 * 86400)
    var starts: Set<Int64> = [first, Self.movable.lowerBound, Self.movable.upperBound + 1]
    for zone in Set(periods.map(\.zone) + [base]) {
      starts.formUnion(zone.changes(from: first, to: end).map(\.instant))
    }
    // Adds the instants at which a period can begin or end. Each border is converted with every offset that
    // the period's zone has near it.
    for period in periods {
      for border in [period.from, period.until] where border > first && border < end {
        for near in [border - 2 * 86400, border, border + 2 * 86400] {
          starts.insert(border - Int64(period.zone.offset(atUTC: near)))
        }
      }
    }
    var stretches: [(start: Int64, utcOffset: Int32)] = []
    for start in starts.sorted() where start >= first && start <= end {
      let offset = shownOffset(atUTC: start)
      if stretches.last?.utcOffset != offset { stretches.append((start, offset)) }
    }
    return stretches
  }

  /// Whether a period begins or ends near the day that begins at this instant in UTC seconds. Near means on
  /// that day, or within two days of it.
  func hasBorder(near seconds: Int64) -> Bool {
    let near = seconds - 2 * 86400...seconds + 3 * 86400
    return periods.contains { near.contains($0.from) || near.contains($0.until) }
  }

  /// Whether the base zone applies at a shown time, and not the zone of a period.
  package func isBase(at seconds: Int64) -> Bool {
    !periods.contains { seconds >= $0.from && seconds < $0.until }
  }

  /// The zone that applies at a shown time.
  package func zone(at seconds: Int64) -> NamedZone {
    periods.first { seconds >= $0.from && seconds < $0.until }?.zone ?? base
  }
}

/// The offsets of a zone at instants. The value keeps the offset of the last instant's day. A search in the
/// zone's rules for each row would take longer than all other work on the row.
@frozen @usableFromInline package struct ZoneOffsets: Sendable {
  package let zone: LogbookZone
  @usableFromInline var day: Range<Int64> = 0..<0
  @usableFromInline var offset: Int32 = 0

  /// The offsets of this zone.
  package init(_ zone: LogbookZone) {
    self.zone = zone
  }

  /// The offset of the zone at an instant in UTC seconds, in seconds east of Greenwich.
  @inlinable package mutating func offset(atUTC seconds: Int64) -> Int32 {
    day.contains(seconds) ? offset : find(seconds)
  }

  @usableFromInline mutating func find(_ seconds: Int64) -> Int32 {
    let start = DeviceTime.day(of: seconds) * 86400
    let first = zone.shownOffset(atUTC: start)
    guard zone.shownOffset(atUTC: start + 86400) == first, !zone.hasBorder(near: start) else {
      return zone.shownOffset(atUTC: seconds)
    }
    day = start..<start + 86400
    offset = first
    return first
  }
}

extension LogbookZone: Hashable {
  /// Whether both values have the same zones for every time and record.
  public static func == (left: Self, right: Self) -> Bool {
    left.base == right.base && left.periods == right.periods && left.recordZones == right.recordZones
  }

  /// Hashes the base and the periods; `recordZones` are only compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(base)
    hasher.combine(periods)
  }
}

/// A range of shown times with one placement: `from` inclusive, `to` exclusive, in civil seconds.
package struct Stretch: Hashable, Sendable {
  /// The first shown time, in civil seconds.
  package let from: Int64
  /// The exclusive end of the range, in civil seconds.
  package let to: Int64
  /// The placement of every time in the stretch.
  package let placement: Placement
}
