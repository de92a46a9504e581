// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The rows of readings and records behind a place, in the one order that both share, stepped to one by one.
final class ChangeRows {
  struct RecordRow {
    let guid: String
    let revision: String
    let state: String
    let node: Int64
  }

  enum Change {
    /// `reading` stands on its row until the next change.
    case reading(seq: Int64)
    case record(seq: Int64, RecordRow)
  }

  /// What a row of readings has to begin with, and who wrote it.
  static let readingColumns = "\(CollectedReadings.columns), node"

  /// The row of the last reading.
  let reading: RawRow
  private let records: RowCursor
  private var nextReading: Int64?
  private var nextRecord: Row?
  private var mustStep = false

  init(_ database: Database, after place: Int64) throws {
    reading = try RawRow(
      database,
      "SELECT \(Self.readingColumns) FROM reading WHERE seq > ?1 ORDER BY seq")
    let statement = try database.cachedStatement(
      sql: "SELECT seq, guid, revision, state, node FROM record WHERE seq > ? ORDER BY seq")
    records = try Row.fetchCursor(statement, arguments: [place])
    reading.bind(place, at: 1)
    nextReading = try reading.step() ? reading.integer(0) : nil
    nextRecord = try records.next()
  }

  /// Who wrote the last reading.
  var readingNode: Int64 { reading.integer(13) }

  /// The next change; nil behind the last one.
  func next() throws -> Change? {
    if mustStep { nextReading = try reading.step() ? reading.integer(0) : nil }
    mustStep = false
    let record: Int64? = nextRecord?[0]
    if let seq = nextReading, record.map({ seq < $0 }) ?? true {
      mustStep = true
      return .reading(seq: seq)
    }
    guard let row = nextRecord, let record else { return nil }
    let change = RecordRow(guid: row[1], revision: row[2], state: row[3], node: row[4])
    nextRecord = try records.next()
    return .record(seq: record, change)
  }

  /// Belongs behind every use.
  func close() { reading.reset() }
}
