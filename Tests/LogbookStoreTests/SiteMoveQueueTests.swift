// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import LogbookStore

/// Tests which readings are queued for a site, such as Nightscout, after a change of the zone: exactly those
/// whose instant changed.
@Suite struct SiteMoveQueueTests {
  /// A store with uploaded sensor readings with counters in seconds. They cover the night in which clocks in
  /// Madrid show an hour twice.
  private func scratch(zone: String, kind: String = "nightscout") throws -> ScratchStore {
    let scratch = try ScratchStore()
    _ = try scratch.open(.importer, zone: zone)
    let start: Int64 = 1_761_436_800  // 2025-10-26T00:00:00Z
    let night = (-24..<48).map { step in
      let utc = start + Int64(step) * 300
      return Make.tick(
        50_000 + Int64(step) * 300, 100, at: utc + (utc < 1_761_440_400 ? 7200 : 3600))
    }
    try scratch.ingest(Make.batch(night))
    let store = try scratch.open(.sync)
    try store.setRemote(
      RemoteAccess(kind: kind, url: "http://localhost", token: .file("/none")),
      logbook: RemoteLogbook(id: "site", name: "site", isWritable: true, maxReadings: 1, maxRecords: 1),
      isNewRemote: false, at: 0)
    try store.sync { store in
      let pending = try store.pendingReadings(after: nil, limit: 1000)
      try store.beginTransfer(of: pending.keys, at: 1)
      try store.markUploaded(pending.keys, except: [], at: 2)
    }
    return scratch
  }

  private func instants(_ scratch: ScratchStore) throws -> [String] {
    try scratch.rows("SELECT device_time - \(StoredOffset.sql()) FROM reading ORDER BY position")
  }

  /// In each zone, the counters decide which of the two passes of the repeated hour a reading belongs to.
  @Test(arguments: [
    ("Europe/Madrid", "Asia/Tokyo"), ("Europe/Madrid", "Africa/Algiers"), ("Africa/Algiers", "Europe/Madrid"),
    ("Etc/UTC", "Europe/London"), ("Europe/Madrid", "Africa/Tripoli"), ("Africa/Tripoli", "Europe/Madrid"),
  ])
  func aTimeZoneChangeQueuesExactlyTheMovedReadingsForTheSite(_ from: String, _ to: String) throws {
    let scratch = try scratch(zone: from)
    let before = try instants(scratch)
    let change = try scratch.open(.editor).setTimezone(LogbookZone(name: to), at: 5)
    let after = try instants(scratch)
    let moved = zip(before, after).count { $0 != $1 }
    #expect(moved > 0 && change.toMove == .init(readings: moved, records: 0))
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 1") == 72)
    let back = try scratch.open(.editor).setTimezone(LogbookZone(name: from), at: 6)
    #expect(try instants(scratch) == before && back.toMove.readings == 0)
  }

  @Test func aTimeZoneChangeThatMovesNothingQueuesNothingForTheSite() throws {
    let scratch = try scratch(zone: "Europe/Madrid")
    let period = ZonePeriod(
      guid: UUID().uuidString.lowercased(), from: DeviceTime(seconds: 1_800_000_000), until: nil,
      zone: try NamedZone("Asia/Tokyo"), madeAt: 1)
    let change = try scratch.open(.editor).add(period, at: 5)
    #expect(change.isChange && change.toMove.readings == 0)
    #expect(try scratch.number("SELECT count(*) FROM resend") == 0)
  }

  @Test func aStartedMoveStaysQueuedWhenTheTimeZoneChangesBack() throws {
    let scratch = try scratch(zone: "Europe/Madrid")
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    try scratch.open(.sync).sync { store in
      let moves = try store.pendingMoves(after: nil, limit: 3, isDescending: true)
      #expect(moves.readings.keys.count == 3 && moves.owed.isEmpty)
      let offsets = moves.readings.batch.readings.map(\.placement.utcOffset)
      // The offsets differ from the stored ones, as if the zone had changed after the readings were read. So
      // no move begins.
      #expect(
        try store.beginMoves(of: moves.readings.keys, placedBy: offsets.map { $0 - 3600 }).isEmpty)
      #expect(try store.pendingMoves(after: nil, limit: 3, isDescending: true).owed.isEmpty)
      #expect(try store.beginMoves(of: moves.readings.keys, placedBy: offsets) == [0, 1, 2])
      #expect(
        try store.pendingMoves(after: nil, limit: 3, isDescending: true).owed == Set(moves.readings.keys))
    }
    let back = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 6)
    #expect(back.toMove.readings == 3)
  }

  @Test func aTimeZoneChangeQueuesNoMovesForAGlucoportServer() throws {
    let scratch = try scratch(zone: "Europe/Madrid", kind: "glucoport")
    let change = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(change.readings == 72 && change.toMove.readings == 0)
    for table in ["resend", "resend_record", "unanswered"] {
      #expect(try scratch.number("SELECT count(*) FROM \(table)") == 0)
    }
  }

  @Test func settingAnotherSiteClearsTheQueuedMoves() throws {
    let scratch = try scratch(zone: "Europe/Madrid")
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    let store = try scratch.open(.sync)
    let access = RemoteAccess(kind: "nightscout", url: "http://other", token: .file("/none"))
    let logbook = RemoteLogbook(id: "other", name: "o", isWritable: true, maxReadings: 1, maxRecords: 1)
    #expect(try store.setRemote(access, logbook: logbook, isNewRemote: true, at: 9) == .requeued)
    #expect(try store.siteMoves().readings == 0 && store.overview(ingests: 0).pendingReadings == 72)
    #expect(try store.sync { try $0.pendingReadings(after: nil, limit: 100).keys.count } == 72)
  }
}
