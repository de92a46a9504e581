// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Logbook

/// Rows in memory that SQL statements of one connection read as the table `batch`. Each connection has one
/// such table. Code that fills the table empties it first.
///
/// `INSERT … SELECT` from this table takes two thirds of the time of inserting a hundred rows with
/// parameters: no value is bound or copied.
final class BatchTable {
  /// The maximum number of rows. If some readings of a chunk are already stored, the chunk fills the table
  /// twice: to find these readings, and to insert the others. So larger chunks would not be faster.
  static let capacity = 500

  fileprivate let rows = UnsafeMutablePointer<ReadingRow>.allocate(capacity: capacity)
  /// SQLite keeps this pointer, so the memory must exist as long as this object.
  private let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
  private(set) var count = 0
  private var areAlike = true

  /// Registers the table with a connection, which keeps this object until it closes. Call it once per
  /// connection: registering a module again makes SQLite prepare every SQL statement again.
  init(_ database: Database) throws {
    rows.initialize(repeating: ReadingRow(), count: Self.capacity)
    module.initialize(to: BatchModule.make())
    let code = sqlite3_create_module_v2(
      database.sqliteConnection, "batch", module, Unmanaged.passRetained(self).toOpaque(),
      { object in object.map { Unmanaged<BatchTable>.fromOpaque($0).release() } })
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  deinit {
    rows.deallocate()
    module.deallocate()
  }

  func removeAll() {
    count = 0
    areAlike = true
  }

  /// The first row, if all rows are alike; see `ReadingRow.isAlike`. Otherwise nil.
  var pattern: ReadingRow? { areAlike && count > 0 ? rows[0] : nil }

  func append(_ row: ReadingRow) {
    precondition(count < Self.capacity)
    rows[count] = row
    count += 1
    areAlike = areAlike && row.isAlike(rows[0])
  }

  /// Appends readings. It appends many in one call, since Swift checks each access to a property at run time.
  func append(_ items: ArraySlice<BatchOrder.Item>, of readings: [Reading], in series: [Series]) {
    precondition(items.count <= Self.capacity - count)
    var (count, areAlike) = (self.count, self.areAlike)
    for item in items {
      let row = ReadingRow(item, readings[item.index], series[item.series])
      rows[count] = row
      count += 1
      areAlike = areAlike && row.isAlike(rows[0])
    }
    (self.count, self.areAlike) = (count, areAlike)
  }
}

// SQLite calls the following functions with pointers that these functions gave it before. `connect` creates
// each table, and `open` creates each cursor. The first member of both is the structure that SQLite knows.
// SQLite frees them with `xDisconnect` and `xClose`. While an SQL statement reads the rows, no rows may be
// appended.
private enum BatchModule {
  private struct VirtualTable {
    var base = sqlite3_vtab()
    let batch: Unmanaged<BatchTable>
  }

  private struct VirtualCursor {
    var base = sqlite3_vtab_cursor()
    let rows: UnsafeMutablePointer<ReadingRow>
    var count = 0
    var index = 0
  }

  static func make() -> sqlite3_module {
    var module = sqlite3_module()
    module.xConnect = { database, object, _, _, table, _ in BatchModule.connect(database, object, table) }
    module.xDisconnect = { table in
      table.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: VirtualTable.self).deallocate() }
      return SQLITE_OK
    }
    module.xBestIndex = { _, plan in
      plan?.pointee.estimatedCost = Double(BatchTable.capacity)
      return SQLITE_OK
    }
    module.xOpen = { table, cursor in BatchModule.open(table, cursor) }
    module.xClose = { cursor in
      cursor.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: VirtualCursor.self).deallocate() }
      return SQLITE_OK
    }
    module.xFilter = { cursor, _, _, _, _ in
      let table = cursor?.pointee.pVtab.map {
        UnsafeMutableRawPointer($0).assumingMemoryBound(to: VirtualTable.self)
      }
      let walk = BatchModule.cell(cursor)
      walk?.pointee.index = 0
      walk?.pointee.count = table?.pointee.batch.takeUnretainedValue().count ?? 0
      return SQLITE_OK
    }
    module.xNext = { cursor in
      BatchModule.cell(cursor)?.pointee.index += 1
      return SQLITE_OK
    }
    module.xEof = { cursor in
      guard let walk = BatchModule.cell(cursor) else { return 1 }
      return walk.pointee.index >= walk.pointee.count ? 1 : 0
    }
    module.xColumn = { cursor, context, column in
      if let walk = BatchModule.cell(cursor) {
        walk.pointee.rows[walk.pointee.index].setResult(column, to: context)
      }
      return SQLITE_OK
    }
    module.xRowid = { cursor, id in
      id?.pointee = Int64(BatchModule.cell(cursor)?.pointee.index ?? 0)
      return SQLITE_OK
    }
    return module
  }

  @inline(__always)
  private static func cell(
    _ base: UnsafeMutablePointer<sqlite3_vtab_cursor>?
  ) -> UnsafeMutablePointer<VirtualCursor>? {
    base.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: VirtualCursor.self) }
  }

  private static func connect(
    _ database: OpaquePointer?, _ object: UnsafeMutableRawPointer?,
    _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
  ) -> Int32 {
    guard let object else { return SQLITE_MISUSE }
    let made = UnsafeMutablePointer<VirtualTable>.allocate(capacity: 1)
    made.initialize(to: VirtualTable(batch: Unmanaged.fromOpaque(object)))
    table?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
    return sqlite3_declare_vtab(database, "CREATE TABLE batch (\(ReadingRow.columns))")
  }

  private static func open(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?,
    _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
  ) -> Int32 {
    guard let table = table.map({ UnsafeMutableRawPointer($0).assumingMemoryBound(to: VirtualTable.self) })
    else {
      return SQLITE_MISUSE
    }
    let made = UnsafeMutablePointer<VirtualCursor>.allocate(capacity: 1)
    made.initialize(to: VirtualCursor(rows: table.pointee.batch.takeUnretainedValue().rows))
    cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }
}
