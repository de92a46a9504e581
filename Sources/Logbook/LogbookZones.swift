// SPDX-License-Identifier: Apache-2.0

/// The time zones that the zone records of a logbook state: the base zone, and periods with other zones. In
/// every store, the offset of a shown time follows from these zones and the device's ticks.
package struct LogbookZones: Hashable, Sendable {
  /// Who stated the base zone.
  package enum Origin: String, Sendable {
    /// A person stated the base zone.
    case given
    /// The zone is that of the system on which the logbook was created. A base zone that a person stated in
    /// another store replaces it.
    case system
  }

  /// The id of the record of the base zone. It is the same in every logbook, so that the logbook has only
  /// one.
  package static let baseGuid = Digest.uuid(of: ["zone", "base"])
  /// The time of the record of the base zone, 2000-01-02T00:00. It is constant, so that two records with the
  /// same zone are equal.
  package static let baseTime = DeviceTime(seconds: 946_771_200)

  /// The last second that a record's time can have: 9999-12-31T23:59:59.
  package static let lastSecond: Int64 = 253_402_300_799

  package let base: NamedZone
  /// The origin of the base zone.
  package let origin: Origin
  /// The maximum number of periods that are used. It is far above the journeys of a life, and so low that a
  /// remote cannot make `LogbookZone.placement(of:)` slow.
  package static let maxPeriods = 500
  /// The maximum number of devices in one period.
  package static let maxDevices = 200
  /// The maximum number of comparisons of zones in one call of `states`. A call that needs more returns nil.
  private static let maxComparisons = 10_000_000
  /// The maximum number of existing periods for which `adding` checks whether the further period extends
  /// them.
  private static let maxCandidates = 8

  /// The periods in the order of precedence. Periods that name devices come first, then periods that were
  /// made later. If these are equal, the guids decide.
  package let periods: [ZonePeriod]
  /// The number of periods beyond `maxPeriods`, which are not used.
  package let ignoredPeriods: Int
  /// The name of the stated base zone if this system does not know it, because its time zone data is older.
  /// In this case, `base` is the last base zone that the system knows.
  package let unknownBase: String?
  /// The names of zones in periods that this system does not know. Such periods are not used.
  package let unknownPeriods: Set<String>

  /// A base zone with its origin, and the periods in any order.
  package init(
    base: NamedZone, origin: Origin, periods: [ZonePeriod] = [], unknownBase: String? = nil,
    unknownPeriods: Set<String> = []
  ) {
    self.base = base
    self.origin = origin
    self.unknownBase = unknownBase
    self.unknownPeriods = unknownPeriods
    let sorted = periods.sorted(by: ZonePeriod.precedes)
    self.periods = Array(sorted.prefix(Self.maxPeriods))
    ignoredPeriods = sorted.count - self.periods.count
  }

  /// The base zone and the periods in records of kind `zone`. Records that state the zone of an import are
  /// ignored (see `ItemZone`). Content that this system does not understand is ignored, too.
  ///
  /// - Parameters:
  ///   - fallback: the base zone if no record states a known one.
  ///   - unknownNames: names of unknown zones in statements about imports. They are added to
  ///     `unknownPeriods`.
  package init(
    records: [(guid: String, state: RecordState)], fallback: NamedZone = .utc,
    unknownNames: Set<String> = []
  ) {
    let base = records.first { $0.guid == Self.baseGuid }?.state
    let name = base?.zoneName
    let known = name.flatMap(NamedZone.init(known:))
    let others = records.filter { $0.guid != Self.baseGuid && !$0.state.isDeleted }
    let unknown = others.compactMap(\.state.zoneName).filter { NamedZone(known: $0) == nil }
    self.init(
      base: known ?? fallback,
      origin: base?.fields["origin"] == .text(Origin.given.rawValue) ? .given : .system,
      periods: others.compactMap { ZonePeriod(guid: $0.guid, $0.state) },
      unknownBase: known == nil ? name : nil,
      unknownPeriods: unknownNames.union(unknown))
  }

  package static func baseState(_ zone: NamedZone, _ origin: Origin, editedAt: Int64? = nil) -> RecordState {
    baseState(named: zone.name, origin, editedAt: editedAt)
  }

  /// The record that states a base zone by its name, which this system may not know.
  package static func baseState(
    named zone: String, _ origin: Origin, editedAt: Int64? = nil
  ) -> RecordState {
    RecordState(
      kind: .zone, entryGuid: nil, deviceTime: baseTime,
      placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["zone": .text(zone), "origin": .text(origin.rawValue)]), isDeleted: false,
      editedAt: editedAt)
  }

  /// Whether the base zone is certain and this system knows it. A UTC zone from the system can be the default
  /// of a system that was never set up, so it is not certain. A zone that a person stated is certain.
  package var isKnown: Bool {
    guard unknownBase == nil else { return false }
    let defaults = ["UTC", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "Etc/GMT"]
    return origin == .given || !defaults.contains(base.name)
  }

  /// The devices that periods name, each as the first three parts of its readings' identities. Devices in the
  /// same periods form a group, since the same zones apply to them.
  package var deviceGroups: [[String]] { Self.deviceGroups(of: periods) }

  private static func deviceGroups(of periods: [ZonePeriod]) -> [[String]] {
    var naming: [String: [Int]] = [:]
    for (index, period) in periods.enumerated() {
      for device in period.devices { naming[device, default: []].append(index) }
    }
    return Dictionary(grouping: naming.keys.sorted()) { naming[$0] ?? [] }.values.sorted { $0[0] < $1[0] }
  }

  /// The zones for the times of a device. If `device` is nil, the zones are for records, and for devices that
  /// no period names.
  package func zone(of device: String? = nil) -> LogbookZone {
    let own = periods.filter { period in
      period.devices.isEmpty || device.map { period.devices.contains($0) } == true
    }
    return LogbookZone(
      base: base,
      periods: own.map { LogbookZone.Period(from: $0.first, until: $0.end, zone: $0.zone) })
  }
}

// MARK: - Changes

extension LogbookZones {
  /// What a further period changes. An equal period changes nothing, and a period that continues an existing
  /// one extends it. Otherwise the period is added, even if its zone already applies at its times.
  package enum Addition: Hashable, Sendable {
    case nothing
    case extended(ZonePeriod)
    case added(ZonePeriod)
  }

  /// Determines what must be written to add a further period.
  ///
  /// - Parameter latestItemZone: when the latest statement about an import was made. Periods made later have
  ///   precedence over the statement. They would lose this precedence if they only extended an earlier
  ///   period.
  package func adding(_ period: ZonePeriod, latestItemZone: Int64 = .min) -> Addition {
    let wanted = with(period)
    // Usually only few existing periods overlap or touch the further one. If there are more, it is enough to
    // try the latest of them.
    let alike = periods.lazy.filter { known in
      known.continues(with: period) && known.madeAt > latestItemZone
    }
    for known in alike.prefix(Self.maxCandidates) {
      var longer = known
      longer.from = known.first <= period.first ? known.from : period.from
      longer.until = known.end >= period.end ? known.until : period.until
      if with(longer).states(like: wanted, in: longer.first, longer.end, period.devices) == true {
        return longer == known ? .nothing : .extended(longer)
      }
    }
    return .added(period)
  }

  private func with(_ period: ZonePeriod) -> LogbookZones {
    LogbookZones(base: base, origin: origin, periods: periods.filter { $0.guid != period.guid } + [period])
  }

  /// Whether both values state the same zone for these devices at every time of a range. If `devices` is
  /// empty, this concerns every device and the records. The base zone is not compared, since it can change
  /// later.
  ///
  /// - Returns: nil if the comparison would take too long.
  private func states(
    like other: LogbookZones, in first: Int64, _ end: Int64, _ devices: Set<String>
  ) -> Bool? {
    func said(_ zone: LogbookZone, _ time: Int64) -> NamedZone? {
      zone.periods.first { time >= $0.from && time < $0.until }?.zone
    }
    let touching = (periods + other.periods).filter { $0.first < end && first < $0.end }
    let borders = Set(touching.flatMap { [$0.first, $0.end] }.filter { $0 > first && $0 < end }).union([first]
    )
    // All devices that no period names have the same zones, so one comparison with nil is enough for them.
    let named = Self.deviceGroups(of: periods + other.periods)
      .filter { group in devices.isEmpty || group.contains(where: devices.contains) }
    let all: [String?] =
      named.compactMap { group in devices.isEmpty ? group[0] : group.first(where: devices.contains) }
      + (devices.isEmpty ? [nil] : [])
    guard all.count * borders.count * (periods.count + 1) < Self.maxComparisons else { return nil }
    return all.allSatisfy { device in
      let (own, others) = (zone(of: device), other.zone(of: device))
      return borders.allSatisfy { said(own, $0) == said(others, $0) }
    }
  }
}

/// A period in which another zone than the base applied, as a person stated it. Causes are a journey, a move,
/// or a device whose clock has another zone.
package struct ZonePeriod: Hashable, Sendable {
  /// The guid of the record that contains the period.
  package let guid: String
  /// The first shown time; nil for all times before `until`.
  package var from: DeviceTime?
  /// The exclusive end of shown times; nil for all times from `from` on.
  package var until: DeviceTime?
  /// The zone that applied.
  package let zone: NamedZone
  /// The devices to which the period applies, each as the first three parts of its readings' identities.
  /// Empty for all devices and records.
  package let devices: Set<String>
  /// When the period was stated, in UTC seconds.
  package var madeAt: Int64

  /// A period with these properties.
  package init(
    guid: String, from: DeviceTime?, until: DeviceTime?, zone: NamedZone, devices: Set<String> = [],
    madeAt: Int64
  ) {
    (self.guid, self.from, self.until) = (guid, from, until)
    (self.zone, self.devices, self.madeAt) = (zone, devices, madeAt)
  }

  /// Parses the period in a record; nil for a tombstone, the zone of an import, and content that this system
  /// does not understand.
  package init?(guid: String, _ state: RecordState) {
    guard !state.isDeleted, !ItemZone.isStated(by: state.fields),
      let zone = state.zoneName.flatMap(NamedZone.init(known:))
    else { return nil }
    var times: [DeviceTime?] = []
    for field in ["from", "until"] {
      switch state.fields[field] {
      case nil: times.append(nil)
      case .text(let text)?:
        guard let time = DeviceTime(text: text) else { return nil }
        times.append(time)
      default: return nil
      }
    }
    let devices: Set<String>
    switch state.fields["devices"] {
    case nil: devices = []
    case .words(let words)?: devices = Set(words)
    default: return nil
    }
    self.init(
      guid: guid, from: times[0], until: times[1], zone: zone, devices: devices,
      madeAt: state.statedAt)
    guard first < end, devices.count <= LogbookZones.maxDevices else { return nil }
  }

  /// The content of the period's record. The time of the record is the time at which the period was stated.
  package func state(editedAt: Int64?) -> RecordState {
    var fields = RecordFields(["zone": .text(zone.name)])
    fields["from"] = from.map { FieldValue.text($0.text) }
    fields["until"] = until.map { FieldValue.text($0.text) }
    if !devices.isEmpty { fields["devices"] = .words(devices.sorted()) }
    return RecordState(
      kind: .zone, entryGuid: nil, deviceTime: DeviceTime(seconds: madeAt),
      placement: Placement(utcOffset: 0, source: .stated), fields: fields, isDeleted: false,
      editedAt: editedAt)
  }

  /// The first shown time, in civil seconds.
  package var first: Int64 { from?.seconds ?? .min }
  /// The exclusive end of shown times, in civil seconds.
  package var end: Int64 { until?.seconds ?? .max }

  /// Whether a time is in the period. For an instant, the time that the period's zone shows decides this.
  func contains(_ time: DeviceTime, _ placement: Placement) -> Bool {
    var seconds = time.seconds
    if placement.source == .instant {
      let utc = placement.instant(of: time).seconds
      seconds = utc + Int64(zone.offset(atUTC: utc))
    }
    return seconds >= first && seconds < end
  }

  /// The instants of the period in UTC seconds: the first one, and the exclusive end. They follow from the
  /// shown times and the period's zone.
  package var instants: (first: Int64, end: Int64) {
    var placing = LogbookZone(base: zone, periods: [])
    func instant(_ time: DeviceTime?) -> Int64? {
      time.map { placing.placement(of: $0).instant(of: $0).seconds }
    }
    return (instant(from) ?? .min, instant(until) ?? .max)
  }

  /// Whether another period with the same zone and devices overlaps it or is adjacent to it.
  func continues(with other: ZonePeriod) -> Bool {
    zone == other.zone && devices == other.devices && first <= other.end && other.first <= end
  }

  /// Whether `left` counts where both overlap. A period for certain devices counts before a period for all.
  /// Of two such periods, the later statement counts. If both were made at one time, the larger guid counts,
  /// so that all stores decide in the same way.
  static func precedes(_ left: ZonePeriod, _ right: ZonePeriod) -> Bool {
    if left.devices.isEmpty != right.devices.isEmpty { return !left.devices.isEmpty }
    return left.madeAt != right.madeAt ? left.madeAt > right.madeAt : left.guid > right.guid
  }
}

extension RecordState {
  /// The name of the zone in a record of kind `zone`, known or unknown.
  package var zoneName: String? {
    if case .text(let name)? = fields["zone"] { name } else { nil }
  }
}

/// The origin of the UTC offset of a shown time. The raw value is the code in the store.
@frozen public enum OffsetSource: UInt8, CaseIterable, Sendable {
  /// The source states the offset, or states UTC together with the shown time. Such an offset is never
  /// recomputed.
  case stated = 0
  /// The offset follows from the logbook's time zone.
  case zone = 1
  /// The offset follows from the zone, but a change of its clocks skips the shown time. The offset before the
  /// change is used.
  case zoneGap = 2
  /// The offset follows from the zone, but a change of its clocks repeats the shown time. The first
  /// occurrence is used.
  case zoneOverlap = 3
  /// The shown time is in a repeated hour. The device's ticks determine whether it is the first or the second
  /// occurrence.
  case ticks = 4
  /// The source states only the instant. The shown time is computed from it with the zone. So a change of the
  /// zone changes the shown time together with the offset.
  case instant = 5

  /// The name in views and exports.
  public var name: String {
    switch self {
    case .stated: "stated"
    case .zone: "zone"
    case .zoneGap: "zone-gap"
    case .zoneOverlap: "zone-overlap"
    case .ticks: "ticks"
    case .instant: "instant"
    }
  }

  /// The source with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let source = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = source
  }

  /// Whether the offset follows from the zones of the logbook and the device's ticks. A change of the zones
  /// or ticks recomputes such an offset.
  @inlinable public var isDerived: Bool { self != .stated }

  /// Whether the shown time is fixed, and the zone determines the instant. Such times need a known zone.
  @inlinable package var placesShownTime: Bool { self != .stated && self != .instant }
}

/// The UTC offset of a shown time, and how it was found.
@frozen public struct Placement: Hashable, Sendable {
  /// Seconds east of Greenwich.
  public let utcOffset: Int32
  /// How the offset was found.
  public let source: OffsetSource

  /// An offset in seconds east of Greenwich, and how it was found.
  @inlinable public init(utcOffset: Int32, source: OffsetSource) {
    self.utcOffset = utcOffset
    self.source = source
  }

  /// The instant of a shown time, as a time in UTC.
  @inlinable package func instant(of shown: DeviceTime) -> DeviceTime {
    DeviceTime(seconds: shown.seconds - Int64(utcOffset))
  }

  /// The time that every store writes. An instant is shown in UTC, whatever zone this store shows it in. Any
  /// other time stays unchanged.
  package func withoutZone(_ shown: DeviceTime) -> (DeviceTime, Placement) {
    guard source == .instant else { return (shown, self) }
    let utc = instant(of: shown)
    // In UTC, an instant before year 1 or after year 9999 cannot be written as a text. So the time keeps its
    // offset, as if the source stated it. No real clock shows such times.
    guard utc.seconds >= DeviceTime.first.seconds, utc.seconds <= LogbookZones.lastSecond else {
      return (shown, Placement(utcOffset: utcOffset, source: .stated))
    }
    return (utc, Placement(utcOffset: 0, source: .instant))
  }
}

/// A time as the content of a record contains it, so that it is equal in every store. It contains an offset
/// only if the source states one. An instant is in UTC, whatever zone shows it.
package struct StatedTime: Hashable, Sendable {
  /// The shown time, or the instant in UTC.
  package let time: DeviceTime
  /// Seconds east of Greenwich, 0 for an instant; nil for an offset that is derived from the zones.
  package let offset: Int32?

  /// The stated time of a shown time with this placement.
  package init(_ time: DeviceTime, _ placement: Placement) {
    switch placement.source {
    case .stated: (self.time, offset) = (time, placement.utcOffset)
    case .instant: (self.time, offset) = (placement.instant(of: time), 0)
    case .zone, .zoneGap, .zoneOverlap, .ticks: (self.time, offset) = (time, nil)
    }
  }
}

extension DeviceTime {
  /// An offset in seconds as `±hh:mm`, or `Z` for zero. Historic offsets that are not whole minutes get
  /// `:ss`.
  package static func offsetText(_ seconds: Int32) -> String {
    if seconds == 0 { return "Z" }
    let size = abs(Int(seconds))
    let rest = size % 60 == 0 ? "" : ":" + padded(size % 60, 2)
    return (seconds < 0 ? "-" : "+") + padded(size / 3600, 2) + ":" + padded(size / 60 % 60, 2) + rest
  }
}
