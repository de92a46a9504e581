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

  private let maxFailures: Int
  private var counts: [String: Count] = [:]

  init(maxFailures: Int) { self.maxFailures = maxFailures }

  /// Counts a failure; gives the seconds to wait where there were too many.
  func add(_ address: String, at now: Int64) -> Int? {
    if counts.count >= Self.maxAddresses { counts = counts.filter { !isOver($0.value, now) } }
    if counts.count >= Self.maxAddresses { counts.removeAll() }
    var count = counts[address] ?? Count(failures: 0, since: now)
    if isOver(count, now) { count = Count(failures: 0, since: now) }
    count.failures += 1
    counts[address] = count
    return count.failures > maxFailures ? Int(count.since + Self.windowSeconds - now) : nil
  }

  private func isOver(_ count: Count, _ now: Int64) -> Bool {
    now >= count.since + Self.windowSeconds || now < count.since
  }
}
