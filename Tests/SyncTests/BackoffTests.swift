// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Sync

@Suite struct BackoffTests {
  private let busy = ServiceError.busy("", retryAfterSeconds: nil)

  @Test func delaysAfterFailuresIncreaseToTheMaximumAndStayThere() {
    var backoff = Backoff()
    var waits: [Int64] = []
    for _ in 0..<40 {
      backoff.postpone(after: busy, now: 1000, jitter: 0)
      waits.append(backoff.secondsToWait(now: 1000))
    }
    #expect(waits == waits.sorted())
    #expect(waits.first == Int64(Backoff.firstSeconds / 2))
    #expect(waits.last == Int64(Backoff.longestSeconds / 2))
  }

  @Test func jitterSpreadsTheRetryDelaysOfManyClients() {
    let waits = [0, 0.25, 0.5, 0.75].map { jitter in
      var backoff = Backoff()
      backoff.postpone(after: busy, now: 0, jitter: jitter)
      return backoff.secondsToWait(now: 0)
    }
    #expect(Set(waits).count == 4)
    #expect(waits.allSatisfy { $0 <= Int64(Backoff.firstSeconds) })
  }

  @Test(arguments: [(600, 600), (7, 15), (-5, 15), (10_000_000, Backoff.longestSeconds)])
  func theRetryDelayStatedByTheServerIsObeyedUpToTheMaximum(asked: Int, expected: Int) {
    var backoff = Backoff()
    backoff.postpone(after: .busy("", retryAfterSeconds: asked), now: 50, jitter: 0)
    #expect(backoff.secondsToWait(now: 50) == Int64(expected))
  }

  @Test func aRetryPlannedFurtherAheadThanTheMaximumIsDueImmediately() {
    let backoff = Backoff(failures: 3, nextAttempt: 1_000_000)
    #expect(backoff.secondsToWait(now: 1_000_000 - Int64(Backoff.longestSeconds) - 1) == 0)
    #expect(backoff.secondsToWait(now: 1_000_000 - 10) == 10)
    #expect(backoff.secondsToWait(now: 1_000_001) == 0)
  }

  @Test func aPermanentFailureDoesNotDelayTheNextUpload() {
    var backoff = Backoff(failures: 3, nextAttempt: 90)
    backoff.postpone(after: .loginRefused(""), now: 50, jitter: 0)
    #expect(backoff.secondsToWait(now: 50) == 0)
  }
}
