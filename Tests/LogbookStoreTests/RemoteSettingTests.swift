// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

@Suite struct RemoteSettingTests {
  private static let access = RemoteAccess(
    kind: "glucoport", url: "https://host.example", token: .file("/home/anna/token"))
  private static let anna = logbook("0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11", "Anna")
  private static let other = logbook("99999999-9999-4999-8999-999999999999", "Other")

  private static func logbook(_ id: String, _ name: String) -> RemoteLogbook {
    RemoteLogbook(id: id, name: name, isWritable: true, maxReadings: 10, maxRecords: 10)
  }

  /// A store that was synced with Anna's logbook. Two readings and a record are uploaded; one more reading
  /// and one more record are pending.
  private func syncedStore() throws -> ScratchStore {
    let scratch = try ScratchStore()
    try scratch.ingest(
      Make.batch([
        Make.reading(.smbg, Make.milligrams(100)),
        Make.reading(.smbg, Make.milligrams(110), at: Make.noon + 60),
        Make.reading(.ketone, Make.millimoles(0.4)),
      ]))
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "1")]))
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(40)], sourceID: "2")]))
    let store = try scratch.open(.sync)
    try store.setRemote(Self.access, logbook: Self.anna, isNewRemote: false, at: 5000)
    try store.queue.inDatabase { database in
      try database.execute(
        sql: """
          UPDATE reading SET uploaded = 1 WHERE partition = 1;
          UPDATE record SET version_synced = 1, base = '{}', revision = 'r1', sent = 's', sent_version = 1,
            conflict = '{}', conflict_revision = 'r2', quarantine = 'no', quarantined_version = 1
          WHERE guid = (SELECT min(guid) FROM record);
          UPDATE remote SET cursor = 'c1', last_position = 'm1', run = 4, run_id = 'x', failures = 2, next_attempt = 9000,
            last_error = 'e', last_success = 8000
          """)
    }
    return scratch
  }

  @Test func aStoreHasNoRemoteAtFirst() throws {
    #expect(try ScratchStore().open(.reader).remote() == nil)
  }

  @Test(arguments: [TokenSource.file("/a b/token"), .command("pass show 'x'")])
  func aRemoteIsReadBackAsItWasSet(_ token: TokenSource) throws {
    let scratch = try ScratchStore()
    var access = Self.access
    access.token = token
    access.allowsPlainHTTP = true
    let change = try scratch.open(.sync).setRemote(access, logbook: Self.anna, isNewRemote: false, at: 5000)
    #expect(change == .added)
    let setting = try #require(try scratch.open(.reader).remote())
    #expect(setting.access == access)
    #expect(setting.logbook == Self.anna.id && setting.logbookName == "Anna")
    #expect(setting.node.count == 36 && setting.run == 0 && setting.runID == nil && setting.cursor == nil)
  }

  @Test func anotherAddressOrTokenOfTheSameLogbookKeepsTheSyncState() throws {
    let scratch = try syncedStore()
    let before = try #require(try scratch.open(.reader).remote())
    let access = RemoteAccess(kind: "glucoport", url: "https://moved.example", token: .command("echo x"))
    for isNewRemote in [false, true] {
      let change = try scratch.open(.sync).setRemote(
        access, logbook: Self.anna, isNewRemote: isNewRemote, at: 5000)
      #expect(change == .kept)
    }
    let after = try #require(try scratch.open(.reader).remote())
    #expect(after.access == access && after.node == before.node && after.run == 4)
    #expect(after.cursor == "c1" && after.lastSeenPosition == "m1" && after.lastSuccess == 8000)
    #expect(after.failures == 0 && after.nextAttempt == nil && after.lastError == nil)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 0") == 1)
    #expect(try scratch.number("SELECT count(*) FROM requeue") == 0)
  }

  @Test func theTimeWhenARemoteWasSetIsStored() throws {
    let scratch = try ScratchStore()
    let since = { try scratch.open(.reader).remote()?.since }
    let set = { (logbook: RemoteLogbook, time: Int64) in
      _ = try scratch.open(.sync).setRemote(Self.access, logbook: logbook, isNewRemote: true, at: time)
    }
    try set(Self.anna, 5000)
    try set(Self.anna, 6000)
    #expect(try since() == 5000, "another token is no other remote")
    try set(Self.other, 7000)
    #expect(try since() == 7000)
    #expect(try scratch.open(.sync).removeRemote())
    try set(Self.other, 8000)
    #expect(try since() == 8000)
  }

  @Test func settingARemoteWithAnotherLogbookIsRefused() throws {
    let scratch = try syncedStore()
    let before = try everything(scratch)
    let failure = #expect(throws: Failure.self) {
      try scratch.open(.sync).setRemote(Self.access, logbook: Self.other, isNewRemote: false, at: 5000)
    }
    #expect(failure?.category == .configuration)
    #expect(failure?.message.contains("--new-remote") == true && failure?.message.contains("Anna") == true)
    #expect(try everything(scratch) == before)
  }

  @Test func settingANewRemoteQueuesEverythingAgainWithTheReason() throws {
    let scratch = try syncedStore()
    let node = try scratch.open(.reader).remote()?.node
    let change = try scratch.open(.sync).setRemote(
      Self.access, logbook: Self.other, isNewRemote: true, at: 6000)
    #expect(change == .requeued)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE uploaded = 1") == 0)
    try scratch.expectCountersEqualCount()
    #expect(
      try scratch.number(
        """
        SELECT count(*) FROM record WHERE version_synced = 0 AND base IS NULL AND revision IS NULL AND sent IS NULL
          AND sent_version IS NULL AND quarantine IS NULL AND quarantined_version IS NULL
        """) == 2)
    // A conflict is stored only in this store, so it is kept. A person must still resolve it.
    #expect(try scratch.number("SELECT count(*) FROM record WHERE conflict IS NOT NULL") == 1)
    #expect(try scratch.rows("SELECT at, reason, is_open FROM requeue") == ["6000 new remote 0"])
    let setting = try #require(try scratch.open(.reader).remote())
    #expect(setting.logbook == Self.other.id && setting.cursor == nil && setting.lastSeenPosition == nil)
    #expect(setting.lastSuccess == nil && setting.node == node && setting.run == 4)
  }

  // MARK: - A persistent failure

  private static let refused = PersistentFailure(
    Failure(.permission, "host.example: no such token; check it"), since: 7000, tokenMark: "a3f1")

  @Test(arguments: [refused, PersistentFailure(Failure(.missingInput, ""), since: -1, tokenMark: "")])
  func aPersistentFailureOfTheRemoteIsReadBackAsStored(_ failure: PersistentFailure) throws {
    let scratch = try syncedStore()
    try scratch.open(.sync).sync { try $0.storePersistentFailure(failure) }
    #expect(try scratch.open(.reader).remote()?.persistentFailure == failure)
  }

  @Test func onlyTheSameRemoteFailureWithTheSameTokenCountsAsReported() {
    let same = Failure(.permission, "in other words")
    #expect(Self.refused.isSame(as: same, tokenMark: "a3f1"))
    #expect(!Self.refused.isSame(as: same, tokenMark: "a3f2"))
    #expect(!Self.refused.isSame(as: Failure(.configuration, same.message), tokenMark: "a3f1"))
  }

  @Test func anInvalidStoredRemoteFailureIsIgnored() throws {
    let scratch = try syncedStore()
    for text in ["", "permission", "permission x a3f1 words", "unheard-of 1 a3f1 words"] {
      try scratch.open(.sync).queue.inDatabase { database in
        try database.execute(
          sql: "INSERT OR REPLACE INTO setting VALUES ('lasting-failure', ?)", arguments: [text])
      }
      #expect(try scratch.open(.reader).remote()?.persistentFailure == nil, "\(text)")
    }
  }

  /// A sync that sent no request (`asked` is false) does not prove that the login works, so it keeps the
  /// failure.
  @Test func anAnswerOrANewRemoteSettingClearsAPersistentFailure() throws {
    let scratch = try syncedStore()
    let store = try scratch.open(.sync)
    func afterFailure(_ work: (Store) throws -> Void) throws -> RemoteSetting? {
      try store.sync { try $0.storePersistentFailure(Self.refused) }
      try work(store)
      return try store.remote()
    }
    let idle = try afterFailure {
      try $0.sync { try $0.storeSuccess(at: 9, pushed: true, pulled: false, asked: false) }
    }
    #expect(idle?.persistentFailure == Self.refused && idle?.lastError == "e" && idle?.failures == 2)
    #expect(idle?.lastSuccess == 9 && idle?.lastPush == 9)
    let set = try afterFailure {
      try $0.setRemote(Self.access, logbook: Self.anna, isNewRemote: false, at: 10)
    }
    #expect(set?.persistentFailure == nil)
    let asked = try afterFailure {
      try $0.sync { try $0.storeSuccess(at: 11, pushed: true, pulled: false, asked: true) }
    }
    #expect(asked?.persistentFailure == nil && asked?.lastError == nil)
    _ = try afterFailure { _ = try $0.removeRemote() }
    #expect(try scratch.number("SELECT count(*) FROM setting WHERE name = 'lasting-failure'") == 0)
  }

  @Test func aNewRemoteDoesNotChangeContentAndVersionsOfRecords() throws {
    let scratch = try syncedStore()
    let content = "SELECT guid, version, fields, deleted, device_time FROM record ORDER BY guid"
    let before = try scratch.rows(content)
    try scratch.open(.sync).setRemote(Self.access, logbook: Self.other, isNewRemote: true, at: 6000)
    #expect(try scratch.rows(content) == before)
  }

  @Test func theLogbookOfARemovedRemoteStaysKnown() throws {
    let scratch = try syncedStore()
    #expect(try scratch.open(.sync).removeRemote())
    #expect(try scratch.open(.reader).remote() == nil)
    #expect(try scratch.rows("SELECT token_file, token_command, url FROM remote") == ["NULL NULL NULL"])
    #expect(try !scratch.open(.sync).removeRemote())
    #expect(throws: Failure.self) {
      try scratch.open(.sync).setRemote(Self.access, logbook: Self.other, isNewRemote: false, at: 5000)
    }
    let change = try scratch.open(.sync).setRemote(
      Self.access, logbook: Self.anna, isNewRemote: false, at: 5000)
    #expect(change == .kept)
    #expect(try scratch.open(.reader).remote()?.cursor == "c1")
  }

  @Test(arguments: [
    "INSERT INTO remote (id, node) VALUES (2, 'n')",
    "UPDATE remote SET token_command = 'x'", "UPDATE remote SET token_file = NULL",
    "UPDATE remote SET kind = NULL", "UPDATE remote SET logbook = NULL",
    "UPDATE remote SET logbook_name = NULL",
    "UPDATE remote SET node = NULL", "UPDATE remote SET run = -1", "UPDATE remote SET run = 0",
    "UPDATE remote SET failures = -1", "UPDATE remote SET allows_plain_http = 2",
  ])
  func theDatabaseRefusesAnImpossibleRemoteSetting(_ sql: String) throws {
    #expect(try syncedStore().refusal(.sync, sql) != nil)
  }

  @Test(arguments: [StoreRole.importer, .editor])
  func onlyTheSyncRoleMayChangeTheRemote(_ role: StoreRole) throws {
    let scratch = try syncedStore()
    #expect(try scratch.refusal(role, "UPDATE remote SET cursor = NULL") == "only sync writes the remote")
    #expect(
      try ScratchStore().refusal(role, "INSERT INTO remote (id, node) VALUES (1, 'n')")
        == "only sync writes the remote")
  }

  /// All rows of the tables that a change of the remote affects.
  private func everything(_ scratch: ScratchStore) throws -> [String] {
    try ["reading", "record", "remote", "requeue", "series"].flatMap {
      try scratch.rows("SELECT * FROM \($0)")
    }
  }
}
