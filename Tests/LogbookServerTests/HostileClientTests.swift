// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServerStore
import Testing

@testable import LogbookServer

/// Tests hostile clients: each gets an answer of 4xx or a closed connection, and changes nothing.
@Suite(.timeLimit(.minutes(10))) struct HostileClientTests {
  private let batch = WireCodec.writeReadings(Sample.history(3))

  /// Runs `body` with a server, and checks that the server has stored nothing.
  private func unchanged(
    _ adjust: (inout ServerSettings) -> Void = { _ in }, _ body: @Sendable (Peer) async throws -> Void
  ) async throws {
    try await Peer.with(adjust) { (peer) async throws in
      let before = try await peer.logbook.logbook().position
      try await body(peer)
      #expect(try await peer.logbook.logbook().position == before)
      #expect(try await peer.status("GET", "/healthz") == 200, "the server is well")
    }
  }

  @Test(arguments: [nil, "", "gp_", "gp_writ", "gp_write x", "GP_WRITE", "gp_read gp_write"])
  func withoutAKnownTokenEveryServerCallIsRefused(_ token: String?) async throws {
    try await unchanged { (peer) async throws in
      let reply = try await peer.send("POST", "/v1/readings", token: token, body: batch)
      #expect(reply?.status == 401 && reply?.error?.code == .login)
      #expect(reply?.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
    }
  }

  @Test func aReadOnlyTokenCannotWrite() async throws {
    try await unchanged { (peer) async throws in
      for path in ["/v1/readings", "/v1/records"] {
        let reply = try await peer.send("POST", path, token: Peer.readToken, body: batch)
        #expect(reply?.status == 403 && reply?.error?.code == .readOnly)
      }
    }
  }

  @Test func afterManyFailedLoginsOnlyInvalidTokensAreDelayed() async throws {
    try await unchanged({
      ($0.maxFailedLogins, $0.failedLoginDelay) = (3, .milliseconds(300))
    }) { (peer) async throws in
      var statuses: [Int?] = []
      for _ in 0..<5 { statuses.append(try await peer.status("GET", "/v1/logbook", token: "gp_guess")) }
      #expect(statuses == [401, 401, 401, 429, 429])
      let start = ContinuousClock.now
      let reply = try await peer.send("GET", "/v1/logbook", token: "gp_guess")
      #expect(reply?.error?.code == .tooMany && Int(reply?.headers["retry-after"] ?? "") == 60)
      #expect(reply?.headers["connection"] == "close")
      #expect(ContinuousClock.now - start >= .milliseconds(300), "it is kept back")
      #expect(try await peer.status("GET", "/v1/logbook") == 200)
    }
  }

  @Test(arguments: [
    "/", "/v1", "/v1/", "/v1/logbook/", "//v1/logbook", "/v1//logbook", "/v1/./logbook", "/v1/../v1/logbook",
    "/v1/%6cogbook", "/v1/logbook%00", "/v1/logbook;x", "/../../etc/passwd", "/v1/..%2f..%2fserver.db",
    "/V1/logbook",
    "/server.db", "/logbooks/x.db", "/v1/logbook\u{FFFD}", "*", "http://localhost/v1/../x",
  ])
  func aPathThatIsNotExactlyThatOfACallIsAnsweredWithNotFound(_ path: String) async throws {
    try await unchanged { (peer) async throws in
      let reply = try await peer.send("GET", path)
      #expect(reply == nil || reply?.status == 404 || reply?.status == 400, "\(path): \(reply?.status ?? 0)")
    }
  }

  @Test(arguments: [
    ("GET", "/v1/readings"), ("PUT", "/v1/records"), ("PATCH", "/v1/logbook"), ("HEAD", "/v1/changes"),
    ("POST", "/healthz"), ("OPTIONS", "/v1/logbook"), ("TRACE", "/v1/logbook"), ("POST", "/v1/changes"),
  ])
  func anHTTPMethodThatAPathDoesNotAcceptIsRefused(_ method: String, _ path: String) async throws {
    try await unchanged { (peer) async throws in
      let reply = try await peer.send(method, path)
      #expect(reply?.status == 405 && reply?.headers["allow"] != nil)
    }
  }

  @Test(arguments: [
    ["Content-Type: text/plain"], ["Content-Type: application/jsonx"], ["Content-Type: "],
    ["Content-Encoding: br"], ["Content-Encoding: gzip, gzip"], ["Content-Encoding: deflate"],
  ])
  func bodiesWithUnsupportedTypesAndEncodingsAreRefused(_ headers: [String]) async throws {
    try await unchanged { (peer) async throws in
      let reply = try await peer.send("POST", "/v1/readings", headers: Peer.run + headers, body: batch)
      #expect(reply?.status == 415 && reply?.error?.code == .badType)
    }
  }

  @Test(arguments: ["/v1/readings", "/v1/records"])
  func aBodyWithInvalidJSONIsRefusedWithTheByteOffset(_ path: String) async throws {
    let bodies = [
      "", "null", "[]", "{}", "{", "{\"series\":", "{\"series\":7}", "{\"records\":7}", "\u{FEFF}{}", "{}{}",
      String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000),
      "{\"series\":[" + String(repeating: "[", count: 100_000),
      "{\"records\":[{\"state\":" + String(repeating: "[", count: 99),
      "{\"series\":[{\"kind\":\"cbg\",\"readings\":[]}]}", "{\"a\":1e999999999}", "{\"\\ud800\":1}",
    ]
    try await unchanged { (peer) async throws in
      for body in bodies {
        let reply = try await peer.send("POST", path, body: Array(body.utf8))
        #expect(reply?.status == 400 && reply?.error?.code == .badRequest, "\(body.prefix(40))")
      }
    }
  }

  @Test func aRequestBodyIsLimitedBeforeAndAfterDecompression() async throws {
    try await unchanged { (peer) async throws in
      let large = try await peer.session([
        Array(
          """
          POST /v1/readings HTTP/1.1\r\nAuthorization: Bearer gp_write\r\n\(Peer.run.joined(separator: "\r\n"))\r
          Content-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n{
          """.utf8)
      ])
      #expect(Reply(large)?.status == 413, "it is not waited for")
      let blanks = [UInt8](repeating: 0x20, count: WireProtocol.maxBodyBytes + 1)
      let bomb = try #require(WireGzip.pack(blanks))
      let packed = Peer.run + ["Content-Encoding: gzip"]
      let unpacked = try await peer.send("POST", "/v1/readings", headers: packed, body: bomb)
      #expect(unpacked?.status == 413 && unpacked?.error?.code == .tooLarge)
      let good = try #require(WireGzip.pack(batch))
      for damaged in [Array(good.dropLast()), good + [0], Array(good.dropFirst()), batch, []] {
        let reply = try await peer.send("POST", "/v1/readings", headers: packed, body: damaged)
        #expect(reply?.status == 400)
      }
    }
  }

  @Test func anEndlessChunkedRequestBodyIsStoppedAtTheLimit() async throws {
    try await unchanged { (peer) async throws in
      let head =
        "POST /v1/readings HTTP/1.1\r\nAuthorization: Bearer gp_write\r\n"
        + Peer.run.joined(separator: "\r\n")
        + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 20) + Array("\r\n".utf8)
      let answer = try await peer.session([Array(head.utf8)] + Array(repeating: chunk, count: 9))
      #expect(answer.isEmpty || Reply(answer)?.status == 413)
    }
  }

  @Test func aRequestWithTooManyItemsIsRefused() async throws {
    try await unchanged { (peer) async throws in
      let readings = WireCodec.writeReadings(Sample.history(WireProtocol.maxReadings + 1))
      #expect(try await peer.status("POST", "/v1/readings", body: readings) == 400)
      let changes = WireCodec.writeChanges(Array(repeating: "{}", count: WireProtocol.maxRecords + 1))
      #expect(try await peer.status("POST", "/v1/records", body: changes) == 400)
    }
  }

  @Test(arguments: [
    "limit=0", "limit=-1", "limit=x", "limit=", "limit=1&limit=2", "after=1&after=2",
    "limit=99999999999999999999",
  ])
  func anInvalidURLQueryIsRefused(_ query: String) async throws {
    try await unchanged { (peer) async throws in
      #expect(try await peer.status("GET", "/v1/changes?" + query) == 400)
    }
  }

  /// Requests whose boundaries are ambiguous, and text that is not HTTP.
  @Test(arguments: [
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: xchunked\r\n\r\n{}", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "Content-Length: -1\r\n\r\n", "Content-Length: 0x2\r\n\r\n{}", "Content-Length : 2\r\n\r\n{}",
    "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n", "A\u{0}B: c\r\n\r\n",
    " folded: x\r\n\r\n",
    "X: " + String(repeating: "y", count: 100_000) + "\r\n\r\n",
    String(repeating: "X: y\r\n", count: 5000) + "\r\n",
  ])
  func aRequestWithAmbiguousLengthEndsTheConnection(_ rest: String) async throws {
    try await unchanged({ $0.idleTime = .seconds(2) }) { (peer) async throws in
      let head =
        "POST /v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer gp_write\r\n"
        + Peer.run.joined(separator: "\r\n") + "\r\nContent-Type: application/json\r\n"
      let answer = try await peer.session([Array((head + rest).utf8)])
      let text = String(decoding: answer, as: UTF8.self)
      #expect(answer.isEmpty || (400...499).contains(Reply(answer)?.status ?? 0), "\(text)")
      #expect(!text.contains("\"status\":\"ok\""), "what stands behind is no request")
    }
  }

  @Test(arguments: [
    "", "\r\n\r\n", "nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}",
  ])
  func textThatIsNotHTTPEndsTheConnection(_ text: String) async throws {
    try await unchanged({ $0.idleTime = .seconds(2) }) { (peer) async throws in
      let answer = try await peer.session([Array(text.utf8)])
      #expect(answer.isEmpty || (400...505).contains(Reply(answer)?.status ?? 0))
    }
  }

  @Test(arguments: [
    "GET /v1/logbook HT",
    "POST /v1/readings HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer gp_write\r\nContent-Length: 50\r\n\r\n{",
  ])
  func aClientThatFallsSilentIsDisconnected(_ text: String) async throws {
    try await unchanged({ $0.idleTime = .seconds(1) }) { (peer) async throws in
      let answer = try await peer.session([Array(text.utf8)])
      #expect(answer.isEmpty || Reply(answer)?.status == 400)
    }
  }

  @Test func aRequestBodyThatArrivesTooSlowlyIsRefused() async throws {
    try await unchanged({ ($0.bodyPaceBytes, $0.bodyPaceTime) = (100, .milliseconds(400)) }) {
      (peer) async throws in
      let head =
        "POST /v1/readings HTTP/1.1\r\nAuthorization: Bearer gp_write\r\n"
        + Peer.run.joined(separator: "\r\n")
        + "\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
      let drops = Array(repeating: [UInt8(ascii: " ")], count: 60)
      let start = ContinuousClock.now
      let answer = try await peer.session([Array(head.utf8)] + drops, pauseMilliseconds: 50)
      #expect(answer.isEmpty || Reply(answer)?.status == 408)
      #expect(ContinuousClock.now - start < .seconds(60))
    }
  }

  @Test func theBytesOfRequestsInProgressAreLimitedInTotalAndPerLogin() async throws {
    let limits = WorkLimits(max: 10, perLogin: 6)
    #expect(await limits.reserve(20, for: "a"), "what is alone has room")
    #expect(await !limits.reserve(1, for: "b"))
    await limits.release(20, for: "a")
    #expect(await limits.reserve(4, for: "a"))
    #expect(await !limits.reserve(3, for: "a"), "one login leaves room for others")
    #expect(await limits.reserve(6, for: "b"))
    #expect(await !limits.reserve(1, for: "c"))
    await limits.release(6, for: "b")
    #expect(await limits.reserve(2, for: "a"))
    try await Peer.with({ $0.maxBytesAtWork = 2 }) { (peer) async throws in
      for _ in 0..<3 {
        #expect(try await peer.status("POST", "/v1/readings", body: batch) == 200)
        #expect(try await peer.status("POST", "/v1/readings", body: Array("{".utf8)) == 400)
      }
    }
  }

  @Test func failedLoginsAreForgottenAfterAMinuteAndWhenTheClockJumps() async {
    let logins = FailedLogins(maxFailures: 1)
    #expect(await logins.add("a", at: 100).waitSeconds == nil)
    #expect(await logins.add("b", at: 100).waitSeconds == nil)
    #expect(await logins.add("a", at: 130).waitSeconds == 30)
    #expect(await logins.add("a", at: 160).waitSeconds == nil)
    #expect(await logins.add("a", at: 161).waitSeconds == 59)
    #expect(await logins.add("a", at: 5).waitSeconds == nil)
    for number in 0..<20_000 { #expect(await logins.add("\(number)", at: 10).waitSeconds == nil) }
  }

  @Test func manyFailedLoginsAreLoggedAsOneLineAMinute() async {
    let logins = FailedLogins(maxFailures: 2)
    var lines: [Int] = []
    for second in Int64(0)..<130 {
      for _ in 0..<30 {
        if let count = await logins.add("a", at: 1000 + second).unlogged { lines.append(count) }
      }
    }
    #expect(lines.first == 1 && lines.count == 3, "\(lines)")
    #expect(lines.reduce(0, +) > 3000, "each failure is counted in one of them")
  }
}
