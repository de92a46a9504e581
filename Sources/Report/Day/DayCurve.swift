// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The content of one calendar day of the logbook, for a picture of it.
package struct DayCurve: Sendable {
  /// One value of glucose.
  package struct Dot: Sendable {
    /// The instant at which the picture shows the value, in UTC seconds. It is the value's own instant, or
    /// the instant at which the clock of the day shows the same time; see `DayTally`.
    package fileprivate(set) var instant: Int64
    /// The time that the device showed.
    package let deviceTime: DeviceTime
    /// The value.
    package let level: GlucoseLevel
    /// Marks such as before or after a meal, as the reading's own source or another source states them.
    package var marks: ReadingMarks = []
    /// What other sources state about the same reading.
    package var others: [Repetition] = []
    /// Why the value is not in the figures; nil if it is.
    package var omission: DayOmission?
  }

  /// A full hour on the clock of the day; see `DayTally`.
  package struct Hour: Hashable, Sendable {
    /// The hour, from 0 to 24.
    package let hour: Int
    /// When the hour begins, in UTC seconds. If the logbook's clock repeats the hour, this is the first
    /// beginning.
    package let instant: Int64
  }

  /// A change of the clock on a journey.
  package struct ClockChange: Hashable, Sendable {
    /// The instant of the change, in UTC seconds.
    package let instant: Int64
    /// The time that the clock showed immediately before the change.
    package let before: DeviceTime
    /// The time that the clock showed from the change on.
    package let after: DeviceTime
  }

  /// The day, in days since 1970-01-01.
  package let day: Int
  /// The first instant of the day, and the instant immediately after the day.
  package fileprivate(set) var period: Period
  /// The hours on the clock, and midnight at the end. If a journey sets the clock back, some hours occur
  /// twice.
  package fileprivate(set) var hours: [Hour]
  /// The changes of the clock on a journey.
  package fileprivate(set) var clockChanges: [ClockChange] = []
  /// The values that sensors stored. At each instant, only one sensor is used.
  package internal(set) var sensor: [Dot] = []
  /// Finger sticks.
  package internal(set) var sticks: [Dot] = []
  /// Sensor values from scans by a person.
  package internal(set) var scans: [Dot] = []
  /// Insulin, food, exercise and notes.
  package internal(set) var events: [DayEvent] = []
  /// Finger sticks that are not in the figures, since another source counts instead.
  package internal(set) var leftOutSticks: [Dot] = []
  /// Insulin and food that is not in the figures, since another source counts instead.
  package internal(set) var leftOutEvents: [DayEvent] = []
  /// The number of finger sticks that are copies of a sensor's values, by the source of the finger sticks.
  package internal(set) var sensorCopies: [CountingSource: Int] = [:]
  /// The name of a source for people.
  package internal(set) var sourceName: @Sendable (CountingSource) -> String = { $0.text }

  /// The date, for example `2026-05-06`.
  package var date: String { Grouping.day.name(of: day) }
  /// The number of hours of the day: 24, or another number if the clock changed.
  package var hourCount: Int { Int((period.end - period.start + 1800) / 3600) }
  /// The position of an instant in the day, from 0 at its start to 1 at its end.
  func part(_ instant: Int64) -> Double {
    Double(instant - period.start) / Double(max(1, period.end - period.start))
  }

  /// The hours that are multiples of `step`. An hour is left out if it follows the last returned hour by less
  /// than `apart`, a fraction of the day.
  func hours(every step: Int, apart: Double) -> [Hour] {
    hours.filter { $0.hour.isMultiple(of: step) }.reduce(into: []) { kept, hour in
      guard let last = kept.last, part(hour.instant) - part(last.instant) < apart else {
        return kept.append(hour)
      }
    }
  }

  /// Whether there is no glucose value to show.
  package var hasNoReadings: Bool { sensor.isEmpty && sticks.isEmpty && scans.isEmpty }
  /// Whether there is nothing to show.
  package var isEmpty: Bool { hasNoReadings && events.isEmpty }

  /// The maximum time between two successive samples of one curve, in seconds.
  static let maxGapSeconds: Int64 = 45 * 60

  /// The samples in runs without a gap; each run is drawn as one curve. A step back of the clock begins
  /// another run.
  package var runs: [ArraySlice<Dot>] {
    var (runs, start): ([ArraySlice<Dot>], Int) = ([], 0)
    for index in sensor.indices.dropFirst()
    where !(0...Self.maxGapSeconds).contains(sensor[index].instant - sensor[index - 1].instant) {
      runs.append(sensor[start..<index])
      start = index
    }
    return sensor.isEmpty ? [] : runs + [sensor[start...]]
  }
}

/// Why an item that a day shows is not in the figures.
package enum DayOmission: Hashable, Sendable {
  /// This source states the same item, perhaps with another amount, and the item of this source counts.
  case repeats(CountingSource)
  /// A program computed the meal from the fat and protein of another one.
  case computed
  /// A person chose another source.
  case notChosen
}

/// Insulin, food, exercise or a note of a day.
package struct DayEvent: Sendable {
  package let kind: RecordKind
  /// The instant at which the picture shows the item; see `DayCurve.Dot.instant`.
  package fileprivate(set) var instant: Int64
  /// The shown time.
  package let deviceTime: DeviceTime
  /// What other sources state about the same item.
  package let others: [Repetition]
  /// Why the record is not in the figures; nil if it is.
  package let omission: DayOmission?
  private let fields: RecordFields

  init(
    _ kind: RecordKind, _ fields: RecordFields, _ deviceTime: DeviceTime, instant: Int64,
    others: [Repetition] = [], omission: DayOmission? = nil
  ) {
    self.kind = kind
    (self.others, self.omission) = (others, omission)
    self.fields = fields
    self.deviceTime = deviceTime
    self.instant = instant
  }

  /// The kind of insulin: `rapid`, `long`, `basal` or `mix`; empty if unknown.
  package var subtype: String { ForeignText.shown(fields.subtype) }
  /// The text of a person, without characters that could disturb a page or a terminal.
  package var text: String {
    if case .text(let text)? = fields["text"] { ForeignText.shown(text) } else { "" }
  }
  /// Units of insulin, including those that were given over a period.
  package var units: Double? { fields.units }
  /// The basal rate in units per hour.
  package var rate: Double? { fields.amount("rate") }
  /// The basal rate in units per hour. If the source states units and minutes instead, the rate is
  /// calculated.
  var basalRate: Double? {
    guard isBasalRate else { return nil }
    if let rate { return rate }
    guard let units, let minutes, minutes > 0 else { return nil }
    return units * 60 / minutes
  }
  /// Whether the record is a rate of a pump. A day has many of them, so only the day's sum includes it.
  package var isBasalRate: Bool {
    kind == .insulin && fields.subtype == "basal" && (rate != nil || minutes != nil)
  }
  /// The carbohydrates of food in grams.
  package var carbohydrates: Double? { fields.amount("carbs") }
  /// The amount of food in servings of unknown size.
  package var servings: Double? { fields.amount("servings") }
  /// The energy of food or of exercise in kilocalories.
  package var energy: Double? { fields.amount("energy") }
  /// The duration in minutes.
  package var minutes: Double? { fields.amount("minutes") }
}

/// Collects the items of each day of a period. Readings and records are added in the order of time.
///
/// An item belongs to the day that its shown time states, as in all figures of days. On a journey, the offset
/// of a sensor's times can differ from that of the logbook's clock. The day is then drawn by the sensor's
/// clock with its changes, so that its hours are in their real order. An item with another offset is drawn at
/// its shown time.
package struct DayTally: Sendable {
  private static let kinds: Set<RecordKind> = [.insulin, .food, .exercise, .note]

  private var days: [DayCurve] = []
  private var selection = SensorSelection()
  /// The index of the first day that gets the values of a sensor.
  private let firstCurve: Int

  /// The kinds of records that a day shows.
  package static var recordKinds: Set<RecordKind> { kinds }

  /// Creates the calendar days that are at least partly in a period.
  ///
  /// - Parameters:
  ///   - last: the day of the latest shown time, in days since 1970-01-01. It is created even if it is after
  ///     the end of the period.
  ///   - curves: the maximum number of days with the values of a sensor, which are the last days. The values
  ///     of a year would need much memory.
  ///   - sourceName: the name of a source for people.
  ///   - offset: returns the offset of the logbook's clock at a shown time, in seconds east of Greenwich.
  package init(
    _ period: Period, through last: Int? = nil, curves: Int = .max,
    sourceName: @escaping @Sendable (CountingSource) -> String = { $0.text },
    offset: (DeviceTime) -> Int32
  ) {
    func instant(_ shown: Int64) -> Int64 { shown - Int64(offset(DeviceTime(seconds: shown))) }
    // No day of the period is before this day.
    var day = Grouping.day(of: DeviceTime(seconds: period.start - DeviceTime.largestDifference))
    while instant(Int64(day) * 86400) < period.end || day <= last ?? day - 1 {
      let midnight = Int64(day) * 86400
      let own = Period(start: instant(midnight), end: instant(midnight + 86400))
      if own.end > max(own.start, period.start) {
        var hours: [DayCurve.Hour] = []
        for hour in (0...24).reversed() {
          let begin = instant(midnight + Int64(hour) * 3600)
          // An hour that a change of clocks skips is left out. The program recognises such an hour by its
          // calculated beginning, which is not before the beginning of the next hour.
          guard begin < hours.last?.instant ?? .max else { continue }
          hours.append(DayCurve.Hour(hour: hour, instant: begin))
        }
        var curve = DayCurve(day: day, period: own, hours: hours.reversed())
        curve.sourceName = sourceName
        days.append(curve)
      }
      day += 1
    }
    firstCurve = max(0, days.count - curves)
  }

  /// Adds the next reading. Readings that do not count are not shown, except scans, and finger sticks for
  /// which another source counts.
  ///
  /// - Parameter source: the source of a finger stick.
  package mutating func add(
    _ reading: GlucoseReading, _ verdict: CountVerdict = .counts(alsoIn: []),
    from source: CountingSource = .unknown
  ) {
    if let reason = LeftOut(reading), reason != .scan { return }
    if reading.kind == .cbg { return addSample(reading) }
    guard reading.kind != .ketone, let level = GlucoseLevel(reading.measurement, of: reading.kind) else {
      return
    }
    guard let index = index(of: reading.deviceTime) else { return }
    var dot = DayCurve.Dot(
      instant: reading.instant, deviceTime: reading.deviceTime, level: level,
      marks: reading.marks.intersection(Self.shownMarks))
    switch verdict {
    case .counts(let others):
      dot.others = others.filter { !$0.isOwnCopy }
      for other in others { dot.marks.formUnion(other.marks.intersection(Self.shownMarks)) }
      if reading.kind == .scan { days[index].scans.append(dot) } else { days[index].sticks.append(dot) }
    case .repeats(_, let source), .otherAmount(_, let source), .edited(_, let source):
      dot.omission = .repeats(source)
      days[index].leftOutSticks.append(dot)
    case .computed, .notChosen:
      dot.omission = .notChosen
      days[index].leftOutSticks.append(dot)
    case .sensorValue: days[index].sensorCopies[source, default: 0] += 1
    }
  }

  /// Adds the next sensor reading outside of the period. It is not shown, but affects which sensor is shown
  /// at the ends of the period.
  package mutating func addContext(_ reading: GlucoseReading) {
    if LeftOut(reading) == nil { addSample(reading, isContext: true) }
  }

  private mutating func addSample(_ reading: GlucoseReading, isContext: Bool = false) {
    guard let sample = SensorSample(reading, isContext: isContext) else { return }
    selection.add(sample)
    addDecided()
  }

  private static let shownMarks: ReadingMarks = [.beforeMeal, .afterMeal, .fasting, .bedtime]

  /// Adds the next record.
  package mutating func add(
    _ kind: RecordKind, _ fields: RecordFields, deviceTime: DeviceTime, placement: Placement,
    _ verdict: CountVerdict = .counts(alsoIn: [])
  ) {
    guard Self.kinds.contains(kind), let index = index(of: deviceTime) else { return }
    let instant = deviceTime.seconds - Int64(placement.utcOffset)
    func event(_ others: [Repetition], _ omission: DayOmission?) -> DayEvent {
      DayEvent(kind, fields, deviceTime, instant: instant, others: others, omission: omission)
    }
    switch verdict {
    case .counts(let others): days[index].events.append(event(others.filter { !$0.isOwnCopy }, nil))
    case .repeats(_, let source), .otherAmount(_, let source), .edited(_, let source):
      days[index].leftOutEvents.append(event([], .repeats(source)))
    case .computed: days[index].leftOutEvents.append(event([], .computed))
    case .notChosen: days[index].leftOutEvents.append(event([], .notChosen))
    case .sensorValue: break
    }
  }

  /// The days in their order, including empty ones.
  package consuming func finish() -> [DayCurve] {
    selection.finish()
    addDecided()
    for index in days.indices { days[index].arrange() }
    return days
  }

  private mutating func addDecided() {
    while let (sample, _, outcome) = selection.next() {
      guard outcome == .used, !sample.isContext, let index = index(of: sample.deviceTime), index >= firstCurve
      else { continue }
      days[index].sensor.append(
        DayCurve.Dot(instant: sample.instant, deviceTime: sample.deviceTime, level: sample.level))
    }
  }

  /// The index of the day to which a shown time belongs; nil if no day contains it.
  private func index(of time: DeviceTime) -> Int? {
    guard let first = days.first?.day else { return nil }
    let index = Grouping.day(of: time) - first
    return days.indices.contains(index) ? index : nil
  }
}

/// An item that is shown at a time of the day.
private protocol ShownItem {
  var deviceTime: DeviceTime { get }
  var instant: Int64 { get set }
}

extension DayCurve.Dot: ShownItem {}
extension DayEvent: ShownItem {}

/// A part of the day in which the clock of a sensor had one offset.
private struct ClockPiece {
  /// The first instant in UTC seconds.
  let start: Int64
  /// The offset in seconds east of Greenwich.
  let offset: Int64
}

extension DayCurve {
  /// The maximum number of offsets on one day. More do not come from a journey, but from a source with
  /// unusual offsets.
  private static let maxPieces = 3
  /// The offset of every zone is a multiple of this many seconds.
  private static let zoneStep: Int64 = 15 * 60

  private var midnight: Int64 { Int64(day) * 86400 }

  /// Sets the instant at which each item is drawn on the clock of the day. If the sensor's clock differed
  /// from the logbook's, the day first gets the sensor's clock.
  fileprivate mutating func arrange() {
    let pieces = clockPieces
    if !pieces.isEmpty { useClock(pieces) }
    sensor = convertingInstants(of: sensor, pieces)
    sticks = convertingInstants(of: sticks, pieces)
    scans = convertingInstants(of: scans, pieces)
    leftOutSticks = convertingInstants(of: leftOutSticks, pieces)
    events = convertingInstants(of: events, pieces)
    leftOutEvents = convertingInstants(of: leftOutEvents, pieces)
  }

  private func convertingInstants<Item: ShownItem>(of items: [Item], _ pieces: [ClockPiece]) -> [Item] {
    var items = items
    for index in items.indices {
      items[index].instant = shownInstant(of: items[index].deviceTime, at: items[index].instant, pieces)
    }
    return items
  }

  /// The parts of the day, each with one offset of the sensor's clock, in the order of time. Empty if the day
  /// has the clock of the logbook, or if the offsets are not those of a journey.
  private var clockPieces: [ClockPiece] {
    var pieces: [ClockPiece] = []
    for dot in sensor {
      let offset = dot.deviceTime.seconds - dot.instant
      if offset != pieces.last?.offset { pieces.append(ClockPiece(start: dot.instant, offset: offset)) }
      if pieces.count > Self.maxPieces || offset % Self.zoneStep != 0 { return [] }
    }
    return pieces.allSatisfy { clockOffsets.contains($0.offset) } ? [] : pieces
  }

  /// The offsets of the logbook's clock at the beginning and at the end of the day.
  private var clockOffsets: [Int64] { [midnight - period.start, midnight + 86400 - period.end] }

  /// Replaces the clock of the day with that of a sensor. The day begins at midnight by the sensor's first
  /// offset, and ends at midnight by its last offset.
  private mutating func useClock(_ pieces: [ClockPiece]) {
    guard let first = pieces.first, let last = pieces.last else { return }
    period = Period(start: midnight - first.offset, end: midnight + 86400 - last.offset)
    clockChanges = zip(pieces, pieces.dropFirst()).map { old, new in
      ClockChange(
        instant: new.start, before: DeviceTime(seconds: new.start + old.offset),
        after: DeviceTime(seconds: new.start + new.offset))
    }
    let changes = clockChanges.map(\.instant)
    let (starts, ends) = ([period.start] + changes, changes + [period.end + 1])
    hours = pieces.indices.flatMap { index in
      (0...24).compactMap { hour in
        let instant = midnight + Int64(hour) * 3600 - pieces[index].offset
        return (starts[index]..<ends[index]).contains(instant) ? Hour(hour: hour, instant: instant) : nil
      }
    }
  }

  /// The instant at which the picture shows an item. It is the item's own instant if the item's offset is
  /// that of the day's clock.
  ///
  /// Otherwise it is the instant at which the day's clock shows the same time. If the clock shows this time
  /// twice, the nearer instant is used.
  private func shownInstant(of time: DeviceTime, at instant: Int64, _ pieces: [ClockPiece]) -> Int64 {
    let offset = time.seconds - instant
    let piece = pieces.last { $0.start <= instant } ?? pieces.first
    let isOfClock = piece.map { $0.offset == offset } ?? clockOffsets.contains(offset)
    if isOfClock, period.start <= instant, instant < period.end { return instant }
    let hour = Int((time.seconds - midnight) / 3600)
    func distance(_ hour: Hour) -> Int64 { abs(hour.instant + (time.seconds - midnight) % 3600 - instant) }
    let shown = hours.filter { $0.hour == hour }.min { distance($0) < distance($1) }
    let begin = (shown ?? hours.last { $0.hour <= hour })?.instant ?? period.start
    return min(begin + (time.seconds - midnight) % 3600, period.end - 1)
  }
}
