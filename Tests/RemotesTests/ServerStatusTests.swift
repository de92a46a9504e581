// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Tests the error for each HTTP status of a glucoport server, with and without an error code in the body.
@Suite(.timeLimit(.minutes(10)))
struct ServerStatusTests {
  private static let other = "99999999-9999-4999-8999-999999999999"

  @Test(arguments: [
    (409, ErrorBody(.nodeReused, "seen"), ServiceError.nodeReused),
    (409, ErrorBody(.otherLogbook, "other", logbook: other), .otherLogbook(id: other)),
    (410, ErrorBody(.positionUnknown, "restored"), .positionUnknown),
    (403, ErrorBody(.readOnly, "read"), .readOnly),
    (413, ErrorBody(.tooLarge, "large"), .tooLarge),
  ])
  func eachErrorCodeOfTheServerHasItsMeaning(_ status: Int, _ body: ErrorBody, _ expected: ServiceError)
    async throws
  {
    #expect(try await problem { _ in .status(status, body.json) } == expected)
  }

  @Test(arguments: [
    (400, ErrorCode.badRequest, "refused"), (401, .login, "loginRefused"), (401, nil, "loginRefused"),
    (403, nil, "loginRefused"), (413, nil, "tooLarge"), (429, .tooMany, "busy"), (429, nil, "busy"),
    (503, .busy, "busy"), (503, nil, "busy"), (500, .serverFailure, "serverFailure"),
    (500, nil, "serverFailure"), (507, nil, "serverFailure"), (502, nil, "unavailable"),
    (504, nil, "unavailable"), (408, nil, "unavailable"), (400, nil, "protocolViolation"),
    (404, .notFound, "protocolViolation"), (410, nil, "protocolViolation"),
    // An error code is ignored if the HTTP status does not belong to it.
    (500, .nodeReused, "serverFailure"), (502, .positionUnknown, "unavailable"),
    (409, .badRequest, "protocolViolation"), (400, .login, "protocolViolation"),
  ])
  func anHTTPErrorIsReportedByTheActionItNeeds(_ status: Int, _ code: ErrorCode?, _ expected: String)
    async throws
  {
    let body = code.map { ErrorBody($0, "the words of the server").json } ?? Array("<html>".utf8)
    let problem = try await problem { _ in .status(status, body) }
    #expect("\(problem)".hasPrefix(expected), "\(problem)")
    if code != nil, let sentence = problem.sentence {
      #expect(sentence.hasSuffix(": the words of the server"))
    }
  }

  /// Usually the path of the address is wrong, or the user did not state the type of the remote.
  @Test(arguments: [204, 300, 304, 400, 404, 405, 409, 410, 418, 451])
  func anUnexpectedHTTPStatusIsReportedWithWhatToCheck(_ status: Int) async throws {
    let problem = try await problem { _ in .status(status, Array("<html>".utf8)) }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(problem)")
      return
    }
    #expect(
      sentence.contains("status \(status), which is unexpected for this type of remote; check the address"))
    #expect(sentence.contains("'glucoport remote set --type'") && !sentence.contains("redirects"))
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func aRedirectionIsReportedWithItsTargetIfStated(_ status: Int) async throws {
    let plain = try await problem { _ in .status(status) }
    #expect(plain.sentence?.hasSuffix("it redirects to another address; redirects are not followed") == true)
    let place = try await problem { _ in .status(status, headers: ["Location: https://a.example/x"]) }
    #expect(place.sentence?.contains("it redirects to https://a.example; redirects are not followed") == true)
  }

  @Test(arguments: [429, 503])
  func theWaitRequestedByTheServerIsReported(_ status: Int) async throws {
    let seconds = try await problem { _ in .status(status, headers: ["Retry-After: 17"]) }
    let date = try await problem { _ in
      .status(
        status,
        headers: ["Date: Wed, 06 May 2026 16:30:00 GMT", "Retry-After: Wed, 06 May 2026 16:31:30 GMT"])
    }
    let none = try await problem { _ in .status(status) }
    let waits = [seconds, date, none].map { problem in
      if case .busy(_, let seconds) = problem { seconds } else { -1 }
    }
    #expect(waits == [17, 90, nil])
  }

  @Test(
    arguments: [
      ("0", 0), ("120", 120), ("-1", nil), ("1.5", nil), ("soon", nil), ("", nil),
      ("99999999999999999999999", .max), ("Wed, 06 May 2026 16:30:10 GMT", 10),
      ("Wed, 06 May 2026 16:29:00 GMT", 0), ("Wed, 31 Feb 2026 16:29:00 GMT", nil),
      ("Wed, 06 May 2026 16:30:10 CET", nil), ("Wed, 06 May 2026 16:30 GMT", nil),
    ] as [(String, Int?)])
  func theRequestedWaitIsReadFromANumberOrADate(_ value: String, _ seconds: Int?) {
    #expect(RetryAfter.seconds(value, date: "Wed, 06 May 2026 16:30:00 GMT") == seconds)
  }

  @Test func aDateInRetryAfterIsIgnoredWithoutADateHeader() {
    #expect(RetryAfter.seconds("Wed, 06 May 2026 16:30:10 GMT", date: nil) == nil)
    #expect(RetryAfter.seconds("Wed, 06 May 2026 16:30:10 GMT", date: "today") == nil)
    #expect(RetryAfter.seconds(nil, date: "Wed, 06 May 2026 16:30:00 GMT") == nil)
  }

  @Test func theServerMessageAboutARefusedItemIsShortened() async throws {
    let reason = String(repeating: "x", count: 500) + Login.secret
    let answer = ReadingAnswer(stored: 0, known: 0, refused: [RefusedItem(item: 0, reason: reason)])
    let server = try ScriptedServer { _ in .status(200, WireCodec.write(answer)) }
    let told = try await ask(server) { try await $0.store(Sample.batch(1), Login.run()) }
    #expect(told.refused.first?.reason.count == 200)
  }
}
