// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Tests the bytes of requests and answers.
@Suite(.timeLimit(.minutes(10)))
struct RequestTests {
  @Test func everyRequestStatesTokenProgramAndSyncRun() async throws {
    let server = try ScriptedServer { _ in .status(304) }
    let run = Login.run(logbook: Login.logbookID, position: "m7")
    _ = try await ask(server, prefix: "/prefix/") { try await $0.changes(after: nil, limit: 5, run) }
    let request = try #require(server.requests.first)
    #expect(request.method == "GET" && request.path == "/prefix/v1/changes?limit=5")
    #expect(request.headers["authorization"] == "Bearer \(Login.secret)")
    #expect(request.headers["user-agent"] == "glucoport/test")
    #expect(request.headers["accept-encoding"] == "gzip")
    #expect(request.headers[WireProtocol.nodeHeader.lowercased()] == run.node)
    #expect(request.headers[WireProtocol.runHeader.lowercased()] == "3 \(run.id)")
    #expect(request.headers[WireProtocol.logbookHeader.lowercased()] == Login.logbookID)
    #expect(request.headers[WireProtocol.positionHeader.lowercased()] == "m7")
  }

  @Test func headersWithoutAKnownValueAreNotSent() async throws {
    let server = try ScriptedServer { _ in .status(304) }
    _ = try await ask(server) { try await $0.changes(after: nil, limit: 5, Login.run()) }
    let headers = try #require(server.requests.first?.headers)
    #expect(
      headers[WireProtocol.logbookHeader.lowercased()] == nil
        && headers[WireProtocol.positionHeader.lowercased()] == nil)
  }

  @Test func readingsAndRecordsAreRequestedByTimeKindAndID() async throws {
    let empty = ChangePage(readings: ReadingBatch(), records: [], cursor: "c", hasMore: false)
    let server = try ScriptedServer { _ in .status(200, WireCodec.write(empty)) }
    try await ask(server) { remote in
      for part in [
        ChangePart.records, .record(Login.logbookID), .readings(from: .min, until: .max),
        .readings(from: 0, until: 86400),
      ] { _ = try await remote.changes(of: part, after: "a b", limit: 5, Login.run()) }
    }
    #expect(
      server.requests.map(\.path) == [
        "/v1/changes?after=a%20b&only=records&limit=5",
        "/v1/changes?after=a%20b&guid=\(Login.logbookID)&limit=5",
        "/v1/changes?after=a%20b&from=0001-01-01T00%3A00%3A00&until=9999-12-31T23%3A59%3A59&limit=5",
        "/v1/changes?after=a%20b&from=1970-01-01T00%3A00%3A00&until=1970-01-02T00%3A00%3A00&limit=5",
      ])
  }

  @Test func aCursorIsPercentEncodedInARequest() async throws {
    let server = try ScriptedServer { _ in .status(304) }
    _ = try await ask(server) { try await $0.changes(after: "a&b=c/+%~é", limit: 1, Login.run()) }
    #expect(server.requests.first?.path == "/v1/changes?after=a%26b%3Dc%2F%2B%25~%C3%A9&limit=1")
  }

  @Test(arguments: [(1, false), (1000, true)])
  func aLargeRequestBodyIsCompressed(_ count: Int, _ isPacked: Bool) async throws {
    let server = try ScriptedServer { _ in
      .status(200, WireCodec.write(ReadingAnswer(stored: count, known: 0)))
    }
    let batch = Sample.batch(count)
    _ = try await ask(server) { try await $0.store(batch, Login.run()) }
    let request = try #require(server.requests.first)
    #expect(request.headers["content-type"] == "application/json")
    #expect((request.headers["content-encoding"] == "gzip") == isPacked)
    let body = isPacked ? try WireGzip.unpack(request.body, limit: 1 << 20) : request.body
    #expect(body == WireCodec.writeReadings(batch))
  }

  @Test func aRequestBodyAboveTheLimitIsNotSent() async throws {
    let server = try ScriptedServer { _ in .status(500) }
    let text = String(repeating: "x", count: Login.short.bodyBytes)
    let change = RecordChange(
      guid: Login.logbookID, node: Login.run().node, version: 1, base: nil, state: Sample.note(text))
    let problem = await #expect(throws: ServiceError.self) {
      try await ask(server, Login.short) { try await $0.apply([change], Login.run()) }
    }
    #expect(problem == .tooLarge)
    #expect(server.connectionCount == 0)
  }

  @Test func aCompressedAnswerIsUnpacked() async throws {
    let packed = try #require(WireGzip.pack(Login.logbookBody))
    let server = try ScriptedServer { _ in .status(200, packed, headers: ["Content-Encoding: gzip"]) }
    #expect(try await ask(server) { try await $0.logbook() } == Login.logbook)
  }

  @Test func oneConnectionIsUsedForAllRequestsOfARun() async throws {
    let server = try ScriptedServer { _ in .status(200, Login.logbookBody) }
    try await ask(server) { remote in for _ in 0..<5 { _ = try await remote.logbook() } }
    #expect(server.requests.count == 5 && server.connectionCount == 1)
  }
}

/// Readings and records for tests.
enum Sample {
  static func batch(_ count: Int) -> ReadingBatch {
    let device = Device(vendor: "Test", model: "Meter", serial: "S1", format: "test")
    let readings = (0..<count).map { (index: Int) -> Reading in
      Reading(
        device: DeviceIndex(0), kind: .cbg, tick: Int64(index),
        at: DeviceTime(seconds: 1_778_000_000 + Int64(index) * 300),
        placement: Placement(utcOffset: 7200, source: .stated),
        .value(Quantity(100 + Double(index % 90), .milligramsPerDecilitre)), line: 0)
    }
    return ReadingBatch(devices: [device], readings: readings)
  }

  static func note(_ text: String) -> RecordState {
    RecordState(
      kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_000_000),
      placement: Placement(utcOffset: 7200, source: .stated), fields: RecordFields(["text": .text(text)]),
      isDeleted: false)
  }
}
