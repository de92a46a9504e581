// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SQLiteRows

extension SyncTransaction {
  /// States this store's base zone for all items whose offsets are derived from it. This keeps their instants
  /// when the base zone of another logbook replaces it. An item whose source states the instant keeps it in
  /// any zone, so it is not listed.
  ///
  /// - Parameters:
  ///   - name: the base zone of this store, which the system may not know.
  ///   - now: the host's clock in UTC seconds.
  package func stateOwnBase(_ name: String, at now: Int64) throws {
    let zones = try LogbookZones(database)
    var whole = WithdrawnInput(group: UUID().uuidString.lowercased())
    whole.points = try readingsOfBase(zones)
    for guid in try recordsOfBase(zones) { whole.records[guid] = "" }
    guard !whole.points.isEmpty || !whole.records.isEmpty else { return }
    let madeAt = max(now, try ZoneRecords.nextMoment(zones, database))
    for statement in ItemZone.parts(of: whole, in: name, madeAt: madeAt) {
      let state = RecordState(
        kind: .zone, entryGuid: nil, deviceTime: DeviceTime(seconds: madeAt),
        placement: Placement(utcOffset: 0, source: .stated), fields: statement.fields, isDeleted: false,
        editedAt: now)
      try RecordEditor.insert(state, statement.guid, database)
    }
  }

  private func readingsOfBase(_ zones: LogbookZones) throws -> [SeriesName: PointRuns] {
    var points: [SeriesName: PointRuns] = [:]
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.device_time
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.offset_source BETWEEN 1 AND 4 AND r.zone IS NULL
      """)
    for series in try Int64.fetchAll(database, sql: "SELECT id FROM series ORDER BY id") {
      let name = try SeriesName.stored(series, database)
      let zone = zones.zone(of: name.device)
      var builder = PointRuns.Builder()
      rows.bind(series, at: 1)
      while try rows.step() {
        let time = try rows.seconds(3, in: "reading (series \(series), position \(rows.integer(0)))")
        if zone.isBase(at: time) { builder.append(rows.point(from: 0)) }
      }
      let found = builder.finish()
      if !found.isEmpty { points[name] = found }
    }
    return points
  }

  private func recordsOfBase(_ zones: LogbookZones) throws -> [String] {
    let zone = zones.zone()
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT guid, device_time FROM record
        WHERE offset_source BETWEEN 1 AND 4 AND deleted = 0 AND NOT \(Withdrawn.isStatement)
          AND \(ItemZoneTables.zoneOfRecord) IS NULL
        """)
    return try rows.compactMap { row in
      let row = StoredRow(row, of: "record")
      let guid: String = try row[0]
      return zone.isBase(at: try row.seconds(1)) ? guid : nil
    }
  }
}
