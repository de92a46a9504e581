// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import NIOHTTP1
import Testing

@testable import Remotes

/// Tests that this version's client and server understand released servers and clients. A file of
/// `Tests/Fixtures/sessions` is a session of a released client with a server of its version, and is never
/// changed. If this version sends or answers something else, record a file with the next number: run these
/// tests with `GLUCOPORT_RECORD_SESSION=NUMBER`.
@Suite(.timeLimit(.minutes(5))) struct RecordedSessionTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/sessions")

  private static var names: [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (files ?? []).filter { $0.hasSuffix(".ndjson") }.map { String($0.dropLast(7)) }.sorted()
  }

  private static func exchanges(_ name: String) throws -> [RecordedExchange] {
    try SessionRecording.read(
      String(contentsOf: folder.appending(path: "\(name).ndjson"), encoding: .utf8))
  }

  @Test func aRecordedSessionExistsForEachKeptProtocolVersion() { #expect(Self.names == ["1"]) }

  /// Runs a server of this version, with a transport for each login.
  private func serving(
    _ body: @Sendable (_ transport: [String: any HTTPTransport]) async throws -> Void
  ) async throws {
    try await ServedLogbook.with { url in
      func login(_ token: String) throws -> RemoteLogin {
        RemoteLogin(
          address: try RemoteAddress(url, allowsPlainHTTP: false), token: try Login.token(token),
          agent: "glucoport/test")
      }
      try await PooledHTTPTransport.with(login(ServedLogbook.writeToken), limits: ExchangeLimits()) {
        writer in
        try await PooledHTTPTransport.with(login(ServedLogbook.readToken), limits: ExchangeLimits()) {
          reader in
          try await body(["writer": writer, "reader": reader])
        }
      }
    }
  }

  /// The client of this version must send the same requests as in the latest recorded session. After a change
  /// of the protocol, a new session must be recorded.
  @Test func theSessionOfThisProtocolVersionIsRecorded() async throws {
    let recording = SessionRecording()
    try await serving { transports in
      try await ProtocolSession { login in
        guard let base = transports[login] else { return RecordedServer([]).transport(login) }
        return RecordingTransport(login: login, base: base, recording: recording)
      }.run()
    }
    if let name = ProcessInfo.processInfo.environment["GLUCOPORT_RECORD_SESSION"] {
      try recording.text().write(
        to: Self.folder.appending(path: "\(name).ndjson"), atomically: true, encoding: .utf8)
    }
    let latest = try Self.exchanges(try #require(Self.names.last))
    #expect(recording.all.map { "\($0.login) \($0.method)" } == latest.map { "\($0.login) \($0.method)" })
    #expect(try !recording.text().contains(ServedLogbook.writeToken))
  }

  @Test(arguments: names) func thisClientUnderstandsTheServerOfAnEarlierVersion(_ name: String) async throws {
    let server = RecordedServer(try Self.exchanges(name))
    try await ProtocolSession(server.transport).run()
    #expect(server.remaining == 0)
  }

  /// Each server generates its own ids, positions and revisions. In recorded requests they are replaced by
  /// those that this server generated.
  @Test(arguments: names) func thisServerAnswersTheClientOfAnEarlierVersion(_ name: String) async throws {
    let exchanges = try Self.exchanges(name)
    try await serving { transports in
      var names = ServerNames()
      for exchange in exchanges {
        let transport = try #require(transports[exchange.login])
        var request = ExchangeRequest(
          method: HTTPMethod(rawValue: exchange.method), path: names.translated(exchange.path))
        let token = exchange.login == "writer" ? ServedLogbook.writeToken : ServedLogbook.readToken
        request.headers = ["Authorization": "Bearer \(token)"]
        for (header, value) in exchange.headers {
          request.headers.add(name: header, value: names.translated(value))
        }
        request.body = exchange.body.map { Array(names.translated($0).utf8) }
        let answer = try await transport.send(request)
        let what = "\(exchange.method) \(exchange.path)"
        #expect(answer.status == exchange.status, "\(what): \(String(decoding: answer.body, as: UTF8.self))")
        for (header, value) in exchange.answerHeaders {
          #expect(answer.headers.first(name: header) == value, "\(what): \(header)")
        }
        if exchange.answerHeaders["Content-Type"]?.hasPrefix("application/json") == true {
          let differences = try names.differences(
            exchange.answer, String(decoding: answer.body, as: UTF8.self))
          #expect(differences == [], "\(what)")
        } else {
          #expect(exchange.answer == String(decoding: answer.body, as: UTF8.self), "\(what)")
        }
      }
    }
  }

  /// `differences` reports a member that a client would miss, and accepts a further member, which clients
  /// ignore.
  @Test func theSessionComparisonFindsWhatAClientWouldMiss() throws {
    var names = ServerNames()
    #expect(
      try names.differences(#"{"a":[1,"x"],"cursor":"t1.5"}"#, #"{"a":[1,"x"],"cursor":"t2.7","b":2}"#) == [])
    #expect(names.translated("after=t1.5&x=t1.50") == "after=t2.7&x=t1.50")
    #expect(try names.differences(#"{"a":1,"c":null}"#, #"{"c":null}"#) == ["/a"])
    #expect(try names.differences(#"{"a":[1,{"b":true}]}"#, #"{"a":[1,{"b":false}]}"#) == ["/a/1/b"])
    #expect(try names.differences(#"{"a":[1]}"#, #"{"a":[1,2]}"#) == ["/a"])
    #expect(try names.differences(#"{"cursor":"t1.5"}"#, #"{"cursor":"t2.8"}"#) == ["/cursor"])
  }
}

/// The ids, positions, cursors and revisions that a server generates, in a recorded session and in this test.
private struct ServerNames {
  private static let members: Set<String> = ["logbook", "position", "cursor", "revision"]
  private var now: [String: String] = [:]

  /// The text of a recorded request. Each id, position, cursor and revision of the recorded server is
  /// replaced by the one that the server in this test made for it.
  func translated(_ text: String) -> String {
    var (text, result) = (text[...], "")
    let isPart = { (character: Character) in
      character.isLetter || character.isNumber || ".-_".contains(character)
    }
    while let first = text.first {
      let word = isPart(first) ? text.prefix(while: isPart) : text.prefix(1)
      result += now[String(word)] ?? String(word)
      text = text.dropFirst(word.count)
    }
    return result
  }

  /// The paths of members of a recorded answer that are missing or different in the answer found. Further
  /// members in the answer found are accepted, because clients ignore them.
  mutating func differences(_ recorded: String, _ found: String) throws -> [String] {
    let values = try [recorded, found].map {
      try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
    }
    return differences(values[0], values[1], "")
  }

  private mutating func differences(_ recorded: Any, _ found: Any, _ path: String) -> [String] {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    switch (recorded, found) {
    case (let recorded as [String: Any], let found as [String: Any]):
      return recorded.sorted { $0.key < $1.key }.flatMap { member, value in
        guard let other = found[member] else { return ["\(path)/\(member)"] }
        return differences(value, other, "\(path)/\(member)")
      }
    case (let recorded as [Any], let found as [Any]):
      guard recorded.count == found.count else { return [path] }
      return zip(recorded, found).enumerated().flatMap {
        differences($0.element.0, $0.element.1, "\(path)/\($0.offset)")
      }
    case (let recorded as String, let found as String):
      // These members are sentences for people, which a version may change.
      if name == "message" || name == "reason" { return [] }
      guard Self.members.contains(name) else { return recorded == found ? [] : [path] }
      if let known = now[recorded] { return known == found ? [] : [path] }
      now[recorded] = found
      return []
    default: return "\(recorded)" == "\(found)" ? [] : [path]
    }
  }
}
