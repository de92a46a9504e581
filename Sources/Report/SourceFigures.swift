// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The number of items of one kind that one source states and that were left out, since another source has
/// them, too.
package struct DoubledItems: Hashable, Sendable {
  package let kind: CountableItem.Kind
  /// The source that is left out.
  package let source: CountingSource
  /// The source that counts instead.
  package let counted: CountingSource
  /// Whether the items are finger sticks that repeat values of `counted`, which is a sensor.
  package var isSensorValue = false
  /// Whether `counted` states the items with other amounts.
  package var hasOtherAmount = false
  /// Whether the items are other states of items that a person edited; see `EditedItems`.
  package var isEdited = false
  /// Whether the items are computed meals of `counted` itself; see `ComputedMeals`.
  package var isComputed = false
  /// The number of items.
  package internal(set) var items: Int
}

/// The amounts of one source: of bolus insulin, basal insulin, carbohydrates or finger sticks.
package struct SourceAmount: Hashable, Sendable {
  package let source: CountingSource
  /// The total in units, grams or readings, including amounts that do not count.
  package let total: Double
  /// The number of days with an amount.
  package let days: Int

  /// The mean over the days with an amount.
  package var perDay: Double { total / Double(max(1, days)) }
}

/// Two sources that seem to state the same doses, meals or finger sticks in a way that no rule can match.
/// Their items may be minutes apart or have rounded amounts, or a clock may be an hour wrong. Nothing is left
/// out until a person decides.
package struct SourceDoubt: Hashable, Sendable {
  /// The kind of the items: insulin, food or finger sticks.
  package let kind: CountableItem.Kind
  /// The difference between two doses at one time that seem to be the same dose.
  package enum DoseDifference: Hashable, Sendable {
    /// One source has basal insulin, the other a bolus.
    case use
    /// One of the doses lacks the extended part, which is given over time.
    case part
  }

  /// The insulin that both sources seem to state.
  package var insulin = InsulinPart.bolus
  /// The difference between doses at one time; nil if the doubt comes from totals or from equal amounts.
  package var doseDifference: DoseDifference?
  /// The amounts of the first source on the days on which both sources have amounts.
  package let first: SourceAmount
  /// The amounts of the second source on the days on which both sources have amounts.
  package let second: SourceAmount
  /// By how many seconds most amounts of the second source are later than those of the first; nil if the
  /// difference is not constant.
  package let shiftSeconds: Int64?

  /// Whether the items are basal insulin, as doses or as rates.
  package var isBasal: Bool { insulin == .basal }
  /// Whether the items are all insulin, since one source does not state the use of its doses.
  package var isAllInsulin: Bool { insulin == .all }
  /// The number of days on which both sources have amounts.
  package var days: Int { first.days }
}

/// The days on which two sources seem to state the same items, so that their amounts must not be added up.
struct DoubtfulDays: Sendable {
  /// The days on which amounts of bolus insulin are doubtful.
  var bolus: Set<Int> = []
  /// The days on which amounts of basal insulin are doubtful.
  var basal: Set<Int> = []
  /// The days on which amounts of carbohydrates are doubtful.
  var food: Set<Int> = []
  /// The days on which numbers of finger sticks are doubtful.
  var sticks: Set<Int> = []
}
