// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A reading with the properties that statistics need.
package struct GlucoseReading: Sendable {
  /// The device's number, counted from 0. Memory grows with the largest number.
  package var device: Int
  /// The position of the reading's device in a fixed order of all devices of the logbook, counted from 0. If
  /// several sensors measure at one time, the first in this order is used.
  package var deviceRank: Int
  /// What was measured.
  package var kind: ReadingKind
  /// The time that the device showed.
  package var deviceTime: DeviceTime
  /// The offset of the shown time from UTC, and its source.
  package var placement: Placement
  /// The measured value.
  package var measurement: Measurement
  /// The marks, such as before a meal or control solution.
  package var marks: ReadingMarks
  /// Whether a withdrawal in the store hides the reading.
  package var isWithdrawn: Bool
  /// Whether a pump's bolus calculator copied the value from the sensor: see `FilledInSticks`.
  package var isFilledIn = false

  /// - Parameter deviceRank: nil if the rank is the number of the device.
  package init(
    device: Int, deviceRank: Int? = nil, kind: ReadingKind, deviceTime: DeviceTime, placement: Placement,
    _ measurement: Measurement,
    marks: ReadingMarks = [], isWithdrawn: Bool = false
  ) {
    self.device = device
    self.deviceRank = deviceRank ?? device
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.measurement = measurement
    self.marks = marks
    self.isWithdrawn = isWithdrawn
  }

  /// The instant in UTC seconds.
  package var instant: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }
}

/// Calculates the figures of a period and of its groups. Readings and records are added in the order of time.
/// Memory grows with the number of groups, days and different values, not with the number of readings.
package struct Statistics: Sendable {
  /// The choices of a caller: which figures are calculated, and from which items.
  package struct Options: Sendable {
    /// What the figures are grouped by; nil for figures of only the whole period.
    package var grouping: Grouping?
    /// The limits of the ranges.
    package var targets = Targets.standard
    /// The first instant of the requested period; nil for a period that begins with the first item that
    /// counts. If the requested period begins long before that item, the days before the item are left out:
    /// see `DataRules.maxEmptyDays`.
    package var since: Int64?
    /// The instant immediately after the period; nil for a period that ends with the last item that counts.
    package var until: Int64?
    /// Whether to calculate the profile by the time of day.
    package var hasProfile = false
    /// The maximum number of groups with figures, which are the last ones; nil for all.
    package var maxGroups: Int?
    /// The decisions of people about which items count.
    package var rules = CountingRules()

    /// Options for the figures of all items together, with the standard targets.
    package init() {}
  }

  let options: Options
  private var finder: GroupFinder?
  var total = GroupTally()
  var groups: [GroupTally] = []
  var groupIndices: [Int: Int] = [:]
  private var lastGroup: (key: Int, index: Int)?
  private var selection = SensorSelection()
  private var tracker: EpisodeTracker
  private var deviceTrackers: [Int: EpisodeTracker] = [:]
  private var rate: BasalRate?
  private(set) var rateCoverage = RateCoverage()
  private var profile: ProfileTally?
  private(set) var doubled: [DoubledItems] = []
  private(set) var bolusSources = SourceTally(.insulin)
  private(set) var basalSources = SourceTally(.insulin, .basal)
  private(set) var allInsulinSources = SourceTally(.insulin, .all)
  private(set) var foodSources = SourceTally(.food)
  private(set) var stickSources = SourceTally(.smbg)
  private(set) var mismatchedDoses = MismatchedDoses()
  /// The period from the first used sample of a sensor to the end of the last one.
  private(set) var sensorSpan: Period?
  /// The period from the first item that counts to the last.
  private(set) var span: Period?

  package init(_ options: Options) {
    self.options = options
    finder = options.grouping.map(GroupFinder.init)
    tracker = EpisodeTracker(options.targets)
    profile = options.hasProfile ? ProfileTally() : nil
  }

  /// Adds the next reading.
  ///
  /// - Parameter item: the item that was compared with other sources, made from the reading; nil if the
  ///   reading was not compared.
  package mutating func add(
    _ reading: GlucoseReading, _ verdict: CountVerdict = .counts(alsoIn: []), _ item: CountableItem? = nil
  ) {
    if let reason = LeftOut(reading) { return leaveOut(reading, reason) }
    if let item { addToSource(item, nil, verdict) }
    if let item, let reason = countLeftOut(verdict, of: item) {
      guard options.grouping == .device else { return leaveOut(reading, reason) }
      // If figures are grouped by device, the group of each meter has all its readings. The total has only
      // those that count.
      total.leftOut[reason] += 1
      return addOwn(reading)
    }
    switch reading.kind {
    case .ketone:
      let number = reading.measurement.quantity?.number
      extendSpan(reading.instant)
      update(group(of: reading)) { $0.ketones.add(number) }
    case .smbg, .scan:
      guard let level = GlucoseLevel(reading.measurement, of: reading.kind) else {
        return leaveOut(reading, .unusable)
      }
      extendSpan(reading.instant)
      let (day, targets) = (Grouping.day(of: reading.deviceTime), options.targets)
      update(group(of: reading)) { $0.fingerSticks.add(level, day: day, targets) }
    case .cbg:
      guard let sample = SensorSample(reading) else { return leaveOut(reading, .unusable) }
      selection.add(sample)
      addDecided()
    }
  }

  /// Adds the next finger stick outside of the period. It is in no figure, but affects whether two sources
  /// seem to state the same items within the period.
  package mutating func addContext(_ verdict: CountVerdict, _ item: CountableItem) {
    addToSource(item, nil, verdict, isContext: true)
  }

  /// Adds the next sensor reading outside of the period. It is in no figure, but affects which sensor is used
  /// at the ends of the period.
  package mutating func addContext(_ reading: GlucoseReading) {
    guard reading.kind == .cbg, LeftOut(reading) == nil,
      let sample = SensorSample(reading, isContext: true)
    else { return }
    selection.add(sample)
    addDecided()
  }

  /// Adds the next record with insulin or food. Other kinds have no figures.
  ///
  /// - Parameters:
  ///   - item: the item that was compared with other sources, made from the record; nil if the record was not
  ///     compared.
  ///   - source: the source of the record.
  ///   - isContext: whether the record is outside of the period, as in `addContext`.
  package mutating func add(
    _ kind: RecordKind, _ fields: RecordFields, deviceTime: DeviceTime, placement: Placement,
    _ verdict: CountVerdict = .counts(alsoIn: []), _ item: CountableItem? = nil,
    from source: CountingSource = .unknown, isContext: Bool = false
  ) {
    let instant = deviceTime.seconds - Int64(placement.utcOffset)
    let day = Grouping.day(of: deviceTime)
    if let item {
      addToSource(item, fields, verdict, isContext: isContext)
    } else if kind == .insulin {
      addBasal(fields, at: instant, shown: deviceTime.seconds, from: source, isContext: isContext)
    }
    if kind == .insulin { addCoverage(fields, at: instant, shown: deviceTime, verdict, from: source) }
    if isContext { return }
    if let item, let reason = countLeftOut(verdict, of: item) {
      total.leftOut[reason] += 1
      if let group = timeGroup(of: deviceTime) { groups[group].leftOut[reason] += 1 }
      return
    }
    let group = timeGroup(of: deviceTime)
    if kind == .insulin {
      extendSpan(instant)
      if let next = BasalRate(fields, instant: instant, day: day, group: group) {
        rate = next
      } else {
        let dose = InsulinDose(subtype: fields.subtype, units: fields.units, day: day)
        update(group) { $0.amounts.add(dose) }
      }
    } else if kind == .food {
      extendSpan(instant)
      update(group) { $0.amounts.add(food: fields, day: day) }
    }
  }

  /// The figures.
  ///
  /// - Parameter offset: the offset from UTC at a shown time of the logbook's clock, in seconds, as in
  ///   `PossibleSensorTime`.
  package consuming func finish(offset: (DeviceTime) -> Int32) -> StatisticsResult {
    selection.finish()
    addDecided()
    endEpisodes()
    endRate(until: nil)
    finishSources()
    return result(offset: offset, profile: profile)
  }
}

// MARK: - Counting once

extension Statistics {
  /// The items that were left out, in the order of their kinds and sources, so that every store has the same
  /// result. The order in which items of one time are read depends on the store.
  var doubledInOrder: [DoubledItems] {
    func key(_ line: DoubledItems) -> [String] {
      let flags = [line.isSensorValue, line.hasOtherAmount, line.isComputed, line.isEdited]
      return [line.kind.rawValue, line.source.text, line.counted.text] + flags.map { $0 ? "1" : "0" }
    }
    return doubled.sorted { key($0).lexicographicallyPrecedes(key($1)) }
  }

  /// The maximum number of pairs of sources for which left-out items are counted. It is more than a real
  /// logbook has.
  private static let maxDoubled = 200

  /// Counts an item that is left out in favour of another source, and returns the reason; nil if the item
  /// counts.
  private mutating func countLeftOut(_ verdict: CountVerdict, of item: CountableItem) -> LeftOut? {
    switch verdict {
    case .counts: return nil
    case .notChosen: return .otherSource
    case .computed:
      addDoubled(
        DoubledItems(kind: item.kind, source: item.source, counted: item.source, isComputed: true, items: 1))
      return .computed
    case .repeats(_, let source):
      addDoubled(DoubledItems(kind: item.kind, source: item.source, counted: source, items: 1))
      return .doubled
    case .otherAmount(_, let source):
      addDoubled(
        DoubledItems(kind: item.kind, source: item.source, counted: source, hasOtherAmount: true, items: 1))
      return .doubled
    case .edited(_, let source):
      addDoubled(
        DoubledItems(kind: item.kind, source: item.source, counted: source, isEdited: true, items: 1))
      return .doubled
    case .sensorValue(let sensor):
      addDoubled(
        DoubledItems(kind: item.kind, source: item.source, counted: sensor, isSensorValue: true, items: 1))
      return .sensorCopy
    }
  }

  /// Adds one left-out item to the number of its kind, its source and the source that counts.
  private mutating func addDoubled(_ one: DoubledItems) {
    let index = doubled.firstIndex { line in
      var line = line
      line.items = one.items
      return line == one
    }
    if let index {
      doubled[index].items += 1
    } else if doubled.count < Self.maxDoubled {
      doubled.append(one)
    }
  }

  /// - Parameter fields: the fields of a record; nil for a reading.
  private mutating func addToSource(
    _ item: CountableItem, _ fields: RecordFields?, _ verdict: CountVerdict, isContext: Bool = false
  ) {
    var twins = Set(item.twins)
    var isDecided = false
    switch verdict {
    case .counts(let others):
      twins.formUnion(others.filter { !$0.isOwnCopy }.map(\.source))
      // Doses that an algorithm gave are not compared, since an algorithm can give equal doses within
      // minutes.
      if fields?["automatic"] != .flag(true) { mismatchedDoses.add(item, isContext: isContext) }
    // A copy of an item of the same source is not part of the source's total.
    case .repeats(_, item.source), .edited: return
    case .repeats(_, let source), .otherAmount(_, let source): twins.insert(source)
    // Items for which a person chose another source do not count. They still help to decide for other days
    // whether two sources state the same items.
    case .notChosen: isDecided = true
    case .sensorValue, .computed: return
    }
    func entry(_ amount: Double, _ key: Int64?) -> SourceEntry {
      SourceEntry(
        source: item.source, amount: amount, key: key, shown: item.shown, twins: twins,
        counts: verdict.counts, isDecided: isDecided, isContext: isContext)
    }
    func key(_ amount: Double) -> Int64 { Int64((amount * 10_000).rounded()) }
    if item.kind == .insulin, let fields {
      let units = fields.units ?? 0
      var dose = entry(units, key(units))
      dose.uses = InsulinUses(item.use)
      if item.use == .basal {
        basalSources.add(dose)
      } else {
        bolusSources.add(dose)
      }
      allInsulinSources.add(dose)
    } else if item.kind == .food, let grams = fields?.amount("carbs") {
      foodSources.add(entry(grams, key(grams)))
    } else if item.kind == .smbg, case .measured(let measurement) = item.amount {
      // LO and HI have no number, so they are not compared with the values of other sources.
      stickSources.add(entry(1, measurement.quantity.map { Int64($0.tenthsOfMillimole) }))
    }
  }

  /// Adds a basal rate or a dose of basal insulin to its source, to compare sources.
  private mutating func addBasal(
    _ fields: RecordFields, at instant: Int64, shown: Int64, from source: CountingSource, isContext: Bool
  ) {
    let entry = SourceEntry(
      source: source, amount: fields.units ?? 0, shown: shown, isRate: true, uses: .rate, isContext: isContext
    )
    if let rate = BasalRate(fields, instant: instant, day: entry.day, group: nil) {
      basalSources.add(rate, entry, at: instant)
      allInsulinSources.add(rate, entry, at: instant)
    } else if fields.subtype == "basal" {
      basalSources.add(entry)
      allInsulinSources.add(entry)
    }
  }

  /// Adds insulin that affects which days have all of their basal insulin. A rate ends the one before it,
  /// even if it begins after the period. So a day has the same sum in each period.
  private mutating func addCoverage(
    _ fields: RecordFields, at instant: Int64, shown: DeviceTime, _ verdict: CountVerdict,
    from source: CountingSource
  ) {
    let day = Grouping.day(of: shown)
    if let next = BasalRate(fields, instant: instant, day: day, group: nil) {
      rateCoverage.add(next, shown: shown.seconds, from: source)
      endRate(until: instant)
    } else if fields.subtype == "long", verdict.counts {
      rateCoverage.addLongActing(day: day)
    }
  }

  /// Decides for the remaining days whether two sources seem to state the same items.
  mutating func finishSources() {
    bolusSources.finish()
    basalSources.finish()
    allInsulinSources.finish()
    foodSources.finish()
    stickSources.finish()
  }

  private mutating func addOwn(_ reading: GlucoseReading) {
    let group = index(of: reading.device)
    if reading.kind == .ketone {
      groups[group].ketones.add(reading.measurement.quantity?.number)
    } else if let level = GlucoseLevel(reading.measurement, of: reading.kind) {
      let day = Grouping.day(of: reading.deviceTime)
      groups[group].fingerSticks.add(level, day: day, options.targets)
    }
  }
}

extension Statistics {
  private mutating func addDecided() {
    while let (sample, minutes, outcome) = selection.next() {
      if sample.isContext { continue }
      let ownGroup = options.grouping == .device ? index(of: sample.device) : nil
      if let ownGroup { addOfDevice(sample, minutes, outcome, ownGroup) }
      guard outcome == .used else {
        let reason = outcome == .overlapping ? LeftOut.overlapping : .repeated
        total.leftOut[reason] += 1
        if ownGroup == nil || outcome == .repeated, let group = ownGroup ?? group(of: sample) {
          groups[group].leftOut[reason] += 1
        }
        continue
      }
      let end = sample.instant + Int64(minutes * 60)
      sensorSpan = Period(
        start: sensorSpan?.start ?? sample.instant, end: max(sensorSpan?.end ?? end, end))
      extendSpan(sample.instant, end)
      total.sensor.add(sample, minutes: minutes, options.targets)
      let group = ownGroup ?? group(of: sample)
      if let group, ownGroup == nil {
        groups[group].sensor.add(sample, minutes: minutes, options.targets)
      }
      profile?.add(sample, minutes: minutes)
      var ended: [Episode] = []
      tracker.add(sample, minutes: minutes, group: group ?? -1) { ended.append($0) }
      for episode in ended { add(episode) }
    }
  }

  /// Adds a sample to the group of its device, if figures are grouped by device. The group of a sensor then
  /// has all its samples except repeated ones, but the total has only those that are used.
  private mutating func addOfDevice(
    _ sample: SensorSample, _ minutes: Int, _ outcome: SensorSelection.SampleUse, _ group: Int
  ) {
    guard outcome != .repeated else { return }
    groups[group].sensor.add(sample, minutes: minutes, options.targets)
    var ended: [Episode] = []
    deviceTrackers[group, default: EpisodeTracker(options.targets)].add(
      sample, minutes: minutes, group: group
    ) { ended.append($0) }
    for episode in ended { groups[group].sensor.episodes.add(episode) }
  }

  private mutating func endEpisodes() {
    var ended: [Episode] = []
    tracker.finish { ended.append($0) }
    for episode in ended { add(episode) }
    for group in deviceTrackers.keys {
      ended = []
      deviceTrackers[group]?.finish { ended.append($0) }
      for episode in ended { groups[group].sensor.episodes.add(episode) }
    }
  }

  private mutating func add(_ episode: Episode) {
    total.sensor.episodes.add(episode)
    if episode.group >= 0, options.grouping != .device {
      groups[episode.group].sensor.episodes.add(episode)
    }
  }

  private mutating func endRate(until next: Int64?) {
    guard let rate else { return }
    let dose = rate.dose(until: next)
    update(rate.group) { $0.amounts.add(dose) }
    self.rate = nil
  }

  private mutating func leaveOut(_ reading: GlucoseReading, _ reason: LeftOut) {
    total.leftOut[reason] += 1
    // A wrong clock may show a day that the logbook does not have. So the reading is only counted in groups
    // of devices or kinds.
    let hasGroup =
      reason != .doubtfulTime || options.grouping == .device || options.grouping == .kind
    if hasGroup, let group = group(of: reading) { groups[group].leftOut[reason] += 1 }
  }

  private mutating func update(_ group: Int?, _ change: (inout GroupTally) -> Void) {
    change(&total)
    if let group { change(&groups[group]) }
  }

  private mutating func extendSpan(_ instant: Int64, _ end: Int64? = nil) {
    span = Period(
      start: min(span?.start ?? instant, instant),
      end: max(span?.end ?? instant, end ?? instant + 1))
  }

  private mutating func group(of reading: GlucoseReading) -> Int? {
    switch options.grouping {
    case .device: index(of: reading.device)
    case .kind: index(of: Int(reading.kind.rawValue))
    default: timeGroup(of: reading.deviceTime)
    }
  }

  private mutating func group(of sample: SensorSample) -> Int? {
    options.grouping == .kind
      ? index(of: Int(ReadingKind.cbg.rawValue)) : timeGroup(of: sample.deviceTime)
  }

  private mutating func timeGroup(of time: DeviceTime) -> Int? {
    guard let key = finder?.key(of: time) else { return nil }
    return index(of: key)
  }

  private mutating func index(of key: Int) -> Int {
    if let lastGroup, lastGroup.key == key { return lastGroup.index }
    let index = groupIndices[key] ?? groups.count
    if index == groups.count {
      groups.append(GroupTally())
      groupIndices[key] = index
    }
    lastGroup = (key, index)
    return index
  }
}

/// The collected data of the whole period, and of each group.
struct GroupTally: Sendable {
  var sensor = SensorTally()
  var fingerSticks = FingerStickTally()
  var ketones = KetoneTally()
  var amounts = DailyAmounts()
  var leftOut = LeftOutCounts()

  /// Whether no reading and no amount counts.
  var isEmpty: Bool { sensor.count + fingerSticks.count + ketones.count == 0 && amounts.isEmpty }
}

extension RecordFields {
  /// Units of insulin, including those that were given over a period; nil without an amount.
  var units: Double? {
    let parts = ["units", "extended"].compactMap(amount)
    return parts.isEmpty ? nil : parts.reduce(0, +)
  }
}
