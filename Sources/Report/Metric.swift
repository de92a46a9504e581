// SPDX-License-Identifier: Apache-2.0

/// One figure, or the reason why there is too little data for it. A rule that fails leaves no number, not even one with a
/// footnote.
package enum Metric: Hashable, Sendable {
  case value(Double)
  case absent(Shortage)

  /// The figure; nil where its rule forbids it.
  package var number: Double? { if case .value(let number) = self { number } else { nil } }

  /// Why there is no figure; nil where there is one.
  package var shortage: Shortage? { if case .absent(let shortage) = self { shortage } else { nil } }

  /// The figure, unless a rule forbids it.
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

/// Why there is too little data for a figure.
package enum Shortage: Hashable, Sendable {
  case noReadings
  /// So few readings of how many that are needed.
  case fewReadings(Int, of: Int)
  /// A shorter time than a whole day, in minutes.
  case shortTime(minutes: Int)
  /// So many days with readings of how many that are needed, and the percent of the time that the sensor measured.
  case fewDays(Int, of: Int, percent: Double)
  /// The sensor measured in so few percent of the time.
  case littleTime(percent: Double)
  /// The period has more days than percentages may be taken over.
  case longPeriod(days: Int)
  /// The mean is outside the values for which the figure was made.
  case meanOutsideFit
  /// The range is part of another one with these targets.
  case notSeparate
  /// Two sources seem to state the same, and no person decided which one counts.
  case severalSources

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
    }
  }

  /// Rounded down: a part that falls short of the rule never reads as if it met it.
  private static func whole(_ percent: Double) -> String { "\(Int(percent)) %" }
}

/// How much data a figure needs (Danne et al. 2017, Battelino et al. 2019; the numbers of readings as Tidepool has them).
package enum DataRules {
  /// The percent of the time that a sensor must have measured.
  package static let activePercent = 70.0
  /// The days for goals and for the management indicator.
  package static let days = 14
  /// The days over which percentages may be taken at most.
  package static let maxDays = 90
  /// The readings for a standard deviation, and for the risk indices of finger sticks.
  package static let readings = 30
  /// The shortest day: with an hour less, by a change of the clocks.
  static let dayMinutes = 23 * 60
  /// How long a period that was asked for may be empty at its beginning, in days. A sensor that is worn in the last week of a
  /// year was not worn for most of it; but whoever asks for everything from the year 1 on does not ask for the centuries
  /// without a sensor.
  static let maxEmptyDays: Int64 = 366
  /// The days that an hour of the day needs.
  static let daysOfAnHour = 5
  /// The time that 14 days at 70 % have.
  static let minutes = days * 1440 * 7 / 10
  /// The recorded time for a number of episodes a day.
  static let episodeMinutes = 1440 * 7 / 10
}
