// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines for a whole input whether its dates put the day or the month first, from all of its rows and
/// never row by row.
///
/// The first of these facts that exists decides:
/// - the order that a person gave
/// - a number over 12, which cannot be the month
/// - dots between the numbers, which mean that the day is first
/// - that one of the orders is impossible, since times would be later than the export or the host's clock
/// - the only order in which the sensor history is continuous
/// - a clock with AM and PM, if the format always writes the month first with it
/// - a language that always puts the day first
struct DateOrderSurvey {
  /// The maximum number of seconds by which a row may be later than the export. The two times may be of
  /// different zones, and a clock may be wrong.
  private static let slack = DeviceTime.largestDifference
  /// The minimum number of sensor readings whose continuity is accepted as a proof of the order.
  private static let minForContinuity = 10

  private let given: DateOrder?
  private let isForced: Bool
  private let latest: Int64?
  /// The first date that is impossible in the order that a person gave, but possible in the other order.
  private var contradiction: (line: Int64, number: Int)?
  /// The first line whose date is only possible in the order that a person gave.
  private var support: Int64?
  private var firstOver12: Int64?
  private var secondOver12: Int64?
  private var hasDots = false
  private var hasHalfDay = false
  private var hasRows = false
  /// Whether any date has two different numbers before its year, so that the order matters.
  private var orderMatters = false
  /// The numbers of all dates; nil once it is certain that the dates do not begin with a two-digit year.
  private var shortYears: ShortYears? = ShortYears()
  /// The dates, read with a two-digit year first; nil once one of them is impossible in this order.
  private var yearFirst: YearFirst? = YearFirst()
  private var readings = [DateOrder.dayFirst: OrderedTimes(), .monthFirst: OrderedTimes()]

  /// The numbers of dates with two-digit years.
  ///
  /// In `26/05/14`, `26/05/15`, `26/05/16` the first number is always the same, and the last number has
  /// several values. Then the last number is the day and not the year, since no person measures on only one
  /// day of each year.
  private struct ShortYears {
    var first: Set<Int> = []
    var second: Set<Int> = []
    var last: Set<Int> = []

    var beginWithYear: Bool { first.count == 1 && second.count <= 2 && last.count > 2 }
  }

  /// Dates such as `26/10/01`, which may be in 2026 or in 2001.
  private struct YearFirst {
    /// The years, if the first number is the year. A month of data has one year, a winter has two.
    var years: Set<Int> = []
    var newest = Int64.min
    /// The newest time if the dates are read with the year last.
    var newestOther = Int64.min
    var oldestOther = Int64.max

    /// Whether the dates, read with the year first, are in two successive years, as around New Year. Read
    /// with the year last, they must be decades apart.
    var jumpsOtherwise: Bool {
      guard years.count == 2, let first = years.min(), let last = years.max() else { return false }
      return last - first == 1 && newestOther - oldestOther > DateOrderSurvey.longSeconds
    }
  }
  /// The age in seconds from which data is unusually old. If dates are that old only when they are read with
  /// the year last, this order is doubtful.
  private static let oldSeconds: Int64 = 10 * 366 * 86400
  /// A period in seconds that is unusually long for one export.
  private static let longSeconds: Int64 = 15 * 366 * 86400

  /// The times of the input, if all dates are read in one of the two orders.
  private struct OrderedTimes {
    var newest = Int64.min
    /// The latest export time. If several exports were joined to one file, the latest of them has the newest
    /// rows.
    var export: Int64?
    var historyFirst = Int64.max
    var historyLast = Int64.min
    var lastHistory: Int64?
    var gaps = 0
    var count = 0

    mutating func observe(_ time: Int64, isHistory: Bool) {
      newest = max(newest, time)
      guard isHistory else { return }
      count += 1
      historyFirst = min(historyFirst, time)
      historyLast = max(historyLast, time)
      if let last = lastHistory, abs(time - last) >= 60, abs(time - last) <= 1800 { gaps += 1 }
      lastHistory = time
    }

    mutating func observeExport(_ time: Int64) { export = max(export ?? time, time) }

    var span: Int64 { max(1, historyLast - historyFirst) }
  }

  /// - Parameters:
  ///   - given: the argument of `--date-order`.
  ///   - now: the host's clock in UTC seconds; nil if it is doubtful.
  ///   - isForced: whether `--force` was given. If so, only the rows whose dates contradict `given` are
  ///     rejected.
  init(given: String?, now: Int64?, isForced: Bool = false) throws {
    self.isForced = isForced
    if let given {
      guard let order = DateOrder(rawValue: given) else {
        throw Failure(.usage, "--date-order is dmy or mdy, not '\(given)'")
      }
      self.given = order
    } else {
      self.given = nil
    }
    latest = now.map { $0 + Self.slack }
  }

  /// Whether some dates are possible only with the day first, and others only with the month first.
  var contradictsItself: Bool { firstOver12 != nil && secondOver12 != nil }

  /// Whether a person gave the order. Then a survey only shows whether the dates contradict it.
  var isGiven: Bool { given != nil }

  /// Records the time of a row.
  ///
  /// - Parameter isHistory: whether the row is a regular reading of a sensor.
  mutating func observe(_ time: AmbiguousTime, isHistory: Bool, line: Int64) {
    hasRows = true
    if let given { return compare(time, with: given, line: line) }
    if time.first != time.second { orderMatters = true }
    if time.first > 12 { firstOver12 = firstOver12 ?? line }
    if time.second > 12 { secondOver12 = secondOver12 ?? line }
    if time.separator == UInt8(ascii: ".") { hasDots = true }
    if time.hasHalfDay { hasHalfDay = true }
    if yearFirst != nil { observeYearFirst(time) }
    if shortYears != nil { observeShortYear(time) }
    // A number over 12 determines the order. In later rows only another such number matters, since it may
    // contradict the first.
    if firstOver12 != nil || secondOver12 != nil { return }
    for order in DateOrder.allCases {
      if let shown = time.time(order) { readings[order]?.observe(shown.seconds, isHistory: isHistory) }
    }
  }

  private mutating func compare(_ time: AmbiguousTime, with given: DateOrder, line: Int64) {
    let (fits, fitsOther) = (
      time.time(given) != nil, DateOrder.allCases.contains { $0 != given && time.time($0) != nil }
    )
    if fits, !fitsOther { support = support ?? line }
    guard !fits, fitsOther, contradiction == nil else { return }
    contradiction = (line, given == .dayFirst ? time.second : time.first)
  }

  private mutating func observeYearFirst(_ time: AmbiguousTime) {
    guard time.hasShortYear, let latest,
      let shown = DeviceTime(
        year: 2000 + time.first, month: time.second, day: time.year - 2000, hour: time.hour,
        minute: time.minute, second: time.seconds), shown.seconds <= latest,
      let other = DateOrder.allCases.lazy.compactMap(time.time).first
    else { return yearFirst = nil }
    var found = yearFirst ?? YearFirst()
    found.years.insert(time.first)
    found.newest = max(found.newest, shown.seconds)
    found.newestOther = max(found.newestOther, other.seconds)
    found.oldestOther = min(found.oldestOther, other.seconds)
    yearFirst = found.years.count > 2 ? nil : found
  }

  private mutating func observeShortYear(_ time: AmbiguousTime) {
    var found = shortYears ?? ShortYears()
    found.first.insert(time.first)
    found.second.insert(time.second)
    found.last.insert(time.year)
    shortYears = time.hasShortYear && found.first.count == 1 && found.second.count <= 2 ? found : nil
  }

  /// Refuses dates that seem to begin with a two-digit year. With the year last, they would be years old, in
  /// the future, or all on one day of each year.
  ///
  /// - Throws: `Failure` of category `badInput`.
  func refuseYearFirst() throws {
    var begins = shortYears?.beginWithYear == true
    if let latest, let yearFirst {
      let isRecent = yearFirst.newest > latest - Self.oldSeconds / 2
      let isOldOtherwise = yearFirst.newestOther < latest - Self.oldSeconds
      let isFutureOtherwise = yearFirst.newestOther > latest
      begins = begins || isRecent && (isOldOtherwise || isFutureOtherwise || yearFirst.jumpsOtherwise)
    }
    guard begins else { return }
    throw Failure(
      .badInput,
      "the dates seem to begin with a year of two digits. Export them with four digits of the year, or use "
        + "--date-order if the year comes last")
  }

  /// Records the time at which the export was made. It is in the same notation as the times of the export's
  /// rows.
  mutating func observeExportTime(_ time: AmbiguousTime, line: Int64) {
    for order in DateOrder.allCases {
      guard let export = time.time(order)?.seconds else { continue }
      readings[order]?.observeExport(export)
    }
    if time.first > 12 { firstOver12 = firstOver12 ?? line }
    if time.second > 12 { secondOver12 = secondOver12 ?? line }
  }

  /// Records that no row is later than a time in civil seconds. The input states this time in a notation in
  /// which day and month cannot be confused.
  mutating func observeLatest(_ seconds: Int64) {
    for order in DateOrder.allCases { readings[order]?.observeExport(seconds) }
  }

  /// The order of the dates, and what it was decided by.
  ///
  /// - Parameters:
  ///   - halfDayMeansMonthFirst: whether the format always writes the month first with a half-day clock.
  ///   - languagePutsDayFirst: whether the input's language always puts the day first.
  /// - Throws: `Failure` of category `badInput`, if rows contradict each other or nothing determines the
  ///   order.
  func decide(halfDayMeansMonthFirst: Bool, languagePutsDayFirst: Bool) throws -> (DateOrder, Decision.Basis)
  {
    if let given {
      try refuseContradiction(of: given)
      return (given, .given)
    }
    try refuseYearFirst()
    if let first = firstOver12, let second = secondOver12 {
      throw Failure(
        .badInput,
        "the dates contradict each other: line \(first) has the day first, line \(second) the month; "
          + "was the file saved by a spreadsheet? Export it again, or read only the dates that fit one order with "
          + "--date-order and --force"
      )
    }
    if firstOver12 != nil { return (.dayFirst, .inferred) }
    if secondOver12 != nil { return (.monthFirst, .inferred) }
    if !hasRows || hasDots || !orderMatters { return (.dayFirst, .inferred) }
    let possible = DateOrder.allCases.filter(isPossible)
    if possible.count == 1 { return (possible[0], .inferred) }
    if let order = continuous { return (order, .inferred) }
    if halfDayMeansMonthFirst, hasHalfDay { return (.monthFirst, .inferred) }
    if languagePutsDayFirst { return (.dayFirst, .inferred) }
    throw Failure(
      .badInput,
      "the order of day and month is unclear in every date; use --date-order dmy or --date-order mdy")
  }

  /// - Throws: `Failure` of category `badInput` if a date is possible only in the order that was not given.
  ///   Then the dates that are possible in both orders would get wrong months.
  private func refuseContradiction(of given: DateOrder) throws {
    guard !isForced, let contradiction else { return }
    let other: DateOrder = given == .dayFirst ? .monthFirst : .dayFirst
    let (line, number) = contradiction
    let doubt = "--date-order \(given.rawValue) makes \(number) the month in line \(line)"
    if let support {
      throw Failure(
        .badInput,
        "\(doubt), but line \(support) has this order; was the file saved by a spreadsheet? Export it again, or use --force "
          + "to read only the dates that fit")
    }
    throw Failure(
      .badInput,
      "\(doubt); use --date-order \(other.rawValue), or --force to read only the dates that fit")
  }

  private func isPossible(_ order: DateOrder) -> Bool {
    guard let candidate = readings[order] else { return true }
    if let latest, max(candidate.newest, candidate.export ?? .min) > latest { return false }
    if let export = candidate.export, candidate.newest > export + Self.slack { return false }
    return true
  }

  /// The order in which sensor history is continuous; nil if it is unclear. In this order the history has
  /// about as many short gaps as in the other order, but is at most half as long.
  private var continuous: DateOrder? {
    guard let day = readings[.dayFirst], let month = readings[.monthFirst],
      min(day.count, month.count) >= Self.minForContinuity
    else { return nil }
    let (shorter, longer, order) =
      day.span <= month.span ? (day, month, DateOrder.dayFirst) : (month, day, .monthFirst)
    guard longer.span >= 2 * shorter.span, shorter.gaps * 10 >= longer.gaps * 9 else { return nil }
    return order
  }
}

extension Decision {
  /// The decision on the units that the headers of an input name.
  static func units(_ units: [GlucoseUnit]) -> Decision {
    Decision("unit", units.map(\.name).joined(separator: ", "), .read)
  }

  /// The decision for a format that always has this unit.
  static func unit(_ unit: GlucoseUnit) -> Decision { Decision("unit", unit.name, .fixed) }

  /// The decision for a format whose rows state their unit.
  static let unitOfEachRow = Decision("unit", "as each row says", .read)

  /// The decision for a format whose dates begin with the year.
  static let yearFirst = Decision("date-order", "year first", .fixed)

  /// The decision on the order of dates in an input.
  static func dateOrder(_ order: DateOrder, _ basis: Basis) -> Decision {
    Decision("date-order", order == .dayFirst ? "day first" : "month first", basis)
  }

  /// The decision on the order of dates in an input. It is `year first` if the first rows put the year first,
  /// and no other order was decided.
  static func dateOrder(_ order: DateOrder?, _ basis: Basis, isYearFirst: Bool) -> Decision {
    isYearFirst && order == nil
      ? Decision("date-order", "year first", .read) : dateOrder(order ?? .dayFirst, basis)
  }
}

/// The times of an input whose dates may put the day, the month or the year first. The order is decided once
/// for all of them.
struct AmbiguousDates {
  private var survey: DateOrderSurvey
  private(set) var order: DateOrder?
  private var basis = Decision.Basis.given
  private let isYearFirst: Bool

  /// - Parameter times: the first times of the input. If all of them put the year first, the order is known.
  init(_ options: ExportOptions, times: [String]) throws {
    survey = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    order = options.dateOrder.flatMap(DateOrder.init(rawValue:))
    let times = times.filter { !$0.isEmpty }
    isYearFirst = !times.isEmpty && times.allSatisfy { $0.count > 4 && $0.prefix(4).allSatisfy(\.isNumber) }
  }

  /// Whether a survey of all rows is necessary before the first one can be read.
  var isUndecided: Bool { order == nil && !isYearFirst }

  /// Whether a survey of all rows shows if the order that a person gave is possible.
  var benefitsFromSurvey: Bool { survey.isGiven }

  /// Records the time of a row.
  ///
  /// - Parameter isHistory: whether the row is a regular reading of a sensor.
  mutating func observe(_ time: AmbiguousTime?, isHistory: Bool = false, line: Int64) {
    if let time { survey.observe(time, isHistory: isHistory, line: line) }
  }

  /// Records the last day or time that the input states in its preamble.
  mutating func observeLast(_ cell: Field, line: Int64) {
    if let time = cell.ambiguousTime { return survey.observeExportTime(time, line: line) }
    guard let day = cell.ambiguousDate, day.length == cell.count else { return }
    survey.observeExportTime(
      AmbiguousTime(
        first: day.first, second: day.second, year: day.year, hour: 23, minute: 59, seconds: 59,
        hasHalfDay: false, separator: day.separator), line: line)
  }

  /// - Throws: `Failure` of category `badInput` that names the option for the order.
  mutating func decide(halfDayMeansMonthFirst: Bool = false, languagePutsDayFirst: Bool = false) throws {
    guard isUndecided || survey.isGiven else { return }
    (order, basis) = try survey.decide(
      halfDayMeansMonthFirst: halfDayMeansMonthFirst, languagePutsDayFirst: languagePutsDayFirst)
  }

  var decision: Decision { .dateOrder(order, basis, isYearFirst: isYearFirst) }

  /// The time in a cell; nil for an invalid time.
  func time(_ cell: Field) -> ShownTime? {
    if let time = cell.ambiguousTime { return self.time(time) }
    return cell.yearFirstTime
  }

  /// The time from two cells: the date, and the time of day.
  func time(_ date: Field, _ clock: Field) -> ShownTime? {
    AmbiguousTime(date, clock).flatMap { time($0) }
  }

  private func time(_ time: AmbiguousTime) -> ShownTime? {
    order.flatMap { time.time($0) }.map { ShownTime($0) }
  }

  /// The reason for the rejection of a row without a valid time.
  var refusal: String {
    switch order {
    case .dayFirst: "invalid time; expected DD/MM/YYYY hh:mm"
    case .monthFirst: "invalid time; expected MM/DD/YYYY hh:mm"
    case nil: "invalid time; expected YYYY-MM-DD hh:mm"
    }
  }
}

extension AmbiguousTime {
  /// The time from two cells: the date, and the time of day. Nil if one of them is not valid.
  init?(_ date: Field, _ clock: Field) {
    guard let day = date.ambiguousDate, day.length == date.count, let time = clock.timeOfDay else {
      return nil
    }
    self.init(
      first: day.first, second: day.second, year: day.year, hour: time.hour, minute: time.minute,
      seconds: time.second, hasHalfDay: time.hasHalfDay, separator: day.separator)
  }
}
