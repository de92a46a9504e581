// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Queues the documents on a site that must be moved, since a change of zone gave their items other instants.
/// An item never moves if the source states its instant. No other event queues a move: documents are never
/// compared with the zone, so those of other programs stay.
package struct SiteMoves {
  /// The numbers of documents that must be moved.
  package struct MoveCounts: Hashable, Sendable {
    /// The number of documents of readings.
    package let readings: Int
    /// The number of documents of records.
    package let records: Int

    package init(readings: Int, records: Int) { (self.readings, self.records) = (readings, records) }
  }

  private let database: Database
  /// Whether moves were already queued by earlier changes. The current change of zone may make these moves
  /// unnecessary.
  private let hadMoves: Bool

  /// Nil if the remote is not a site that stores only instants.
  init?(_ database: Database) throws {
    self.database = database
    guard try Bool.fetchOne(database.cachedStatement(sql: "SELECT \(SiteSchema.isConnected)")) == true else {
      return nil
    }
    hadMoves = try database.hasRow(in: "resend")
  }

  /// Queues moves, before the new offsets are written. For each reading, the offset of its document is
  /// stored. Readings in repeated hours are all queued, since ticks determine their offsets later.
  ///
  /// - Parameters:
  ///   - stretch: returns the SQL expression for columns of the row of `stretch` that applies to an item.
  ///   - part: the items that may change.
  func queue(
    stretch: (_ columns: String, _ table: DerivedOffsets.ItemTable) -> String, in part: DerivedOffsets.Part
  ) throws {
    let placed = stretch("s.placed * 8 + s.source", .reading)
    for place in part.places {
      try database.executeCached(
        sql: """
          INSERT INTO resend (\(SiteSchema.keyColumns), sent_offset)
          SELECT \(SiteSchema.keyColumns), derived_offset FROM reading
          WHERE offset_source BETWEEN 1 AND 4 AND \(part.readings) AND \(placed) - derived_offset * 8 NOT BETWEEN 0 AND 2
            AND (uploaded = 1 OR EXISTS (SELECT 1 FROM unanswered AS u WHERE \(SiteSchema.isSame("u", "reading"))))
            AND NOT EXISTS (SELECT 1 FROM same_as AS same WHERE same.series = reading.series
              AND same.position = reading.position AND same.value_bucket = reading.value_bucket
              AND same.occurrence = reading.occurrence AND same.is_only_there = 1)
          ON CONFLICT DO NOTHING
          """, arguments: place)
    }
    try database.executeCached(
      sql: """
        INSERT INTO resend_record SELECT guid FROM record
        WHERE offset_source BETWEEN 1 AND 4 AND \(part.records) AND deleted = 0 AND NOT \(Withdrawn.isStatement)
          AND (revision IS NOT NULL OR sent IS NOT NULL)
          AND guid NOT IN (SELECT guid FROM removed_record)
          AND utc_offset <> \(stretch("s.placed", .record))
        ON CONFLICT DO NOTHING
        """)
  }

  /// Removes from the queue the readings whose documents have the right offset. Called after the new offsets
  /// were written.
  func forgetUnmoved() throws {
    let keys = SiteSchema.keyColumns
    // Of the moves that this change queued, only those of readings in repeated hours can be unnecessary. If
    // earlier changes also queued moves, all moves are checked.
    let candidates =
      hadMoves
      ? "TRUE"
      : """
      (\(keys)) IN (SELECT \(keys) FROM reading INDEXED BY reading_repeated
        WHERE offset_source >= 3 AND offset_source <= 4)
      """
    try database.executeCached(
      sql: """
        DELETE FROM resend WHERE is_begun = 0 AND \(candidates) AND sent_offset = (
          SELECT r.derived_offset FROM reading AS r WHERE \(SiteSchema.isSame("r", "resend")))
        """)
  }

  /// The numbers of documents that must be moved.
  static func counts(_ database: Database) throws -> MoveCounts {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql:
          "SELECT (SELECT count(*) FROM resend), (SELECT count(*) FROM resend_record) WHERE \(SiteSchema.isConnected)"
      ))
    guard let row = row.map({ StoredRow($0, of: "resend", key: 0..<0) }) else {
      return MoveCounts(readings: 0, records: 0)
    }
    return MoveCounts(readings: try row.count(0), records: try row.count(1))
  }
}

extension Store {
  /// The numbers of documents on the remote Nightscout site that must be moved.
  package func siteMoves() throws -> SiteMoves.MoveCounts { try read { try SiteMoves.counts($0) } }
}
