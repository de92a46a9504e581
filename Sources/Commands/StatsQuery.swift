// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Report

/// What `stats` shows: figures with what is needed to name them.
struct StatsView {
  let result: StatisticsResult
  let grouping: Grouping?
  let targets: Targets
  let unit: GlucoseUnit
  let zone: LogbookZone
  /// The devices by their numbers.
  let devices: [Device]
  /// What each day holds, where that was asked for.
  var days: [DayCurve] = []

  /// The name of a group; nil for the whole period.
  func name(of group: GroupFigures) -> String? {
    guard let key = group.key, let grouping else { return nil }
    return grouping == .device ? deviceName(devices[key]) : grouping.name(of: key)
  }

  /// A time of the period on the clock of the logbook.
  func shown(_ instant: Int64) -> DeviceTime {
    DeviceTime(seconds: instant + Int64(zone.offset(atUTC: instant)))
  }
}

/// Passes the readings and records of a period through the statistics.
struct StatsQuery {
  let store: Store
  /// What chooses a device; nil for all of them.
  let device: String?
  var zone: LogbookZone
  let now: Int64
  var options = Statistics.Options()
  /// Set where the readings and records of each day are wanted, too.
  private var days: DayTally?

  init(store: Store, device: String?, zone: LogbookZone, now: Int64) {
    (self.store, self.device, self.zone, self.now) = (store, device, zone, now)
  }

  /// - Throws: `Failure` of category `missingInput` where the store has no readings of such a device.
  func requireDevice(_ text: String) throws {
    guard try !store.overview(ingests: 0).lines.contains(where: { Self.matches($0.device, text) }) else {
      return
    }
    throw Failure(
      .missingInput,
      "\(displayed(store.path)): no device '\(displayed(text))'; 'glucoport status' lists the devices")
  }

  /// - Throws: `Failure` of category `usage` where the period ends before it begins.
  mutating func setPeriod(since: TimeArgument?, until: TimeArgument?) throws {
    let (start, end) = (since?.instant(zone: zone, now: now), until?.instant(zone: zone, now: now))
    if let start, let end, end <= start {
      throw Failure(.usage, "--until must be later than --since: the period is empty")
    }
    options.since = start
    // The future has no time in which a sensor could have measured.
    options.until = end.map { min($0, now) }
  }

  /// The span that ends with the newest reading that is not in the future: so a store that is fed once a month has figures,
  /// and the same store always the same.
  mutating func setPeriod(_ span: SpanArgument) throws {
    guard let newest = try newestReading() else { return }
    options.since = span.start(before: newest.deviceTime, at: newest.utc, zone)
    options.until = newest.utc + 1
  }

  /// The calendar day of a time, else that of the newest reading that is not in the future; false without one.
  mutating func setDay(_ time: TimeArgument?) throws -> Bool {
    var shown = time?.placed(zone: zone, now: now).time
    if shown == nil, let newest = try newestReading() {
      shown = DeviceTime(seconds: newest.utc + Int64(zone.offset(atUTC: newest.utc)))
    }
    guard let seconds = shown?.seconds else { return false }
    let midnight = (seconds >= 0 ? seconds : seconds - 86399) / 86400 * 86400
    let (start, end) = (instant(midnight), instant(midnight + 86400))
    // What is left of today has no time in which a sensor could have measured.
    (options.since, options.until) = (start, start < now ? min(end, now) : end)
    gatherDays(of: Period(start: start, end: end))
    return true
  }

  /// Asks for the readings and records of the days of a period.
  mutating func gatherDays(of period: Period) {
    var zone = zone
    days = DayTally(period) { zone.place($0).utcOffset }
  }

  /// Asks for the last days of the period, at most so many: up to its end, else up to the newest reading.
  mutating func gatherLastDays(_ count: Int64) throws {
    let newest = try options.until ?? newestReading().map { $0.utc + 1 }
    guard let end = newest else { return }
    let shown = end - 1 + Int64(zone.offset(atUTC: end - 1))
    let midnight = (shown >= 0 ? shown : shown - 86399) / 86400 * 86400
    let start = max(instant(midnight - (count - 1) * 86400), options.since ?? Int64.min)
    gatherDays(of: Period(start: start, end: end))
  }

  private func instant(_ shown: Int64) -> Int64 {
    var zone = zone
    return shown - Int64(zone.place(DeviceTime(seconds: shown)).utcOffset)
  }

  private func newestReading() throws -> StoredReading? {
    var filter = chosenReadings
    filter.until = now + 1
    filter.recordKinds = []
    filter.newest = 1
    var found: StoredReading?
    try store.forEachItem(filter) { item in
      if case .reading(let reading) = item { found = reading }
    }
    return found
  }

  /// The figures.
  ///
  /// - Parameter unit: the unit in which they are shown; nil for that of the first reading.
  mutating func view(unit: GlucoseUnit?) throws -> StatsView {
    var filter = chosenReadings
    (filter.since, filter.until) = (options.since, options.until)
    // A record has no device.
    filter.recordKinds = device != nil ? [] : days == nil ? [.insulin, .food] : DayTally.recordKinds
    filter.includesWithdrawn = true
    var statistics = Statistics(options)
    var devices = DeviceNumbers()
    var firstUnit: GlucoseUnit?
    var days = days
    try store.forEachItem(filter) { item in
      switch item {
      case .reading(let reading):
        if firstUnit == nil, reading.kind != .ketone { firstUnit = reading.measurement.unit }
        let counted = GlucoseReading(reading, device: devices.number(of: reading.device))
        statistics.add(counted)
        days?.add(counted)
      case .record(let record):
        guard !record.isWithdrawn else { return }
        let fields = record.decodedFields()
        statistics.add(record.kind, fields, deviceTime: record.deviceTime, placement: record.placement)
        days?.add(record.kind, fields, deviceTime: record.deviceTime, placement: record.placement)
      }
    }
    var zone = zone
    return StatsView(
      result: statistics.finish { zone.place($0).utcOffset }, grouping: options.grouping,
      targets: options.targets, unit: unit ?? firstUnit ?? .milligramsPerDecilitre, zone: zone,
      devices: devices.all, days: days?.finish() ?? [])
  }

  /// What passes the readings of the chosen devices.
  private var chosenReadings: ItemFilter {
    var filter = ItemFilter()
    if let device { filter.includesDevice = { Self.matches($0, device) } }
    return filter
  }

  private static func matches(_ device: Device, _ text: String) -> Bool {
    device.serial == text || deviceName(device).lowercased().contains(text.lowercased())
  }
}

/// Numbers for devices, in the order in which they come.
private struct DeviceNumbers {
  private(set) var all: [Device] = []
  private var numbers: [Device: Int] = [:]
  private var last: (device: Device, number: Int)?

  mutating func number(of device: Device) -> Int {
    if let last, last.device == device { return last.number }
    let number = numbers[device] ?? all.count
    if number == all.count {
      all.append(device)
      numbers[device] = number
    }
    last = (device, number)
    return number
  }
}

extension GlucoseReading {
  fileprivate init(_ reading: StoredReading, device: Int) {
    self.init(
      device: device, kind: reading.kind, deviceTime: reading.deviceTime, placement: reading.placement,
      reading.measurement, marks: reading.marks, isWithdrawn: reading.isWithdrawn)
  }
}

extension StoredRecord {
  /// The fields; none where another program wrote what glucoport cannot read.
  fileprivate func decodedFields() -> RecordFields {
    do {
      return try RecordFields(json: fields)
    } catch {
      return RecordFields()
    }
  }
}
