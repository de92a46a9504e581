// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The results of one ingest, as counts of its items.
package struct IngestCounts: Equatable, Sendable {
  /// The number of readings that this import added to the store.
  package var newReadings = 0
  /// The number of readings that were in the store already, from this or another source of the same device.
  package var knownReadings = 0
  /// The number of known readings that a withdrawal hides and that stay hidden after this import.
  package var withdrawnReadings = 0
  /// The number of hidden readings that became visible again because this import contains them.
  package var restoredReadings = 0
  /// The number of readings that occur more than once in this input. Each was stored once.
  package var repeatedReadings = 0
  /// The number of readings for which the source stated another value earlier. The store keeps the first
  /// value, and lists the other value as a revision.
  package var changedReadings = 0
  /// The number of hand-typed readings that this input corrects or contains a second time. A withdrawal was
  /// written for each of them.
  package var correctedReadings = 0
  /// The number of records that this import added to the store.
  package var newRecords = 0
  /// The number of records that were in the store already with the same content.
  package var knownRecords = 0
  /// The number of rows that are equal to an earlier row of this input.
  package var repeatedRecords = 0
  /// The numbers of further equal rows of doses and meals, by the guids of their records. Each is counted in
  /// `repeatedRecords`, and may be a second equal dose or meal in the same minute.
  package var equalRows: [String: Int] = [:]
  /// The number of rows in `equalRows` that no earlier import had.
  package var repeatedAmounts = 0
  /// The number of records that were updated, since their row changed at the source.
  package var updatedRecords = 0
  /// The number of records that keep their content although the source changed the row. This happens if a
  /// person edited or deleted them, or if their content comes from a later export.
  package var keptRecords = 0
  /// The number of records of an undone input that stay hidden. They are also counted as known or kept.
  package var withdrawnRecords = 0
  /// The number of records that the source states as deleted and that this import hid. They are also counted
  /// as new, known or updated.
  package var deletedRecords = 0
  /// The number of rejected readings and records.
  package var rejected = 0
  /// The numbers of rejected items, by reason.
  package var notTaken: [String: Int] = [:]
  /// The numbers of items of kinds that glucoport does not support, by the name of the kind.
  package var skipped: [String: Int] = [:]
  /// The number of readings whose shown time a clock change skipped or repeated.
  package var ambiguousTimes = 0
  /// The number of readings whose shown time is implausible.
  package var doubtfulTimes = 0
  /// The number of items that did not get the zone given for this import, because they belong to a period
  /// with another zone. An earlier import had given them the same zone as this import, and a person stated
  /// the period after that.
  package var periodItems = 0
  /// The number of items of earlier imports that are also in this input, and whose instants changed because
  /// of the zone given for this input.
  package var movedItems = 0
  /// Counts the times in another store's export for which the zones of this store yield another instant than
  /// the export states.
  package var moved = MovedTimes()
  /// The numbers of new readings, by the name of their kind, such as `cbg`.
  package var newByKind: [String: Int] = [:]
  /// The first shown time of all readings in the input, in civil seconds.
  package var firstTime: Int64?
  /// The last shown time of all readings in the input, in civil seconds.
  package var lastTime: Int64?
  /// The first shown time, in civil seconds, of items with a counted amount (doses, meals, finger sticks,
  /// ketones) in batches that contain new items.
  package var firstCounted: Int64?
  /// The last shown time, in civil seconds, of the items that `firstCounted` describes.
  package var lastCounted: Int64?

  /// Set if earlier imports name accounts, but none of them is the account that made this export.
  package var newAccount: NewAccount?

  /// An import whose export was made by an account that no earlier import names.
  package struct NewAccount: Equatable, Sendable {
    /// The number of an earlier import whose export another account made.
    package let former: Int64
    /// The number of this import.
    package let ingest: Int64
  }

  /// The counts of an ingest without items.
  package init() {}

  /// The number of all readings in the input.
  package var readings: Int { newReadings + knownReadings + repeatedReadings + changedReadings }
  /// The number of all records in the input.
  package var records: Int { newRecords + knownRecords + repeatedRecords + updatedRecords + keptRecords }

  /// Adds the counts of another ingest.
  package static func += (sum: inout Self, other: Self) {
    for count in summed { sum[keyPath: count] += other[keyPath: count] }
    for count in summedByName { sum[keyPath: count].merge(other[keyPath: count], uniquingKeysWith: +) }
    sum.firstTime = [sum.firstTime, other.firstTime].compactMap(\.self).min()
    sum.lastTime = [sum.lastTime, other.lastTime].compactMap(\.self).max()
    sum.newAccount = sum.newAccount ?? other.newAccount
    if sum.moved.count == 0 { sum.moved.example = other.moved.example }
    sum.moved.count += other.moved.count
    for time in [other.firstCounted, other.lastCounted].compactMap(\.self) {
      sum.extendCountedRange(to: time)
    }
  }

  /// Adds equal rows of doses and meals. After `maxEqualRows` records, further ones are not added.
  mutating func add(equalRows: [String: Int]) {
    for (guid, rows) in equalRows where self.equalRows.count < Self.maxEqualRows {
      self.equalRows[guid, default: 0] += rows
    }
  }

  /// The maximum number of records in `equalRows`, so that the row of the import stays small.
  private static let maxEqualRows = 1000

  mutating func extendCountedRange(to time: Int64) {
    firstCounted = min(firstCounted ?? time, time)
    lastCounted = max(lastCounted ?? time, time)
  }

  private static var summed: [WritableKeyPath<Self, Int>] {
    [
      \.newReadings, \.knownReadings, \.withdrawnReadings, \.restoredReadings, \.repeatedReadings,
      \.changedReadings, \.correctedReadings, \.newRecords, \.knownRecords, \.repeatedRecords,
      \.updatedRecords, \.keptRecords, \.rejected, \.ambiguousTimes, \.doubtfulTimes,
      \.periodItems, \.movedItems, \.repeatedAmounts, \.withdrawnRecords, \.deletedRecords,
    ]
  }

  private static var summedByName: [WritableKeyPath<Self, [String: Int]>] {
    [\.notTaken, \.skipped, \.newByKind, \.equalRows]
  }

  /// Counts rejected items by reason. Reasons contain no values, so there are few different ones.
  mutating func countRejections(_ rejections: [Rejection]) {
    rejected += rejections.count
    for rejection in rejections { notTaken[rejection.reason, default: 0] += 1 }
  }
}

/// The days on which one input had two different sensor values at one shown time.
struct DoubledTimes {
  private struct DoubledDay {
    var first: DeviceTime
    var last: DeviceTime
    var count = 0
    var isClockSetBack = false
  }

  /// The maximum number of days that messages list; further days are only counted.
  private static let maxNamed = 20

  private var days: [Int64: DoubledDay] = [:]

  mutating func add(_ time: DeviceTime, _ isClockSetBack: Bool) {
    let number = DeviceTime.day(of: time.seconds)
    var day = days[number] ?? DoubledDay(first: time, last: time)
    (day.first, day.last) = (min(day.first, time), max(day.last, time))
    day.count += 1
    day.isClockSetBack = day.isClockSetBack || isClockSetBack
    days[number] = day
  }

  var sentences: [String] {
    let named = days.sorted { $0.key < $1.key }.prefix(Self.maxNamed).map { sentence($0.value) }
    let more = days.count - named.count
    return more > 0
      ? named + ["two different values at one time on \(counted(more, "more day")); all are stored"] : named
  }

  private func sentence(_ day: DoubledDay) -> String {
    let date = day.first.text.prefix(10)
    let (first, last) = (day.first.text.dropFirst(11).prefix(5), day.last.text.dropFirst(11).prefix(5))
    guard day.count > 1 else {
      return "\(date): two different sensor values at \(first); both are stored"
    }
    return "\(date): two different sensor values at each of \(day.count) times from \(first) to \(last)"
      + (day.isClockSetBack ? ", since the device's clock was set back" : "") + "; all are stored"
  }
}
