// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout
import Synchronization
import TestServers
import Testing

@testable import Remotes

/// Tests difficult cases of a pull from a Nightscout site.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutPullTests {
  private static let now = NightscoutScript.clock * 1000
  private static let zone = NightscoutZone(zone: nil)

  /// A sensor entry of another program.
  private static func entry(_ key: String, date: Int64, modified: Int64? = nil) -> [String: JSONValue] {
    [
      "identifier": .text(key), "type": .text("sgv"), "sgv": .number(120), "date": .number(Double(date)),
      "srvModified": .number(Double(modified ?? date)), "device": .text("phone"),
    ]
  }

  /// A note of another program.
  private static func note(_ key: String, _ text: String, date: Int64, modified: Int64? = nil) -> [String:
    JSONValue]
  {
    [
      "identifier": .text(key), "eventType": .text("Note"), "notes": .text(text),
      "created_at": .text(NightscoutTime.utcText(date)), "srvModified": .number(Double(modified ?? date)),
    ]
  }

  /// The cursor of an up-to-date store whose last pull was ten minutes ago.
  private static func cursor(
    complete: Int64 = now - 600_000, latest: Int64 = 0, seen: [[String: JSONValue]] = []
  ) throws -> NightscoutCursor {
    var cursor = NightscoutCursor(
      asked: complete + NightscoutCursor.overlap, latest: ["entries": latest, "treatments": latest])
    cursor.complete = complete
    cursor.window.start = now - NightscoutCursor.sweepMilliseconds
    for members in seen {
      let document = try #require(NightscoutDocument(.object(members)))
      for record in NightscoutTreatment.records(document, zone) {
        cursor.window.seen[record.guid] = NightscoutCursor.Seen(record)
      }
    }
    return cursor
  }

  /// A site that answers searches and requests for the history from these documents, according to their
  /// times.
  private static func site(
    entries: [[String: JSONValue]] = [], treatments: [[String: JSONValue]] = [], latest: Int64? = nil,
    clock: Int64 = NightscoutScript.clock
  ) throws -> NightscoutScript {
    try NightscoutScript(clock: clock) { call, _ in
      if call.contains("lastModified") {
        return NightscoutScript.latest(latest ?? clock * 1000, latest ?? clock * 1000)
      }
      return Listing(call)?.answer(call.contains("/entries") ? entries : treatments)
    }
  }

  /// The parameters of a request for a list.
  private struct Listing {
    let field: String
    let comparison: String
    let value: String
    let limit: Int
    let skip: Int

    init?(_ call: String) {
      guard let mark = call.firstIndex(of: "?") else { return nil }
      let query = call[call.index(after: mark)...].split(separator: "&").map {
        $0.split(separator: "=", maxSplits: 1).map(String.init)
      }
      let values = Dictionary(query.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
      limit = Int(values["limit"] ?? "") ?? 0
      skip = Int(values["skip"] ?? "") ?? 0
      if let range = call.range(of: "/history/") {
        (field, comparison) = ("srvModified", "gt")
        value = String(call[range.upperBound..<mark])
        return
      }
      // These parameters do not filter by a member. `glucoport.run$ne` excludes documents that the same
      // upload wrote.
      let others = ["limit", "skip", "sort", "glucoport.run$ne"]
      let filter = values.first { !others.contains($0.key) }
      let parts = (filter?.key ?? "").split(separator: "$")
      field = parts.first.map(String.init) ?? ""
      comparison = parts.count > 1 ? String(parts[1]) : "eq"
      value = filter?.value ?? ""
    }

    func answer(_ documents: [[String: JSONValue]]) -> (Int, String) {
      let isHistory = field == "srvModified" && comparison == "gt"
      let bound = Self.padded(value)
      let found = documents.filter { document in
        let own = key(document)
        let holds = comparison == "gt" ? own > bound : comparison == "lt" ? own < bound : own == bound
        return holds && (isHistory ? Self.isStamped(document) : document["isValid"] != .flag(false))
      }.sorted { key($0) < key($1) }
      return NightscoutScript.list(Array(found.dropFirst(skip).prefix(limit)))
    }

    /// Whether the site stored a time of change in the document. Writes by API v1 store none, and a search
    /// returns the time of the event instead.
    private static func isStamped(_ document: [String: JSONValue]) -> Bool {
      NightscoutDocument(.object(document))?.modified != nil
    }

    private func key(_ document: [String: JSONValue]) -> String {
      Self.padded(document[field].map { $0.text ?? plainNumber($0.number ?? 0) } ?? "")
    }

    /// Pads a time of 12 digits to 13, so that the order of such texts is the order of the times.
    private static func padded(_ text: String) -> String { text.utf8.count == 12 ? "0" + text : text }
  }

  private func pull(
    _ script: NightscoutScript, _ cursor: NightscoutCursor?, limit: Int = 1000, run: RunStamp = Login.run()
  ) async throws -> (readings: [ReadingIdentity], records: [RemoteRecord], cursor: NightscoutCursor?) {
    try await script.ask { remote in
      var found: (readings: [ReadingIdentity], records: [RemoteRecord], cursor: NightscoutCursor?) = (
        [], [], cursor
      )
      while let page = try await remote.changes(after: found.cursor?.text, limit: limit, run) {
        found.readings += page.readings.readings.map {
          ReadingIdentity($0, page.readings.devices[Int($0.device.number)])
        }
        found.records += page.records
        found.cursor = NightscoutCursor(page.cursor)
        if !page.hasMore { break }
      }
      return found
    }
  }

  @Test(arguments: [2, 3, 7, 10, 1000])
  func aPullLosesNoChangeIfSeveralShareAMillisecond(_ limit: Int) async throws {
    // Five documents share each millisecond, so that a page of two or three documents can contain only
    // documents of one time.
    let entries = (0..<60).map { index in
      Self.entry(
        "e\(index)", date: Self.now - 9_000_000_000 + Int64(index),
        modified: Self.now - 60_000 + Int64(index / 5))
    }
    let found = try await pull(try Self.site(entries: entries), Self.cursor(), limit: limit)
    #expect(found.readings.count == 60 && Set(found.readings).count == 60)
  }

  @Test(arguments: [2, 7, 1000])
  func aFirstPullIncludesDocumentsThatAreNotInTheHistory(_ limit: Int) async throws {
    let entries = (0..<23).map { Self.entry("e\($0)", date: 1_600_000_000_000 + Int64($0 / 4)) }
    let treatments = (0..<23).map { Self.note("t\($0)", "n\($0)", date: 1_600_000_000_000 + Int64($0 / 4)) }
    let script = try Self.site(entries: entries, treatments: treatments)
    let found = try await pull(script, nil, limit: limit)
    #expect(
      Set(found.readings.map(\.text)).count == 6, "entries of one device, type and time are one reading")
    #expect(Set(found.records.map(\.guid)).count == 23 && found.records.count == 23)
    #expect(found.cursor?.round == nil)
    let complete = try #require(found.cursor?.complete)
    #expect((0..<30_000).contains(complete - (Self.now - NightscoutCursor.overlap)))
    #expect(script.calls.allSatisfy { $0.contains("limit=") || $0.contains("lastModified") })
  }

  @Test func aPullContinuesShortlyBeforeTheEndOfThePreviousPull() async throws {
    let script = try Self.site()
    let first = try Self.cursor(complete: Self.now - 600_000)
    let found = try await pull(script, first)
    #expect(script.calls.filter { $0.contains("/history/\(Self.now - 600_000)?") }.count == 2)
    let complete = try #require(found.cursor?.complete)
    #expect(complete <= Self.now - NightscoutCursor.overlap + 5000 && complete > Self.now - 600_000)
  }

  @Test func aPullLosesNoChangeAfterTheServerClockWasSetBack() async throws {
    let script = try Self.site(
      entries: [Self.entry("late", date: Self.now - 9_000_000_000, modified: Self.now - 30_000)])
    let found = try await pull(script, Self.cursor(complete: Self.now + 86_400_000))
    #expect(found.readings.count == 1)
  }

  @Test func writesOfAPIv1AreFoundByTheirEventTime() async throws {
    let entry = Self.entry("6634c7c1d2f6b5a3e8f0a001", date: Self.now - 5_000)
    let note = Self.note("6634c7c1d2f6b5a3e8f0a002", "from the phone", date: Self.now - 5_000)
    // The history does not contain writes by API v1.
    let script = try NightscoutScript { call, _ in
      if call.contains("lastModified") { return NightscoutScript.latest(Self.now, Self.now) }
      if call.contains("/history/") { return NightscoutScript.list([]) }
      return Listing(call)?.answer(call.contains("/entries") ? [entry] : [note])
    }
    let found = try await pull(script, Self.cursor())
    #expect(
      found.readings.count == 1 && found.records.map(\.state.fields["text"]) == [.text("from the phone")])
    let again = try await pull(script, found.cursor)
    #expect(again.readings.isEmpty && again.records.isEmpty)
  }

  @Test func anEditByAPIv1IsFoundAlthoughItsChangeTimeIsUnchanged() async throws {
    let date = Self.now - 5_000
    let before = Self.note("6634c7c1d2f6b5a3e8f0a002", "old", date: date)
    let script = try Self.site(treatments: [
      Self.note("6634c7c1d2f6b5a3e8f0a002", "old &lt; new &amp; better", date: date)
    ])
    let found = try await pull(script, Self.cursor(seen: [before]))
    #expect(found.records.map(\.state.fields["text"]) == [.text("old < new & better")])
  }

  @Test(arguments: [true, false])
  func aDeletionByAPIv1IsReportedAsDeletedUnlikeOneByAutoprune(_ keepsOlder: Bool) async throws {
    let gone = Self.note("6634c7c1d2f6b5a3e8f0a002", "gone", date: Self.now - 5_000)
    let older = Self.note("older", "older", date: 1_600_000_000_000)
    let found = try await pull(
      try Self.site(treatments: keepsOlder ? [older] : []), Self.cursor(seen: [gone]))
    #expect(found.records.map(\.state.isDeleted) == (keepsOlder ? [true] : []))
    #expect(found.cursor?.window.seen.isEmpty == true, "it is told of once")
  }

  @Test func aDeletedDocumentDeletesEveryRecordInIt() async throws {
    let meal: [String: JSONValue] = Self.note(
      "aaps-1", "x", date: Self.now - 9_000_000_000, modified: Self.now - 60_000
    )
    .merging(["carbs": .number(40), "insulin": .number(4), "isValid": .flag(false)]) { $1 }
    let found = try await pull(try Self.site(treatments: [meal]), Self.cursor())
    #expect(found.records.map(\.state.kind) == [.food, .insulin])
    #expect(found.records.map(\.state.isDeleted) == [true, true])
    let unseen = meal.merging(["srvCreated": .number(Double(Self.now - 70_000))]) { $1 }
    let none = try await pull(try Self.site(treatments: [unseen]), Self.cursor())
    #expect(none.records.isEmpty, "it came and went since the last run")
  }

  @Test func aPullExcludesOnlyTheWritesOfTheSameUpload() async throws {
    let mine = NightscoutPushTests.treatment(Sample.bolus).merging([
      "glucoport": NightscoutTreatment.ownMember(
        [
          NightscoutPart(
            guid: Login.logbookID, state: Sample.bolus, seen: NightscoutTreatment.shown(Sample.bolus),
            sent: [])
        ],
        NightscoutWriter(Login.run()))
    ]) { $1 }
    let script = try Self.site(treatments: [mine])
    #expect(try await pull(script, nil).records.isEmpty)
    #expect(try await pull(script, nil, run: Login.run(node: 2)).records.count == 1)
    var copy = Login.run()
    copy.id = "22222222-2222-4222-8222-222222222222"
    #expect(try await pull(script, nil, run: copy).records.count == 1, "a copy of a store has its node id")
    let edited = mine.merging(["insulin": .number(9)]) { $1 }
    let others = try await pull(try Self.site(treatments: [edited]), nil)
    #expect(others.records.map(\.state.fields["units"]) == [.number(9)], "another program edited it since")
  }

  @Test func aPullWithoutChangesTakesFourRequestsAndKeepsTheCursor() async throws {
    let latest = Self.now - 3_600_000
    let script = try Self.site(
      entries: [Self.entry("e", date: latest)], treatments: [Self.note("t", "x", date: latest)],
      latest: latest)
    let first = try await pull(script, Self.cursor())
    let second = try await pull(script, first.cursor)
    let count = script.server.requests.count
    let third = try await pull(script, second.cursor)
    #expect(third.cursor == second.cursor && third.readings.isEmpty && third.records.isEmpty)
    #expect(script.server.requests.count - count == 4, "\(script.calls.suffix(4))")
  }

  @Test func anEventInTheFutureDoesNotHideChangesFromAPull() async throws {
    let future = Self.now + 31_536_000_000
    let script = try Self.site(
      treatments: [Self.note("6634c7c1d2f6b5a3e8f0a002", "x", date: Self.now - 5_000)], latest: future)
    let found = try await pull(script, Self.cursor(latest: future))
    #expect(found.records.count == 1)
  }

  @Test(arguments: [2, 1000])
  func aScanOfAllDocumentsContinuesOverPagesAndRemembersRecords(_ limit: Int) async throws {
    let notes = (0..<5).map {
      Self.note("t\($0)", "x", date: Self.now - 432_000_000 + Int64($0) * 100_000_000)
    }
    var cursor = try Self.cursor()
    cursor.window.start = Self.now - 864_000_000
    let found = try await pull(try Self.site(treatments: notes), cursor, limit: limit)
    #expect(found.records.count == 5)
    let window = try #require(found.cursor?.window)
    #expect((0..<30_000).contains(window.start - (Self.now - NightscoutCursor.sweepMilliseconds)))
    #expect(window.seen.count == 2)
  }

  @Test func aCursorOfAnotherProgramIsRefusedAsUnknown() async throws {
    let script = try Self.site()
    await #expect(throws: ServiceError.positionUnknown) {
      try await script.ask { _ = try await $0.changes(after: "s1:17", limit: 10, Login.run()) }
    }
    #expect(script.calls.isEmpty)
  }

  @Test func theReadingDigestsOfANightscoutSiteCoverAllItsReadings() async throws {
    let entries = (0..<30).map { Self.entry("e\($0)", date: 1_600_000_000_000 + Int64($0)) }
    let script = try Self.site(entries: entries)
    var expected = IdentityDigests()
    for index in 0..<30 {
      let text = "model|nightscout|phone|cbg|tick|\(1_600_000_000_000 + index)|0|0"
      expected.insert(try #require(ReadingIdentity(text: text)).key)
    }
    #expect(try await script.ask { try await $0.readingDigests(Login.run()) } == expected)
  }
}
