// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import NIOHTTP1
import TestServers
import Testing

@testable import Remotes

/// Tests the first request of a program, which uses a connection without the connection pool. Its result must
/// be the same as through the pool.
@Suite(.timeLimit(.minutes(5))) struct DirectExchangeTests {
  private static let head = "HTTP/1.1 200 OK\r\n"

  private func result(
    of server: ScriptedServer, mayBlock: Bool, _ limits: ExchangeLimits = ExchangeLimits(),
    _ body: @Sendable (GlucoportRemote) async throws -> Void = { _ = try await $0.logbook() }
  ) async throws -> ServiceError? {
    try await result(of: server.url, mayBlock: mayBlock, limits, body)
  }

  private func result(
    of url: String, mayBlock: Bool, _ limits: ExchangeLimits = ExchangeLimits(),
    _ body: @Sendable (GlucoportRemote) async throws -> Void = { _ = try await $0.logbook() }
  ) async throws -> ServiceError? {
    var login = try Login.to(url)
    login.mayBlock = mayBlock
    let token = login.token
    do {
      try await RemoteExchange.with(login, limits: limits) {
        try await body(GlucoportRemote($0, token: token))
      }
      return nil
    } catch let error as ServiceError {
      return error
    }
  }

  /// The name of the enum case of an error, without the message.
  private func kind(_ error: ServiceError?) -> String {
    String(String(describing: error).prefix { $0 != "\"" })
  }

  @Test(
    arguments: [
      .status(200, Login.logbookBody),
      .status(200, WireGzip.pack(Login.logbookBody) ?? [], headers: ["Content-Encoding: gzip"]),
      .raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n"),
      .raw(""), .raw("", .reset), .raw("HTTP/1.1 200"), .raw(head),
      .raw(head + "Content-Length: 500\r\n\r\n{\"logbook\":"),
      .raw("SSH-2.0-OpenSSH_9.2\r\n"), .raw("\u{0}\u{1}\u{2}\r\n\r\n"),
      .raw(head + "Content-Length: many\r\n\r\n"),
      .raw(head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n[1,2]"),
      .raw(head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
      .raw(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"log\r\n"),
      .status(200, []), .status(304), .status(401), .status(413), .status(429, headers: ["Retry-After: 7"]),
      .status(500), .status(503), .status(301, headers: ["Location: https://other.example/x"]),
      .status(200, Array("{}".utf8), headers: ["Content-Encoding: br"]),
      .status(200, Array("no gzip".utf8), headers: ["Content-Encoding: gzip"]),
      .status(200, [UInt8](repeating: 0x20, count: 70_000)),
      .raw(head + "Content-Length: 999999999999\r\n\r\n", .close),
    ] as [ScriptedAnswer])
  func everyAnswerMeansTheSameWithAndWithoutTheConnectionPool(_ answer: ScriptedAnswer) async throws {
    let server = try ScriptedServer { _ in answer }
    let pooled = try await result(of: server, mayBlock: false, Login.small)
    let direct = try await result(of: server, mayBlock: true, Login.small)
    #expect(kind(direct) == kind(pooled))
    #expect(direct?.sentence?.contains("\r") != true)
    if let pooled = pooled?.sentence, !pooled.contains("connection") { #expect(direct?.sentence == pooled) }
  }

  @Test(
    arguments: [
      .raw("", .hold), .raw(head, .hold), .raw(head + "Content-Length: 500\r\n\r\n{", .hold),
      .raw(head + "X-Slow: ", .drip), .raw(head + "Content-Length: 60000\r\n\r\n{", .drip),
    ] as [ScriptedAnswer])
  func aSlowAnswerWithoutTheConnectionPoolIsAbortedInTime(_ answer: ScriptedAnswer) async throws {
    let server = try ScriptedServer { _ in answer }
    let problem = try await result(of: server, mayBlock: true, Login.short)
    #expect(problem?.sentence?.hasSuffix("it did not answer in time") == true, "\(kind(problem))")
  }

  @Test func theSameHeadersAreSentWithAndWithoutTheConnectionPool() async throws {
    let server = try ScriptedServer { _ in .status(200, Login.logbookBody) }
    _ = try await result(of: server, mayBlock: false)
    _ = try await result(of: server, mayBlock: true)
    var headers = server.requests.map(\.headers)
    #expect(headers.count == 2 && headers.last?["connection"] == "close")
    headers[1]["connection"] = headers[0]["connection"]
    #expect(headers[0] == headers[1])
    #expect(Set(server.requests.map { "\($0.method) \($0.path)" }).count == 1)
  }

  @Test func onlyTheFirstRequestBypassesTheConnectionPool() async throws {
    let server = try ScriptedServer { _ in .status(200, Login.logbookBody) }
    let problem = try await result(of: server, mayBlock: true) {
      for _ in 0..<3 { _ = try await $0.logbook() }
    }
    #expect(problem == nil)
    #expect(server.requests.map { $0.headers["connection"] == "close" } == [true, false, false])
    #expect(server.connectionCount == 2)
  }

  @Test func aRequestWithABodyUsesTheConnectionPool() async throws {
    let server = try ScriptedServer { _ in .status(200, Array("{}".utf8)) }
    let run = Login.run()
    _ = try await result(of: server, mayBlock: true) { _ = try await $0.store(ReadingBatch(), run) }
    #expect(server.requests.map(\.method) == ["POST"])
    #expect(server.requests.first?.headers["connection"] != "close")
  }

  @Test func aChunkedAnswerIsRequestedAgainThroughTheConnectionPool() async throws {
    let body = String(decoding: Login.logbookBody, as: UTF8.self)
    let chunks = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
    let server = try ScriptedServer { _ in .raw(Self.head + "Transfer-Encoding: chunked\r\n\r\n" + chunks) }
    #expect(try await result(of: server, mayBlock: true) == nil)
    #expect(server.requests.count == 2)
  }

  @Test func aConnectionRefusedAtAClosedPortIsReported() async throws {
    let problem = try await result(of: "http://127.0.0.1:\(ScriptedServer.closedPort())", mayBlock: true)
    #expect(problem?.sentence?.contains("Connection refused; is the server running?") == true)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8080", true), ("http://[::1]:8080/prefix", true), ("http://192.168.1.2", true),
    ("https://127.0.0.1:8080", false), ("http://localhost:8080", false), ("http://server.example", false),
  ])
  func onlyAnUnencryptedNumericAddressBypassesTheConnectionPool(_ text: String, isDirect: Bool) throws {
    let address = try RemoteAddress(text, allowsPlainHTTP: true)
    #expect((DirectExchange(address, limits: ExchangeLimits()) != nil) == isDirect)
  }

  @Test func theHeadersOfAnAnswerAreReadExactly() throws {
    let text = "HTTP/1.1 304 Not Modified\r\nCache-Control: \t no-store \r\nX-Empty:\r\n\r\nrest"
    let head = try #require(AnswerHead(Array(text.utf8)))
    #expect(head.status == 304 && head.bodyBytes == 0 && head.byteCount == text.utf8.count - 4)
    #expect(head.headers == ["Cache-Control": "no-store", "X-Empty": ""])
    for other in [
      "HTTP/1.1 304 Not Modified\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 +20 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "",
    ] {
      #expect(AnswerHead(Array(other.utf8)) == nil, "\(other.debugDescription)")
    }
  }
}
