// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import ServerStore
import Testing

@testable import LogbookServer

/// Tests `GET /v1/digests` and `DELETE /v1/logbook`, over a real socket.
@Suite(.timeLimit(.minutes(10))) struct DigestCallTests {
  private static let other = [
    "Glucoport-Node: 00000000-0000-4000-8000-000000000009",
    "Glucoport-Run: 1 00000000-0000-4000-8000-000000000008",
  ]

  private func body(_ peer: Peer, _ query: String) async throws -> [UInt8] {
    let reply = try await peer.send(
      "GET", "/v1/digests\(query)", token: Peer.readToken, headers: Self.other)
    return try #require(reply?.status == 200 ? reply?.body : nil, "\(String(describing: reply?.error))")
  }

  @Test func aReadOnlyTokenCanReadTheContentOfADigestBucket() async throws {
    try await Peer.with { (peer) async throws in
      let batch = Sample.history(40)
      _ = try await peer.send("POST", "/v1/readings", body: WireCodec.writeReadings(batch))
      let change = Sample.change("note")
      _ = try await peer.send("POST", "/v1/records", body: WireCodec.writeChanges([change.json]))
      let digests = try WireCodec.readDigests(try await body(peer, ""))
      #expect(try WireCodec.readDigests(try await body(peer, "?of=readings")) == digests)
      let buckets = (0..<4096).filter { digests.counts[$0] > 0 }
      let found = try WireCodec.readReadings(
        try await body(peer, "?\(WireCodec.queryForReadings(in: buckets))"))
      #expect(found.batch.readings.count == 40 && found.refused.isEmpty)
      var expected = IdentityDigests()
      expected.insert(change.guid, change.state)
      #expect(try WireCodec.readDigests(try await body(peer, "?of=records")) == expected)
      let bucket = IdentityDigests.bucket(ofRecord: change.guid)
      let page = try WireCodec.readRecordPage(
        try await body(peer, "?\(WireCodec.queryForRecords(in: [bucket], after: nil))"))
      #expect(page.records.map(\.state) == [change.state] && !page.hasMore)
      let rest = try WireCodec.readRecordPage(
        try await body(peer, "?\(WireCodec.queryForRecords(in: [bucket], after: change.guid))"))
      #expect(rest == RecordPage(records: [], hasMore: false))
    }
  }

  @Test(arguments: [
    "?of=people", "?readings=", "?readings=abcd", "?records=ab", "?readings=abc&readings=abd", "?records=,",
  ])
  func anInvalidDigestQueryIsRefused(_ query: String) async throws {
    try await Peer.with { (peer) async throws in
      let reply = try await peer.send("GET", "/v1/digests\(query)")
      #expect(reply?.status == 400 && reply?.error?.code == .badRequest)
    }
  }

  @Test func onlyAWriteTokenWithTheNameOfALogbookCanDeleteIt() async throws {
    try await Peer.with { (peer) async throws in
      let (id, name) = (peer.login.logbook, "Anna's")
      func purge(_ id: String, _ name: String, _ token: String = Peer.writeToken) async throws -> (
        Int?, ErrorCode?
      ) {
        let reply = try await peer.send(
          "DELETE", "/v1/logbook", token: token, headers: [],
          body: WireCodec.writePurge(logbook: id, name: name)
        )
        return (reply?.status, reply?.error?.code)
      }
      #expect(try await purge(id, name, Peer.readToken) == (403, .readOnly))
      #expect(try await purge(id, "Anna") == (400, .badRequest))
      #expect(try await purge(Sample.guid, name) == (409, .otherLogbook))
      #expect(try await purge(id, name, "gp_nobody") == (401, .login))
      #expect(try await peer.status("DELETE", "/v1/logbook", headers: []) == 415)
      #expect(try await peer.status("GET", "/v1/logbook") == 200, "nothing is removed so far")
      #expect(try await purge(id, name) == (200, nil))
      #expect(try await purge(id, name) == (410, .purged))
    }
  }

  @Test func everyCallForADeletedLogbookReportsItsDeletion() async throws {
    try await Peer.with { (peer) async throws in
      try await peer.logbook.purging?.purge(try await peer.logbook.logbook())
      let readings = WireCodec.writeReadings(Sample.history(1))
      for token in [Peer.writeToken, Peer.readToken] {
        for (method, path, body) in [
          ("GET", "/v1/logbook", nil), ("GET", "/v1/changes", nil), ("GET", "/v1/digests", nil),
          ("POST", "/v1/readings", readings), ("POST", "/v1/records", Array("{}".utf8)),
        ] as [(String, String, [UInt8]?)] {
          let reply = try await peer.send(method, path, token: token, body: body)
          #expect(reply?.status == 410 && reply?.error?.code == .purged, "\(method) \(path)")
        }
      }
      #expect(try await peer.status("GET", "/healthz", token: nil) == 200)
    }
  }

  @Test func theRefusalOfAnHTTPMethodNamesBothMethodsOfThePath() async throws {
    try await Peer.with { (peer) async throws in
      let reply = try await peer.send("PUT", "/v1/logbook")
      #expect(reply?.status == 405 && reply?.headers["allow"] == "GET, DELETE")
    }
  }
}
