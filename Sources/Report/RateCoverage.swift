// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the days on which a pump gave basal insulin that the data do not state. Loop, AAPS and other
/// programs write temporary rates to a Nightscout site. Between them the pump delivers the rates of its
/// profile, which are not among the site's treatments. In three real exports of Loop, temporary rates ran for
/// 42 to 52 % of the time.
///
/// Each day is judged by the rates in the two weeks before and after it, also by rates outside the period of
/// a report. So the result for a day is the same in every report. Rates are added in the order of time.
/// Memory grows with the number of hours that have rates.
struct RateCoverage: Sendable {
  /// The seconds of a day with a known rate, and the seconds of the gaps between rates.
  private struct RatesOfDay: Sendable {
    var covered: Int64 = 0
    var missing: Int64 = 0
    var hasLongActing = false
  }

  /// The time in which one rate applied.
  private struct Span: Sendable {
    let start: Int64
    let end: Int64
    /// The seconds by which the shown time is later than the instant in UTC.
    let offset: Int64
    /// Whether the source of the rate states only temporary rates.
    let isTemporary: Bool
  }

  /// A day has a sum if rates are known for at least this fraction of its time. Rates for the whole day
  /// cannot be demanded: even pumps that send all rates to a site have pauses for a change of the reservoir.
  private static let neededPart = 0.9
  /// If a gap between two rates is longer than this, the pump was not used, so no rates are missing in the
  /// gap.
  private static let maxGapSeconds = Int64(CountingMargin.doubtDays) * 86400
  /// The number of hours that are checked after the first rate, and before the end of the last one. They show
  /// whether the source states all rates.
  private static let edgeHours: Int64 = 12
  /// The minimum number of whole hours, and below the minimum number of rates in them, that show whether the
  /// source states all rates. A single rate is not enough, since a person can set a temporary rate for a day.
  private static let minEdgeHours = 5
  private static let minEdgeRates = 2

  /// The seconds of an hour in which a rate is known, and the number of rates that began in the hour.
  private struct Hour: Sendable {
    var covered: Int64 = 0
    var rates = 0
  }

  private var days: [Int: RatesOfDay] = [:]
  /// The hours with a rate, by the number of hours since 1970.
  private var hours: [Int64: Hour] = [:]
  private var first: Span?
  private var last: Span?

  /// Adds the next rate, which ends the one before it.
  mutating func add(_ rate: BasalRate, shown: Int64, from source: CountingSource) {
    let next = Span(
      start: rate.start, end: rate.end, offset: shown - rate.start,
      isTemporary: source.statesOnlyTemporaryRates)
    if let last { end(last, before: next) } else { first = next }
    last = next
  }

  /// Adds a dose of long-acting insulin. If a day has such a dose and no pump, no rates are missing on this
  /// day.
  mutating func addLongActing(day: Int) { days[day, default: RatesOfDay()].hasLongActing = true }

  /// The days whose basal rates are not completely known.
  struct JudgedDays {
    /// The days on which too much of the time between the rates is unknown.
    let incomplete: Set<Int>
    /// The days with rates for a part of the day only, such as those on which the data begin and end.
    let partial: Set<Int>
  }

  consuming func judgedDays() -> JudgedDays {
    if let last { endLast(last) }
    let incomplete = days.filter { _, day in
      let known = day.covered == 0 && day.hasLongActing
      return !known && Double(day.missing) > (1 - Self.neededPart) * Double(day.covered + day.missing)
    }
    let partial = days.filter { _, day in
      day.covered > 0 && !day.hasLongActing && Double(day.covered) < Self.neededPart * 86400
    }
    return JudgedDays(incomplete: Set(incomplete.keys), partial: Set(partial.keys))
  }

  private mutating func end(_ rate: Span, before next: Span) {
    let stop = min(rate.end, next.start)
    addCovered(rate, until: stop)
    guard next.start > stop else { return }
    if next.start - stop > Self.maxGapSeconds {
      closeEdges(last: rate, stop)
      first = next
    } else if rate.isTemporary || next.isTemporary {
      addMissing(stop, next.start, rate.offset)
    }
  }

  private mutating func endLast(_ rate: Span) {
    addCovered(rate, until: rate.end)
    closeEdges(last: rate, rate.end)
  }

  /// Judges the part of the first day before the first rate, and the part of the last day after the last
  /// rate. If the source states all rates in the hours next to such a part, the pump gave no insulin in that
  /// part. Otherwise the rates of the pump's profile are missing in it. Only a source of temporary rates is
  /// judged in this way.
  private mutating func closeEdges(last: Span, _ stop: Int64) {
    guard let first else { return }
    // The numbers of the first whole hour after the first rate, and of the hour in which the last rate ends.
    let (begin, end) = (Self.hour(first.start + 3599), Self.hour(stop))
    if first.isTemporary, !isCovered(begin, min(end, begin + Self.edgeHours)) {
      addMissing(Self.midnight(first.start, first.offset), first.start, first.offset)
    }
    if last.isTemporary, !isCovered(max(begin, end - Self.edgeHours), end) {
      addMissing(stop, Self.midnight(stop - 1, last.offset) + 86400, last.offset)
    }
  }

  /// Whether a source states all rates in these hours.
  private func isCovered(_ begin: Int64, _ end: Int64) -> Bool {
    guard end - begin >= Self.minEdgeHours else { return false }
    let known = (begin..<end).compactMap { hours[$0] }
    let seconds = known.reduce(0) { $0 + $1.covered }
    return Double(seconds) >= Self.neededPart * Double(end - begin) * 3600
      && known.reduce(0) { $0 + $1.rates } >= Self.minEdgeRates
  }
}

extension RateCoverage {
  private mutating func addCovered(_ rate: Span, until end: Int64) {
    Self.split(rate.start, end, rate.offset, by: 86400) { days[Int($0), default: RatesOfDay()].covered += $1 }
    Self.split(rate.start, end, 0, by: 3600) { hours[$0, default: Hour()].covered += $1 }
    if end > rate.start { hours[Self.hour(rate.start), default: Hour()].rates += 1 }
  }

  private mutating func addMissing(_ start: Int64, _ end: Int64, _ offset: Int64) {
    Self.split(start, end, offset, by: 86400) { days[Int($0), default: RatesOfDay()].missing += $1 }
  }

  /// Splits a time into days or hours on a clock with this offset. `body` gets the number of each day or hour
  /// since 1970, and the seconds in it.
  private static func split(
    _ start: Int64, _ end: Int64, _ offset: Int64, by length: Int64, _ body: (Int64, Int64) -> Void
  ) {
    var time = start + offset
    while time < end + offset {
      let number = floor(time, length)
      let next = min(end + offset, (number + 1) * length)
      body(number, next - time)
      time = next
    }
  }

  private static func hour(_ instant: Int64) -> Int64 { floor(instant, 3600) }

  private static func midnight(_ instant: Int64, _ offset: Int64) -> Int64 {
    floor(instant + offset, 86400) * 86400 - offset
  }

  /// The quotient, rounded down.
  private static func floor(_ seconds: Int64, _ length: Int64) -> Int64 {
    (seconds >= 0 ? seconds : seconds - length + 1) / length
  }
}

extension CountingSource {
  /// Whether the source states a pump's temporary rates, but not the rates of its profile.
  fileprivate var statesOnlyTemporaryRates: Bool { format == "nightscout" }
}
