// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Logbook
import SQLiteRows

/// The differences between the schema of a store and that of a new one.
///
/// Differences are dangerous in a file of unknown origin. A query of a view that replaces a table may never
/// end, and a trigger can change what is stored.
struct SchemaComparison {
  /// The SQL query for the parts of a schema. Each part is one text: its type and name, a line feed, and its
  /// SQL statement.
  static let parts = "SELECT type || ' ' || name || char(10) || sql FROM sqlite_schema WHERE sql IS NOT NULL"

  /// Tables, indexes, triggers and views that are missing or changed.
  let changed: [String]
  /// Additions that run when a program writes to the store: triggers and most indexes. Tables, views and
  /// plain indexes that a person added do not run.
  let foreign: [String]

  /// A comparison that found these parts missing or changed.
  init(changed: [String]) { (self.changed, foreign) = (changed, []) }

  /// Compares the result of `parts` in a store with that of a new store.
  init(_ found: Set<String>) throws {
    let expected = try Set(Self.ofNewStore { try String.fetchAll($0, sql: Self.parts) })
    let names = { (parts: Set<String>) in parts.map { Self.name(ofPart: $0) }.sorted() }
    let changed = names(expected.subtracting(found))
    self.changed = changed
    foreign = names(found.subtracting(expected).filter { Self.runsOnWrites($0) })
      .filter { !changed.contains($0) }
  }

  /// The type and the name of a part, such as `trigger blob_stays`.
  private static func name(ofPart text: String) -> String { String(text.prefix { $0 != "\n" }.prefix(100)) }

  private static func runsOnWrites(_ part: String) -> Bool {
    if part.hasPrefix("trigger ") { return true }
    guard part.hasPrefix("index ") else { return false }
    // A plain index only has columns: no expression, no condition, and no UNIQUE, which could refuse rows.
    return !part.contains(/\nCREATE INDEX [^()]+\([^()]+\)$/)
  }

  /// Runs a query in a new, empty store in memory.
  static func ofNewStore<Value>(_ query: (Database) throws -> Value) throws -> Value {
    try DatabaseQueue().write { database in
      try Schema.schema.make(in: database)
      return try query(database)
    }
  }
}

extension StoreExamination {
  /// The shell command that removes a part that glucoport did not create, such as `trigger extra`.
  ///
  /// The author of the file chose the name. So an unusual name, which could contain other commands, is
  /// replaced by `NAME`.
  package static func removal(of part: String, from path: String) -> String {
    let part = part.wholeMatch(of: /(trigger|index) ([A-Za-z_][A-Za-z0-9_]{0,80})/)
    let (type, name) = part.map { ($0.1.uppercased(), "\"\($0.2)\"") } ?? ("TRIGGER", "NAME")
    return "sqlite3 \(path.shellQuoted) 'DROP \(type) \(name)'"
  }
}

// MARK: - Opening a store

extension SchemaComparison {
  /// Throws if the store's tables and rules are not those of this version, before any of its SQL runs.
  ///
  /// - Parameter isWritten: whether the caller writes to it or to a copy of it, which runs triggers and
  ///   indexes.
  /// - Throws: `Failure`: `inputOutput` for a schema that was changed, `configuration` for one with
  ///   additions.
  static func require(in database: Database, path: String, isWritten: Bool) throws {
    guard try checksum(in: database) != Schema.checksum else { return }
    let found = try SchemaComparison(Set(String.fetchAll(database, sql: parts)))
    // A newer program may have upgraded the schema after this program read the version, so the version is
    // checked again.
    guard try Schema.schema.isCreated(in: database, path: path) else { return }
    if let first = found.changed.first {
      throw Failure(
        .inputOutput, "the store \(path) is damaged: \(first) is missing or changed; \(Store.recovery)"
      ).of(store: path)
    }
    if isWritten, let first = found.foreign.first {
      throw Failure(
        .configuration,
        "\(path): this store has a part that glucoport did not make, and that could change what is stored or refuse it: \(first); remove it: \(StoreExamination.removal(of: first, from: path))"
      ).of(store: path)
    }
  }

  /// A number that depends on each part of the schema, but not on their order.
  ///
  /// The number makes opening a store fast, since a complete comparison creates a new store in memory. It
  /// does not protect against an attacker who constructs another schema with the same number.
  static func checksum(in database: Database) throws -> UInt64 {
    let statement = try RawStatement(
      of: database, "SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL")
    var sum: UInt64 = 0
    while try statement.step() {
      var part = checksum(of: statement.text(0), from: 0xCBF2_9CE4_8422_2325)
      part = checksum(of: statement.text(1), from: part)
      sum &+= part
    }
    return sum
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer, from start: UInt64) -> UInt64 {
    var sum = start ^ UInt64(bytes.count)
    func add(_ number: UInt64) {
      sum = (sum ^ number) &* 0x0000_0100_0000_01B3
      sum ^= sum >> 32
    }
    var place = 0
    while place + 8 <= bytes.count {
      add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    for byte in bytes[place...] { add(UInt64(byte)) }
    return sum
  }
}
