// SPDX-License-Identifier: Apache-2.0

/// The time zones of a logbook for one clock: places shown times on the UTC line.
public struct LogbookZone: Sendable {
  /// A period in which another zone than the base holds, in civil seconds of shown time.
  package struct Period: Hashable, Sendable {
    package let from: Int64
    package let until: Int64
    package let zone: NamedZone
  }

  /// The base zone, such as `Europe/Madrid`.
  package let base: NamedZone
  /// The periods, of which the first that holds a time decides.
  package let periods: [Period]
  /// The zones that were given for the imports of records, by the ids of those that are about to be sent.
  package var recordZones: [String: NamedZone] = [:]
  /// The stretch in which the last time lay. Rows are mostly close together, and asking the zone's rules costs
  /// some thousand times more than comparing two numbers.
  private var current = Stretch(from: 0, to: 0, placement: Placement(utcOffset: 0, source: .zone))
  private var stretchesByYear: [Int: [Stretch]] = [:]

  /// One zone that holds always.
  ///
  /// - Throws: `Failure` of category `configuration` when no zone has this name.
  public init(name: String) throws(Failure) {
    self.init(base: try NamedZone(name), periods: [])
  }

  /// A base zone and the periods of others.
  package init(base: NamedZone, periods: [Period]) {
    self.base = base
    self.periods = periods
  }

  /// What places a record: the zone that was given for its import, else this.
  package func zone(ofRecord guid: String) -> LogbookZone {
    recordZones[guid].map { LogbookZone(base: $0, periods: []) } ?? self
  }

  /// The IANA name of the base zone.
  public var name: String { base.name }

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
    for period in periods {
      let offset = period.zone.offset(atUTC: seconds)
      let shown = seconds + Int64(offset)
      if shown >= period.from, shown < period.until { return offset }
    }
    return base.offset(atUTC: seconds)
  }

  /// What the clocks showed some hours after a shown time: the offset behind a change of the same zone.
  package func offset(of time: DeviceTime, atUTC seconds: Int64) -> Int32 {
    zone(at: time.seconds).offset(atUTC: seconds)
  }

  /// How the zones place the shown times of each stretch of a year, in order and without holes.
  package func makeStretches(of year: Int) -> [Stretch] {
    let (start, end) = (NamedZone.start(of: year), NamedZone.start(of: year + 1))
    let borders = Set(periods.flatMap { [$0.from, $0.until] }.filter { $0 > start && $0 < end }).sorted()
    var stretches: [Stretch] = []
    // Asking a zone's rules for a year costs some hundred times more than looking at what they said.
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

  /// Whether the base zone places a shown time, and no period does.
  package func isBase(at seconds: Int64) -> Bool {
    !periods.contains { seconds >= $0.from && seconds < $0.until }
  }

  /// The zone that held at a shown time.
  package func zone(at seconds: Int64) -> NamedZone {
    periods.first { seconds >= $0.from && seconds < $0.until }?.zone ?? base
  }
}

extension LogbookZone: Hashable {
  /// Whether both place every time alike.
  public static func == (left: Self, right: Self) -> Bool {
    left.base == right.base && left.periods == right.periods && left.recordZones == right.recordZones
  }

  /// What both of two equal ones have.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(base)
    hasher.combine(periods)
  }
}

/// A stretch of shown times that one placement serves: `from` inclusive, `to` exclusive, in civil seconds.
package struct Stretch: Hashable, Sendable {
  /// The first shown time, in civil seconds.
  package let from: Int64
  /// The shown time behind the last, in civil seconds.
  package let to: Int64
  /// What places every time of the stretch.
  package let placement: Placement
}
