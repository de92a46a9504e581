// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests the planned faults, the counters and the clock of the simulated site.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutFaultTests {
  private static let entries = "/api/v3/entries"

  @Test func aPlannedFaultLosesTheResponseAfterTheWrite() throws {
    let caller = try Caller.uploader()
    caller.site.plan(.answerLost) { $0.method == "POST" }
    #expect(throws: RawConnection.NoAnswer.self) { try caller.post(Self.entries, Draft.entry("e")) }
    #expect(caller.site.documents("entries", identifier: "e").count == 1)
    #expect(try caller.post(Self.entries, Draft.entry("e")).status == 200)
  }

  @Test(arguments: [NightscoutFault.silence, .silenceAfterwards])
  func aPlannedSilenceSendsNoResponse(_ fault: NightscoutFault) throws {
    let caller = try Caller.uploader()
    caller.site.plan(fault)
    let connection = try RawConnection(port: caller.site.port, timeoutSeconds: 1)
    let headers = caller.headers + ["Content-Type: application/json"]
    #expect(throws: RawConnection.NoAnswer.self) {
      try connection.send("POST", Self.entries, headers, Array(Draft.entry("e").json.utf8))
    }
    let isDone = if case .silenceAfterwards = fault { 1 } else { 0 }
    #expect(caller.site.documents("entries").count == isDone)
  }

  @Test func aFaultPlannedBeforeARequestPreventsItsChange() throws {
    let caller = try Caller.uploader()
    caller.site.plan(.status(503, retryAfterSeconds: 7))
    caller.site.plan(.status(401))
    caller.site.plan(.page(404))
    caller.site.plan(.redirect("http://other.example"))
    let answers = try (0..<4).map { _ in try caller.post(Self.entries, Draft.entry("e")) }
    #expect(answers.map(\.status) == [503, 401, 404, 307])
    #expect(answers[0].headers["retry-after"] == "7")
    #expect(answers[1].json?["status"] == 401)
    #expect(answers[2].headers["content-type"] == "text/html" && answers[2].text.contains("<html>"))
    #expect(answers[3].headers["location"] == "http://other.example/api/v3/entries")
    caller.site.plan(.reset)
    #expect(throws: RawConnection.NoAnswer.self) { try caller.post(Self.entries, Draft.entry("e")) }
    #expect(caller.site.documents("entries").isEmpty)
    #expect(try caller.post(Self.entries, Draft.entry("e")).status == 201)
  }

  @Test func aPlannedFaultAppliesToItsNumberOfMatchingCalls() throws {
    let caller = try Caller.uploader()
    caller.site.plan(.status(500), times: 2) { $0.path.contains("/e2") }
    let statuses = try ["e1", "e2", "e2", "e2"].map { try caller.get("\(Self.entries)/\($0)").status }
    #expect(statuses == [404, 500, 500, 404])
    caller.site.plan(.status(500), times: .max)
    #expect(try (0..<3).map { _ in try caller.get(Self.entries).status } == [500, 500, 500])
    caller.site.forgetFaults()
    #expect(try caller.get(Self.entries).status == 200)
  }

  @Test func anIdleConnectionIsClosedAndABusyOneIsServed() throws {
    let caller = try Caller.uploader { $0.idle = .milliseconds(300) }
    let connection = try RawConnection(port: caller.site.port)
    for _ in 0..<3 {
      #expect(try connection.send("GET", Self.entries, caller.headers, []).status == 200)
    }
    #expect(connection.isClosedByServer())
  }

  @Test func aPlannedFaultClosesTheConnectionAfterTheResponseWithoutNotice() throws {
    let caller = try Caller.uploader { $0.idle = .seconds(60) }
    caller.site.plan(.closedAfterwards)
    let connection = try RawConnection(port: caller.site.port)
    let answer = try connection.send("GET", Self.entries, caller.headers, [])
    #expect(answer.status == 200)
    #expect(answer.headers["connection"] == nil)
    #expect(connection.isClosedByServer())
  }

  @Test func aClientThatAcceptsGzipReceivesGzip() throws {
    let caller = try Caller.uploader { $0.packsAnswers = true }
    let note = Draft.entry("e", ["notes": .string(String(repeating: "long ", count: 400))])
    _ = try caller.post(Self.entries, note)
    let plain = try caller.get(Self.entries)
    let packed = try caller.get(Self.entries, ["Accept-Encoding: gzip, deflate"])
    let short = try caller.get("/api/v3/version", ["Accept-Encoding: gzip, deflate"])
    #expect(short.headers["content-encoding"] == nil)
    #expect(plain.headers["content-encoding"] == nil)
    #expect(packed.headers["content-encoding"] == "gzip")
    #expect(packed.body == StoredGzip.packed(plain.body))
    #expect(Array(packed.body.dropFirst(15).dropLast(8)) == plain.body)
    #expect(StoredGzip.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
  }

  @Test func callsAndBytesAreCountedWithoutIdentifiersAndTokens() throws {
    let caller = try Caller.uploader()
    caller.site.resetCounts()
    _ = try caller.post(Self.entries, Draft.entry("e"))
    _ = try caller.get("\(Self.entries)/e")
    _ = try caller.get("\(Self.entries)/history/946684800000?limit=5")
    _ = try caller.get("/api/v2/authorization/request/secret-0123456789abcdef")
    let counts = caller.site.counts
    #expect(counts.requests == 4)
    #expect(
      counts.calls == [
        "POST /api/v3/entries": 1, "GET /api/v3/entries": 1, "GET /api/v3/entries/history": 1,
        "GET /api/v2/authorization/request": 1,
      ])
    #expect(counts.bytesReceived > Draft.entry("e").json.utf8.count)
    #expect(counts.bytesSent > Draft.entry("e").json.utf8.count)
    #expect(caller.site.requests.last?.path.hasSuffix("abcdef") == true)
  }

  @Test func theClockOfTheSimulatedServerCanBeStoppedMovedAndStarted() throws {
    let site = try Caller.site()
    func served() throws -> Int64? {
      try Caller(site, headers: []).get("/api/v3/version").result?["srvDate"]?.whole
    }
    site.moveClock(by: -5000)
    #expect(try served() == Caller.start - 5000)
    site.freezeClock(at: 1)
    #expect(try served() == 1)
    site.runClock(ahead: 3_600_000)
    let first = site.now
    #expect(try #require(try served()) >= first)
  }

  @Test(arguments: [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
  ])
  func theSHA1DigestMatchesTheStandardExamples(_ text: String, _ digest: String) {
    #expect(NightscoutDigest.sha1(text) == digest)
  }

  @Test func instantsAreWrittenAndReadInEachDateFormat() {
    let time: Int64 = 784_111_777_890
    #expect(NightscoutTime.iso(time) == "1994-11-06T08:49:37.890Z")
    #expect(NightscoutTime.http(time) == "Sun, 06 Nov 1994 08:49:37 GMT")
    let read = [
      "1994-11-06T08:49:37.890Z", "1994-11-06 10:49:37.89+02:00", "Sun, 06 Nov 1994 08:49:37 GMT",
      "06 Nov 1994 03:49:37 -0500", "1994-11-06", "1994-13-06", "Sunday", "",
    ].map { NightscoutTime.parse($0)?.milliseconds }
    let second = NightscoutTime.cut(time)
    #expect(read == [time, time, second, second, 784_080_000_000, nil, nil, nil])
  }
}
