// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Tests a client with a glucoport server whose answers to a comparison of data are impossible.
@Suite(.timeLimit(.minutes(10))) struct DigestAnswerTests {
  private static func record(_ digit: Int) -> RemoteRecord {
    let guid = "0000000\(digit)-0000-4000-8000-000000000000"
    return RemoteRecord(guid: guid, revision: "r\(digit)", state: Sample.note("a"))
  }

  private func page(_ digits: [Int], after: Int?) async throws -> [String] {
    let body = WireCodec.write(RecordPage(records: digits.map(Self.record), hasMore: false))
    let server = try ScriptedServer { _ in .status(200, body) }
    return try await ask(server) { (remote) async throws in
      try await remote.records(in: [1], after: after.map { Self.record($0).guid }, Login.run()).records.map(
        \.revision)
    }
  }

  @Test func recordsWhoseIDsAscendFromThePageBeforeAreAccepted() async throws {
    #expect(try await page([2, 3, 5], after: nil) == ["r2", "r3", "r5"])
    #expect(try await page([2, 3, 5], after: 1) == ["r2", "r3", "r5"])
    #expect(try await page([], after: 1) == [])
  }

  /// If records are not in order, a comparison could request the same page of records endlessly.
  @Test(arguments: [([3, 2], nil), ([2, 2], nil), ([2, 3], 2), ([2, 3], 3), ([1], 2)] as [([Int], Int?)])
  func aPageOfUnorderedRecordsViolatesTheProtocol(_ digits: [Int], _ after: Int?) async throws {
    let problem = await #expect(throws: ServiceError.self) { try await page(digits, after: after) }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(sentence.hasSuffix("it returned records that are not in order"))
  }

  private func readings(_ changes: (inout String) -> Void = { _ in }) async throws -> Int {
    var body = String(decoding: WireCodec.writeReadings(Sample.batch(1)), as: UTF8.self)
    changes(&body)
    let server = try ScriptedServer { [body] _ in .status(200, Array(body.utf8)) }
    return try await ask(server) { (remote) async throws in
      try await remote.readings(in: [1], Login.run()).readings.count
    }
  }

  /// The whole answer is refused. If only the invalid reading were dropped, the comparison would count it as
  /// missing.
  @Test func anAnswerWithAnInvalidReadingViolatesTheProtocol() async throws {
    #expect(try await readings() == 1)
    let problem = await #expect(throws: ServiceError.self) {
      try await readings { $0 = $0.replacing("100", with: "-1") }
    }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(sentence.contains("it returned an invalid reading: "))
  }

  @Test func anErrorInsteadOfAPartOfAnAttachmentIsNamedByItsStatus() async throws {
    func reason(_ body: String) async throws -> String? {
      let server = try ScriptedServer { _ in
        .status(507, Array(body.utf8), headers: ["\(WireProtocol.errorHeader): full"])
      }
      let content = AttachmentContent(digest: String(repeating: "b", count: 64), size: 3)
      let outcome = try await ask(server) { (remote) async throws in
        try await remote.append([1, 2, 3], to: content, at: 0, Login.run())
      }
      guard case .full(let reason) = outcome else { return nil }
      return reason.split(separator: ": ").last.map(String.init)
    }
    #expect(try await reason("<html>") == "it answers with status 507")
    #expect(try await reason(#"{"error":"full","message":"no room for it"}"#) == "no room for it")
  }
}
