// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Remotes

/// A server of one kind, real as far as the remote can see, with one logbook.
protocol ConformanceServer: Sendable {
  var url: String { get }
  func token(canWrite: Bool) -> String
}

/// The servers against which the registered remotes are held, by the word of their kind.
enum ConformanceServers {
  static func start(_ kind: String) throws -> (any ConformanceServer)? {
    switch kind {
    case "glucoport": try LoopbackLogbook()
    case "nightscout": try LoopbackNightscout()
    default: nil
    }
  }
}

/// What the sync engine relies on, for every remote of the register.
@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
  static let kinds = RemoteRegister.all.map(\.id)

  /// The kinds with the calls that not every remote has.
  static let comparable = RemoteRegister.kinds.filter { $0 is any VerifyingRemote.Type }.map { $0.id }
  static let purgeable = RemoteRegister.kinds.filter { $0 is any PurgingRemote.Type }.map { $0.id }

  @Test func aGlucoportServerHasEveryCall() {
    #expect(Self.comparable.contains(GlucoportRemote.id) && Self.purgeable.contains(GlucoportRemote.id))
  }

  @Test(arguments: kinds) func everyKindHasItsServer(_ kind: String) throws {
    #expect(try ConformanceServers.start(kind) != nil)
  }

  @Test func everyKindHasAWordOfItsOwnAndAName() {
    #expect(Set(Self.kinds).count == Self.kinds.count)
    for kind in RemoteRegister.all {
      #expect(!kind.title.isEmpty && kind.id.allSatisfy { $0.isLowercase || $0 == "-" }, "\(kind)")
    }
  }

  @Test(arguments: kinds) func aLoginTellsItsLogbook(_ kind: String) async throws {
    try await with(kind) { remote in
      let logbook = try await remote.logbook()
      #expect(!logbook.id.isEmpty && logbook.isWritable)
      #expect(logbook.maxReadings > 0 && logbook.maxRecords > 0)
      #expect(try await remote.logbook().id == logbook.id)
    }
  }

  @Test(arguments: kinds) func readingsThatAreSentAgainAreKnown(_ kind: String) async throws {
    try await with(kind) { remote in
      let first = try await remote.push(Sample.batch(20), Login.run())
      #expect(first.stored == 20 && first.known == 0 && first.refused.isEmpty)
      let second = try await remote.push(Sample.batch(25), Login.run())
      #expect(second.stored == 5 && second.known == 20 && second.differing.isEmpty)
    }
  }

  @Test(arguments: kinds) func aReadingWithAnotherValueIsTold(_ kind: String) async throws {
    try await with(kind) { remote in
      var batch = Sample.batch(3)
      _ = try await remote.push(batch, Login.run())
      batch.readings[1].measurement = .value(Quantity(250, .milligramsPerDecilitre))
      #expect(try await remote.push(batch, Login.run()).differing == [1])
    }
  }

  @Test(arguments: kinds) func whatOneNodeSendsComesToAnotherOnceAndNotBack(_ kind: String) async throws {
    try await with(kind) { remote in
      let batch = Sample.batch(30)
      _ = try await remote.push(batch, Login.run())
      let change = RecordChange(
        guid: Login.logbookID, node: Login.run().node, version: 1, base: nil, state: Sample.note("a"))
      _ = try await remote.push([change], Login.run())
      let own = try await pull(remote, Login.run())
      #expect(own.readings.isEmpty && own.records.isEmpty)
      let other = try await pull(remote, Login.run(node: 2))
      #expect(other.readings.count == 30 && Set(other.readings).count == 30)
      #expect(other.records.map(\.state) == [change.state])
      #expect(try await remote.changes(after: other.cursor, limit: 10, Login.run(node: 2)) == nil)
    }
  }

  @Test(arguments: kinds) func aChangeThatIsSentAgainHasTheSameAnswer(_ kind: String) async throws {
    try await with(kind) { remote in
      let change = RecordChange(
        guid: Login.logbookID, node: Login.run().node, version: 1, base: nil, state: Sample.note("a"))
      let first = try await remote.push([change], Login.run())
      guard case .accepted = first.verdicts.first else {
        Issue.record("\(first)")
        return
      }
      #expect(try await remote.push([change], Login.run()).verdicts == first.verdicts)
    }
  }

  @Test(arguments: kinds) func aChangeOnAnOlderBaseIsAConflictWithTheRemotesState(_ kind: String) async throws
  {
    try await with(kind) { remote in
      let guid = Login.logbookID
      let first = RecordChange(
        guid: guid, node: Login.run().node, version: 1, base: nil, state: Sample.note("a"))
      guard case .accepted(let base) = try await remote.push([first], Login.run()).verdicts.first else {
        Issue.record("not accepted")
        return
      }
      let theirs = RecordChange(
        guid: guid, node: Login.run(node: 2).node, version: 1, base: base, state: Sample.note("b"))
      _ = try await remote.push([theirs], Login.run(node: 2))
      let mine = RecordChange(
        guid: guid, node: Login.run().node, version: 2, base: base, state: Sample.note("c"))
      let answer = try await remote.push([mine], Login.run())
      guard case .conflict(let revision, let state, true) = answer.verdicts.first else {
        Issue.record("\(answer)")
        return
      }
      #expect(revision != base && state == theirs.state)
    }
  }

  @Test(arguments: kinds) func theDigestsAreThoseOfTheIdentitiesThatWereSent(_ kind: String) async throws {
    try await with(kind) { remote in
      let batch = Sample.batch(50)
      var expected = IdentityDigests()
      for reading in batch.readings { expected.insert(ReadingIdentity(reading, of: batch.devices[0]).bytes) }
      _ = try await remote.push(batch, Login.run())
      #expect(try await remote.readingDigests(Login.run()) == expected)
    }
  }

  @Test(arguments: comparable)
  func aRemoteThatCanBeComparedTellsWhatIsInItsBuckets(_ kind: String) async throws {
    try await with(kind) { remote in
      let verifying = try #require(remote as? any VerifyingRemote)
      let batch = Sample.batch(50)
      _ = try await remote.push(batch, Login.run())
      let changes = ["0a", "0b", "0b"].enumerated().map { place, start in
        RecordChange(
          guid: "\(start)000000-0000-4000-8000-00000000000\(place)", node: Login.run().node, version: 1,
          base: nil,
          state: Sample.note("\(place)"))
      }
      _ = try await remote.push(changes, Login.run())
      let identities = batch.readings.map { ReadingIdentity($0, of: batch.devices[0]) }
      let bucket = IdentityDigests.bucket(of: identities[7].bytes)
      let found = try await verifying.readings(in: [bucket], Login.run())
      #expect(
        Set(found.readings.map { ReadingIdentity($0, of: found.devices[Int($0.device.number)]) })
          == Set(identities.filter { IdentityDigests.bucket(of: $0.bytes) == bucket }))
      var expected = IdentityDigests()
      for change in changes { expected.insert(change.guid, change.state) }
      #expect(try await verifying.recordDigests(Login.run()) == expected)
      var (records, after) = ([RemoteRecord](), String?.none)
      for _ in 0..<10 {
        let page = try await verifying.records(in: [0x0A0, 0x0B0], after: after, Login.run())
        records += page.records
        after = page.records.last?.guid
        if !page.hasMore { break }
      }
      #expect(records.map(\.guid) == changes.map(\.guid) && records.map(\.state) == changes.map(\.state))
    }
  }

  @Test(arguments: purgeable) func aRemoteThatCanPurgeTellsEverybodyThatTheLogbookIsGone(_ kind: String)
    async throws
  {
    try await with(kind) { remote in
      let purging = try #require(remote as? any PurgingRemote)
      _ = try await remote.push(Sample.batch(3), Login.run())
      let logbook = try await remote.logbook()
      var other = logbook
      other.name = "another"
      await #expect(throws: RemoteError.self) { try await purging.purge(other) }
      #expect(try await remote.push(Sample.batch(3), Login.run()).known == 3)
      try await purging.purge(logbook)
      await #expect(throws: RemoteError.purged) { _ = try await remote.logbook() }
      await #expect(throws: RemoteError.purged) { _ = try await remote.push(Sample.batch(1), Login.run()) }
      await #expect(throws: RemoteError.purged) { try await purging.purge(logbook) }
    }
  }

  @Test func theGlucoportRemoteCanDoBoth() async throws {
    try await with("glucoport") { remote in
      #expect(remote is any VerifyingRemote && remote is any PurgingRemote)
    }
  }

  @Test(arguments: kinds) func aWrongTokenIsRefused(_ kind: String) async throws {
    let problem = await #expect(throws: RemoteError.self) {
      try await with(kind, token: "wrong") { _ = try await $0.logbook() }
    }
    guard case .loginRefused = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
  }

  @Test(arguments: kinds) func aLoginForReadingMayNotWrite(_ kind: String) async throws {
    try await with(kind, canWrite: false) { remote in
      let logbook = try await remote.logbook()
      #expect(!logbook.isWritable)
      let pulled = try await pull(remote, Login.run())
      #expect(pulled.readings.isEmpty)
      await #expect(throws: RemoteError.readOnly) { try await remote.push(Sample.batch(1), Login.run()) }
    }
  }

  private func with(
    _ kind: String, canWrite: Bool = true, token: String? = nil,
    _ body: (any Remote) async throws -> Void
  ) async throws {
    let server = try #require(try ConformanceServers.start(kind))
    let login = RemoteLogin(
      address: try RemoteAddress(server.url, allowsPlainHTTP: false),
      token: try Login.token(token ?? server.token(canWrite: canWrite)), agent: "glucoport/test")
    try await RemoteRegister.with(kind, login) { try await body($0) }
  }

  /// Everything behind a cursor, page by page of seven.
  private func pull(
    _ remote: any Remote, _ run: RunStamp
  ) async throws -> (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) {
    var found: (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) = ([], [], nil)
    while let page = try await remote.changes(after: found.cursor, limit: 7, run) {
      found.readings += page.readings.readings.map {
        ReadingIdentity($0, of: page.readings.devices[Int($0.device.number)])
      }
      found.records += page.records
      try #require(page.cursor != found.cursor, "a page moves the cursor")
      found.cursor = page.cursor
      if !page.hasMore { break }
    }
    return found
  }
}
