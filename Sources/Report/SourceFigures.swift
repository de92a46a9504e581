// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// How many items were left out because another source states them, too: of one kind, and of one pair of sources.
package struct DoubledItems: Hashable, Sendable {
  /// The kind of the items.
  package let kind: CountableItem.Kind
  /// The source that is left out.
  package let source: CountingSource
  /// The source that counts in its place.
  package let counted: CountingSource
  /// Whether they are finger sticks that are the own values of that source, a sensor.
  package var isSensorValue = false
  /// How many items.
  package internal(set) var items: Int
}

/// What one source states of bolus insulin, carbohydrates or finger sticks.
package struct SourceAmount: Hashable, Sendable {
  /// The source.
  package let source: CountingSource
  /// All of it, in units, grams or readings, whether it counts or not.
  package let total: Double
  /// The days that have any.
  package let days: Int

  /// The mean over the days that have any.
  package var perDay: Double { total / Double(max(1, days)) }
}

/// Two sources that seem to state the same doses, meals or finger sticks in a way that no rule can match: minutes apart, with rounded
/// amounts, or by a clock that is an hour off. Nothing is left out; a person decides.
package struct SourceDoubt: Hashable, Sendable {
  /// Insulin, food or finger sticks.
  package let kind: CountableItem.Kind
  /// Whether it is basal insulin, of doses or of rates.
  package var isBasal = false
  /// What the one states on the days on which both have any.
  package let first: SourceAmount
  /// What the other states on these days.
  package let second: SourceAmount
  /// By how many seconds most amounts of the second come later; nil where no constant time lies between them.
  package let shiftSeconds: Int64?

  /// The days on which both have any.
  package var days: Int { first.days }
}

/// The days on which two sources seem to state the same, so that nothing adds up what they state.
struct DoubtfulDays: Sendable {
  /// Of bolus insulin.
  var bolus: Set<Int> = []
  /// Of basal insulin.
  var basal: Set<Int> = []
  /// Of carbohydrates.
  var food: Set<Int> = []
  /// Of finger sticks.
  var sticks: Set<Int> = []
}
