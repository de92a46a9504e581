// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import SeededRandom
import TestServers
import Testing

@testable import Remotes

/// Tests the active doses on a site after glucoport wrote there, and entries of other uploaders.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutActingTests {
  private static let clock: Int64 = 1_800_000_000_000

  private static func site() throws -> LoopbackNightscout { try .withFullMemory(frozenAt: clock) }

  private static func state(
    _ kind: RecordKind, _ field: String, _ amount: Double, minutesAgo: Int64
  ) -> RecordState {
    RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: clock / 1000 - minutesAgo * 60 + 7200),
      placement: Placement(utcOffset: 7200, source: .stated), fields: RecordFields([field: .number(amount)]),
      isDeleted: false, editedAt: nil)
  }

  /// The sum of a member over all documents that API v1 returns. These include deleted documents.
  private static func sum(_ member: String, _ loopback: LoopbackNightscout) -> Double {
    loopback.site.documents("treatments").compactMap { $0[member]?.number }.reduce(0, +)
  }

  @Test(arguments: UInt64(1)...8)
  func afterEditsActiveDosesEqualThoseOfASiteWithOnlyTheFinalRecords(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (edited, fresh) = (try Self.site(), try Self.site())
    var known: [String: (state: RecordState, base: String, version: Int)] = [:]
    for number in 0..<12 {
      let target = known.keys.sorted().randomElement(using: &random)
      let isNew = target == nil || Bool.random(using: &random)
      let guid = isNew ? Digest.uuid(of: ["acting", String(seed), String(number)]) : target ?? ""
      let before = known[guid]
      var state = before?.state ?? Self.state(.note, "text", 0, minutesAgo: 0)
      let minutes = Int64.random(in: 1...170, using: &random)
      switch (isNew, Int.random(in: 0..<3, using: &random)) {
      case (true, let choice):
        let isFood = choice == 0
        state = Self.state(
          isFood ? .food : .insulin, isFood ? "carbs" : "units", Double(number % 5 + 1), minutesAgo: minutes)
      case (false, 0):
        state.fields[state.kind == .food ? "carbs" : "units"] = .number(Double(minutes % 7 + 1))
      case (false, 1):
        state.deviceTime = Self.state(.note, "text", 0, minutesAgo: minutes).deviceTime
      default: (state.fields, state.isDeleted) = (RecordFields(), true)
      }
      let change = RecordChange(
        guid: guid, node: Login.run().node, version: (before?.version ?? 0) + 1, base: before?.base,
        state: state)
      guard case .accepted(let revision)? = try await edited.push(change) else {
        Issue.record("seed \(seed), step \(number)")
        return
      }
      known[guid] = state.isDeleted ? nil : (state, revision, change.version)
    }
    for (guid, item) in known.sorted(by: { $0.key < $1.key }) {
      let change = RecordChange(guid: guid, node: Login.run().node, version: 1, base: nil, state: item.state)
      guard case .accepted? = try await fresh.push(change) else {
        Issue.record("seed \(seed): \(guid)")
        return
      }
    }
    #expect(edited.site.insulinOnBoard == fresh.site.insulinOnBoard, "seed \(seed)")
    for member in ["insulin", "carbs"] {
      #expect(Self.sum(member, edited) == Self.sum(member, fresh), "seed \(seed): \(member)")
    }
  }

  /// If a request with one record fails, the records of earlier requests stay acknowledged.
  @Test func eachRecordIsSentToASiteInASeparateRequest() async throws {
    let loopback = try LoopbackNightscout()
    let limits = try await loopback.ask { $0.batchLimits }
    #expect(limits == BatchLimits(readings: 1000, records: 1))
  }

  @Test func aDoseUploadedLateCountsAsActiveInsulinAtOnce() async throws {
    let loopback = try Self.site()
    let dose = Self.state(.insulin, "units", 4, minutesAgo: 60)
    _ = try await loopback.push(
      RecordChange(guid: Login.logbookID, node: Login.run().node, version: 1, base: nil, state: dose))
    #expect(loopback.site.insulinOnBoard > 0)
  }

  @Test func aThousandEntriesOfAnotherUploaderDoNotDisturbAnUpload() async throws {
    let loopback = try LoopbackNightscout()
    let phone = loopback.site.actAsPhoneApp()
    for place in 0..<1200 {
      phone.addEntry([
        "type": "sgv", "sgv": 90, "device": "other",
        "date": .number(Double(1_777_000_000_000 + place * 60_000)),
        "dateString": .string(NightscoutTime.utcText(1_777_000_000_000 + Int64(place) * 60_000)),
      ])
    }
    let before = loopback.site.requests.count
    let batch = Sample.batch(450)
    let answer = try await loopback.ask { try await $0.store(batch, Login.run()) }
    #expect(answer.stored == 450 && loopback.site.requests.count - before <= 3)
    #expect(loopback.site.documents("entries").count == 1650)
  }

  /// A deletion on the web page changes neither the history nor the site's latest times. Only a sweep, which
  /// reads all events of the last days, finds the deletion.
  @Test func aDeletionOnTheSitesWebPageIsFoundByTheNextUpload() async throws {
    let loopback = try LoopbackNightscout(frozenAt: Self.clock)
    for (minutes, guid) in [(50, Login.logbookID), (60, "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c12")] {
      let state = Self.state(.insulin, "units", 4, minutesAgo: Int64(minutes))
      _ = try await loopback.push(
        RecordChange(guid: guid, node: Login.run().node, version: 1, base: nil, state: state))
      loopback.site.moveClock(by: 1000)
    }
    let first = try #require(await loopback.pull(nil))
    // When the clock has moved, the site's last write is two minutes old. The next pull reads the history
    // only because it overlaps with the first pull.
    loopback.site.moveClock(by: 120_000)
    #expect(loopback.site.actAsPhoneApp().deleteTreatment(Login.logbookID))
    let second = try #require(await loopback.pull(first.cursor))
    #expect(second.records.map(\.guid) == [Login.logbookID] && second.records.allSatisfy(\.state.isDeleted))
  }

  @Test func aRecordSentByTwoStoresAtOnceHasOneDocumentAfterTheNextPull() async throws {
    let loopback = try LoopbackNightscout()
    var state = Sample.bolus
    state.deviceTime = DeviceTime(seconds: loopback.site.now / 1000 - 3600 + 7200)
    loopback.site.change { $0.looksBeforeWrite = 2 }
    let sent = state
    await withTaskGroup(of: Void.self) { group in
      for node in [1, 3] {
        group.addTask {
          do {
            _ = try await loopback.push(
              RecordChange(
                guid: Login.logbookID, node: Login.run(node: node).node, version: 1, base: nil, state: sent),
              node: node)
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    loopback.site.change { $0.looksBeforeWrite = 1 }
    #expect(loopback.site.documents("treatments").count == 2)
    for node in [1, 3] { _ = try await loopback.pull(nil, node: node) }
    #expect(loopback.site.documents("treatments").count == 1)
    #expect(try await loopback.pull(nil, node: 2)?.records.map(\.guid) == [Login.logbookID])
  }

  @Test func theSiteRoleInTheManualIsSufficientForAnUpload() async throws {
    let site = try NightscoutStandIn()
    let text = (NightscoutRights.needed).joined(separator: " ")
    site.setRole("uploader", typed: text)
    let token = site.addSubject("typed", roles: ["uploader"])
    let logbook = try await LoopbackNightscout.ask(site.url, token) { try await $0.logbook() }
    #expect(logbook.isWritable && logbook.missingPermissions.isEmpty)
    site.setRole("commas", typed: "api:entries:create,read,update api:treatments:create,read,update,delete")
    let wrong = site.addSubject("wrong", roles: ["commas"])
    let problem = await #expect(throws: ServiceError.self) {
      _ = try await LoopbackNightscout.ask(site.url, wrong) { try await $0.logbook() }
    }
    guard case .loginRefused(let sentence) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(sentence.contains("api:treatments:delete") && sentence.contains("api:entries:update"))
  }
}

extension LoopbackNightscout {
  static func ask<Value: Sendable>(
    _ url: String, _ token: String, _ body: @Sendable (any LogbookService) async throws -> Value
  ) async throws -> Value {
    let login = RemoteLogin(
      address: try RemoteAddress(url, allowsPlainHTTP: false), token: try Login.token(token),
      agent: "glucoport/test")
    return try await RemoteRegister.with("nightscout", login) { try await body($0) }
  }

  func ask<Value: Sendable>(_ body: @Sendable (any LogbookService) async throws -> Value) async throws
    -> Value
  {
    try await Self.ask(url, token(canWrite: true), body)
  }

  func push(_ change: RecordChange, node: Int = 1) async throws -> RecordVerdict? {
    try await ask { try await $0.apply([change], Login.run(node: node)).verdicts.first }
  }

  /// All changes since the cursor as one page, with the last cursor; nil if there are no changes.
  ///
  /// - Parameter mayRepair: false for an upload that only fetches.
  func pull(_ cursor: String?, node: Int = 2, mayRepair: Bool = true) async throws -> ChangePage? {
    try await ask { remote in
      var run = Login.run(node: node)
      run.mayRepair = mayRepair
      var all: ChangePage?
      var after = cursor
      while let page = try await remote.changes(after: after, limit: 1000, run) {
        var sum = page
        sum.records = (all?.records ?? []) + page.records
        all = sum
        after = page.cursor
        if !page.hasMore { break }
      }
      return all
    }
  }
}
