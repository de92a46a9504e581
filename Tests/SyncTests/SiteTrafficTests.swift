// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import SeededRandom
import TestServers
import Testing

@testable import Sync

/// Tests how many requests an upload to a site takes, with and without faults.
@Suite(.timeLimit(.minutes(20))) struct SiteTrafficTests {
  /// Fills a store with sensor readings and records, and the site with entries and treatments. Half of the
  /// entries equal readings of the store.
  private static func fill(_ scene: SiteScene, readings: Int, theirs: Int, records: Int, treatments: Int)
    throws
  {
    let values = (0..<readings).map { 70 + $0 * 7 % 200 }
    // The other program's entries begin before the readings of the store. The second half of them overlaps
    // with the readings.
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

  /// The number of readings in the first upload. By default, it is 1/50 of the documented measurement;
  /// `GLUCOPORT_SITE_READINGS=100000` repeats the measurement.
  private static let readings =
    ProcessInfo.processInfo.environment["GLUCOPORT_SITE_READINGS"].flatMap(Int.init) ?? 2000

  @Test func aFirstUploadToASiteTakesOneRequestForEach200NewReadings() async throws {
    let scene = try SiteScene()
    let (readings, theirs) = (Self.readings, Self.readings / 2)
    let (records, treatments) = (readings / 100, readings / 50)
    try Self.fill(scene, readings: readings, theirs: theirs, records: records, treatments: treatments)
    scene.link.reset()
    let first = try await scene.upload("a")
    #expect(first.ending == .complete)
    #expect(first.summary.pushedReadings == readings - theirs / 2)
    #expect(first.summary.pulledReadings == theirs / 2)
    // A record takes three requests: a search by its identifier, a search by its time, and the creation.
    let forReadings = scene.link.count - records * 3
    let budget = (readings - theirs / 2) / 200 + (theirs + treatments) / 1000 + 4
    #expect(forReadings <= budget, "\(forReadings) of \(budget)")
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

  @Test func aFewNewReadingsAmongManyAreSentTogether() async throws {
    let scene = try SiteScene()
    let values = (0..<900).map { Int64(70 + $0 % 200) }
    scene.addEntries(values.enumerated().map { $0 % 100 == 0 ? $1 + 20 : $1 })
    try scene.ingest("a", SiteScene.sensor(values.map(Double.init)))
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedReadings == 9 && summary.disputedReadings == 9)
    let writes = scene.link.calls.filter { !$0.hasPrefix("GET ") }
    #expect(writes.count == 1, "\(writes)")
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

  /// Returns the number of requests that an upload without faults takes.
  private static func undisturbed() async throws -> Int {
    let scene = try scene()
    #expect(try await scene.upload("a").ending == .complete)
    expectNothingTwice(scene)
    return scene.link.count
  }

  /// Uploads until an upload has completed all work.
  private static func finish(_ scene: SiteScene, _ store: String) async throws {
    for _ in 0..<100 {
      if try await scene.upload(store).ending == .complete { return }
    }
    Issue.record("it does not end")
  }

  /// The store is copied when the request is sent. The copy is in the state in which another process finds
  /// the store after a kill.
  @Test(arguments: [SiteLink.Outcome.lost, .answerLost])
  func uploadsToASiteAfterAKillAtAnyRequestDuplicateNothing(_ outcome: SiteLink.Outcome) async throws {
    let count = try await Self.undisturbed()
    for place in Seeds.share(of: 1...count, every: 5) {
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

  /// Answers are truncated after multiples of this number of bytes. With `GLUCOPORT_SITE_CUTS=1`, they are
  /// truncated after every byte.
  private static let cutStep =
    ProcessInfo.processInfo.environment["GLUCOPORT_SITE_CUTS"].flatMap(Int.init) ?? 211

  /// A few items of each kind, so that all answers are small.
  private static let few = (readings: 3, theirs: 2, records: 1, treatments: 1)

  @Test func aTruncatedAnswerOfASiteIsNotAccepted() async throws {
    func fewItems() throws -> SiteScene {
      let scene = try SiteScene()
      try Self.fill(
        scene, readings: Self.few.readings, theirs: Self.few.theirs, records: Self.few.records,
        treatments: Self.few.treatments)
      return scene
    }
    let whole = try fewItems()
    #expect(try await whole.upload("a").ending == .complete)
    let sizes = whole.link.sizes
    try #require(sizes.count > 8 && sizes.allSatisfy { $0 > 0 })
    for (place, size) in sizes.enumerated() {
      // The first and the last bytes are always included. An answer that lacks only its last byte is also
      // incomplete.
      let places = Set(stride(from: place % Self.cutStep, to: size, by: Self.cutStep)).union([0, 1, size - 1])
      for bytes in places {
        let scene = try fewItems()
        scene.link.reset { $0 == place + 1 ? .cut(bytes) : .carried }
        try await Self.finish(scene, "a")
        #expect(scene.link.count <= 3 * sizes.count, "answer \(place + 1) cut behind byte \(bytes)")
        Self.expectNothingTwice(
          scene, readings: Self.few.readings, theirs: Self.few.theirs, records: Self.few.records,
          treatments: Self.few.treatments)
      }
    }
  }

  @Test(arguments: Seeds.share(of: Seeds.first(12), every: 3))
  func anUploadToASiteSucceedsIfSixOfAHundredRequestsAreLost(_ seed: UInt64) async throws {
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
