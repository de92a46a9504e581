// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore
import Remotes

/// Decides whether a source may be asked, and when the next time is. It is a function of the stored state, so that any
/// number of jobs may call `fetch` at any rate.
struct SourceGate {
  enum Verdict {
    /// The source may be asked.
    case open
    /// The interval has not passed; the time is that of the next attempt.
    case notDue(Int64)
    /// An earlier fetch failed, or the source asked to wait.
    case waiting(Int64)
    /// The source itself asked for no request before this time, which no option overrides.
    case asked(Int64)
    /// A person must act first.
    case blocked(Failure)
  }

  /// The first delay after a failure that passes by itself, in seconds.
  static let firstSeconds: Int64 = 30
  /// The maximum of such delays if the source cannot be reached, in seconds. It refused nothing, and keeps its values for hours
  /// only: a longer delay would lose some after an outage.
  static let maxOutageSeconds: Int64 = 3600
  /// The maximum of the other ones, and of what a source can ask for.
  static let maxSeconds = Int64(RetryAfter.maxSeconds)
  /// The first delay after an answer that is not data, in seconds.
  static let firstLastingSeconds: Int64 = 3600
  /// The maximum of such delays.
  static let maxLastingSeconds: Int64 = 24 * 3600
  /// The maximum that is added to an interval, in seconds, so that not all stores ask at one moment.
  static let maxJitterSeconds = 60.0

  let setting: SourceSetting
  /// The host's clock in UTC seconds.
  let now: Int64

  /// - Parameters:
  ///   - isUnattended: whether a job asks, for which the interval must have passed.
  ///   - isNow: whether a person wants an attempt in spite of earlier failures. Only what the source itself asked for still
  ///     holds.
  func verdict(isUnattended: Bool, isNow: Bool) -> Verdict {
    let state = setting.state
    if let time = pending(state.notBefore, within: Self.maxSeconds) { return .asked(time) }
    if isNow { return .open }
    if state.isBlocked, let failure = state.lasting { return .blocked(failure) }
    guard let time = pending(state.nextAttempt, within: longestWait) else { return .open }
    if state.failures > 0 { return .waiting(time) }
    return isUnattended ? .notDue(time) : .open
  }

  /// A time in the future; nil for one that is due. A time that no wait could lead to is due: the clock was set back.
  private func pending(_ time: Int64?, within seconds: Int64) -> Int64? {
    guard let time, time > now, time - now <= seconds else { return nil }
    return time
  }

  /// Without a failure, only the interval can lead to a wait. A clock that was ahead for one fetch costs no more.
  private var longestWait: Int64 {
    let interval = Int64(setting.access.intervalSeconds) + Int64(Self.maxJitterSeconds)
    return setting.state.failures > 0 ? max(Self.maxLastingSeconds, interval) : interval
  }

  /// The state that is stored before a request: a run that is killed costs one short delay.
  var begun: SourceState {
    var state = setting.state
    state.lastAttempt = now
    state.nextAttempt = now + min(60, Int64(setting.access.intervalSeconds))
    state.notBefore = nil
    return state
  }

  /// The state after a success.
  ///
  /// - Parameters:
  ///   - hasMore: whether the source has more that this run did not read.
  ///   - jitter: a random number from 0 up to, not including, 1.
  func succeeded(_ state: SourceState, hasMore: Bool, jitter: Double) -> SourceState {
    var state = state
    (state.lastSuccess, state.answeredAt) = (now, now)
    let interval = Double(setting.access.intervalSeconds)
    state.nextAttempt =
      hasMore ? nil : now + Int64(interval + jitter * min(Self.maxJitterSeconds, interval / 4))
    (state.failures, state.lastError) = (0, nil)
    (state.lastingCategory, state.lastingError, state.lastingSince) = (nil, nil, nil)
    (state.isBlocked, state.acceptsPerson) = (false, false)
    return state
  }

  /// The state after a failure.
  ///
  /// - Parameters:
  ///   - wasAsked: whether the source was asked. What fails before, such as a missing file with the token, may be tried
  ///     again at any time.
  func failed(
    _ state: SourceState, _ error: SourceFailure, wasAsked: Bool, jitter: Double
  ) -> SourceState {
    var state = state
    let failure = error.failure
    state.lastError = failure.message
    guard !failure.category.isTemporary else {
      state.failures = min(state.failures + 1, 30)
      let isOutage = failure.category == .unavailable
      let delay = Self.delay(
        Self.firstSeconds, state.failures, atMost: isOutage ? Self.maxOutageSeconds : Self.maxSeconds)
      let spread = Int64((Double(delay) * (0.5 + jitter / 2)).rounded(.up))
      if let asked = error.retryAfterSeconds {
        // A lock-out that repeats lasts longer each time.
        let wait = Self.delay(Int64(asked), state.failures, atMost: Self.maxSeconds)
        state.notBefore = now + wait
        state.nextAttempt = now + max(spread, wait)
      } else {
        state.nextAttempt = now + spread
      }
      return state
    }
    // A cause that blocks stays until the source was asked again.
    guard wasAsked || !state.isBlocked else { return state }
    state.lastingError = failure.message
    if state.lastingCategory != failure.category.rawValue {
      (state.lastingCategory, state.lastingSince) = (failure.category.rawValue, now)
    }
    guard wasAsked else {
      (state.failures, state.nextAttempt) = (0, nil)
      return state
    }
    state.failures = min(state.failures + 1, 30)
    state.isBlocked = failure.category == .permission || failure.category == .configuration
    state.nextAttempt =
      now + Self.delay(Self.firstLastingSeconds, state.failures, atMost: Self.maxLastingSeconds)
    if let asked = error.retryAfterSeconds { state.notBefore = now + min(Int64(asked), Self.maxSeconds) }
    return state
  }

  /// A delay that doubles with each failure.
  private static func delay(_ first: Int64, _ failures: Int, atMost limit: Int64) -> Int64 {
    min(limit, first << Int64(min(max(failures - 1, 0), 16)))
  }
}
