// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

/// Tests items that two sources state with different amounts.
struct OtherAmountTests {
  typealias Sample = CountingSample
  private static let day: Int64 = 86400

  /// Equal doses of the diary and the phone, one each day at this number of seconds after the beginning of a
  /// minute.
  private static func equal(_ days: Range<Int64>, at seconds: Int64 = 33) -> [CountableItem?] {
    days.flatMap { day in
      [Sample.diary, Sample.phone].map { Sample.dose(2, at: day * Self.day + seconds, $0) }
    }
  }

  /// A dose of each source at one second of the given day.
  private static func corrected(_ day: Int64, at seconds: Int64 = 3633) -> [CountableItem?] {
    let time = day * Self.day + seconds
    return [
      Sample.dose(7, at: time, Sample.diary, id: "new \(day)"),
      Sample.dose(5, at: time, Sample.phone, id: "old \(day)"),
    ]
  }

  private static func ids(_ items: [CountableItem?]) -> Set<String> {
    Set(countedWithCopies(items).kept.map(\.id))
  }

  @Test func aDoseThatASourceStatesWithAnOlderAmountCountsOnce() {
    let result = countedWithCopies(Self.equal(0..<10) + Self.corrected(4))
    #expect(result.kept.count == 11 && result.leftOut["old 4"] == "new 4")
    #expect(result.verdicts["old 4"] == .otherAmount("new 4", Sample.diary))
    guard case .counts(let others)? = result.verdicts["new 4"] else { return #expect(Bool(false)) }
    #expect(others.map(\.source) == [Sample.phone] && others.map(\.hasOtherAmount) == [true])
  }

  /// A person often sees two equal rows and edits the one that does not count.
  @Test func theAmountThatAPersonEditedCounts() {
    let time = 4 * Self.day + 3633
    func counted(_ diary: Int64?, _ phone: Int64?) -> Set<String> {
      let doses = [
        Sample.dose(7, at: time, Sample.diary, id: "diary", editedAt: diary),
        Sample.dose(5, at: time, Sample.phone, id: "phone", editedAt: phone),
      ]
      return Self.ids(Self.equal(0..<10) + doses).intersection(["diary", "phone"])
    }
    #expect(counted(nil, 5) == ["phone"])
    #expect(counted(5, nil) == ["diary"])
    #expect(counted(5, 6) == ["phone"])
    #expect(counted(6, 5) == ["diary"])
    #expect(counted(nil, nil) == ["diary"])
  }

  @Test func mealsAndFingerSticksWithAnOlderAmountCountOnce() {
    let meals = [Sample.meal(75, at: 3633, Sample.diary), Sample.meal(55, at: 3633, Sample.phone)]
    #expect(countedWithCopies(Self.equal(0..<10) + meals).leftOut.count == 11)
    let phone = Device(vendor: "Apple", model: "iPhone", format: "apple-health")
    let sticks = (0..<10 as Range<Int64>).flatMap { day in
      [Sample.app, phone].map { Sample.stick(100, at: day * Self.day + 33, $0) }
    }
    let corrected = [Sample.stick(45, at: 3633, phone), Sample.stick(145, at: 3633, Sample.app)]
    let result = countedWithCopies(sticks + corrected)
    #expect(result.kept.count == 11 && result.kept.contains { $0.instant == corrected[1]?.instant })
  }

  /// Two sources that seldom agree have different doses at one second by chance.
  @Test(arguments: [(5, 1, 2), (6, 1, 1), (10, 2, 2), (10, 3, 6)] as [(Int64, Int64, Int)])
  func withoutManyEqualItemsBothAmountsCount(equal: Int64, different: Int64, counted: Int) {
    let items = Self.equal(0..<equal) + (0..<different).flatMap { Self.corrected($0) }
    #expect(countedWithCopies(items).kept.count == Int(equal) + counted)
  }

  @Test func equalItemsOfOtherWeeksShowNothing() {
    #expect(Self.ids(Self.equal(0..<10) + Self.corrected(30)).isSuperset(of: ["old 30", "new 30"]))
  }

  /// Many people's doses are at full minutes, and some sources state no seconds.
  @Test func atAFullMinuteBothAmountsCount() {
    #expect(Self.ids(Self.equal(0..<10) + Self.corrected(4, at: 3600)).isSuperset(of: ["old 4", "new 4"]))
    #expect(Self.ids(Self.equal(0..<10, at: 0) + Self.corrected(4)).isSuperset(of: ["old 4", "new 4"]))
  }

  @Test func anotherSecondUseOrAnAutomaticDoseIsAnotherDose() {
    let time = 4 * Self.day + 3633
    let others = [
      Sample.dose(5, at: time + 1, Sample.phone, id: "old 4"),
      Sample.dose(5, at: time, Sample.phone, subtype: "long", id: "old 4"),
      Sample.dose(5, at: time, Sample.phone, id: "old 4", fields: ["automatic": .flag(true)]),
      Sample.meal(5, at: time, Sample.phone, id: "old 4"),
    ]
    for other in others {
      let items = Self.equal(0..<10) + [Self.corrected(4)[0], other]
      #expect(Self.ids(items).isSuperset(of: ["old 4", "new 4"]))
    }
  }

  /// A collecting program may state the foods of a meal one by one, so it is not known which one was
  /// corrected.
  @Test func severalAmountsOfOneSourceAtOneSecondAllCount() {
    let further = Sample.dose(3, at: 4 * Self.day + 3633, Sample.phone, id: "further")
    let ids = Self.ids(Self.equal(0..<10) + Self.corrected(4) + [further])
    #expect(ids.isSuperset(of: ["old 4", "new 4", "further"]))
  }

  /// The extended part may be missing in one source. Which amount is whole is then not known, so there is no
  /// sum.
  @Test func aDoseWithoutTheExtendedPartOfTheOtherOneIsNotLeftOut() {
    let doses = [
      Sample.dose(3, at: 4 * Self.day + 3633, Sample.diary, id: "part"),
      Sample.dose(
        3, at: 4 * Self.day + 3633, Sample.phone, id: "whole", fields: ["extended": .number(2)]),
    ]
    #expect(Self.ids(Self.equal(0..<10) + doses).isSuperset(of: ["part", "whole"]))
  }

  @Test func ofThreeSourcesTheOneInWhichAPersonTypesCounts() {
    let sources = [Sample.diary, Sample.phone, Sample.site]
    let equal = (0..<10 as Range<Int64>).flatMap { day in
      sources.map { Sample.dose(2, at: day * Self.day + 33, $0) }
    }
    let time = 4 * Self.day + 3633
    for amounts in [[7.0, 5, 5], [7, 5, 6], [7, 7, 5], [7, 5, 7]] {
      let doses = zip(amounts, sources).map { Sample.dose($0, at: time, $1, id: $1.text) }
      for items in [equal + doses, doses.reversed() + equal] {
        let result = countedWithCopies(items)
        #expect(result.kept.count == 11 && result.kept.contains { $0.id == "mysugr" }, "\(amounts)")
      }
    }
  }

  @Test func decisionsOfPeopleComeFirst() throws {
    let items = Self.equal(0..<10) + Self.corrected(4)
    let both = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    #expect(countedWithCopies(items, both).kept.count == 22)
    let only = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "apple-health")
    ])
    #expect(countedWithCopies(items, only).kept.contains { $0.id == "old 4" })
  }
}
