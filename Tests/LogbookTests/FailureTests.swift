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

  /// Each error of a service leads to one category, and so to one exit status.
  private static let ofServices: [(ServiceError, FailureCategory, String)] = [
    (.unavailable("a"), .unavailable, "a"),
    (.busy("a", retryAfterSeconds: nil), .temporary, "a; try again later"),
    (.serverFailure("a", log: "private"), .temporary, "a; try again later"),
    (.tooLarge, .protocolViolation, "host: it rejects even the smallest request"),
    (.refused("a"), .protocolViolation, "a"),
    (.loginRefused("a"), .permission, "a; the login is rejected: check or replace the token"),
    (.readOnly, .permission, "host: this login may only read; use one with write permission"),
    (
      .nodeReused, .temporary,
      "host: this store seems to be a copy; the next 'glucoport upload' registers a new id"
    ),
    (
      .otherLogbook(id: "b"), .configuration,
      "host: it has another logbook (b) than this store was synced with; to send everything to it: 'glucoport remote set --new-remote'"
    ),
    (
      .positionUnknown, .temporary,
      "host: it was restored from a backup and does not know this store's position; try again"
    ),
    (.protocolViolation("a"), .protocolViolation, "a"),
  ]

  @Test(arguments: ofServices)
  func anErrorOfAServiceHasOneCategory(_ error: ServiceError, _ category: FailureCategory, _ text: String) {
    let failure = Failure(error, host: "host")
    #expect(failure.category == category && failure.message == text)
  }

  private static let ofMeters: [(TransportError, FailureCategory, String)] = [
    (
      .timedOut, .protocolViolation, "the meter did not answer in time; unplug it, plug it in again and retry"
    ),
    (.unplugged, .unavailable, "the meter was unplugged; plug it in and retry"),
    (.stalled, .protocolViolation, "the meter refused the request; unplug it, plug it in again and retry"),
    (.overflow, .protocolViolation, "the meter sent more than its protocol allows"),
    (.unsupported, .protocolViolation, "this connection does not support what the driver needs"),
    (
      .notPaired, .permission,
      "the meter and this computer are not paired; run 'glucoport meter forget', then 'glucoport meter pair'"
    ),
    (
      .overrun(.nothingNew), .protocolViolation,
      "the meter sent no new record for 2 minutes; unplug it, plug it in again and retry"
    ),
    (
      .overrun(.tooLong), .protocolViolation,
      "the session with the meter did not end within an hour; unplug it, plug it in again and retry"
    ),
    (.interrupted, .temporary, "interrupted"), (.failed("no memory"), .inputOutput, "no memory"),
  ]

  @Test(arguments: ofMeters)
  func anErrorOfAMeterConnectionHasOneCategory(
    _ error: TransportError, _ category: FailureCategory, _ text: String
  ) {
    let failure = Failure(error, doing: "reading record 12")
    #expect(failure.category == category && failure.message == "reading record 12: \(text)")
  }

  @Test(arguments: [
    (ENOENT, FailureCategory.missingInput), (ENOTDIR, .missingInput), (EACCES, .permission),
    (EPERM, .permission),
    (EIO, .inputOutput), (ENOMEM, .inputOutput),
  ]) func anErrorOfAFileHasOneCategory(_ code: Int32, _ category: FailureCategory) {
    #expect(FailureCategory(unreadableFile: code) == category)
  }
}
