// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import Synchronization
import TestServers
import Testing

@testable import Remotes

/// Tests difficult cases of a push to a Nightscout site. The scripted answers are ones that were observed.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutPushTests {
  static let guid = Login.logbookID
  static let stored: Int64 = 1_778_099_000_123
  /// The answer of API v3 to PATCH and DELETE.
  static let done = (200, #"{"status":200}"#)
  /// The answer of API v3 to POST.
  static let made = (201, #"{"status":201,"identifier":"x","lastModified":5}"#)

  static func change(
    _ state: RecordState, guid: String = NightscoutPushTests.guid, base: String? = nil, version: Int = 1,
    node: Int = 1
  ) -> RecordChange {
    RecordChange(guid: guid, node: Login.run(node: node).node, version: version, base: base, state: state)
  }

  static func revision(_ state: RecordState) -> String {
    NightscoutRevision(state, identifier: guid).text(guid: guid)
  }

  /// The treatment that glucoport makes of a state, as the server returns it.
  static func treatment(_ state: RecordState, _ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
    var part = NightscoutPart(guid: guid, state: state, seen: [:], sent: [])
    part.recordAccepted(change(state), at: stored)
    let members = NightscoutTreatment.members(
      part, identifier: guid, shift: 0, NightscoutWriter(Login.run(node: 2)))
    let server: [String: JSONValue] = [
      "srvModified": .number(Double(stored)), "srvCreated": .number(Double(stored)), "isValid": .flag(true),
    ]
    return members.merging(server) { $1 }.merging(more) { $1 }
  }

  private func verdict(
    _ change: RecordChange, _ script: NightscoutScript
  ) async throws -> RecordVerdict? {
    try await script.ask { try await $0.apply([change], Login.run()).verdicts.first }
  }

  // MARK: The login

  @Test(arguments: ["my-api-secret-of-the-site", "wrong", "anna-0123456789ABCDEF", "a/b-0123456789abcdef"])
  func anInvalidNightscoutAccessTokenIsNotSent(_ secret: String) async throws {
    let script = try NightscoutScript { _, _ in nil }
    let problem = await #expect(throws: ServiceError.self) {
      try await script.ask(token: secret) { _ = try await $0.logbook() }
    }
    guard case .loginRefused(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(script.server.connectionCount == 0 && !sentence.contains(secret))
  }

  @Test(arguments: [NightscoutScript.token, "token=" + NightscoutScript.token])
  func theAccessTokenIsSentOnceAndTheJWTInAllOtherRequests(_ token: String) async throws {
    let script = try NightscoutScript { _, _ in NightscoutScript.list([]) }
    _ = try await script.ask(token: token) { remote in
      (try await remote.logbook(), try await remote.logbook())
    }
    let requests = script.server.requests
    #expect(requests.filter { $0.path.contains(NightscoutScript.token) }.count == 1 && requests.count == 3)
    #expect(requests[0].headers["authorization"] == nil)
    for request in requests.dropFirst() {
      #expect(request.headers["authorization"] == "Bearer \(NightscoutScript.jwt)")
      #expect(request.headers["cache-control"] == "no-cache")
    }
  }

  @Test func anExpiredJWTIsRenewedOnlyOnce() async throws {
    let script = try NightscoutScript { _, _ in
      (401, "{\"status\":401,\"message\":\"\(NightscoutScript.jwt)\"}")
    }
    let problem = await #expect(throws: ServiceError.self) {
      try await script.ask { _ = try await $0.logbook() }
    }
    #expect(script.server.requests.count == 4, "two for a JWT, two for the list")
    guard case .loginRefused(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(!sentence.contains("planted") && !sentence.contains("0123456789abcdef"))
  }

  @Test(arguments: [
    "*:*:*", "api:entries,treatments:create,read,update,delete", "api:*:create,read,update", "*",
  ])
  func aSiteTokenThatMayCreateAndUpdateCanWrite(_ rights: String) async throws {
    let script = try NightscoutScript(rights: rights) { _, _ in NightscoutScript.list([]) }
    #expect(try await script.ask { try await $0.logbook().isWritable })
  }

  @Test(arguments: ["*:*:read", "api:*:read,update"])
  func aSiteTokenWithoutPermissionToWriteSendsNothing(_ rights: String) async throws {
    let script = try NightscoutScript(rights: rights) { _, _ in NightscoutScript.list([]) }
    #expect(try await script.ask { try await $0.logbook().isWritable } == false)
    let count = script.server.requests.count
    await #expect(throws: ServiceError.readOnly) {
      try await script.ask { _ = try await $0.store(Sample.batch(1), Login.run()) }
    }
    #expect(script.server.requests.count == count + 1, "only a JWT was asked for")
  }

  @Test(arguments: [
    (401, "", "loginRefused"), (403, "{}", "loginRefused"), (404, "<html>", "protocolViolation"),
    (404, #"{"status":404,"message":"Bad operation or collection"}"#, "protocolViolation"),
    (500, "", "serverFailure"), (200, "<html>hello</html>", "protocolViolation"),
    (200, "{}", "protocolViolation"),
    (502, "", "unavailable"), (503, "", "busy"), (307, "", "protocolViolation"),
  ])
  func answersNotFromNightscoutAreReportedByTheActionTheyNeed(
    _ status: Int, _ body: String, _ expected: String
  )
    async throws
  {
    let script = try NightscoutScript { _, _ in (status, body) }
    let problem = await #expect(throws: ServiceError.self) {
      try await script.ask { _ = try await $0.logbook() }
    }
    #expect(String(describing: problem).contains(expected), "\(String(describing: problem))")
  }

  // MARK: Readings

  @Test func anUploadedEntryHasAllImmutableFieldsAndThoseThatAPIv1Compares() async throws {
    let script = try NightscoutScript { call, _ in
      call.hasPrefix("PUT /api/v3/entries")
        ? (201, #"{"status":201,"identifier":"x","lastModified":5}"#)
        : call.contains("?") ? NightscoutScript.list([]) : nil
    }
    let answer = try await script.ask { try await $0.store(Sample.batch(1), Login.run()) }
    #expect(answer.stored == 1)
    #expect(script.server.requests.count == 3, "the token, a look at its time, and the reading")
    let entry = try #require(try script.bodies("PUT").first)
    #expect(entry["srvModified"] == .number(1), "so that it creates and replaces nothing")
    #expect(entry["identifier"]?.text.map { $0.count == 36 && !$0.contains(".") } == true)
    #expect(entry["date"] == .number(1_777_992_800_000) && entry["utcOffset"] == .number(120))
    #expect(entry["sysTime"] == .text("2026-05-05T14:53:20.000Z"))
    #expect(entry["dateString"] == .text("2026-05-05T16:53:20.000+02:00"))
    #expect(
      entry["app"] == .text("glucoport") && entry["device"] == .text("Test Meter S1")
        && entry["sgv"] == .number(100))
    #expect(entry["isReadOnly"] == nil && entry["isValid"] == nil)
    #expect(script.server.requests.allSatisfy { $0.headers["content-encoding"] == nil })
  }

  @Test func anUploadDoesNotRestoreAReadingDeletedOnTheSite() async throws {
    let script = try NightscoutScript { call, _ in
      call.contains("?") ? NightscoutScript.list([]) : call.hasPrefix("PUT") ? (410, #"{"status":410}"#) : nil
    }
    let answer = try await script.ask { try await $0.store(Sample.batch(2), Login.run()) }
    #expect(answer.known == 2 && answer.stored == 0)
    #expect(!script.calls.contains { $0.hasPrefix("POST") })
  }

  @Test func anEntryCreatedByOthersDuringAnUploadDoesNotEndIt() async throws {
    let script = try NightscoutScript { call, _ in
      call.contains("?")
        ? NightscoutScript.list([])
        : call.hasPrefix("PUT")
          ? (400, #"{"status":400,"message":"Field srvModified cannot be modified by the client"}"#) : nil
    }
    let answer = try await script.ask { try await $0.store(Sample.batch(1), Login.run()) }
    #expect(answer.known == 1 && answer.refused.isEmpty)
  }

  /// API v1 stores only one entry for each type and time, so equal times are changed by milliseconds.
  @Test func readingsOfTwoMetersInOneSecondAreUploadedAsTwoEntries() async throws {
    let script = try NightscoutScript { call, body in
      guard call.hasPrefix("POST /api/v1/entries") else { return NightscoutScript.list([]) }
      return (200, body.replacing("{\"app\"", with: "{\"_id\":\"1\",\"app\""))
    }
    var batch = Sample.batch(30)
    batch.devices.append(Device(vendor: "Test", model: "Meter", serial: "S2", format: "test"))
    batch.readings += batch.readings.map { reading in
      var reading = reading
      reading.device = DeviceIndex(1)
      return reading
    }
    let both = batch
    let answer = try await script.ask { try await $0.store(both, Login.run()) }
    #expect(answer.stored == 60 && answer.known == 0)
    let entries = try #require(try script.bodies("POST").first?.items)
    #expect(Set(entries.compactMap { $0["sysTime"]?.text }).count == 60)
    #expect(Set(entries.compactMap { $0["srvModified"]?.integer }).count == 60, "no ties in the history")
    #expect(entries.allSatisfy { $0["srvModified"]?.integer ?? 0 >= NightscoutScript.clock * 1000 })
  }

  @Test func readingsThatABulkPostDidNotInsertCountAsKnown() async throws {
    let script = try NightscoutScript { call, body in
      guard call.hasPrefix("POST /api/v1/entries") else { return NightscoutScript.list([]) }
      return (200, body.replacing("{\"app\"", with: "{\"_id\":\"1\",\"app\"", maxReplacements: 10))
    }
    let answer = try await script.ask { try await $0.store(Sample.batch(40), Login.run()) }
    #expect(answer.stored == 10 && answer.known == 30)
  }

  @Test func aReadingBeforeTheYear2000IsRefusedWithoutARequest() async throws {
    let script = try NightscoutScript { _, _ in NightscoutScript.list([]) }
    var batch = Sample.batch(1)
    batch.readings[0].deviceTime = DeviceTime(seconds: 900_000_000)
    let old = batch
    let answer = try await script.ask { try await $0.store(old, Login.run()) }
    #expect(answer.refused.map(\.item) == [0] && script.calls.isEmpty)
  }

  // MARK: Records

  @Test func anEditIsSentWithTheExactChangeTimeAsPrecondition() async throws {
    let script = try NightscoutScript { call, _ in
      call.hasPrefix("GET")
        ? NightscoutScript.document(Self.treatment(Sample.bolus, ["other": .text("kept")])) : Self.done
    }
    var edited = Sample.bolus
    edited.fields["units"] = .number(5)
    let verdict = try await verdict(
      Self.change(edited, base: Self.revision(Sample.bolus), version: 2), script)
    #expect(verdict == .accepted(revision: Self.revision(edited)))
    let request = try #require(script.server.requests.last)
    #expect(
      request.method == "PATCH" && request.headers["if-unmodified-since"] == "Wed, 06 May 2026 20:23:20 GMT")
    let body = try #require(try script.bodies("PATCH").first)
    let members = try #require(body.members)
    #expect(
      Set(members.keys) == ["srvModified", "insulin", "mills", "glucoport"],
      "only what changes, the mark, and the instant that a running site needs")
    #expect(body["srvModified"] == .number(Double(Self.stored)) && body["insulin"] == .number(5))
  }

  @Test(arguments: [
    (412, "{\"status\":412}"),
    (400, #"{"status":400,"message":"Field srvModified cannot be modified by the client"}"#),
  ])
  func anEditOfAnotherProgramOnTheSiteIsAConflictWithItsContent(_ status: Int, _ body: String) async throws {
    var theirs = Sample.bolus
    theirs.fields["units"] = .number(9)
    let other = theirs
    let reads = Counter()
    let script = try NightscoutScript { call, _ in
      guard call.hasPrefix("GET") else { return (status, body) }
      return NightscoutScript.document(Self.treatment(reads.next() == 1 ? Sample.bolus : other))
    }
    var mine = Sample.bolus
    mine.fields["units"] = .number(5)
    let verdict = try await verdict(Self.change(mine, base: Self.revision(Sample.bolus), version: 2), script)
    #expect(verdict == .conflict(revision: Self.revision(other), state: other, isBaseKnown: true))
  }

  /// API v1 does not change `srvModified`, so the time of change does not show the edit.
  @Test func anEditByAPIv1IsRecognisedByItsContent() async throws {
    let script = try NightscoutScript { _, _ in
      NightscoutScript.document(
        Self.treatment(Sample.bolus, ["insulin": .number(7), "utcOffset": .number(0)]))
    }
    var mine = Sample.bolus
    mine.fields["units"] = .number(5)
    let verdict = try await verdict(Self.change(mine, base: Self.revision(Sample.bolus), version: 2), script)
    guard case .conflict(_, let state, true) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(state.fields["units"] == .number(7) && script.calls.count == 1)
  }

  @Test func aChangeTimeGeneratedByASearchIsNotSentBack() async throws {
    let foreign: [String: JSONValue] = [
      "identifier": .text("6634c7c1-d2f6-45a3-a8f0-a00100000000"), "eventType": .text("Note"),
      "notes": .text("a"),
      "created_at": .text("2026-05-06T16:30:00.000Z"), "srvModified": .number(1_778_085_000_000),
    ]
    let script = try NightscoutScript { call, _ in
      call.hasPrefix("GET") ? NightscoutScript.document(foreign) : Self.done
    }
    let zone = NightscoutZone(zone: nil)
    let document = try #require(NightscoutDocument(.object(foreign)))
    let record = try #require(NightscoutTreatment.records(document, zone).first)
    var state = record.state
    state.fields["text"] = .text("b")
    let change = RecordChange(
      guid: record.guid, node: Login.run().node, version: 2, base: record.revision, state: state)
    guard case .accepted(let revision) = try await verdict(change, script) else {
      Issue.record("not accepted")
      return
    }
    #expect(revision.hasSuffix(".6634c7c1-d2f6-45a3-a8f0-a00100000000"), "the document is found by it again")
    let body = try #require(try script.bodies("PATCH").first)
    #expect(body["srvModified"] == nil && body["notes"] == .text("b") && body["app"] == nil)
    #expect(
      script.server.requests.last?.headers["if-unmodified-since"] == "Wed, 06 May 2026 16:30:00 GMT",
      "so that the request does nothing where it arrives again behind another write")
  }

  @Test func aChangeWhoseAnswerWasLostIsAcceptedDespiteLaterWrites() async throws {
    let script = try NightscoutScript { _, _ in
      NightscoutScript.document(Self.treatment(Sample.bolus, ["insulin": .number(7)]))
    }
    let again = try await verdict(Self.change(Sample.bolus), script)
    #expect(again == .accepted(revision: Self.revision(Sample.bolus)) && script.calls.count == 1)
  }

  @Test func aDeletionOnASiteReadsTheDocumentFirst() async throws {
    var deleted = Sample.bolus
    (deleted.fields, deleted.isDeleted) = (RecordFields(), true)
    let change = Self.change(deleted, base: Self.revision(Sample.bolus), version: 2)
    let edited = try NightscoutScript { _, _ in
      NightscoutScript.document(Self.treatment(Sample.bolus, ["insulin": .number(7)]))
    }
    guard case .conflict = try await verdict(change, edited) else {
      Issue.record("an edit was deleted")
      return
    }
    #expect(!edited.calls.contains { $0.hasPrefix("DELETE") })
    let same = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      return call.hasPrefix("DELETE") ? Self.done : NightscoutScript.document(Self.treatment(Sample.bolus))
    }
    #expect(try await verdict(change, same) == .accepted(revision: "deleted"))
    let deletions = same.calls.filter { $0.hasPrefix("DELETE") }
    #expect(deletions == ["DELETE /api/v3/treatments/\(Self.guid)"], "and never permanently")
  }

  @Test func anEditDoesNotRestoreARecordDeletedOnTheSite() async throws {
    let script = try NightscoutScript { call, _ in
      call.contains("?")
        ? NightscoutScript.list([]) : call.contains(Self.guid) ? (410, #"{"status":410}"#) : nil
    }
    let verdict = try await verdict(Self.change(Sample.bolus, base: "0123456789ab", version: 2), script)
    guard case .conflict("deleted", let state, true) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(state.isDeleted && !script.calls.contains { $0.hasPrefix("POST") })
  }

  @Test func aConflictResolvedAgainstADeletionRestoresTheRecord() async throws {
    let script = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      return call.hasPrefix("POST") ? (200, Self.made.1) : (410, #"{"status":410}"#)
    }
    let verdict = try await verdict(Self.change(Sample.bolus, base: "deleted", version: 3), script)
    #expect(verdict == .accepted(revision: Self.revision(Sample.bolus)))
    #expect(try script.bodies("POST").first?["srvModified"] == .number(1), "no document is replaced by it")
  }

  @Test(arguments: [true, false])
  func aRecordRemovedByAutopruneIsNotTreatedAsDeleted(_ keepsOlder: Bool) async throws {
    let older: [[String: JSONValue]] = keepsOlder ? [["identifier": .text("x")]] : []
    let script = try NightscoutScript { call, _ in
      call.contains("created_at$lt")
        ? NightscoutScript.list(older) : call.contains("?") ? NightscoutScript.list([]) : nil
    }
    let verdict = try await verdict(Self.change(Sample.bolus, base: "0123456789ab", version: 2), script)
    switch verdict {
    case .conflict(_, let state, _): #expect(keepsOlder && state.isDeleted)
    case .refused: #expect(!keepsOlder)
    default: Issue.record("\(String(describing: verdict))")
    }
    #expect(!script.calls.contains { $0.hasPrefix("POST") })
  }

  @Test func anEventThatAnotherDocumentHoldsIsNotWrittenTwice() async throws {
    let foreign: [String: JSONValue] = [
      "identifier": .text("6634c7c1-d2f6-45a3-a8f0-a00100000000"), "eventType": .text("Correction Bolus"),
      "insulin": .number(4.5),
      "created_at": .text("2026-05-06T16:30:00.000Z"), "srvModified": .number(1_778_085_000_000),
    ]
    let script = try NightscoutScript { call, _ in
      call.contains("?") ? NightscoutScript.list([foreign]) : call.hasPrefix("POST") ? Self.made : nil
    }
    let zone = NightscoutZone(zone: nil)
    let document = try #require(NightscoutDocument(.object(foreign)))
    let record = try #require(NightscoutTreatment.records(document, zone).first)
    let imported = RecordChange(
      guid: record.guid, node: Login.run().node, version: 1, base: nil, state: record.state)
    #expect(try await verdict(imported, script) == .accepted(revision: record.revision))
    #expect(!script.calls.contains { $0.hasPrefix("POST") })
    // Another event at the same time is moved by a millisecond, since the site would treat the two events as
    // one.
    var state = record.state
    state.fields["units"] = .number(2)
    #expect(try await verdict(Self.change(state), script) == .accepted(revision: Self.revision(state)))
    #expect(try script.bodies("POST").first?["date"] == .number(1_778_085_000_001))
  }

  @Test func anEventMovedInTimeGetsANewDocument() async throws {
    var moved = Sample.bolus
    moved.deviceTime = DeviceTime(seconds: moved.deviceTime.seconds + 600)
    let script = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      if call.hasPrefix("POST") { return Self.made }
      guard call.hasPrefix("GET") else { return Self.done }
      return call.contains(Self.guid) ? NightscoutScript.document(Self.treatment(Sample.bolus)) : nil
    }
    let verdict = try await verdict(Self.change(moved, base: Self.revision(Sample.bolus), version: 2), script)
    guard case .accepted(let revision) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    let made = try #require(try script.bodies("POST").first)
    let key = try #require(made["identifier"]?.text)
    #expect(key != Self.guid && revision.hasSuffix("." + key))
    #expect(
      script.calls.map { $0.prefix { $0 != " " } } == [
        "GET", "PATCH", "GET", "GET", "POST", "PATCH", "DELETE", "GET",
      ])
    let own = try #require(try script.bodies("PATCH").first?["glucoport"])
    let left = try #require(NightscoutDocument(.object(Self.treatment(Sample.bolus, ["glucoport": own]))))
    #expect(
      NightscoutTreatment.records(left, NightscoutZone(zone: nil)).isEmpty, "its tombstone says nothing")
    let new = try #require(NightscoutDocument(made))
    #expect(NightscoutTreatment.records(new, NightscoutZone(zone: nil)).map(\.remote.guid) == [Self.guid])
  }

  @Test func anEditOfAReadOnlyDocumentIsRefusedPermanently() async throws {
    let script = try NightscoutScript { call, _ in
      call.hasPrefix("GET")
        ? NightscoutScript.document(Self.treatment(Sample.bolus))
        : (422, #"{"status":422,"message":"read-only"}"#)
    }
    var mine = Sample.bolus
    mine.fields["units"] = .number(5)
    let change = Self.change(mine, base: Self.revision(Sample.bolus), version: 2)
    #expect(try await verdict(change, script) == .refused(reason: "read-only"))
  }
}

/// Counts calls from several threads.
final class Counter: Sendable {
  private let count = Atomic(0)
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
