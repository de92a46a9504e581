// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import LogbookStore
import Simulation
import Synchronization
import Testing

@testable import Sync

/// Tests remotes whose answers never end. Each upload must end because it makes no progress, and not because
/// of a time limit.
@Suite(.timeLimit(.minutes(5))) struct EndlessRemoteTests {
  /// Uploads to an `EndlessRemote` with a fixed clock.
  private func upload(
    _ node: SimulatedNode, _ remote: EndlessRemote
  ) async throws -> (ending: UploadEnding, summary: UploadSummary) {
    let environment = UploadEnvironment(
      now: { 1_800_000_000 }, makeID: { "44444444-4444-4444-8444-444444444444" }, jitter: { 0.5 })
    let session = UploadSession(try node.sync(), remote, named: "remote", UploadOptions(), environment)
    let ending = try await session.run()
    node.reopen()
    return (ending, session.summary)
  }

  private static func page(_ cursor: String, readings: [Int64] = []) -> ChangePage {
    let rows = readings.map { number in
      var reading = Reading(
        device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: 1_700_000_000 + number * 300),
        placement: Placement(utcOffset: 0, source: .stated), .value(Quantity(100, .milligramsPerDecilitre)),
        line: 0)
      reading.occurrenceIsStated = true
      return reading
    }
    let devices = rows.isEmpty ? [] : [Device(vendor: "a", model: "b", serial: "c", format: "d")]
    return ChangePage(
      readings: ReadingBatch(devices: devices, readings: rows), records: [], cursor: cursor, hasMore: true)
  }

  @Test(arguments: [[], [1]])
  func aPageThatReturnsTheCursorOfItsRequestViolatesTheProtocol(_ readings: [Int64]) async throws {
    let scene = try await Scene()
    let remote = EndlessRemote { cursor, _ in Self.page(cursor ?? "0.start", readings: readings) }
    let (ending, _) = try await upload(scene.b, remote)
    guard case .failed(.protocolViolation(let reason)) = ending else {
      Issue.record("\(ending)")
      return
    }
    #expect(reason.hasPrefix("remote: its list of changes does not end"))
    #expect(remote.requestCount <= 3)
  }

  @Test func pagesWithCircularCursorsViolateTheProtocol() async throws {
    let scene = try await Scene()
    let remote = EndlessRemote { cursor, count in Self.page("\(count % 5).round", readings: [Int64(count)]) }
    let (ending, summary) = try await upload(scene.b, remote)
    guard case .failed(.protocolViolation) = ending else {
      Issue.record("\(ending)")
      return
    }
    #expect(remote.requestCount <= 8 && summary.pulledReadings >= 4, "what came before stays")
  }

  @Test func endlessEmptyPagesWithNewCursorsViolateTheProtocol() async throws {
    let scene = try await Scene()
    let remote = EndlessRemote { _, count in Self.page("\(count).new") }
    let (ending, _) = try await upload(scene.b, remote)
    guard case .failed(.protocolViolation(let reason)) = ending else {
      Issue.record("\(ending)")
      return
    }
    #expect(reason.contains("\(PullProgress.maxEmptyPages) pages in a row are empty"))
    #expect(remote.requestCount <= PullProgress.maxEmptyPages + 3)
  }

  /// An upload fetches only a limited number of pages, even if each page has items that the store lacks. The
  /// next upload continues after these pages.
  @Test(arguments: [true, false]) func oneUploadFetchesALimitedNumberOfPages(_ grows: Bool) throws {
    var progress = PullProgress()
    for number in 0..<Int64(PullProgress.maxPages) {
      #expect(!progress.isExhausted)
      let page = Self.page("\(number)", readings: [grows ? number : 1])
      try #require(progress.fault(of: page, after: "\(number - 1)", in: 1) == nil)
      progress.count(page, in: 1)
    }
    #expect(progress.isExhausted)
  }

  @Test func pagesAboveTheMaximumOfAnUploadAreLeftToTheNextUpload() async throws {
    let scene = try await Scene()
    let gap = PullProgress.maxEmptyPages / 2
    let remote = EndlessRemote { _, count in
      Self.page("\(count).new", readings: count % gap == 0 ? [Int64(count)] : [])
    }
    let (ending, _) = try await upload(scene.b, remote)
    guard case .workLeft = ending else {
      Issue.record("\(ending)")
      return
    }
    #expect(remote.requestCount <= PullProgress.maxPages + 3)
  }

  @Test func aCursorRepeatedInAnotherListOrAfterARestartIsAccepted() {
    var progress = PullProgress()
    progress.count(Self.page("1"), in: 1)
    #expect(progress.fault(of: Self.page("1"), after: nil, in: 1) != nil)
    #expect(progress.fault(of: Self.page("1"), after: nil, in: 2) == nil)
    var last = Self.page("1")
    last.hasMore = false
    #expect(progress.fault(of: last, after: "1", in: 1) == nil, "a last page may stay where it is")
    progress.startOver()
    #expect(progress.fault(of: Self.page("1"), after: nil, in: 1) == nil)
  }

  @Test func anAttachmentTransferredOneByteAtATimeIsLeftForAnotherUpload() async throws {
    let scene = try await Scene()
    let entry = try await scene.sharedNote()
    let bytes = [UInt8](repeating: 7, count: 200_000)
    try scene.a.attach(bytes, as: "30000000-0000-4000-8000-000000000001", to: entry)
    let server = scene.server.connection()()
    let sending = ByteWise(try #require(server.attachments))
    let (sent, _) = try await upload(scene.a, EndlessRemote(around: server, sending))
    guard case .workLeft = sent else {
      Issue.record("\(sent)")
      return
    }
    #expect(sending.partCount <= AttachmentLane.maxStalls)
    // With a normal service, the next upload sends the rest of the attachment.
    #expect(try await scene.a.upload().ending == .complete)
    let fetching = ByteWise(try #require(server.attachments))
    let (fetched, summary) = try await upload(scene.b, EndlessRemote(around: server, fetching))
    guard case .workLeft = fetched else {
      Issue.record("\(fetched)")
      return
    }
    #expect(fetching.partCount <= AttachmentLane.maxStalls && summary.pulledRecords == 1)
    #expect(try await scene.b.upload().ending == .complete)
    #expect(try scene.b.attachments().allSatisfy(\.isWhole))
  }

  @Test func aSmallPartOfAnAttachmentIsProgressOnlyIfItIsTheLast() {
    #expect(!AttachmentLane.isProgress(1, of: 1 << 20, isLast: false))
    #expect(AttachmentLane.isProgress(1, of: 1 << 20, isLast: true))
    #expect(AttachmentLane.isProgress(1, of: 1, isLast: false))
    #expect(AttachmentLane.isProgress(4096, of: 1 << 20, isLast: false))
    #expect(!AttachmentLane.isProgress(0, of: 1, isLast: true))
    #expect(!AttachmentLane.isProgress(-5, of: 1 << 20, isLast: false))
  }
}

/// A remote that returns the pages of changes that a test makes, or that passes attachments through a service
/// of the test.
private final class EndlessRemote: LogbookService {
  typealias Page = @Sendable (_ cursor: String?, _ count: Int) -> ChangePage?

  let attachments: (any AttachmentService)?
  private let service: (any LogbookService)?
  private let page: Page?
  private let count = Mutex(0)

  init(_ page: @escaping Page) { (self.page, service, attachments) = (page, nil, nil) }

  init(around service: any LogbookService, _ attachments: any AttachmentService) {
    (page, self.service, self.attachments) = (nil, service, attachments)
  }

  var requestCount: Int { count.withLock { $0 } }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    guard let service else { throw .serverFailure("none") }
    return try await service.logbook()
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    guard let service else { throw .serverFailure("none") }
    return try await service.store(batch, run)
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    guard let service else { throw .serverFailure("none") }
    return try await service.apply(changes, run)
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if let page { return page(cursor, number) }
    return try await service?.changes(after: cursor, limit: limit, run)
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests { IdentityDigests() }
}

/// A service that transfers only one byte of an attachment in each request, in both directions.
private final class ByteWise: AttachmentService {
  private let service: any AttachmentService
  private let count = Mutex(0)

  init(_ service: any AttachmentService) { self.service = service }

  var partCount: Int { count.withLock { $0 } }

  func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await service.heldContent(of: digest, run)
  }

  func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    count.withLock { $0 += 1 }
    return try await service.append(Array(bytes.prefix(1)), to: content, at: offset, run)
  }

  func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    count.withLock { $0 += 1 }
    return try await service.part(of: digest, from: offset, limit: 1, run)
  }
}
