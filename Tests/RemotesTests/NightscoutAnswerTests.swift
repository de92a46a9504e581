// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import TestServers
import Testing

@testable import Remotes

/// Tests that only answers of the site itself are believed. A login page that appears during an upload, or a
/// proxy that blocks some requests, can answer with any status and body.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutAnswerTests {
  /// The kinds of writes, each with the request that sends it.
  enum Write: CaseIterable {
    case reading, manyReadings, creation, edit, deletion, moveMark, moveCreation, moveDeletion

    func isCarried(by request: ReceivedRequest) -> Bool {
      switch self {
      case .reading: request.method == "PUT" && request.path.hasPrefix("/api/v3/entries/")
      case .manyReadings: request.method == "POST" && request.path == "/api/v1/entries.json"
      case .creation, .moveCreation: request.method == "POST" && request.path == "/api/v3/treatments"
      case .edit, .moveMark: request.method == "PATCH"
      case .deletion, .moveDeletion: request.method == "DELETE"
      }
    }

    private static let pages: [NightscoutFault] = [200, 201, 400, 404, 410, 412, 422].map(
      NightscoutFault.page)
    private static let bodies = ["{}", "[]", "null", "\"ok\"", #"{"status":"ok"}"#, #"{"status":204}"#]
    static let strange =
      pages + bodies.flatMap { body in [200, 201, 400, 404, 410, 422].map { .answer($0, body) } }
      + [
        .answer(200, "[{}]"), .answer(200, #"[{"_id":"1"}]"#), .answer(200, #"{"result":[]}"#),
        .answer(404, #"{"status":404,"message":"Bad operation or collection"}"#),
      ]
  }

  private let loopback: LoopbackNightscout
  private var site: NightscoutStandIn { loopback.site }

  init() throws { loopback = try LoopbackNightscout() }

  private func ask<Value: Sendable>(
    _ body: @Sendable (any LogbookService) async throws -> Value
  ) async throws -> Value {
    let login = RemoteLogin(
      address: try RemoteAddress(loopback.url, allowsPlainHTTP: false),
      token: try Login.token(loopback.token(canWrite: true)), agent: "glucoport/test")
    return try await RemoteRegister.with("nightscout", login) { try await body($0) }
  }

  // MARK: Writes

  @Test(arguments: Write.allCases)
  func onlyAnAnswerOfTheSiteItselfConfirmsAWrite(_ write: Write) async throws {
    let base = try await prepare(write)
    for fault in Write.strange {
      site.plan(fault) { write.isCarried(by: $0) }
      let problem = await #expect(throws: ServiceError.self, "\(fault)") { try await send(write, base) }
      guard case .protocolViolation(let sentence) = problem else {
        Issue.record("\(write) \(fault): \(String(describing: problem))")
        continue
      }
      #expect(sentence.hasPrefix("127.0.0.1:"))
    }
    site.forgetFaults()
    try await send(write, base)
    expectDone(write)
  }

  /// Only the site can report a missing right. If a proxy forbids a request, the site itself may still permit
  /// it.
  @Test(arguments: Write.allCases)
  func aProxyThatForbidsAWriteIsNotReportedAsAMissingPermission(_ write: Write) async throws {
    let base = try await prepare(write)
    for fault in [NightscoutFault.page(403), .answer(403, "{}"), .answer(403, "[]")] {
      site.plan(fault) { write.isCarried(by: $0) }
      let problem = await #expect(throws: ServiceError.self) { try await send(write, base) }
      guard case .loginRefused(let sentence) = problem else {
        Issue.record("\(write) \(fault): \(String(describing: problem))")
        continue
      }
      #expect(sentence.hasSuffix(": it answers with status 403"))
    }
    site.plan(.answer(403, #"{"status":403,"message":"Missing permission"}"#)) { write.isCarried(by: $0) }
    await #expect(throws: ServiceError.readOnly, "\(write)") { try await send(write, base) }
  }

  private static let batch = Sample.batch(30)

  /// Prepares the site for the write; returns the revision of the base, or nil.
  private func prepare(_ write: Write) async throws -> String? {
    switch write {
    case .reading, .manyReadings, .creation: return nil
    default:
      let change = NightscoutPushTests.change(Sample.bolus)
      let verdict = try await ask { try await $0.apply([change], Login.run()).verdicts.first }
      guard case .accepted(let revision) = verdict else { return nil }
      return revision
    }
  }

  private func send(_ write: Write, _ base: String?) async throws {
    switch write {
    case .reading: _ = try await ask { try await $0.store(Sample.batch(1), Login.run()) }
    case .manyReadings: _ = try await ask { try await $0.store(Self.batch, Login.run()) }
    default:
      let change = NightscoutPushTests.change(state(write), base: base, version: base == nil ? 1 : 2)
      let verdict = try await ask { try await $0.apply([change], Login.run()).verdicts.first }
      guard case .accepted = verdict else {
        Issue.record("\(write): \(String(describing: verdict))")
        return
      }
    }
  }

  private func state(_ write: Write) -> RecordState {
    var state = Sample.bolus
    switch write {
    case .edit: state.fields["units"] = .number(6)
    case .deletion: (state.fields, state.isDeleted) = (RecordFields(), true)
    case .moveMark, .moveCreation, .moveDeletion:
      state.deviceTime = DeviceTime(seconds: state.deviceTime.seconds + 600)
    default: break
    }
    return state
  }

  private func expectDone(_ write: Write) {
    let valid = site.documents("treatments").filter { $0["isValid"] != false }
    switch write {
    case .reading: #expect(site.documents("entries").count == 1)
    case .manyReadings: #expect(site.documents("entries").count == 30)
    case .creation: #expect(valid.map { $0["insulin"] } == [4.5])
    case .edit: #expect(valid.map { $0["insulin"] } == [6])
    case .deletion: #expect(valid.isEmpty && site.documents("treatments").count == 1)
    case .moveMark, .moveCreation, .moveDeletion:
      #expect(valid.map { $0["date"] } == [.number(Double(NightscoutTreatment.milliseconds(state(write))))])
    }
  }

  /// The answer to a bulk request has one row for each document.
  @Test(arguments: [0, 1, 29, 30])
  func anAnswerToABulkRequestWithAMissingRowIsRefused(_ count: Int) async throws {
    let script = try NightscoutScript { call, body in
      guard call.hasPrefix("POST /api/v1/entries") else { return NightscoutScript.list([]) }
      let rows = (try? JSONValue.read(Array(body.utf8)))?.items ?? []
      return (200, JSONValue.list(Array(rows.prefix(count))).json)
    }
    let push = { try await script.ask { try await $0.store(Self.batch, Login.run()) } }
    if count == 30 {
      #expect(try await push().known == 30)
    } else {
      let problem = await #expect(throws: ServiceError.self) { _ = try await push() }
      #expect(problem?.sentence?.contains("its answer is not Nightscout's") == true)
    }
  }

  @Test func unknownMembersInAnswersOfASiteAreIgnored() async throws {
    let more = #""status":200,"identifier":"x","lastModified":5,"more":{"a":[1]}"#
    let script = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      if call.hasPrefix("POST") { return (200, "{\(more),\"isDeduplication\":true}") }
      if call.hasPrefix("PUT") {
        return (
          400, #"{"status":400,"message":"Field srvModified cannot be modified by the client","more":1}"#
        )
      }
      return (404, #"{"status":404,"more":1}"#)
    }
    let verdicts = try await script.ask {
      try await $0.apply([NightscoutPushTests.change(Sample.bolus)], Login.run()).verdicts
    }
    #expect(verdicts == [.accepted(revision: NightscoutPushTests.revision(Sample.bolus))])
    #expect(try await script.ask { try await $0.store(Sample.batch(1), Login.run()) }.known == 1)
  }

  // MARK: Reads

  /// A document that is wrongly considered missing would be created again. A document that is wrongly
  /// considered deleted would be deleted in the store.
  @Test(arguments: [
    NightscoutFault.page(404), .page(410), .page(200), .answer(404, "{}"), .answer(404, "[]"),
    .answer(410, "{}"), .answer(410, "[]"), .answer(200, "{}"), .answer(200, "[]"),
    .answer(200, #"{"status":200,"result":{}}"#), .answer(410, #"{"status":404}"#),
    .answer(404, #"{"status":404,"message":"Bad operation or collection"}"#),
  ])
  func onlyAnAnswerOfTheSiteItselfShowsThatADocumentIsMissing(_ fault: NightscoutFault) async throws {
    _ = try await prepare(.edit)
    for base in [nil, NightscoutPushTests.revision(Sample.bolus)] {
      let change = NightscoutPushTests.change(state(.edit), base: base, version: 2)
      site.plan(fault) { $0.method == "GET" && $0.path.hasPrefix("/api/v3/treatments/") }
      await expectViolation(fault) { _ = try await $0.apply([change], Login.run()) }
    }
    #expect(site.requests.filter { $0.method != "GET" }.count == 1, "what was prepared")
  }

  @Test(arguments: [
    NightscoutFault.page(200), .answer(200, "{}"), .answer(200, "[]"), .answer(200, #"{"status":200}"#),
    .page(400), .page(422), .status(400), .status(422), .page(404), .page(410), .status(410),
  ])
  func anInvalidListIsAProtocolViolationAndMarksNoItemAsRefused(_ fault: NightscoutFault) async throws {
    for collection in ["entries", "treatments"] {
      // The fault is planned twice, because the remote repeats a refused request for fewer documents.
      site.plan(fault, times: 2) { $0.method == "GET" && $0.path.hasPrefix("/api/v3/\(collection)?") }
      await expectViolation(fault) { remote in
        if collection == "entries" {
          _ = try await remote.store(Sample.batch(30), Login.run())
        } else {
          _ = try await remote.apply([NightscoutPushTests.change(Sample.bolus)], Login.run())
        }
      }
      site.forgetFaults()
    }
    #expect(site.documents("entries").isEmpty && site.documents("treatments").isEmpty)
  }

  @Test(arguments: [
    NightscoutFault.page(200), .answer(200, "{}"), .answer(200, "[]"), .answer(200, #"{"status":200}"#),
    .answer(200, #"{"status":200,"result":{}}"#), .status(400), .status(422), .page(404),
  ])
  func anInvalidAnswerAboutLastChangesDoesNotMoveTheCursor(_ fault: NightscoutFault) async throws {
    site.plan(fault) { $0.path == "/api/v3/lastModified" }
    await expectViolation(fault) { _ = try await $0.changes(after: nil, limit: 100, Login.run()) }
  }

  private func expectViolation(
    _ fault: NightscoutFault, _ body: @Sendable (any LogbookService) async throws -> Void
  ) async {
    let problem = await #expect(throws: ServiceError.self, "\(fault)") { try await ask(body) }
    guard case .protocolViolation(let sentence) = problem else {
      Issue.record("\(fault): \(String(describing: problem))")
      return
    }
    #expect(sentence.hasPrefix("127.0.0.1:"))
  }

  /// The second node has the record from an export of the site, with its new time and without a base.
  @Test func aRecordMovedInTimeIsFoundInItsNewDocument() async throws {
    let base = try await prepare(.moveMark)
    try await send(.moveMark, base)
    let change = NightscoutPushTests.change(state(.moveMark), node: 2)
    let verdict = try await ask { try await $0.apply([change], Login.run(node: 2)).verdicts.first }
    guard case .accepted(let revision) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(revision.contains("."), "the key of the other document")
    #expect(site.documents("treatments").filter { $0["isValid"] != false }.count == 1)
  }
}
