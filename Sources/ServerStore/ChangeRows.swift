// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Steps through the rows of readings and records after a sequence number, in their common order.
final class ChangeRows {
  struct RecordRow {
    let guid: String
    let revision: String
    let state: RecordState
    /// The size of the state as JSON, in bytes.
    let stateBytes: Int
    let node: Int64

    static let columns = "seq, guid, revision, state, node"

    init(_ row: StoredRow) throws {
      (guid, revision, node) = (try row.guid(1), try row[2], try row[4])
      (state, stateBytes) = (try row.state(3), (try row[3] as String).utf8.count)
    }
  }

  enum Change {
    /// The row is valid in `reading` until the next change.
    case reading(seq: Int64)
    case record(seq: Int64, RecordRow)
  }

  /// The columns with which each row of readings begins, including the node that wrote it.
  static let readingColumns = "\(CollectedReadings.columns), node"

  /// The row of the latest reading.
  let reading: RawStatement
  private let records: RowCursor
  private var nextReading: Int64?
  private var nextRecord: (seq: Int64, row: RecordRow)?
  private var mustStep = false

  init(_ database: Database, after place: Int64) throws {
    reading = try RawStatement(
      keptBy: database,
      "SELECT \(Self.readingColumns) FROM reading WHERE seq > ?1 ORDER BY seq")
    let statement = try database.cachedStatement(
      sql: "SELECT \(RecordRow.columns) FROM record WHERE seq > ? ORDER BY seq")
    records = try Row.fetchCursor(statement, arguments: [place])
    reading.bind(place, at: 1)
    nextReading = try reading.step() ? reading.integer(0) : nil
    nextRecord = try readRecord()
  }

  /// The node that wrote the latest reading.
  var readingNode: Int64 { reading.integer(13) }

  /// The next change; nil at the end.
  func next() throws -> Change? {
    if mustStep { nextReading = try reading.step() ? reading.integer(0) : nil }
    mustStep = false
    if let seq = nextReading, nextRecord.map({ seq < $0.seq }) ?? true {
      mustStep = true
      return .reading(seq: seq)
    }
    guard let record = nextRecord else { return nil }
    nextRecord = try readRecord()
    return .record(seq: record.seq, record.row)
  }

  private func readRecord() throws -> (seq: Int64, row: RecordRow)? {
    guard let row = try records.next() else { return nil }
    let stored = StoredRow(row, of: "record", key: 1..<2)
    return (try stored[0], try RecordRow(stored))
  }
}
