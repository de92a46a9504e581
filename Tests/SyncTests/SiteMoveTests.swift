// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import TestServers
import Testing

@testable import Sync

/// Tests that a change of the zone moves documents of a site to other instants. A site stores only instants
/// and no shown times.
@Suite(.timeLimit(.minutes(20))) struct SiteMoveTests {
  private static let values = (0..<250).map { (place: Int) -> Double in Double(70 + place * 7 % 200) }

  private static func scene(readings: Int = 30) async throws -> SiteScene {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.derived(Array(values.prefix(readings))))
    try scene.addDose("a", 4)
    try await scene.finish("a")
    try scene.expectInPlace("a")
    return scene
  }

  @Test func aChangeOfTimeZoneMovesReadingsAndRecordsOnASite() async throws {
    let scene = try await Self.scene()
    let change = try scene.setZone("a", "Asia/Tokyo")
    #expect(change.toMove == .init(readings: 30, records: 1))
    #expect(try scene.store("a").overview(ingests: 0).siteMoves == change.toMove)
    #expect(try scene.readings("a").allSatisfy(\.isUploaded), "uploaded stays")
    let run = try await scene.upload("a") { $0.joinsZones = true }
    #expect(run.ending == .complete && run.summary.movedReadings == 30 && run.summary.movedRecords == 1)
    #expect(run.summary.readingsToMove == 0 && run.summary.pushedReadings == 0)
    #expect(scene.ownEntries().values.flatMap(\.self).min() == SiteScene.start - 32_400)
    try scene.expectInPlace("a")
    // The site has only one active document of the dose, at the changed instant.
    #expect(scene.validTreatments.compactMap { $0["insulin"]?.number } == [4])
    scene.link.reset()
    #expect(try await scene.upload("a").ending == .complete)
    #expect(scene.link.calls.allSatisfy { $0.hasPrefix("GET ") }, "\(scene.link.calls)")
  }

  @Test func eachReadingMovedOnASiteFindsItsNewTimeFreeInEitherDirection() async throws {
    // There are more readings than one batch moves.
    let scene = try await Self.scene(readings: Self.values.count)
    // Each zone shifts the readings by a multiple of five minutes, the interval of the sensor. So each
    // document moves to a time at which another document was.
    for zone in ["Europe/Madrid", "America/New_York", "UTC"] {
      try scene.setZone("a", zone)
      try await scene.finish("a")
      try scene.expectInPlace("a", "\(zone)")
      let dates = scene.site.documents("entries").compactMap { $0["date"]?.number }
      #expect(dates.allSatisfy { $0.truncatingRemainder(dividingBy: 1000) == 0 }, "\(zone)")
    }
  }

  @Test func aTimeZoneChangedBackBeforeTheUploadMovesNothingOnASite() async throws {
    let scene = try await Self.scene()
    try scene.setZone("a", "Asia/Tokyo")
    #expect(try scene.setZone("a", "UTC", at: 6).toMove.readings == 0)
    scene.link.reset()
    let summary = try await scene.upload("a").summary
    #expect(summary.movedReadings == 0 && summary.movedRecords == 0)
    #expect(!scene.link.calls.contains { $0.hasPrefix("DELETE") })
    try scene.expectInPlace("a")
  }

  @Test func readingsWithStatedOffsetsAndPendingOnesAreNotQueuedForAMove() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.sensor([100, 110]))
    try await scene.finish("a")
    try scene.ingest("a", SiteScene.derived([120, 130], from: SiteScene.start + 5000))
    #expect(try scene.setZone("a", "Asia/Tokyo").toMove.readings == 0)
    try await scene.finish("a")
    try scene.expectInPlace("a")
    // A reading that was uploaded twice would have two entries with different identifiers.
    #expect(scene.ownEntries().count == 4)
  }

  /// A reading of the store is moved to a time at which another program has an entry with the same value.
  /// From then on, this entry represents the reading.
  @Test func aReadingThatAMoveLeavesToAnotherProgramIsNotReportedByVerify() async throws {
    let scene = try SiteScene()
    try scene.ingest("a", SiteScene.derived([100, 110]))
    try await scene.finish("a")
    let moved = SiteScene.start + 18_000
    scene.addEntries([100], from: moved)
    try scene.setZone("b", "America/New_York")
    _ = try await scene.upload("b") {
      ($0.joinsZones, $0.zoneChoice) = (true, .mine)
      // With two changes on each page, the other program's entry is on a later page.
      $0.maxChanges = 2
    }
    #expect(scene.ownEntries().count == 2)
    try await scene.finish("a")
    #expect(scene.ownEntries().values.map(\.self) == [[moved + 300]])
    #expect(scene.entries() == ["\(moved) sgv": 1, "\(moved + 300) sgv": 1])
    for name in ["a", "b"] {
      try await scene.finish(name)
      let session = try #require(VerifySession(scene.store(name), try scene.remote(), named: "site"))
      try await session.compare()
      #expect(session.summary.differences == 0, "\(name): \(session.summary)")
    }
  }

  @Test func aPulledTimeZoneMovesTheSiteDocumentsOfTheOtherStore() async throws {
    let scene = try await Self.scene()
    try await scene.finish("b")
    let device = Device(vendor: "Test", model: "Other", serial: "S2", format: "test")
    try scene.ingest("b", SiteScene.derived([200, 210], from: SiteScene.start + 50_000), device)
    try await scene.finish("b")
    try scene.setZone("a", "Asia/Tokyo")
    try await scene.finish("a")
    // Store a has already moved some documents. Store b looks these documents up and does not change them.
    scene.link.reset()
    let summary = try await scene.upload("b").summary
    #expect(summary.movedReadings == 2)
    #expect(scene.link.calls.filter { $0.hasPrefix("DELETE /api/v3/entries") }.count == 2)
    try await scene.finish("a")
    try scene.expectInPlace("a")
    try scene.expectInPlace("b")
  }

  /// Store a pulls one page with the base zone of store b and an edit of a record's document. Only store a
  /// has this record, so only store a can move the document.
  @Test func aDocumentEditedOnThePageWithAnotherTimeZoneIsMovedAsWell() async throws {
    let scene = try SiteScene()
    try scene.addDose("a", 4)
    _ = try await scene.upload("a") { ($0.joinsZones, $0.pulls) = (true, false) }
    try scene.setZone("b", "Asia/Tokyo")
    _ = try await scene.upload("b") {
      ($0.joinsZones, $0.zoneChoice, $0.pulls) = (true, .mine, false)
    }
    let document = try #require(scene.validTreatments.first { $0["insulin"] != nil })
    #expect(
      scene.site.actAsPhoneApp().editTreatment(document["_id"]?.text ?? "", ["notes": "edited"]))
    try await scene.finish("a")
    #expect(scene.ownTreatments().values.map(\.self) == [[SiteScene.start - 32_400]])
    #expect(scene.validTreatments.compactMap { $0["notes"]?.text } == ["edited"])
    try scene.expectInPlace("a")
  }

  @Test func aDocumentDeletedOnTheSiteStaysDeletedAfterAMove() async throws {
    let scene = try await Self.scene()
    let gone = try #require(scene.site.documents("entries").first)
    #expect(scene.site.actAsPhoneApp().deleteEntry(gone["_id"]?.text ?? ""))
    try scene.setZone("a", "Asia/Tokyo")
    try await scene.finish("a")
    #expect(scene.ownEntries().count == 29 && scene.ownEntries()[gone["identifier"]?.text ?? ""] == nil)
    #expect(try scene.store("a").siteMoves().readings == 0)
  }

  @Test func entriesOfOtherProgramsOnASiteAreNotMoved() async throws {
    let scene = try SiteScene()
    scene.addEntries([100, 110, 120])
    try scene.ingest("a", SiteScene.derived([100, 110, 120, 130]))
    try await scene.finish("a")
    let before = scene.site.documents("entries").filter { $0["glucoport"] == nil }
    #expect(
      try scene.setZone("a", "Asia/Tokyo").toMove.readings == 1, "the others are in their entries alone")
    try await scene.finish("a")
    #expect(scene.site.documents("entries").filter { $0["glucoport"] == nil } == before)
    #expect(scene.ownEntries().values.map(\.self) == [[SiteScene.start + 900 - 32_400]])
  }

  @Test func oneUploadMovesALimitedNumberOfReadingsAndTheNextContinues() async throws {
    let scene = try await Self.scene()
    try scene.setZone("a", "Asia/Tokyo")
    let first = try await scene.upload("a") { $0.maxMoves = 12 }
    #expect(first.summary.movedReadings == 12 && first.summary.readingsToMove == 18)
    guard case .workLeft(let reason) = first.ending else {
      Issue.record("\(first.ending)")
      return
    }
    #expect(reason.contains("the next run continues"))
    try await scene.finish("a")
    try scene.expectInPlace("a")
  }

  @Test func aSiteRoleWithoutPermissionToDeleteDoesNotMoveReadings() async throws {
    let scene = try await Self.scene()
    try scene.setZone("a", "Asia/Tokyo")
    scene.setRights(entries: "create,read,update")
    let before = scene.ownEntries()
    let run = try await scene.upload("a")
    guard case .workLeft(let reason) = run.ending else {
      Issue.record("\(run.ending)")
      return
    }
    #expect(reason.contains("api:entries:delete"))
    #expect(scene.ownEntries() == before && run.summary.readingsToMove == 30)
    scene.setRights()
    try await scene.finish("a")
    try scene.expectInPlace("a")
  }

  @Test func aReadingMovedToATimeThatTheSiteRefusesIsRefused() async throws {
    let scene = try SiteScene()
    // The shown time is 2000-01-01T01:00. In the zone Tokyo, its instant is in 1999, which the site refuses.
    let second: Int64 = 946_684_800 + 3600
    try scene.ingest("a", SiteScene.derived([100], from: second))
    try await scene.finish("a")
    #expect(scene.ownEntries().count == 1)
    try scene.setZone("a", "Asia/Tokyo")
    let summary = try await scene.upload("a").summary
    #expect(summary.refused == 1 && summary.movedReadings == 0)
    #expect(scene.ownEntries().isEmpty)
    #expect(try scene.store("a").overview(ingests: 0).refusedReadings == 1)
  }

  @Test func aHiddenReadingIsRemovedFromTheSiteAndNotMoved() async throws {
    let scene = try await Self.scene()
    try scene.setZone("a", "Asia/Tokyo")
    let reading = try #require(scene.readings("a").first)
    let editor = try WithdrawalEditor(scene.editing("a"), at: 5)
    try editor.set(reading, isHidden: true, reason: "")
    try await scene.finish("a")
    try scene.expectInPlace("a")
    #expect(scene.ownEntries().count == 29)
    let hidden = try #require(scene.readings("a").first { $0.isWithdrawn })
    try editor.set(hidden, isHidden: false, reason: "")
    try await scene.finish("a")
    try scene.expectInPlace("a")
    #expect(scene.ownEntries().count == 30)
  }

  @Test func aRecordEditedBeforeAMoveIsSentAndMoved() async throws {
    let scene = try await Self.scene(readings: 1)
    let guid = try #require(scene.records("a").first?.guid)
    try scene.setZone("a", "Asia/Tokyo")
    _ = try scene.editor("a").edit(guid) { $0.fields["units"] = .number(5) }
    try await scene.finish("a")
    try scene.expectInPlace("a")
    #expect(scene.validTreatments.compactMap { $0["insulin"]?.number } == [5])
    #expect(try scene.store("a").overview(ingests: 0).conflicts == 0)
  }

  // MARK: Killed

  /// The zone is changed before the upload that is killed. In some cases it is changed again before the next
  /// upload.
  @Test(arguments: [nil, "America/New_York", "UTC"])
  func aMoveKilledAtAnyRequestLosesAndDuplicatesNothing(_ next: String?) async throws {
    let prepared = try await Self.scene(readings: 6)
    try prepared.setZone("a", "Asia/Tokyo")
    let whole = try SiteScene(copying: prepared)
    try await whole.finish("a")
    let count = whole.link.count
    try #require(count > 12)
    for place in SiteScene.places(of: count) {
      for isAnswered in [false, true] {
        let scene = try SiteScene(copying: prepared)
        let copy = scene.copying("a", to: "b")
        scene.link.reset { number in
          guard number >= place else { return .carried }
          if number == place { do { try copy() } catch { Issue.record(error) } }
          return number == place && isAnswered ? .answerLost : .lost
        }
        _ = try await scene.upload("a") { $0.joinsZones = true }
        scene.close("a")
        scene.link.reset()
        if let next { try scene.setZone("b", next, at: 6) }
        try await scene.finish("b")
        try scene.expectInPlace("b", "killed at \(place) of \(count), \(isAnswered), \(next ?? "")")
      }
    }
  }

  /// Another process can change the zone while an upload runs, since it does not wait for the upload.
  @Test func aTimeZoneChangedAtAnyRequestOfAMoveIsNotMissed() async throws {
    let prepared = try await Self.scene(readings: 6)
    try prepared.setZone("a", "Asia/Tokyo")
    let whole = try SiteScene(copying: prepared)
    try await whole.finish("a")
    for place in SiteScene.places(of: whole.link.count) {
      for next in ["America/New_York", "UTC"] {
        let scene = try SiteScene(copying: prepared)
        let change = scene.settingZone("a", next, at: 7)
        scene.link.reset { number in
          if number == place { do { try change() } catch { Issue.record(error) } }
          return .carried
        }
        _ = try await scene.upload("a") { $0.joinsZones = true }
        scene.link.reset()
        for _ in 0..<2 { try await scene.finish("a") }
        try scene.expectInPlace("a", "\(next) at \(place)")
      }
    }
  }

  /// The store whose move was killed never uploads again. Another store that has pulled the zone completes
  /// the move.
  @Test func aDoseExistsOnceIfAMoveIsKilledAtAnyRequestAndNeverResumed() async throws {
    let prepared = try await Self.scene(readings: 1)
    try await prepared.finish("b")
    try prepared.setZone("a", "Asia/Tokyo")
    let whole = try SiteScene(copying: prepared)
    try await whole.finish("a")
    // The first request of a move marks the document of the dose.
    let first = try #require(whole.link.calls.firstIndex { $0.hasPrefix("PATCH /api/v3/treatments") })
    for place in Seeds.share(of: first + 1...whole.link.count, every: 6) {
      // After the kill, one of five things happens: nothing, a change of the zone, or the dose is edited,
      // deleted or hidden.
      for next in 0..<5 {
        let scene = try SiteScene(copying: prepared)
        scene.link.reset { $0 < place ? .carried : .lost }
        _ = try await scene.upload("a") { $0.joinsZones = true }
        scene.link.reset()
        try await scene.upload("b") { ($0.joinsZones, $0.maxMoves) = (true, 0) }
        let dose = try #require(scene.records("b").first?.guid)
        switch next {
        case 1: try scene.setZone("b", "America/New_York", at: 6)
        case 2: _ = try scene.editor("b").edit(dose) { $0.fields["units"] = .number(5) }
        case 3: _ = try scene.editor("b").delete(dose)
        case 4: try scene.setHidden("b", dose, true)
        default: break
        }
        for _ in 0..<2 { try await scene.finish("b") }
        let comment: Comment = "killed at \(place), \(next)"
        let units = scene.validTreatments.compactMap { $0["insulin"]?.number }
        #expect(units == [[4], [4], [5], [], []][next], comment)
        let shown = try scene.records("b").filter { !$0.isWithdrawn }
        let instants = shown.map { [$0.deviceTime.seconds - Int64($0.placement.utcOffset)] }
        #expect(Array(scene.ownTreatments().values) == instants, comment)
        #expect(try scene.store("b").siteMoves().records == 0, comment)
      }
    }
  }

  /// The first upload is killed before it knows which readings arrived. Then the zone changes.
  @Test func aTimeZoneChangedAfterAKilledUploadDuplicatesNothing() async throws {
    for readings in [6, 30] {
      func fresh() throws -> SiteScene {
        let scene = try SiteScene()
        try scene.ingest("a", SiteScene.derived(Array(Self.values.prefix(readings))))
        try scene.addDose("a", 4)
        return scene
      }
      let whole = try fresh()
      try await whole.finish("a")
      for place in SiteScene.places(of: whole.link.count) {
        let scene = try fresh()
        let copy = scene.copying("a", to: "b")
        scene.link.reset { number in
          guard number >= place else { return .carried }
          if number == place { do { try copy() } catch { Issue.record(error) } }
          return number == place ? .answerLost : .lost
        }
        _ = try await scene.upload("a") { $0.joinsZones = true }
        scene.close("a")
        scene.link.reset()
        try scene.setZone("b", "Asia/Tokyo", at: 6)
        try await scene.finish("b")
        try scene.expectInPlace("b", "killed at \(place), \(readings) readings")
      }
    }
  }

  @Test(arguments: Seeds.share(of: Seeds.first(12), every: 4))
  func anySequenceOfZonesImportsAndUploadsEndsWithCorrectTimes(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let scene = try SiteScene()
    let zones = ["UTC", "Asia/Tokyo", "America/New_York", "Europe/Madrid", "Australia/Lord_Howe"]
    let other = Device(vendor: "Test", model: "Other", serial: "S2", format: "test")
    try await scene.finish("a")
    try await scene.finish("b")
    for step in 0..<14 {
      let number = Int64(step)
      switch Int.random(in: 0..<7, using: &random) {
      case 0: try scene.setZone("a", zones[Int.random(in: 0..<5, using: &random)], at: 10 + number)
      case 1: try scene.addDose("a", Double(step + 1), at: SiteScene.start + number * 777)
      case 2, 3:
        let first = SiteScene.start + number * 9000
        let values = Self.values.prefix(Int.random(in: 1...30, using: &random)).map { $0 + Double(step) }
        let isMine = Bool.random(using: &random)
        try scene.ingest(
          isMine ? "a" : "b", SiteScene.derived(values, from: first), isMine ? SiteScene.meter : other)
      default:
        let draws = random.next()
        scene.link.reset { number in
          var random = SeededGenerator(seed: draws ^ UInt64(number))
          guard Int.random(in: 0..<100, using: &random) < 6 else { return .carried }
          return Bool.random(using: &random) ? .lost : .answerLost
        }
        try await scene.upload(Bool.random(using: &random) ? "a" : "b") { $0.joinsZones = true }
        scene.link.reset()
      }
      // The clock of the site advances, since writes of two stores within one second may be pulled only hours
      // later.
      scene.site.moveClock(by: 10_000)
    }
    for name in ["a", "b", "a", "b", "a"] {
      try await scene.finish(name)
      scene.site.moveClock(by: 10_000)
    }
    for name in ["a", "b"] { try scene.expectInPlace(name, "seed \(seed), store \(name)") }
  }
}
