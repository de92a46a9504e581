// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import SQLiteRows
import Testing

@testable import LogbookStore

/// Tests a store with a journal that somebody else has put next to it. A journal can name a file at its end,
/// and SQLite deletes this file.
@Suite struct ForeignJournalTests {
  private let scratch: ScratchStore
  private let other: String

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open()
    other = scratch.folder.appending(path: "precious").path
    try "precious".write(toFile: other, atomically: false, encoding: .utf8)
    try DatabaseQueue(path: scratch.path).writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA journal_mode = DELETE")
    }
  }

  private static func bytes(_ number: Int) -> [UInt8] {
    (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Writes a journal without pages. Its format is described in
  /// https://www.sqlite.org/fileformat2.html#the_rollback_journal.
  private func writeJournal(naming name: String?) throws {
    let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let pageSize = Configuration.pageSize
    let pages = try Data(contentsOf: URL(filePath: scratch.path)).count / pageSize
    var journal = mark + [0, 1, pages, 512, pageSize].flatMap { Self.bytes($0) }
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    if let name {
      let (text, lockPage) = (Array(name.utf8), 0x4000_0000 / pageSize + 1)
      journal += Self.bytes(lockPage) + text + Self.bytes(text.count)
      journal += Self.bytes(text.reduce(0) { $0 + Int($1) }) + mark
    }
    try Data(journal).write(to: URL(filePath: scratch.path + "-journal"))
  }

  private var hasOther: Bool { FileManager.default.fileExists(atPath: other) }

  /// Proves that SQLite obeys a journal from `writeJournal`, so that the next test checks a real danger.
  @Test func sqliteItselfDeletesTheFileThatAJournalNames() throws {
    try writeJournal(naming: other)
    try DatabaseQueue(path: scratch.path).inDatabase {
      _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM setting")
    }
    #expect(!hasOther)
  }

  @Test(arguments: [StoreRole.reader, .importer, .editor, .sync])
  func aStoreWithAJournalThatNamesAnotherFileIsNotOpened(_ role: StoreRole) throws {
    try writeJournal(naming: other)
    let failure = #expect(throws: Failure.self) { try Store(path: scratch.path, role: role) }
    #expect(
      failure?.category == .badInput && failure?.message.contains("-journal: this journal names") == true)
    let refused = #expect(throws: Failure.self) {
      try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: false)
    }
    #expect(refused?.message == failure?.message)
    #expect(hasOther)
  }

  /// A store may have a journal from an interrupted command, which SQLite must apply. A foreign file must not
  /// change after it was checked, so its journal is refused.
  @Test func aJournalIsAppliedToTheOwnStoreAndRefusedForAForeignFile() throws {
    try writeJournal(naming: nil)
    let refused = #expect(throws: Failure.self) {
      try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: false)
    }
    #expect(refused?.category == .badInput && refused?.message.contains("a part of this store is in") == true)
    _ = try Store(path: scratch.path, role: .editor)
    #expect(try StoreExaminer(path: scratch.path).examine(isDeep: true)?.damage == [])
    try StoreExaminer(path: scratch.path).requireOwnSchema(isWritten: true)
    #expect(hasOther)
  }
}
