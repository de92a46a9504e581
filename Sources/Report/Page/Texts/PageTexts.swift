// SPDX-License-Identifier: Apache-2.0

/// The texts of a report in one language. A text can have arguments: `{1}` is replaced by the first one, and
/// so on.
package struct PageTexts: Sendable {
  /// The language code for HTML.
  package let code: String
  /// The decimal mark.
  package let mark: String
  /// The days of the week from Monday on.
  package let weekdays: [String]
  package let title: String
  /// The statement that the report is not a medical device.
  package let notice: String
  /// Shown if there are no readings.
  package let noReadings: String
  package let earlier: String
  package let later: String
  package let oneDay: String
  package let manyDays: String
  /// The heading of the links to other days.
  package let otherDays: String
  /// Labels of figures and tables.
  package let period: String
  package let calendarDays: String
  package let timeZone: String
  package let unit: String
  package let targetRange: String
  package let figure: String
  package let value: String
  package let number: String
  package let reason: String
  package let date: String
  package let time: String
  package let range: String
  package let limits: String
  package let record: String
  package let ranges: String
  package let percentOfTime: String
  package let timePerDay: String
  package let goal: String
  /// Shown if a goal is reached.
  package let goalMet: String
  /// Shown if a goal is not reached.
  package let goalNotMet: String
  /// Labels of figures and tables.
  package let goals: String
  package let veryLow: String
  package let low: String
  package let target: String
  package let high: String
  package let veryHigh: String
  package let tight: String
  package let sensorFigures: String
  package let readings: String
  package let daysWithReadings: String
  package let activeTime: String
  package let mean: String
  package let deviation: String
  package let variation: String
  package let indicator: String
  package let lowRisk: String
  package let highRisk: String
  package let glycemiaRisk: String
  package let riskZone: String
  package let atLimit: String
  /// The texts for a mean that is only a bound because of LO or HI readings. `{1}` is the mean.
  package let orLower: String
  package let orHigher: String
  package let bounded: String
  package let episodes: String
  package let extendedLow: String
  package let meanDuration: String
  package let profile: String
  /// Explains the profile.
  package let profileMeaning: String
  package let percentiles: String
  package let median: String
  package let daily: String
  package let dailyFigures: String
  /// Shown if the period has more days than pictures. `{1}` is the number of pictures.
  package let dailyLimit: String
  /// Explains the daily curves.
  package let dailyMeaning: String
  /// The description of a daily curve. The arguments are the number of sensor readings, the lowest and the
  /// highest.
  package let dayDescription: String
  /// The description of a day without a curve.
  package let noDayReadings: String
  package let records: String
  package let insulin: String
  package let food: String
  package let exercise: String
  package let note: String
  package let rapid: String
  package let long: String
  package let basal: String
  package let bolus: String
  /// The name of boluses together with doses whose use is unknown.
  package let bolusOrUnknown: String
  package let mixed: String
  package let servings: String
  package let minutes: String
  /// The abbreviation for a unit of insulin.
  package let insulinUnit: String
  package let unitsPerHour: String
  package let sticks: String
  /// Explains why the percentages of finger sticks are of readings and not of time.
  package let sticksMeaning: String
  package let percentOfReadings: String
  package let readingsPerDay: String
  package let readingsPerDayWithAny: String
  package let lowest: String
  package let highest: String
  package let standardDay: String
  /// Explains the picture of all finger sticks by the time of day.
  package let standardDayMeaning: String
  package let middleHalf: String
  package let amounts: String
  package let carbohydrates: String
  package let total: String
  package let perDayWithAny: String
  package let daysWithAny: String
  package let ketones: String
  package let devices: String
  package let device: String
  /// The title of the section about readings that do not count.
  package let leftOut: String
  /// Shown if all readings and records count.
  package let nothingLeftOut: String
  /// The reasons why readings and records do not count; see `text(of:)`.
  package let withdrawn: String
  package let controlSolution: String
  package let calibration: String
  package let doubtfulTime: String
  package let scans: String
  package let overlapping: String
  package let repeated: String
  package let unusable: String
  package let filledIn: String
  package let doubled: String
  package let sensorCopies: String
  package let computed: String
  package let otherSource: String
  package let readingsAndRecords: String
  /// Shown if two sources seem to state the same items. The arguments are the names of both, and the number
  /// of days.
  package let sourceDoubt: String
  /// The constant time difference between two sources. The arguments are its hours and minutes.
  package let sourceShift: String
  /// Follows a record that other sources state as well. The argument is the list of these sources.
  package let alsoIn: String
  package let about: String
  package let program: String
  package let extremesRule: String
  package let sensorsRule: String
  package let shortageRule: String
  package let clockRule: String
  /// The sentence about missing sensor values. The argument is the list of their times.
  package let missing: String
  /// States what is left out of an anonymised report.
  package let anonymised: String
  /// Shown in a report of one selected device. The argument is its name.
  package let onlyDevice: String
  /// Replaces `onlyDevice` in an anonymised report.
  package let oneDevice: String
  /// The reasons why there is no figure; see `text(of:)`.
  package let fewReadings: String
  package let shortTime: String
  package let fewDays: String
  package let littleTime: String
  package let longPeriod: String
  package let meanOutsideFit: String
  package let notSeparate: String
  package let severalSources: String
  package let unknownRates: String
  package let incompleteRates: String
  /// The words of the sheets.
  package let sheet: SheetTexts
}

extension PageTexts {
  /// All languages.
  package static let all = [english, german, spanish, french]

  /// The text with the arguments in place of `{1}`, `{2}` and so on.
  static func fill(_ text: String, _ things: String...) -> String {
    things.enumerated().reduce(text) { $0.replacing("{\($1.offset + 1)}", with: $1.element) }
  }

  /// The colon after a label. French has a blank before it.
  var colon: String { code == "fr" ? "\u{A0}: " : ": " }

  /// The name of a range.
  func name(of band: GlucoseBand) -> String {
    switch band {
    case .veryLow: veryLow
    case .low: low
    case .target: target
    case .high: high
    case .veryHigh: veryHigh
    }
  }

  func name(of kind: EpisodeKind) -> String {
    switch kind {
    case .low: low
    case .veryLow: veryLow
    case .extendedLow: extendedLow
    case .high: high
    case .veryHigh: veryHigh
    }
  }

  /// The reason why readings do not count.
  func text(of reason: LeftOut) -> String {
    switch reason {
    case .withdrawn: withdrawn
    case .controlSolution: controlSolution
    case .calibration: calibration
    case .doubtfulTime: doubtfulTime
    case .scan: scans
    case .overlapping: overlapping
    case .repeated: repeated
    case .unusable: unusable
    case .filledIn: filledIn
    case .doubled: doubled
    case .sensorCopy: sensorCopies
    case .computed: computed
    case .otherSource: otherSource
    }
  }

  /// The reason why there is no figure.
  func text(of shortage: Shortage) -> String {
    // Percentages are rounded down, so that a share below the limit of the rule never looks like one that
    // reaches it.
    switch shortage {
    case .noReadings: noReadings
    case .fewReadings(let readings, let needed): Self.fill(fewReadings, "\(readings)", "\(needed)")
    case .shortTime(let minutes): Self.fill(shortTime, "\(minutes / 60)", "\(minutes % 60)")
    case .fewDays(let days, let needed, let percent):
      Self.fill(fewDays, "\(days)", "\(needed)", "\(Int(percent))")
    case .littleTime(let percent):
      Self.fill(littleTime, "\(Int(percent))", "\(Int(DataRules.activePercent))")
    case .longPeriod(let days): Self.fill(longPeriod, "\(days)", "\(DataRules.maxDays)")
    case .meanOutsideFit: meanOutsideFit
    case .notSeparate: notSeparate
    case .severalSources: severalSources
    case .unknownRates: unknownRates
    case .incompleteRates: incompleteRates
    }
  }
}
