// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI
import Testing

@testable import LogbookServer

/// Tests the server's answers to its calls, over a real socket.
@Suite(.timeLimit(.minutes(10))) struct CallTests {
  @Test func aLogbookIsWrittenAndReadThroughEveryServerCall() async throws {
    try await Peer.with { (peer) async throws in
      let batch = Sample.history(40)
      let stored = try #require(
        try await peer.send("POST", "/v1/readings", body: WireCodec.writeReadings(batch)))
      let answer = try WireCodec.readReadingAnswer(stored.body, sent: 40)
      #expect(stored.status == 200 && answer.stored == 40)

      let body = WireCodec.writeChanges([Sample.change("note").json])
      let applied = try #require(try await peer.send("POST", "/v1/records", body: body))
      let verdicts = try WireCodec.readRecordAnswer(applied.body, sent: 1).verdicts
      guard case .accepted(let revision) = verdicts[0] else {
        Issue.record("\(verdicts)")
        return
      }

      let other = [
        "Glucoport-Node: 00000000-0000-4000-8000-000000000009",
        "Glucoport-Run: 1 00000000-0000-4000-8000-000000000008",
      ]
      let first = try #require(
        try await peer.send("GET", "/v1/changes?limit=30", token: Peer.readToken, headers: other))
      let page = try WireCodec.readPage(first.body)
      #expect(page.readings.readings.count == 30 && page.hasMore)
      let second = try #require(
        try await peer.send("GET", "/v1/changes?after=\(page.cursor)", token: Peer.readToken, headers: other))
      let rest = try WireCodec.readPage(second.body)
      #expect(
        rest.readings.readings.count == 10 && rest.records.map(\.revision) == [revision] && !rest.hasMore)
      let last = try await peer.send("GET", "/v1/changes?after=\(rest.cursor)", headers: other)
      #expect(last?.status == 304 && last?.body == [])

      let digests = try #require(try await peer.send("GET", "/v1/digests", headers: other))
      #expect(try WireCodec.readDigests(digests.body).counts.reduce(0, +) == 40)

      let current = try #require(try await peer.send("GET", "/v1/logbook", headers: []))
      let logbook = try WireCodec.readLogbook(current.body)
      #expect(logbook.id == peer.login.logbook && logbook.name == "Anna's" && logbook.isWritable)
      #expect(String(decoding: current.body, as: UTF8.self).contains("\"time\":\"2026-11-21T00:00:00Z\""))
      #expect(logbook.position == rest.cursor)
    }
  }

  @Test func queryParametersSelectPartsOfALogbook() async throws {
    try await Peer.with { (peer) async throws in
      _ = try await peer.send("POST", "/v1/readings", body: WireCodec.writeReadings(Sample.history(5)))
      let change = Sample.change("note")
      _ = try await peer.send("POST", "/v1/records", body: WireCodec.writeChanges([change.json]))
      let other = [
        "Glucoport-Node: 00000000-0000-4000-8000-000000000009",
        "Glucoport-Run: 1 00000000-0000-4000-8000-000000000008",
      ]
      func page(_ query: String) async throws -> ChangePage {
        let answer = try #require(try await peer.send("GET", "/v1/changes?\(query)", headers: other))
        return try WireCodec.readPage(answer.body)
      }
      #expect(try await page("only=records").records.count == 1)
      #expect(try await page("guid=\(change.guid)").records.map(\.guid) == [change.guid])
      let time = DeviceTime(seconds: 1_700_000_300).text
      #expect(try await page("from=\(time)").readings.readings.count == 4)
      #expect(try await page("until=\(time)").readings.readings.count == 1)
      let range = try await page("from=\(time)&until=\(time)")
      #expect(range.readings.readings.isEmpty && range.records.isEmpty && !range.hasMore)
      for wrong in [
        "guid=x", "only=readings", "from=yesterday", "guid=\(change.guid)&only=records",
        "only=records&until=\(time)",
      ] {
        let answer = try #require(try await peer.send("GET", "/v1/changes?\(wrong)", headers: other))
        #expect(answer.status == 400, "\(wrong)")
      }
    }
  }

  @Test func invalidReadingsAreRefusedByTheirIndexAndTheOthersStored() async throws {
    try await Peer.with { (peer) async throws in
      let row = { (time: Int) in "[\(time),0,0,\"1970-01-01T00:00:0\(time)\",\"Z\",\"stated\",100,\"mg/dL\"]"
      }
      let head =
        "{\"device\":{\"vendor\":\"v\",\"serial\":\"s\"},\"kind\":\"cbg\",\"position_kind\":\"time\",\"readings\":["
      let body = "{\"series\":[\(head)\(row(1)),[1,2],\(row(2)),{},\(row(1))]}]}"
      let reply = try #require(try await peer.send("POST", "/v1/readings", body: Array(body.utf8)))
      let answer = try WireCodec.readReadingAnswer(reply.body, sent: 5)
      #expect(answer.stored == 2 && answer.known == 1 && answer.refused.map(\.item) == [1, 3])
      let other = body.replacing("100", with: "105")
      let again = try #require(try await peer.send("POST", "/v1/readings", body: Array(other.utf8)))
      #expect(try WireCodec.readReadingAnswer(again.body, sent: 5).differing == [0, 2, 4])
    }
  }

  @Test func invalidRecordChangesAreRefusedByTheirIndex() async throws {
    try await Peer.with { (peer) async throws in
      let body = WireCodec.writeChanges(["{}", Sample.change("note").json, "7"])
      let reply = try #require(try await peer.send("POST", "/v1/records", body: body))
      let verdicts = try WireCodec.readRecordAnswer(reply.body, sent: 3).verdicts
      let isRefused = verdicts.map { if case .refused = $0 { true } else { false } }
      #expect(isRefused == [true, false, true])
    }
  }

  @Test func aConflictingChangeIsAnsweredWithTheStateOnTheServer() async throws {
    try await Peer.with { (peer) async throws in
      let first = WireCodec.writeChanges([Sample.change("one").json])
      _ = try await peer.send("POST", "/v1/records", body: first)
      let second = WireCodec.writeChanges([Sample.change("two", version: 2).json])
      let reply = try #require(try await peer.send("POST", "/v1/records", body: second))
      guard
        case .conflict(_, let state, let isBaseKnown) = try WireCodec.readRecordAnswer(reply.body, sent: 1)
          .verdicts[0]
      else {
        Issue.record("no conflict")
        return
      }
      #expect(state == Sample.change("one").state && !isBaseKnown)
    }
  }

  @Test func requestAndResponseBodiesMayBeCompressedWithGzip() async throws {
    try await Peer.with { (peer) async throws in
      let plain = WireCodec.writeReadings(Sample.history(400))
      let packed = try #require(WireGzip.pack(plain))
      let stored = try await peer.send(
        "POST", "/v1/readings", headers: Peer.run + ["Content-Encoding: gzip"], body: packed)
      #expect(
        stored?.status == 200 && stored?.headers["content-encoding"] == nil, "small answers go as they are")
      let other = ["Glucoport-Node: \(Sample.guid)", "Glucoport-Run: 1 \(Sample.guid)"]
      for (accepted, isPacked) in [
        ("gzip", true), ("br, gzip;q=0.5", true), ("gzip;q=0", false), ("br", false),
      ] {
        let reply = try #require(
          try await peer.send("GET", "/v1/changes", headers: other + ["Accept-Encoding: \(accepted)"]))
        #expect((reply.headers["content-encoding"] == "gzip") == isPacked, "\(accepted)")
        let body = isPacked ? try WireGzip.unpack(reply.body, limit: WireProtocol.maxBodyBytes) : reply.body
        #expect(try WireCodec.readPage(body).readings.readings.count == 400)
      }
    }
  }

  @Test func requestsForAnotherLogbookOrUnknownPositionAreRefusedWithTheReason() async throws {
    try await Peer.with { (peer) async throws in
      let run = Peer.run
      func error(_ headers: [String], _ path: String = "/v1/changes") async throws -> (Int?, ErrorBody?) {
        let reply = try await peer.send("GET", path, headers: headers)
        return (reply?.status, reply?.error)
      }
      #expect(try await error([]) == (400, ErrorBody(.badRequest, "")), "only the code counts")
      let other = try await error(run + ["Glucoport-Logbook: \(Sample.guid)"])
      #expect(other.0 == 409 && other.1?.code == .otherLogbook && other.1?.logbook == peer.login.logbook)
      let mark = try await error(run + ["Glucoport-Position: 5.00000000"])
      #expect(mark.0 == 410 && mark.1?.code == .positionUnknown)
      let cursor = try await error(run, "/v1/changes?after=nonsense")
      #expect(cursor.0 == 410 && cursor.1?.code == .positionUnknown)
      _ = try await error(run)
      let reused = try await error([run[0], "Glucoport-Run: 1 \(Sample.guid)"])
      #expect(reused.0 == 409 && reused.1?.code == .nodeReused)
    }
  }

  @Test func metricsCountRequestsWithoutNamingLogins() async throws {
    try await Peer.with { (peer) async throws in
      _ = try await peer.send("POST", "/v1/readings", body: WireCodec.writeReadings(Sample.history(7)))
      _ = try await peer.send("GET", "/nonsense")
      let reply = try #require(try await peer.send("GET", "/metrics", token: nil, headers: []))
      let text = String(decoding: reply.body, as: UTF8.self)
      #expect(text.contains("glucoport_readings_stored_total 7\n"))
      #expect(text.contains("glucoport_requests_total{route=\"readings\",status=\"200\"} 1\n"))
      #expect(text.contains("glucoport_requests_total{route=\"other\",status=\"404\"} 1\n"))
      #expect(text.contains("glucoport_request_duration_seconds_count{route=\"readings\"} 1\n"))
      for secret in ["Anna", "SECRET", "gp_", "nonsense", peer.login.logbook] {
        #expect(!text.contains(secret))
      }
      let proxied = try await peer.send(
        "GET", "/metrics", token: nil, headers: ["X-Forwarded-For: 192.0.2.1"])
      #expect(proxied?.status == 404)
    }
  }

  @Test func theHealthCheckNeedsNoLogin() async throws {
    try await Peer.with { (peer) async throws in
      for path in ["/healthz", "/ready"] {
        #expect(try await peer.status("GET", path, token: nil, headers: []) == 200, "\(path)")
      }
    }
  }

  @Test(arguments: ErrorCode.allCases)
  func everyErrorCodeHasAnHTTPErrorStatus(_ code: ErrorCode) throws {
    let refusal = Refusal(code, "why")
    #expect((400...599).contains(refusal.status.code))
    #expect(try ErrorBody(refusal.body).code == code)
  }

  @Test func aListeningAddressIsAHostAndPortOrAUnixSocket() {
    #expect(ListeningAddress(text: "127.0.0.1:0") == ListeningAddress(host: "127.0.0.1", port: 0))
    #expect(ListeningAddress(text: "[::1]:8077") == ListeningAddress(host: "::1", port: 8077))
    #expect(ListeningAddress(text: "[::1]:8077")?.text == "[::1]:8077")
    #expect(ListeningAddress(text: "unix:/run/x") == .unix(path: "/run/x"))
    #expect(ListeningAddress(text: "unix:" + String(repeating: "x", count: 107)) != nil)
    #expect(ListeningAddress(text: "unix:" + String(repeating: "x", count: 108)) == nil)
    for text in ["", ":1", "host", "host:", "host:65536", "host:-1", "::1:80", "host:x", "unix:"] {
      #expect(ListeningAddress(text: text) == nil, "\(text)")
    }
    for host in ["localhost", "127.0.0.1", "127.9.9.9", "::1"] {
      #expect(ListeningAddress(host: host, port: 1).isLoopback)
    }
    for host in ["0.0.0.0", "::", "127.example.org", "192.168.1.2", "localhost.example.org"] {
      #expect(!ListeningAddress(host: host, port: 1).isLoopback)
    }
  }
}

private func == (left: (Int?, ErrorBody?), right: (Int, ErrorBody)) -> Bool {
  left.0 == right.0 && left.1?.code == right.1.code
}
