// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The times of an input whose dates may put the day, the month or the year first. The order is settled once for all of
/// them.
struct OpenDates {
  private var survey: DateOrderSurvey
  private(set) var order: DateOrder?
  private var basis = Decision.Basis.given
  private let isYearFirst: Bool

  /// - Parameter times: the first times of the input. The order is not open if all of them put the year first.
  init(_ options: ExportOptions, times: [String]) throws {
    survey = try DateOrderSurvey(given: options.dateOrder, now: options.now)
    order = options.dateOrder.flatMap(DateOrder.init(rawValue:))
    let times = times.filter { !$0.isEmpty }
    isYearFirst = !times.isEmpty && times.allSatisfy { $0.count > 4 && $0.prefix(4).allSatisfy(\.isNumber) }
  }

  /// Whether a survey of all rows is necessary before the first one can be read.
  var isOpen: Bool { order == nil && !isYearFirst }

  /// Looks at the time of a row. `isHistory` means a regular reading of a sensor.
  mutating func note(_ time: OpenTime?, isHistory: Bool = false, line: Int64) {
    if let time { survey.note(time, isHistory: isHistory, line: line) }
  }

  /// Looks at the last day or time in the input's own preamble.
  mutating func noteLast(_ cell: Field, line: Int64) {
    if let time = cell.openTime { return survey.noteExportTime(time, line: line) }
    guard let day = cell.openDate, day.length == cell.count else { return }
    survey.noteExportTime(
      OpenTime(
        first: day.first, second: day.second, year: day.year, hour: 23, minute: 59, seconds: 59,
        hasHalfDay: false, separator: day.separator), line: line)
  }

  /// - Throws: `Failure` of category `badInput` that names the option that settles it.
  mutating func settle(halfDayMeansMonthFirst: Bool = false, languagePutsDayFirst: Bool = false) throws {
    guard isOpen else { return }
    (order, basis) = try survey.settle(
      halfDayMeansMonthFirst: halfDayMeansMonthFirst, languagePutsDayFirst: languagePutsDayFirst)
  }

  var decision: Decision { .dateOrder(order, basis, isYearFirst: isYearFirst) }

  /// The time in a cell; nil if no calendar has it.
  func time(_ cell: Field) -> ShownTime? {
    if let time = cell.openTime { return self.time(time) }
    return cell.yearFirstTime
  }

  /// The time from two cells: the date, and the time of day.
  func time(_ date: Field, _ clock: Field) -> ShownTime? {
    OpenTime(date, clock).flatMap { time($0) }
  }

  private func time(_ time: OpenTime) -> ShownTime? { order.flatMap { time.time($0) }.map { ShownTime($0) } }

  /// The reason for the rejection of a row without a valid time.
  var refusal: String {
    switch order {
    case .dayFirst: "invalid time; expected DD/MM/YYYY hh:mm"
    case .monthFirst: "invalid time; expected MM/DD/YYYY hh:mm"
    case nil: "invalid time; expected YYYY-MM-DD hh:mm"
    }
  }
}

extension OpenTime {
  /// The time from two cells: the date, and the time of day. Nil if one of them is not valid.
  init?(_ date: Field, _ clock: Field) {
    guard let day = date.openDate, day.length == date.count, let time = clock.timeOfDay else { return nil }
    self.init(
      first: day.first, second: day.second, year: day.year, hour: time.hour, minute: time.minute,
      seconds: time.second, hasHalfDay: time.hasHalfDay, separator: day.separator)
  }
}
