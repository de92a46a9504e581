// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

struct CountDecisionTests {
  typealias Sample = CountingSample

  private static let day = (
    since: DeviceTime(seconds: Sample.morning), until: DeviceTime(seconds: Sample.morning + 86400)
  )

  private static let all: [CountDecision] = [
    CountDecision(.sources("mysugr", "clarity"), .both),
    CountDecision(.sources("apple-health/Anna's iPhone", "mysugr"), .rule),
    CountDecision(.items("a", "b"), .once), CountDecision(.items("b", "a"), .both),
    CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr"),
    CountDecision(.range(.smbg, since: day.since, until: day.until), .only, source: "contour"),
    CountDecision(.range(.food, since: nil, until: day.until), .rule),
  ]

  @Test(arguments: all) func aCountingDecisionIsReadBackAsItWasWritten(decision: CountDecision) {
    #expect(CountDecision(fields: decision.fields) == decision)
    #expect(decision.state(editedAt: nil).kind.details?.fault(in: decision.fields) == nil)
  }

  @Test func aDecisionAboutTwoSourcesHasOneRecordIDInEitherOrder() {
    let (one, other) = (
      CountDecision(.sources("mysugr", "clarity"), .both), CountDecision(.sources("clarity", "mysugr"), .rule)
    )
    #expect(one.guid == other.guid && one.subject == other.subject)
    #expect(CountDecision(.items("mysugr", "clarity"), .both).guid != one.guid)
    #expect(one.state(editedAt: 1).agrees(with: one.state(editedAt: 2)))
  }

  @Test(
    arguments: [
      ["choice": .text("maybe"), "subtype": .text("items"), "first": .text("a"), "second": .text("b")],
      ["choice": .text("once"), "subtype": .text("items"), "first": .text("a")],
      ["choice": .text("only"), "subtype": .text("sources"), "first": .text("a"), "second": .text("b")],
      ["choice": .text("only"), "subtype": .text("range"), "kind": .text("insulin")],
      ["choice": .text("only"), "subtype": .text("range"), "kind": .text("note"), "source": .text("a")],
      [
        "choice": .text("only"), "subtype": .text("range"), "kind": .text("food"), "source": .text("a"),
        "since": .text("soon"),
      ],
      ["choice": .text("only"), "subtype": .text("planet"), "source": .text("a")], [:],
    ] as [[String: FieldValue]])
  func aCountingDecisionWithInvalidFieldsIsIgnored(fields: [String: FieldValue]) {
    #expect(CountDecision(fields: RecordFields(fields)) == nil)
  }

  @Test func equalDosesOfTwoSourcesDeclaredSeparateBothCount() {
    let pair = [Sample.dose(2, at: 0, Sample.diary), Sample.dose(2, at: 0, Sample.phone)]
    func count(_ first: String, _ second: String, _ choice: CountDecision.Choice) -> Int {
      counted(pair, CountingRules([CountDecision(.sources(first, second), choice)])).kept.count
    }
    #expect(count("mysugr", "apple-health", .both) == 2 && count("apple-health/iPhone", "MySugr", .both) == 2)
    #expect(count("Apple-Health/iPhone", "mysugr", .both) == 2)
    // A decision does not name a source by its app only, because an app on a phone can have the name of a
    // format.
    #expect(count("iphone", "mysugr", .both) == 1)
    #expect(!CountingSource(format: "apple-health", part: "mySugr").isNamed("mysugr"))
    #expect(count("mysugr", "apple-health", .rule) == 1 && count("mysugr", "clarity", .both) == 1)
    #expect(count("mysugr", "mysugr", .both) == 1)
  }

  @Test func twoEqualDosesDeclaredSeparateBothCount() {
    let items = [
      Sample.dose(2, at: 0, Sample.diary, id: "a"), Sample.dose(2, at: 0, Sample.phone, id: "b"),
      Sample.dose(2, at: 600, Sample.diary, id: "c"), Sample.dose(2, at: 600, Sample.phone, id: "d"),
    ]
    let result = counted(items, CountingRules([CountDecision(.items("b", "a"), .both)]))
    #expect(result.leftOut == ["d": "c"])
  }

  @Test func inARangeWithAChosenSourceOnlyItsDosesCount() {
    let rules = CountingRules([
      CountDecision(.range(.insulin, since: Self.day.since, until: Self.day.until), .only, source: "tandem")
    ])
    let result = counted(
      [
        Sample.dose(3, at: 0, Sample.diary, id: "in"), Sample.dose(3, at: -1, Sample.diary, id: "before"),
        Sample.dose(3, at: 86400, Sample.diary, id: "after"),
        Sample.dose(7, at: 5, Sample.pump, id: "chosen"),
        Sample.meal(30, at: 0, Sample.diary, id: "meal"),
      ], rules)
    #expect(Set(result.kept.map(\.id)) == ["before", "after", "chosen", "meal"])
    #expect(result.verdicts["in"] == .notChosen)
  }

  @Test func theShorterOfTwoOverlappingDecisionRangesApplies() {
    let rules = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr"),
      CountDecision(.range(.insulin, since: Self.day.since, until: Self.day.until), .only, source: "tandem"),
    ])
    #expect(rules.isChosen(.insulin, Sample.pump, shown: Sample.morning))
    #expect(!rules.isChosen(.insulin, Sample.diary, shown: Sample.morning))
    #expect(rules.isChosen(.insulin, Sample.diary, shown: Sample.morning - 1))
    #expect(rules.isChosen(.food, Sample.diary, shown: Sample.morning))
  }

  @Test func twoDosesDeclaredToBeOneCountOnceAtAnyTimeApart() throws {
    let early = try #require(Sample.dose(5.5, at: 0, Sample.diary, id: "a"))
    let late = try #require(Sample.dose(5, at: 900, Sample.phone, id: "b"))
    let rules = CountingRules([], joined: [CountingRules.Joined(late, early)])
    let result = counted([early, late], rules)
    #expect(result.leftOut == ["b": "a"])
    #expect(result.verdicts["a"] == .counts(alsoIn: [Repetition(late)]))
  }

  @Test func withCountingOnceOffEqualDosesOfTwoSourcesBothCount() {
    #expect(
      count(Sample.dose(2, at: 0, Sample.diary), Sample.dose(2, at: 0, Sample.phone), by: .all) == 2)
  }

  @Test func conflictingCountingDecisionsMergeToTheDefaultRule() {
    let both = CountDecision(.sources("a", "b"), .both).fields
    let rule = CountDecision(.sources("a", "b"), .rule).fields
    #expect(CountDecision.merged(both, rule, base: both) == rule)
    #expect(CountDecision.merged(rule, both, base: both) == rule)
    let (mine, theirs) = (
      CountDecision(.range(.food, since: nil, until: nil), .only, source: "a").fields,
      CountDecision(.range(.food, since: nil, until: nil), .only, source: "b").fields
    )
    let merged = CountDecision.merged(mine, theirs, base: nil)
    #expect(merged == CountDecision.merged(theirs, mine, base: nil))
    #expect(CountDecision(fields: merged)?.choice == .rule)
  }
}
