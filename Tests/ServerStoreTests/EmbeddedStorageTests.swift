// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests what only the embedded storage has: its folder, its files and their rules.
@Suite struct EmbeddedStorageTests {
  private let folder: ScratchFolder
  private let token = LoginToken("gp_token")

  init() throws { folder = try ScratchFolder() }

  /// A storage with one login, which has stored a reading and a record.
  private func filled() async throws -> (storage: EmbeddedStorage, client: Client) {
    let logins = try Logins(folder: folder.path)
    try logins.add(name: "me", role: .write, logbook: "mine", token: token, at: 1)
    try logins.close()
    let storage = try EmbeddedStorage(folder: folder.path)
    let login = try #require(try await storage.logins.login(tokenHash: token.hash))
    let client = Client(
      RunningStorage(
        storage: storage, writer: login, reader: login, stranger: login, folder: folder,
        stop: storage.close))
    try await client.push(Sample.history(1))
    try await client.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("text")))
    return (storage, client)
  }

  private func logbookPath(_ login: Login) -> String { folder.path + "/logbooks/\(login.logbook).db" }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func otherUsersCannotReadTheServerFolderAndItsFiles() async throws {
    let storage = try EmbeddedStorage(folder: folder.path + "/new/data")
    #expect(try mode(folder.path + "/new/data") == 0o700)
    try await storage.close()
    let (open, client) = try await filled()
    #expect(try mode(folder.path + "/logbooks") == 0o700)
    for path in [folder.path + "/server.db", folder.path + "/lock", logbookPath(client.login)] {
      #expect(try mode(path) == 0o600, "\(path)")
    }
    for suffix in ["-wal", "-shm"] { #expect(try mode(logbookPath(client.login) + suffix) == 0o600) }
    try await open.close()
  }

  @Test func aServerFolderThatOtherUsersCanWriteToIsRefused() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: folder.path)
    #expect { try EmbeddedStorage(folder: folder.path) } throws: {
      ($0 as? Failure)?.category == .permission && "\($0)".contains("chmod 700")
    }
  }

  @Test func aLogbookFolderThatOtherUsersCanWriteToIsRefused() async throws {
    try await EmbeddedStorage(folder: folder.path).close()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: folder.path + "/logbooks")
    #expect { try EmbeddedStorage(folder: folder.path) } throws: {
      ($0 as? Failure)?.category == .permission && "\($0)".contains("/logbooks: other users")
    }
  }

  @Test func onlyAnEmptyServerFileIsMadePrivate() async throws {
    let path = folder.path + "/server.db"
    #expect(
      FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o644]))
    try await EmbeddedStorage(folder: folder.path).close()
    #expect(try mode(path) == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    try await EmbeddedStorage(folder: folder.path).close()
    #expect(try mode(path) == 0o640, "it holds something, and whoever gave the group access knows why")
  }

  @Test func twoServersCannotShareADataFolder() async throws {
    let storage = try EmbeddedStorage(folder: folder.path)
    #expect { try EmbeddedStorage(folder: folder.path) } throws: { ($0 as? Failure)?.category == .temporary }
    try await storage.close()
    try await EmbeddedStorage(folder: folder.path).close()
  }

  @Test func loginsAreAddedAndRevokedWhileAServerRuns() async throws {
    let (storage, _) = try await filled()
    let logins = try Logins(folder: folder.path)
    let other = LoginToken("gp_other")
    try logins.add(name: "other", role: .read, logbook: nil, token: other, at: 2)
    let login = try #require(try await storage.logins.login(tokenHash: other.hash))
    #expect(login.role == .read)
    #expect(
      try logins.list() == [
        ListedLogin(name: "me", role: .write, logbook: "mine", createdAt: 1),
        ListedLogin(name: "other", role: .read, logbook: "mine", createdAt: 2),
      ])
    try logins.remove(name: "other")
    #expect(try await storage.logins.login(tokenHash: other.hash) == nil)
    #expect { try logins.remove(name: "other") } throws: { ($0 as? Failure)?.category == .missingInput }
    try await storage.close()
  }

  @Test func addingALoginNeedsAUniqueNameAndAnUnambiguousLogbook() throws {
    let logins = try Logins(folder: folder.path)
    func refusal(_ name: String, _ logbook: String?) -> FailureCategory? {
      do {
        var generator = SystemRandomNumberGenerator()
        try logins.add(name: name, role: .read, logbook: logbook, token: LoginToken(using: &generator), at: 0)
        return nil
      } catch { return (error as? Failure)?.category }
    }
    #expect(refusal("a", nil) == .usage, "no logbook exists yet")
    #expect(refusal("a", "one") == nil)
    #expect(refusal("a", "one") == .usage)
    #expect(refusal("b", nil) == nil)
    #expect(refusal("c", "two") == nil)
    #expect(refusal("d", nil) == .usage, "there are two")
    for name in ["", String(repeating: "n", count: 65), "a\nb", "a\u{1B}[2J", "\u{202E}a"] {
      #expect(refusal(name, "one") == .usage)
      #expect(refusal("fine", name) == .usage)
    }
  }

  @Test func loginTokensAreStoredOnlyAsHashes() async throws {
    let (storage, _) = try await filled()
    try await storage.close()
    let bytes = try Data(contentsOf: URL(filePath: folder.path + "/server.db"))
    #expect(bytes.range(of: Data(token.text.utf8)) == nil)
    #expect(bytes.range(of: Data(token.hash)) != nil)
  }

  @Test func afterAStopTheLogbookFileHoldsAllDataWithoutALogFile() async throws {
    let (storage, client) = try await filled()
    // A connection of a reader is open, too, and is closed last.
    _ = try await client.service.changes(after: nil, limit: 10, client.run)
    try await storage.close()
    let copy = folder.path + "/copy.db"
    try FileManager.default.copyItem(atPath: logbookPath(client.login), toPath: copy)
    let readings = try await DatabaseQueue(path: copy).read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM reading")
    }
    #expect(readings == 1)
  }

  /// A server that stops because of a failing disk reports the disk, and not a bug of the program.
  @Test func aLogbookFileThatCannotBeClosedIsReportedAsADiskFailure() throws {
    let path = folder.path + "/a.db"
    try DataFolder.makeFile(path)
    let file = try DatabaseFile(path: path, name: "logbook a", schema: LogbookSchema.schema)
    _ = try file.writeNow { try ReadingStorage($0, node: 1, after: 0).store(Sample.history(1)) }
    #expect(truncate(path + "-wal", 0) == 0)
    let failure = #expect(throws: Failure.self) { try file.close() }
    #expect(failure?.category == .inputOutput)
    #expect(failure?.message.hasPrefix("logbook a: its file cannot be closed: ") == true)
  }

  @Test func serverCommitsReachTheDiskBeforeTheyAreAcknowledged() async throws {
    try DataFolder.makeFile(folder.path + "/a.db")
    let file = try DatabaseFile(path: folder.path + "/a.db", name: "a", schema: LogbookSchema.schema)
    let (synchronous, journal) = try file.writeNow { database in
      (
        try Int.fetchOne(database, sql: "PRAGMA synchronous"),
        try String.fetchOne(database, sql: "PRAGMA journal_mode")
      )
    }
    #expect(synchronous == 2 && journal == "wal")
    try file.close()
  }

  @Test(arguments: [
    ("DELETE FROM reading", "never deleted"), ("UPDATE reading SET value = 5", "immutable"),
    ("DELETE FROM record", "never removed"),
    ("UPDATE record SET seq = 9, revision = '9.0', kind = 'food'", "never change"),
    ("UPDATE record SET seq = seq - 1, revision = '9.0'", "behind every other"),
    ("UPDATE record SET state = '{}'", "behind every other"),
    ("UPDATE record SET seq = seq + 1", "new place"),
    ("DELETE FROM epoch", "never deleted"), ("UPDATE epoch SET tag = '00000000'", "immutable"),
    ("UPDATE node SET run_number = run_number - 1", "run number and last change of a node rise"),
    (
      "UPDATE record SET seq = 99, revision = '99.0', state = json_set(state, '$.deleted', json('true'))",
      "CHECK"
    ),
  ])
  func theLogbookFileRefusesForbiddenChangesByItsTriggers(_ sql: String, _ reason: String) async throws {
    let (storage, client) = try await filled()
    try await storage.close()
    let queue = try DatabaseQueue(path: logbookPath(client.login))
    #expect { try queue.write { try $0.execute(sql: sql) } } throws: { "\($0)".contains(reason) }
  }

  @Test func anotherProgramCannotMoveARecordBeforeOtherChanges() async throws {
    let (storage, client) = try await filled()
    try await client.push(Sample.history(5, from: 10))
    try await storage.close()
    let queue = try DatabaseQueue(path: logbookPath(client.login))
    let move = "UPDATE record SET seq = 4, revision = '4.0'"
    #expect { try queue.write { try $0.execute(sql: move) } } throws: {
      "\($0)".contains("behind every other")
    }
  }

  @Test func aReadOfAKnownSyncRunWritesNothingToTheFile() async throws {
    let (storage, client) = try await filled()
    var reader = client
    reader.run = RunStamp(node: Client.uuid(), number: 1, id: Client.uuid())
    _ = try await reader.pull()
    let log = URL(filePath: logbookPath(client.login) + "-wal")
    let before = try Data(contentsOf: log)
    #expect(try await reader.pull() == nil)
    try await client.push(Sample.history(1))
    _ = try await client.service.readingDigests(client.run)
    _ = try await client.service.logbook()
    #expect(try Data(contentsOf: log) == before)
    try await storage.close()
  }

  /// Within one run, a client can compare digests before and after another program has changed the file. So
  /// earlier digests must not be reused.
  @Test func eachDigestComparisonReadsAllRowsAgain() async throws {
    let (storage, client) = try await filled()
    let before = try await client.service.readingDigests(client.run)
    let other = try DatabaseQueue(path: logbookPath(client.login))
    try await other.write { database in
      for name in try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      {
        try database.execute(sql: "DROP TRIGGER \(name)")
      }
      try database.execute(sql: "DELETE FROM reading")
    }
    #expect(try await client.service.readingDigests(client.run) != before)
    try await storage.close()
  }

  @Test func databaseFilesOfOtherProgramsOrNewerVersionsAreRefused() throws {
    let foreign = try DatabaseQueue(path: folder.path + "/server.db")
    try foreign.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    #expect { try Logins(folder: folder.path) } throws: { ($0 as? Failure)?.category == .badInput }
    for (version, words) in [(1000, "newer glucoport"), (2, "no released glucoport")] {
      try foreign.write { database in
        try database.execute(sql: "PRAGMA application_id = 0x474C5553; PRAGMA user_version = \(version)")
      }
      #expect { try Logins(folder: folder.path) } throws: { error in
        let failure = error as? Failure
        return failure?.category == .configuration && failure?.message.contains(words) == true
      }
    }
  }

  @Test func manyLogbooksCanBeOpenedOneAfterTheOther() async throws {
    let logins = try Logins(folder: folder.path)
    let tokens = (0..<OpenLogbooks.maxOpen * 2).map { LoginToken("gp_\($0)") }
    for (number, token) in tokens.enumerated() {
      try logins.add(name: "\(number)", role: .write, logbook: "book \(number)", token: token, at: 0)
    }
    let storage = try EmbeddedStorage(folder: folder.path)
    for round in 0..<2 {
      for (number, token) in tokens.enumerated() {
        let login = try #require(try await storage.logins.login(tokenHash: token.hash))
        let run = RunStamp(node: Client.uuid(), number: 1, id: Client.uuid())
        let answer = try await storage.logbook(for: login).store(
          Sample.history(number + 1, from: round), run)
        #expect(answer.stored == (round == 0 ? number + 1 : 1))
      }
    }
    try await storage.close()
  }
}
