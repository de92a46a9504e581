// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import TestServers
import Testing

@testable import Remotes

/// Tests records with two documents on a site, one of them deleted.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutDoubleTests {
  private let loopback: LoopbackNightscout

  init() throws { loopback = try LoopbackNightscout() }

  /// A dose of one hour ago.
  private var bolus: RecordState {
    var state = Sample.bolus
    state.deviceTime = DeviceTime(seconds: loopback.site.now / 1000 - 3600 + 7200)
    return state
  }

  /// Two nodes send a record at the same moment.
  private func sendTwice(_ state: RecordState) async throws {
    loopback.site.change { $0.looksBeforeWrite = 2 }
    await withTaskGroup(of: Void.self) { group in
      for node in [1, 3] {
        group.addTask { [loopback] in
          do {
            _ = try await loopback.push(NightscoutPushTests.change(state, node: node), node: node)
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    loopback.site.change { $0.looksBeforeWrite = 1 }
    try #require(loopback.site.documents("treatments").count == 2)
    loopback.site.moveClock(by: 60_000)
  }

  private func expectDeleted() {
    let left = loopback.site.documents("treatments")
    #expect(left.count == 1 && left.first?["isValid"] == false)
    #expect(left.compactMap { $0["insulin"]?.number }.reduce(0, +) == 0 && loopback.site.insulinOnBoard == 0)
  }

  private func deletion(of state: RecordState) -> RecordChange {
    var deleted = state
    (deleted.fields, deleted.isDeleted) = (RecordFields(), true)
    return NightscoutPushTests.change(deleted, base: NightscoutPushTests.revision(state), version: 2)
  }

  @Test func aDeletionOfARecordReachesBothOfItsDuplicateDocuments() async throws {
    let state = bolus
    try await sendTwice(state)
    _ = try #require(try await loopback.push(deletion(of: state))?.acceptedRevision)
    expectDeleted()
    let others = try await loopback.pull(nil, node: 2)
    #expect(others?.records.contains { !$0.state.isDeleted } != true)
  }

  @Test func aFetchOnlyUploadRemovesNoDuplicateDocuments() async throws {
    try await sendTwice(bolus)
    for node in [1, 3] { _ = try await loopback.pull(nil, node: node, mayRepair: false) }
    #expect(loopback.site.documents("treatments").count == 2)
    for node in [1, 3] { _ = try await loopback.pull(nil, node: node) }
    #expect(loopback.site.documents("treatments").count == 1)
  }

  /// A lost connection ends the upload after it has deleted the first of the two documents.
  @Test func aDuplicateDocumentLeftByADeletionIsDeletedByTheNextPull() async throws {
    let state = bolus
    try await sendTwice(state)
    loopback.site.plan(.reset) { $0.method == "GET" && $0.path.contains("treatments?identifier=") }
    await #expect(throws: ServiceError.self) { try await loopback.push(deletion(of: state)) }
    #expect(loopback.site.insulinOnBoard > 0, "the other one acts")
    let cursor = try NightscoutCursor(asked: loopback.site.now - 3_600_000, latest: [:]).text
    for node in [1, 3] { _ = try await loopback.pull(cursor, node: node) }
    expectDeleted()
  }

  /// The document found by the search is the deleted document, but with a later time of change, because
  /// another store restored it.
  @Test func aDuplicateDocumentRestoredByAnotherStoreIsKept() async throws {
    let before = NightscoutPushTests.treatment(Sample.bolus)
    let back = before.merging(["srvModified": .number(Double(NightscoutPushTests.stored + 9_000_000_000))]) {
      $1
    }
    let script = try NightscoutScript { call, _ in
      if call.contains("?") { return NightscoutScript.list([back]) }
      return call.hasPrefix("GET") ? NightscoutScript.document(before) : NightscoutPushTests.done
    }
    let answer = try await script.ask { [deletion = deletion(of: Sample.bolus)] in
      try await $0.apply([deletion], Login.run())
    }
    #expect(answer.verdicts == [.accepted(revision: "deleted")])
    #expect(script.calls.count { $0.hasPrefix("DELETE") } == 1)
  }
}
