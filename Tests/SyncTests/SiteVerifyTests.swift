// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import TestServers
import Testing

@testable import Sync

/// Tests how `verify` compares a store with a Nightscout site, which has no digests, and fixes differences.
@Suite(.timeLimit(.minutes(10))) struct SiteVerifyTests {
  private let scene: SiteScene

  init() throws { scene = try SiteScene() }

  private func verify(_ name: String = "a", fix: Bool = false) async throws -> VerifySummary {
    let store = try scene.store(name)
    let session = try #require(VerifySession(store, try scene.remote(), named: "site"))
    try await session.compare()
    if fix { try session.fix(at: SiteScene.clock / 1000) }
    return session.summary
  }

  private func add(_ kind: RecordKind, _ fields: [String: FieldValue], at second: Int64) throws -> String {
    let guid = Digest.uuid(of: ["site", kind.rawValue, String(second)])
    _ = try scene.editor("a").add(
      RecordDraft(
        kind: kind, at: DeviceTime(seconds: second), placement: Placement(utcOffset: 0, source: .stated),
        fields: RecordFields(fields)), guid: guid)
    return guid
  }

  private static func theirs(_ place: Int) -> Int64 { 70 + Int64(place) * 7 % 200 }

  /// The value of a reading in the store. Every sixth value differs from the other program's value.
  private static func ours(_ place: Int) -> Int64 { theirs(place) + (place % 6 == 0 ? 5 : 0) }

  /// Makes readings and records in the store and on the site. Some of them are equal, others differ.
  private func fill() async throws -> [String] {
    scene.addEntries((0..<60).map(Self.theirs))
    scene.addTreatments(5)
    // The last thirty of these readings are not among the site's entries.
    try scene.ingest("a", SiteScene.sensor((0..<90).map { Double(Self.ours($0)) }))
    let guids = [
      try add(.insulin, ["subtype": .text("rapid"), "units": .number(2.5)], at: SiteScene.start + 60),
      try add(.food, ["carbs": .number(40), "text": .text("a <b> & c")], at: SiteScene.start + 120),
      try add(.exercise, ["minutes": .number(12.5)], at: SiteScene.start + 180),
      try add(.note, ["text": .text("gone")], at: SiteScene.start + 240),
    ]
    #expect(try await scene.upload("a").ending == .complete)
    _ = try scene.editor("a").delete(guids[3])
    #expect(try await scene.upload("a").ending == .complete)
    return guids
  }

  @Test func verifyAfterAnUploadToASiteFindsNothingAndWritesNothing() async throws {
    _ = try await fill()
    let before = scene.site.documents("entries") + scene.site.documents("treatments")
    scene.link.reset()
    #expect(try await verify() == VerifySummary())
    #expect(scene.link.calls.allSatisfy { $0.hasPrefix("GET ") }, "\(scene.link.calls)")
    #expect(scene.site.documents("entries") + scene.site.documents("treatments") == before)
    _ = try await scene.upload("b")
    #expect(try await verify("b") == VerifySummary())
  }

  @Test func pendingItemsAreNotReportedAsDifferencesFromASite() async throws {
    _ = try await fill()
    try scene.ingest("a", SiteScene.sensor([99, 98], from: SiteScene.start + 90_000))
    _ = try add(.food, ["carbs": .number(7)], at: SiteScene.start + 90_000)
    #expect(try await verify() == VerifySummary())
  }

  @Test func verifySendsReadingsMissingOnTheSiteAgain() async throws {
    _ = try await fill()
    let phone = scene.site.actAsPhoneApp()
    let entries = scene.site.documents("entries")
    let own = entries.filter { $0["glucoport"] != nil }.prefix(3)
    // The store knows that this entry of the other program represents one of its readings.
    let same = entries.filter { $0["glucoport"] == nil && $0["sgv"] == 77 }
    try #require(own.count == 3 && same.count == 1)
    for entry in own + same { #expect(phone.deleteEntry(entry["_id"]?.text ?? "")) }
    let found = try await verify(fix: true)
    #expect(found.readings == [.missingOnRemote: 4] && found.requeuedReadings == 4 && found.records.isEmpty)
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedReadings == 4 && summary.pulledReadings == 0)
    #expect(try await verify() == VerifySummary())
  }

  /// An upload reads only the changes of the last two days again. So only `verify` finds older changes.
  @Test func verifyFindsAndFetchesOldChangesOfOthersOnASite() async throws {
    let guids = try await fill()
    let phone = scene.site.actAsPhoneApp()
    scene.addEntries([300, 301, 302], from: SiteScene.start - 90_000)
    // Each of these entries has the value of a reading in the store, half a second later.
    for place in [60, 61] {
      let milliseconds = (SiteScene.start + Int64(place) * 300) * 1000 + 500
      phone.addEntry([
        "type": "sgv", "sgv": DocumentValue(Self.ours(place)), "device": "late",
        "date": .number(Double(milliseconds)), "dateString": .string(SiteScene.text(milliseconds)),
      ])
    }
    #expect(phone.editTreatment(guids[1], ["carbs": 44]))
    scene.addTreatments(6)
    let upload = try await scene.upload("a").summary
    #expect(upload.pulledReadings == 0 && upload.pulledRecords == 0)
    let found = try await verify()
    #expect(found.readings == [.missingLocally: 5] && found.records == [.different: 1, .missingLocally: 1])
    let fixed = try await verify(fix: true)
    #expect(fixed.fetchedReadings == 3, "two are readings that the store has")
    #expect(fixed.fetchedRecords == 2)
    #expect(try await verify() == VerifySummary())
    let store = try scene.store("a")
    let record = try #require(try store.compare { try $0.heldRecords(in: Set(0..<4096)) }[guids[1]])
    #expect(record.state.fields["carbs"] == .number(44) && record.isUpToDate)
    #expect(try await scene.upload("a").summary.pushedReadings == 0)
  }

  @Test func changesOfOthersForTheNextUploadAreCountedButNotAsDifferences() async throws {
    _ = try await fill()
    let recent = SiteScene.clock / 1000 - 3600
    let dose = try add(.insulin, ["subtype": .text("rapid"), "units": .number(1)], at: recent)
    _ = try await scene.upload("a")
    scene.addEntries([120, 121], from: recent)
    #expect(scene.site.actAsPhoneApp().deleteTreatment(dose))
    let found = try await verify()
    #expect(found.differences == 0 && found.notPulled == 3, "\(found)")
    let summary = try await scene.upload("a").summary
    #expect(summary.pulledReadings == 2 && summary.pulledRecords == 1)
    #expect(try await verify() == VerifySummary())
  }

  /// The record is edited after the comparison. So it is pending, and `fix` does not change it.
  @Test func verifyCountsDifferencesThatItCannotFix() async throws {
    let guids = try await fill()
    #expect(scene.site.actAsPhoneApp().deleteTreatment(guids[0]))
    let session = try #require(VerifySession(scene.store("a"), try scene.remote(), named: "site"))
    try await session.compare()
    _ = try scene.editor("a").edit(guids[0]) { $0.fields["units"] = .number(3) }
    try session.fix(at: SiteScene.clock / 1000)
    #expect(session.summary.differences == 1 && session.summary.unfixed == 1)
    #expect(session.summary.requeuedRecords == 0)
  }

  /// The treatment may be missing because the site was restored from a backup. So `verify` sends it again.
  @Test func verifyCreatesATreatmentMissingOnTheSiteAgain() async throws {
    let guids = try await fill()
    #expect(scene.site.actAsPhoneApp().deleteTreatment(guids[0]))
    #expect(try await scene.upload("a").summary.pulledRecords == 0)
    let found = try await verify(fix: true)
    #expect(found.records == [.missingOnRemote: 1] && found.requeuedRecords == 1)
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedRecords == 1 && summary.conflicts == 0 && summary.refused == 0, "\(summary)")
    let doses = scene.site.documents("treatments").compactMap { $0["insulin"]?.number }
    #expect(doses.filter { $0 == 2.5 }.count == 1)
    #expect(try await verify() == VerifySummary())
  }
}
