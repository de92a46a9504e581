// SPDX-License-Identifier: Apache-2.0

/// One figure, or the reason why there is too little data for it. If a rule of `DataRules` is not met, there
/// is no number, not even one with a footnote.
package enum Metric: Hashable, Sendable {
  case value(Double)
  case absent(Shortage)

  /// The figure; nil if there is too little data for it.
  package var number: Double? { if case .value(let number) = self { number } else { nil } }

  /// Why there is no figure; nil if there is one.
  package var shortage: Shortage? { if case .absent(let shortage) = self { shortage } else { nil } }

  /// The figure as text, or a dash with the reason why it is missing.
  package func text(_ text: (Double) -> String) -> String {
    switch self {
    case .value(let number): text(number)
    case .absent(let shortage): "— (\(shortage.text))"
    }
  }

  /// The figure `number`, or the shortage if there is one.
  init(_ number: Double?, unless shortage: Shortage?) {
    if let shortage {
      self = .absent(shortage)
    } else if let number {
      self = .value(number)
    } else {
      self = .absent(.noReadings)
    }
  }
}

/// Encodes the figure, or the reason why there is none, as `stats --json` prints it.
extension Metric: Encodable {
  private enum CodingKeys: String, CodingKey { case value, reason }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number.map(Self.decimals), forKey: .value)
    try container.encode(shortage?.text, forKey: .reason)
  }

  /// A number with at most four decimals, since further ones are rounding errors.
  package static func decimals(_ number: Double) -> Double { (number * 10_000).rounded() / 10_000 }

  /// The figure multiplied by a factor, to convert it to another unit.
  package func scaled(by factor: Double) -> Metric {
    switch self {
    case .value(let number): .value(number * factor)
    case .absent: self
    }
  }
}

/// Why there is too little data for a figure.
package enum Shortage: Hashable, Sendable {
  case noReadings
  /// There are too few readings. The values are their number and the required number.
  case fewReadings(Int, of: Int)
  /// The sensor measured for less than a whole day. The value is this time in minutes.
  case shortTime(minutes: Int)
  /// Too few days have readings. The values are their number, the required number, and the percentage of the
  /// time that the sensor measured.
  case fewDays(Int, of: Int, percent: Double)
  /// The sensor measured only in this percentage of the time.
  case littleTime(percent: Double)
  /// The period has more days than are allowed for percentages.
  case longPeriod(days: Int)
  /// The mean is outside the values for which the formula of the figure was fitted.
  case meanOutsideFit
  /// The targets have no limit between this range and the range next to it.
  case notSeparate
  /// Two sources seem to state the same items, and no person decided which one counts.
  case severalSources
  /// A part of the insulin is unknown: a basal rate in percent, or a rate whose end the source does not
  /// state.
  case unknownRates
  /// A part of the insulin is unknown: the rates of a pump's profile, which run between temporary rates.
  case incompleteRates

  /// The reason in words.
  package var text: String {
    switch self {
    case .noReadings: "no readings"
    case .fewReadings(let readings, let needed): "\(readings) of \(needed) readings"
    case .shortTime(let minutes): "\(minutes / 60) h \(minutes % 60) min; needs a whole day"
    case .fewDays(let days, let needed, let percent):
      "\(days) of \(needed) days, \(Self.whole(percent)) of time"
    case .littleTime(let percent):
      "\(Self.whole(percent)) of time; needs \(Int(DataRules.activePercent)) %"
    case .longPeriod(let days): "\(days) days; needs \(DataRules.maxDays) or fewer"
    case .meanOutsideFit: "the mean is outside 80–350 mg/dL"
    case .notSeparate: "not separate with these targets"
    case .severalSources: "two sources differ"
    case .unknownRates: "basal rates without an amount"
    case .incompleteRates: "basal insulin between temporary rates is unknown"
    }
  }

  /// The percentage as text, rounded down. So a share below the limit of a rule never looks like one that
  /// reaches it.
  private static func whole(_ percent: Double) -> String { "\(Int(percent)) %" }
}

/// The data that a figure needs (Danne et al. 2017, Battelino et al. 2019; the numbers of readings as in
/// Tidepool).
package enum DataRules {
  /// The percentage of the time in which a sensor must have measured.
  package static let activePercent = 70.0
  /// The number of days that goals and the glucose management indicator need.
  package static let days = 14
  /// The maximum number of days of a period for which percentages are shown.
  package static let maxDays = 90
  /// The number of readings that a standard deviation needs, and that the risk indices of finger sticks need.
  package static let readings = 30
  /// The minutes of the shortest day, which has an hour less because of a change of the clocks.
  static let dayMinutes = 23 * 60
  /// If a requested period begins more than this number of days before the first item, the days before that
  /// item are left out. A person who requests everything from the year 1 on does not mean the centuries
  /// without a sensor. Shorter times without items count: a sensor that is worn in the last week of a year
  /// was not worn for most of it.
  static let maxEmptyDays: Int64 = 366
  /// The minimum number of days with samples for the figures of an hour of the day.
  static let daysOfAnHour = 5
  /// The minutes with samples that 14 days must have: 70 % of all minutes.
  static let minutes = days * 1440 * 7 / 10
  /// The minutes with samples that the number of episodes per day needs: 70 % of the minutes of a day.
  static let episodeMinutes = 1440 * 7 / 10
}
