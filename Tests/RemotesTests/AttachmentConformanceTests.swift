// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// What the sync engine relies on, for every remote of the register that takes the content of attachments.
@Suite(.timeLimit(.minutes(10))) struct AttachmentConformanceTests {
  static let kinds = RemoteRegister.all.map(\.id).filter(RemoteRegister.takesAttachments)

  private let bytes: [UInt8] = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) } + [0, 0xFF, 0xFE]
  private let content: AttachmentContent

  init() { content = Self.content(of: bytes) }

  private static func content(of bytes: [UInt8]) -> AttachmentContent {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    return AttachmentContent(digest: digest.hexadecimal(), size: Int64(bytes.count))
  }

  private func with(
    _ kind: String, canWrite: Bool = true, _ body: (any AttachmentRemote) async throws -> Void
  ) async throws {
    let server = try #require(try ConformanceServers.start(kind))
    let login = RemoteLogin(
      address: try RemoteAddress(server.url, allowsPlainHTTP: false),
      token: try Login.token(server.token(canWrite: canWrite)), agent: "glucoport/test")
    try await RemoteRegister.with(kind, login) { (remote) async throws in
      try await body(try #require(remote as? any AttachmentRemote))
    }
  }

  @Test func oneKindTakesAttachmentsAndNightscoutDoesNot() {
    #expect(Self.kinds == ["glucoport"])
  }

  @Test(arguments: kinds) func aContentIsSentInPartsAndFetchedInOthers(_ kind: String) async throws {
    try await with(kind) { (remote) async throws in
      let run = Login.run()
      #expect(try await remote.held(content.digest, run) == HeldContent())
      #expect(try await remote.fetch(content.digest, from: 0, limit: 100, run) == nil)
      let first = try await remote.append(Array(bytes[..<2000]), to: content, at: 0, run)
      #expect(first == .holds(HeldContent(bytes: 2000, size: content.size)))
      #expect(try await remote.held(content.digest, run) == HeldContent(bytes: 2000, size: content.size))
      let again = try await remote.append(Array(bytes[..<2000]), to: content, at: 0, run)
      #expect(again == .holds(HeldContent(bytes: 2000, size: content.size)), "as when an answer was lost")
      let last = try await remote.append(Array(bytes[2000...]), to: content, at: 2000, run)
      #expect(last == .holds(HeldContent(bytes: content.size, size: content.size)))

      var fetched: [UInt8] = []
      while fetched.count < bytes.count {
        let part = try #require(
          try await remote.fetch(content.digest, from: Int64(fetched.count), limit: 999, Login.run(node: 2)))
        #expect(part.size == content.size && !part.bytes.isEmpty && part.bytes.count <= 999)
        fetched += part.bytes
      }
      #expect(fetched == bytes)
      let behind = try await remote.fetch(content.digest, from: content.size + 10, limit: 10, run)
      #expect(behind == ContentPart(size: content.size, bytes: []))
    }
  }

  @Test(arguments: kinds) func anEmptyContentIsOneToo(_ kind: String) async throws {
    try await with(kind) { (remote) async throws in
      let empty = Self.content(of: [])
      let sent = try await remote.append([], to: empty, at: 0, Login.run())
      #expect(sent == .holds(HeldContent(bytes: 0, size: 0)))
      let part = try await remote.fetch(empty.digest, from: 0, limit: 10, Login.run())
      #expect(part == ContentPart(size: 0, bytes: []))
    }
  }

  @Test(arguments: kinds) func aContentWithoutItsDigestIsTold(_ kind: String) async throws {
    try await with(kind) { (remote) async throws in
      let other = AttachmentContent(digest: String(repeating: "a", count: 64), size: content.size)
      #expect(try await remote.append(bytes, to: other, at: 0, Login.run()) == .wrongDigest)
      #expect(try await remote.held(other.digest, Login.run()) == HeldContent())
    }
  }

  @Test(arguments: [
    "", "../../x", "5", String(repeating: "A", count: 64), String(repeating: "a", count: 63) + "/",
  ])
  func whatIsNoDigestIsNeverAskedFor(_ digest: String) async throws {
    let content = AttachmentContent(digest: digest, size: 1)
    try await with("glucoport") { (remote) async throws in
      let calls: [() async throws -> Void] = [
        { _ = try await remote.held(digest, Login.run()) },
        { _ = try await remote.append([1], to: content, at: 0, Login.run()) },
        { _ = try await remote.fetch(digest, from: 0, limit: 1, Login.run()) },
      ]
      for call in calls {
        let problem = await #expect(throws: RemoteError.self) { try await call() }
        guard case .refused(let sentence)? = problem else {
          Issue.record("\(String(describing: problem))")
          continue
        }
        #expect(sentence.contains("was not asked"))
      }
    }
  }

  @Test(arguments: kinds) func aContentThatIsTooLargeIsRefusedForGood(_ kind: String) async throws {
    try await with(kind) { (remote) async throws in
      let large = AttachmentContent(digest: content.digest, size: 1 << 40)
      let problem = await #expect(throws: RemoteError.self) {
        try await remote.append(bytes, to: large, at: 0, Login.run())
      }
      guard case .refused = problem else {
        Issue.record("\(String(describing: problem))")
        return
      }
    }
  }

  @Test(arguments: kinds) func aLoginForReadingFetchesAndDoesNotSend(_ kind: String) async throws {
    try await with(kind, canWrite: false) { (remote) async throws in
      #expect(try await remote.held(content.digest, Login.run()) == HeldContent())
      await #expect(throws: RemoteError.readOnly) {
        try await remote.append(bytes, to: content, at: 0, Login.run())
      }
    }
  }
}

/// A glucoport server whose answers about contents cannot be.
@Suite(.timeLimit(.minutes(10))) struct AttachmentAnswerTests {
  private static let digest = String(repeating: "b", count: 64)

  private func with(
    _ answer: ScriptedAnswer, _ body: (any AttachmentRemote) async throws -> Void
  ) async throws {
    let server = try ScriptedServer { _ in answer }
    let login = RemoteLogin(
      address: try RemoteAddress(server.url, allowsPlainHTTP: false), token: try Login.token(Login.secret),
      agent: "glucoport/test")
    try await RemoteRegister.with("glucoport", login) { (remote) async throws in
      try await body(try #require(remote as? any AttachmentRemote))
    }
  }

  @Test(arguments: [
    [], ["Glucoport-Held: -1"], ["Glucoport-Held: 5"], ["Glucoport-Held: 9", "Glucoport-Size: 8"],
    ["Glucoport-Held: x", "Glucoport-Size: 8"],
  ])
  func whatIsHeldHasToBeSaid(_ headers: [String]) async throws {
    try await with(.status(200, headers: headers)) { (remote) async throws in
      let problem = await #expect(throws: RemoteError.self) {
        try await remote.held(Self.digest, Login.run())
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
  func aRangeHasToBeTheOneThatWasAskedFor(_ range: String) async throws {
    let answer = ScriptedAnswer.status(206, Array("hello".utf8), headers: ["Content-Range: \(range)"])
    try await with(answer) { (remote) async throws in
      let problem = await #expect(throws: RemoteError.self) {
        try await remote.fetch(Self.digest, from: 0, limit: 10, Login.run())
      }
      guard case .protocolViolation = problem else {
        Issue.record("\(range) \(String(describing: problem))")
        return
      }
    }
  }

  @Test(arguments: [
    (409, "node-reused", RemoteError.nodeReused), (410, "position-unknown", .positionUnknown),
    (403, "read-only", .readOnly),
  ])
  func anAnswerWithoutABodyTellsItsErrorInAHeader(
    _ status: Int, _ word: String, _ error: RemoteError
  ) async throws {
    try await with(.status(status, headers: ["Glucoport-Error: \(word)"])) { (remote) async throws in
      await #expect(throws: error) { try await remote.held(Self.digest, Login.run()) }
    }
  }
}
