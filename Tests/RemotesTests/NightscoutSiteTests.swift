// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import Synchronization
import TestServers
import Testing

@testable import Remotes

/// Tests the remote with a complete simulated site, to which several nodes and a phone app write in turn.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutSiteTests {
  private let loopback: LoopbackNightscout

  init() throws { loopback = try LoopbackNightscout() }

  private func ask<Value: Sendable>(
    _ body: @Sendable (any LogbookService) async throws -> Value
  ) async throws -> Value {
    let login = RemoteLogin(
      address: try RemoteAddress(loopback.url, allowsPlainHTTP: false),
      token: try Login.token(loopback.token(canWrite: true)), agent: "glucoport/test")
    return try await RemoteRegister.with("nightscout", login) { try await body($0) }
  }

  private func pull(
    _ cursor: String?, limit: Int = 1000, node: Int = 2
  ) async throws -> (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) {
    try await ask { remote in
      var found: (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) = ([], [], cursor)
      while let page = try await remote.changes(after: found.cursor, limit: limit, Login.run(node: node)) {
        found.readings += page.readings.readings.map {
          ReadingIdentity($0, page.readings.devices[Int($0.device.number)])
        }
        // The history and a sweep may return the same record; its last state counts.
        found.records.removeAll { record in page.records.contains { $0.guid == record.guid } }
        found.records += page.records
        found.cursor = page.cursor
        if !page.hasMore { break }
      }
      return found
    }
  }

  private func push(_ change: RecordChange) async throws -> RecordVerdict? {
    try await ask { try await $0.apply([change], Login.run()).verdicts.first }
  }

  /// A bolus of one hour ago, which is in the period that a sweep reads.
  private var bolus: RecordState {
    var state = Sample.bolus
    state.deviceTime = DeviceTime(seconds: loopback.site.now / 1000 - 3600 + 7200)
    return state
  }

  @Test func readingsUploadedInBulkArePulledByAnUpToDateStore() async throws {
    let first = try await pull(nil)
    let batch = Sample.batch(1200)
    let answer = try await ask { try await $0.store(batch, Login.run()) }
    #expect(answer.stored == 1200)
    let second = try await pull(first.cursor)
    #expect(second.readings.count == 1200 && Set(second.readings).count == 1200)
    #expect(try await ask { try await $0.store(batch, Login.run()) }.known == 1200)
    #expect(loopback.site.documents("entries").count == 1200)
  }

  /// Each rejected document is counted once, even if several sweeps find it.
  @Test func rejectedDocumentsOfASiteAreCountedByReason() async throws {
    func notTaken(_ cursor: String?) async throws -> (counts: [String: Int], cursor: String?) {
      try await ask { remote in
        var found: (counts: [String: Int], cursor: String?) = ([:], cursor)
        while let page = try await remote.changes(after: found.cursor, limit: 1000, Login.run()) {
          found.counts.merge(page.notTaken, uniquingKeysWith: +)
          found.cursor = page.cursor
          if !page.hasMore { break }
        }
        return found
      }
    }
    let phone = loopback.site.actAsPhoneApp()
    let now = loopback.site.now
    for (place, value) in [5.6, 1200, 120].enumerated() {
      let time = Double(now - Int64(place) * 300_000 - 600_000)
      #expect(phone.addEntry(["type": "sgv", "sgv": .number(value), "date": .number(time)]) != nil)
    }
    let time = NightscoutTime.utcText(now - 3_600_000)
    let check: [String: DocumentValue] = [
      "eventType": "BG Check", "created_at": .string(time), "glucose": 6.1,
    ]
    #expect(phone.addTreatment(check) != nil)
    let first = try await notTaken(nil)
    let expected = [
      NightscoutRefusal.likeMillimoles: 1, "a glucose value outside 10–1000 mg/dL": 1,
      NightscoutRefusal.unknownUnit: 1,
    ]
    #expect(first.counts == expected)
    #expect(phone.addEntry(["type": "sgv", "sgv": 121, "date": .number(Double(now - 60_000))]) != nil)
    #expect(try await notTaken(first.cursor).counts == [:])
  }

  @Test func aPhoneAppAndTwoStoresSeeEachOthersChanges() async throws {
    let state = bolus
    guard case .accepted(let base) = try await push(NightscoutPushTests.change(state)) else {
      Issue.record("not accepted")
      return
    }
    let first = try await pull(nil)
    #expect(first.records.map(\.state) == [state] && first.records.map(\.revision) == [base])
    let phone = loopback.site.actAsPhoneApp()
    #expect(phone.editTreatment(Login.logbookID, ["insulin": 7, "notes": "5 < 6"]))
    let second = try await pull(first.cursor)
    #expect(second.records.map(\.state.fields["units"]) == [.number(7)])
    #expect(second.records.map(\.state.fields["text"]) == [.text("5 < 6")])
    // An edit without the app's edit as its base is a conflict. An edit with that base is accepted.
    var mine = state
    mine.fields["units"] = .number(5)
    let conflict = try await push(NightscoutPushTests.change(mine, base: base, version: 2))
    guard case .conflict(let revision, let theirs, true) = conflict else {
      Issue.record("\(String(describing: conflict))")
      return
    }
    #expect(theirs.fields["units"] == .number(7))
    guard case .accepted = try await push(NightscoutPushTests.change(mine, base: revision, version: 3)) else {
      Issue.record("not accepted")
      return
    }
    let third = try await pull(second.cursor)
    #expect(third.records.map(\.state.fields["units"]) == [.number(5)])
    // The site keeps an older treatment, so the deleted one was not removed by autoprune, which removes old
    // documents.
    phone.addTreatment(["eventType": "Note", "notes": "old", "created_at": "2026-01-01T00:00:00.000Z"])
    #expect(phone.deleteTreatment(Login.logbookID))
    let fourth = try await pull(third.cursor)
    #expect(fourth.records.contains { $0.guid == Login.logbookID && $0.state.isDeleted })
  }

  @Test func editingATreatmentOfAPhoneAppKeepsTheFieldsOfTheApp() async throws {
    let phone = loopback.site.actAsPhoneApp()
    let time = NightscoutTime.utcText(loopback.site.now / 1000 * 1000 - 3_600_000)
    phone.addTreatment([
      "eventType": "Meal Bolus", "carbs": 40, "insulin": 4, "notes": "pizza", "created_at": .string(time),
      "bolusCalculator": "x",
    ])
    let found = try await pull(nil, node: 1)
    #expect(found.records.map(\.state.kind) == [.food, .insulin])
    for record in found.records {
      var state = record.state
      if state.kind == .food {
        state.fields["carbs"] = .number(50)
      } else {
        (state.fields, state.isDeleted) = (RecordFields(), true)
      }
      let change = RecordChange(
        guid: record.guid, node: Login.run().node, version: 2, base: record.revision, state: state)
      guard case .accepted = try await push(change) else {
        Issue.record("\(record.state.kind) is not accepted")
        return
      }
    }
    let document = try #require(loopback.site.documents("treatments").first)
    #expect(document["carbs"] == 50 && document["bolusCalculator"] == "x" && document["notes"] == "pizza")
    let other = try await pull(nil)
    #expect(other.records.map(\.state.isDeleted) == [false, true])
    #expect(Set(other.records.map(\.guid)) == Set(found.records.map(\.guid)))
    #expect(other.records[0].state.fields["carbs"] == .number(50))
  }

  @Test func aRecordMovedInTimeIsOneRecordInEveryStore() async throws {
    let state = bolus
    let base = try #require(try await push(NightscoutPushTests.change(state))?.acceptedRevision)
    let first = try await pull(nil)
    var moved = state
    moved.deviceTime = DeviceTime(seconds: moved.deviceTime.seconds - 600)
    let change = NightscoutPushTests.change(moved, base: base, version: 2)
    let verdict = try await push(change)
    guard case .accepted(let revision) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(try await push(change) == verdict, "also when its answer was lost")
    let second = try await pull(first.cursor)
    #expect(second.records.map(\.state) == [moved] && second.records.map(\.guid) == [Login.logbookID])
    var edited = moved
    edited.fields["units"] = .number(6)
    let later = try await push(NightscoutPushTests.change(edited, base: revision, version: 3))
    guard case .accepted = later else {
      Issue.record("\(String(describing: later))")
      return
    }
    #expect(try await pull(second.cursor).records.map(\.state) == [edited])
  }

  @Test func anInterruptedMoveInTimeContinuesWithItsNewDocument() async throws {
    let state = bolus
    let base = try #require(try await push(NightscoutPushTests.change(state))?.acceptedRevision)
    var moved = state
    moved.deviceTime = DeviceTime(seconds: moved.deviceTime.seconds - 600)
    // Another program's event already has the time to which the record is moved.
    loopback.site.actAsPhoneApp().addTreatment([
      "eventType": "Correction Bolus", "insulin": 1,
      "created_at": .string(NightscoutTime.utcText(NightscoutTreatment.milliseconds(moved))),
    ])
    let change = NightscoutPushTests.change(moved, base: base, version: 2)
    loopback.site.plan(.answerLost) { $0.method == "POST" && $0.path == "/api/v3/treatments" }
    await #expect(throws: ServiceError.self) { try await push(change) }
    guard case .accepted = try await push(change) else {
      Issue.record("the move did not go on")
      return
    }
    let valid = loopback.site.documents("treatments").filter { $0["isValid"] != false }
    #expect(valid.count == 2 && valid.filter { $0["glucoport"] != nil }.count == 1)
  }

  /// The answer to the first move was lost. Before the next upload, the user moved the event again.
  @Test func aSecondMoveAfterALostAnswerCreatesNoSecondDose() async throws {
    let state = bolus
    let base = try #require(try await push(NightscoutPushTests.change(state))?.acceptedRevision)
    var moved = state
    moved.deviceTime = DeviceTime(seconds: moved.deviceTime.seconds - 600)
    loopback.site.plan(.answerLost) { $0.method == "POST" && $0.path == "/api/v3/treatments" }
    await #expect(throws: ServiceError.self) {
      try await push(NightscoutPushTests.change(moved, base: base, version: 2))
    }
    var again = state
    again.deviceTime = DeviceTime(seconds: again.deviceTime.seconds - 1200)
    let verdict = try await push(NightscoutPushTests.change(again, base: base, version: 3))
    guard case .conflict(let revision, let theirs, _) = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(theirs == moved)
    _ = try #require(
      try await push(NightscoutPushTests.change(again, base: revision, version: 4))?.acceptedRevision)
    let valid = loopback.site.documents("treatments").filter { $0["isValid"] != false }
    #expect(
      valid.map { $0["date"] } == [.number(Double(NightscoutTreatment.milliseconds(again)))])
    #expect(loopback.site.documents("treatments").compactMap { $0["insulin"]?.number }.count == 1)
  }

  @Test func aDocumentCreatedByOthersDuringAWriteIsNotReplaced() async throws {
    let change = NightscoutPushTests.change(bolus)
    _ = try #require(try await push(change)?.acceptedRevision)
    let made = try #require(loopback.site.requests.last { $0.method == "POST" })
    loopback.site.actAsPhoneApp().editTreatment(Login.logbookID, ["notes": "edited"])
    // The request that created the document arrives a second time.
    #expect(loopback.site.reply(made).status == 400)
    #expect(
      loopback.site.documents("treatments", identifier: Login.logbookID).map { $0["notes"] } == ["edited"])
  }

  @Test func aRecordDeletedOnTheSiteBeforeTheNextPullIsDeletedInItsStore() async throws {
    for deletesByV1 in [true, false] {
      let change = NightscoutPushTests.change(
        bolus, guid: deletesByV1 ? Login.logbookID : "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c12")
      let answer = try await ask { try await $0.apply([change], Login.run()) }
      if deletesByV1 {
        #expect(loopback.site.actAsPhoneApp().deleteTreatment(change.guid))
      } else {
        let deletion = RecordChange(
          guid: change.guid, node: "22222222-2222-4222-8222-222222222222", version: 2,
          base: answer.verdicts.first?.revision, state: RecordState.deleted(change.state))
        _ = try await ask { try await $0.apply([deletion], Login.run(node: 2)) }
      }
      // An older event of another program shows that the site keeps old events, so autoprune removed nothing.
      loopback.site.actAsPhoneApp().addTreatment([
        "eventType": "Note", "notes": "old", "created_at": "2020-01-01T00:00:00.000Z",
      ])
      var (cursor, found, run) = (String?.none, [RemoteRecord](), Login.run())
      run.lastSeenPosition = answer.position
      for _ in 0..<3 {
        let (known, current) = (cursor, run)
        while let page = try await ask({ try await $0.changes(after: known, limit: 1000, current) }) {
          found += page.records
          (cursor, run.lastSeenPosition) = (page.cursor, page.cursor)
          break
        }
      }
      #expect(found.last { $0.guid == change.guid }?.state.isDeleted == true, "\(deletesByV1)")
    }
  }

  @Test func aRecordDeletedOnTheSiteAfterTheFirstPullIsDeletedInTheStore() async throws {
    let phone = loopback.site.actAsPhoneApp()
    phone.addTreatment(["eventType": "Note", "notes": "old", "created_at": "2020-01-01T00:00:00.000Z"])
    let time = NightscoutTime.utcText(loopback.site.now - 600_000)
    let id = try #require(
      phone.addTreatment(["eventType": "Note", "notes": "x", "created_at": .string(time)]))
    let first = try await pull(nil)
    #expect(phone.deleteTreatment(id))
    #expect(try await pull(first.cursor).records.map(\.state.isDeleted) == [true])
  }

  @Test func aScanOfTheSiteInPiecesFindsRemovedRecords() async throws {
    let phone = loopback.site.actAsPhoneApp()
    phone.addTreatment([
      "eventType": "Note", "notes": "old", "created_at": "2020-01-01T00:00:00.000Z",
    ])
    let now = loopback.site.now
    let ids = (0..<5).compactMap { place in
      phone.addTreatment([
        "eventType": "Note", "notes": .string("n\(place)"),
        "created_at": .string(NightscoutTime.utcText(now - 600_000 + Int64(place) * 60_000)),
      ])
    }
    let first = try await pull(nil, limit: 2)
    #expect(first.records.count == 6)
    let second = try await pull(first.cursor, limit: 2)
    #expect(phone.deleteTreatment(ids[3]))
    let third = try await pull(second.cursor, limit: 2)
    #expect(third.records.map(\.state.isDeleted) == [true])
  }

  @Test(arguments: [NightscoutFault.answerLost, .closedAfterwards, .status(500), .reset, .status(503)])
  func aFailedRequestToASiteIsRepeatedWithoutHarm(_ fault: NightscoutFault) async throws {
    let state = bolus
    let change = NightscoutPushTests.change(state)
    loopback.site.plan(fault) { $0.method == "POST" }
    do {
      _ = try await push(change)
    } catch is ServiceError {
      // This is the planned fault.
    }
    guard case .accepted = try await push(change) else {
      Issue.record("not accepted")
      return
    }
    let batch = Sample.batch(600)
    loopback.site.plan(fault) { $0.method == "POST" }
    do {
      _ = try await ask { try await $0.store(batch, Login.run()) }
    } catch is ServiceError {
      // This is the planned fault.
    }
    let answer = try await ask { try await $0.store(batch, Login.run()) }
    #expect(answer.known + answer.stored == 600)
    #expect(loopback.site.documents("entries").count == 600)
    #expect(loopback.site.documents("treatments").count == 1)
  }

  @Test func aWriteThatBecomesVisibleLateOnTheSiteIsPulled() async throws {
    loopback.site.change { $0.visibilityDelayMilliseconds = 8000 }
    let start = loopback.site.now
    loopback.site.freezeClock(at: start)
    let first = try await pull(nil)
    _ = try await push(NightscoutPushTests.change(Sample.bolus))
    loopback.site.moveClock(by: 3000)
    let second = try await pull(first.cursor)
    loopback.site.moveClock(by: 90_000)
    let third = try await pull(second.cursor)
    #expect((first.records + second.records + third.records).map(\.guid).contains(Login.logbookID))
  }

  @Test func aSiteWithALowDocumentLimitIsPulledCompletely() async throws {
    let batch = Sample.batch(450)
    loopback.site.change { $0.maxDocuments = 200 }
    let first = try await pull(nil)
    #expect(try await ask { try await $0.store(batch, Login.run()) }.stored == 450)
    #expect(try await ask { try await $0.store(batch, Login.run()) }.known == 450)
    #expect(try await Set(pull(first.cursor).readings).count == 450)
  }

  @Test func afterARedeploymentOfTheSiteANewJWTIsRequested() async throws {
    let site = loopback.site
    let isWritable = try await ask { remote in
      _ = try await remote.logbook()
      site.redeploy()
      return try await remote.logbook().isWritable
    }
    #expect(isWritable)
  }

  @Test func aSiteUploadWithoutChangesTakesFourRequests() async throws {
    let batch = Sample.batch(50)
    _ = try await ask { try await $0.store(batch, Login.run()) }
    let first = try await pull(nil)
    let before = loopback.site.requests.count
    let second = try await pull(first.cursor)
    #expect(second.cursor == first.cursor && loopback.site.requests.count - before == 4)
  }
}

extension RecordState {
  fileprivate static func deleted(_ state: RecordState) -> RecordState {
    var state = state
    (state.fields, state.isDeleted) = (RecordFields(), true)
    return state
  }
}

extension RecordVerdict {
  fileprivate var revision: String? { if case .accepted(let revision) = self { revision } else { nil } }
}
