// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes
import Testing

@testable import CommandParts
@testable import Commands

/// Tests when `SourceGate` allows a request to a source, depending on the stored state of the source.
@Suite struct SourceGateTests {
  private static let now: Int64 = 1_800_000_000

  private static func setting(_ state: SourceState = SourceState(), interval: Int = 300) -> SourceSetting {
    SourceSetting(name: "a", access: SourceAccess(type: "http", intervalSeconds: interval), state: state)
  }

  /// Simulates the state of a source while a job calls `fetch` each minute.
  private struct Timeline {
    var state = SourceState()
    var now = SourceGateTests.now
    var asked: [Int64] = []

    /// Simulates a job each minute up to `seconds` after the start. Returns the number of requests to the
    /// source.
    mutating func run(until seconds: Int64, _ answer: (Int64) -> SourceFailure?) -> Int {
      let before = asked.count
      while now < SourceGateTests.now + seconds {
        let gate = SourceGate(setting: SourceGateTests.setting(state), now: now)
        if case .open = gate.verdict(isUnattended: true, isNow: false) {
          asked.append(now)
          if let error = answer(now) {
            state = gate.failed(gate.begun, error, wasAsked: true, jitter: 0.5)
          } else {
            state = gate.succeeded(gate.begun, hasMore: false, jitter: 0.5)
          }
        }
        now += 60
      }
      return asked.count - before
    }
  }

  @Test func aFetchJobThatRunsEachMinuteAsksTheSourceOncePerInterval() {
    var timeline = Timeline()
    // The interval is 5 minutes and the jitter is 30 s. So a job that runs each minute sends a request every
    // six minutes.
    #expect(timeline.run(until: 3600) { _ in nil } == 10)
  }

  @Test func duringAnOutageTheSourceIsAskedLessOften() {
    var timeline = Timeline()
    let failure = SourceFailure(Failure(.temporary, "no"))
    let first = timeline.run(until: 3600) { _ in failure }
    #expect((6...9).contains(first), "\(first)")
    let days = timeline.run(until: 3 * 86400) { _ in failure }
    #expect((12...20).contains(days), "\(days)")
    #expect(timeline.run(until: 3 * 86400 + 7 * 3600) { _ in nil } >= 1)
    #expect(timeline.state.failures == 0 && timeline.state.lastError == nil)
  }

  /// A source may keep its values for only half a day. So even after an outage of eleven hours, a request
  /// must come soon enough to get all of them.
  @Test func anUnreachableSourceIsAskedAgainEachHour() {
    var timeline = Timeline()
    let failure = SourceFailure(Failure(.unavailable, "no"))
    let days = timeline.run(until: 3 * 86400) { _ in failure }
    #expect((72...110).contains(days), "\(days)")
    let waits = zip(timeline.asked, timeline.asked.dropFirst()).map { $1 - $0 }
    #expect(waits.allSatisfy { $0 <= 3600 + 60 } && waits.last.map { $0 > 1800 } == true, "\(waits)")
    #expect(timeline.run(until: 3 * 86400 + 3660) { _ in nil } >= 1)
  }

  @Test func aPasswordThatTheSourceRejectsIsSentOnlyOnce() {
    var timeline = Timeline()
    #expect(timeline.run(until: 7 * 86400) { _ in SourceFailure(Failure(.permission, "no")) } == 1)
    #expect(timeline.state.isBlocked && timeline.state.lastingSince == Self.now)
  }

  @Test func anInvalidAnswerOfASourceIsRequestedAgainAboutDaily() {
    var timeline = Timeline()
    let count = timeline.run(until: 7 * 86400) { _ in SourceFailure(Failure(.protocolViolation, "no")) }
    #expect((9...12).contains(count), "\(count)")
  }

  @Test func aSourceThatLocksTheAccountAgainIsAskedAfterALongerWait() {
    var timeline = Timeline()
    let locked = SourceFailure(Failure(.temporary, "locked"), retryAfterSeconds: 900)
    _ = timeline.run(until: 86400) { _ in locked }
    let waits = zip(timeline.asked, timeline.asked.dropFirst()).map { $1 - $0 }
    #expect(waits.prefix(5) == [900, 1800, 3600, 7200, 14400], "\(waits)")
    #expect(waits.allSatisfy { $0 <= 6 * 3600 })
  }

  @Test func withTheNowOptionAFetchWaitsOnlyIfTheSourceAskedForIt() {
    let gate = SourceGate(setting: Self.setting(), now: Self.now)
    let refused = gate.failed(
      gate.begun, SourceFailure(Failure(.permission, "no")), wasAsked: true, jitter: 0)
    let asked = gate.failed(
      gate.begun, SourceFailure(Failure(.temporary, "busy"), retryAfterSeconds: 600), wasAsked: true,
      jitter: 0)
    func isOpen(_ state: SourceState, isNow: Bool, at now: Int64) -> Bool {
      let gate = SourceGate(setting: Self.setting(state), now: now)
      if case .open = gate.verdict(isUnattended: false, isNow: isNow) { return true }
      return false
    }
    #expect(!isOpen(refused, isNow: false, at: Self.now + 86400 * 30))
    #expect(isOpen(refused, isNow: true, at: Self.now))
    #expect(!isOpen(asked, isNow: true, at: Self.now + 599))
    #expect(isOpen(asked, isNow: true, at: Self.now + 600))
  }

  @Test func aFetchThatFailedBeforeItsRequestMayBeTriedAgainAtOnce() {
    let gate = SourceGate(setting: Self.setting(), now: Self.now)
    let state = gate.failed(
      gate.begun, SourceFailure(Failure(.missingInput, "no file")), wasAsked: false, jitter: 0)
    guard
      case .open = SourceGate(setting: Self.setting(state), now: Self.now + 1)
        .verdict(isUnattended: true, isNow: false)
    else {
      Issue.record("not open")
      return
    }
  }

  @Test func aClockThatWasSetBackDoesNotDelayTheNextFetch() {
    var state = SourceState()
    state.nextAttempt = Self.now + 400 * 86400
    state.notBefore = Self.now + 400 * 86400
    guard
      case .open = SourceGate(setting: Self.setting(state), now: Self.now)
        .verdict(isUnattended: true, isNow: false)
    else {
      Issue.record("not open")
      return
    }
  }

  @Test func aFetchMadeWhileTheClockWasAheadDoesNotDelayTheNextFetch() {
    let ahead = SourceGate(setting: Self.setting(), now: Self.now + 43200)
    let state = ahead.succeeded(ahead.begun, hasMore: false, jitter: 0)
    func isOpen(_ state: SourceState) -> Bool {
      let gate = SourceGate(setting: Self.setting(state), now: Self.now)
      if case .open = gate.verdict(isUnattended: true, isNow: false) { return true }
      return false
    }
    #expect(isOpen(state))
    // Only the delay after a success is shortened. A long delay after failures stays valid.
    var failed = SourceState()
    (failed.failures, failed.nextAttempt) = (9, Self.now + 43200)
    #expect(!isOpen(failed))
  }

  @Test func aTemporaryFailureOfASourceDoesNotReplaceAPersistentOne() {
    let gate = SourceGate(setting: Self.setting(), now: Self.now)
    func failing(_ state: SourceState, _ category: FailureCategory, _ words: String, asked: Bool = true)
      -> SourceState
    {
      gate.failed(state, SourceFailure(Failure(category, words)), wasAsked: asked, jitter: 0)
    }
    let refused = failing(gate.begun, .permission, "rejected")
    let busy = failing(refused, .temporary, "busy")
    #expect(busy.isBlocked && busy.persistentFailure?.message == "rejected" && busy.lastError == "busy")
    let noFile = failing(refused, .missingInput, "no file", asked: false)
    #expect(noFile.isBlocked && noFile.persistentFailure?.message == "rejected")
    let other = failing(refused, .protocolViolation, "no data")
    #expect(!other.isBlocked && other.persistentFailure?.message == "no data")
    #expect(gate.succeeded(refused, hasMore: false, jitter: 0).persistentFailure == nil)
  }

  @Test func aKilledFetchDelaysTheNextOneByAMinute() {
    let state = SourceGate(setting: Self.setting(), now: Self.now).begun
    func verdict(_ now: Int64) -> SourceGate.Admission {
      SourceGate(setting: Self.setting(state), now: now).verdict(isUnattended: true, isNow: false)
    }
    guard case .notDue = verdict(Self.now + 59), case .open = verdict(Self.now + 60) else {
      Issue.record("wrong delay")
      return
    }
  }

  @Test(
    arguments: [
      ("https://ns.example.org", "https://ns.example.org", "nightscout", true),
      ("https://ns.example.org", "https://NS.example.org:443/", "nightscout", true),
      ("https://ns.example.org", "https://ns.example.org/api/v1/entries.json?count=9", "http", true),
      ("https://ns.example.org/anna", "https://ns.example.org/ben/api", "http", false),
      ("https://ns.example.org/anna", "https://ns.example.org/anna/api", "http", true),
      ("https://ns.example.org", "https://other.example.org", "nightscout", false),
    ])
  func theNightscoutSiteOfTheRemoteIsRefusedAsASource(
    _ remote: String, _ source: String, _ type: String, _ isRefused: Bool
  ) {
    var access = SourceAccess(type: type, intervalSeconds: 900)
    access.url = source
    let site = RemoteAccess(kind: "nightscout", url: remote, token: .file("/token"))
    var failure: Failure?
    do {
      try SourceRemote.refuse(access, as: site)
    } catch {
      failure = error as? Failure
    }
    #expect((failure?.category == .configuration) == isRefused)
  }

  @Test func timeWithoutASensorIsNotReportedAsMissingIfTheSourceAnswered() {
    var state = SourceState()
    (state.newestValue, state.answeredAt) = (Self.now - 5 * 86400, Self.now - 900)
    #expect(SourceHoles.after(state, oldest: Self.now - 600, count: 2, now: Self.now) == [])
    // The last answer is older than the oldest value that the source still has, so values between them may be
    // lost.
    state.answeredAt = Self.now - 86400
    let rest = SourceHole(from: Self.now - 86400 - SourceHoles.lagSeconds, until: Self.now - 43200)
    #expect(SourceHoles.after(state, oldest: Self.now - 43200, count: 144, now: Self.now) == [rest])
    // The service always answered. But a phone that was offline later sent it only the values of the last
    // half day, so earlier values are missing.
    state.answeredAt = Self.now - 900
    let late = SourceHole(from: Self.now - 5 * 86400, until: Self.now - 43200)
    #expect(SourceHoles.after(state, oldest: Self.now - 43200, count: 144, now: Self.now) == [late])
    // If the time of the last answer is unknown or in the future, every time without values counts as
    // missing.
    for answered in [nil, Self.now + 86400] {
      state.answeredAt = answered
      let whole = SourceHole(from: Self.now - 5 * 86400, until: Self.now - 600)
      #expect(SourceHoles.after(state, oldest: Self.now - 600, count: 2, now: Self.now) == [whole])
    }
  }

  /// A source keeps values for twelve hours. One sensor ends, and the next one starts `silentHours` later. A
  /// request is sent every `everyHours` hours.
  @Test(arguments: [
    // The next sensor started after the last answer, less than twelve hours ago. The source still has all its
    // values.
    (silentHours: 30, everyHours: 3, hasHole: false), (silentHours: 5, everyHours: 3, hasHole: false),
    // The first sensor still measured after the last answer, so its last values may be missing.
    (silentHours: 1, everyHours: 3, hasHole: true),
    // With a request each day, values of the next sensor are already lost if they are older than twelve
    // hours.
    (silentHours: 30, everyHours: 24, hasHole: true),
  ])
  func valuesAroundASensorChangeAreReportedMissingOnlyIfTheSourceLostThem(
    _ silentHours: Int64, _ everyHours: Int64, _ hasHole: Bool
  ) {
    let (end, window) = (Self.now, 12 * 3600 as Int64)
    let begin = end + silentHours * 3600
    // The time of the last request before the next sensor starts.
    let last = begin - (everyHours > 12 ? 3600 : 5400)
    var state = SourceState()
    func values(at now: Int64) -> [Int64] {
      // The source returns only values of the current sensor.
      let first = stride(from: end - 86400, through: min(end, now), by: 300).filter { $0 > now - window }
      let second = stride(from: begin, through: now, by: 300).filter { $0 > now - window }
      return second.isEmpty ? first : second
    }
    for now in stride(from: last - 20 * everyHours * 3600, through: last, by: 3600) where now >= end - 43200 {
      let shown = values(at: now)
      state.foundHoles = SourceHoles.after(state, oldest: shown.first, count: shown.count, now: now)
      SourceHoles.updateReach(
        of: shown.first.flatMap { first in shown.last.map { first...$0 } }, count: shown.count, now: now,
        &state)
      (state.answeredAt, state.newestValue) = (now, max(state.newestValue ?? .min, shown.last ?? .min))
    }
    #expect(state.foundHoles == [])
    let now = last + everyHours * 3600
    let shown = values(at: now)
    let found = SourceHoles.after(state, oldest: shown.first, count: shown.count, now: now)
    #expect(found.isEmpty != hasHole, "\(found)")
    // If the store does not know for how long the source keeps values, some hours are reported as missing.
    (state.reachSeconds, state.maxValues) = (nil, nil)
    #expect(!SourceHoles.after(state, oldest: shown.first, count: shown.count, now: now).isEmpty)
  }

  /// Simulates two weeks with a value every five minutes and a job each minute. The source keeps values for
  /// twelve hours. There are outages, a change of the sensor, and a change of the password.
  @Test func overTwoWeeksWithOutagesEachValueIsFetchedOrReportedAsMissing() {
    let (start, day, window): (Int64, Int64, Int64) = (Self.now, 86400, 12 * 3600)
    let outages = [day + 300..<day + 1500, 3 * day..<3 * day + 5 * 3600, 6 * day..<8 * day]
    let sensorChange = 10 * day..<10 * day + 7200
    let (passwordChange, noticed) = (12 * day, 12 * day + 5 * 3600)
    var (state, stored, mails, requests) = (SourceState(), Set<Int64>(), 0, 0)
    for minute in 0..<14 * 1440 {
      let now = start + Int64(minute) * 60
      // A person reads the mail about the wrong password some hours later, and runs `source set` again.
      if now == start + noticed {
        let kept = (state.foundHoles, state.newestValue, state.answeredAt)
        state = SourceState()
        (state.foundHoles, state.newestValue, state.answeredAt) = kept
      }
      let gate = SourceGate(setting: Self.setting(state), now: now)
      guard case .open = gate.verdict(isUnattended: true, isNow: false) else { continue }
      requests += 1
      var failure: Failure?
      if outages.contains(where: { $0.contains(now - start) }) { failure = Failure(.unavailable, "no") }
      if (passwordChange..<noticed).contains(now - start) { failure = Failure(.permission, "no") }
      if let failure {
        if !failure.category.isTemporary, state.lastingCategory != failure.category.rawValue { mails += 1 }
        state = gate.failed(gate.begun, SourceFailure(failure), wasAsked: true, jitter: 0.5)
        continue
      }
      let values = stride(from: start, through: now, by: 300).filter {
        $0 > now - window && !sensorChange.contains($0 - start)
      }
      let holes = SourceHoles.after(state, oldest: values.first, count: values.count, now: now)
      state = gate.succeeded(gate.begun, hasMore: false, jitter: 0.5)
      state.foundHoles = holes
      SourceHoles.updateReach(
        of: values.first.flatMap { first in values.last.map { first...$0 } }, count: values.count, now: now,
        &state)
      state.newestValue = values.last ?? state.newestValue
      stored.formUnion(values)
    }
    let end = state.newestValue ?? 0
    let missing = stride(from: start, through: end, by: 300).filter { value in
      !stored.contains(value) && !sensorChange.contains(value - start)
    }
    // During the outage of two days, the source lost all values older than twelve hours. Only these are
    // reported as missing.
    let holes = state.foundHoles ?? []
    #expect(holes.count == 1 && mails == 1, "\(holes), \(mails)")
    #expect(
      !missing.isEmpty
        && missing.allSatisfy { value in holes.contains { $0.from < value && value < $0.until } })
    #expect(end > start + 14 * day - 900)
    // The job sends a request every six minutes without failures, fewer during outages, and none while the
    // password is wrong.
    #expect((2200...2900).contains(requests), "\(requests)")
  }
}
