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

  /// The periods, in the order of precedence: those that name devices, then the later made, then by guid.
  package let periods: [ZonePeriod]
  /// How many periods are beyond what counts.
  package let ignoredPeriods: Int

  /// The zones of these parts.
  package init(base: NamedZone, origin: Origin, periods: [ZonePeriod] = []) {
    self.base = base
    self.origin = origin
    let sorted = periods.sorted(by: ZonePeriod.precedes)
    self.periods = Array(sorted.prefix(Self.maxPeriods))
    ignoredPeriods = sorted.count - self.periods.count
  }

  /// What the records of kind `zone` say. One that this system cannot understand says nothing; without a base it is UTC.
  package init(records: [(guid: String, state: RecordState)]) {
    let base = records.first { $0.guid == Self.baseGuid }?.state
    let name: String? = if case .text(let word)? = base?.fields["zone"] { word } else { nil }
    self.init(
      base: name.flatMap(NamedZone.init(known:)) ?? .utc,
      origin: base?.fields["origin"] == .text(Origin.given.rawValue) ? .given : .system,
      periods: records.compactMap { $0.guid == Self.baseGuid ? nil : ZonePeriod(guid: $0.guid, $0.state) })
  }

  /// The record that states a base zone.
  package static func baseState(_ zone: NamedZone, _ origin: Origin, editedAt: Int64? = nil) -> RecordState {
    RecordState(
      kind: .zone, entryGuid: nil, deviceTime: baseTime,
      placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["zone": .text(zone.name), "origin": .text(origin.rawValue)]), isDeleted: false,
      editedAt: editedAt)
  }

  /// Whether the base zone is a person's, or a system's that is more than the default of one that was never set up.
  package var isKnown: Bool {
    let defaults = ["UTC", "Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "Etc/GMT"]
    return origin == .given || !defaults.contains(base.name)
  }

  /// The devices that periods name, by the first three parts of their readings' identities.
  package var devices: Set<String> { Set(periods.flatMap(\.devices)) }

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
  /// What a further period changes among the periods: nothing where it says what holds already; an earlier one that
  /// it continues becomes longer; else it is added.
  package enum Addition: Hashable, Sendable {
    case nothing
    case extended(ZonePeriod)
    case added(ZonePeriod)
  }

  /// What is to be written for a further period.
  package func adding(_ period: ZonePeriod) -> Addition {
    let comparisons = (periods.count + 1) * (periods.count + 1) * (devices.union(period.devices).count + 1)
    let candidates = periods.filter { $0.continues(with: period) }.count
    guard comparisons * (candidates + 1) < Self.maxComparisons else { return .added(period) }
    let wanted = with(period)
    if places(like: wanted) { return .nothing }
    for known in periods where known.continues(with: period) {
      var longer = known
      longer.from = known.first <= period.first ? known.from : period.from
      longer.until = known.end >= period.end ? known.until : period.until
      if with(longer).places(like: wanted) { return .extended(longer) }
    }
    return .added(period)
  }

  private func with(_ period: ZonePeriod) -> LogbookZones {
    LogbookZones(base: base, origin: origin, periods: periods.filter { $0.guid != period.guid } + [period])
  }

  /// Whether the same zone holds for every device at every time. What a system's base zone says holds only until the
  /// logbook joins another one, so that it stands for nothing that a person states.
  private func places(like other: LogbookZones) -> Bool {
    let borders = Set((periods + other.periods).flatMap { [$0.first, $0.end] }).union([.min])
    let all: [String?] = [nil] + devices.union(other.devices).sorted().map(Optional.some)
    func said(_ zone: LogbookZone, _ time: Int64) -> NamedZone? {
      zone.periods.first { time >= $0.from && time < $0.until }?.zone ?? (origin == .given ? zone.base : nil)
    }
    return all.allSatisfy { device in
      let (own, others) = (zone(of: device), other.zone(of: device))
      return borders.allSatisfy { said(own, $0) == said(others, $0) }
    }
  }
}

/// A period in which another zone held, as a person stated it: a journey, a move, or an input of another zone.
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
    guard !state.isDeleted, case .text(let name)? = state.fields["zone"], let zone = NamedZone(known: name)
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
      madeAt: min(state.deviceTime.seconds - Int64(state.placement.utcOffset), LogbookZones.lastSecond))
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
