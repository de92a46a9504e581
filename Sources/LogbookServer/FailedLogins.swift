// SPDX-License-Identifier: Apache-2.0

/// Counts failed logins by address. A good token is never made to wait: people share addresses, and 256 random bits
/// are not found by trying, so that the limit only bounds the work for those who try.
actor FailedLogins {
  private static let windowSeconds: Int64 = 60
  /// More addresses than this within a minute are no people's.
  private static let maxAddresses = 10_000

  private struct Count {
    var failures: Int
    let since: Int64
  }

  /// What a failure leads to.
  struct Verdict: Equatable {
    /// The seconds to wait, where there were too many.
    var waitSeconds: Int?
    /// How many failures of all addresses the log does not show, where it is time for a line about them.
    var unlogged: Int?
  }

  private let maxFailures: Int
  private var counts: [String: Count] = [:]
  private var unlogged = 0
  private var unloggedSince: Int64?

  init(maxFailures: Int) { self.maxFailures = maxFailures }

  /// Counts a failure.
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

  /// One line at once, then one for each minute.
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
