// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests the content of attachments in a store.
@Suite struct AttachmentTests {
  private let scratch: ScratchStore
  private static let entry = "10000000-0000-4000-8000-000000000000"

  init() throws {
    scratch = try ScratchStore()
    _ = try RecordEditor(try scratch.open(.editor), at: 5).add(
      draft(.note, ["text": .text("entry")]), guid: Self.entry)
  }

  private func draft(_ kind: RecordKind, _ fields: [String: FieldValue]) -> RecordDraft {
    RecordDraft(
      kind: kind, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(fields))
  }

  private static func content(of bytes: [UInt8]) -> AttachmentContent {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    return AttachmentContent(digest: digest.hexadecimal(), size: Int64(bytes.count))
  }

  private func attachment(_ content: AttachmentContent, to entry: String = entry) -> (RecordDraft, String) {
    var draft = draft(
      .attachment,
      [
        "name": .text("file"), "type": .text("text/plain"), "size": .number(Double(content.size)),
        "sha256": .text(content.digest),
      ])
    draft.entryGuid = entry
    return (draft, UUID().uuidString.lowercased())
  }

  /// Attaches contents to an entry. Each content is added in pieces of `pieces` bytes.
  @discardableResult
  private func attach(_ contents: [UInt8]..., pieces: Int = 1000, to entry: String = entry) throws -> [String]
  {
    let store = try scratch.open(.editor)
    let intake = try ContentIntake(store)
    let drafts = try contents.map { bytes in
      for start in stride(from: 0, to: bytes.count, by: pieces) {
        try bytes[start..<min(bytes.count, start + pieces)].withUnsafeBytes { try intake.add($0) }
      }
      return attachment(try intake.end(), to: entry)
    }
    return try RecordEditor(store, at: 10).attach(drafts, intake).map(\.record.guid)
  }

  private func read(_ digest: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    #expect(try scratch.open(.reader).readContent(digest) { bytes.append(contentsOf: $0) })
    return bytes
  }

  private func sync<Value>(_ work: (SyncTransaction) throws -> Value) throws -> Value {
    try scratch.open(.sync).sync(work)
  }

  /// Adds a record for an attachment content that this store does not have, as a pull does.
  private func want(_ content: AttachmentContent) throws {
    let (draft, guid) = attachment(content)
    _ = try RecordEditor(try scratch.open(.editor), at: 10).add(draft, guid: guid)
  }

  private func queued() throws -> [String] {
    try scratch.rows("SELECT aspect, entry FROM queued WHERE aspect = 'file' ORDER BY record")
  }

  private func downloads() throws -> [String] {
    try scratch.rows(
      "SELECT subject, priority, refusal, not_before FROM download WHERE kind = 'attachment' ORDER BY id")
  }

  static let contents: [[UInt8]] = [
    [], [0], Array("text\n".utf8), [0xFF, 0xFE, 0, 0xC3, 0x28, 0x1B],
    (0..<ContentIntake.partBytes).map { UInt8(truncatingIfNeeded: $0 >> 4) },
    (0..<ContentIntake.partBytes + 1).map { UInt8(truncatingIfNeeded: $0 &* 13) },
    (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) },
  ]

  @Test(arguments: contents) func anAttachmentIsStoredBitForBit(_ bytes: [UInt8]) throws {
    try attach(bytes, pieces: 99_999)
    let content = Self.content(of: bytes)
    #expect(try read(content.digest) == bytes)
    let attachments = try scratch.open(.reader).attachments(of: Self.entry)
    #expect(attachments.map(\.digest) == [content.digest] && attachments.map(\.size) == [content.size])
    #expect(attachments.allSatisfy { $0.isWhole && !$0.isUploaded && $0.held == content.size })
    #expect(
      try scratch.number("SELECT coalesce(max(length(bytes)), 0) FROM blob_part") <= ContentIntake.partBytes)
    for (offset, limit) in [(0, 10), (1, 300_000), (262_143, 2), (262_144, 400_000)] {
      let part = try sync { try $0.bytes(of: content.digest, from: Int64(offset), limit: limit) }
      #expect(part == Array(bytes.dropFirst(offset).prefix(limit)), "\(offset) \(limit)")
    }
  }

  @Test func equalAttachmentContentIsStoredOnceForAllEntries() throws {
    let other = "20000000-0000-4000-8000-000000000000"
    _ = try RecordEditor(try scratch.open(.editor), at: 5).add(
      draft(.note, ["text": .text("b")]), guid: other)
    try attach(Array("same".utf8), Array("same".utf8))
    try attach(Array("same".utf8), to: other)
    #expect(try scratch.number("SELECT count(*) FROM blob") == 1)
    #expect(try scratch.number("SELECT count(*) FROM blob_part") == 1)
    #expect(try queued().sorted() == ["file \(Self.entry)", "file \(Self.entry)", "file \(other)"])
    let content = Self.content(of: Array("same".utf8))
    #expect(try sync { try $0.nextContentToSend(besides: []) } == content)
    #expect(try sync { try $0.contentsToSend() } == 1)
    try sync { try $0.markUploaded(content.digest) }
    #expect(try queued().isEmpty && sync { try $0.nextContentToSend(besides: []) } == nil)
    try attach(Array("same".utf8))
    #expect(try queued().isEmpty, "the remote has it")
  }

  private func acknowledge(_ guid: String) throws {
    try sync { store in
      _ = try store.prepare(
        try #require(try store.record(guid)), node: "d1000000-0000-4000-8000-000000000000")
      try store.acknowledge(try #require(try store.record(guid)), revision: "r")
    }
  }

  /// Each row of `queued` is for one aspect of an attachment: its record or its file. The acknowledgement of
  /// the record leaves the row of the file in the queue.
  @Test func recordAndContentOfAnAttachmentAreAcknowledgedSeparately() throws {
    let guids = try attach(Array("one".utf8), Array("other".utf8))
    let aspects = { (guid: String) in
      try scratch.rows("SELECT aspect FROM queued WHERE record = '\(guid)' ORDER BY 1")
    }
    try acknowledge(guids[0])
    #expect(try aspects(guids[0]) == ["file"] && aspects(guids[1]) == ["file", "record"])
    try sync { try $0.markUploaded(Self.content(of: Array("other".utf8)).digest) }
    #expect(try aspects(guids[0]) == ["file"] && aspects(guids[1]) == ["record"])
    try sync { try $0.markUploaded(Self.content(of: Array("one".utf8)).digest) }
    try acknowledge(guids[1])
    #expect(try aspects(guids[0]) == [] && aspects(guids[1]) == [])
  }

  @Test func attachmentsAreSentInTheOrderInWhichTheyWereAdded() throws {
    let digests = try (0..<5).map { number in
      let bytes = Array("content \(number)".utf8)
      try attachAt(Int64(100 + number), bytes)
      return Self.content(of: bytes).digest
    }
    var sent: [String] = []
    while let next = try sync({ try $0.nextContentToSend(besides: Set(sent)) }) { sent.append(next.digest) }
    #expect(sent == digests)
    try sync { try $0.refuseContent(digests[0], reason: "no") }
    #expect(try sync { try $0.nextContentToSend(besides: []) }?.digest == digests[1])
    #expect(try scratch.open(.sync).releaseRefused() == 1)
    #expect(try sync { try $0.nextContentToSend(besides: []) }?.digest == digests[0])
  }

  private func attachAt(_ seconds: Int64, _ bytes: [UInt8]) throws {
    let store = try scratch.open(.editor)
    let intake = try ContentIntake(store)
    try bytes.withUnsafeBytes { try intake.add($0) }
    _ = try RecordEditor(store, at: seconds).attach([attachment(try intake.end())], intake)
  }

  @Test func eitherAllOrNoneOfSeveralFilesAreAttachedToAnEntry() throws {
    let store = try scratch.open(.editor)
    let intake = try ContentIntake(store)
    try Array("one".utf8).withUnsafeBytes { try intake.add($0) }
    let first = attachment(try intake.end())
    try Array("two".utf8).withUnsafeBytes { try intake.add($0) }
    let second = attachment(try intake.end(), to: "nowhere")
    #expect(throws: Failure.self) { try RecordEditor(store, at: 10).attach([first, second], intake) }
    #expect(try scratch.number("SELECT count(*) FROM blob") == 0)
    #expect(try scratch.number("SELECT count(*) FROM record") == 1)
  }

  @Test(arguments: [
    ("DELETE FROM blob", "never deleted"), ("DELETE FROM blob_part", "never deleted"),
    ("UPDATE blob_part SET bytes = x'00'", "immutable"), ("UPDATE blob SET size = 9", "immutable"),
    ("UPDATE blob SET held = 0, uploaded = 0", "immutable"),
    ("UPDATE blob SET digest = '\(String(repeating: "0", count: 64))'", "immutable"),
  ]) func aCompleteAttachmentNeverChanges(_ sql: String, _ reason: String) throws {
    try attach(Array("text".utf8))
    #expect(try scratch.refusal(.sync, sql)?.contains(reason) == true)
  }

  @Test(arguments: [StoreRole.editor, .importer, .resolver])
  func onlySyncMayMarkAnAttachmentAsUploaded(_ role: StoreRole) throws {
    try attach(Array("text".utf8))
    for sql in ["UPDATE blob SET uploaded = 1", "UPDATE blob SET refusal = 'no'"] {
      #expect(try scratch.refusal(role, sql)?.contains("only sync") == true)
      #expect(try scratch.refusal(.sync, sql) == nil)
    }
  }

  @Test func aMissingAttachmentIsQueuedForDownloadOnce() throws {
    let content = Self.content(of: Array("there".utf8))
    try want(content)
    try want(content)
    #expect(try downloads() == ["\(content.digest) 2 NULL NULL"])
    let attachment = try scratch.open(.reader).attachments(of: Self.entry)[0]
    #expect(!attachment.isWhole && attachment.held == 0)
    try attach(Array("there".utf8))
    #expect(try downloads().isEmpty, "it is here now")
    try want(content)
    #expect(try downloads().isEmpty)
  }

  @Test func anAttachmentThatNoRecordRefersToIsNotFetched() throws {
    let content = Self.content(of: Array("there".utf8))
    let (first, firstGuid) = attachment(content)
    let (second, secondGuid) = attachment(content)
    let editor = RecordEditor(try scratch.open(.editor), at: 10)
    _ = try editor.add(first, guid: firstGuid)
    _ = try editor.add(second, guid: secondGuid)
    _ = try editor.delete(firstGuid)
    #expect(try downloads().count == 1)
    _ = try editor.delete(secondGuid)
    #expect(try downloads().isEmpty)
  }

  @Test(arguments: [
    FieldValue.text("short"), .text(String(repeating: "G", count: 64)), .number(5),
    .text("../" + String(repeating: "a", count: 61)),
  ]) func anAttachmentRecordWithAnInvalidDigestIsNeverRequested(_ digest: FieldValue) throws {
    _ = try RecordEditor(try scratch.open(.editor), at: 10).add(
      draft(.attachment, ["name": .text("x"), "size": .text("many"), "sha256": digest]),
      guid: UUID().uuidString.lowercased())
    #expect(try downloads().isEmpty)
  }

  @Test func anAttachmentFetchedInPartsIsValidOnlyWithItsDigest() throws {
    let bytes = Self.contents[6]
    let content = Self.content(of: bytes)
    try want(content)
    #expect(try sync { try $0.nextContentToFetch(besides: [], at: 0) }?.held == 0)
    let part = { (range: Range<Int>) in ContentPart(size: content.size, bytes: Array(bytes[range])) }
    #expect(try sync { try $0.append(part(0..<300_000), to: content.digest, at: 0) } == .morePartsFollow)
    #expect(try sync { try $0.nextContentToFetch(besides: [], at: 0) }?.held == 300_000)
    #expect(
      try sync { try $0.append(part(0..<10), to: content.digest, at: 0) } == .restarts, "held differs")
    #expect(try sync { try $0.append(part(300_000..<700_000), to: content.digest, at: 300_000) } == .isWhole)
    #expect(try read(content.digest) == bytes)
    #expect(try downloads().isEmpty && queued().isEmpty, "the remote has it")
    #expect(try !scratch.open(.editor).queueDownload(.attachment(content.digest), .waiting, at: 1))
    #expect(try downloads().isEmpty, "what is here is not fetched")
    // If another program queues a download of a content that is already complete, the next answer of the
    // remote removes the row of this download.
    try scratch.open(.editor).write {
      try $0.execute(
        sql: "INSERT INTO download (kind, subject, priority, queued_at) VALUES ('attachment', ?, 0, 1)",
        arguments: [content.digest])
    }
    #expect(try sync { try $0.append(part(0..<0), to: content.digest, at: content.size) } == .alreadyStored)
    #expect(try downloads().isEmpty)
    #expect(try scratch.open(.reader).attachments(of: Self.entry)[0].isUploaded)
  }

  @Test func aFetchedAttachmentWithAnotherDigestIsDiscarded() throws {
    let content = AttachmentContent(digest: Self.content(of: [1, 2, 3]).digest, size: 3)
    try want(content)
    let outcome = try sync {
      _ = try $0.append(ContentPart(size: 3, bytes: [1, 2]), to: content.digest, at: 0)
      return try $0.append(ContentPart(size: 3, bytes: [4]), to: content.digest, at: 2)
    }
    #expect(outcome == .wrongDigest)
    #expect(try scratch.number("SELECT held FROM blob") == 0)
    #expect(try scratch.number("SELECT count(*) FROM blob_part") == 0)
    #expect(try downloads().count == 1)
    let empty = try sync { try $0.append(ContentPart(size: 0, bytes: []), to: content.digest, at: 0) }
    #expect(empty == .wrongDigest, "nothing is not this content")
    #expect(
      try sync { try $0.append(ContentPart(size: 3, bytes: [1, 2, 3]), to: content.digest, at: 0) }
        == .isWhole)
  }

  @Test func anAttachmentOfAnUnexpectedSizeIsFetchedFromTheStart() throws {
    let content = Self.content(of: [1, 2, 3])
    try want(content)
    try sync { store in
      _ = try store.append(ContentPart(size: 9, bytes: [1, 2]), to: content.digest, at: 0)
      #expect(try store.append(ContentPart(size: 3, bytes: [3]), to: content.digest, at: 2) == .restarts)
      #expect(
        try store.append(ContentPart(size: 3, bytes: [1, 2, 3]), to: content.digest, at: 0) == .isWhole)
    }
    #expect(try read(content.digest) == [1, 2, 3])
  }

  @Test func anEmptyAttachmentIsFetchedLikeAnyOther() throws {
    let content = Self.content(of: [])
    try want(content)
    #expect(
      try sync { try $0.append(ContentPart(size: 0, bytes: []), to: content.digest, at: 0) } == .isWhole)
    #expect(try downloads().isEmpty)
    #expect(try scratch.open(.reader).attachments(of: Self.entry)[0].isWhole)
  }

  @Test func attachingAFileReplacesItsPartlyDownloadedContent() throws {
    let bytes = Self.contents[6]
    let content = Self.content(of: bytes)
    try want(content)
    _ = try sync { try $0.append(ContentPart(size: 123_456, bytes: [9, 9]), to: content.digest, at: 0) }
    try attach(bytes)
    #expect(try read(content.digest) == bytes)
    #expect(
      try sync { try $0.append(ContentPart(size: content.size, bytes: [1]), to: content.digest, at: 2) }
        == .alreadyStored)
  }

  @Test func requestedAttachmentsAreFetchedFirstAndThoseMissingOnTheRemoteLater() throws {
    let contents = (0..<3).map { Self.content(of: [UInt8($0)]) }
    for content in contents { try want(content) }
    let next = { (now: Int64) in try self.sync { try $0.nextContentToFetch(besides: [], at: now) }?.digest }
    #expect(try next(0) == contents[0].digest)
    try scratch.open(.editor).wantContent(contents[2].digest, at: 5)
    #expect(try next(0) == contents[2].digest)
    try sync { try $0.postponeContent(contents[2].digest, until: 100) }
    #expect(try next(99) == contents[0].digest)
    #expect(try next(100) == contents[2].digest)
    // If a content is postponed for longer than the maximum, the clock was ahead at that time. The content is
    // then fetched at once.
    try sync {
      try $0.postponeContent(contents[2].digest, until: 100 + SyncTransaction.maxPostponementSeconds)
    }
    #expect(try next(99) == contents[2].digest)
    #expect(try next(100) == contents[0].digest)
    try sync { try $0.refuseFetch(of: contents[2].digest, reason: "damaged") }
    #expect(try next(100) == contents[0].digest)
    #expect(try scratch.open(.reader).attachments(of: Self.entry).compactMap(\.refusal) == ["damaged"])
    try scratch.open(.editor).wantContent(contents[2].digest, at: 5)
    #expect(try next(0) == contents[2].digest, "whatever came of it before")
  }

  @Test func afterAChangeOfRemoteEveryAttachmentIsPending() throws {
    try attach(Array("a".utf8), Array("b".utf8))
    let digests = [Array("a".utf8), Array("b".utf8)].map { Self.content(of: $0).digest }
    try sync {
      try $0.markUploaded(digests[0])
      try $0.refuseContent(digests[1], reason: "no")
    }
    let store = try scratch.open(.sync)
    let access = RemoteAccess(kind: "glucoport", url: "http://127.0.0.1", token: .file("/none"))
    var logbook = RemoteLogbook(id: "one", name: "one", isWritable: true, maxReadings: 1, maxRecords: 1)
    try store.setRemote(access, logbook: logbook, isNewRemote: false, at: 1)
    #expect(try sync { try $0.contentsToSend() } == 0)
    logbook.id = "two"
    try store.setRemote(access, logbook: logbook, isNewRemote: true, at: 2)
    #expect(try sync { try $0.contentsToSend() } == 2)
    try sync { try $0.markUploaded(digests[0]) }
    _ = try sync { try $0.requeue(Set<Int>(), reason: "restored", at: 3) }
    #expect(try sync { try $0.contentsToSend() } == 2)
  }

  @Test func theOldestPendingItemCanBeAnAttachment() throws {
    try attach(Array("a".utf8), Array("b".utf8))
    let store = try scratch.open(.sync)
    try store.write { try $0.execute(sql: "UPDATE record SET version_synced = version") }
    let oldest = { (contents: Int) in
      try store.syncOverview(store.overview(ingests: 0), pendingContents: contents).oldestPending
    }
    #expect(try oldest(2) == 10 && oldest(0) == nil, "none goes up to a remote without files")
    let digests = [Array("a".utf8), Array("b".utf8)].map { Self.content(of: $0).digest }
    try sync {
      try $0.markUploaded(digests[0])
      try $0.refuseContent(digests[1], reason: "no")
    }
    #expect(try oldest(1) == nil, "a refused one waits for no upload")
  }

  @Test func aRefusedAttachmentIsListedWithTheReasonAndQueuedAgainOnce() throws {
    try attach(Array("a".utf8), Array("b".utf8))
    let guids = try scratch.open(.reader).attachments(of: Self.entry).map(\.record.guid)
    let digest = Self.content(of: Array("a".utf8)).digest
    try sync { try $0.refuseContent(digest, reason: "too heavy") }
    let refused = { () throws -> [String] in
      var found: [String] = []
      try self.scratch.open(.reader).forEachRefused { item, words in
        if case .record(let record) = item { found.append("\(record.guid): \(words)") }
      }
      return found
    }
    let listed = try refused()
    #expect(listed.count == 1 && guids.contains { listed == ["\($0): too heavy"] })
    let backlog = try scratch.open(.reader).attachmentBacklog()
    #expect(backlog.refused == 1 && backlog.notFetched == 0 && backlog.toSend == 1)
    #expect(try scratch.open(.sync).releaseRefused() == 1)
    #expect(try refused() == [] && scratch.open(.sync).releaseRefused() == 0)
    // An attachment content is sent only if a record refers to it. All records that refer to this content are
    // deleted, so it is not released.
    try sync { try $0.refuseContent(digest, reason: "too heavy") }
    let editor = RecordEditor(try scratch.open(.editor), at: 11)
    for guid in guids { _ = try editor.delete(guid) }
    #expect(try scratch.open(.sync).releaseRefused() == 0)
  }

  @Test(
    arguments: [
      ["name": .number(7), "type": .flag(true), "sha256": .text("../../x")], ["sha256": .number(5)], [:],
      ["name": .words(["a"]), "size": .number(1e20), "sha256": .words([])], ["size": .number(-1)],
      ["subtype": .number(3), "sha256": .text(String(repeating: "A", count: 64))],
    ] as [[String: FieldValue]])
  func attachmentFieldsOfAWrongTypeCountAsMissing(_ fields: [String: FieldValue]) throws {
    var foreign = draft(.attachment, fields)
    foreign.entryGuid = Self.entry
    let guid = UUID().uuidString.lowercased()
    _ = try RecordEditor(try scratch.open(.editor), at: 10).add(foreign, guid: guid)
    let store = try scratch.open(.reader)
    let found = try #require(try store.attachments(of: Self.entry).first)
    #expect(found.name == "" && found.type == "" && found.size == 0 && found.digest == "" && !found.isWhole)
    #expect(found.record.subtype == "")
    #expect(try store.contentDigest(of: found.record) == nil)
    #expect(try downloads().isEmpty)
  }

  @Test func theBacklogCountsAttachmentContentsInsteadOfTheirRecords() throws {
    try attach(Array("same".utf8), Array("same".utf8))
    try want(Self.content(of: [7]))
    let backlog = try scratch.open(.reader).attachmentBacklog()
    #expect(
      backlog
        == AttachmentBacklog(toSend: 1, toSendBytes: 4, toFetch: 1, refused: 0, notFetched: 0, absent: 0))
  }

  @Test func theAttachmentQueueIsSearchedWithItsIndexes() throws {
    let plan = try scratch.rows("EXPLAIN QUERY PLAN \(SyncTransaction.queuedDigests)")
    #expect(
      plan.contains { $0.contains("queued_file") } && !plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)"
    )
  }
}
