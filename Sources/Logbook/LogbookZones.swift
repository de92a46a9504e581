// SPDX-License-Identifier: Apache-2.0

/// What the zone records of a logbook say together: the base zone, and the periods in which another one held. Which
/// offset a shown time has follows from it and from the device's ticks, in every store alike.
package struct LogbookZones: Hashable, Sendable {
  /// Who said the base zone.
  package enum Origin: String, Sendable {
    /// A person.
    case given
    /// The system on which the logbook was created. It yields to what a person says elsewhere.
    case system
  }

  /// The identity of the record that states the base zone, the same in every logbook.
  package static let baseGuid = Digest.uuid(of: ["zone", "base"])
  /// The time of that record, so that two that say the same are equal.
  package static let baseTime = DeviceTime(seconds: 946_771_200)

  /// The last second that a record can bear: 9999-12-31T23:59:59.
  package static let lastSecond: Int64 = 253_402_300_799

  /// The base zone.
  package let base: NamedZone
  /// Who said so.
  package let origin: Origin
  /// The most periods that count: far more than a life of journeys, and few enough that a remote cannot make placing slow.
  package static let maxPeriods = 500
  /// The most devices that one period may name.
  package static let maxDevices = 200
  /// So many comparisons are worth finding out that a period says nothing new.
  private static let maxComparisons = 10_000_000
  /// So many periods are tried whether a further one makes them longer.
  private static let maxCandidates = 8

  /// The periods, in the order of precedence: those that name devices, then the later made, then by guid.
  package let periods: [ZonePeriod]
  /// How many periods are beyond what counts.
  package let ignoredPeriods: Int
  /// The name of the base zone as it is stated, where this system does not know it: its time zone data is older than that
  /// of the system on which it was stated. `base` is the last one then that it knew.
  package let unknownBase: String?
  /// The names of the zones of periods that this system does not know. Such a period says nothing here.
  package let unknownPeriods: Set<String>

  /// The zones of these parts.
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

  /// What the records of kind `zone` say of the base and of periods; see `ItemZone` for the others. One that this system
  /// cannot understand says nothing.
  ///
  /// - Parameters:
  ///   - fallback: the base where none is stated that this system knows.
  ///   - unknownNames: further zones that this system does not know.
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

  /// The record that states a base zone.
  package static func baseState(_ zone: NamedZone, _ origin: Origin, editedAt: Int64? = nil) -> RecordState {
    baseState(named: zone.name, origin, editedAt: editedAt)
  }

  /// The same by the name of the zone, which this system may not know.
  package static func baseState(
    named zone: String, _ origin: Origin, editedAt: Int64? = nil
  ) -> RecordState {
    RecordState(
      kind: .zone, entryGuid: nil, deviceTime: baseTime,
      placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["zone": .text(zone), "origin": .text(origin.rawValue)]), isDeleted: false,
      editedAt: editedAt)
  }

  /// Whether this system knows the base zone, and it is a person's, or a system's that is more than the default of one
  /// that was never set up.
  package var isKnown: Bool {
    guard unknownBase == nil else { return false }
    let defaults = ["UTC", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "Etc/GMT"]
    return origin == .given || !defaults.contains(base.name)
  }

  /// The devices that periods name, by the first three parts of their readings' identities: together those that the same
  /// periods name, since one zone places the times of them all.
  package var deviceGroups: [[String]] { Self.deviceGroups(of: periods) }

  private static func deviceGroups(of periods: [ZonePeriod]) -> [[String]] {
    var naming: [String: [Int]] = [:]
    for (index, period) in periods.enumerated() {
      for device in period.devices { naming[device, default: []].append(index) }
    }
    return Dictionary(grouping: naming.keys.sorted()) { naming[$0] ?? [] }.values.sorted { $0[0] < $1[0] }
  }

  /// What places the times of a device; of records and of devices that no period names with nil.
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
  /// What a further period changes among the periods: nothing where an equal one states it already; one that it continues
  /// becomes longer; else it is added, also where it says what holds already.
  package enum Addition: Hashable, Sendable {
    case nothing
    case extended(ZonePeriod)
    case added(ZonePeriod)
  }

  /// What is to be written for a further period.
  ///
  /// - Parameter latestItemZone: when the latest statement about an import was made. A period of devices that is stated
  ///   later wins over it, and would not as a part of an earlier one.
  package func adding(_ period: ZonePeriod, latestItemZone: Int64 = .min) -> Addition {
    let wanted = with(period)
    // Few periods touch; of more, the join of the latest is as good.
    let alike = periods.lazy.filter { known in
      known.continues(with: period) && (period.devices.isEmpty || known.madeAt > latestItemZone)
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

  /// Whether the periods state the same zone for these devices, or for all and for records without any, at every time of a
  /// range. What only the base zone says is stated by none: it may become another one.
  ///
  /// - Returns: nil where it would take too long to find out.
  private func states(
    like other: LogbookZones, in first: Int64, _ end: Int64, _ devices: Set<String>
  ) -> Bool? {
    func said(_ zone: LogbookZone, _ time: Int64) -> NamedZone? {
      zone.periods.first { time >= $0.from && time < $0.until }?.zone
    }
    let touching = (periods + other.periods).filter { $0.first < end && first < $0.end }
    let borders = Set(touching.flatMap { [$0.first, $0.end] }.filter { $0 > first && $0 < end }).union([first]
    )
    // Those that no period names but the one that names them all are alike.
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

/// A period in which another zone held, as a person stated it: a journey, a move, or a device that was set to another zone.
package struct ZonePeriod: Hashable, Sendable {
  /// The identity of its record.
  package let guid: String
  /// The first shown time; nil for all before `until`.
  package var from: DeviceTime?
  /// The shown time behind the last; nil for all from `from` on.
  package var until: DeviceTime?
  /// The zone that held.
  package let zone: NamedZone
  /// The devices for which it held, by the first three parts of their readings' identities; empty for all, and for
  /// records.
  package let devices: Set<String>
  /// When it was stated, in UTC seconds.
  package var madeAt: Int64

  /// A period of these parts.
  package init(
    guid: String, from: DeviceTime?, until: DeviceTime?, zone: NamedZone, devices: Set<String> = [],
    madeAt: Int64
  ) {
    (self.guid, self.from, self.until) = (guid, from, until)
    (self.zone, self.devices, self.madeAt) = (zone, devices, madeAt)
  }

  /// The period that a record states; nil for a tombstone, and for what this system cannot understand.
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

  /// The record that states it. Its time is when it was stated.
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
  /// The shown time behind the last, in civil seconds.
  package var end: Int64 { until?.seconds ?? .max }

  /// Whether another period of the same zone and devices overlaps or follows it at once.
  func continues(with other: ZonePeriod) -> Bool {
    zone == other.zone && devices == other.devices && first <= other.end && other.first <= end
  }

  static func precedes(_ left: ZonePeriod, _ right: ZonePeriod) -> Bool {
    if left.devices.isEmpty != right.devices.isEmpty { return !left.devices.isEmpty }
    return left.madeAt != right.madeAt ? left.madeAt > right.madeAt : left.guid > right.guid
  }
}

extension RecordState {
  /// The zone that a record of kind `zone` names, whether this system knows it or not.
  package var zoneName: String? {
    if case .text(let name)? = fields["zone"] { name } else { nil }
  }
}
