// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Prevents an import with an inferred kind from storing a measurement again that the store already has as
/// another kind.
///
/// A table may not state the kind of its values. The times of its rows show whether a sensor measured them,
/// but only if there are many rows. So a short export of a sensor may be imported as finger sticks. A later,
/// longer export then contains the same values, and they are recognised as sensor values.
struct KindMismatch {
  private let database: Database
  private let ingest: Int64
  /// The inferred kinds, each with the other kind under which the store may have the same measurements.
  private let others: [(kind: ReadingKind, other: ReadingKind)]
  private let stored: RawStatement

  /// - Returns: nil for an import whose kinds are stated, given, or fixed by the format.
  init?(_ database: Database, ingest: Int64, _ decisions: [Decision]) throws {
    guard let decision = decisions.first(where: { $0.subject == "kind" }), decision.basis == .inferred else {
      return nil
    }
    switch (ReadingKind(name: decision.value), decision.value) {
    case (.smbg?, _): others = [(.smbg, .cbg)]
    case (.cbg?, _): others = [(.cbg, .smbg)]
    case (_, Decision.kindOfEachDevice): others = [(.smbg, .cbg), (.cbg, .smbg)]
    default: return nil
    }
    (self.database, self.ingest) = (database, ingest)
    stored = try RawStatement(
      keptBy: database,
      """
      SELECT r.value, r.unit, r.range_flag FROM reading AS r
      WHERE r.partition = ?1 AND r.position = ?2 AND r.series = ?3 AND r.ingest <> ?4 AND \(Withdrawn.readingIsShown)
      """)
    stored.bind(ingest, at: 4)
  }

  /// Finds readings of a batch that an earlier import stored as finger sticks instead of sensor readings, or
  /// the reverse. Returns their indexes, without readings that the store also has as the kind that the batch
  /// states.
  ///
  /// - Parameter deviceIDs: the ids in the store, by the batch's device indexes.
  func stored(in batch: [Reading], deviceIDs: [Int64]) throws -> Set<Int> {
    try others.reduce(into: []) { found, pair in
      try found.formUnion(stored(in: batch, as: pair.other, not: pair.kind, deviceIDs))
    }
  }

  private func stored(
    in batch: [Reading], as other: ReadingKind, not kind: ReadingKind, _ deviceIDs: [Int64]
  ) throws -> Set<Int> {
    let theirs = try series(of: other, deviceIDs)
    // Most devices have readings of only one of the two kinds, so nothing must be compared.
    guard !theirs.isEmpty else { return [] }
    let own = try series(of: kind, deviceIDs)
    var found: Set<Int> = []
    for (index, reading) in batch.enumerated() where reading.kind == kind {
      let place = DeviceSeries(device: reading.device, positionKind: reading.positionKind)
      guard let series = theirs[place], series.positions.contains(reading.position),
        try holds(reading, in: series)
      else { continue }
      // A value that the store has as both kinds, from another source or an earlier import, counts as known.
      if let series = own[place], try holds(reading, in: series) { continue }
      found.insert(index)
    }
    return found
  }

  /// The rejection of a reading whose measurement the store already has as another kind.
  func rejection(of reading: Reading) -> Rejection {
    let kind = reading.kind
    let other = others.first { $0.kind == kind }?.other ?? kind
    // With several devices, a person cannot give one kind for all of them, since it would be wrong for some.
    let advice =
      switch (others.count > 1, kind) {
      case (true, .cbg): "undo that import, and import this input again"
      case (true, _): "it stays as it is"
      default: "use --kind \(other.name), or undo that import and use --kind \(kind.name)"
      }
    return Rejection(
      line: reading.line,
      reason:
        "an earlier import stored this value as \(other.name), and nothing in this input says that it is \(kind.name); "
        + advice)
  }
}

extension KindMismatch {
  /// A device of a batch, and whether its shown time or its tick determines the positions of readings.
  private struct DeviceSeries: Hashable {
    let device: DeviceIndex
    let positionKind: PositionKind
  }

  private struct KnownSeries {
    let id: Int64
    let partition: Int64
    let positions: ClosedRange<Int64>
  }

  /// The stored series of a kind that have readings, by device.
  private func series(of kind: ReadingKind, _ deviceIDs: [Int64]) throws -> [DeviceSeries: KnownSeries] {
    var found: [DeviceSeries: KnownSeries] = [:]
    let statement = try database.cachedStatement(
      sql: """
        SELECT position_kind, id, partition, first_position, last_position FROM series
        WHERE device = ? AND kind = ? AND first_position <= last_position
        """)
    for (number, id) in deviceIDs.enumerated() {
      let rows = try Row.fetchAll(statement, arguments: [id, Int(kind.rawValue)])
      for row in rows {
        let row = StoredRow(row, of: "series")
        let place = DeviceSeries(device: DeviceIndex(Int32(clamping: number)), positionKind: try row.code(0))
        found[place] = KnownSeries(id: try row[1], partition: try row[2], positions: try row.range(3))
      }
    }
    return found
  }

  /// Whether the series in the store contains the value of the reading.
  private func holds(_ reading: Reading, in series: KnownSeries) throws -> Bool {
    stored.bind(series.partition, at: 1)
    stored.bind(reading.position, at: 2)
    stored.bind(series.id, at: 3)
    defer { stored.reset() }
    while try stored.step() {
      if StoredMeasurement.agrees(stored, from: 0, with: reading.measurement) { return true }
    }
    return false
  }
}
