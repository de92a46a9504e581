// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import NIOCore
import ServerStore
import Testing

@testable import LogbookServer

/// Tests clients that hold resources that others need. An honest client is still answered within a second.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LoadTests {
  /// Uploads and reads like an honest client while others hold connections.
  private func expectServed(_ peer: Peer, token: String = Peer.otherToken, _ comment: Comment) async throws {
    for (method, path, body) in [
      ("GET", "/v1/logbook", nil), ("POST", "/v1/readings", WireCodec.writeReadings(Sample.history(3))),
      ("GET", "/v1/changes", nil),
    ] {
      let start = ContinuousClock.now
      let status = try await peer.status(method, path, token: token, body: body)
      #expect(status == 200 || status == 304, comment)
      #expect(ContinuousClock.now - start < .seconds(1), comment)
    }
  }

  private static func close(_ descriptors: [Int32]) {
    for descriptor in descriptors { Glibc.close(descriptor) }
  }

  private static func head(_ path: String, token: String = Peer.writeToken, more: String = "") -> String {
    "\(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n" + Peer.run.joined(separator: "\r\n")
      + "\r\n\(more)\r\n"
  }

  @Test func silentConnectionsAreClosedToAdmitNewOnes() async throws {
    try await Peer.with({ ($0.maxConnections, $0.headTime) = (20, .seconds(60)) }) { (peer) async throws in
      let silent = try peer.hold(60)
      try await expectServed(peer, "silent connections of the same address")
      Self.close(silent)
      let half = try peer.hold(60, sending: "GET /v1/logbook HTTP/1.1\r\nHost: ", from: 9)
      try await expectServed(peer, "halves of heads from another address")
      Self.close(half)
    }
  }

  @Test func theClientAddressWithMostConnectionsLosesItsOldestConnection() async throws {
    try await Peer.with({ ($0.maxConnections, $0.headTime) = (20, .seconds(60)) }) { (peer) async throws in
      // This connection is from another address, and older than all others.
      let patient = try peer.hold(1, from: 7)
      let many = try peer.hold(60, from: 9)
      try await expectServed(peer, "behind both")
      let request = Array(Self.head("GET /v1/logbook").utf8)
      #expect(write(patient[0], request, request.count) == request.count)
      var limit = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(patient[0], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var answer = [UInt8](repeating: 0, count: 4096)
      let count = recv(patient[0], &answer, answer.count, 0)
      #expect(String(decoding: answer[..<max(count, 0)], as: UTF8.self).hasPrefix("HTTP/1.1 200"))
      Self.close(patient + many)
    }
  }

  /// The number of these connections that the server has closed, normally or by a reset.
  private static func closed(_ descriptors: [Int32]) -> Int {
    var byte: UInt8 = 0
    return descriptors.count { recv($0, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 || errno != EAGAIN }
  }

  @Test func oneClientAddressWithManyBusyConnectionsLeavesRoomForOthers() async throws {
    try await Peer.with({ settings in
      (settings.maxConnections, settings.maxConnectionsPerAddress) = (20, 12)
      (settings.maxRequests, settings.maxRequestsPerLogin) = (100, 100)
      settings.bodyPaceTime = .seconds(60)
    }) { (peer) async throws in
      let head = Self.head(
        "POST /v1/readings", more: "Content-Type: application/json\r\nContent-Length: 5000\r\n")
      let slow = try peer.hold(40, sending: head + "{", from: 9)
      // The server keeps 12 busy connections of this address, and closes none of them for another address.
      for _ in 0..<1000 where Self.closed(slow) < 28 { try await Task.sleep(for: .milliseconds(20)) }
      #expect(Self.closed(slow) == 28)
      try await expectServed(peer, "an address that works on all of its connections")
      Self.close(slow)
    }
  }

  @Test func aRequestHeadThatArrivesTooSlowlyEndsTheConnection() async throws {
    try await Peer.with({ $0.headTime = .milliseconds(500) }) { (peer) async throws in
      let start = ContinuousClock.now
      let drops = Array(repeating: Array("X: y\r\n".utf8), count: 300)
      let answer = try await peer.session(
        [Array("GET /healthz HTTP/1.1\r\n".utf8)] + drops, pauseMilliseconds: 100)
      #expect(answer.isEmpty && ContinuousClock.now - start < .seconds(15), "they take 30 s")
    }
  }

  @Test func slowRequestBodiesDoNotBlockOtherLogbooks() async throws {
    try await Peer.with({ $0.maxBytesAtWork = 16 << 20 }) { (peer) async throws in
      let head = Self.head(
        "POST /v1/readings",
        more: "Content-Type: application/json\r\nContent-Length: \(WireProtocol.maxBodyBytes)\r\n")
      let slow = try peer.hold(30, sending: head + "{")
      try await expectServed(peer, "bodies of one byte")
      Self.close(slow)
    }
  }

  @Test func aLoginAtItsRequestLimitIsAskedToRetryWhileOthersAreServed() async throws {
    try await Peer.with({ ($0.maxRequests, $0.maxRequestsPerLogin) = (4, 2) }) { (peer) async throws in
      let head = Self.head(
        "POST /v1/readings", more: "Content-Type: application/json\r\nContent-Length: 5000\r\n")
      let slow = try peer.hold(6, sending: head + "{")
      var refused: Reply?
      for _ in 0..<200 where refused == nil {
        let reply = try await peer.send("GET", "/v1/logbook")
        if reply?.status == 503 { refused = reply } else { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(refused?.error?.code == .busy && refused?.headers["retry-after"] == "1")
      try await expectServed(peer, "two requests of the other login")
      Self.close(slow)
      var status: Int?
      for _ in 0..<400 where status != 200 {
        status = try await peer.status("GET", "/v1/logbook")
        if status != 200 { try await Task.sleep(for: .milliseconds(50)) }
      }
      #expect(status == 200, "what ended is given back")
    }
  }

  @Test func unreadResponsesAreLimitedForEachLogin() async throws {
    try await Peer.with({ $0.maxAnswerBytes = 8 << 20 }) { (peer) async throws in
      let text = String(repeating: "0123456789", count: 400)
      let changes = (0..<900).map { number in
        RecordChange(
          guid: "11111111-2222-4333-8444-" + String(555_555_550_000 + number), node: Sample.guid, version: 1,
          base: nil, state: Sample.change(text).state)
      }
      let run = try #require(
        RunStamp(node: Sample.guid, run: "1 \(Sample.guid)", logbook: nil, lastSeenPosition: nil))
      _ = try await peer.logbook.apply(changes, run)
      let slow = try peer.hold(
        12, sending: Self.head("GET /v1/changes", token: Peer.readToken), from: 9)
      var refused: Reply?
      for _ in 0..<400 where refused == nil {
        let reply = try await peer.send("GET", "/v1/changes", token: Peer.readToken)
        if reply?.status == 503 { refused = reply } else { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(refused?.error?.code == .busy && refused?.headers["retry-after"] == "1")
      try await expectServed(peer, "readers that do not read")
      Self.close(slow)
      var status: Int?
      for _ in 0..<400 where status != 200 {
        status = try await peer.status("GET", "/v1/changes", token: Peer.readToken)
        if status != 200 { try await Task.sleep(for: .milliseconds(50)) }
      }
      #expect(status == 200, "what was not sent is given back")
    }
  }

  @Test func manyFailedLoginsDoNotBlockOtherClients() async throws {
    try await Peer.with({ ($0.maxConnections, $0.maxFailedLogins) = (40, 2) }) { (peer) async throws in
      let guesses = try peer.hold(30, sending: Self.head("GET /v1/logbook", token: "gp_guess"), from: 9)
      try await expectServed(peer, "guesses")
      Self.close(guesses)
    }
  }

  @Test func aServerThatIsStoppingDoesNotProcessAReceivedBody() async throws {
    let body = IncomingBody(
      bytesAtWork: WorkLimits(max: 1 << 20, perLogin: 1 << 20), time: .seconds(60), pace: (1, .seconds(60)))
    let request = Request(
      head: HTTPRequest(
        method: .post, scheme: nil, authority: nil, path: "/v1/readings",
        headerFields: [.contentType: "application/json"]),
      body: RequestBody(buffer: ByteBuffer(string: "{}")))
    #expect(try await body.read(request) { $0.count } == 2)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await body.read(request) { _ in _ = Issue.record("the body is used") }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  // MARK: - Quotas

  @Test func aLogbookAcceptsNoMoreReadingsThanItsQuota() async throws {
    var quota = LogbookQuota()
    quota.readings = 5
    try await Peer.with(quota: quota) { (peer) async throws in
      #expect(
        try await peer.status("POST", "/v1/readings", body: WireCodec.writeReadings(Sample.history(5))) == 200
      )
      let position = try await peer.logbook.logbook().position
      let reply = try await peer.send(
        "POST", "/v1/readings", body: WireCodec.writeReadings(Sample.history(6)))
      #expect(reply?.status == 503 && reply?.error?.code == .busy)
      #expect(reply?.error?.message.contains("as many readings as the server allows") == true)
      #expect(Int(reply?.headers["retry-after"] ?? "") == 3600)
      #expect(try await peer.logbook.logbook().position == position)
      #expect(
        try await peer.status("POST", "/v1/readings", body: WireCodec.writeReadings(Sample.history(5))) == 200
      )
      try await expectServed(peer, "another logbook has its own quota")
    }
  }

  @Test func aLogbookAcceptsNoMoreRecordsThanItsQuota() async throws {
    var quota = LogbookQuota()
    quota.records = 1
    try await Peer.with(quota: quota) { (peer) async throws in
      let first = Sample.change("a")
      #expect(try await peer.status("POST", "/v1/records", body: WireCodec.writeChanges([first.json])) == 200)
      let second = RecordChange(
        guid: "11111111-2222-4333-8444-555555555556", node: Sample.guid, version: 1, base: nil,
        state: first.state)
      #expect(
        try await peer.status("POST", "/v1/records", body: WireCodec.writeChanges([second.json])) == 503)
      #expect(try await peer.status("POST", "/v1/records", body: WireCodec.writeChanges([first.json])) == 200)
    }
  }

  @Test func aLogbookAcceptsNoMoreClientStoresThanItsQuota() async throws {
    var quota = LogbookQuota()
    quota.nodes = 1
    try await Peer.with(quota: quota) { (peer) async throws in
      #expect(try await peer.status("GET", "/v1/digests") == 200)
      let other = [
        "Glucoport-Node: 00000000-0000-4000-8000-000000000009",
        "Glucoport-Run: 1 00000000-0000-4000-8000-000000000002",
      ]
      let reply = try await peer.send("GET", "/v1/digests", headers: other)
      #expect(reply?.status == 503 && reply?.error?.message.contains("as many nodes") == true)
      let next = [Peer.run[0], "Glucoport-Run: 2 00000000-0000-4000-8000-000000000003"]
      #expect(try await peer.status("GET", "/v1/digests", headers: next) == 200, "a known node goes on")
    }
  }
}
