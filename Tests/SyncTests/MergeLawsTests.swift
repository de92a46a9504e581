// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Sync

/// Compares merges with a simple field-by-field definition, and tests rules that hold in whichever order the
/// two sides are merged.
@Suite struct MergeLawsTests {
  private static let names = ["a", "b", "c"]

  private static func state(_ random: inout SeededGenerator) -> RecordState {
    var fields: [String: FieldValue] = [:]
    for name in names where random.next() % 3 > 0 { fields[name] = .number(Double(random.next() % 2)) }
    var state = note(fields, at: Int64(random.next() % 2) * 1000, entry: random.next() % 4 == 0 ? "e" : nil)
    if random.next() % 8 == 0 { state.placement = Placement(utcOffset: 7200, source: .stated) }
    if random.next() % 4 == 0 { state.editedAt = Int64(random.next() % 5) }
    return state
  }

  /// The parts of a record that are merged separately, by name.
  private static func parts(_ state: RecordState) -> [String: String] {
    var parts: [String: String] = [:]
    for (name, value) in state.fields.values { parts["field " + name] = "\(value)" }
    parts["entry"] = state.entryGuid
    parts["time"] = "\(state.deviceTime.seconds) \(state.statedOffset.map(String.init) ?? "")"
    return parts
  }

  /// The parts after a merge; nil if both sides changed one part in different ways.
  private static func merged(
    _ local: [String: String], _ remote: [String: String], _ base: [String: String]
  ) -> [String: String]? {
    var merged: [String: String] = [:]
    for name in Set(local.keys).union(remote.keys).union(base.keys) {
      let (mine, theirs, before) = (local[name], remote[name], base[name])
      if mine != theirs, mine != before, theirs != before { return nil }
      merged[name] = mine == before ? theirs : mine
    }
    return merged
  }

  @Test func twoVersionsWithACommonBaseAreMergedFieldByField() {
    var outcomes: [String: Int] = [:]
    for seed in UInt64(1)...4000 {
      var random = SeededGenerator(seed: seed)
      let (local, remote, base) = (
        Self.state(&random), Self.state(&random), Self.state(&random)
      )
      let expected = Self.merged(Self.parts(local), Self.parts(remote), Self.parts(base))
      switch Merge.of(local: local, remote: remote, base: base) {
      case .takesRemote:
        outcomes["takes", default: 0] += 1
        #expect(expected == Self.parts(remote), "seed \(seed)")
      case .yields(let state):
        outcomes["yields", default: 0] += 1
        #expect(expected == Self.parts(state) && !state.agrees(with: remote), "seed \(seed)")
      case .conflict:
        outcomes["conflict", default: 0] += 1
        #expect(expected == nil, "seed \(seed)")
      }
    }
    #expect(outcomes.count == 3 && outcomes.values.allSatisfy { $0 > 100 }, "\(outcomes)")
  }

  /// The content of the record after a merge; nil if there is a conflict.
  private static func content(_ local: RecordState, _ remote: RecordState, _ base: RecordState?) -> String? {
    switch Merge.of(local: local, remote: remote, base: base) {
    case .takesRemote: remote.contentJSON
    case .yields(let state): state.contentJSON
    case .conflict: nil
    }
  }

  @Test func bothStoresMergeToTheSameResult() {
    for seed in UInt64(1)...2000 {
      var random = SeededGenerator(seed: seed)
      var (local, remote) = (Self.state(&random), Self.state(&random))
      let base = random.next() % 4 == 0 ? nil : Self.state(&random)
      if random.next() % 8 == 0 { local = tombstone }
      if random.next() % 8 == 0 { remote = tombstone }
      #expect(Self.content(local, remote, base) == Self.content(remote, local, base), "seed \(seed)")
    }
  }

  @Test func theOtherStoreAdoptsAMergedRecord() {
    for seed in UInt64(1)...2000 {
      var random = SeededGenerator(seed: seed)
      let (local, remote, base) = (Self.state(&random), Self.state(&random), Self.state(&random))
      guard case .yields(let state) = Merge.of(local: local, remote: remote, base: base) else { continue }
      // The node whose state is `remote` receives the merged state. It adopts this state, since its own state
      // is the base of the merge.
      #expect(Merge.of(local: remote, remote: state, base: remote) == .takesRemote, "seed \(seed)")
      #expect(Merge.of(local: state, remote: state, base: base) == .takesRemote, "seed \(seed)")
    }
  }

  // MARK: Withdrawals

  private static func withdrawal(_ positions: Set<Int64>, isHidden: Bool, _ reason: String) -> RecordState {
    let series = SeriesName(device: "serial|V|S", kind: .cbg, positionKind: .time)
    let points = PointRuns(
      positions.sorted().map { SeriesPoint(position: $0, valueBucket: 0, occurrence: 0) })
    let input = WithdrawnInput(
      group: "0a1b2c3d-0000-4000-8000-000000000001", points: points.isEmpty ? [:] : [series: points],
      records: positions.contains(3) ? ["0a1b2c3d-0000-4000-8000-000000000002": "d"] : [:])
    var state = note([:])
    state.kind = .withdrawal
    state.fields = Withdrawal(.input(input), isHidden: isHidden, reason: reason).fields
    return state
  }

  private static func positions(_ state: RecordState) -> Set<Int64>? {
    guard let withdrawal = Withdrawal(fields: state.fields), case .input(let input) = withdrawal.subject
    else { return nil }
    return Set(input.points.values.flatMap { $0.points.map(\.position) })
  }

  private static func draw(_ random: inout SeededGenerator, from all: Set<Int64>) -> Set<Int64> {
    all.filter { _ in random.next() % 3 > 0 }
  }

  /// After the merge, a reading is hidden only if both sides hide it. No person must decide.
  @Test func conflictingUndosAreMergedWithoutADecision() {
    for seed in UInt64(1)...400 {
      var random = SeededGenerator(seed: seed)
      let all = Set<Int64>(0..<12)
      let (mine, theirs) = (Self.draw(&random, from: all), Self.draw(&random, from: all))
      let base = Self.withdrawal(all, isHidden: true, "")
      let sides = [mine, theirs].map {
        Self.withdrawal($0, isHidden: random.next() % 5 > 0, "\(random.next() % 3)")
      }
      for (local, remote) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        let state: RecordState
        switch Merge.of(local: local, remote: remote, base: base) {
        case .takesRemote: state = remote
        case .yields(let merged): state = merged
        case .conflict:
          Issue.record("seed \(seed): a conflict")
          continue
        }
        #expect(Self.positions(state) == mine.intersection(theirs), "seed \(seed)")
        let isHidden = sides.allSatisfy { Withdrawal(fields: $0.fields)?.isHidden == true }
        #expect(Withdrawal(fields: state.fields)?.isHidden == isHidden, "seed \(seed)")
      }
      #expect(
        Self.content(sides[0], sides[1], base) == Self.content(sides[1], sides[0], base), "seed \(seed)")
      #expect(Self.content(sides[0], sides[1], nil) == Self.content(sides[1], sides[0], nil), "seed \(seed)")
    }
  }

  @Test func theDeletionOfAnUndoRecordIsDecidedLikeAnyDeletion() {
    let (base, edited) = (
      Self.withdrawal([1, 2], isHidden: true, ""), Self.withdrawal([1], isHidden: true, "")
    )
    var gone = tombstone
    gone.kind = .withdrawal
    #expect(Merge.of(local: gone, remote: base, base: base) == .yields(gone))
    #expect(Merge.of(local: edited, remote: gone, base: base) == .conflict)
  }

  // MARK: Decisions on what counts

  @Test func conflictingCountingDecisionsAreMergedWithoutAPerson() {
    func state(_ choice: CountDecision.Choice) -> RecordState {
      CountDecision(.items("a", "b"), choice).state(editedAt: nil)
    }
    let (once, both, rule) = (state(.once), state(.both), state(.rule))
    #expect(Merge.of(local: both, remote: rule, base: rule) == .yields(both))
    #expect(Merge.of(local: rule, remote: both, base: rule) == .takesRemote)
    #expect(Merge.of(local: both, remote: both, base: nil) == .takesRemote)
    for base in [rule, nil] {
      #expect(Merge.of(local: once, remote: both, base: base) == .yields(rule))
      #expect(Merge.of(local: both, remote: once, base: base) == .yields(rule))
    }
  }

  // MARK: The base zone

  @Test func aHomeTimeZoneIsMergedAsAWhole() {
    func zone(_ name: String, _ origin: String?) -> RecordState {
      var state = note(["zone": .text(name)])
      state.kind = .zone
      state.fields["origin"] = origin.map { .text($0) }
      return state
    }
    let base = zone("Europe/Madrid", "system")
    let (confirmed, other) = (zone("Europe/Madrid", "given"), zone("Asia/Tokyo", "system"))
    #expect(Merge.of(local: confirmed, remote: other, base: base) == .conflict)
    #expect(Merge.of(local: confirmed, remote: base, base: base) == .yields(confirmed))
    #expect(Merge.of(local: base, remote: other, base: base) == .takesRemote)
    // A zone period, unlike the base zone, is merged field by field.
    var (longer, moved) = (zone("Europe/Madrid", nil), zone("Asia/Tokyo", nil))
    longer.fields["until"] = .text("2026-05-01T00:00:00")
    moved.fields["until"] = nil
    var both = moved
    both.fields["until"] = longer.fields["until"]
    #expect(Merge.of(local: longer, remote: moved, base: zone("Europe/Madrid", nil)) == .yields(both))
  }
}

/// Tests how the number of items in a request changes after failures and successes.
@Suite struct BatchSizeTests {
  @Test func failuresHalveTheBatchSizeDownToOneItem() {
    var size = BatchSize(largest: 1000)
    var sizes: [Int] = []
    while size.halve(sent: size.current) { sizes.append(size.current) }
    #expect(sizes == [500, 250, 125, 62, 31, 15, 7, 3, 1])
    #expect(!size.halve(sent: 1) && size.current == 1)
  }

  @Test func successesDoubleTheBatchSizeUpToTheMaximum() {
    var size = BatchSize(largest: 10)
    #expect(size.halve(sent: 3) && size.current == 1)
    let sizes = (0..<6).map { _ in
      size.succeed()
      return size.current
    }
    #expect(sizes == [2, 4, 8, 10, 10, 10] && size.largest == 10)
  }

  /// A batch may have fewer items than the size permits. After a refusal, the size is half of the number of
  /// sent items.
  @Test func afterARefusalTheBatchSizeIsHalfOfTheItemsSent() {
    var size = BatchSize(largest: 1000)
    #expect(size.halve(sent: 5) && size.current == 2)
  }

  @Test(arguments: [0, -7, 1]) func aBatchHasAtLeastOneItem(_ largest: Int) {
    var size = BatchSize(largest: largest)
    #expect(size.current == 1)
    size.succeed()
    #expect(size.current == 1)
  }
}

/// Tests when a failed upload is tried again, for each error and with a clock that was set back.
@Suite struct BackoffLawsTests {
  private static let passing: [ServiceError] = [
    .busy("", retryAfterSeconds: nil), .busy("", retryAfterSeconds: 100), .unavailable(""),
    .serverFailure(""),
  ]
  private static let persistent: [ServiceError] = [
    .tooLarge, .refused(""), .loginRefused(""), .readOnly, .nodeReused, .otherLogbook(id: "x"),
    .positionUnknown,
    .protocolViolation(""), .purged,
  ]

  @Test func onlyTemporaryFailuresDelayTheNextAttempt() {
    for error in Self.passing {
      var backoff = Backoff()
      backoff.postpone(after: error, now: 1000, jitter: 0.5)
      #expect(backoff.failures == 1 && backoff.secondsToWait(now: 1000) > 0, "\(error)")
    }
    for error in Self.persistent {
      var backoff = Backoff(failures: 4, nextAttempt: 1010)
      backoff.postpone(after: error, now: 1000, jitter: 0.5)
      #expect(backoff.failures == 4 && backoff.nextAttempt == nil, "\(error)")
    }
  }

  @Test func aRetryDelayIsBetweenHalfAndAllOfItsMaximum() {
    var backoff = Backoff()
    for failure in 0..<20 {
      var (soon, late) = (backoff, backoff)
      soon.postpone(after: .unavailable(""), now: 0, jitter: 0)
      late.postpone(after: .unavailable(""), now: 0, jitter: 0.999_999)
      let bound = min(Backoff.firstSeconds << min(failure, 12), Backoff.longestSeconds)
      #expect(soon.secondsToWait(now: 0) == Int64((bound + 1) / 2), "\(failure)")
      #expect((bound - 1...bound).contains(Int(late.secondsToWait(now: 0))), "\(failure)")
      backoff = soon
    }
  }

  @Test func aRetryDelayEndsExactlyAtItsTime() {
    let backoff = Backoff(failures: 1, nextAttempt: 500)
    #expect([498, 499, 500, 501].map { backoff.secondsToWait(now: $0) } == [2, 1, 0, 0])
    #expect(backoff.secondsToWait(now: 500 - Int64(Backoff.longestSeconds)) == Int64(Backoff.longestSeconds))
    #expect(Backoff().secondsToWait(now: .min) == 0)
  }
}
