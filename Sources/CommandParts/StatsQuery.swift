// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore
package import Report

/// The figures of `stats`, with the names and units that a text or a page shows with them.
package struct StatsView {
  /// The calculated figures.
  package let result: StatisticsResult
  /// By what the figures are grouped; nil if they are not grouped.
  package let grouping: Grouping?
  /// The target range. The percentages of values below, in and above it are calculated.
  package let targets: Targets
  /// The unit in which glucose values are shown.
  package let unit: GlucoseUnit
  package let zone: LogbookZone
  /// The devices of the readings. The index of a device in this list is its number in `result`.
  package let devices: [Device]
  /// The curve of each day; empty unless the curves were requested.
  package var days: [DayCurve] = []
  /// Whether an item that two sources have counts only once.
  package var countsOnce = true

  /// The name of a group for people; nil if the figures are those of the whole period.
  package func name(of group: GroupFigures) -> String? {
    guard let key = group.key, let grouping else { return nil }
    return grouping == .device ? deviceName(devices[key]) : grouping.name(of: key)
  }

  /// What a clock in the zone of the logbook shows at an instant in UTC seconds.
  package func shown(_ instant: Int64) -> DeviceTime {
    DeviceTime(seconds: instant + Int64(zone.offset(atUTC: instant)))
  }
}

/// Reads the readings and records of a period from the store, and calculates their statistics.
package struct StatsQuery {
  let store: Store
  /// A text that is the serial number of the selected device, or a part of its name; nil for all devices.
  let device: String?
  var zone: LogbookZone
  let now: Int64
  /// The period, the groups and the targets.
  package var options = Statistics.Options()
  /// The kinds of records that are read. By default, these are the kinds that have figures; for a day, all
  /// kinds that its picture shows. With a selected device, no records are read.
  package var recordKinds: Set<RecordKind> = [.insulin, .food]
  /// The rules by which an item of two sources counts only once. They contain what people decided about such
  /// items.
  package var rules: CountingRules
  /// The ends of the period as shown times, in civil seconds; nil for an end that is open or an instant.
  package var shown: (since: Int64?, until: Int64?) = (nil, nil)
  /// Gathers the readings and records of each day; nil if only figures are wanted.
  private var days: DayTally?

  /// A query without a start and an end. To limit it, set the period before the figures are calculated.
  package init(store: Store, device: String?, zone: LogbookZone, now: Int64) throws {
    (self.store, self.device, self.zone, self.now) = (store, device, zone, now)
    rules = try store.countingRules()
  }

  /// Checks that the store has readings of a device that matches the text.
  ///
  /// - Throws: `Failure` of category `missingInput` if it has none.
  package func requireDevice(_ text: String) throws {
    guard try !store.overview(ingests: 0).lines.contains(where: { Self.matches($0.device, text) }) else {
      return
    }
    throw Failure(
      .missingInput,
      "\(displayed(store.path)): no device '\(displayed(text))'; 'glucoport status' lists the devices")
  }

  /// Sets the period that a person typed.
  ///
  /// - Throws: `Failure` of category `usage` if the end of the period is not after its start.
  package mutating func setPeriod(_ range: RangeOptions) throws {
    let (start, end) = range.bounds(zone: zone, now: now)
    if let start, let end, end.instant <= start.instant {
      throw Failure(.usage, "--until must be later than --since: the period is empty")
    }
    options.since = start?.instant
    options.until = try end.map { try possibleEnd($0.instant) }
    shown = (start?.shown, end?.shown)
    guard end == nil, let last = try newestItem(), last.utc >= options.since ?? last.utc else { return }
    // On a journey, an earlier item may show a later day.
    var (recent, latest) = (try shownItems, last.shown)
    recent.since = last.utc - DeviceTime.largestDifference
    try store.forEachItem(recent) { latest = max(latest, $0.deviceTime.seconds) }
    try endPeriod(onDayOf: (last.utc, latest))
  }

  /// Sets the period of this length that ends with the newest visible reading, and includes the records of
  /// the same day. So there are figures even if data are imported only once a month, and a record that was
  /// typed today does not exclude the readings. If there are no readings, the period ends with the newest
  /// record.
  package mutating func setPeriod(_ span: SpanArgument) throws {
    guard let last = try newestItem({ $0.recordKinds = [] }) ?? newestItem() else { return }
    let newest = try endPeriod(onDayOf: last)
    if let days = span.days {
      shown.since = Self.midnight(last.shown) - (days - 1) * 86400
      options.since = instant(Self.midnight(last.shown) - (days - 1) * 86400)
    } else {
      options.since = newest - span.seconds
      options.until = newest + 1
      shown = (nil, nil)
    }
  }

  /// Ends the period with the newest item of the day that `last` shows. A clock in the logbook's zone may
  /// show another day then, so the period is limited by shown times, too.
  ///
  /// - Returns: the instant of the newest item of that day.
  @discardableResult
  private mutating func endPeriod(onDayOf last: (utc: Int64, shown: Int64)) throws -> Int64 {
    let midnight = Self.midnight(last.shown)
    let newest = try newestItem { $0.limitShown(since: nil, until: midnight + 86400) }?.utc ?? last.utc
    shown.until = midnight + 86400
    // East of the logbook's zone, the last shown day may not have begun there at the newest item.
    options.until = max(min(newest + 1, instant(midnight + 86400)), instant(midnight) + 1)
    return newest
  }

  /// Sets the period of `count` days that ends where another period begins, for a comparison. The curves of
  /// these days are not gathered.
  ///
  /// - Returns: the first and the last moment of these days, on the clock of the logbook.
  package mutating func setPeriod(before period: Period, days count: Int) -> (
    first: DeviceTime, last: DeviceTime
  ) {
    let end = period.start + Int64(zone.offset(atUTC: period.start))
    let start = end - Int64(count) * 86400
    shown = (start, end)
    (options.since, options.until) = (instant(start), period.start)
    return (DeviceTime(seconds: start), DeviceTime(seconds: end - 1))
  }

  /// Sets the calendar day of a time as the period; for nil, that of the newest visible item. Returns false
  /// if there is no such item.
  package mutating func setDay(_ time: TimeArgument?) throws -> Bool {
    recordKinds = DayTally.recordKinds
    let time = time?.placedTime(zone: zone, now: now).time.seconds
    guard let time = try time ?? newestItem()?.shown else { return false }
    let midnight = Self.midnight(time)
    let (start, end) = (instant(midnight), instant(midnight + 86400))
    (options.since, options.until) = (start, start < now ? try possibleEnd(end) : end)
    shown = (midnight, midnight + 86400)
    gatherDays(of: Period(start: start, end: end))
    return true
  }

  /// Requests the readings and records of each day of a period.
  ///
  /// - Parameters:
  ///   - last: the last day, as the number of days since 1970-01-01. It is given if an item of the period
  ///     shows a later day than the logbook's clock.
  ///   - curves: for how many days sensor values are gathered at most; the last days have priority.
  package mutating func gatherDays(of period: Period, through last: Int? = nil, curves: Int = .max) {
    var zone = zone
    days = DayTally(period, through: last, curves: curves, sourceName: SourceTitle.text) {
      zone.placement(of: $0).utcOffset
    }
  }

  /// Requests the figures, the readings and the records of the last `count` days of the period. A period
  /// without an end gets an end after the newest item. Sensor values are requested only for the last `curves`
  /// of these days.
  package mutating func gatherLastDays(_ count: Int, curves: Int) throws {
    // A device may have shown the day before or after these days, so two more groups are allowed.
    options.maxGroups = count + 2
    // The newest item may be a note. A note has no figures, but a page with the period shows it. If the
    // period begins after all items, it keeps no end and stays empty.
    if options.until == nil, let newest = try newestInstant(), newest >= options.since ?? newest {
      options.until = newest + 1
    }
    guard let end = options.until else { return }
    let period = try periodFilter()
    let newest = try newestItem { filter in
      filter.until = period.until
      filter.limitShown(since: nil, until: period.shownUntil)
    }
    let clock = Self.midnight(end - 1 + Int64(zone.offset(atUTC: end - 1)))
    let midnight = max(clock, newest.map { Self.midnight($0.shown) } ?? clock)
    let start = max(instant(midnight - Int64(count - 1) * 86400), options.since ?? Int64.min)
    gatherDays(of: Period(start: start, end: end), through: Int(midnight / 86400), curves: curves)
  }

  /// The start of the day of a shown time. Both are in civil seconds.
  private static func midnight(_ shown: Int64) -> Int64 {
    DeviceTime.day(of: shown) * 86400
  }

  private func instant(_ shown: Int64) -> Int64 {
    var zone = zone
    return shown - Int64(zone.placement(of: DeviceTime(seconds: shown)).utcOffset)
  }

  /// The end of a period, but not after the present, since no sensor has measured in the future. An item
  /// whose device is some minutes ahead of this computer still belongs to the period.
  package func possibleEnd(_ end: Int64) throws -> Int64 {
    if end <= now { return end }
    return min(end, max(now, try newestInstant().map { $0 + 1 } ?? now))
  }

  /// The instant of the newest visible reading in UTC seconds, and the time that its clock showed.
  ///
  /// - Parameter latest: the last instant of a reading that counts; nil to count all plausible ones.
  package func newestReading(until latest: Int64? = nil) throws -> (utc: Int64, shown: DeviceTime)? {
    try newestItem { filter in
      filter.recordKinds = []
      if let latest { filter.until = min(filter.until ?? .max, latest + 1) }
    }.map { ($0.utc, DeviceTime(seconds: $0.shown)) }
  }

  /// The instant of the newest visible item in UTC seconds. Items more than 26 hours after the present are
  /// ignored: no time zone explains such a time, so the clock of their device was wrong.
  package func newestInstant() throws -> Int64? { try newestItem()?.utc }

  /// The instant of the newest visible item in UTC seconds, and the time that its clock showed, in civil
  /// seconds. `narrow` limits the items.
  private func newestItem(_ narrow: (inout ItemFilter) -> Void = { _ in }) throws -> (
    utc: Int64, shown: Int64
  )? {
    var filter = try shownItems
    narrow(&filter)
    filter.newest = 1
    var found: (utc: Int64, shown: Int64)?
    try store.forEachItem(filter) { found = ($0.utc, $0.deviceTime.seconds) }
    return found
  }

  /// The filter that the items of the period pass.
  private func periodFilter() throws -> ItemFilter {
    var filter = try shownItems
    if shown.since == nil { filter.since = options.since }
    // If a person states the end, items of the far future are included.
    filter.until = shown.until == nil ? options.until ?? filter.until : nil
    filter.limitShown(since: shown.since, until: shown.until)
    return filter
  }

  /// Calculates the figures of the period.
  ///
  /// - Parameter unit: the unit in which values are shown; nil for that of the first reading.
  package mutating func view(unit: GlucoseUnit?) throws -> StatsView {
    let period = try periodFilter()
    var filter = period.withoutShownLimits
    filter.includesWithdrawn = true
    let end = options.until == nil ? nil : filter.until
    var (options, rules) = (options, rules)
    try addCopies(to: &rules, since: filter.since, until: end)
    options.rules = rules
    var figures = BackgroundStatistics(Statistics(options), days, rules)
    var devices = DeviceNumbers(try store.devices())
    var firstUnit: GlucoseUnit?
    func visit(_ item: StoredItem, isContext: Bool = false) {
      switch item {
      case .reading(let reading):
        if firstUnit == nil, !isContext, reading.kind != .ketone { firstUnit = reading.measurement.unit }
        let counted = CountableItem(reading)
        // A device whose readings are all outside the period is not listed.
        let (number, rank) = devices.deviceNumber(of: reading, isContext: isContext)
        let glucose = GlucoseReading(reading, device: number, rank: rank)
        figures.add(.reading(glucose, counted, isContext: isContext))
      case .record(let record):
        if !record.isWithdrawn { figures.add(.record(record, isContext: isContext)) }
      }
    }
    if let since = filter.since {
      let before = context(of: filter, from: since - Self.reach, to: since)
      try forEachAround(before, limit: since - Self.sensorReach, isBefore: true) {
        visit($0, isContext: true)
      }
    }
    try store.forEachItem(filter) { item in
      if period.holds(utc: item.utc, shown: item.deviceTime) {
        visit(item)
      } else if item.isContext {
        visit(item, isContext: true)
      }
    }
    if let end {
      let after = context(of: filter, from: end, to: end + Self.reach)
      try forEachAround(after, limit: end + Self.sensorReach, isBefore: false) {
        visit($0, isContext: true)
      }
    }
    let (statistics, days) = figures.finish()
    var zone = zone
    return StatsView(
      result: statistics.finish { zone.placement(of: $0).utcOffset }, grouping: options.grouping,
      targets: options.targets, unit: unit ?? firstUnit ?? .milligramsPerDecilitre, zone: zone,
      devices: devices.all, days: days?.finish() ?? [], countsOnce: rules.isOn)
  }

  /// Finds copies of items in and around a period, so that each counts once. With a selected device, finger
  /// sticks count even if they repeat a sensor.
  private func addCopies(to rules: inout CountingRules, since: Int64?, until: Int64?) throws {
    guard rules.isOn else { return }
    let (start, end) = (
      since.map { $0 - CountingMargin.doubtSeconds }, until.map { $0 + CountingMargin.doubtSeconds }
    )
    if device == nil { rules.sensorCopies = try store.sensorCopies(since: start, until: end, rules) }
    try store.addCopies(to: &rules, since: start, until: end)
  }

  /// A filter for items outside a period that can affect whether items in the period count. They may be
  /// copies of items in the period, or show that two sources seem to have the same items.
  private func context(of filter: ItemFilter, from since: Int64, to until: Int64) -> ItemFilter {
    var context = filter
    (context.since, context.until) = (since, until)
    context.includesWithdrawn = false
    context.readingKinds = CountingContext.readingKinds
    context.recordKinds.formIntersection(CountingContext.recordKinds)
    return context
  }

  /// The seconds before and after a period whose finger sticks and records affect what counts in it.
  private static let reach = CountingMargin.seconds + CountingMargin.doubtSeconds
  /// The seconds before and after a period whose sensor values affect what counts in it.
  private static let sensorReach = max(FilledInSticks.reachSeconds, SensorSelection.contextSeconds)

  /// Passes the items before or after a period to `body` in the order of time. Sensor values are included
  /// only between `limit` and the period, where they affect which sensor is used. If finger sticks come from
  /// a pump's bolus calculator, all sensor values are included, since the calculator may have taken its
  /// values from a sensor.
  private func forEachAround(
    _ context: ItemFilter, limit: Int64, isBefore: Bool, _ body: (StoredItem) throws -> Void
  ) throws {
    var (early, late) = (context, context)
    (early.until, late.since) = (limit, limit)
    let hasCalculated = try holdsCalculated(context)
    if hasCalculated || !isBefore { early.readingKinds.insert(.cbg) }
    if hasCalculated || isBefore { late.readingKinds.insert(.cbg) }
    try store.forEachItem(early, body)
    try store.forEachItem(late, body)
  }

  /// Whether the filter passes a finger stick that comes from a pump's bolus calculator.
  private func holdsCalculated(_ context: ItemFilter) throws -> Bool {
    var (sticks, isFound) = (context, false)
    (sticks.readingKinds, sticks.recordKinds) = ([.smbg], [])
    try store.forEachItem(sticks) { item in
      if case .reading(let reading) = item, reading.marks.contains(.calculator) { isFound = true }
    }
    return isFound
  }

  /// The filter for the visible items of the selected device, without items of the far future.
  private var shownItems: ItemFilter {
    get throws {
      var filter = ItemFilter()
      if let device { filter.includesDevice = { Self.matches($0, device) } }
      filter.recordKinds = device == nil ? recordKinds : []
      // The host's clock may have been reset, and then shows a time that is too early. So the times of the
      // release and of the last import are considered, too.
      let latest = max(now, Release.date, try store.lastSuccess() ?? Release.date)
      filter.until = PlausibleTimes(now: latest).latest + 1
      return filter
    }
  }

  private static func matches(_ device: Device, _ text: String) -> Bool {
    device.serial == text || deviceName(device).lowercased().contains(text.lowercased())
  }
}

/// Calculates figures in batches on another thread, while the calling thread reads the next items from the
/// store.
private struct BackgroundStatistics {
  enum StatisticsItem {
    /// A reading, with the values by which it is compared with items of other sources.
    case reading(GlucoseReading, CountableItem?, isContext: Bool)
    case record(StoredRecord, isContext: Bool)
  }

  /// An item that affects the figures only if it counts.
  private struct Figure {
    enum FigureContent {
      case reading(GlucoseReading)
      case record(RecordKind, RecordFields, DeviceTime, Placement, CountingSource)
    }

    let content: FigureContent
    /// Whether the item is outside the period and only affects whether other items count.
    let isContext: Bool
  }

  private struct StatisticsState {
    var statistics: Statistics
    var days: DayTally?
    var counting: CountedOnce<Figure>
    var filledIn = FilledInSticks()
    var items: [StatisticsItem] = []

    mutating func addItems() {
      for item in items {
        switch item {
        case .reading(var reading, let counted, let isContext):
          reading.isFilledIn = filledIn.isFilledIn(reading)
          if let counted, !reading.isFilledIn {
            let figure = Figure(content: .reading(reading), isContext: isContext)
            counting.add(figure, counted, at: reading.instant)
          } else if isContext {
            statistics.addContext(reading)
            days?.addContext(reading)
          } else {
            statistics.add(reading)
            days?.add(reading)
          }
        case .record(let record, let isContext):
          let fields = record.decodedFields()
          let figure = Figure(
            content: .record(
              record.kind, fields, record.deviceTime, record.placement, record.countingSource),
            isContext: isContext)
          counting.add(figure, CountableItem(record, fields), at: record.utc)
        }
        addDecided()
      }
      items.removeAll(keepingCapacity: true)
    }

    mutating func finish() {
      addItems()
      counting.finish()
      addDecided()
    }

    private mutating func addDecided() {
      while let (figure, item, verdict) = counting.next() {
        switch figure.content {
        case .reading where figure.isContext:
          if let item { statistics.addContext(verdict, item) }
        case .reading(let reading):
          statistics.add(reading, verdict, item)
          days?.add(reading, verdict, from: item?.source ?? .unknown)
        case .record(let kind, let fields, let time, let placement, let source):
          statistics.add(
            kind, fields, deviceTime: time, placement: placement, verdict, item, from: source,
            isContext: figure.isContext)
          if !figure.isContext {
            days?.add(kind, fields, deviceTime: time, placement: placement, verdict)
          }
        }
      }
    }
  }

  /// The number of items in a batch, larger than the 26,000 readings of a transmitter. The store loads all
  /// readings of a transmitter before it lists the first. So the thread calculates the figures of one
  /// transmitter while the store loads the next.
  private static let batchSize = 32_768

  private let thread: BackgroundWorker<StatisticsState>
  private var items: [StatisticsItem] = []

  init(_ statistics: Statistics, _ days: DayTally?, _ rules: CountingRules) {
    thread = BackgroundWorker(
      StatisticsState(statistics: statistics, days: days, counting: CountedOnce(rules)), name: "figures")
  }

  /// Adds an item. Items must come in the order of time.
  mutating func add(_ item: StatisticsItem) {
    items.append(item)
    guard items.count >= Self.batchSize else { return }
    thread.wait { swap(&$0.items, &items) }
    thread.begin { $0.addItems() }
  }

  /// Waits until all items are calculated, and returns the results.
  consuming func finish() -> (Statistics, DayTally?) {
    thread.wait { work in
      work.items = items
      work.finish()
      return (work.statistics, work.days)
    }
  }
}

extension StoredItem {
  /// Whether an item that shows a time outside the period can still affect whether items in it count.
  fileprivate var isContext: Bool {
    switch self {
    case .reading(let reading):
      !reading.isWithdrawn && (reading.kind == .cbg || CountingContext.readingKinds.contains(reading.kind))
    case .record(let record): !record.isWithdrawn && CountingContext.recordKinds.contains(record.kind)
    }
  }
}

/// Numbers for devices, in the order in which their readings come, and their ranks in the fixed order of all
/// devices.
private struct DeviceNumbers {
  private typealias DeviceNumber = (number: Int?, rank: Int)

  private(set) var all: [Device] = []
  private let ranks: [Device: Int]
  private var numbers: [Int64: DeviceNumber] = [:]

  /// - Parameter devices: all devices of the store.
  init(_ devices: [Device]) {
    let inOrder = devices.sorted { $0.precedes($1) }
    ranks = Dictionary(zip(inOrder, 0...)) { first, _ in first }
  }

  /// The number and the rank of a reading's device. For a device without readings in the period, the number
  /// is 0.
  mutating func deviceNumber(of reading: StoredReading, isContext: Bool) -> (number: Int, rank: Int) {
    var device = numbers[reading.deviceID] ?? (nil, ranks[reading.device] ?? ranks.count)
    if device.number == nil {
      if !isContext {
        device.number = all.count
        all.append(reading.device)
      }
      numbers[reading.deviceID] = device
    }
    return (device.number ?? 0, device.rank)
  }
}

extension GlucoseReading {
  /// A stored reading of the device with this number and rank.
  init(_ reading: StoredReading, device: Int, rank: Int = 0) {
    self.init(
      device: device, deviceRank: rank, kind: reading.kind, deviceTime: reading.deviceTime,
      placement: reading.placement,
      reading.measurement, marks: reading.marks, isWithdrawn: reading.isWithdrawn)
  }
}

extension ReportContents {
  /// The contents of a report, from calculated figures.
  ///
  /// - Parameters:
  ///   - dates: the first and the last date of the period, as text.
  ///   - device: the text that selected a device; nil for all devices.
  package init(_ view: StatsView, dates: (first: String, last: String), device: String?, isAnonymised: Bool) {
    self.init(
      result: view.result, days: view.days,
      devices: view.devices.map { device in
        let name = [device.vendor, device.model].filter { !$0.isEmpty }.joined(separator: " ")
        return ReportDevice(name: name, serialNumber: device.serial)
      },
      targets: view.targets, unit: view.unit, zone: view.zone.name, dates: dates, device: device,
      version: Release.version, isAnonymised: isAnonymised)
    // A source may have the name of a phone, which often contains that of its owner. So an anonymised report
    // shows only the format.
    sourceName = { isAnonymised ? SourceTitle.format($0.format) : SourceTitle.text($0) }
  }
}
