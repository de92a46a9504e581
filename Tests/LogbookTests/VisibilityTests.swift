// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

/// Tests that the visibility of items depends only on the items and the withdrawals.
@Suite struct VisibilityTests {
  private static let device = Device(vendor: "Test", model: "M", serial: "S", format: "test")
  private static let series = SeriesName(
    device: ReadingIdentity.text(of: device), kind: .cbg, positionKind: .time)
  private static let guid = "0a1b2c3d-0000-4000-8000-000000000001"

  private func identity(_ position: Int64, _ occurrence: Int64 = 0) -> ReadingIdentity {
    ReadingIdentity(
      device: Self.device, kind: .cbg, positionKind: .time, position: position, valueBucket: 0,
      occurrence: occurrence)
  }

  private func point(_ position: Int64, _ occurrence: Int64 = 0) -> SeriesPoint {
    SeriesPoint(identity(position, occurrence))
  }

  private func input(_ positions: [Int64], isHidden: Bool = true) -> Withdrawal {
    let runs = PointRuns(positions.map { point($0) })
    return Withdrawal(
      .input(WithdrawnInput(group: Self.guid, points: [Self.series: runs])), isHidden: isHidden)
  }

  private func hidden(_ withdrawals: [Withdrawal], _ positions: ClosedRange<Int64>) -> [Int64] {
    let items = withdrawals.enumerated().map {
      Visibility.WithdrawalItem(guid: $1.guid ?? "w-\($0)", $1, digest: "")
    }
    let said = Visibility(items).series(Self.series)
    return positions.filter { said.hides(point($0), shownAt: DeviceTime(seconds: $0)) }
  }

  @Test func anUndoneImportHidesItsReadingsAndNoOthers() {
    #expect(hidden([input([1, 3, 5])], 0...6) == [1, 3, 5])
    #expect(hidden([input([1, 3, 5], isHidden: false)], 0...6) == [])
    #expect(hidden([input([1, 3]), input([3, 4])], 0...6) == [1, 3, 4])
    #expect(hidden([input([1, 3], isHidden: false), input([3, 4])], 0...6) == [3, 4])
  }

  @Test func aHiddenRangeAlsoHidesReadingsStoredLater() {
    let rule = DeviceRule(
      device: Self.series.device, since: DeviceTime(seconds: 2), until: DeviceTime(seconds: 4))
    #expect(hidden([Withdrawal(.device(rule), isHidden: true)], 0...6) == [2, 3])
    #expect(hidden([Withdrawal(.device(rule), isHidden: false)], 0...6) == [])
    let other = DeviceRule(device: "serial|Test|T")
    #expect(hidden([Withdrawal(.device(other), isHidden: true)], 0...6) == [])
  }

  @Test func hidingOrShowingASingleReadingHasPrecedenceOverItsImportAndDevice() {
    let all = Withdrawal(.device(DeviceRule(device: Self.series.device)), isHidden: true)
    let shown = Withdrawal(.reading(identity(3)), isHidden: false)
    let gone = Withdrawal(.reading(identity(5)), isHidden: true)
    #expect(hidden([all, input([3]), shown], 2...4) == [2, 4])
    #expect(hidden([gone, shown], 0...6) == [5])
  }

  /// A place has two readings, with the occurrences 0 and 1.
  @Test func aCorrectedReadingIsHiddenWhileItsPlaceHasAnotherOneThatCounts() {
    func corrected(_ occurrence: Int64) -> Withdrawal {
      Withdrawal(.reading(identity(3, occurrence)), isHidden: true, reason: Withdrawal.correctedAtSource)
    }
    func shown(_ withdrawals: [Withdrawal], places: [Int64] = [0, 1]) -> [Int64] {
      let items = withdrawals.enumerated().map {
        Visibility.WithdrawalItem(guid: $1.guid ?? "w-\($0)", $1, digest: "")
      }
      let place = places.map {
        SeriesVisibility.JudgedReading(
          point(3, $0), at: DeviceTime(seconds: 3),
          .value(Quantity(Double(5 + $0), .millimolesPerLitre)))
      }
      let verdicts = Visibility(items).series(Self.series).judge(place)
      return zip(places, verdicts).filter { $1 == .shown }.map(\.0)
    }
    let undone = Withdrawal(
      .input(WithdrawnInput(group: Self.guid, points: [Self.series: PointRuns([point(3, 1)])])),
      isHidden: true)
    let hiddenByPerson = Withdrawal(.reading(identity(3, 1)), isHidden: true)
    let withoutEffect = Withdrawal(
      .reading(identity(3, 1)), isHidden: false, reason: Withdrawal.restoredAtSource)
    #expect(shown([corrected(0)]) == [1])
    #expect(shown([corrected(0)], places: [0]) == [0], "the other one has not arrived")
    #expect(shown([corrected(0), corrected(1)]) == [0, 1], "two stores contradict each other")
    #expect(shown([corrected(0), undone]) == [0])
    #expect(shown([corrected(0), corrected(1), undone]) == [0])
    #expect(shown([corrected(0), hiddenByPerson]) == [], "a person also hid the correction")
    #expect(shown([withoutEffect, undone]) == [0])
    let shownByPerson = Withdrawal(.reading(identity(3, 0)), isHidden: false)
    #expect(shown([shownByPerson, corrected(1)]) == [0])
  }

  @Test func undoingAnImportAlsoUndoesItsHidingOfAReadingUnlessAPersonEditedIt() throws {
    let correction = Withdrawal(.reading(identity(3)), isHidden: true)
    let guid = try #require(correction.guid)
    let undone = WithdrawnInput(group: Self.guid, records: [guid: "digest"])
    for (digest, expected) in [("digest", []), ("edited since", [Int64(3)])] {
      let items = [
        Visibility.WithdrawalItem(guid: guid, correction, digest: digest),
        Visibility.WithdrawalItem(guid: "w", Withdrawal(.input(undone), isHidden: true), digest: ""),
      ]
      let said = Visibility(items).series(Self.series)
      #expect((0...6).filter { said.hides(point($0), shownAt: DeviceTime(seconds: $0)) } == expected)
    }
  }

  @Test func aRecordIsHiddenWhileItHasTheContentOfTheImport() {
    let record = "0a1b2c3d-0000-4000-8000-000000000002"
    let undone = Visibility.WithdrawalItem(
      guid: "w", Withdrawal(.input(.init(group: Self.guid, records: [record: "d"])), isHidden: true),
      digest: "")
    #expect(Visibility([undone]).hides(record: record, digest: "d"))
    #expect(!Visibility([undone]).hides(record: record, digest: "edited"))
    let own = [true, false].map {
      Visibility.WithdrawalItem(guid: "o", Withdrawal(.record(record), isHidden: $0), digest: "")
    }
    #expect(Visibility([undone, own[0]]).hides(record: record, digest: "edited"))
    #expect(!Visibility([undone, own[1]]).hides(record: record, digest: "d"))
  }

  @Test func equalVisibleValuesAtOneTimeAreShownOnce() {
    let value = { (number: Double) in Measurement.value(Quantity(number, .milligramsPerDecilitre)) }
    let time = DeviceTime(seconds: 3)
    let place = [
      SeriesVisibility.JudgedReading(point(3), at: time, value(100)),
      .init(point(3, 1), at: time, value(100)),
      .init(point(3, 2), at: time, value(90)), .init(point(3, 3), at: time, value(100)),
    ]
    #expect(
      Visibility([]).series(Self.series).judge(place) == [.shown, .equalIsShown, .shown, .equalIsShown])
    let items = [Visibility.WithdrawalItem(guid: "w", input([3]), digest: "")]
    #expect(
      Visibility(items).series(Self.series).judge(place) == [.withdrawn, .shown, .shown, .equalIsShown])
    let sticks = SeriesName(device: Self.series.device, kind: .smbg, positionKind: .time)
    #expect(Visibility([]).series(sticks).judge(place) == [.shown, .shown, .shown, .shown])
  }

  @Test func theOrderOfHidingRecordsDoesNotChangeTheVisibleItems() {
    for seed in UInt64(1)...100 {
      var random = SeededGenerator(seed: seed)
      var withdrawals: [Withdrawal] = []
      for _ in 0..<8 {
        let place = Int64(random.next() % 20)
        switch random.next() % 3 {
        case 0: withdrawals.append(input([place, place + 2], isHidden: random.next() % 3 > 0))
        case 1:
          let rule = DeviceRule(device: Self.series.device, since: DeviceTime(seconds: place))
          withdrawals.append(Withdrawal(.device(rule), isHidden: random.next() % 2 > 0))
        default:
          let own = Withdrawal(.reading(identity(place)), isHidden: random.next() % 2 > 0)
          if !withdrawals.contains(where: { $0.guid == own.guid }) { withdrawals.append(own) }
        }
      }
      let expected = hidden(withdrawals, 0...25)
      #expect(hidden(withdrawals.shuffled(using: &random), 0...25) == expected, "seed \(seed)")
    }
  }

  // MARK: As fields

  @Test func anUndoRecordIsReadBackFromItsFields() throws {
    let state = RecordState(
      kind: .food, entryGuid: nil, deviceTime: DeviceTime(seconds: 5),
      placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields(["text": .text("a\tb\nc")]),
      isDeleted: false)
    var other = state
    other.fields["carbs"] = .number(4)
    let whole = WithdrawnInput(
      group: Self.guid, input: "i", points: [Self.series: PointRuns([point(1), point(2), point(9, 1)])],
      records: [Self.guid: "digest"], changes: [RecordRevision(guid: Self.guid, before: state, after: other)])
    let rule = DeviceRule(device: "model|a b|c%7C", since: nil, until: DeviceTime(seconds: 86_400))
    for subject: Withdrawal.Subject in [
      .input(whole), .input(WithdrawnInput(group: Self.guid)), .device(rule), .reading(identity(7)),
      .record(Self.guid),
    ] {
      for isHidden in [true, false] {
        let withdrawal = Withdrawal(subject, isHidden: isHidden, reason: isHidden ? "why" : "")
        #expect(Withdrawal(fields: withdrawal.fields) == withdrawal)
        #expect(Withdrawal(json: withdrawal.fields.json) == withdrawal)
      }
    }
  }

  @Test(arguments: [
    #"{}"#, #"{"hidden":true}"#, #"{"hidden":true,"subtype":"future"}"#, #"{"hidden":1,"subtype":"reading"}"#,
    #"{"hidden":true,"subtype":"reading","reading":"x"}"#, #"{"hidden":true,"subtype":"import","group":"x"}"#,
    #"{"hidden":true,"subtype":"device","device":"d","until":"soon"}"#, "[]", "",
  ])
  func anInvalidUndoRecordHidesNothing(_ json: String) {
    #expect(Withdrawal(json: json) == nil)
  }

  @Test func anUndoRecordAboveTheSizeLimitsIsIgnored() {
    let runs = PointRuns(runs: [.init(first: point(0), step: 1, count: PointRuns.maxPoints)])
    func input(_ series: Int) -> Withdrawal {
      let names = (0..<series).map { index in
        SeriesName(device: "serial|Test|\(index)", kind: .cbg, positionKind: .time)
      }
      let points = Dictionary(uniqueKeysWithValues: names.map { ($0, runs) })
      return Withdrawal(.input(WithdrawnInput(group: Self.guid, points: points)), isHidden: true)
    }
    #expect(Withdrawal(fields: input(4).fields) == input(4))
    #expect(Withdrawal(fields: input(5).fields) == nil)
    let text = String(repeating: "x", count: Withdrawal.maxBytes - 300)
    for (reason, isRead) in [(text, true), (text + text.prefix(300), false)] {
      let long = Withdrawal(.record(Self.guid), isHidden: true, reason: reason)
      #expect((Withdrawal(fields: long.fields) != nil) == isRead)
      #expect((Withdrawal(json: long.fields.json) != nil) == isRead)
    }
  }

  @Test func anUndoThatListsOneSeriesTwiceIsRefused() {
    let line = "\(Self.series.text) \(PointRuns([point(1)]).text)"
    for (points, isRead) in [(line, true), ("\(line)\n\(line)", false)] {
      let fields = RecordFields([
        "hidden": .flag(true), "subtype": .text("import"), "group": .text(Self.guid), "points": .text(points),
      ])
      #expect((Withdrawal(fields: fields) != nil) == isRead)
    }
  }

  @Test func aCursorOverASeriesFindsTheSameHiddenReadingsAsSingleSearches() {
    for seed in UInt64(1)...100 {
      var random = SeededGenerator(seed: seed)
      var withdrawals = (0..<random.next() % 6).map { _ in
        input(
          (0..<10).map { _ in Int64(random.next() % 60) }.sorted().reduce(into: []) {
            if $0.last != $1 { $0.append($1) }
          })
      }
      for _ in 0..<random.next() % 6 {
        let since = Int64(random.next() % 60)
        let rule = DeviceRule(
          device: Self.series.device, since: random.next() % 4 == 0 ? nil : DeviceTime(seconds: since),
          until: random.next() % 4 == 0 ? nil : DeviceTime(seconds: since + Int64(random.next() % 12) - 2))
        withdrawals.append(Withdrawal(.device(rule), isHidden: true))
      }
      let items = withdrawals.enumerated().map { Visibility.WithdrawalItem(guid: "w-\($0)", $1, digest: "") }
      let said = Visibility(items).series(Self.series)
      var ordered = said.ordered
      for position in Int64(-5)...80 {
        let time = DeviceTime(seconds: position)
        let isHidden = ordered.hides(point(position), shownAt: time)
        #expect(isHidden == said.hides(point(position), shownAt: time), "seed \(seed) at \(position)")
        let expected = withdrawals.contains { withdrawal in
          switch withdrawal.subject {
          case .input(let input): input.points[Self.series]?.contains(point(position)) ?? false
          case .brought: false
          case .device(let rule): rule.covers(time)
          default: false
          }
        }
        #expect(isHidden == expected, "seed \(seed) at \(position)")
      }
    }
  }

  /// Undo records whose lists overlap: the first and the last point of each list are far apart.
  private func spanning(_ count: Int64, _ width: Int64) -> [Withdrawal] {
    (0..<count).map { input([2 * $0, width - 2 * $0 - 2]) }
  }

  private func steps(_ withdrawals: [Withdrawal], _ positions: StrideTo<Int64>) -> (steps: Int, hidden: Int) {
    let items = withdrawals.enumerated().map { Visibility.WithdrawalItem(guid: "w-\($0)", $1, digest: "") }
    var (ordered, hidden) = (Visibility(items).series(Self.series).ordered, 0)
    for position in positions where ordered.lists(point(position)) { hidden += 1 }
    return (ordered.steps, hidden)
  }

  @Test func visibilityChecksOfAllReadingsVisitEachHiddenPointOnce() {
    for count in [Int64(100), 200, 400] {
      let asked = steps(spanning(count, 20_000), stride(from: 0, to: 20_000, by: 1))
      #expect(asked.hidden == Int(2 * count))
      // The cursor in a list moves at most once for each point of the list.
      #expect(asked.steps <= Int(2 * count))
      // A cursor does not move more often if twice the number of readings is checked.
      #expect(steps(spanning(count, 40_000), stride(from: 0, to: 40_000, by: 1)).steps == asked.steps)
    }
  }

  @Test func repeatedUndosOfOneImportAreSearchedInAsManyStepsAsOne() {
    let one = input(Array(0..<1000))
    #expect(steps([one], stride(from: 0, to: 1000, by: 1)) == (1, 1000))
    #expect(steps(Array(repeating: one, count: 50), stride(from: 0, to: 1000, by: 1)) == (1, 1000))
    let many = (0..<50).map { input(Array(0..<(1000 + $0))) }
    let asked = steps(many, stride(from: 0, to: 1100, by: 1))
    #expect(asked.hidden == 1049 && asked.steps <= 150, "\(asked)")
  }

  /// An undo record of a hundred bytes can list four million points. A hundred thousand such records would
  /// make each check slow.
  @Test func aboveTheMaximumOfHiddenPointsTheLargestUndosAreIgnoredFirst() {
    let most = SeriesVisibility.maxListedPoints / PointRuns.maxPoints
    let large = (0...most).map { index in
      let run = PointRuns.Run(
        first: point(1 + index), step: 1 << 20,
        count: index == most ? PointRuns.maxPoints : PointRuns.maxPoints - 1)
      return Withdrawal(
        .input(WithdrawnInput(group: Self.guid, points: [Self.series: PointRuns(runs: [run])])),
        isHidden: true)
    }
    func said(_ withdrawals: [Withdrawal]) -> SeriesVisibility {
      Visibility(
        withdrawals.enumerated().map { Visibility.WithdrawalItem(guid: "w-\($0)", $1, digest: "") }
      ).series(Self.series)
    }
    let small = input([-5])
    for withdrawals in [large + [small], [small] + large.reversed()] {
      let said = said(withdrawals)
      #expect(said.listedPoints == most * (PointRuns.maxPoints - 1) + 1)
      #expect(said.lists(point(-5)) && said.lists(point(1)) && said.lists(point(most)))
      #expect(!said.lists(point(most + 1)), "the largest one")
    }
    let all = said(Array(large.dropLast()) + [small])
    #expect(all.listedPoints == most * (PointRuns.maxPoints - 1) + 1 && all.lists(point(most)))
  }

  @Test func differentEditsOfAnUndoMergeToTheSameResultOnBothSides() {
    let base = input([1, 2, 3, 4]).fields
    let (mine, theirs) = (input([1, 2, 4]).fields, input([2, 3, 4]).fields)
    for (left, right) in [(mine, theirs), (theirs, mine)] {
      #expect(Withdrawal.merged(left, right, base: base) == input([2, 4]).fields)
    }
    let back = input([1, 2, 3, 4], isHidden: false).fields
    #expect(Withdrawal.merged(back, mine, base: base) == input([1, 2, 4], isHidden: false).fields)
    let own = [true, false].map {
      Withdrawal(.reading(identity(1)), isHidden: $0, reason: $0 ? "a" : "b").fields
    }
    let merged = Withdrawal(.reading(identity(1)), isHidden: false, reason: "b").fields
    #expect(Withdrawal.merged(own[0], own[1], base: nil) == merged)
    #expect(Withdrawal.merged(own[1], own[0], base: nil) == merged)
  }
}
