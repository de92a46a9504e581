// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests what a pull transfers and stores.
@Suite struct PullTests {
  @Test func onlyTheChangedRecordOfAThousandIsTransferred() async throws {
    let scene = try await Scene()
    let guids = try (0..<1000).map { try scene.a.add(["a": "\($0)"]) }
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.records().count == 1000)
    try scene.a.edit(guids[417], "a", "changed")
    for node in [scene.a, scene.b] { await node.remote.forgetRequests() }
    let sent = try await scene.a.upload()
    #expect(sent.ending == .complete && sent.summary.pushedRecords == 1)
    #expect(await scene.a.remote.requests == ["records 1", "changes 1000"])
    // Requests the page of changes that the next upload of store b will request.
    let (cursor, run) = try scene.b.sync().sync { (try $0.cursor(), try $0.currentRun()) }
    let page = try #require(
      try await scene.server.connection()().changes(after: cursor, limit: 1000, run))
    #expect(page.records.map(\.guid) == [guids[417]] && page.readings.readings.isEmpty && !page.hasMore)
    let fetched = try await scene.b.upload()
    #expect(fetched.ending == .complete && fetched.summary.pulledRecords == 1)
    #expect(await scene.b.remote.requests == ["changes 1000"])
    #expect(try scene.b.text(guids[417], "a") == "changed")
  }

  // MARK: - Imports

  private func imports(_ node: SimulatedNode) throws -> [String] {
    try node.sync().overview(ingests: 9).ingests.map { "\($0.format) \($0.new)" }
  }

  @Test func aPullOfOnlyRecordsIsNotListedAsAnImport() async throws {
    let scene = try await Scene()
    for round in 0..<4 {
      _ = try scene.a.add(["a": "\(round)"])
      try await scene.upload(scene.a, scene.b)
    }
    #expect(try scene.b.records().count == 4 && imports(scene.b) == [])
  }

  @Test func aPullOfKnownReadingsIsNotListedAsAnImport() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<3)
    try await scene.upload(scene.a, scene.b)
    #expect(try imports(scene.b) == ["glucoport 3"])
    for _ in 0..<3 {
      try scene.b.sync().sync { try $0.setCursor(nil) }
      #expect(try await scene.b.upload().summary.pulledReadings == 0)
    }
    #expect(try imports(scene.b) == ["glucoport 3"])
    // The first reading that the store lacks begins an import. Further pages of the same upload continue
    // this import.
    try scene.a.importReadings(0..<8)
    try await scene.upload(scene.a)
    try scene.b.sync().sync { try $0.setCursor(nil) }
    await scene.b.remote.setPage(2)
    #expect(try await scene.b.upload().summary.pulledReadings == 5)
    #expect(try imports(scene.b) == ["glucoport 5", "glucoport 3"])
  }

  @Test func anotherValueOfAKnownReadingIsListedWithItsPull() async throws {
    let scene = try await Scene()
    try scene.a.importReadings(0..<3, value: 120)
    try scene.b.importReadings(0..<3)
    try await scene.upload(scene.a, scene.b)
    #expect(try imports(scene.b) == ["glucoport 0", "test 3"])
  }
}
