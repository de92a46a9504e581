// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The number of items of one kind that were left out because another source states them, too, for one pair
/// of sources.
package struct DoubledItems: Hashable, Sendable {
  /// The kind of the items.
  package let kind: CountableItem.Kind
  /// The source that is left out.
  package let source: CountingSource
  /// The source that counts instead.
  package let counted: CountingSource
  /// Whether they are finger sticks that are the own values of that source, a sensor.
  package var isSensorValue = false
  /// The number of items.
  package internal(set) var items: Int
}

/// The amounts of one source: of bolus insulin, carbohydrates or finger sticks.
package struct SourceAmount: Hashable, Sendable {
  /// The source.
  package let source: CountingSource
  /// The total in units, grams or readings, whether it counts or not.
  package let total: Double
  /// The number of days that have any.
  package let days: Int

  /// The mean over the days that have any.
  package var perDay: Double { total / Double(max(1, days)) }
}

/// Two sources that seem to state the same doses, meals or finger sticks in a way that no rule can match.
/// They may be minutes apart, have rounded amounts, or a clock that is an hour wrong. Nothing is left out; a
/// person decides.
package struct SourceDoubt: Hashable, Sendable {
  /// Insulin, food or finger sticks.
  package let kind: CountableItem.Kind
  /// In what way doses at one time differ that seem to be one.
  package enum Unlike: Hashable, Sendable {
    /// One source has basal insulin, the other a bolus.
    case use
    /// One source lacks the part that is given over time.
    case part
  }

  /// Whether it is basal insulin, of doses or of rates.
  package var isBasal = false
  /// Set for doses at one time; nil where totals or amounts are compared.
  package var unlike: Unlike?
  /// What the one states on the days on which both have any.
  package let first: SourceAmount
  /// The amounts of the second source on these days.
  package let second: SourceAmount
  /// By how many seconds most amounts of the second come later; nil if the difference is not constant.
  package let shiftSeconds: Int64?

  /// The number of days on which both have any.
  package var days: Int { first.days }
}

/// The days on which two sources seem to state the same, so that their amounts must not be added up.
struct DoubtfulDays: Sendable {
  /// For bolus insulin.
  var bolus: Set<Int> = []
  /// For basal insulin.
  var basal: Set<Int> = []
  /// For carbohydrates.
  var food: Set<Int> = []
  /// For finger sticks.
  var sticks: Set<Int> = []
}
