// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import TestServers
import Testing

@testable import Sync

/// Tests readings that both glucoport and other programs upload to the same site.
@Suite(.timeLimit(.minutes(10))) struct SameReadingTests {
  private let scene: SiteScene

  init() throws { scene = try SiteScene() }

  private static func values(_ count: Int) -> [Int64] { (0..<count).map { 70 + Int64($0 * 7 % 200) } }

  private func readings(_ store: String) throws -> (all: Int, pending: Int) {
    let store = try scene.store(store)
    let held = try store.compare { try $0.heldReadings(in: Set(0..<IdentityDigests.bucketCount)) }
    let keys = Set(held.values.map(\.key))
    return (keys.count, Set(held.values.filter { !$0.isUploaded }.map(\.key)).count)
  }

  /// Whether the digests of the uploaded readings in a store equal the digests of the site.
  private func agrees(_ store: String) async throws -> Bool {
    let theirs = try await scene.remote().readingDigests(
      try scene.store(store).compare { try $0.currentRun() })
    return try scene.store(store).compare { try $0.uploadedDigests() } == theirs
  }

  @Test(arguments: [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre])
  func readingsUploadedByAnotherProgramAreNotDuplicated(_ unit: GlucoseUnit) async throws {
    let values = Self.values(800)
    scene.addEntries(values)
    // A device shows mmol/L with one decimal, so the value is rounded.
    let own = values.map { value in
      unit == .milligramsPerDecilitre
        ? Double(value) : Double(Quantity(Double(value), .milligramsPerDecilitre).tenthsOfMillimole) / 10
    }
    try scene.ingest("a", SiteScene.sensor(own, unit: unit))
    let first = try await scene.upload("a")
    #expect(first.ending == .complete)
    #expect(first.summary.knownReadings == 800 && first.summary.pushedReadings == 0)
    #expect(first.summary.pulledReadings == 0 && first.summary.disputedReadings == 0)
    #expect(scene.site.documents("entries").count == 800)
    #expect(try readings("a") == (800, 0))
    #expect(try await agrees("a"))
    let second = try await scene.upload("a")
    #expect(second.summary.pulledReadings == 0 && second.summary.knownReadings == 0)
  }

  @Test func aReadingWithAnotherValueThanThatOfAnotherUploaderIsAlsoKept() async throws {
    scene.addEntries(Self.values(60))
    var own = Self.values(60).map(Double.init)
    for place in stride(from: 0, to: 60, by: 6) { own[place] += 3 }
    try scene.ingest("a", SiteScene.sensor(own))
    let summary = try await scene.upload("a").summary
    #expect(summary.knownReadings == 50 && summary.pushedReadings == 10 && summary.disputedReadings == 10)
    #expect(summary.pulledReadings == 10, "both are here, too")
    #expect(
      scene.entries().values.sorted() == Array(repeating: 1, count: 50) + Array(repeating: 2, count: 10))
    #expect(try await agrees("a"))
  }

  @Test func aReadingUploadedLaterByAnotherProgramIsNotPulledAgain() async throws {
    let values = Self.values(100)
    try scene.ingest("a", SiteScene.sensor(values.map(Double.init)))
    #expect(try await scene.upload("a").summary.pushedReadings == 100)
    // These readings are from the last two days. The next upload checks this period for entries that other
    // programs wrote through API v1.
    let recent = SiteScene.clock / 1000 - 86_400
    try scene.ingest("a", SiteScene.sensor(values.map(Double.init), from: recent))
    #expect(try await scene.upload("a").summary.pushedReadings == 100)
    let phone = scene.site.actAsPhoneApp()
    for (place, value) in values.enumerated() {
      // This entry is half a second later than glucoport's entry. With equal times, API v1 would merge the
      // two entries.
      let milliseconds = (recent + Int64(place) * 300) * 1000 + 500
      phone.addEntry([
        "type": "sgv", "sgv": DocumentValue(place < 90 ? value : value + 9), "device": "xDrip",
        "date": DocumentValue(milliseconds), "dateString": .string(SiteScene.text(milliseconds)),
      ])
    }
    let summary = try await scene.upload("a").summary
    #expect(summary.pulledReadings == 10 && summary.disputedReadings == 10)
    #expect(try readings("a") == (210, 0))
    #expect(try await agrees("a"))
    #expect(try await scene.upload("a").summary.pulledReadings == 0)
  }

  /// A pending reading that the site has from another program is marked as uploaded and not sent.
  @Test func aPullMatchesPendingReadingsWithThoseOfAnotherUploader() async throws {
    scene.addEntries(Self.values(30))
    try scene.ingest("a", SiteScene.sensor(Self.values(30).map(Double.init)))
    let summary = try await scene.upload("a") { $0.pushes = false }.summary
    #expect(summary.pulledReadings == 0)
    #expect(try readings("a") == (30, 0))
    #expect(try await agrees("a"))
  }

  @Test func readingsOfDifferentKindsAreNotMatched() async throws {
    scene.addEntries([100, 101])
    let fingers = SiteScene.sensor([100, 101]).map { reading in
      Reading(
        device: reading.device, kind: .smbg, at: reading.deviceTime, placement: reading.placement,
        reading.measurement, line: 1)
    }
    try scene.ingest("a", fingers)
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedReadings == 2 && summary.pulledReadings == 2 && summary.disputedReadings == 0)
  }

  /// The positions of the store's readings are counters, and the site's entries have no counters. So
  /// readings and entries can be matched only by their times.
  @Test func readingsWithCountersAreMatchedByTheirTimes() async throws {
    scene.addEntries(Self.values(50))
    let own = SiteScene.sensor(Self.values(50).map(Double.init)).enumerated().map { place, reading in
      Reading(
        device: reading.device, kind: .scan, tick: 9000 - Int64(place), at: reading.deviceTime,
        placement: reading.placement, reading.measurement, line: 1)
    }
    try scene.ingest("a", own)
    _ = try await scene.upload("a") { $0.pushes = false }
    #expect(try readings("a") == (50, 0))
  }

  @Test func readingsQueuedAgainAreMatchedAgainWithThoseOfAnotherUploader() async throws {
    scene.addEntries(Self.values(20))
    try scene.ingest("a", SiteScene.sensor(Self.values(20).map(Double.init)))
    _ = try await scene.upload("a")
    for entry in scene.site.documents("entries").prefix(5) {
      #expect(scene.site.actAsPhoneApp().deleteEntry(entry["_id"]?.text ?? ""))
    }
    #expect(try await !agrees("a"))
    let store = try scene.store("a")
    let theirs = try await scene.remote().readingDigests(try store.compare { try $0.currentRun() })
    let count = try store.sync { store in
      try store.requeue(store.uploadedDigests().differing(from: theirs), reason: "test", at: 1)
    }
    #expect(count == 5)
    let summary = try await scene.upload("a").summary
    #expect(summary.pushedReadings == 5 && scene.site.documents("entries").count == 20)
    #expect(try await agrees("a"))
  }

  @Test func readingsMatchedOnAnOldRemoteAreSentToANewOne() async throws {
    scene.addEntries(Self.values(20))
    try scene.ingest("a", SiteScene.sensor(Self.values(20).map(Double.init)))
    _ = try await scene.upload("a")
    let store = try scene.store("a")
    try store.setRemote(
      RemoteAccess(kind: "nightscout", url: "http://other", token: .file("/none")),
      logbook: RemoteLogbook(id: "other", name: "other", isWritable: true, maxReadings: 1, maxRecords: 1),
      isNewRemote: true, at: 5)
    #expect(try store.compare { try $0.uploadedDigests() } == IdentityDigests())
    #expect(try readings("a") == (20, 20))
  }

  @Test(arguments: [
    (100.0, 100.4, true), (100, 101, false), (40, 39, false), (39, 39, true),
  ])
  func readingsInMilligramsMatchUpToRounding(_ own: Double, _ theirs: Double, _ isSame: Bool) {
    let quantities = [own, theirs].map { Measurement.value(Quantity($0, .milligramsPerDecilitre)) }
    #expect(quantities[0].isSame(as: quantities[1]) == isSame)
    #expect(quantities[1].isSame(as: quantities[0]) == isSame)
  }

  @Test(arguments: [
    (5.6, 101.0, true), (5.6, 100, true), (5.6, 102, false), (5.5, 99, true), (2.2, 39, true),
    (2.2, 41, false),
  ])
  func readingsInMillimolesMatchInTenths(_ own: Double, _ theirs: Double, _ isSame: Bool) {
    let own = Measurement.value(Quantity(own, .millimolesPerLitre))
    #expect(own.isSame(as: .value(Quantity(theirs, .milligramsPerDecilitre))) == isSame)
  }

  @Test func readingsLOAndHIMatchTheValuesThatNightscoutUploadersWrite() {
    let low = Measurement.low(below: 40, .milligramsPerDecilitre)
    let high = Measurement.high(above: nil, .millimolesPerLitre)
    func shown(_ number: Double) -> Measurement { .value(Quantity(number, .milligramsPerDecilitre)) }
    #expect(low.isSame(as: shown(39)) && !low.isSame(as: shown(40)) && shown(39).isSame(as: low))
    #expect(high.isSame(as: shown(401)) && !high.isSame(as: shown(400)) && !low.isSame(as: high))
  }
}
