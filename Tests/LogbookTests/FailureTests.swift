// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Logbook

@Suite struct FailureTests {
  @Test(arguments: [(30, 30), (21_600, 21_600), (99_999_999, 21_600), (Int.max, 21_600)])
  func anErrorMessageSuggestsAWaitOfAtMostSixHours(_ asked: Int, _ shown: Int) {
    let failure = Failure(.busy("the server is busy", retryAfterSeconds: asked), host: "host")
    #expect(failure.message == "the server is busy; try again in \(shown) s")
  }

  @Test func adviceToTryAgainFromTheServerIsNotRepeatedInTheMessage() {
    let failure = Failure(.busy("the storage is busy; try again", retryAfterSeconds: 1), host: "host")
    #expect(failure.message == "the storage is busy; try again in 1 s")
    let later = Failure(.busy("try again; the storage is busy", retryAfterSeconds: nil), host: "host")
    #expect(later.message == "try again; the storage is busy; try again later")
    let atOnce = Failure(.busy("the storage is busy", retryAfterSeconds: 0), host: "host")
    #expect(atOnce.message == "the storage is busy; try again later")
  }

  @Test func aSystemCallIsRepeatedOnlyIfASignalInterruptedIt() {
    var results: [(result: Int, error: Int32)] = [(-1, EINTR), (-1, EINTR), (3, 0)]
    func call() -> Int {
      let (result, error) = results.removeFirst()
      errno = error
      return result
    }
    #expect(uninterrupted(call) == 3)
    results = [(-1, EINTR), (-1, EAGAIN), (3, 0)]
    #expect(uninterrupted(call) == -1)
    #expect(results.count == 1)
  }
}
