// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import Logbook
package import LogbookAPI
import SQLiteRows

/// The data folder of a server that is not running, as the source of a transfer to a database.
///
/// The folder is marked before the first row is moved. `serve` then refuses it, so that its data cannot
/// change after they were moved.
package final class FolderSource: TransferSource {
  /// Whether an earlier transfer had marked the folder.
  package let wasMarked: Bool

  private let folder: DataFolder
  private let lock: FolderLock
  private let logins: DatabaseFile

  /// Opens and locks the folder, even if an interrupted transfer marked it.
  ///
  /// - Throws: `Failure`, as `EmbeddedStorage` does; `missingInput` without a server's data.
  package init(folder path: String) throws {
    guard access(path + "/server.db", F_OK) == 0 else {
      throw Failure(.missingInput, "\(path): no data of a server; name its folder with --from")
    }
    folder = try DataFolder(path, mayBeMoved: true)
    lock = try folder.lock()
    wasMarked = access(folder.moveMark, F_OK) == 0
    logins = try DatabaseFile(path: folder.serverFile, name: "server", schema: LoginSchema.schema)
  }

  /// Throws if the data were moved to another database, since clients may have changed the data in that
  /// database.
  ///
  /// - Throws: `Failure` of category `cannotCreate`.
  package func requireUnmoved(exceptTo database: MovedDatabase) throws {
    guard let other = try folder.movedTo, other.id != database.id else { return }
    throw Failure(
      .cannotCreate,
      "\(folder.path): these data were moved to the database \(other.name), and not to \(database.name); use that one, or remove \(folder.moveMark) if it never served"
    )
  }

  /// Marks the folder as moved to a database.
  ///
  /// - Throws: `Failure` if the file system fails.
  package func mark(_ database: MovedDatabase) throws { try folder.mark(database) }

  /// Closes the files and releases the lock. The folder stays marked.
  package func close() throws {
    try logins.close()
    lock.release()
  }

  package func directory() throws -> TransferredDirectory {
    try logins.readNow { database in
      var directory = TransferredDirectory()
      func rows(_ sql: String, of table: String) throws -> [StoredRow] {
        try Row.fetchAll(database, sql: sql).map { StoredRow($0, of: table) }
      }
      for row in try rows("SELECT id, name FROM logbook", of: "logbook") {
        directory.logbooks[try row[0]] = try row[1]
      }
      directory.logins = try rows(
        "SELECT name, token_hash, role, logbook, created_at FROM login ORDER BY name", of: "login"
      ).map { row in
        TransferredDirectory.Login(
          name: try row[0], tokenHash: Array(try row[1] as Data), role: try row[2], logbook: try row[3],
          createdAt: try row[4])
      }
      directory.replacedTokens = try rows(
        "SELECT token_hash, login, until FROM replaced_token ORDER BY login, until", of: "replaced_token"
      ).map { row in
        TransferredDirectory.ReplacedToken(
          hash: Array(try row[0] as Data), login: try row[1], until: try row[2])
      }
      directory.purged = try rows("SELECT logbook FROM purged ORDER BY logbook", of: "purged").map {
        try $0[0]
      }
      for row in try rows("SELECT token_hash, logbook FROM purged_token", of: "purged_token") {
        directory.purgedTokens[Array(try row[0] as Data)] = try row[1]
      }
      return directory
    }
  }

  package func read(_ logbook: String, _ use: (TransferredRows) throws -> Void) throws {
    // The file is opened in the same way as by the server. So a file whose table `epoch` is empty gets a row.
    let file = try LogbookFile(
      path: folder.logbookFile(logbook), id: logbook, quota: LogbookQuota(), compared: ComparedLogbook())
    do {
      try file.file.readNow { database in try LogbookRows(database).read(use) }
    } catch let damage as DamagedRow {
      throw Failure(.inputOutput, "the file of logbook \(logbook) is damaged: \(damage)")
    }
    try file.close()
  }
}

/// Reads the rows of a logbook's file in portions.
private struct LogbookRows {
  private static let chunk = 10_000
  private static let recordChunk = 200

  private let database: Database

  init(_ database: Database) { self.database = database }

  func read(_ use: (TransferredRows) throws -> Void) throws {
    try use(
      .epochs(
        all("SELECT first_seq, tag FROM epoch ORDER BY first_seq") { (try $0[0], try $0[1]) }))
    try use(
      .nodes(
        all("SELECT id, name, run_number, run_id, last_seq FROM node ORDER BY id") {
          (try $0[0], try $0[1], try $0[2], try $0[3], try $0[4])
        }))
    try use(
      .devices(
        all("SELECT id, vendor, model, serial, format FROM device ORDER BY id") {
          (try $0[0], Device(vendor: try $0[1], model: try $0[2], serial: try $0[3], format: try $0[4]))
        }))
    try use(
      .series(
        all("SELECT id, device, kind, position_kind FROM series ORDER BY id") {
          (try $0[0], try $0[1], try $0[2], try $0[3])
        }))
    try chunks(
      "SELECT guid, seq, revision, kind, state, node FROM record ORDER BY seq", of: Self.recordChunk,
      { (try $0[0], try $0[1], try $0[2], try $0[3], try $0[4], try $0[5]) }, { try use(.records($0)) })
    try chunks(
      """
      SELECT seq, series, position, value_bucket, occurrence, device_time, utc_offset, offset_source, unit, range_flag,
        marks, node, value, threshold FROM reading ORDER BY seq
      """, of: Self.chunk,
      { row in
        TransferredReading(
          whole: try (0..<12).map { try row[$0] }, value: try row[12], threshold: try row[13])
      }, { try use(.readings($0)) })
    try chunks(
      "SELECT guid, node, version, digest, revision FROM accepted ORDER BY guid, node", of: Self.chunk,
      { (try $0[0], try $0[1], try $0[2], try $0[3], try $0[4]) }, { try use(.accepted($0)) })
    try use(
      .contents(
        all("SELECT digest, size, held FROM blob ORDER BY digest") { (try $0[0], try $0[1], try $0[2]) }))
    let parts = try Row.fetchCursor(
      database, sql: "SELECT digest, start, bytes FROM blob_part ORDER BY digest, start")
    while let row = try parts.next() {
      let part = StoredRow(row, of: "blob_part")
      try use(.part(digest: try part[0], start: try part[1], bytes: Array(try part[2] as Data)))
    }
  }

  /// The name of the table that an SQL statement reads, for errors.
  private func table(_ sql: String) -> String {
    sql.firstRange(of: "FROM ").map { String(sql[$0.upperBound...].prefix { $0 != " " }) } ?? ""
  }

  private func all<Item>(_ sql: String, _ item: (StoredRow) throws -> Item) throws -> [Item] {
    try Row.fetchAll(database, sql: sql).map { try item(StoredRow($0, of: table(sql))) }
  }

  private func chunks<Item>(
    _ sql: String, of size: Int, _ item: (StoredRow) throws -> Item, _ use: ([Item]) throws -> Void
  ) throws {
    var items: [Item] = []
    let rows = try Row.fetchCursor(database, sql: sql)
    while let row = try rows.next() {
      items.append(try item(StoredRow(row, of: table(sql))))
      guard items.count == size else { continue }
      try use(items)
      items = []
    }
    if !items.isEmpty { try use(items) }
  }
}

/// A new data folder, as the target of a transfer from a database. It gets its final name only when it is
/// complete.
package final class FolderTarget: TransferTarget {
  private let path: String
  private let part: String

  /// - Parameter path: the path of the folder, which must not exist.
  /// - Throws: `Failure`: `cannotCreate` if it exists, or if its parent does not; `permission`.
  package init(folder path: String) throws {
    let path = path.count > 1 && path.last == "/" ? String(path.dropLast()) : path
    self.path = path
    part = path + ".part"
    guard access(path, F_OK) != 0 else { throw Failure(.cannotCreate, "\(path): File exists") }
    if access(part, F_OK) == 0 { try FileManager.default.removeItem(atPath: part) }
    guard mkdir(part, 0o700) == 0 else {
      let reason = errno
      throw Failure(
        reason == EACCES || reason == EPERM ? .permission : .cannotCreate,
        "\(path): cannot create the folder: \(String(cString: strerror(reason)))")
    }
    _ = try DataFolder(part)
  }

  /// Renames the complete folder to its final name.
  package func finish() throws {
    guard rename(part, path) == 0 else {
      throw Failure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))")
    }
  }

  package func store(
    _ logbook: String, of directory: TransferredDirectory,
    _ read: (_ use: (TransferredRows) throws -> Void) throws -> Void
  ) throws -> Bool {
    let file = try DatabaseFile(
      path: "\(part)/logbooks/\(logbook).db", name: "logbook \(logbook)", schema: LogbookSchema.schema)
    try file.writeNow { database in
      try LogbookFileRules.withoutLookUps(database) {
        let writer = LogbookRowWriter(database)
        try read { try writer.write($0) }
        // Contents are first written as incomplete, since triggers refuse further parts of a complete one.
        try writer.completeContents()
      }
    }
    try file.close()
    return true
  }

  package func store(_ directory: TransferredDirectory) throws {
    let file = try DatabaseFile(path: part + "/server.db", name: "server", schema: LoginSchema.schema)
    try file.writeNow { database in
      for (id, name) in directory.logbooks {
        try database.execute(sql: "INSERT INTO logbook (id, name) VALUES (?, ?)", arguments: [id, name])
      }
      for login in directory.logins {
        try database.execute(
          sql: "INSERT INTO login (name, token_hash, role, logbook, created_at) VALUES (?, ?, ?, ?, ?)",
          arguments: [login.name, Data(login.tokenHash), login.role, login.logbook, login.createdAt])
      }
      for token in directory.replacedTokens {
        try database.execute(
          sql: "INSERT INTO replaced_token (token_hash, login, until) VALUES (?, ?, ?)",
          arguments: [Data(token.hash), token.login, token.until])
      }
      for id in directory.purged {
        try database.execute(sql: "INSERT INTO purged (logbook) VALUES (?)", arguments: [id])
      }
      for (hash, id) in directory.purgedTokens {
        try database.execute(
          sql: "INSERT INTO purged_token (token_hash, logbook) VALUES (?, ?)", arguments: [Data(hash), id])
      }
    }
    try file.close()
  }
}

/// Writes the rows of a logbook's file.
private final class LogbookRowWriter {
  private let database: Database
  private var whole: [(digest: String, held: Int64)] = []

  init(_ database: Database) { self.database = database }

  func write(_ rows: TransferredRows) throws {
    switch rows {
    case .epochs(let rows):
      for row in rows {
        try run("INSERT INTO epoch (first_seq, tag) VALUES (?, ?)", [row.firstSeq, row.tag])
      }
    case .nodes(let rows):
      for row in rows {
        try run(
          "INSERT INTO node (id, name, run_number, run_id, last_seq) VALUES (?, ?, ?, ?, ?)",
          [row.id, row.name, row.runNumber, row.runID, row.lastSeq])
      }
    case .devices(let rows):
      for (id, device) in rows {
        try run(
          "INSERT INTO device (id, vendor, model, serial, format) VALUES (?, ?, ?, ?, ?)",
          [id, device.vendor, device.model, device.serial, device.format])
      }
    case .series(let rows):
      for row in rows {
        try run(
          "INSERT INTO series (id, device, kind, position_kind) VALUES (?, ?, ?, ?)",
          [row.id, row.device, row.kind, row.positionKind])
      }
    case .records(let rows):
      for row in rows {
        try run(
          "INSERT INTO record (guid, seq, revision, kind, state, node) VALUES (?, ?, ?, ?, ?, ?)",
          [row.guid, row.seq, row.revision, row.kind, row.state, row.node])
      }
    case .readings(let rows): for row in rows { try write(row) }
    case .accepted(let rows):
      for row in rows {
        try run(
          "INSERT INTO accepted (guid, node, version, digest, revision) VALUES (?, ?, ?, ?, ?)",
          [row.guid, row.node, row.version, row.digest, row.revision])
      }
    case .contents(let rows):
      for row in rows {
        try run("INSERT INTO blob (digest, size, held) VALUES (?, ?, 0)", [row.digest, row.size])
        if row.held > 0 { whole.append((row.digest, row.held)) }
      }
    case .part(let digest, let start, let bytes):
      try run("INSERT INTO blob_part (digest, start, bytes) VALUES (?, ?, ?)", [digest, start, Data(bytes)])
    }
  }

  func completeContents() throws {
    for (digest, held) in whole { try run("UPDATE blob SET held = ? WHERE digest = ?", [held, digest]) }
  }

  private func write(_ row: TransferredReading) throws {
    try run(
      """
      INSERT INTO reading (seq, series, position, value_bucket, occurrence, device_time, utc_offset, offset_source,
        value, unit, range_flag, threshold, marks, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        row.seq, row.series, row.position, row.valueBucket, row.occurrence, row.deviceTime, row.utcOffset,
        row.offsetSource, row.value, row.unit, row.rangeFlag, row.threshold, row.marks, row.node,
      ])
  }

  private func run(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
