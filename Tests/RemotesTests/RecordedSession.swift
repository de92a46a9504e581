// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import NIOHTTP1
import Synchronization
import Testing

@testable import Remotes

/// One request of a client and the server's answer, without the headers that the HTTP transport adds.
struct RecordedExchange: Codable, Sendable {
  /// `writer` or `reader`, in place of the token.
  let login: String
  let method: String
  let path: String
  let headers: [String: String]
  /// The body of the request. All bodies in recorded sessions are text.
  let body: String?
  let status: Int
  let answerHeaders: [String: String]
  let answer: String

  /// The headers of answers that the protocol defines, or that describe the content.
  private static let answerNames = [
    WireProtocol.heldHeader, WireProtocol.sizeHeader, WireProtocol.errorHeader, "Content-Range",
    "Content-Type",
  ]

  init(_ login: String, _ request: ExchangeRequest, _ answer: ExchangeAnswer) {
    self.login = login
    method = request.method.rawValue
    path = request.path
    headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
      .filter { $0.key != "Authorization" }
    body = request.body.map { String(decoding: $0, as: UTF8.self) }
    status = answer.status
    answerHeaders = Self.answerNames.reduce(into: [:]) { $0[$1] = answer.headers.first(name: $1) }
    self.answer = String(decoding: answer.body, as: UTF8.self)
  }
}

/// The exchanges of a session in their order. A file of a session has one exchange a line, as a JSON object.
final class SessionRecording: Sendable {
  private let exchanges = Mutex<[RecordedExchange]>([])

  var all: [RecordedExchange] { exchanges.withLock { $0 } }

  func add(_ exchange: RecordedExchange) { exchanges.withLock { $0.append(exchange) } }

  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try all.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
  }

  static func read(_ text: String) throws -> [RecordedExchange] {
    try text.split(separator: "\n").map {
      try JSONDecoder().decode(RecordedExchange.self, from: Data($0.utf8))
    }
  }
}

/// A transport that records the exchanges of another transport.
struct RecordingTransport: HTTPTransport {
  let login: String
  let base: any HTTPTransport
  let recording: SessionRecording

  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    let answer = try await base.send(request)
    recording.add(RecordedExchange(login, request, answer))
    return answer
  }
}

/// Answers a request as the recorded server did, with the next recorded exchange of the same method and path.
final class RecordedServer: Sendable {
  private let exchanges: [RecordedExchange]
  private let next = Mutex(0)

  init(_ exchanges: [RecordedExchange]) { self.exchanges = exchanges }

  /// The number of recorded exchanges after the last one that was requested.
  var remaining: Int { exchanges.count - next.withLock { $0 } }

  func transport(_ login: String) -> any HTTPTransport { Transport(server: self, login: login) }

  private struct Transport: HTTPTransport {
    let server: RecordedServer
    let login: String

    func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
      guard let exchange = server.nextExchange(login, request) else {
        throw .unavailable("the recorded server was never asked \(request.method) \(request.path)")
      }
      return ExchangeAnswer(
        status: exchange.status, headers: HTTPHeaders(exchange.answerHeaders.map { ($0.key, $0.value) }),
        body: Array(exchange.answer.utf8))
    }
  }

  private func nextExchange(_ login: String, _ request: ExchangeRequest) -> RecordedExchange? {
    next.withLock { next in
      let found = exchanges[next...].firstIndex {
        $0.login == login && $0.method == request.method.rawValue && $0.path == request.path
      }
      guard let found else { return nil }
      next = found + 1
      return exchanges[found]
    }
  }
}

/// The calls of a client in a recorded session: every call of the protocol, with every kind of answer that a
/// client can cause. All contents are fixed.
struct ProtocolSession {
  let writer: GlucoportRemote
  let reader: GlucoportRemote

  init(_ transport: (_ login: String) -> any HTTPTransport) throws {
    func remote(_ name: String, _ token: String) throws -> GlucoportRemote {
      let login = RemoteLogin(
        address: try RemoteAddress("http://127.0.0.1:1", allowsPlainHTTP: false),
        token: try Login.token(token),
        agent: "glucoport/test")
      return GlucoportRemote(RemoteExchange(login, over: transport(name)), token: login.token)
    }
    writer = try remote("writer", ServedLogbook.writeToken)
    reader = try remote("reader", ServedLogbook.readToken)
  }

  func run() async throws {
    let logbook = try await writer.logbook()
    #expect(logbook.isWritable && logbook.name == "Anna")
    #expect(try await reader.logbook().isWritable == false)
    let (one, two) = (Login.run(logbook: logbook.id), Login.run(logbook: logbook.id, node: 2))
    try await sendReadings(one)
    let revision = try await sendRecords(one)
    try await exchangeChanges(revision, one, two)
    try await compare(two)
    try await fetchParts(two)
    try await transferContent(one)
    try await causeErrors(one)
    try await purge(logbook, one)
  }
}

// MARK: - Calls

extension ProtocolSession {
  private static func guid(_ number: Int) -> String { "30000000-0000-4000-8000-00000000000\(number)" }

  private static let content = "soup.txt: leek, potatoes\n"
  private static let digest = RecordState.digestOfText(content)

  private static let states: [RecordState] = {
    func state(_ kind: RecordKind, _ fields: [String: FieldValue], entry: Int? = nil) -> RecordState {
      RecordState(
        kind: kind, entryGuid: entry.map(guid), deviceTime: DeviceTime(seconds: 1_700_000_000),
        placement: Placement(utcOffset: 3600, source: .stated), fields: RecordFields(fields),
        isDeleted: false,
        editedAt: 1_700_000_100, provenance: Provenance(format: "glucoport", source: ""))
    }
    var zone = state(.zone, ["zone": .text("Europe/Madrid"), "origin": .text("given")])
    zone.provenance = nil
    var other = state(.note, ["x": .number(1), "tags": .words(["a", "b"]), "flag": .flag(true)])
    if let kind = RecordKind(rawValue: "later-kind") { other.kind = kind }
    return [
      state(.note, ["text": .text("before \"lunch\"\n\u{2028}é")]), state(.food, ["carbs": .number(45.5)]),
      state(.insulin, ["units": .number(4), "subtype": .text("rapid")], entry: 1),
      state(
        .attachment,
        [
          "name": .text("soup.txt"), "type": .text("text/plain"), "size": .number(Double(content.utf8.count)),
          "sha256": .text(digest),
        ], entry: 1),
      zone, other,
    ]
  }()

  private func sendReadings(_ run: RunStamp) async throws {
    var batch = Sample.batch(5)
    let first = try await writer.store(batch, run)
    #expect(first.stored == 5 && first.known == 0)
    batch.readings[2].measurement = .value(Quantity(300, .milligramsPerDecilitre))
    let again = try await writer.store(batch, run)
    #expect(again.stored == 0 && again.known == 5 && again.differing == [2])
    var marked = Sample.batch(1)
    marked.devices = [Device(vendor: "", model: "Meter", format: "generic")]
    marked.readings[0] = Reading(
      device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: 1_700_000_002),
      placement: Placement(utcOffset: 7200, source: .zoneOverlap), .low(below: 1.1, .millimolesPerLitre),
      marks: [.manual, .fasting], line: 0)
    marked.readings[0].occurrenceIsStated = true
    #expect(try await writer.store(marked, run).stored == 1)
    let refused = await #expect(throws: ServiceError.self) { try await reader.store(marked, run) }
    #expect(refused == .readOnly)
  }

  private func change(
    _ number: Int, _ version: Int, on base: String?, _ state: RecordState, by run: RunStamp
  ) -> RecordChange {
    RecordChange(guid: Self.guid(number), node: run.node, version: version, base: base, state: state)
  }

  /// Sends all records twice. Returns the revision of the first record.
  private func sendRecords(_ run: RunStamp) async throws -> String {
    let changes = Self.states.enumerated().map { change($0.offset, 1, on: nil, $0.element, by: run) }
    let answers = try await writer.apply(changes, run).verdicts.map(\.acceptedRevision)
    #expect(answers.count == changes.count && !answers.contains(nil))
    // The server answers a repeated request with the same revisions.
    #expect(try await writer.apply(changes, run).verdicts.map(\.acceptedRevision) == answers)
    return try #require(answers.first ?? nil)
  }

  private func exchangeChanges(_ revision: String, _ one: RunStamp, _ two: RunStamp) async throws {
    let cursor = try await pull(readings: 6, records: Self.states, two)
    #expect(try await reader.changes(after: cursor, limit: 10, two) == nil)
    var edited = Self.states[0]
    edited.fields["text"] = .text("after lunch")
    let accepted = try await writer.apply([change(0, 2, on: revision, edited, by: two)], two).verdicts
    #expect(accepted.first?.acceptedRevision != nil)
    let late = try await writer.apply([change(0, 2, on: revision, Self.states[1], by: one)], one).verdicts
    guard case .refused? = late.first else {
      Issue.record("a kind changed: \(late)")
      return
    }
    var other = Self.states[0]
    other.fields["text"] = .text("no lunch")
    let verdicts = try await writer.apply([change(0, 2, on: revision, other, by: one)], one).verdicts
    guard case .conflict(_, let state, let isBaseKnown)? = verdicts.first else {
      Issue.record("\(verdicts)")
      return
    }
    #expect(state == edited && isBaseKnown)
    let deleted = RecordState(
      kind: .food, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .stated), fields: RecordFields(), isDeleted: true)
    let unknown = try await writer.apply([change(1, 2, on: "x.1", deleted, by: two)], two).verdicts
    guard case .conflict(_, _, isBaseKnown: false)? = unknown.first else {
      Issue.record("\(unknown)")
      return
    }
    let page = try await reader.changes(after: cursor, limit: 10, one)
    #expect(page?.records.map(\.state) == [edited])
  }

  /// Fetches all changes in small pages. Returns the last cursor.
  private func pull(readings: Int, records: [RecordState], _ run: RunStamp) async throws -> String {
    var (cursor, count, states) = (String?.none, 0, [RecordState]())
    while let page = try await reader.changes(after: cursor, limit: 4, run) {
      (cursor, count, states) = (
        page.cursor, count + page.readings.readings.count, states + page.records.map(\.state)
      )
      if !page.hasMore { break }
    }
    #expect(count == readings && states == records)
    return try #require(cursor)
  }

  private func compare(_ run: RunStamp) async throws {
    let readings = try await reader.readingDigests(run)
    let buckets = readings.counts.indices.filter { readings.counts[$0] > 0 }
    #expect(readings.counts.reduce(0, +) == 6)
    #expect(try await reader.readings(in: buckets, run).readings.count == 6)
    let records = try await reader.recordDigests(run)
    #expect(records.counts.reduce(0, +) == Self.states.count)
    let page = try await reader.records(
      in: records.counts.indices.filter { records.counts[$0] > 0 }, after: Self.guid(0), run)
    #expect(page.records.map(\.guid) == (1..<Self.states.count).map(Self.guid) && !page.hasMore)
  }

  private func fetchParts(_ run: RunStamp) async throws {
    let day = try await reader.changes(
      of: .readings(from: 1_700_000_000, until: 1_700_086_400), after: nil, limit: 10, run)
    #expect(day.readings.readings.count == 1 && day.readings.readings.first?.marks == [.manual, .fasting])
    #expect(try await reader.changes(of: .records, after: nil, limit: 10, run).records.count >= 5)
    #expect(
      try await reader.changes(of: .record(Self.guid(1)), after: nil, limit: 10, run).records.map(\.state)
        == [Self.states[1]])
  }

  private func transferContent(_ run: RunStamp) async throws {
    let bytes = Array(Self.content.utf8)
    let content = AttachmentContent(digest: Self.digest, size: Int64(bytes.count))
    #expect(try await writer.heldContent(of: content.digest, run).bytes == 0)
    let half = try await writer.append(Array(bytes[..<10]), to: content, at: 0, run)
    #expect(half == .holds(HeldContent(bytes: 10, size: content.size)))
    #expect(try await reader.part(of: content.digest, from: 0, limit: 5, run) == nil)
    let gap = try await writer.append(Array(bytes[15...]), to: content, at: 15, run)
    #expect(gap == .misplaced(HeldContent(bytes: 10, size: content.size)))
    let whole = try await writer.append(Array(bytes[10...]), to: content, at: 10, run)
    #expect(whole == .holds(HeldContent(bytes: content.size, size: content.size)))
    #expect(try await reader.part(of: content.digest, from: 5, limit: 5, run)?.bytes == Array(bytes[5..<10]))
    #expect(try await reader.part(of: content.digest, from: 0, limit: 100, run)?.bytes == bytes)
    let wrong = AttachmentContent(digest: String(repeating: "0", count: 64), size: 3)
    #expect(try await writer.append(Array("abc".utf8), to: wrong, at: 0, run) == .wrongDigest)
  }

  private func causeErrors(_ run: RunStamp) async throws {
    func problem(_ call: () async throws -> Void) async -> ServiceError? {
      await #expect(throws: ServiceError.self) { try await call() }
    }
    #expect(
      await problem { _ = try await reader.changes(after: "x.1", limit: 1, run) } == .positionUnknown)
    var other = run
    other.logbook = Self.guid(9)
    guard case .otherLogbook? = await problem({ _ = try await reader.readingDigests(other) }) else {
      Issue.record("another logbook is accepted")
      return
    }
    var copy = run
    copy.id = Self.guid(8)
    #expect(await problem { _ = try await writer.apply([], copy) } == .nodeReused)
    #expect(try await writer.makePageLink(seconds: nil) == nil)
  }

  private func purge(_ logbook: RemoteLogbook, _ run: RunStamp) async throws {
    var wrong = logbook
    wrong.name = "Berta"
    let refused = await #expect(throws: ServiceError.self) { try await writer.purge(wrong) }
    guard case .refused? = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    try await writer.purge(logbook)
    let gone = await #expect(throws: ServiceError.self) {
      _ = try await reader.changes(after: nil, limit: 1, run)
    }
    #expect(gone == .purged)
  }
}

extension RecordState {
  fileprivate static func digestOfText(_ text: String) -> String {
    var digest = Digest()
    digest.update(text)
    return digest.hexadecimal()
  }
}
