// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import Synchronization
import TestServers
import Testing

@testable import Remotes

/// Differences between Nightscout 15.0.7 and its documentation, each shown by a request or a document.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutTrapTests {
  private static let zone = NightscoutZone(zone: nil)

  private func verdict(
    _ change: RecordChange, _ script: NightscoutScript
  ) async throws -> RecordVerdict? {
    try await script.ask { try await $0.apply([change], Login.run()).verdicts.first }
  }

  private static func deleted(_ state: RecordState) -> RecordState {
    var deleted = state
    (deleted.fields, deleted.isDeleted) = (RecordFields(), true)
    return deleted
  }

  // MARK: Queries

  /// If a query has several conditions on one field, the site applies only the last one.
  @Test func noNightscoutQueryHasTwoConditionsOnOneField() async throws {
    let script = try NightscoutScript { call, _ in
      if call.contains("lastModified") { return NightscoutScript.latest(5, 5) }
      if call.hasPrefix("POST") || call.hasPrefix("PUT") { return NightscoutPushTests.made }
      return call.contains("?") ? NightscoutScript.list([]) : nil
    }
    _ = try await script.ask { try await $0.store(Sample.batch(3), Login.run()) }
    _ = try await verdict(NightscoutPushTests.change(Sample.bolus), script)
    _ = try await script.ask { try await $0.changes(after: nil, limit: 100, Login.run()) }
    let queries = script.calls.compactMap { $0.split(separator: "?").dropFirst().first }
    #expect(queries.count > 3)
    for query in queries {
      let fields = query.split(separator: "&").compactMap { $0.split(separator: "=").first }
        .map { $0.split(separator: "$")[0] }
      #expect(Set(fields).count == fields.count, "\(query)")
    }
  }

  /// Entries of another uploader after the last reading of the batch need not be read.
  @Test func theSearchForReadingsOnTheSiteStopsAfterTheLastOne() async throws {
    let last = NightscoutEntry.milliseconds(try #require(Sample.batch(30).readings.last))
    let later = (0..<1000).map { place -> [String: JSONValue] in
      let date = Double(last + 60_000 + Int64(place) * 60_000)
      return [
        "identifier": .text("other-\(place)"), "type": .text("sgv"), "sgv": .number(90),
        "date": .number(date),
      ]
    }
    let script = try NightscoutScript { call, body in
      call.hasPrefix("POST")
        ? (200, body.replacing("{\"app\"", with: "{\"_id\":\"1\",\"app\"")) : NightscoutScript.list(later)
    }
    let answer = try await script.ask { try await $0.store(Sample.batch(30), Login.run()) }
    #expect(answer.stored == 30 && script.calls.filter { $0.hasPrefix("GET") }.count == 1)
  }

  @Test func aDeletedDocumentNeverHidesAValidOneWithTheSameKey() async throws {
    let valid = NightscoutPushTests.treatment(Sample.bolus)
    let script = try NightscoutScript { call, _ in
      call.contains("identifier=")
        ? NightscoutScript.list([valid]) : call.hasPrefix("GET") ? (410, #"{"status":410}"#) : nil
    }
    let again = try await verdict(NightscoutPushTests.change(Sample.bolus), script)
    #expect(again == .accepted(revision: NightscoutPushTests.revision(Sample.bolus)))
    #expect(!script.calls.contains { $0.hasPrefix("POST") }, "a third one")
  }

  // MARK: Doses that still have an effect

  /// A running site reads the time of a dose that was uploaded late only from the member `mills`.
  @Test func anUploadedDoseStatesItsTimeInMilliseconds() throws {
    let members = NightscoutPushTests.treatment(Sample.bolus)
    #expect(members["mills"] == members["date"] && members["mills"] != nil)
  }

  @Test func aDeletedDoseIsSetToZeroOnTheSiteBeforeItsDeletion() async throws {
    let script = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      return call.hasPrefix("GET")
        ? NightscoutScript.document(NightscoutPushTests.treatment(Sample.bolus)) : NightscoutPushTests.done
    }
    let change = NightscoutPushTests.change(
      Self.deleted(Sample.bolus), base: NightscoutPushTests.revision(Sample.bolus), version: 2)
    #expect(try await verdict(change, script) == .accepted(revision: "deleted"))
    #expect(script.calls.suffix(3).map { String($0.prefix(6)) } == ["PATCH ", "DELETE", "GET /a"])
    let blank = try #require(try script.bodies("PATCH").first?.members)
    #expect(blank["insulin"] == JSONValue.null)
    #expect(blank["srvModified"] == JSONValue.number(Double(NightscoutPushTests.stored)))
  }

  /// The second request of the deletion (DELETE) fails. The first one (PATCH) has already marked the record
  /// as deleted.
  @Test func anInterruptedDeletionOnASiteResumes() async throws {
    let bodies = Mutex<[JSONValue]>([])
    let first = try NightscoutScript { call, body in
      if call.hasPrefix("DELETE") { return (503, "") }
      if call.hasPrefix("PATCH"), let value = try? JSONValue.read(Array(body.utf8)) {
        bodies.withLock { $0.append(value) }
      }
      return call.hasPrefix("GET")
        ? NightscoutScript.document(NightscoutPushTests.treatment(Sample.bolus)) : NightscoutPushTests.done
    }
    let change = NightscoutPushTests.change(
      Self.deleted(Sample.bolus), base: NightscoutPushTests.revision(Sample.bolus), version: 2)
    await #expect(throws: ServiceError.self) { try await self.verdict(change, first) }
    guard case .object(let patched)? = bodies.withLock(\.first) else {
      Issue.record("no PATCH")
      return
    }
    let left = NightscoutPushTests.treatment(Sample.bolus).merging(patched) { $1 }.filter { $1 != .null }
    let document = try #require(NightscoutDocument(.object(left)))
    #expect(NightscoutTreatment.records(document, Self.zone).map(\.state.isDeleted) == [true])
    let second = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([]) }
      return call.hasPrefix("GET") ? NightscoutScript.document(left) : NightscoutPushTests.done
    }
    #expect(try await verdict(change, second) == .accepted(revision: "deleted"))
    #expect(second.calls.count { $0.hasPrefix("DELETE") } == 1)
  }

  /// The answer to the second request of a deletion was lost, and another node edited the tombstone before
  /// the retry.
  @Test func aRepeatedDeletionKeepsARecordRestoredByOthers() async throws {
    let change = NightscoutPushTests.change(
      Self.deleted(Sample.bolus), base: NightscoutPushTests.revision(Sample.bolus), version: 2)
    var part = NightscoutPart(guid: NightscoutPushTests.guid, state: Sample.bolus, seen: [:], sent: [])
    part.recordAccepted(change, at: NightscoutPushTests.stored)
    part.recordAccepted(
      NightscoutPushTests.change(Sample.bolus, version: 3, node: 3), at: NightscoutPushTests.stored)
    let members = NightscoutTreatment.members(
      part, identifier: NightscoutPushTests.guid, shift: 0, NightscoutWriter(Login.run(node: 3)))
    let script = try NightscoutScript { call, _ in
      call.hasPrefix("GET") ? NightscoutScript.document(members) : NightscoutPushTests.done
    }
    #expect(try await verdict(change, script) == .accepted(revision: "deleted"))
    #expect(script.calls.allSatisfy { $0.hasPrefix("GET") })
  }

  // MARK: Fields that the site rewrites

  @Test(arguments: [(12.5, 13.0, true), (12.5, 12.0, false), (12.4, 12.0, true), (30, 45, false)])
  func aDurationRoundedByTheSiteIsNotReadAsAnEdit(_ minutes: Double, _ shown: Double, _ isOwn: Bool) throws {
    var state = Sample.bolus
    state.kind = .exercise
    state.fields = RecordFields(["minutes": .number(minutes)])
    let members = NightscoutPushTests.treatment(state, ["duration": .number(shown)])
    let document = try #require(NightscoutDocument(.object(members)))
    let record = try #require(NightscoutTreatment.records(document, Self.zone).first)
    #expect(record.isOwn == isOwn && record.state.fields["minutes"] == .number(isOwn ? minutes : shown))
  }

  /// API v1 parses a text that contains `<` as HTML, and drops or closes invalid HTML.
  @Test func fieldsThatMustStayUnchangedContainNoHTMLCharacters() throws {
    var state = Sample.bolus
    state.fields["text"] = .text("before <meal> & after")
    let members = NightscoutPushTests.treatment(state)
    let own = try #require(members[NightscoutDocument.ownName])
    let text = try #require(own["parts"]?.items?.first?["state"]?.text)
    #expect(!text.contains("<"))
    let document = try #require(NightscoutDocument(.object(members)))
    #expect(NightscoutTreatment.records(document, Self.zone).map(\.state) == [state])
  }

  @Test func aDeviceNameWithAnHTMLCharacterKeepsItsIdentity() throws {
    var batch = Sample.batch(1)
    batch.devices[0] = Device(vendor: "A<b", model: "M <1>", serial: "<S&1>", format: "test")
    let members = NightscoutEntry.members(
      batch.readings[0], batch.devices[0], identifier: "x", shift: 0, NightscoutWriter(Login.run()))
    #expect(!JSONValue.object(members).json.contains("<"))
    let document = try #require(NightscoutDocument(.object(members)))
    let (reading, device) = try #require(NightscoutEntry.reading(document, Self.zone))
    #expect(device == batch.devices[0])
    #expect(ReadingIdentity(reading, device) == ReadingIdentity(batch.readings[0], batch.devices[0]))
  }

  @Test(arguments: [
    ("a &amp; b", "a &amp; b"), ("5 &lt; 6 &amp; x", "5 < 6 & x"), ("<b>x &amp; y</b>", "<b>x & y</b>"),
  ])
  func onlyCharactersEscapedByTheSiteAreUnescaped(_ stored: String, _ expected: String) {
    #expect(NightscoutText.unescaped(stored) == expected)
  }

  // MARK: Rights

  @Test func missingPermissionsOfASiteRoleAreNamed() async throws {
    let script = try NightscoutScript(
      rights: "api:entries:create,read,update\",\"api:treatments:create,read"
    ) { _, _ in NightscoutScript.list([]) }
    let logbook = try await script.ask { try await $0.logbook() }
    #expect(logbook.isWritable)
    #expect(logbook.missingPermissions == ["api:treatments:update", "api:treatments:delete"])
  }

  @Test func aSiteRoleWithoutPermissionToDeleteIsRefusedOnlyDeletions() async throws {
    let script = try NightscoutScript(
      rights: "api:entries:create,read,update\",\"api:treatments:create,read,update"
    ) { call, _ in
      call.hasPrefix("DELETE")
        ? (403, #"{"status":403,"message":"Missing permission api:treatments:delete"}"#)
        : call.hasPrefix("GET")
          ? NightscoutScript.document(NightscoutPushTests.treatment(Sample.bolus)) : NightscoutPushTests.done
    }
    let change = NightscoutPushTests.change(
      Self.deleted(Sample.bolus), base: NightscoutPushTests.revision(Sample.bolus), version: 2)
    let problem = await #expect(throws: ServiceError.self) { try await self.verdict(change, script) }
    guard case .refused(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(sentence.contains("api:treatments:delete"))
  }

  /// If the subject of a token no longer exists, a request to API v1 ends the server's process.
  @Test func writesForbiddenByAPIv3AreNotSentToAPIv1() async throws {
    let script = try NightscoutScript { call, _ in
      call.contains("/api/v3/")
        ? (403, #"{"status":403,"message":"Missing permission api:entries:read"}"#) : nil
    }
    await #expect(throws: ServiceError.self) {
      try await script.ask { _ = try await $0.store(Sample.batch(100), Login.run()) }
    }
    #expect(!script.calls.contains { $0.contains("/api/v1/") })
  }

  // MARK: Times of edits

  @Test(arguments: [(Int64(5_000), false), (3_600_000, true)])
  func anEditOnTheSiteHasATimeOnlyIfItChangedSrvModified(_ later: Int64, _ isDated: Bool) throws {
    let members = NightscoutPushTests.treatment(
      Sample.bolus,
      ["insulin": .number(7), "srvModified": .number(Double(NightscoutPushTests.stored + later))])
    let document = try #require(NightscoutDocument(.object(members)))
    let record = try #require(NightscoutTreatment.records(document, Self.zone).first)
    #expect(
      record.state.editedAt == (isDated ? (NightscoutPushTests.stored + later) / 1000 : nil))
  }

  // MARK: Duplicate documents

  @Test(arguments: [(1, 0), (3, 1)])
  func onlyTheWriterOfTheLaterDuplicateRemovesADocument(_ node: Int, _ deletions: Int) async throws {
    let doubles = [1, 3].map { other -> [String: JSONValue] in
      var part = NightscoutPart(guid: Login.logbookID, state: Sample.bolus, seen: [:], sent: [])
      part.recordAccepted(
        NightscoutPushTests.change(Sample.bolus, node: other), at: NightscoutPushTests.stored)
      return NightscoutTreatment.members(
        part, identifier: Login.logbookID, shift: 0, NightscoutWriter(Login.run(node: other)))
    }
    let script = try NightscoutScript { call, _ in
      if call.contains("lastModified") { return NightscoutScript.latest(5, 5) }
      if call.hasPrefix("DELETE") { return NightscoutPushTests.done }
      return NightscoutScript.list(call.contains("/treatments") ? doubles : [])
    }
    _ = try await script.ask { try await $0.changes(after: nil, limit: 100, Login.run(node: node)) }
    let deleted = script.calls.filter { $0.hasPrefix("DELETE") }
    #expect(deleted.count == deletions && deleted.allSatisfy { $0.hasSuffix("?permanent=true") })
  }

  /// The push edits one of the two documents. The later removal of duplicates must delete the other one.
  @Test func ofTwoDuplicateDocumentsTheEditedOneIsKept() async throws {
    let loopback = try LoopbackNightscout()
    var state = Sample.bolus
    state.deviceTime = DeviceTime(seconds: loopback.site.now / 1000 - 3600 + 7200)
    let sent = state
    loopback.site.change { $0.looksBeforeWrite = 2 }
    await withTaskGroup(of: Void.self) { group in
      for node in [1, 3] {
        group.addTask {
          do {
            _ = try await loopback.push(NightscoutPushTests.change(sent, node: node), node: node)
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    loopback.site.change { $0.looksBeforeWrite = 1 }
    try #require(loopback.site.documents("treatments").count == 2)
    loopback.site.moveClock(by: 60_000)
    var edited = sent
    edited.fields["units"] = .number(6)
    let change = NightscoutPushTests.change(edited, base: NightscoutPushTests.revision(sent), version: 2)
    _ = try #require(try await loopback.push(change)?.acceptedRevision)
    for node in [1, 3] { _ = try await loopback.pull(nil, node: node) }
    #expect(loopback.site.documents("treatments").map { $0["insulin"] } == [6])
  }

  @Test(arguments: [(1, 1), (3, 0)])
  func aDeletedDuplicateDocumentThatBlocksWritesIsRemoved(
    _ node: Int, _ removals: Int
  ) async throws {
    let valid = NightscoutPushTests.treatment(Sample.bolus, [NightscoutDocument.ownName: Self.own(node: 1)])
    let isGone = Mutex(false)
    let script = try NightscoutScript { call, _ in
      if call.contains("?identifier=") { return NightscoutScript.list([valid]) }
      if call.hasPrefix("DELETE") { isGone.withLock { $0 = true } }
      let isThere = call.hasPrefix("DELETE") || isGone.withLock { $0 }
      guard isThere else { return (410, #"{"status":410}"#) }
      return call.hasPrefix("GET") ? NightscoutScript.document(valid) : NightscoutPushTests.done
    }
    var edited = Sample.bolus
    edited.fields["units"] = .number(6)
    let change = NightscoutPushTests.change(
      edited, base: NightscoutPushTests.revision(Sample.bolus), version: 2, node: node)
    do {
      let answer = try await script.ask { try await $0.apply([change], Login.run(node: node)) }
      #expect(answer.verdicts == [.accepted(revision: NightscoutPushTests.revision(edited))])
    } catch {
      #expect(removals == 0, "\(error)")
    }
    #expect(script.calls.filter { $0.hasPrefix("DELETE") }.count == removals)
  }

  /// If a list changes between the requests for two of its pages, both pages may contain the same document.
  @Test func aDocumentListedTwiceIsNotTreatedAsADuplicate() async throws {
    let own = NightscoutPushTests.treatment(
      Sample.bolus, [NightscoutDocument.ownName: Self.own(node: 3)])
    let script = try NightscoutScript { call, _ in
      if call.contains("lastModified") { return NightscoutScript.latest(5, 5) }
      if call.contains("?identifier=") { return NightscoutScript.list([own]) }
      if call.hasPrefix("DELETE") { return NightscoutPushTests.done }
      return NightscoutScript.list(call.contains("/treatments") ? [own, own] : [])
    }
    _ = try await script.ask { try await $0.changes(after: nil, limit: 100, Login.run(node: 3)) }
    #expect(!script.calls.contains { $0.hasPrefix("DELETE") })
  }

  private static func own(node: Int) -> JSONValue {
    let part = NightscoutPart(guid: NightscoutPushTests.guid, state: Sample.bolus, seen: [:], sent: [])
    return NightscoutTreatment.ownMember([part], NightscoutWriter(Login.run(node: node)))
  }
}
