// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore
import Remotes

/// Decides whether a source may be asked now, and when the next attempt is. Only the stored state and the
/// time decide, so any number of jobs may call `fetch` at any rate.
struct SourceGate {
  enum Admission {
    /// The source may be asked.
    case open
    /// The interval has not passed. The value is the time of the next attempt in UTC seconds.
    case notDue(Int64)
    /// An earlier fetch failed, and the delay after it has not passed. The value is the end of the delay in
    /// UTC seconds.
    case waiting(Int64)
    /// The source itself asked for no request before this time in UTC seconds. No option overrides it.
    case asked(Int64)
    /// No request is sent until a person corrects the cause of this failure.
    case blocked(Failure)
  }

  /// The first delay after a temporary failure, in seconds. It doubles with each further failure.
  static let firstSeconds: Int64 = 30
  /// The longest delay in seconds while a source is unreachable. It is short, since many sources keep values
  /// only for hours: after a longer delay, values would be lost.
  static let maxOutageSeconds: Int64 = 3600
  /// The longest delay in seconds after other temporary failures, and the longest delay that a source can ask
  /// for.
  static let maxSeconds = Int64(RetryAfter.maxSeconds)
  /// The first delay in seconds after a lasting failure, such as an answer that is not data.
  static let firstPersistentSeconds: Int64 = 3600
  /// The longest delay in seconds after lasting failures.
  static let maxPersistentSeconds: Int64 = 24 * 3600
  /// The maximum random addition to an interval, in seconds. With it, stores do not all send requests at the
  /// same moment.
  static let maxJitterSeconds = 60.0

  let setting: SourceSetting
  /// The host's clock in UTC seconds.
  let now: Int64

  /// Whether the source may be asked now, or why not.
  ///
  /// - Parameters:
  ///   - isUnattended: whether a job asks. A job must wait until the interval has passed.
  ///   - isNow: whether a person wants an attempt in spite of earlier failures. It does not override a wait
  ///     that the source asked for.
  func verdict(isUnattended: Bool, isNow: Bool) -> Admission {
    let state = setting.state
    if let time = pending(state.notBefore, within: Self.maxSeconds) { return .asked(time) }
    if isNow { return .open }
    if state.isBlocked, let failure = state.persistentFailure { return .blocked(failure) }
    guard let time = pending(state.nextAttempt, within: longestWait) else { return .open }
    if state.failures > 0 { return .waiting(time) }
    return isUnattended ? .notDue(time) : .open
  }

  /// The time if it is in the future, otherwise nil. A time more than `seconds` ahead was stored before the
  /// clock was set back, so it is ignored as well.
  private func pending(_ time: Int64?, within seconds: Int64) -> Int64? {
    guard let time, time > now, time - now <= seconds else { return nil }
    return time
  }

  /// The maximum time in seconds from now to the stored time of the next attempt. A time beyond it was stored
  /// while the clock was ahead, and is ignored.
  private var longestWait: Int64 {
    let interval = Int64(setting.access.intervalSeconds) + Int64(Self.maxJitterSeconds)
    return setting.state.failures > 0 ? max(Self.maxPersistentSeconds, interval) : interval
  }

  /// The state to store before a request. If the run is killed, the next attempt waits for at most a minute.
  var begun: SourceState {
    var state = setting.state
    state.lastAttempt = now
    state.nextAttempt = now + min(60, Int64(setting.access.intervalSeconds))
    state.notBefore = nil
    return state
  }

  /// The state after a successful fetch.
  ///
  /// - Parameters:
  ///   - hasMore: whether the source has items that this run did not read. The next fetch is then due at
  ///     once.
  ///   - jitter: a random number from 0 to below 1.
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

  /// The state after a failed fetch.
  ///
  /// - Parameters:
  ///   - wasAsked: whether a request was sent. A lasting failure before it, such as a missing file with the
  ///     token, causes no delay.
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
        // If the source repeats its request to wait, each wait is longer than the last.
        let wait = Self.delay(Int64(asked), state.failures, atMost: Self.maxSeconds)
        state.notBefore = now + wait
        state.nextAttempt = now + max(spread, wait)
      } else {
        state.nextAttempt = now + spread
      }
      return state
    }
    // If an earlier failure needs a person, a failure that occurs before the request does not replace it.
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
      now + Self.delay(Self.firstPersistentSeconds, state.failures, atMost: Self.maxPersistentSeconds)
    if let asked = error.retryAfterSeconds { state.notBefore = now + min(Int64(asked), Self.maxSeconds) }
    return state
  }

  /// The delay after a number of failures, in seconds. It starts with `first` and doubles up to the limit.
  private static func delay(_ first: Int64, _ failures: Int, atMost limit: Int64) -> Int64 {
    min(limit, first << Int64(min(max(failures - 1, 0), 16)))
  }
}
