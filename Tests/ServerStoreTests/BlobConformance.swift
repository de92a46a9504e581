// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import SeededRandom
import Testing

/// What every storage does with the content of attachments.
@Suite struct BlobConformance {
  private static let limit: Int64 = 1 << 30

  private let content: AttachmentContent
  private let bytes: [UInt8]

  init() {
    var random = SeededGenerator(seed: 6)
    bytes = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    content = Self.content(of: bytes)
  }

  private static func content(of bytes: [UInt8]) -> AttachmentContent {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    return AttachmentContent(digest: digest.hexadecimal(), size: Int64(bytes.count))
  }

  private func append(
    _ range: Range<Int>, _ client: Client, of content: AttachmentContent? = nil, limit: Int64 = limit
  ) async throws -> AppendOutcome {
    try await client.storage.append(
      Array(bytes[range]), to: content ?? self.content, at: Int64(range.lowerBound), limit: limit,
      client.login, client.run)
  }

  private func held(_ client: Client, _ digest: String? = nil) async throws -> HeldContent {
    try await client.storage.held(digest ?? content.digest, client.login, client.run)
  }

  private func part(_ offset: Int64, _ limit: Int, _ client: Client) async throws -> ContentPart? {
    try await client.storage.part(
      of: content.digest, from: offset, limit: limit, client.login, client.run)
  }

  private func with(_ sort: StorageSort, _ work: (Stand, Client) async throws -> Void) async throws {
    let folder = try ScratchFolder()
    let stand = try await sort.start(folder.path)
    try await work(stand, Client(stand))
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func aContentGrowsAtItsEndUntilItIsWhole(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      #expect(try await held(client) == HeldContent())
      #expect(try await append(0..<3000, client) == .holds(HeldContent(bytes: 3000, size: 10_000)))
      #expect(try await part(0, 100, client) == nil, "what is not whole is not given")
      #expect(try await append(3000..<9999, client) == .holds(HeldContent(bytes: 9999, size: 10_000)))
      #expect(try await append(9999..<10_000, client) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(try await held(client).isWhole)
      for (offset, limit) in [(0, 10_000), (0, 1), (2999, 2), (3000, 6999), (9999, 500), (10_000, 5)] {
        let part = try await part(Int64(offset), limit, client)
        #expect(part?.size == 10_000)
        #expect(part?.bytes == Array(bytes[offset..<min(10_000, offset + limit)]), "\(offset) \(limit)")
      }
    }
  }

  @Test(arguments: StorageSort.all)
  func aPartThatDoesNotFitChangesNothingAndTellsWhatIsHeld(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      _ = try await append(0..<3000, client)
      let held = AppendOutcome.misplaced(HeldContent(bytes: 3000, size: 10_000))
      #expect(try await append(0..<3000, client) == held, "as when an answer was lost")
      #expect(try await append(4000..<5000, client) == held)
      #expect(try await append(2000..<4000, client) == held)
      var longer = content
      longer.size = 4000
      #expect(try await append(3000..<3500, client, of: longer) == held, "of another size")
      #expect(try await append(3000..<10_000, client) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
    }
  }

  @Test(arguments: StorageSort.all)
  func aContentOfAnotherSizeBeginsAnewUntilOneIsWhole(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      let false5 = AttachmentContent(digest: content.digest, size: 5000)
      _ = try await append(0..<3000, client, of: false5)
      #expect(try await append(0..<2000, client) == .holds(HeldContent(bytes: 2000, size: 10_000)))
      #expect(try await append(2000..<10_000, client) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(
        try await append(0..<3000, client, of: false5) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(try await part(0, 20_000, client)?.bytes == bytes)
    }
  }

  @Test(arguments: StorageSort.all)
  func aContentWithoutItsDigestIsDroppedWhole(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      let other = AttachmentContent(digest: String(repeating: "a", count: 64), size: 2000)
      _ = try await append(0..<1000, client, of: other)
      #expect(try await append(1000..<2000, client, of: other) == .wrongDigest)
      #expect(try await held(client, other.digest) == HeldContent())
    }
  }

  @Test(arguments: StorageSort.all)
  func anEmptyContentIsWholeOnlyUnderTheDigestOfNothing(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      let wrong = AttachmentContent(digest: content.digest, size: 0)
      #expect(try await append(0..<0, client, of: wrong) == .wrongDigest)
      #expect(try await held(client) == HeldContent())
      let empty = Self.content(of: [])
      #expect(try await append(0..<0, client, of: empty) == .holds(HeldContent(bytes: 0, size: 0)))
      #expect(try await held(client, empty.digest).isWhole)
      let part = try await client.storage.part(
        of: empty.digest, from: 0, limit: 10, client.login, client.run)
      #expect(part == ContentPart(size: 0, bytes: []))
    }
  }

  @Test(arguments: StorageSort.all)
  func theContentsOfALogbookHaveASumThatIsNotExceeded(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      _ = try await append(0..<3000, client, limit: 4000)
      #expect(try await append(3000..<4001, client, limit: 4000) == .full)
      #expect(try await held(client) == HeldContent(bytes: 3000, size: 10_000), "what is there stays")
      #expect(
        try await append(3000..<4000, client, limit: 4000) == .holds(HeldContent(bytes: 4000, size: 10_000)))
    }
  }

  @Test(arguments: StorageSort.all)
  func aLogbooksContentIsOutOfReachForThoseOfAnother(_ sort: StorageSort) async throws {
    try await with(sort) { stand, client in
      _ = try await append(0..<10_000, client)
      let stranger = Client(stand, as: stand.stranger)
      #expect(try await held(stranger) == HeldContent())
      #expect(try await part(0, 100, stranger) == nil)
      let reader = Client(stand, as: stand.reader)
      #expect(try await part(0, 100, reader)?.bytes == Array(bytes[..<100]))
    }
  }

  @Test(arguments: StorageSort.all)
  func everyCallChecksTheRunAndTheLogbook(_ sort: StorageSort) async throws {
    try await with(sort) { _, client in
      var other = client
      other.run.logbook = Client.uuid()
      await #expect(throws: StorageError.otherLogbook(id: client.login.logbook)) { try await held(other) }
      await #expect(throws: StorageError.otherLogbook(id: client.login.logbook)) {
        try await append(0..<10, other)
      }
      _ = try await held(client)
      var copy = client
      copy.run.id = Client.uuid()
      await #expect(throws: StorageError.nodeReused) { try await append(0..<10, copy) }
      await #expect(throws: StorageError.nodeReused) { try await part(0, 10, copy) }
    }
  }

  @Test(arguments: StorageSort.all)
  func whatWasAcknowledgedIsThereBehindAStop(_ sort: StorageSort) async throws {
    let folder = try ScratchFolder()
    var stand = try await sort.start(folder.path)
    let client = Client(stand)
    _ = try await append(0..<3000, client)
    try await stand.stop()
    stand = try await sort.start(folder.path)
    let later = Client(stand)
    #expect(try await held(later) == HeldContent(bytes: 3000, size: 10_000))
    #expect(try await append(3000..<10_000, later) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
    #expect(try await part(2990, 20, later)?.bytes == Array(bytes[2990..<3010]))
    try await stand.stop()
  }

  @Test(arguments: StorageSort.all)
  func contentIsNoChangeOfTheLogbook(_ sort: StorageSort) async throws {
    try await with(sort) { stand, client in
      var other = Client(stand)
      let mark = try await client.push(Sample.history(1)).mark
      _ = try await append(0..<10_000, client)
      #expect(try await client.push(Sample.history(1)).mark == mark)
      #expect(try await other.pullAll().count == 1)
    }
  }
}
