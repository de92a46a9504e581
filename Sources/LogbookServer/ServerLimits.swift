// SPDX-License-Identifier: Apache-2.0

/// Limits work that is in progress, in total and for each login. Thus a large number of clients cannot
/// exhaust the memory, and no login blocks the others.
actor WorkLimits {
  private let max: Int
  private let maxPerLogin: Int
  private var reserved = 0
  private var reservedByLogin: [String: Int] = [:]

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Reserves an amount for a login. Returns false if it exceeds a limit. The first work in progress may
  /// exceed the total limit, and the first work of a login may exceed the limit of a login.
  func reserve(_ amount: Int, for login: String) -> Bool {
    let own = reservedByLogin[login] ?? 0
    guard reserved == 0 || reserved + amount <= max, own == 0 || own + amount <= maxPerLogin else {
      return false
    }
    reserved += amount
    reservedByLogin[login] = own + amount
    return true
  }

  func release(_ amount: Int, for login: String) {
    reserved -= amount
    let own = (reservedByLogin[login] ?? 0) - amount
    reservedByLogin[login] = own > 0 ? own : nil
  }
}

/// Counts failed logins by address, and delays the answers to further failed logins. A valid token is never
/// delayed, since several people can share an address. Tokens of 256 random bits cannot be guessed, so the
/// limit only reduces the work that guessing causes.
actor FailedLogins {
  private static let windowSeconds: Int64 = 60
  /// The maximum number of addresses. If more addresses fail in a minute, the logins are not attempts of
  /// people, and all counts are reset.
  private static let maxAddresses = 10_000

  private struct Count {
    var failures: Int
    let since: Int64
  }

  /// How the server reacts to a failed login.
  struct LoginReaction: Equatable {
    /// How many seconds the client should wait before the next login; nil if it has not failed too often.
    var waitSeconds: Int?
    /// The number of failures for which the log has no line, if a summary of them is due; otherwise nil.
    var unlogged: Int?
  }

  private let maxFailures: Int
  private var counts: [String: Count] = [:]
  private var unlogged = 0
  private var unloggedSince: Int64?

  init(maxFailures: Int) { self.maxFailures = maxFailures }

  func add(_ address: String, at now: Int64) -> LoginReaction {
    if counts.count >= Self.maxAddresses { counts = counts.filter { !isOver($0.value.since, now) } }
    if counts.count >= Self.maxAddresses { counts.removeAll() }
    var count = counts[address] ?? Count(failures: 0, since: now)
    if isOver(count.since, now) { count = Count(failures: 0, since: now) }
    count.failures += 1
    counts[address] = count
    guard count.failures > maxFailures else { return LoginReaction() }
    return LoginReaction(waitSeconds: Int(count.since + Self.windowSeconds - now), unlogged: summary(now))
  }

  /// The number of failed logins for a summary in the log. The first failure is logged at once, later ones
  /// together each minute. Nil if no summary is due.
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
