// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The insulin that a comparison of sources is about.
package enum InsulinPart: Hashable, Sendable {
  /// Bolus and premixed insulin, and doses of unknown use.
  case bolus
  /// Basal insulin, as doses or as rates.
  case basal
  /// All insulin, if a source does not state the use of its doses.
  case all
}

struct InsulinUses: OptionSet, Sendable {
  let rawValue: UInt8

  static let bolus = Self(rawValue: 1)
  /// Basal insulin that is given at one time.
  static let basal = Self(rawValue: 2)
  /// A basal rate.
  static let rate = Self(rawValue: 4)
  /// The source does not state the use of the dose.
  static let unknown = Self(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ use: CountableItem.Use) {
    switch use {
    case .bolus, .mixed: self = .bolus
    case .basal: self = .basal
    case .unknown: self = .unknown
    }
  }
}

// MARK: - All insulin of two sources, if one source does not state the use of its doses

/// Some sources state the amounts of doses without their use, such as a table with one column for all
/// insulin. Their doses are compared with the boluses of other sources, but can also be the basal insulin. So
/// on days with doses of unknown use, all insulin of two sources is compared as well.
extension SourceTally {
  /// Whether the amounts of two sources with these uses are compared. In a comparison of all insulin, one
  /// source must have doses of unknown use. Other insulin is compared by its use.
  func fits(_ uses: InsulinUses, _ others: InsulinUses) -> Bool {
    insulin != .all || uses.contains(.unknown) || others.contains(.unknown)
  }

  /// Whether doses with these uses can be one dose. In a comparison of all insulin, one dose is basal insulin
  /// and the other one of unknown use. Doses of unknown use are compared with boluses in another tally.
  func canRepeat(_ uses: InsulinUses, _ others: InsulinUses) -> Bool {
    insulin != .all || uses == .basal && others == .unknown || uses == .unknown && others == .basal
  }

  /// The items of a day that are compared. Rates are left out of all insulin, since rates of two sources
  /// never add up.
  func compared(_ day: Day) -> Day { insulin == .all ? day.withoutRates : day }

  /// Decides whether all insulin of two sources seems to be the same on a day.
  ///
  /// The sources agree if the doses of unknown use repeat the basal doses of the other source, or if the
  /// daily amounts agree. Amounts are only compared if the other source has both basal and other insulin.
  /// Otherwise the doses of unknown use may be the boluses that go with its basal insulin.
  ///
  /// - Parameter common: the days with items that the other source lacks, in both sources.
  mutating func decideAllInsulin(_ day: Int, _ pair: SourcePair, _ common: [(own: Day, other: Day)]) {
    let doses = common.map { (own: $0.own.withoutRates, other: $0.other.withoutRates) }
    let (mine, theirs) = (Self.sum(doses.map(\.own)), Self.sum(doses.map(\.other)))
    let best = bestShift(pair, on: Self.around(day))
    let rates = common.map { ($0.own.rates, $0.other.rates) }
    // A source without rates may state the insulin of a pump's rates as doses.
    let hasRates = rates.contains { $0.0 > 0 } != rates.contains { $0.1 > 0 }
    let basalDoses = max(mine.basalDoses, theirs.basalDoses)
    let isDoubtful =
      isPart(mine, theirs, best, of: basalDoses) || dailyAmountsAgree(hasRates ? common : doses)
    guard isDoubtful else { return }
    compareDay(day, pair, constantShift(best, of: max(basalDoses, Self.minDays)), hasRates: hasRates)
  }

  /// Whether the amounts of two sources agree on at least four fifths of the days, and together.
  private func dailyAmountsAgree(_ days: [(own: Day, other: Day)]) -> Bool {
    let (mine, theirs) = (Self.sum(days.map(\.own)), Self.sum(days.map(\.other)))
    let alike = days.count { unmatchedAmountsAgree($0.own, $0.other) }
    return Self.useIsUnknown(mine, theirs) && alike >= Self.minDays && alike * 5 >= days.count * 4
      && unmatchedAmountsAgree(mine, theirs)
  }

  /// Whether one source has doses of unknown use, and the other one both basal and other insulin.
  static func useIsUnknown(_ own: Day, _ other: Day) -> Bool {
    own.unmatchedUses.contains(.unknown) && other.hasBasalAndOtherInsulin
      || other.unmatchedUses.contains(.unknown) && own.hasBasalAndOtherInsulin
  }
}

extension SourceTally.Day {
  fileprivate var hasBasalAndOtherInsulin: Bool {
    !uses.isDisjoint(with: [.basal, .rate]) && !uses.isDisjoint(with: [.bolus, .unknown])
  }

  /// The day without its basal rates. No other source has the same rates as items, so all of them are
  /// unmatched.
  var withoutRates: Self {
    var day = self
    day.total -= rateAmount
    day.unmatched -= rateAmount
    day.items -= rates
    day.counted -= rates
    (day.rates, day.rateAmount) = (0, 0)
    day.uses.remove(.rate)
    day.unmatchedUses.remove(.rate)
    return day
  }
}
