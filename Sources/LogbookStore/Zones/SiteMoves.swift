// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Queues what a change of zone moves on a site that knows only instants. Nothing else queues a move: what other programs
/// or other versions of the zone left there is never compared.
package struct SiteMoves {
  /// How many documents are to be moved.
  package struct Counts: Hashable, Sendable {
    /// Readings.
    package let readings: Int
    /// Records.
    package let records: Int

    /// These numbers.
    package init(readings: Int, records: Int) { (self.readings, self.records) = (readings, records) }
  }

  private let database: Database
  /// Whether earlier changes queued something, which this one may take back.
  private let hadMoves: Bool

  /// Nil where the remote is no such site.
  init?(_ database: Database) throws {
    self.database = database
    guard try Bool.fetchOne(database.cachedStatement(sql: "SELECT \(SiteSchema.isConnected)")) == true else {
      return nil
    }
    hadMoves =
      try Bool.fetchOne(database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM resend)")) == true
  }

  /// Queues what will stand elsewhere, before the new offsets are written. Of a reading that is queued already the offset
  /// stays by which its document stands. Repeated hours are all queued, since ticks place them later.
  ///
  /// - Parameters:
  ///   - stretch: gives the SQL of what the zones say of a row.
  ///   - part: what may move.
  func queue(
    stretch: (_ columns: String, _ table: DerivedOffsets.Table) -> String, in part: DerivedOffsets.Part
  ) throws {
    let placed = stretch("s.placed * 8 + s.source", .reading)
    try database.executeCached(
      sql: """
        INSERT INTO resend (\(SiteSchema.keyColumns), sent_offset)
        SELECT \(SiteSchema.keyColumns), derived_offset FROM reading
        WHERE offset_source <> 0 AND \(part.readings) AND \(placed) - derived_offset * 8 NOT BETWEEN 0 AND 2
          AND (uploaded = 1 OR EXISTS (SELECT 1 FROM unanswered AS u WHERE \(SiteSchema.isSame("u", "reading"))))
          AND NOT EXISTS (SELECT 1 FROM same_as AS same WHERE same.series = reading.series
            AND same.position = reading.position AND same.value_bucket = reading.value_bucket
            AND same.occurrence = reading.occurrence AND same.is_only_there = 1)
        ON CONFLICT DO NOTHING
        """)
    try database.executeCached(
      sql: """
        INSERT INTO resend_record SELECT guid FROM record
        WHERE offset_source <> 0 AND \(part.records) AND deleted = 0 AND NOT \(Withdrawn.isStatement)
          AND (revision IS NOT NULL OR sent IS NOT NULL)
          AND guid NOT IN (SELECT guid FROM removed_record)
          AND utc_offset <> \(stretch("s.placed", .record))
        ON CONFLICT DO NOTHING
        """)
  }

  /// Takes out the readings whose documents stand where they belong, after the new offsets were written.
  func forgetUnmoved() throws {
    let keys = SiteSchema.keyColumns
    // Of those that this change alone queued only ticks can have left some in place.
    let candidates =
      hadMoves
      ? "TRUE"
      : "(\(keys)) IN (SELECT \(keys) FROM reading INDEXED BY reading_repeated WHERE offset_source >= 3)"
    try database.executeCached(
      sql: """
        DELETE FROM resend WHERE is_begun = 0 AND \(candidates) AND sent_offset = (
          SELECT r.derived_offset FROM reading AS r WHERE \(SiteSchema.isSame("r", "resend")))
        """)
  }

  /// How many documents are to be moved.
  static func counts(_ database: Database) throws -> Counts {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql:
          "SELECT (SELECT count(*) FROM resend), (SELECT count(*) FROM resend_record) WHERE \(SiteSchema.isConnected)"
      ))
    guard let row = row.map({ StoredRow($0, of: "resend", key: 0..<0) }) else {
      return Counts(readings: 0, records: 0)
    }
    return Counts(readings: try row.count(0), records: try row.count(1))
  }
}

extension Store {
  /// How many documents are to be moved on the Nightscout site that is the remote.
  package func siteMoves() throws -> SiteMoves.Counts { try read { try SiteMoves.counts($0) } }
}
