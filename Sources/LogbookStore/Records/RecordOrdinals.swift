// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Finds the stored record for a row of an export that has no id. The result does not depend on the order of
/// the rows.
///
/// The identity of such a record is a key of several texts (`RowKey`). Rows with equal keys are distinguished
/// by an ordinal, which no export states. A row matches the record that an import wrote from equal content.
/// At the end of the input, some rows have no matching record, and some records have no matching row. They
/// are paired in the order of their content: such a row is a changed version of the record. The data is in
/// TEMP tables, so that the use of memory does not grow with the input.
final class RecordOrdinals {
  enum RowMatch {
    /// An equal row came earlier in this input. It belongs to the record with this guid.
    case repeated(guid: String)
    /// The row matches the stored record with this guid.
    case stored(guid: String)
    /// No stored record can belong to the row. The record of the row gets this ordinal.
    case free(ordinal: Int)
    /// The row may be a changed version of a record that has no matching row so far, or it is new. This is
    /// decided at the end of the input.
    case open
  }

  private let database: Database

  init(_ database: Database) throws {
    self.database = database
    try database.executeCached(sql: "DELETE FROM temp.record_ordinal")
    try database.executeCached(sql: "DELETE FROM temp.open_row")
  }

  /// The SQL for the TEMP tables that each connection creates before its first ingest.
  static let tables = """
    CREATE TEMP TABLE record_ordinal
      (base TEXT, ordinal INTEGER, guid TEXT, content TEXT, imported TEXT, given TEXT,
       PRIMARY KEY (base, ordinal)) WITHOUT ROWID;
    CREATE INDEX temp.record_ordinal_content ON record_ordinal(base, content);
    CREATE INDEX temp.record_ordinal_imported ON record_ordinal(base, imported);
    CREATE INDEX temp.record_ordinal_unclaimed ON record_ordinal(base) WHERE given IS NULL;
    CREATE TEMP TABLE open_row
      (base TEXT, content TEXT, texts TEXT, kind TEXT, entry_guid TEXT, device_time INTEGER, utc_offset INTEGER,
       offset_source INTEGER, fields TEXT, provenance_format TEXT, provenance_source TEXT,
       copies INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (base, content)) WITHOUT ROWID;
    """

  /// Finds the record of a row, and marks the record as used by this row.
  func find(_ key: RowKey, _ content: RecordContent) throws -> RowMatch {
    let next = try refresh(key)
    if next == 0 { return .free(ordinal: 0) }
    switch try match(key.base, content) {
    case .repeated(let guid): return .repeated(guid: guid)
    case .claimed(let guid): return .stored(guid: guid)
    case .none: break
    }
    let unclaimed = try database.cachedStatement(
      sql: "SELECT EXISTS (SELECT 1 FROM temp.record_ordinal WHERE base = ? AND given IS NULL)")
    return try Bool.fetchOne(unclaimed, arguments: [key.base]) == true ? .open : .free(ordinal: next)
  }

  /// Marks an ordinal as used by a row, after the row was stored as a record with this ordinal.
  func markUsed(_ ordinal: Int, of key: RowKey, for content: RecordContent) throws {
    try add(key, ordinal, content: content.text, imported: content.text, given: content.text)
  }

  /// Stores an undecided row until the end of the input. If an equal row is already stored, this one is
  /// counted as its copy, and the result is false.
  func bufferUndecided(_ row: RecordRow, _ key: RowKey) throws -> Bool {
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.open_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING")
    try statement.execute(arguments: [
      key.base, row.content.text, "[" + key.texts.map(jsonText).joined(separator: ",") + "]", row.kind,
      row.entryGuid, row.deviceTime, row.utcOffset, row.offsetSource, row.content.fields,
      row.provenance?.format, row.provenance?.source,
    ])
    guard database.changesCount == 0 else { return true }
    try database.executeCached(
      sql: "UPDATE temp.open_row SET copies = copies + 1 WHERE base = ? AND content = ?",
      arguments: [key.base, row.content.text])
    return false
  }

  /// Decides about the undecided rows, at the end of the input.
  ///
  /// - Parameters:
  ///   - known: receives each row and the guid of the record that it matches.
  ///   - new: receives each row without a record, and its guid.
  ///   - equal: receives each row with further equal rows, its guid, and the number of these rows.
  func assign(
    known: (RecordRow, String) throws -> Void, new: (RecordRow, String) throws -> Void,
    equal: (RecordRow, String, Int) throws -> Void
  ) throws {
    let bases = try String.fetchAll(
      database.cachedStatement(sql: "SELECT DISTINCT base FROM temp.open_row ORDER BY base"))
    for base in bases {
      let waiting = try Row.fetchAll(
        database.cachedStatement(sql: "SELECT * FROM temp.open_row WHERE base = ? ORDER BY content"),
        arguments: [base]
      ).map { StoredRow($0, of: "open_row") }
      guard let first = waiting.first else { continue }
      let key = RowKey(texts: try texts(try first["texts"]))
      var next = try refresh(key)
      var unmatched: [(row: RecordRow, copies: Int)] = []
      for (row, copies) in try waiting.map({ (try RecordRow($0), try $0["copies"] as Int) }) {
        switch try match(base, row.content) {
        case .claimed(let guid):
          try known(row, guid)
          if copies > 0 { try equal(row, guid, copies) }
        case .repeated, .none: unmatched.append((row, copies))
        }
      }
      for (row, copies) in unmatched {
        let guid = try claimAny(base, for: row.content)
        if let guid {
          try known(row, guid)
        } else {
          try new(row, key.guid(ordinal: next))
          try markUsed(next, of: key, for: row.content)
          next += 1
        }
        if copies > 0 { try equal(row, guid ?? key.guid(ordinal: next - 1), copies) }
      }
    }
    try database.executeCached(sql: "DELETE FROM temp.open_row")
  }
}

extension RecordOrdinals {
  private enum Match {
    case none
    case repeated(guid: String)
    case claimed(guid: String)
  }

  /// Loads the stored records with this row key that are not loaded yet, since another process may have
  /// stored further records. Returns the first free ordinal.
  private func refresh(_ key: RowKey) throws -> Int {
    let last = try database.cachedStatement(
      sql: "SELECT coalesce(max(ordinal) + 1, 0) FROM temp.record_ordinal WHERE base = ?")
    let select = try database.cachedStatement(
      sql: "SELECT \(RecordContent.sql), imported FROM record WHERE guid = ?")
    var ordinal = try Int.fetchOne(last, arguments: [key.base]) ?? 0
    while let row = try Row.fetchOne(select, arguments: [key.guid(ordinal: ordinal)]) {
      let record = StoredRow(row, of: "record (guid \(key.guid(ordinal: ordinal)))", key: 0..<0)
      try add(key, ordinal, content: try record[0], imported: try record[1], given: nil)
      ordinal += 1
    }
    return ordinal
  }

  private func add(
    _ key: RowKey, _ ordinal: Int, content: String, imported: String?, given: String?
  ) throws {
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.record_ordinal VALUES (?, ?, ?, ?, ?, ?)")
    try statement.execute(arguments: [
      key.base, ordinal, key.guid(ordinal: ordinal), content, imported, given,
    ])
  }

  /// Finds the record that an import wrote from this content, even if it was edited later. If there is none,
  /// finds a record whose current content is equal.
  private func match(_ base: String, _ content: RecordContent) throws -> Match {
    let candidates = try database.cachedStatement(
      sql: """
        SELECT ordinal, guid, given FROM (
          SELECT 0 AS rank, ordinal, guid, given FROM temp.record_ordinal WHERE base = ?1 AND imported = ?2
          UNION ALL
          SELECT 1, ordinal, guid, given FROM temp.record_ordinal WHERE base = ?1 AND content = ?2)
        ORDER BY rank, ordinal
        """)
    let rows = try Row.fetchAll(candidates, arguments: [base, content.text]).map { row in
      let row = StoredRow(row, of: "record_ordinal")
      return (ordinal: try row[0] as Int, guid: try row[1] as String, given: try row[2] as String?)
    }
    if let equal = rows.first(where: { $0.given == content.text }) { return .repeated(guid: equal.guid) }
    guard let free = rows.first(where: { $0.given == nil }) else { return .none }
    try claim(base, ordinal: free.ordinal, for: content)
    return .claimed(guid: free.guid)
  }

  private func claimAny(_ base: String, for content: RecordContent) throws -> String? {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT ordinal, guid FROM temp.record_ordinal WHERE base = ? AND given IS NULL
          ORDER BY content, ordinal LIMIT 1
          """), arguments: [base]
    ).map { StoredRow($0, of: "record_ordinal") }
    guard let row else { return nil }
    try claim(base, ordinal: try row[0], for: content)
    return try row[1]
  }

  private func claim(_ base: String, ordinal: Int, for content: RecordContent) throws {
    let statement = try database.cachedStatement(
      sql: "UPDATE temp.record_ordinal SET given = ? WHERE base = ? AND ordinal = ?")
    try statement.execute(arguments: [content.text, base, ordinal])
  }

  private func texts(_ json: String) throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(sql: "SELECT value FROM json_each(?) ORDER BY key"), arguments: [json])
  }
}
