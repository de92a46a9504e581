// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import TestServers
import Testing

@testable import Sync

/// Tests items that other programs wrote to a site. A pull stores these items like an import, so they stay
/// visible when another import of the same items is undone.
@Suite(.timeLimit(.minutes(10))) struct SiteStatementTests {
  private static let values = (0..<40).map { 70 + Int64($0 * 7 % 200) }
  private let scene: SiteScene

  init() throws {
    scene = try SiteScene()
    scene.addEntries(Self.values)
  }

  private func undo(_ name: String, _ number: Int64 = 1) throws {
    let (group, now) = (UUID().uuidString.lowercased(), SiteScene.clock / 1000)
    _ = try scene.editing(name).undo(number, group: group, at: now)
  }

  /// The values of the visible readings of a store, sorted.
  private func shown(_ name: String) throws -> [Double] {
    try scene.readings(name).filter { !$0.isWithdrawn }.compactMap { $0.measurement.quantity?.number }
      .sorted()
  }

  private var theirs: [Double] { Self.values.map(Double.init).sorted() }

  /// Imports readings equal to the forty entries of the site, and five more readings.
  private func importOwn(_ name: String, from second: Int64 = SiteScene.start) throws {
    let values = (Self.values + [201, 202, 203, 204, 205]).map(Double.init)
    try scene.ingest(name, SiteScene.sensor(values, from: second))
  }

  @Test func anUndoBeforeTheFirstDownloadKeepsTheReadingsOfTheSite() async throws {
    try importOwn("a")
    try undo("a")
    #expect(try shown("a").isEmpty)
    let summary = try await scene.upload("a").summary
    #expect(summary.pulledReadings == Self.values.count)
    #expect(try shown("a") == theirs)
    // The readings stay visible, and the next uploads send and pull no readings.
    for _ in 0..<2 { #expect(try await scene.upload("a").summary.pulledReadings == 0) }
    #expect(try shown("a") == theirs && scene.site.documents("entries").count == Self.values.count)
    let session = try #require(VerifySession(scene.store("a"), try scene.remote(), named: "site"))
    try await session.compare()
    #expect(session.summary.differences == 0)
  }

  @Test func anUndoAfterTheDownloadKeepsTheReadingsOfTheSite() async throws {
    try importOwn("a")
    _ = try await scene.upload("a")
    try undo("a")
    #expect(try shown("a") == theirs)
    _ = try await scene.upload("a")
    #expect(try shown("a") == theirs && scene.site.documents("entries").count == Self.values.count)
  }

  /// The imported data are an export of the site, so the imported readings have the same identities as the
  /// documents of the site.
  @Test(arguments: [false, true])
  func anUndoOfAnExportOfTheSiteKeepsTheReadingsOfTheSite(_ isUndoneFirst: Bool) async throws {
    let run = RunStamp(node: "n", number: 1, id: "r")
    let snapshots = try #require(try scene.remote().snapshots)
    let readings = try await snapshots.snapshot(after: nil, limit: 1000, run).readings
    try scene.ingest("a", readings.readings, try #require(readings.devices.first))
    if isUndoneFirst { try undo("a") }
    _ = try await scene.upload("a")
    if !isUndoneFirst { try undo("a") }
    #expect(try shown("a") == theirs)
    _ = try await scene.upload("a")
    #expect(try shown("a") == theirs && scene.site.documents("entries").count == Self.values.count)
  }

  /// Store b is a copy of store a. Only b undoes the import, and the uploads of both stores keep the site's
  /// readings visible.
  @Test func anUndoInAnotherStoreKeepsTheReadingsOfTheSite() async throws {
    try importOwn("a")
    _ = try await scene.upload("a")
    let copied = scene.copying("a", to: "b")
    scene.close("a")
    try copied()
    try undo("b")
    for name in ["b", "a", "b"] { _ = try await scene.upload(name) }
    for name in ["a", "b"] { #expect(try shown(name) == theirs, "\(name)") }
  }

  /// Other programs add entries with old times. An upload does not find them, since it reads only the last
  /// two days again.
  @Test func verifyShowsReadingsOfAnUndoneImportThatTheSiteHas() async throws {
    _ = try await scene.upload("a")
    let early = SiteScene.start - 90_000
    try importOwn("a", from: early)
    try undo("a", 2)
    scene.addEntries(Self.values, from: early, device: "late")
    #expect(try await scene.upload("a").summary.pulledReadings == 0)
    let session = try #require(VerifySession(scene.store("a"), try scene.remote(), named: "site"))
    try await session.compare()
    #expect(session.summary.readings == [.missingLocally: Self.values.count])
    try session.fix(at: 6000)
    #expect(session.summary.fetchedReadings == Self.values.count && session.summary.unfixed == 0)
    #expect(try shown("a") == (theirs + theirs).sorted())
    let again = try #require(VerifySession(scene.store("a"), try scene.remote(), named: "site"))
    try await again.compare()
    #expect(again.summary.differences == 0)
  }

  @Test func readingsOfTheSiteThatAPersonHidStayHidden() async throws {
    try importOwn("a")
    let reading = try #require(scene.readings("a").first)
    try WithdrawalEditor(scene.editing("a"), at: 5000).set(reading, isHidden: true, reason: "")
    _ = try await scene.upload("a")
    #expect(try scene.readings("a").first { $0.identity == reading.identity }?.isWithdrawn == true)
  }
}
