// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import Logbook
import LogbookStore
import SQLiteRows
import Testing

/// Tests the upgrade of a file from an older schema to the current one. A `SchemaStep` raises the schema
/// version by one.
@Suite struct SchemaUpgradeTests {
  private static let first = FileSchema(
    applicationID: 7, version: 3, name: "test file", statements: ["CREATE TABLE t (x INTEGER)"], firstKept: 3)
  private static func later(_ steps: [SchemaStep]) -> FileSchema {
    FileSchema(
      applicationID: 7, version: 3 + steps.count, name: "test file",
      statements: ["CREATE TABLE t (x INTEGER, y TEXT)"],
      firstKept: 3, steps: steps)
  }
  private static let steps = [
    SchemaStep(from: 3, statements: ["ALTER TABLE t ADD COLUMN y TEXT"]),
    SchemaStep(from: 4, statements: ["UPDATE t SET y = 'old ' || x", "CREATE INDEX i ON t (y)"]),
  ]

  private let folder: URL
  private var path: String { folder.appending(path: "file.db").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-schema-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try database { database in
      try Self.first.make(in: database)
      try database.execute(sql: "INSERT INTO t VALUES (1), (2)")
    }
  }

  private func database<Value>(_ name: String = "file.db", _ work: (Database) throws -> Value) throws -> Value
  {
    let queue = try DatabaseQueue(path: folder.appending(path: name).path)
    defer { try? queue.close() }
    return try queue.inDatabase(work)
  }

  private func upgrade(_ steps: [SchemaStep]) throws {
    try SchemaUpgrade(Self.later(steps), path: path, busyTimeoutSeconds: 5).run(opening: path)
  }

  private func version(_ name: String = "file.db") throws -> Int? {
    try database(name) { try Int.fetchOne($0, sql: "PRAGMA user_version") }
  }

  @Test func allSchemaUpgradeStepsRunOnceAfterABackupCopy() throws {
    try upgrade(Self.steps)
    #expect(try version() == 5)
    #expect(
      try database { try String.fetchAll($0, sql: "SELECT y FROM t ORDER BY x") } == ["old 1", "old 2"])
    let copy = path + SchemaUpgrade.copySuffix
    #expect(try version("file.db.before-schema") == 3)
    let attributes = try FileManager.default.attributesOfItem(atPath: copy)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    // A second upgrade has nothing to do, so it keeps the backup copy.
    let before = try Data(contentsOf: URL(filePath: copy))
    try database { try $0.execute(sql: "INSERT INTO t VALUES (3, 'new')") }
    try upgrade(Self.steps)
    #expect(try Data(contentsOf: URL(filePath: copy)) == before)
    #expect(try database { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
    // Only one backup copy is kept: the copy from before the last upgrade.
    try upgrade(Self.steps + [SchemaStep(from: 5, statements: ["CREATE TABLE u (x)"])])
    #expect(try version("file.db.before-schema") == 5)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
        "file.db", "file.db.before-schema",
      ])
  }

  @Test func aFailedUpgradeStepLeavesTheFileUnchanged() throws {
    #expect(throws: DatabaseError.self) {
      try upgrade([Self.steps[0], SchemaStep(from: 4, statements: ["UPDATE t SET z = 1"])])
    }
    #expect(try version() == 3)
    #expect(try database { try $0.columns(in: "t").map(\.name) } == ["x"])
  }

  @Test func withoutABackupCopyNoUpgradeStepRuns() throws {
    try FileManager.default.createDirectory(
      atPath: path + SchemaUpgrade.copySuffix, withIntermediateDirectories: false)
    try Data().write(to: folder.appending(path: "file.db.before-schema/x"))
    #expect(throws: Failure.self) { try upgrade(Self.steps) }
    #expect(try version() == 3)
  }

  @Test func filesOfOtherProgramsOrVersionsAreNotUpgraded() throws {
    for (id, version) in [(8, 3), (7, 2), (7, 6)] {
      try database { try $0.execute(sql: "PRAGMA application_id = \(id); PRAGMA user_version = \(version)") }
      try upgrade(Self.steps)
      #expect(try self.version() == version)
    }
    try SchemaUpgrade(Self.first, path: folder.path + "/none", busyTimeoutSeconds: 5).run(
      opening: folder.path + "/none")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file.db"])
  }

  @Test func aFileOfAnOlderOrNewerSchemaIsRefused() throws {
    let schema = Self.later(Self.steps)
    for (version, words) in [
      (3, "is of an older glucoport"), (6, "update glucoport"), (2, "no released glucoport"),
    ] {
      try database { database in
        try database.execute(sql: "PRAGMA user_version = \(version)")
        #expect { try schema.isCreated(in: database, path: path) } throws: { error in
          let failure = error as? Failure
          return failure?.category == .configuration && failure?.message.contains(words) == true
        }
      }
    }
  }

  /// Four tasks upgrade one file at the same time, as four programs would. Each step must run once, and no
  /// task fails.
  @Test func fourSimultaneousProgramsUpgradeAStoreOnce() async throws {
    try database { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
    let (path, schema) = (path, Self.later(Self.steps))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { try SchemaUpgrade(schema, path: path, busyTimeoutSeconds: 20).run(opening: path) }
      }
      try await group.waitForAll()
    }
    #expect(try version() == 5)
    #expect(
      try database { try String.fetchAll($0, sql: "SELECT y FROM t ORDER BY x") } == ["old 1", "old 2"])
  }

  /// The number of POSIX locks that this process holds on a file. One read of /proc/locks can miss some of
  /// them while other processes lock and unlock files, so the largest number of ten reads is returned.
  private func locks(on path: String) throws -> Int {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return try (0..<10).map { _ in
      try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").count {
        $0.contains(" POSIX ") && $0.contains(" \(getpid()) ") && $0.contains(":\(status.st_ino) ")
      }
    }.max() ?? 0
  }

  /// If a connection loses its locks, another process believes that it is the last user of the file. That
  /// process then removes the write-ahead log with all commits in it.
  @Test func anUpgradeCheckKeepsLocksOfOtherConnectionsInTheProcess() throws {
    try upgrade(Self.steps)
    let schema = Self.later(Self.steps)
    func open() throws -> DatabaseQueue {
      var configuration = Configuration()
      configuration.prepareDatabase { _ = try schema.isCreated(in: $0, path: path) }
      return try SchemaUpgrade(schema, path: path, busyTimeoutSeconds: 5).opening(path) {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; SELECT count(*) FROM t") }
        return queue
      }
    }
    let first = try open()
    let before = try locks(on: path)
    #expect(before > 0)
    let second = try open()
    try second.close()
    #expect(try locks(on: path) == before)
    try first.close()
  }

  @Test func openingAStoreAgainKeepsItsLocks() throws {
    let store = folder.appending(path: "store.db").path
    let first = try Store.openOrCreate(path: store, role: .editor, zone: LogbookZone(name: "Europe/Madrid"))
    let before = try locks(on: store)
    #expect(before > 0)
    for role in [StoreRole.reader, .importer, .sync] {
      _ = try Store(path: store, role: role)
      #expect(try locks(on: store) == before, "\(role)")
    }
    _ = first
  }

  @Test func aFileOfAnEarlierVersionIsOpenedAfterItsUpgrade() throws {
    let schema = Self.later(Self.steps)
    var configuration = Configuration()
    configuration.prepareDatabase { _ = try schema.isCreated(in: $0, path: path) }
    let queue = try SchemaUpgrade(schema, path: path, busyTimeoutSeconds: 5).opening(path) {
      try DatabaseQueue(path: path, configuration: configuration)
    }
    #expect(try queue.inDatabase { try String.fetchAll($0, sql: "SELECT y FROM t") } == ["old 1", "old 2"])
    try queue.close()
  }

  /// Another connection writes and holds the lock. Waiting for the lock would fail with "locked" instead of
  /// the real reason, the schema.
  @Test func aFileOfANewerSchemaIsRefusedEvenWhileItIsWritten() throws {
    let schema = Self.later(Self.steps)
    try database { try $0.execute(sql: "PRAGMA user_version = 9") }
    var configuration = Configuration()
    configuration.prepareDatabase { _ = try schema.isCreated(in: $0, path: path) }
    var ofWriter = Configuration()
    ofWriter.allowsUnsafeTransactions = true
    let writer = try DatabaseQueue(path: path, configuration: ofWriter)
    try writer.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    #expect {
      try SchemaUpgrade(schema, path: path, busyTimeoutSeconds: 0).opening(path) {
        try DatabaseQueue(path: path, configuration: configuration)
      }
    } throws: { ($0 as? Failure)?.message.contains("update glucoport") == true }
    try writer.inDatabase { try $0.execute(sql: "ROLLBACK") }
    try writer.close()
  }
}
