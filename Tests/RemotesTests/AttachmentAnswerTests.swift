// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Tests a client with a glucoport server whose answers about attachments are impossible.
@Suite(.timeLimit(.minutes(10))) struct AttachmentAnswerTests {
  private static let digest = String(repeating: "b", count: 64)

  private func with(
    _ answer: ScriptedAnswer, _ body: (any AttachmentService) async throws -> Void
  ) async throws {
    let server = try ScriptedServer { _ in answer }
    let login = RemoteLogin(
      address: try RemoteAddress(server.url, allowsPlainHTTP: false), token: try Login.token(Login.secret),
      agent: "glucoport/test")
    try await RemoteRegister.with("glucoport", login) { (remote) async throws in
      try await body(try #require(remote.attachments))
    }
  }

  @Test(arguments: [
    [], ["Glucoport-Held: -1"], ["Glucoport-Held: 5"], ["Glucoport-Held: 9", "Glucoport-Size: 8"],
    ["Glucoport-Held: x", "Glucoport-Size: 8"],
  ])
  func anAttachmentAnswerMustStateHowMuchTheServerHolds(_ headers: [String]) async throws {
    try await with(.status(200, headers: headers)) { (remote) async throws in
      let problem = await #expect(throws: ServiceError.self) {
        try await remote.heldContent(of: Self.digest, Login.run())
      }
      guard case .protocolViolation = problem else {
        Issue.record("\(String(describing: problem))")
        return
      }
    }
  }

  @Test(arguments: [
    "bytes 1-5/100", "bytes 0-9223372036854775807/9223372036854775807", "bytes 0-4/4", "bytes 0-4", "0-4/100",
    "bytes 0-3/100", "bytes */100",
  ])
  func anAttachmentAnswerWithAnotherRangeThanRequestedIsRefused(_ range: String) async throws {
    let answer = ScriptedAnswer.status(
      206, Array("hello".utf8),
      headers: ["Content-Range: \(range)", "Content-Type: application/octet-stream"])
    try await with(answer) { (remote) async throws in
      let problem = await #expect(throws: ServiceError.self) {
        try await remote.part(of: Self.digest, from: 0, limit: 10, Login.run())
      }
      guard case .protocolViolation = problem else {
        Issue.record("\(range) \(String(describing: problem))")
        return
      }
    }
  }

  /// A network's login page is not the server's answer, so the request must fail and can be repeated later.
  @Test(arguments: [
    (200, ["Content-Type: text/html"]), (200, []),
    (200, ["Content-Type: text/html", "Glucoport-Held: 30", "Glucoport-Size: 30"]),
    (200, ["Content-Type: application/octet-stream"]),
    (200, ["Content-Type: application/octet-stream", "Glucoport-Held: 31", "Glucoport-Size: 31"]),
    (206, ["Content-Type: text/html", "Content-Range: bytes 0-29/30"]),
    (404, ["Content-Type: text/html"]), (416, []), (204, []), (302, ["Location: http://login.example/"]),
  ])
  func aLoginPageIsNotAcceptedAsAnAttachment(_ status: Int, _ headers: [String]) async throws {
    let page = Array("<html>Welcome to hotel</html>\n".utf8)
    #expect(page.count == 30)
    try await with(.status(status, status == 204 ? [] : page, headers: headers)) { (remote) async throws in
      try await expectViolation {
        _ = try await remote.part(of: Self.digest, from: 0, limit: 100, Login.run())
      }
    }
    // A login page never states in a header how much of an attachment the server holds.
    let isServers = headers.contains { $0.hasPrefix("Glucoport-Held") }
    try await with(.status(status, headers: isServers ? [] : headers)) { (remote) async throws in
      try await expectViolation { _ = try await remote.heldContent(of: Self.digest, Login.run()) }
      try await expectViolation {
        let content = AttachmentContent(digest: Self.digest, size: 5)
        _ = try await remote.append([1], to: content, at: 0, Login.run())
      }
    }
  }

  private func expectViolation(_ call: () async throws -> Void) async throws {
    let problem = await #expect(throws: ServiceError.self) { try await call() }
    guard case .protocolViolation = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
  }

  @Test func anAttachmentMissingOnTheServerIsNotAFailure() async throws {
    let answer = ScriptedAnswer.status(
      404, ErrorBody(.notFound, "there is no whole content").json, headers: ["Glucoport-Error: not-found"])
    try await with(answer) { (remote) async throws in
      #expect(try await remote.part(of: Self.digest, from: 0, limit: 100, Login.run()) == nil)
    }
  }

  @Test(arguments: [
    (409, "node-reused", ServiceError.nodeReused), (410, "position-unknown", .positionUnknown),
    (403, "read-only", .readOnly),
  ])
  func anErrorWithoutABodyIsReadFromItsHeader(
    _ status: Int, _ word: String, _ error: ServiceError
  ) async throws {
    try await with(.status(status, headers: ["Glucoport-Error: \(word)"])) { (remote) async throws in
      await #expect(throws: error) { try await remote.heldContent(of: Self.digest, Login.run()) }
    }
  }

  @Test(arguments: [
    "", "../../x", "5", String(repeating: "A", count: 64), String(repeating: "a", count: 63) + "/",
  ])
  func anAttachmentWithAnInvalidDigestIsNeverRequested(_ digest: String) async throws {
    let content = AttachmentContent(digest: digest, size: 1)
    try await with(.status(500)) { (remote) async throws in
      let calls: [() async throws -> Void] = [
        { _ = try await remote.heldContent(of: digest, Login.run()) },
        { _ = try await remote.append([1], to: content, at: 0, Login.run()) },
        { _ = try await remote.part(of: digest, from: 0, limit: 1, Login.run()) },
      ]
      for call in calls {
        let problem = await #expect(throws: ServiceError.self) { try await call() }
        guard case .refused(let sentence)? = problem else {
          Issue.record("\(String(describing: problem))")
          continue
        }
        #expect(sentence.contains("was not contacted"))
      }
    }
  }

  @Test func aFullLogbookIsReportedWithTheMessageOfTheServer() async throws {
    let body = ErrorBody(.full, "the attachments may have 4000 bytes together").json
    try await with(.status(507, body, headers: ["Glucoport-Error: full"])) { (remote) async throws in
      let content = AttachmentContent(digest: Self.digest, size: 5)
      guard case .full(let words) = try await remote.append([1], to: content, at: 0, Login.run()) else {
        Issue.record("another answer")
        return
      }
      #expect(words.hasSuffix("the attachments may have 4000 bytes together"))
    }
  }

  @Test func anAttachmentThatIsTooLargeIsRefusedPermanently() async throws {
    try await ServedLogbook.with { url in
      let login = RemoteLogin(
        address: try RemoteAddress(url, allowsPlainHTTP: false),
        token: try Login.token(ServedLogbook.writeToken),
        agent: "glucoport/test")
      try await RemoteRegister.with("glucoport", login) { (remote) async throws in
        let attachments = try #require(remote.attachments)
        let large = AttachmentContent(digest: Self.digest, size: 1 << 40)
        let problem = await #expect(throws: ServiceError.self) {
          try await attachments.append([1], to: large, at: 0, Login.run())
        }
        guard case .refused = problem else {
          Issue.record("\(String(describing: problem))")
          return
        }
      }
    }
  }
}
