// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import LogbookStore
import ServerStore
import Testing

@testable import Sync

/// Passes requests to a real logbook and its parts, and lists the names of these requests. A test can make
/// requests fail.
private actor PartsRemote: LogbookService, PartService {
  nonisolated var parts: (any PartService)? { self }

  private(set) var requests: [String] = []
  private let service: any LogbookService
  private var refusesRecords = false
  private var failures = 0

  init(_ service: any LogbookService) { self.service = service }

  func refuseRecords() { refusesRecords = true }
  /// Makes the next `count` requests for parts fail.
  func fail(_ count: Int) { failures = count }
  func forget() { requests = [] }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    try await ask("logbook") { () async throws(ServiceError) in try await service.logbook() }
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await ask("push readings") { () async throws(ServiceError) in
      try await service.store(batch, run)
    }
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await ask("push records") { () async throws(ServiceError) in
      try await service.apply(changes, run)
    }
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    try await ask("changes") { () async throws(ServiceError) in
      try await service.changes(after: cursor, limit: limit, run)
    }
  }

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    guard let parts = service.parts else { throw .refused("no parts") }
    if failures > 0 {
      failures -= 1
      throw .unavailable("gone")
    }
    if refusesRecords, case .record = part { throw .refused("no such record") }
    return try await ask(Self.word(part)) { () async throws(ServiceError) in
      try await parts.changes(of: part, after: cursor, limit: min(limit, 10), run)
    }
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await ask("digests") { () async throws(ServiceError) in
      try await service.readingDigests(run)
    }
  }

  private static func word(_ part: ChangePart) -> String {
    switch part {
    case .records: "records"
    case .record: "record"
    case .readings(from: .min, until: _): "history"
    case .readings(from: _, until: .max): "recent"
    case .readings: "range"
    }
  }

  private func ask<Answer>(
    _ word: String, _ call: () async throws(ServiceError) -> Answer
  ) async throws(ServiceError) -> Answer {
    requests.append(word)
    return try await call()
  }
}

/// Tests the order of downloads, with real stores and a real server storage.
@Suite final class DownloadTests {
  private static let now: Int64 = 1_795_219_200
  private static let day: Int64 = 86400

  private let folder: URL
  private let storage: EmbeddedStorage
  private let remote: PartsRemote

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-down-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let token = LoginToken("gp_token")
    let logins = try Logins(folder: folder.path)
    try logins.add(name: "a", role: .write, logbook: "anna", token: token, at: 1)
    try logins.close()
    storage = try EmbeddedStorage(folder: folder.path)
    remote = PartsRemote(
      storage.logbook(for: try #require(try await storage.logins.login(tokenHash: token.hash))))
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // If the folder remains in the temporary folder, it affects no test.
    }
  }

  // MARK: - Helpers

  private func store(_ name: String) async throws -> Store {
    let path = folder.appending(path: name).path
    let store = try Store.openOrCreate(path: path, role: .sync, zone: LogbookZone(name: "Europe/Madrid"))
    try store.setRemote(
      RemoteAccess(kind: "glucoport", url: "http://localhost:1", token: .file("/t")),
      logbook: try await remote.logbook(), isNewRemote: false, at: 1)
    await remote.forget()
    return store
  }

  /// Stores readings that are `days` days old, and a note, in the store `name` and uploads them.
  private func fill(_ name: String, days: [Int64], perDay: Int64 = 3) async throws {
    let sync = try await store(name)
    let importer = try Store(path: sync.path, role: .importer)
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    batch.readings = days.flatMap { day in
      (0..<perDay).map { place in
        Reading(
          device: DeviceIndex(0), kind: .cbg,
          at: DeviceTime(seconds: Self.now - day * Self.day + 300 * place),
          placement: Placement(utcOffset: 3600, source: .zone),
          .value(Quantity(100, .milligramsPerDecilitre)), line: 1)
      }
    }
    let source = IngestSource(name: "i", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try importer.ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(end: .whole, digest: name, generatedAt: nil, finishedAt: 2, decisions: [])
    }
    let draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: 1000), placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields(["text": .text(name)]))
    _ = try RecordEditor(Store(path: sync.path, role: .editor), at: 3).add(
      draft, guid: UUID().uuidString.lowercased())
    let (ending, _) = try await upload(sync) { $0.pulls = false }
    #expect(ending == .complete)
    await remote.forget()
  }

  @discardableResult
  private func upload(
    _ store: Store, steps: Int = 1000, _ change: (inout UploadOptions) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding?, summary: UploadSummary) {
    var options = UploadOptions()
    options.maxChanges = 10
    change(&options)
    let environment = UploadEnvironment(
      now: { Self.now }, makeID: { UUID().uuidString.lowercased() }, jitter: { 0 })
    let session = UploadSession(store, remote, named: "http://localhost:1", options, environment)
    for _ in 0..<steps {
      if let ending = try await session.step() { return (ending, session.summary) }
    }
    return (nil, session.summary)
  }

  private func held(_ store: Store) throws -> Int { try store.overview(ingests: 0).readings }

  // MARK: - Everything

  @Test func recordsAndRecentReadingsAreDownloadedBeforeOldOnes() async throws {
    try await fill("a", days: [1, 300, 200, 100, 2], perDay: 6)
    let b = try await store("b")
    let (ending, summary) = try await upload(b)
    #expect(ending == .complete && summary.pulledReadings == 30 && summary.pulledRecords == 1)
    let asked = await remote.requests
    #expect(
      asked == ["logbook", "changes", "records", "recent", "recent", "history", "history"], "\(asked)")
    #expect(try b.downloads().isEmpty)
    await remote.forget()
    try await upload(b)
    #expect(await remote.requests == ["changes"])
  }

  @Test func aDownloadInterruptedInOldReadingsContinuesThereWithoutGaps() async throws {
    try await fill("a", days: [300, 200, 100, 150], perDay: 10)
    let b = try await store("b")
    // The nine steps are `begin`, three empty pushes, and five requests. These are for the logbook, the
    // changes, the records, the recent readings and the first page of old readings.
    try await upload(b, steps: 9)
    #expect(try held(b) == 10)
    // These readings are old, but they are uploaded only after the download began. So they arrive with the
    // changes.
    try await fill("c", days: [250], perDay: 4)
    let (ending, _) = try await upload(b)
    #expect(ending == .complete)
    #expect(try held(b) == 44)
    #expect(await remote.requests.filter { $0 == "history" }.count <= 4)
  }

  @Test func oldReadingsOnDemandAreDownloadedOnlyOnRequest() async throws {
    try await fill("a", days: [300, 1])
    let b = try await store("b")
    try Store(path: b.path, role: .editor).setFetchesHistoryOnDemand(true)
    try await upload(b)
    #expect(try held(b) == 3)
    try await fill("c", days: [310])
    try await upload(b)
    // Readings that another store adds later are changes, however old they are. So they are downloaded,
    // although old readings are fetched only on demand.
    #expect(try held(b) == 6)
    try await upload(b) { $0.fetchesHistory = true }
    #expect(try held(b) == 9)
  }

  @Test func aRequestedRangeIsDownloadedBeforeRecentReadings() async throws {
    try await fill("a", days: [300, 1])
    let b = try await store("b")
    let start = Self.now - 301 * Self.day
    try Store(path: b.path, role: .editor).queueDownload(
      .readings(from: start, until: start + 2 * Self.day), .idle, isPinned: true, at: 1)
    try await upload(b)
    #expect(await remote.requests == ["logbook", "range", "changes", "records", "recent", "history"])
    #expect(try held(b) == 6)
  }

  // MARK: - Single downloads

  @Test func requestedRecordsAreDownloadedFirst() async throws {
    try await fill("a", days: [1])
    let b = try await store("b")
    try Store(path: b.path, role: .editor).queueDownload(.logbook, .waiting, at: 1)
    try await upload(b)
    #expect(await remote.requests.prefix(2) == ["logbook", "logbook"])
    #expect(try b.remote()?.logbookName == "anna")
  }

  @Test func aCancelledDownloadIsNotFetched() async throws {
    try await fill("a", days: [1])
    let b = try await store("b")
    try await upload(b)
    let editor = try Store(path: b.path, role: .editor)
    try editor.queueDownload(.record("00000000-0000-4000-8000-000000000000"), .waiting, at: 1)
    try editor.cancelDownloads(try editor.downloads().map(\.id))
    await remote.forget()
    try await upload(b)
    #expect(await remote.requests == ["changes"])
  }

  @Test func aDownloadThatTheServerRefusesKeepsItsMessageAndDelaysNoOthers() async throws {
    try await fill("a", days: [1])
    let b = try await store("b")
    await remote.refuseRecords()
    try Store(path: b.path, role: .editor).queueDownload(
      .record("00000000-0000-4000-8000-000000000000"), .waiting, at: 1)
    let (ending, summary) = try await upload(b)
    #expect(ending == .complete && summary.refused == 1)
    #expect(try held(b) == 3)
    #expect(try b.downloads().map(\.refusal) == ["no such record"])
  }

  @Test func aFailedDownloadIsRepeatedByTheNextUpload() async throws {
    try await fill("a", days: [300, 1])
    let b = try await store("b")
    await remote.fail(1)
    let (ending, _) = try await upload(b)
    #expect(ending == .failed(.unavailable("gone")))
    #expect(try b.downloads().count == 3)
    #expect(try b.remote()?.lastPull == nil)
    try await upload(b)
    #expect(try held(b) == 6)
    #expect(try b.remote()?.lastPull == Self.now)
  }

  @Test func anEditDuringADownloadIsSentBeforeTheNextDownload() async throws {
    try await fill("a", days: [1])
    let b = try await store("b")
    try await upload(b)
    let guid = try #require(try b.records(guidPrefix: "").first?.guid)
    try await fill("c", days: [2])
    let run = UploadSession(
      b, remote, named: "x", UploadOptions(),
      UploadEnvironment(now: { Self.now }, makeID: { UUID().uuidString.lowercased() }, jitter: { 0 }))
    // The four steps are `begin`, which requests the changes, and three empty pushes.
    for _ in 0..<4 { _ = try await run.step() }
    _ = try RecordEditor(Store(path: b.path, role: .editor), at: 4).edit(guid) {
      $0.fields["text"] = .text("edited")
    }
    #expect(try await run.run() == .complete)
    #expect(await remote.requests == ["changes", "push records", "changes"])
    #expect(run.summary.pushedRecords == 1)
  }

  // MARK: - The pull interval

  @Test func beforeThePullIntervalIsOverChangesAreNotFetched() async throws {
    try await fill("a", days: [1])
    let b = try await store("b")
    let (ending, _) = try await upload(b) { $0.areChangesDue = false }
    #expect(ending == .complete)
    #expect(await remote.requests == [])
    #expect(try b.remote()?.lastPull == nil)
  }

  @Test func aPullIsDueWhenItsIntervalIsOverOrTheClockWasSetBack() {
    let interval = PullInterval(seconds: 43200)
    #expect(interval.isOver(since: nil, now: 1))
    #expect(!interval.isOver(since: 1000, now: 1000 + 43199))
    #expect(interval.isOver(since: 1000, now: 1000 + 43200))
    #expect(interval.isOver(since: 1000, now: 999))
    #expect(PullInterval(seconds: 0).isOver(since: 1000, now: 1000))
  }
}
