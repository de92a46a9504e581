// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Inserts the new records of an import, several with one statement.
///
/// SQLite copies each page that a statement changes, so that it can undo the statement. A record changes seven
/// pages. If records with neighbouring guids are inserted together, most of them change the same pages.
final class RecordInsertions {
  private static let columns = [
    "guid", "kind", "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted",
    "imported", "ingest", "provenance_format", "provenance_source",
  ]
  private static let maxRows = 32
  private static let sqlOfMaxRows = sql(rows: maxRows)

  private let database: Database
  private let ingest: Int64
  private var rows: [(guid: String, row: RecordRow)] = []
  private var guids: Set<String> = []

  init(_ database: Database, ingest: Int64) {
    self.database = database
    self.ingest = ingest
  }

  /// Whether the record with this guid is added but not inserted yet.
  func contains(_ guid: String) -> Bool { guids.contains(guid) }

  /// Adds a record with a guid that the store does not have. It is inserted at the latest by `flush`.
  func add(_ guid: String, _ row: RecordRow) throws {
    rows.append((guid, row))
    guids.insert(guid)
    if rows.count == Self.maxRows { try flush() }
  }

  /// Inserts the added records.
  func flush() throws {
    if rows.isEmpty { return }
    // Other numbers of rows are rare, so only one statement is cached.
    let statement =
      rows.count == Self.maxRows
      ? try database.cachedStatement(sql: Self.sqlOfMaxRows)
      : try database.makeStatement(sql: Self.sql(rows: rows.count))
    try statement.setArguments(StatementArguments(rows.flatMap(values)))
    try statement.execute()
    discard()
  }

  /// Forgets the added records: they are inserted, or their transaction was rolled back.
  func discard() {
    rows.removeAll(keepingCapacity: true)
    guids.removeAll(keepingCapacity: true)
  }

  private static func sql(rows: Int) -> String {
    let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
    return "INSERT INTO record (\(columns.joined(separator: ", "))) VALUES "
      + Array(repeating: row, count: rows).joined(separator: ", ")
  }

  /// The values for `columns`.
  private func values(_ new: (guid: String, row: RecordRow)) -> [(any DatabaseValueConvertible)?] {
    let row = new.row
    return [
      new.guid, row.kind, row.entryGuid, row.deviceTime, row.utcOffset, row.offsetSource, row.content.fields,
      row.content.isDeleted, row.content.text, ingest, row.provenance?.format, row.provenance?.source,
    ]
  }
}
