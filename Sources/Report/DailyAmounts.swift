// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The total of one kind of amount, such as insulin, and its mean over the days that have any of it.
package struct DailyAmount: Sendable {
  /// The total of all added amounts. It is calculated even if `sum` is nil.
  package private(set) var total = 0.0
  /// Why `sum` is nil; nil if there is a sum.
  package private(set) var shortage: Shortage?
  /// The number of records whose amounts are in the total.
  package private(set) var records = 0
  private var days = DaySet()
  /// The number of days with an amount on which the basal rates are known for only a part of the day.
  package private(set) var partialDays = 0

  /// The number of calendar days with an amount.
  package var daysWithAny: Int { days.count }

  /// The total; nil if it would be wrong. This is the case if two sources seem to state the same doses or
  /// meals, or if some basal insulin is unknown.
  package var sum: Double? { shortage == nil ? total : nil }

  /// The mean over the days with an amount.
  package var perDay: Metric {
    if let shortage { return .absent(shortage) }
    return days.count > 0 ? .value(total / Double(days.count)) : .absent(.noReadings)
  }

  init() {}

  /// Removes the sum if two sources seem to state the same doses or meals on one of these days.
  mutating func withholdSum(on doubtful: Set<Int>) {
    if days.intersects(doubtful) { shortage = .severalSources }
  }

  /// Removes the sum if the data lack basal insulin on one of these days.
  mutating func withholdIncomplete(_ incomplete: Set<Int>) {
    if shortage == nil, days.intersects(incomplete) { shortage = .incompleteRates }
  }

  /// Counts the days with an amount among the days whose basal rates are only known in part.
  mutating func countPartialDays(among partial: Set<Int>) { partialDays = days.count(in: partial) }

  /// Removes the sum, since the total lacks a basal rate whose amount is unknown.
  mutating func withholdUnknownRate() { shortage = .unknownRates }

  /// Adds an amount. A day with only 0, for example with a stopped pump, is not a day with an amount.
  mutating func add(_ amount: Double, day: Int) {
    guard amount > 0 else { return }
    total += amount
    records += 1
    days.insert(day)
  }
}

/// Encodes the total, the number of its records, and the mean over the days with an amount, as `stats --json`
/// prints them.
extension DailyAmount: Encodable {
  private enum CodingKeys: String, CodingKey { case total, records, daysWithAny, perDay }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(sum.map(Metric.decimals), forKey: .total)
    try container.encode(records, forKey: .records)
    try container.encode(daysWithAny, forKey: .daysWithAny)
    try container.encode(perDay, forKey: .perDay)
  }
}

/// The insulin and the carbohydrates of a group of the statistics, such as a day.
package struct DailyAmounts: Sendable {
  /// All insulin, in units.
  package private(set) var insulin = DailyAmount()
  /// Long-acting insulin and basal rates.
  package private(set) var basal = DailyAmount()
  /// Rapid-acting insulin, and doses without a known type.
  package private(set) var bolus = DailyAmount()
  /// The number of doses in `bolus` without a known type. Some of them may be long-acting insulin.
  package private(set) var dosesOfUnknownUse = 0
  /// Premixed insulin, which is both basal and bolus.
  package private(set) var mixed = DailyAmount()
  /// The number of insulin records without an amount, such as a basal rate in percent, or with an invalid
  /// number.
  package private(set) var insulinWithoutAmount = 0
  /// Grams of carbohydrates.
  package private(set) var carbohydrates = DailyAmount()
  /// Servings of unknown size, which are never converted to grams.
  package private(set) var servings = DailyAmount()

  init() {}

  /// Whether all insulin is bolus insulin. Some exports of pumps lack the basal rates, so the sum of boluses
  /// could be mistaken for all insulin of a day. Reports therefore state that basal insulin is missing.
  package var hasOnlyBoluses: Bool {
    bolus.records > 0 && basal.records + mixed.records + dosesOfUnknownUse == 0 && insulin.shortage == nil
  }

  /// Whether there is no amount.
  var isEmpty: Bool {
    insulin.records + insulinWithoutAmount + carbohydrates.records + servings.records == 0
  }

  mutating func add(_ dose: InsulinDose) {
    guard let units = dose.units else {
      insulinWithoutAmount += 1
      if dose.subtype == "basal" {
        insulin.withholdUnknownRate()
        basal.withholdUnknownRate()
      }
      return
    }
    insulin.add(units, day: dose.day)
    switch dose.subtype {
    case "basal", "long": basal.add(units, day: dose.day)
    case "mix": mixed.add(units, day: dose.day)
    default:
      bolus.add(units, day: dose.day)
      if dose.subtype != "rapid" { dosesOfUnknownUse += 1 }
    }
  }

  /// The name of `bolus` in text.
  package var bolusName: String { dosesOfUnknownUse > 0 ? "bolus or unknown use" : "bolus" }

  /// Removes the sums that include days on which two sources seem to state the same doses or meals.
  mutating func withholdSums(on doubtful: DoubtfulDays) {
    insulin.withholdSum(on: doubtful.bolus.union(doubtful.basal))
    bolus.withholdSum(on: doubtful.bolus)
    // Premixed insulin of two sources is compared together with their boluses.
    mixed.withholdSum(on: doubtful.bolus)
    basal.withholdSum(on: doubtful.basal)
    carbohydrates.withholdSum(on: doubtful.food)
  }

  /// Removes the sums that lack the basal insulin between the temporary rates of these days.
  mutating func withholdIncompleteRates(on days: Set<Int>) {
    insulin.withholdIncomplete(days)
    basal.withholdIncomplete(days)
  }

  /// Counts the days whose basal rates are known in part. A mean per day that includes such days is too
  /// small.
  mutating func countPartialDays(among partial: Set<Int>) {
    insulin.countPartialDays(among: partial)
    basal.countPartialDays(among: partial)
  }

  mutating func add(food fields: RecordFields, day: Int) {
    if let grams = fields.amount("carbs") { carbohydrates.add(grams, day: day) }
    if let number = fields.amount("servings") { servings.add(number, day: day) }
  }
}

/// A dose of insulin, or the total of a basal rate.
struct InsulinDose: Sendable {
  let subtype: String
  /// The dose in units; nil for a record without an amount.
  let units: Double?
  let day: Int
}

/// A basal rate that runs until its end, or until the next one begins. All insulin of the rate counts on the
/// day on which the rate began.
struct BasalRate: Sendable {
  private let unitsPerHour: Double?
  /// The units from start to end, if the source states these instead of a rate.
  private let delivered: Double?
  let start: Int64
  let end: Int64
  private let hasDuration: Bool
  private let subtype: String
  private let day: Int
  let group: Int?

  /// Parses the basal rate in the fields of a record; nil for a dose that is given at one time.
  init?(_ fields: RecordFields, instant: Int64, day: Int, group: Int?) {
    let (minutes, rate) = (fields.amount("minutes"), fields.amount("rate"))
    let isBasal = fields.subtype == "basal"
    guard fields.amount("extended") == nil, isBasal || rate != nil else { return nil }
    delivered = fields.amount("units")
    if delivered != nil, !isBasal || minutes ?? 0 <= 0 { return nil }
    unitsPerHour = rate
    start = instant
    hasDuration = minutes != nil
    end = instant + Int64((min(minutes ?? 0, PlausibleAmounts.minutes.upperBound) * 60).rounded())
    subtype = fields.subtype.isEmpty ? "basal" : fields.subtype
    (self.day, self.group) = (day, group)
  }

  /// The insulin that the rate amounts to until `next`, the instant of the next rate. It has no amount if the
  /// rate is not a number or has no duration. A rate of 0 is 0 units, and so is a record that only ends the
  /// rate before it.
  func dose(until next: Int64?) -> InsulinDose {
    let seconds = max(0, min(end, next ?? end) - start)
    if let delivered {
      let part = end > start ? Double(seconds) / Double(end - start) : 1
      return InsulinDose(subtype: subtype, units: delivered * part, day: day)
    }
    let isMeasured = unitsPerHour == 0 || hasDuration
    let units = unitsPerHour.flatMap { isMeasured ? $0 * Double(seconds) / 3600 : nil }
    return InsulinDose(subtype: subtype, units: units, day: day)
  }
}
