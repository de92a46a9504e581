// SPDX-License-Identifier: Apache-2.0

import LogbookStore
import Testing

@Suite struct IngestCountsTests {
  private static var counts: IngestCounts {
    var counts = IngestCounts()
    (counts.newReadings, counts.knownReadings, counts.withdrawnReadings) = (1, 2, 3)
    (counts.restoredReadings, counts.repeatedReadings, counts.changedReadings) = (4, 5, 6)
    (counts.correctedReadings, counts.newRecords, counts.knownRecords) = (7, 8, 9)
    (counts.repeatedRecords, counts.updatedRecords, counts.keptRecords) = (10, 11, 12)
    (counts.rejected, counts.ambiguousTimes, counts.doubtfulTimes) = (13, 14, 15)
    (counts.periodItems, counts.movedItems, counts.repeatedAmounts) = (16, 17, 18)
    (counts.deletedRecords, counts.withdrawnRecords) = (19, 20)
    (counts.notTaken, counts.skipped, counts.newByKind) = (["a": 1], ["b": 2], ["cbg": 3])
    counts.equalRows = ["d": 4]
    (counts.firstTime, counts.lastTime) = (100, 200)
    return counts
  }

  /// The summary of an imported folder is such a sum. A count that the sum omits would be missing in the
  /// summary.
  @Test func theSumOfImportCountsContainsEveryCount() {
    var sum = Self.counts
    sum += Self.counts
    let pairs = zip(Mirror(reflecting: Self.counts).children, Mirror(reflecting: sum).children)
    for (one, two) in pairs {
      if let number = one.value as? Int {
        #expect(number > 0 && two.value as? Int == 2 * number, "\(one.label ?? "")")
      } else if let names = one.value as? [String: Int] {
        #expect(
          !names.isEmpty && two.value as? [String: Int] == names.mapValues { 2 * $0 }, "\(one.label ?? "")")
      }
    }
    #expect(sum.firstTime == 100 && sum.lastTime == 200)
    var moved = IngestCounts()
    (moved.moved.count, moved.moved.example) = (3, "a time")
    sum += moved
    sum += moved
    #expect(sum.moved.count == 6 && sum.moved.example == "a time")
  }

  @Test func theSumOfImportCountsContainsAllTimesAndNames() {
    var sum = IngestCounts()
    sum += IngestCounts()
    #expect(sum == IngestCounts())
    sum += Self.counts
    #expect(sum == Self.counts)
    var other = IngestCounts()
    (other.firstTime, other.lastTime, other.skipped) = (50, 150, ["c": 1])
    sum += other
    #expect(sum.firstTime == 50 && sum.lastTime == 200 && sum.skipped == ["b": 2, "c": 1])
  }
}
