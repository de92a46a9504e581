// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Tests faults of an exchange. The category of the error determines how callers react.
@Suite(.timeLimit(.minutes(10)))
struct RemoteFaultTests {
  private static let head = "HTTP/1.1 200 OK\r\n"

  @Test(arguments: [
    ScriptedAnswer.raw(""),
    .raw("", .reset),
    .raw("HTTP/1.1 200"),
    .raw(head),
    .raw(head + "Content-Length: 500\r\n\r\n{\"logbook\":"),
    .raw(head + "Content-Length: 500\r\n\r\n{\"logbook\":", .reset),
    .raw(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"log\r\n"),
    .raw(head + "Transfer-Encoding: chunked\r\n\r\n50\r\n{\"log", .reset),
  ])
  func aTruncatedAnswerIsReportedAsServerUnavailable(_ answer: ScriptedAnswer) async throws {
    let problem = try await problem { _ in answer }
    guard case .unavailable(let sentence) = problem else {
      Issue.record("\(problem)")
      return
    }
    #expect(sentence.hasPrefix("127.0.0.1:"))
  }

  @Test(arguments: [
    ScriptedAnswer.raw("", .hold),
    .raw(head, .hold),
    .raw(head + "Content-Length: 500\r\n\r\n{", .hold),
    .raw(head + "X-Slow: ", .drip),
  ])
  func anAnswerThatTakesTooLongIsReportedAsServerUnavailable(_ answer: ScriptedAnswer) async throws {
    let start = ContinuousClock.now
    let problem = try await problem(Login.short) { _ in answer }
    guard case .unavailable(let sentence) = problem else {
      Issue.record("\(problem)")
      return
    }
    #expect(sentence.contains("in time"), "\(sentence)")
    #expect(ContinuousClock.now - start < .seconds(60), "the servers hold for ever")
  }

  /// Each pause is shorter than the idle limit, so only the limit for the whole exchange (2 seconds) ends it.
  @Test func aBodyThatArrivesByteByByteIsReportedAsServerUnavailable() async throws {
    let limits = ExchangeLimits(connect: .seconds(5), idle: .seconds(20), whole: .seconds(2))
    let problem = try await problem(limits) { _ in
      .raw(Self.head + "Content-Length: 60000\r\n\r\n{", .drip)
    }
    #expect(problem.sentence?.contains("in time") == true, "\(problem)")
  }

  private static func endedProblem(_ login: RemoteLogin) async -> ServiceError? {
    do {
      _ = try await RemoteExchange.with(login) { (exchange) async throws in
        try await GlucoportRemote(exchange, token: login.token).logbook()
      }
      return nil
    } catch {
      return error as? ServiceError
    }
  }

  /// The time limit of an upload applies even if the limits of the exchange permit more time.
  @Test(arguments: [
    ScriptedAnswer.raw("", .hold), .raw(head + "Content-Length: 500\r\n\r\n{", .hold),
    .raw(head + "Content-Length: 60000\r\n\r\n{", .drip),
  ])
  func theTimeLimitOfARunEndsACurrentRequest(_ answer: ScriptedAnswer) async throws {
    let server = try ScriptedServer { _ in answer }
    var login = try Login.to(server.url)
    let start = ContinuousClock.now
    login.end = start + .milliseconds(600)
    let error = await Self.endedProblem(login)
    guard case .unavailable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(ContinuousClock.now - start < .seconds(20), "the exchange has 180 s")
  }

  /// A network's login page answers every request. No call may treat this page as success, since nothing was
  /// stored or sent.
  @Test func aLoginPageIsNotAcceptedAsAnAnswerToAnyCall() async throws {
    let page = ScriptedAnswer.status(
      200, Array("<!DOCTYPE html><html>Welcome to the hotel</html>".utf8),
      headers: ["Content-Type: text/html"])
    let server = try ScriptedServer { _ in page }
    let run = Login.run()
    try await ask(server) { (remote) async throws in
      let calls: [(name: String, call: () async throws -> Void)] = [
        ("logbook", { _ = try await remote.logbook() }),
        ("store", { _ = try await remote.store(ReadingBatch(), run) }),
        ("apply", { _ = try await remote.apply([], run) }),
        ("changes", { _ = try await remote.changes(after: nil, limit: 10, run) }),
        ("part", { _ = try await remote.changes(of: .records, after: nil, limit: 10, run) }),
        ("digests", { _ = try await remote.readingDigests(run) }),
        ("record digests", { _ = try await remote.recordDigests(run) }),
        ("readings", { _ = try await remote.readings(in: [1], run) }),
        ("records", { _ = try await remote.records(in: [1], after: nil, run) }),
        ("purge", { try await remote.purge(Login.logbook) }),
      ]
      for (name, call) in calls {
        let problem = await #expect(throws: ServiceError.self, "\(name)") { try await call() }
        // A call that deletes data must not count as done, either.
        guard case .protocolViolation = problem else {
          Issue.record("\(name): \(String(describing: problem))")
          continue
        }
      }
    }
  }

  @Test func afterTheTimeLimitOfARunNothingIsSent() async throws {
    let server = try ScriptedServer { _ in .status(200, Login.logbookBody) }
    var login = try Login.to(server.url)
    login.end = .now
    let error = await Self.endedProblem(login)
    #expect(error?.sentence?.hasSuffix("the time for this run is over") == true)
    #expect(server.requests.isEmpty)
  }

  @Test(
    arguments: [
      .raw("SSH-2.0-OpenSSH_9.2\r\n"),
      .raw("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
      .raw(head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
      .raw("\u{0}\u{1}\u{2}\r\n\r\n"),
      .status(200, Array("{\"logbook\":".utf8)),
      .status(200, Array("<html>Welcome to the hotel</html>".utf8)),
      .status(200, []),
      .status(200, Array("{}".utf8)),
      .status(200, Array("[[[[".utf8)),
      .status(200, [0xFF, 0xFE]),
      .status(201, Login.logbookBody),
      .status(304),
      .status(404, Array("<html>".utf8)),
      .status(405),
      .status(415, ErrorBody(.badType, "not this").json),
      .status(409, ErrorBody(nil, "what").json),
      .status(409, ErrorBody(.otherLogbook, "no id").json),
      .status(200, Array("{}".utf8), headers: ["Content-Encoding: br"]),
      .status(200, Array("no gzip".utf8), headers: ["Content-Encoding: gzip"]),
      .status(
        200, Array((WireGzip.pack(Login.logbookBody) ?? []).dropLast(6)), headers: ["Content-Encoding: gzip"]),
      .status(200, (WireGzip.pack(Login.logbookBody) ?? []) + [1], headers: ["Content-Encoding: gzip"]),
    ] as [ScriptedAnswer])
  func anAnswerOutsideTheProtocolIsReportedAsAProtocolViolation(_ answer: ScriptedAnswer) async throws {
    let problem = try await problem { _ in answer }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(problem)")
      return
    }
    #expect(sentence.hasPrefix("127.0.0.1:"))
  }

  @Test func anAnswerBodyAboveTheLimitIsRefused() async throws {
    let large = [UInt8](repeating: UInt8(ascii: " "), count: 70_000)
    let packed = try #require(WireGzip.pack(large))
    #expect(packed.count < 1000)
    let chunk = "11170\r\n" + String(repeating: " ", count: 70_000) + "\r\n0\r\n\r\n"
    let answers: [ScriptedAnswer] = [
      .status(200, large), .status(200, packed, headers: ["Content-Encoding: gzip"]),
      .raw(Self.head + "Content-Length: 999999999999\r\n\r\n", .hold),
      .raw(Self.head + "Transfer-Encoding: chunked\r\n\r\n" + chunk, .keep),
    ]
    for answer in answers {
      let problem = try await problem(Login.small) { _ in answer }
      #expect(problem.sentence?.contains("longer than 65536 bytes") == true, "\(problem)")
    }
  }

  @Test func aServerThatDoesNotRunIsReportedAsUnavailable() async throws {
    let login = try Login.to("http://127.0.0.1:\(ScriptedServer.closedPort())")
    let start = ContinuousClock.now
    let problem = await #expect(throws: ServiceError.self) {
      try await RemoteExchange.with(login) { try await GlucoportRemote($0, token: login.token).logbook() }
    }
    #expect(problem?.sentence?.contains("Connection refused") == true, "\(String(describing: problem))")
    #expect(ContinuousClock.now - start < .seconds(60), "the connection is tried once")
  }

  @Test func aHostNameThatCannotBeResolvedIsReportedAsUnavailable() async throws {
    let login = try Login.to("https://nowhere.invalid")
    let problem = await #expect(throws: ServiceError.self) {
      try await RemoteExchange.with(login, limits: Login.small) {
        try await GlucoportRemote($0, token: login.token).logbook()
      }
    }
    #expect(
      problem?.sentence?.hasPrefix("nowhere.invalid: cannot connect") == true,
      "\(String(describing: problem))")
  }

  @Test func anUnencryptedPortAtAnHTTPSAddressIsReported() async throws {
    let server = try ScriptedServer { _ in .raw("HTTP/1.1 400 Bad Request\r\n\r\n") }
    let login = try Login.to("https://127.0.0.1:\(server.port)")
    let problem = await #expect(throws: ServiceError.self) {
      try await RemoteExchange.with(login, limits: Login.small) {
        try await GlucoportRemote($0, token: login.token).logbook()
      }
    }
    #expect(problem?.sentence?.contains("TLS 1.2") == true, "\(String(describing: problem))")
    #expect(server.requests.map(\.method) == ["TLS"], "the token went nowhere")
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func aRedirectionIsReportedAndNotFollowed(_ status: Int) async throws {
    let other = try ScriptedServer { _ in .status(200, Login.logbookBody) }
    let target = "http://127.0.0.1:\(other.port)"
    let problem = try await problem { _ in
      .status(status, headers: ["Location: \(target)/v1/logbook?token=\(Login.secret)"])
    }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(problem)")
      return
    }
    #expect(sentence.contains("redirects to \(target); "), "\(sentence)")
    #expect(other.connectionCount == 0)
  }

  @Test func noFailedRequestIsRepeatedAutomatically() async throws {
    for answer in [ScriptedAnswer.status(503), .raw(""), .status(500), .status(429)] {
      let server = try ScriptedServer { _ in answer }
      await #expect(throws: ServiceError.self) { try await ask(server) { try await $0.logbook() } }
      #expect(server.requests.count == 1)
    }
  }

  /// The server's message may contain the token, even at the position where the message is shortened.
  @Test(arguments: [0, 190])
  func noErrorContainsTheToken(_ offset: Int) async throws {
    let words = String(repeating: "a", count: offset) + Login.secret + "\u{1B}[31m\n"
    for status in [302, 400, 401, 404, 429, 500] {
      for code in [nil, ErrorCode.badRequest] {
        let body = ErrorBody(code, words).json
        let problem = try await problem { _ in
          .status(status, body, headers: ["Location: http://x/?\(words.prefix(9))"])
        }
        let text = "\(problem)"
        #expect(!text.contains(Login.secret.prefix(8)), "\(status)")
        #expect(!text.unicodeScalars.contains("\u{1B}"), "\(status)")
      }
    }
  }
}
