// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests the logins of a server's data folder.
@Suite struct LoginTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func opened() throws -> Logins { try Logins(folder: folder.path) }

  private func add(
    _ logins: Logins, _ name: String, _ logbook: String? = "book", token: String? = nil
  ) throws {
    try logins.add(
      name: name, role: .write, logbook: logbook, token: LoginToken(token ?? "gp_\(name)"), at: 5)
  }

  private func expectUsage(_ words: String, _ work: () throws -> Void) {
    #expect {
      try work()
    } throws: {
      ($0 as? Failure)?.category == .usage && "\($0)".contains(words)
    }
  }

  @Test func loginsAreListedByNameWithoutTheirTokens() throws {
    let logins = try opened()
    try add(logins, "b")
    try logins.add(name: "a", role: .read, logbook: "other", token: LoginToken("gp_secret"), at: 7)
    #expect(
      try logins.list() == [
        ListedLogin(name: "a", role: .read, logbook: "other", createdAt: 7),
        ListedLogin(name: "b", role: .write, logbook: "book", createdAt: 5),
      ])
    try logins.close()
    let bytes = try Data(contentsOf: URL(filePath: folder.path + "/server.db"))
    #expect(bytes.range(of: Data("gp_secret".utf8)) == nil)
    #expect(bytes.range(of: Data("other".utf8)) != nil)
  }

  @Test func theNameOfALoginIsUniqueUntilItIsRevoked() async throws {
    let logins = try opened()
    try add(logins, "a")
    expectUsage("exists already") { try add(logins, "a", token: "gp_other") }
    #expect(try await logins.login(tokenHash: LoginToken("gp_other").hash, at: 9) == nil)
    try logins.remove(name: "a")
    #expect(try await logins.login(tokenHash: LoginToken("gp_a").hash, at: 9) == nil)
    try add(logins, "a", token: "gp_other")
    #expect(try await logins.login(tokenHash: LoginToken("gp_other").hash, at: 9)?.name == "a")
    #expect(
      try await logins.login(tokenHash: LoginToken("gp_a").hash, at: 9) == nil, "the old one stays revoked")
  }

  @Test(arguments: [
    "", "a\n", "a\u{1B}[31m", "a\u{0}", "a\u{7F}", "a\u{85}", "a\u{2028}b", "a\u{202E}b", "a\u{200B}b",
    "\u{E000}", String(repeating: "x", count: 65),
  ])
  func anUnprintableLoginNameIsRefused(_ name: String) throws {
    let logins = try opened()
    expectUsage("1 to 64 characters") { try add(logins, name) }
    expectUsage("1 to 64 characters") { try add(logins, "a", name) }
    #expect(try logins.list().isEmpty)
  }

  @Test(arguments: [
    "x", "Anna Müller", "安娜", "'; DROP TABLE login; --", "<b>", String(repeating: "x", count: 64),
  ])
  func everyPrintableLoginNameIsStoredUnchanged(_ name: String) async throws {
    let logins = try opened()
    try add(logins, name, name, token: "gp_x")
    #expect(try logins.list().map { [$0.name, $0.logbook] } == [[name, name]])
    try logins.rotate(name: name, token: LoginToken("gp_y"), graceSeconds: 0, at: 6)
    #expect(try await logins.login(tokenHash: LoginToken("gp_y").hash, at: 6)?.name == name)
    try logins.remove(name: name)
    #expect(try logins.list().isEmpty)
  }

  @Test func withoutALogbookNameANewLoginUsesTheOnlyLogbook() throws {
    let logins = try opened()
    expectUsage("--logbook") { try add(logins, "a", nil) }
    try add(logins, "a", "one")
    try add(logins, "b", nil)
    try add(logins, "c", "two")
    expectUsage("one, two") { try add(logins, "d", nil) }
    #expect(try logins.list().map(\.logbook) == ["one", "one", "two"])
  }

  @Test func aTokenGrantsAccessOnlyToTheLogbookOfItsLogin() async throws {
    let logins = try opened()
    try add(logins, "a", "one")
    try add(logins, "b", "two")
    let one = try #require(try await logins.login(tokenHash: LoginToken("gp_a").hash, at: 9))
    let two = try #require(try await logins.login(tokenHash: LoginToken("gp_b").hash, at: 9))
    #expect(one.logbook != two.logbook && one.name == "a" && two.name == "b")
    #expect(try await logins.logbookName(one.logbook) == "one")
    #expect(try await logins.logbookName("none") == "")
  }

  // MARK: - Rotation

  private func replaced(_ logins: Logins) throws -> [Int64] {
    try logins.file.readNow { database in
      try Int64.fetchAll(database, sql: "SELECT until FROM replaced_token ORDER BY until")
    }
  }

  @Test func replacingATokenWithoutGracePeriodRemovesTheOldToken() throws {
    let logins = try opened()
    try add(logins, "a")
    try logins.rotate(name: "a", token: LoginToken("gp_2"), graceSeconds: 0, at: 100)
    #expect(try replaced(logins).isEmpty)
    #expect(try logins.list().map(\.createdAt) == [5], "when it was added stays")
  }

  @Test func aReplacementCanShortenButNeverExtendTheGracePeriodOfEarlierTokens() throws {
    let logins = try opened()
    try add(logins, "a")
    try add(logins, "b")
    try logins.rotate(name: "b", token: LoginToken("gp_b2"), graceSeconds: 1000, at: 100)
    try logins.rotate(name: "a", token: LoginToken("gp_2"), graceSeconds: 500, at: 100)
    try logins.rotate(name: "a", token: LoginToken("gp_3"), graceSeconds: 50, at: 200)
    #expect(try replaced(logins) == [250, 250, 1100])
    // A longer grace period does not extend the earlier ones.
    try logins.rotate(name: "a", token: LoginToken("gp_4"), graceSeconds: 600, at: 210)
    #expect(try replaced(logins) == [250, 250, 810, 1100])
    // Expired tokens are removed at the next rotation.
    try logins.rotate(name: "b", token: LoginToken("gp_b3"), graceSeconds: 10, at: 300)
    #expect(try replaced(logins) == [310, 310, 810])
  }

  @Test func aReplacedTokenKeepsItsLoginAndRoleDuringItsGracePeriod() async throws {
    let logins = try opened()
    try logins.add(name: "a", role: .read, logbook: "book", token: LoginToken("gp_1"), at: 5)
    let before = try await logins.login(tokenHash: LoginToken("gp_1").hash, at: 99)
    try logins.rotate(name: "a", token: LoginToken("gp_2"), graceSeconds: 10, at: 100)
    for token in ["gp_1", "gp_2"] {
      #expect(try await logins.login(tokenHash: LoginToken(token).hash, at: 109) == before, "\(token)")
    }
    #expect(before?.role == .read)
    // Without a time, only the latest token of a login is found.
    #expect(try await logins.login(tokenHash: LoginToken("gp_1").hash) == nil)
    #expect(try await logins.login(tokenHash: LoginToken("gp_2").hash) == before)
  }

  @Test func aMissingLoginCannotBeReplacedOrRemoved() throws {
    let logins = try opened()
    try add(logins, "a")
    let works: [() throws -> Void] = [
      { try logins.rotate(name: "A", token: LoginToken("gp_2"), graceSeconds: 0, at: 9) },
      { try logins.remove(name: "A") }, { try logins.remove(name: "") },
    ]
    for work in works {
      #expect {
        try work()
      } throws: {
        ($0 as? Failure)?.category == .missingInput && "\($0)".contains("serve token list")
      }
    }
    #expect(try logins.list().count == 1)
  }

  // MARK: - Rules of the file

  @Test(arguments: [
    "UPDATE logbook SET id = '00000000-0000-4000-8000-000000000001'",
    "INSERT OR REPLACE INTO logbook (id, name) VALUES ('00000000-0000-4000-8000-000000000001', 'book')",
    "DELETE FROM logbook", "UPDATE login SET role = 'admin'", "UPDATE login SET token_hash = x'00'",
    "UPDATE login SET name = ''", "INSERT INTO replaced_token VALUES (x'00', 'a', 5)",
  ])
  func invalidChangesByOtherProgramsAreRefusedByTheLoginFile(_ sql: String) throws {
    let logins = try opened()
    try add(logins, "a")
    let before = try logins.list()
    #expect(throws: (any Error).self) { try logins.file.writeNow { try $0.execute(sql: sql) } }
    #expect(try logins.list() == before)
  }
}
