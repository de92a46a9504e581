// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI
import ServerStore
import Testing

@testable import LogbookServer

/// Tests the server's calls for the contents of attachments, over a real socket.
@Suite(.timeLimit(.minutes(10))) struct BlobCallTests {
  private let bytes: [UInt8] = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 3) } + [0, 0xFF]
  private let path: String

  init() {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    path = WireProtocol.blobsPath + digest.hexadecimal()
  }

  private static let octets = Peer.run + ["Content-Type: application/octet-stream"]

  private func patch(
    _ peer: Peer, _ range: Range<Int>, size: Int? = nil, path: String? = nil, token: String? = Peer.writeToken
  ) async throws -> Reply? {
    let headers =
      Self.octets + ["Glucoport-Offset: \(range.lowerBound)", "Glucoport-Size: \(size ?? bytes.count)"]
    return try await peer.send(
      "PATCH", path ?? self.path, token: token, headers: headers, body: Array(bytes[range]))
  }

  @Test func anAttachmentIsSentInPartsAndReadInRanges() async throws {
    try await Peer.with { (peer) async throws in
      let none = try #require(try await peer.send("HEAD", path))
      #expect(
        none.status == 200 && none.headers["glucoport-held"] == "0" && none.headers["glucoport-size"] == nil)
      let first = try #require(try await patch(peer, 0..<1000))
      #expect(first.status == 204 && first.headers["glucoport-held"] == "1000" && first.body.isEmpty)
      let repeated = try #require(try await patch(peer, 0..<1000))
      #expect(repeated.status == 409 && repeated.error?.code == .misplaced)
      #expect(
        repeated.headers["glucoport-held"] == "1000" && repeated.headers["glucoport-error"] == "misplaced")
      #expect(try await peer.status("GET", path) == 404)
      #expect(try await patch(peer, 1000..<3002)?.status == 204)
      let whole = try #require(try await peer.send("HEAD", path, token: Peer.readToken))
      #expect(whole.headers["glucoport-held"] == "3002" && whole.headers["glucoport-size"] == "3002")
      #expect(whole.body.isEmpty)

      let gzip = Peer.run + ["Accept-Encoding: gzip"]
      let all = try #require(try await peer.send("GET", path, token: Peer.readToken, headers: gzip))
      #expect(all.status == 200 && all.body == bytes && all.headers["content-encoding"] == nil)
      #expect(all.headers["content-type"] == "application/octet-stream")
      #expect(all.headers["x-content-type-options"] == "nosniff")
      for (range, expected, stated) in [
        ("bytes=0-9", 0..<10, "bytes 0-9/3002"), ("bytes=2990-", 2990..<3002, "bytes 2990-3001/3002"),
        ("bytes=3001-99999", 3001..<3002, "bytes 3001-3001/3002"),
      ] {
        let part = try #require(try await peer.send("GET", path, headers: Peer.run + ["Range: \(range)"]))
        #expect(part.status == 206 && part.body == Array(bytes[expected]))
        #expect(part.headers["content-range"] == stated)
      }
      let outside = try #require(try await peer.send("GET", path, headers: Peer.run + ["Range: bytes=3002-"]))
      #expect(outside.status == 416 && outside.headers["content-range"] == "bytes */3002")
    }
  }

  @Test func aSmallAttachmentIsSentInOneRequest() async throws {
    try await Peer.with { (peer) async throws in
      #expect(try await peer.status("PUT", path, headers: Self.octets, body: bytes) == 204)
      #expect(try await peer.status("PUT", path, headers: Self.octets, body: bytes) == 204, "again")
      #expect(try await peer.send("GET", path)?.body == bytes)
      let empty = WireProtocol.blobsPath + Digest().hexadecimal()
      #expect(try await peer.status("PUT", empty, headers: Self.octets, body: []) == 204)
      let reply = try #require(try await peer.send("GET", empty, headers: Peer.run + ["Range: bytes=0-9"]))
      #expect(reply.status == 200 && reply.body.isEmpty && reply.headers["glucoport-size"] == "0")
    }
  }

  @Test func anAttachmentWithAWrongDigestIsRefusedAndDiscarded() async throws {
    try await Peer.with { (peer) async throws in
      let other = WireProtocol.blobsPath + String(repeating: "0", count: 64)
      let reply = try #require(try await patch(peer, 0..<3002, path: other))
      #expect(reply.status == 422 && reply.error?.code == .wrongDigest)
      #expect(try await peer.send("HEAD", other)?.headers["glucoport-held"] == "0")
    }
  }

  @Test func aReadOnlyTokenCannotSendAnAttachment() async throws {
    try await Peer.with { (peer) async throws in
      #expect(try await patch(peer, 0..<10, token: Peer.readToken)?.status == 403)
      let put = try await peer.status("PUT", path, token: Peer.readToken, headers: Self.octets, body: bytes)
      #expect(put == 403)
      let unknown = try #require(try await peer.send("HEAD", path, token: "gp_unknown"))
      #expect(unknown.status == 401 && unknown.headers["glucoport-error"] == "login" && unknown.body.isEmpty)
    }
  }

  @Test func anAttachmentAboveTheLimitOfTheServerIsRefused() async throws {
    var quota = LogbookQuota()
    quota.contentBytes = 4000
    try await Peer.with(quota: quota, { $0.maxContentBytes = 3002 }) {
      (peer) async throws in
      #expect(try await patch(peer, 0..<10, size: 3003)?.error?.code == .tooLarge)
      #expect(try await patch(peer, 0..<3002)?.status == 204)
      let other = WireProtocol.blobsPath + String(repeating: "1", count: 64)
      let full = try #require(try await patch(peer, 0..<999, path: other))
      #expect(full.status == 507 && full.error?.code == .full)
      let long = [UInt8](repeating: 0, count: WireProtocol.maxPartBytes + 1)
      let reply = try #require(try await peer.send("PUT", other, headers: Self.octets, body: long))
      #expect(reply.status == 413 && reply.error?.code == .tooLarge)
    }
  }

  @Test(arguments: [
    "", "x", "../logbook", "ABCDEF" + String(repeating: "0", count: 58), String(repeating: "0", count: 63),
    String(repeating: "0", count: 65), String(repeating: "0", count: 64) + "/",
    "%30" + String(repeating: "0", count: 63),
  ])
  func aRequestForAnInvalidAttachmentDigestIsAnsweredWithNotFound(_ name: String) async throws {
    try await Peer.with { (peer) async throws in
      for method in ["GET", "PATCH", "PUT"] {
        #expect(try await peer.status(method, WireProtocol.blobsPath + name, headers: Self.octets) == 404)
      }
    }
  }

  @Test(arguments: [
    ["Glucoport-Offset: 0"], ["Glucoport-Size: 3002"], ["Glucoport-Offset: -1", "Glucoport-Size: 3002"],
    ["Glucoport-Offset: 1e3", "Glucoport-Size: 3002"], ["Glucoport-Offset: 3000", "Glucoport-Size: 3002"],
    ["Glucoport-Offset: 9999999999999999999", "Glucoport-Size: 9999999999999999999"],
    ["Glucoport-Offset: 999999999999999", "Glucoport-Size: 5"],
    ["Glucoport-Offset: 0", "Glucoport-Offset: 0", "Glucoport-Size: 3002"],
  ])
  func aPartOfAnAttachmentWithInvalidHeadersIsRefused(_ headers: [String]) async throws {
    try await Peer.with { (peer) async throws in
      let reply = try await peer.send(
        "PATCH", path, headers: Self.octets + headers, body: Array(bytes[..<10]))
      #expect(reply?.status == 400, "\(headers)")
      #expect(try await peer.send("HEAD", path)?.headers["glucoport-held"] == "0")
    }
  }

  @Test(arguments: ["bytes=-5", "bytes=5-1", "bytes=0-1,4-5", "items=0-1", "bytes=", "bytes=a-b"])
  func anInvalidRangeOfAnAttachmentIsRefused(_ range: String) async throws {
    try await Peer.with { (peer) async throws in
      _ = try await peer.status("PUT", path, headers: Self.octets, body: bytes)
      #expect(try await peer.status("GET", path, headers: Peer.run + ["Range: \(range)"]) == 400)
    }
  }

  @Test func anAttachmentRequestWithAWrongTypeOrMethodIsRefused() async throws {
    try await Peer.with { (peer) async throws in
      #expect(try await peer.status("PUT", path, body: bytes) == 415)
      let reply = try #require(try await peer.send("POST", path, headers: Self.octets, body: bytes))
      #expect(reply.status == 405 && reply.headers["allow"] == "GET, HEAD, PATCH, PUT")
    }
  }
}
