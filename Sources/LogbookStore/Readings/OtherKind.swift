// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Keeps an import whose kind was inferred from storing a measurement a second time under another kind.
///
/// A table that names no kind shows by its many times whether a sensor took them; one of two rows shows nothing. So a short
/// export of a sensor may be stored as finger sticks before a long one brings the same values as the sensor's.
struct OtherKind {
  private let database: Database
  private let ingest: Int64
  /// The inferred kind, and the one that another part of the same export may have been taken for.
  private let kind: ReadingKind
  private let other: ReadingKind
  private let stored: RawStatement

  /// - Returns: nil for an import whose kinds are stated, given, or fixed by the format.
  init?(_ database: Database, ingest: Int64, _ decisions: [Decision]) throws {
    guard let decision = decisions.first(where: { $0.subject == "kind" }), decision.basis == .inferred else {
      return nil
    }
    switch ReadingKind(name: decision.value) {
    case .smbg?: (kind, other) = (.smbg, .cbg)
    case .cbg?: (kind, other) = (.cbg, .smbg)
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

  /// The places in a batch of readings that other imports stored under the other kind, and none under this one.
  ///
  /// - Parameter deviceIDs: the stored ids of the batch's device indexes.
  func stored(in batch: [Reading], deviceIDs: [Int64]) throws -> Set<Int> {
    var found: Set<Int> = []
    // Most readings are of the device of the one before.
    var last: (device: DeviceIndex, positionKind: PositionKind, series: Known?)?
    for (index, reading) in batch.enumerated() where reading.kind == kind {
      if last?.device != reading.device || last?.positionKind != reading.positionKind {
        last = (reading.device, reading.positionKind, try series(of: reading, as: other, deviceIDs))
      }
      guard let theirs = last?.series, theirs.positions.contains(reading.position),
        try holds(reading, in: theirs)
      else { continue }
      // What is there under both kinds, from elsewhere or from before, is known.
      if let own = try series(of: reading, as: kind, deviceIDs), try holds(reading, in: own) { continue }
      found.insert(index)
    }
    return found
  }

  /// Why such a reading is not stored.
  func rejection(of reading: Reading) -> Rejection {
    Rejection(
      line: reading.line,
      reason:
        "an earlier import stored this value as \(other.name), and nothing in this input says that it is \(kind.name); "
        + "use --kind \(other.name), or undo that import and use --kind \(kind.name)")
  }
}

extension OtherKind {
  private struct Known {
    let id: Int64
    let partition: Int64
    let positions: ClosedRange<Int64>
  }

  private func series(of reading: Reading, as kind: ReadingKind, _ deviceIDs: [Int64]) throws -> Known? {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT id, partition, first_position, last_position FROM series
          WHERE device = ? AND kind = ? AND position_kind = ? AND first_position <= last_position
          """),
      arguments: [
        deviceIDs[Int(reading.device.number)], Int(kind.rawValue), Int(reading.positionKind.rawValue),
      ])
    return try row.map { row in
      let row = StoredRow(row, of: "series")
      let (first, last): (Int64, Int64) = (try row[2], try row[3])
      return Known(id: try row[0], partition: try row[1], positions: first...last)
    }
  }

  /// Whether other imports stored what the reading measured.
  private func holds(_ reading: Reading, in series: Known) throws -> Bool {
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
