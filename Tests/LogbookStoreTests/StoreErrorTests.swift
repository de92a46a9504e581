// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests the message and the category that each error of SQLite gets.
@Suite struct StoreErrorTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func failure(_ code: ResultCode, _ message: String? = nil, path: String? = nil) throws -> Failure {
    let path = path ?? scratch.path
    let error = DatabaseError(resultCode: code, message: message)
    return try #require(#expect(throws: Failure.self) { try translatingErrors(path) { throw error } })
  }

  private static let categories: [(ResultCode, FailureCategory, String)] = [
    (.SQLITE_BUSY, .temporary, "another process holds the lock on the store; try again"),
    (.SQLITE_BUSY_SNAPSHOT, .temporary, "another process holds the lock on the store; try again"),
    (.SQLITE_LOCKED, .temporary, "another process holds the lock on the store; try again"),
    (
      .SQLITE_READONLY, .permission,
      "cannot write to the store: permission denied or read-only; check the file and its folder"
    ),
    (
      .SQLITE_PERM, .permission,
      "cannot write to the store: permission denied or read-only; check the file and its folder"
    ),
    (.SQLITE_NOTADB, .badInput, "not a glucoport store"),
    (
      .SQLITE_IOERR_WRITE, .inputOutput,
      "reading or writing the store failed (words of SQLite); is the disk full?"
    ),
    (.SQLITE_NOMEM, .inputOutput, "words of SQLite"), (.SQLITE_MISUSE, .inputOutput, "words of SQLite"),
  ]

  @Test(arguments: categories)
  func eachSQLiteErrorHasItsCategoryAndSentence(
    _ code: ResultCode, _ category: FailureCategory, _ text: String
  ) throws {
    let failure = try failure(code, "words of SQLite")
    #expect(failure.category == category)
    #expect(failure.message == "\(scratch.path): \(text)")
    let temporary = try self.failure(code, "words of SQLite", path: "")
    #expect(temporary.message == "the temporary copy: \(text)")
  }

  @Test func theErrorForADamagedStoreNamesTheCommandThatRestoresABackup() throws {
    let failure = try failure(.SQLITE_CORRUPT)
    #expect(failure.category == .inputOutput)
    #expect(failure.message == "\(scratch.path): the store is damaged; \(Store.recovery)")
  }

  /// The store and the temporary files of SQLite may be on different disks. The message must name the full
  /// one.
  @Test func theErrorForAFullDiskNamesTheStoreOrTheTemporaryFiles() throws {
    let elsewhere = try failure(.SQLITE_FULL)
    #expect(elsewhere.category == .inputOutput)
    #expect(
      elsewhere.message
        == "\(scratch.path): the folder for temporary files (TMPDIR) is full; the last batch was not stored, earlier ones are safe"
    )
    let here = try failure(.SQLITE_FULL, path: "")
    #expect(here.message.hasPrefix("the temporary copy: the disk is full; "))
  }

  @Test func theErrorForAStoreThatCannotBeOpenedStatesTheReason() throws {
    let missing = try failure(.SQLITE_CANTOPEN)
    #expect(missing.category == .cannotCreate && missing.message.hasPrefix("\(scratch.path): "))
    _ = try scratch.open()
    let log = try failure(.SQLITE_CANTOPEN)
    #expect(log.category == .cannotCreate)
    #expect(
      log.message.hasSuffix(
        "check the owner and permissions of '\(scratch.path)-wal' and '\(scratch.path)-shm'"))
    let temporary = try failure(.SQLITE_CANTOPEN, path: "")
    #expect(temporary.category == .cannotCreate)
    #expect(temporary.message == "the temporary copy: cannot be created in the folder for temporary files")
  }

  @Test func anUnusualSQLiteErrorNamesTheStore() throws {
    #expect(try failure(.SQLITE_PROTOCOL).message.hasPrefix("\(scratch.path): "))
  }

  /// SQLite's own message for this error contains the row. That message is not shown, since the row is health
  /// data.
  @Test func aRowOfAnotherTypeIsReportedWithoutItsContent() throws {
    let queue = try DatabaseQueue()
    let failure = #expect(throws: Failure.self) {
      try translatingErrors(scratch.path) {
        try queue.read { database in
          _ = try #require(try Row.fetchOne(database, sql: "SELECT 'secret' AS value")).decode(
            Int.self, forColumn: "value")
        }
      }
    }
    #expect(failure?.category == .inputOutput)
    #expect(failure?.message.contains("a row holds another type than its column") == true)
    #expect(failure?.message.contains("secret") == false)
  }
}
