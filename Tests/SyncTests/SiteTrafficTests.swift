// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import TestServers
import Testing

@testable import Sync

/// How many requests a site costs, undisturbed and where they go wrong.
@Suite(.timeLimit(.minutes(20))) struct SiteTrafficTests {
  /// A sensor's readings, of which every other one is on the site already, and records.
  private static func fill(_ scene: SiteScene, readings: Int, theirs: Int, records: Int, treatments: Int)
    throws
  {
    let values = (0..<readings).map { 70 + $0 * 7 % 200 }
    // Theirs begin before ours, and end in the middle of them.
    scene.addEntries(
      (0..<theirs).map { Int64(70 + ($0 + theirs / 2 * 199) * 7 % 200) },
      from: SiteScene.start - Int64(theirs / 2) * 300)
    scene.addTreatments(treatments)
    try scene.ingest("a", SiteScene.sensor(values.map(Double.init)))
    let editor = try scene.editor("a")
    for place in 0..<records {
      _ = try editor.add(
        RecordDraft(
          kind: .insulin, at: DeviceTime(seconds: SiteScene.start + Int64(place) * 600),
          placement: Placement(utcOffset: 0, source: .stated),
          fields: RecordFields(["subtype": .text("rapid"), "units": .number(2)])),
        guid: Digest.uuid(of: ["traffic", String(place)]))
    }
  }

  private static func expectNothingTwice(
    _ scene: SiteScene, readings: Int, theirs: Int, records: Int, treatments: Int
  ) {
    #expect(scene.entries().values.allSatisfy { $0 == 1 })
    #expect(scene.entries().count == readings + theirs / 2)
    #expect(scene.treatments == records + treatments)
  }

  /// The sizes of a first upload, a fiftieth of those that are promised: `GLUCOPORT_SITE_READINGS=100000` has them whole.
  private static let readings =
    ProcessInfo.processInfo.environment["GLUCOPORT_SITE_READINGS"].flatMap(Int.init) ?? 2000

  @Test func aFirstUploadTakesARequestForEach200NewReadingsAndEach1000ThatAreThere() async throws {
    let scene = try SiteScene()
    let (readings, theirs) = (Self.readings, Self.readings / 2)
    let (records, treatments) = (readings / 100, readings / 50)
    try Self.fill(scene, readings: readings, theirs: theirs, records: records, treatments: treatments)
    scene.link.reset()
    let first = try await scene.upload("a")
    #expect(first.ending == .complete)
    #expect(first.summary.pushedReadings == readings - theirs / 2)
    #expect(first.summary.pulledReadings == theirs / 2)
    // A record is looked for by its key and by its time, and made.
    let forReadings = scene.link.count - records * 3
    #expect(forReadings <= readings / 200 + (theirs + treatments) / 1000 + 4, "\(forReadings)")
    Self.expectNothingTwice(
      scene, readings: readings, theirs: theirs, records: records, treatments: treatments)
    scene.link.reset()
    #expect(try await scene.upload("a").ending == .complete)
    #expect(scene.link.count <= 4, "\(scene.link.calls)")
    try scene.ingest("a", SiteScene.sensor([123], from: SiteScene.start + 77))
    scene.link.reset()
    let third = try await scene.upload("a") { $0.pulls = false }
    #expect(third.summary.pushedReadings == 1 && scene.link.count <= 3, "\(scene.link.calls)")
  }

  private static let small = (readings: 60, theirs: 40, records: 5, treatments: 3)

  private static func scene() throws -> SiteScene {
    let scene = try SiteScene()
    try fill(
      scene, readings: small.readings, theirs: small.theirs, records: small.records,
      treatments: small.treatments)
    return scene
  }

  private static func expectNothingTwice(_ scene: SiteScene) {
    expectNothingTwice(
      scene, readings: small.readings, theirs: small.theirs, records: small.records,
      treatments: small.treatments)
  }

  /// The requests of an upload that nothing disturbs.
  private static func undisturbed() async throws -> Int {
    let scene = try scene()
    #expect(try await scene.upload("a").ending == .complete)
    expectNothingTwice(scene)
    return scene.link.count
  }

  /// Uploads until everything is done.
  private static func finish(_ scene: SiteScene, _ store: String) async throws {
    for _ in 0..<100 {
      if try await scene.upload(store).ending == .complete { return }
    }
    Issue.record("it does not end")
  }

  /// What another process finds is what was committed when the request was on its way.
  @Test(arguments: [SiteLink.Outcome.lost, .answerLost])
  func killedAtAnyRequestTheNextRunsEndWithNothingTwice(_ outcome: SiteLink.Outcome) async throws {
    let count = try await Self.undisturbed()
    for place in 1...count {
      let scene = try Self.scene()
      _ = try scene.store("a")
      let copy = scene.copying("a", to: "b")
      scene.link.reset { number in
        guard number == place else { return .carried }
        do { try copy() } catch { Issue.record(error) }
        return outcome
      }
      _ = try await scene.upload("a")
      scene.close("a")
      let before = min(scene.link.count, place)
      scene.link.reset()
      try await Self.finish(scene, "b")
      #expect(before + scene.link.count <= 3 * count, "killed at \(place)")
      Self.expectNothingTwice(scene)
    }
  }

  @Test(arguments: [0, 1, 50, 99])
  func anAnswerThatIsCutIsNoAnswer(_ hundredths: Int) async throws {
    let count = try await Self.undisturbed()
    for place in 1...count {
      let scene = try Self.scene()
      scene.link.reset { $0 == place ? .cut(hundredths) : .carried }
      try await Self.finish(scene, "a")
      #expect(scene.link.count <= 3 * count, "cut at \(place)")
      Self.expectNothingTwice(scene)
    }
  }

  @Test(arguments: UInt64(1)...12)
  func aSiteThatLosesSixRequestsOfAHundredIsReached(_ seed: UInt64) async throws {
    let count = try await Self.undisturbed()
    let scene = try Self.scene()
    scene.link.reset { number in
      var random = SeededGenerator(seed: seed << 20 + UInt64(number))
      guard Int.random(in: 0..<100, using: &random) < 6 else { return .carried }
      return Bool.random(using: &random) ? .lost : .answerLost
    }
    try await Self.finish(scene, "a")
    #expect(scene.link.count <= 3 * count, "seed \(seed): \(scene.link.count) for \(count)")
    Self.expectNothingTwice(scene)
  }
}
