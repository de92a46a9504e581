// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests the queue of downloads.
@Suite struct DownloadQueueTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func add(_ subject: DownloadSubject, _ priority: DownloadPriority, isPinned: Bool = false) throws {
    try scratch.open(.editor).queueDownload(subject, priority, isPinned: isPinned, at: 7)
  }

  private func subjects() throws -> [DownloadSubject] { try scratch.open(.reader).downloads().map(\.subject) }

  private func next(except done: Set<Int64> = []) throws -> Download? {
    try scratch.open(.sync).sync { try $0.nextDownload(except: done) }
  }

  @Test func downloadsAreOrderedByPriorityAndThenByAge() throws {
    try add(.readings(from: .min, until: 5), .idle)
    try add(.record("a"), .changed)
    try add(.record("b"), .changed)
    try add(.attachment("d"), .waiting)
    let expected: [DownloadSubject] = [
      .attachment("d"), .record("a"), .record("b"), .readings(from: .min, until: 5),
    ]
    #expect(try subjects() == expected)
    #expect(try next()?.subject == .attachment("d"))
    // If a person requests a download while others run, the requested one is next.
    let first = try #require(try next())
    try add(.logbook, .waiting)
    #expect(try next(except: [first.id])?.subject == .logbook)
  }

  @Test func everySubjectOfADownloadIsStoredUnchanged() throws {
    let subjects: [DownloadSubject] = [
      .logbook, .changes, .records, .readings(from: .min, until: .max), .readings(from: -5, until: 7),
      .record("a"), .attachment("d"),
    ]
    for subject in subjects { try add(subject, .idle) }
    #expect(try self.subjects() == subjects)
  }

  @Test func aDownloadQueuedTwiceHasOneRowWithTheHigherPriority() throws {
    try add(.record("a"), .idle)
    try add(.record("b"), .idle)
    try add(.record("a"), .waiting)
    try add(.record("a"), .changed)
    let queue = try scratch.open(.reader).downloads()
    #expect(queue.map(\.subject) == [.record("a"), .record("b")])
    #expect(queue.map(\.priority) == [.waiting, .idle])
  }

  @Test func aCancelledDownloadIsRemovedAndItsRangeUnpinned() throws {
    try add(.record("a"), .waiting)
    try add(.readings(from: 1, until: 2), .changed, isPinned: true)
    let ids = try scratch.open(.reader).downloads().map(\.id)
    #expect(throws: Failure.self) { try scratch.open(.editor).cancelDownloads([ids[0], 99]) }
    #expect(try subjects().count == 2)
    try scratch.open(.editor).cancelDownloads(ids)
    #expect(try subjects() == [])
    #expect(try scratch.number("SELECT count(*) FROM pinned") == 0)
  }

  @Test func recordsCancelledFromTheDownloadQueueStaySkippedUntilRequested() throws {
    try connect()
    let store = try scratch.open(.sync)
    try store.sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    func leavesOut() throws -> Bool {
      try store.syncOverview(store.overview(ingests: 0), pendingContents: 0).leavesOutRecords
    }
    #expect(try !leavesOut())
    let records = try #require(try store.downloads().first { $0.subject == .records })
    try scratch.open(.editor).cancelDownloads([records.id])
    #expect(try !subjects().contains(.records))
    // Changes on the remote are still fetched. A comparison does not report the cancelled records as missing.
    #expect(try store.sync { try $0.cursor() } == "m")
    #expect(try leavesOut() && store.sync { try $0.unfetched() }.includesRecords)
    try store.sync { try $0.queueHistory(at: 10) }
    #expect(try subjects().contains(.records) && leavesOut())
    let again = try #require(try store.downloads().first { $0.subject == .records })
    try store.sync { try $0.finish(again) }
    #expect(try !leavesOut() && !store.sync { try $0.unfetched() }.includesRecords)
    try store.sync { try $0.queueHistory(at: 11) }
    #expect(try !subjects().contains(.records))
  }

  @Test func oldReadingsCanBeCancelledFromTheDownloadQueue() throws {
    try connect()
    let store = try scratch.open(.sync)
    try store.sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    let queue = try store.downloads()
    #expect(throws: Failure.self) { try scratch.open(.editor).cancelDownloads([queue[2].id, 99]) }
    #expect(try subjects().count == 3)
    try scratch.open(.editor).cancelDownloads([queue[2].id])
    #expect(try subjects() == [.records, .readings(from: 1000, until: .max)])
    #expect(try store.missingHistoryEnd() == 1000)
  }

  @Test func oldReadingsCountAsSkippedUntilTheyAreFetched() throws {
    try connect()
    try scratch.open(.editor).setFetchesHistoryOnDemand(true)
    let store = try scratch.open(.sync)
    try store.sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    let history = {
      try #require(try store.downloads().last { $0.subject == .readings(from: .min, until: 1000) })
    }
    try store.sync { try $0.queueHistory(at: 10) }
    try scratch.open(.editor).cancelDownloads([history().id])
    #expect(try store.missingHistoryEnd() == 1000)
    try store.sync { try $0.queueHistory(at: 11) }
    #expect(try store.sync { try $0.unfetched() }.includesReading(at: 999))
    let fetched = try history()
    try store.sync { try $0.finish(fetched) }
    #expect(try store.missingHistoryEnd() == nil)
    #expect(try store.sync { try $0.unfetched() }.includesReading(at: 999) == false)
    try store.sync { try $0.queueHistory(at: 12) }
    #expect(try subjects() == [.records, .readings(from: 1000, until: .max)])
  }

  @Test func cancellingTheDownloadOfARangeDoesNotChangeWhetherOldReadingsAreSkipped() throws {
    try connect()
    let store = try scratch.open(.sync)
    try add(.readings(from: .min, until: 500), .waiting)
    try scratch.open(.editor).cancelDownloads(try store.downloads().map(\.id))
    #expect(try store.missingHistoryEnd() == nil)
    try scratch.open(.editor).setFetchesHistoryOnDemand(true)
    try store.sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    for isFetched in [false, true] {
      try add(.readings(from: .min, until: 500), .waiting)
      let range = try #require(try store.downloads().first)
      if isFetched {
        try store.sync { try $0.finish(range) }
      } else {
        try scratch.open(.editor).cancelDownloads([range.id])
      }
      #expect(try store.missingHistoryEnd() == 1000)
    }
  }

  @Test func aPinnedRangeIsListedAndUnpinnedWithoutADownload() throws {
    try add(.readings(from: 1, until: 2), .idle, isPinned: true)
    try add(.readings(from: 0, until: 9), .idle, isPinned: true)
    let editor = try scratch.open(.editor)
    #expect(try editor.pinnedRanges() == [.readings(from: 0, until: 9), .readings(from: 1, until: 2)])
    #expect(throws: Failure.self) { try editor.cancelDownloads([], pins: [1, 3]) }
    try editor.cancelDownloads([], pins: [1])
    #expect(try editor.pinnedRanges() == [.readings(from: 1, until: 2)])
    #expect(try subjects().count == 2)
  }

  @Test func aRefusedDownloadIsTriedAgainOnlyOnRequest() throws {
    try add(.record("a"), .waiting)
    try scratch.open(.sync).sync { store in
      try store.refuse(try #require(try store.nextDownload(except: [])), reason: "no such record")
    }
    #expect(try next() == nil)
    let refused = try #require(try scratch.open(.reader).downloads().first)
    #expect(refused.refusal == "no such record")
    #expect(try scratch.open(.editor).retryDownloads([refused.id]) == [refused.id])
    #expect(try next()?.subject == .record("a"))
    #expect(try scratch.open(.editor).retryDownloads([refused.id]) == [], "it waits already")
    #expect(throws: Failure.self) { try scratch.open(.editor).retryDownloads([99]) }
  }

  @Test func pinnedAndRecentRangesAreDownloadedFirst() throws {
    try add(.readings(from: 1, until: 2), .idle, isPinned: true)
    try connect()
    try scratch.open(.sync).sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    let queue = try scratch.open(.reader).downloads()
    let expected: [DownloadSubject] = [
      .readings(from: 1, until: 2), .records, .readings(from: 1000, until: .max),
      .readings(from: .min, until: 1000),
    ]
    #expect(queue.map(\.subject) == expected)
    #expect(queue.map(\.priority) == [.changed, .changed, .changed, .idle])
    #expect(try scratch.open(.sync).sync { try $0.cursor() } == "m")
  }

  @Test func withHistoryOnDemandOldReadingsAreFetchedOnlyOnRequest() throws {
    try connect()
    try scratch.open(.editor).setFetchesHistoryOnDemand(true)
    let store = try scratch.open(.sync)
    try store.sync { try $0.queueWhole(after: "m", recent: 1000, at: 9) }
    #expect(try subjects() == [.records, .readings(from: 1000, until: .max)])
    #expect(try store.missingHistoryEnd() == 1000)
    try store.sync { try $0.queueHistory(at: 10) }
    #expect(try subjects().last == .readings(from: .min, until: 1000))
    #expect(try store.missingHistoryEnd() == nil)
    try store.sync { try $0.queueHistory(at: 11) }
    #expect(try subjects().count == 3)
  }

  @Test func anotherLogbookStartsWithAnEmptyDownloadQueue() throws {
    try connect()
    try add(.record("a"), .waiting)
    try connect("other", isNewRemote: true)
    #expect(try subjects() == [])
  }

  private func connect(_ logbook: String = "l", isNewRemote: Bool = false) throws {
    let logbook = RemoteLogbook(id: logbook, name: "l", isWritable: true, maxReadings: 1, maxRecords: 1)
    try scratch.open(.sync).setRemote(
      RemoteAccess(kind: "glucoport", url: "http://localhost:1", token: .file("/t")), logbook: logbook,
      isNewRemote: isNewRemote, at: 1)
  }
}
