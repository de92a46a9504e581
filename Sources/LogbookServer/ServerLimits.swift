// SPDX-License-Identifier: Apache-2.0

/// Limits concurrent work in total and for each login, so that many clients cannot exhaust the memory and no login
/// blocks the others.
actor WorkLimits {
  private let max: Int
  private let maxPerLogin: Int
  private var taken = 0
  private var takenByLogin: [String: Int] = [:]

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Reserves an amount for a login; false if it does not fit. The only work of the server always fits.
  func take(_ amount: Int, for login: String) -> Bool {
    let own = takenByLogin[login] ?? 0
    guard taken == 0 || taken + amount <= max, own == 0 || own + amount <= maxPerLogin else { return false }
    taken += amount
    takenByLogin[login] = own + amount
    return true
  }

  func release(_ amount: Int, for login: String) {
    taken -= amount
    let own = (takenByLogin[login] ?? 0) - amount
    takenByLogin[login] = own > 0 ? own : nil
  }
}

/// Counts failed logins by address. A valid token is never delayed, since people share addresses. Tokens of 256 random
/// bits cannot be guessed, so the limit only bounds the work that guessing causes.
actor FailedLogins {
  private static let windowSeconds: Int64 = 60
  /// The number of addresses above which the counts are reset: more in a minute are not people.
  private static let maxAddresses = 10_000

  private struct Count {
    var failures: Int
    let since: Int64
  }

  /// The consequence of a failure.
  struct Verdict: Equatable {
    /// The seconds to wait after too many failures.
    var waitSeconds: Int?
    /// The number of failures that the log does not list, if a summary is due.
    var unlogged: Int?
  }

  private let maxFailures: Int
  private var counts: [String: Count] = [:]
  private var unlogged = 0
  private var unloggedSince: Int64?

  init(maxFailures: Int) { self.maxFailures = maxFailures }

  func add(_ address: String, at now: Int64) -> Verdict {
    if counts.count >= Self.maxAddresses { counts = counts.filter { !isOver($0.value.since, now) } }
    if counts.count >= Self.maxAddresses { counts.removeAll() }
    var count = counts[address] ?? Count(failures: 0, since: now)
    if isOver(count.since, now) { count = Count(failures: 0, since: now) }
    count.failures += 1
    counts[address] = count
    guard count.failures > maxFailures else { return Verdict() }
    return Verdict(waitSeconds: Int(count.since + Self.windowSeconds - now), unlogged: summary(now))
  }

  /// A first summary immediately, then one for each minute.
  private func summary(_ now: Int64) -> Int? {
    unlogged += 1
    guard unloggedSince.map({ isOver($0, now) }) ?? true else { return nil }
    unloggedSince = now
    defer { unlogged = 0 }
    return unlogged
  }

  private func isOver(_ since: Int64, _ now: Int64) -> Bool {
    now >= since + Self.windowSeconds || now < since
  }
}
