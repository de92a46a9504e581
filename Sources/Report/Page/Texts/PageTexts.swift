// SPDX-License-Identifier: Apache-2.0

/// The words of a report in one language. `{1}` stands for the first thing that is put in, and so on.
package struct PageTexts: Sendable {
  /// The language as HTML names it.
  package let code: String
  /// The sign between a number and its decimals.
  package let mark: String
  /// The days of the week from Monday on.
  package let weekdays: [String]
  /// The title.
  package let title: String
  /// What the report is not.
  package let notice: String
  /// Said where there is nothing.
  package let noReadings: String
  /// A link.
  package let earlier: String
  /// A link.
  package let later: String
  /// A link.
  package let oneDay: String
  /// A link.
  package let manyDays: String
  /// The name of the links.
  package let otherDays: String
  /// A label.
  package let period: String
  /// A label.
  package let calendarDays: String
  /// A label.
  package let timeZone: String
  /// A label.
  package let unit: String
  /// A label.
  package let targetRange: String
  /// The head of a column.
  package let figure: String
  /// The head of a column.
  package let value: String
  /// The head of a column.
  package let number: String
  /// The head of a column.
  package let reason: String
  /// The head of a column.
  package let date: String
  /// The head of a column.
  package let time: String
  /// The head of a column.
  package let range: String
  /// The head of a column.
  package let limits: String
  /// The head of a column.
  package let record: String
  /// The title of a section.
  package let ranges: String
  /// The head of a column.
  package let percentOfTime: String
  /// The head of a column.
  package let timePerDay: String
  /// The head of a column.
  package let goal: String
  /// Said of a goal.
  package let goalMet: String
  /// Said of a goal.
  package let goalNotMet: String
  /// A note on goals.
  package let goalsWithBelow: String
  /// A label.
  package let goals: String
  /// A range.
  package let veryLow: String
  /// A range.
  package let low: String
  /// A range.
  package let target: String
  /// A range.
  package let high: String
  /// A range.
  package let veryHigh: String
  /// A range.
  package let tight: String
  /// The title of a section.
  package let sensorFigures: String
  /// A label.
  package let readings: String
  /// A label.
  package let daysWithReadings: String
  /// A label.
  package let activeTime: String
  /// A label.
  package let mean: String
  /// A label.
  package let deviation: String
  /// A label.
  package let variation: String
  /// A label.
  package let indicator: String
  /// A label.
  package let lowRisk: String
  /// A label.
  package let highRisk: String
  /// A label.
  package let glycemiaRisk: String
  /// The zone of a risk index.
  package let riskZone: String
  /// A label.
  package let atLimit: String
  /// Said of a mean that is a bound.
  package let orLower: String
  /// Said of a mean that is a bound.
  package let orHigher: String
  /// Said of a mean that is a bound.
  package let bounded: String
  /// The caption of a table.
  package let episodes: String
  /// A kind of episodes.
  package let extendedLow: String
  /// The head of a column.
  package let meanDuration: String
  /// The title of a section.
  package let profile: String
  /// What the profile shows.
  package let profileMeaning: String
  /// The caption of a table.
  package let percentiles: String
  /// A label.
  package let median: String
  /// The title of a section.
  package let daily: String
  /// The caption of a table.
  package let dailyFigures: String
  /// Said where there are more days.
  package let dailyLimit: String
  /// What the daily curves show.
  package let dailyMeaning: String
  /// What a daily curve shows: sensor readings, lowest, highest.
  package let dayDescription: String
  /// What a day without a curve shows.
  package let noDayReadings: String
  /// The caption of a table.
  package let records: String
  /// A kind of records.
  package let insulin: String
  /// A kind of records.
  package let food: String
  /// A kind of records.
  package let exercise: String
  /// A kind of records.
  package let note: String
  /// A kind of insulin.
  package let rapid: String
  /// A kind of insulin.
  package let long: String
  /// A kind of insulin.
  package let basal: String
  /// A kind of insulin.
  package let bolus: String
  /// A kind of insulin.
  package let mixed: String
  /// An amount of food.
  package let servings: String
  /// An amount of time.
  package let minutes: String
  /// A rate of insulin.
  package let unitsPerHour: String
  /// The title of a section.
  package let sticks: String
  /// What finger sticks do not say.
  package let sticksMeaning: String
  /// The head of a column.
  package let percentOfReadings: String
  /// A label.
  package let readingsPerDay: String
  /// A label.
  package let readingsPerDayWithAny: String
  /// A label.
  package let lowest: String
  /// A label.
  package let highest: String
  /// The title of a picture.
  package let standardDay: String
  /// What the picture shows.
  package let standardDayMeaning: String
  /// The head of a column.
  package let middleHalf: String
  /// The title of a section.
  package let amounts: String
  /// A label.
  package let carbohydrates: String
  /// The head of a column.
  package let total: String
  /// The head of a column.
  package let perDayWithAny: String
  /// The head of a column.
  package let daysWithAny: String
  /// A label.
  package let ketones: String
  /// The title of a section.
  package let devices: String
  /// The head of a column.
  package let device: String
  /// The head of a column.
  package let serialNumber: String
  /// The title of a section.
  package let leftOut: String
  /// Said where everything counts.
  package let nothingLeftOut: String
  /// Why readings do not count.
  package let withdrawn: String
  /// Why readings do not count.
  package let controlSolution: String
  /// Why readings do not count.
  package let calibration: String
  /// Why readings do not count.
  package let doubtfulTime: String
  /// Why readings do not count.
  package let scans: String
  /// Why readings do not count.
  package let overlapping: String
  /// Why readings do not count.
  package let repeated: String
  /// Why readings do not count.
  package let unusable: String
  /// Why readings do not count.
  package let filledIn: String
  /// Why readings and records do not count.
  package let doubled: String
  /// Why finger sticks do not count.
  package let sensorCopies: String
  /// Why readings and records do not count.
  package let otherSource: String
  /// The head of a column.
  package let readingsAndRecords: String
  /// Said where two sources seem to state the same: both, and the days.
  package let sourceDoubt: String
  /// The constant time between two sources.
  package let sourceShift: String
  /// Said of a record that other sources state, too: their names.
  package let alsoIn: String
  /// The title of a section.
  package let about: String
  /// What made the report.
  package let program: String
  /// A rule.
  package let extremesRule: String
  /// A rule.
  package let sensorsRule: String
  /// A rule.
  package let shortageRule: String
  /// A rule.
  package let clockRule: String
  /// Said of an anonymised report.
  package let anonymised: String
  /// Said where one device was chosen.
  package let onlyDevice: String
  /// Said instead in an anonymised report.
  package let oneDevice: String
  /// Why there is no figure.
  package let fewReadings: String
  /// Why there is no figure.
  package let shortTime: String
  /// Why there is no figure.
  package let fewDays: String
  /// Why there is no figure.
  package let littleTime: String
  /// Why there is no figure.
  package let longPeriod: String
  /// Why there is no figure.
  package let meanOutsideFit: String
  /// Why there is no figure.
  package let notSeparate: String
  /// Why there is no figure.
  package let severalSources: String
}

extension PageTexts {
  /// The languages that there are.
  package static let all = [english, german, spanish, french]

  /// A text with things put in.
  static func fill(_ text: String, _ things: String...) -> String {
    things.enumerated().reduce(text) { $0.replacing("{\($1.offset + 1)}", with: $1.element) }
  }

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

  /// The name of a kind of episodes.
  func name(of kind: EpisodeKind) -> String {
    switch kind {
    case .low: low
    case .veryLow: veryLow
    case .extendedLow: extendedLow
    case .high: high
    case .veryHigh: veryHigh
    }
  }

  /// Why readings do not count.
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
    case .otherSource: otherSource
    }
  }

  /// Why there is no figure.
  func text(of shortage: Shortage) -> String {
    // Rounded down: a part that falls short of the rule never reads as if it met it.
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
    }
  }
}
