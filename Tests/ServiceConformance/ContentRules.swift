// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import SeededRandom
import Testing

/// Rules that every storage must obey for the contents of attachments.
enum ContentRules {
  private static let bytes: [UInt8] = {
    var random = SeededGenerator(seed: 6)
    return (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()
  private static let content = contentOf(bytes)

  private static func contentOf(_ bytes: [UInt8]) -> AttachmentContent {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    return AttachmentContent(digest: digest.hexadecimal(), size: Int64(bytes.count))
  }

  private static func append(
    _ range: Range<Int>, _ client: Client, of content: AttachmentContent? = nil
  ) async throws -> ContentAnswer {
    try await client.service.neededAttachments.append(
      Array(bytes[range]), to: content ?? self.content, at: Int64(range.lowerBound), client.run)
  }

  private static func held(_ client: Client, _ digest: String? = nil) async throws -> HeldContent {
    try await client.service.neededAttachments.heldContent(of: digest ?? content.digest, client.run)
  }

  private static func part(_ offset: Int64, _ limit: Int, _ client: Client) async throws -> ContentPart? {
    try await client.service.neededAttachments.part(
      of: content.digest, from: offset, limit: limit, client.run)
  }

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("anAttachmentIsAppendedToUntilItIsComplete") { stand in
      let client = Client(stand)
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

    StorageRule("aPartAtTheWrongPositionIsRefusedWithTheHeldSize") { stand in
      let client = Client(stand)
      _ = try await append(0..<3000, client)
      let held = ContentAnswer.misplaced(HeldContent(bytes: 3000, size: 10_000))
      #expect(try await append(0..<3000, client) == held, "as when an answer was lost")
      #expect(try await append(4000..<5000, client) == held)
      #expect(try await append(2000..<4000, client) == held)
      var longer = content
      longer.size = 4000
      #expect(try await append(3000..<3500, client, of: longer) == held, "of another size")
      #expect(try await append(3000..<10_000, client) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
    }

    StorageRule("anAttachmentWithAnotherSizeRestartsUntilOneIsComplete") { stand in
      let client = Client(stand)
      let false5 = AttachmentContent(digest: content.digest, size: 5000)
      _ = try await append(0..<3000, client, of: false5)
      #expect(try await append(0..<2000, client) == .holds(HeldContent(bytes: 2000, size: 10_000)))
      #expect(try await append(2000..<10_000, client) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(
        try await append(0..<3000, client, of: false5) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(try await part(0, 20_000, client)?.bytes == bytes)
    }

    StorageRule("anAttachmentWithAWrongDigestIsDiscardedCompletely") { stand in
      let client = Client(stand)
      let other = AttachmentContent(digest: String(repeating: "a", count: 64), size: 2000)
      _ = try await append(0..<1000, client, of: other)
      #expect(try await append(1000..<2000, client, of: other) == .wrongDigest)
      #expect(try await held(client, other.digest) == HeldContent())
    }

    StorageRule("anEmptyAttachmentIsCompleteOnlyWithTheDigestOfNoBytes") { stand in
      let client = Client(stand)
      let wrong = AttachmentContent(digest: content.digest, size: 0)
      #expect(try await append(0..<0, client, of: wrong) == .wrongDigest)
      #expect(try await held(client) == HeldContent())
      let empty = contentOf([])
      #expect(try await append(0..<0, client, of: empty) == .holds(HeldContent(bytes: 0, size: 0)))
      #expect(try await held(client, empty.digest).isWhole)
      let part = try await client.service.neededAttachments.part(
        of: empty.digest, from: 0, limit: 10, client.run)
      #expect(part == ContentPart(size: 0, bytes: []))
    }

    StorageRule(restarting: "theTotalSizeOfAttachmentsInALogbookIsLimited") { place in
      let stand = try await place.start(maxContentBytes: 4000)
      let client = Client(stand)
      _ = try await append(0..<3000, client)
      guard case .full(let sentence) = try await append(3000..<4001, client) else {
        Issue.record("more than the logbook may hold was stored")
        return
      }
      #expect(sentence.contains("4000"))
      #expect(try await held(client) == HeldContent(bytes: 3000, size: 10_000), "what is there stays")
      #expect(try await append(3000..<4000, client) == .holds(HeldContent(bytes: 4000, size: 10_000)))
      try await stand.stop()
    }

    StorageRule("attachmentsOfALogbookCannotBeReadFromAnotherLogbook") { stand in
      let client = Client(stand)
      _ = try await append(0..<10_000, client)
      let stranger = Client(stand, as: stand.stranger)
      #expect(try await held(stranger) == HeldContent())
      #expect(try await part(0, 100, stranger) == nil)
      let reader = Client(stand, as: stand.reader)
      #expect(try await part(0, 100, reader)?.bytes == Array(bytes[..<100]))
    }

    StorageRule("everyAttachmentCallChecksTheSyncRunAndTheLogbook") { stand in
      let client = Client(stand)
      var other = client
      other.run.logbook = Client.uuid()
      await #expect(throws: ServiceError.otherLogbook(id: client.login.logbook)) { try await held(other) }
      await #expect(throws: ServiceError.otherLogbook(id: client.login.logbook)) {
        try await append(0..<10, other)
      }
      _ = try await held(client)
      var copy = client
      copy.run.id = Client.uuid()
      await #expect(throws: ServiceError.nodeReused) { try await append(0..<10, copy) }
      await #expect(throws: ServiceError.nodeReused) { try await part(0, 10, copy) }
    }

    // The first request of a run may be for an attachment. The storage must detect a copied store at this
    // request, since pulls omit the client's own changes.
    StorageRule("anAttachmentCallOfACopiedStoreIsToldThatItsClientIDIsReused") { stand in
      let client = Client(stand)
      let first = try await client.push(Sample.history(1))
      var copy = client
      let second = try await client.push(Sample.history(2))
      copy.run.number += 1
      copy.run.id = Client.uuid()
      copy.run.lastSeenPosition = first.position
      await #expect(throws: ServiceError.nodeReused) { try await held(copy) }
      await #expect(throws: ServiceError.nodeReused) { try await append(0..<10, copy) }
      await #expect(throws: ServiceError.nodeReused) { try await part(0, 10, copy) }
      await #expect(throws: ServiceError.nodeReused) { _ = try await copy.pull() }
      copy.run.lastSeenPosition = second.position
      #expect(try await held(copy) == HeldContent())
    }

    StorageRule(restarting: "acknowledgedAttachmentPartsSurviveARestart") { place in
      var stand = try await place.start()
      let client = Client(stand)
      _ = try await append(0..<3000, client)
      try await stand.stop()
      stand = try await place.start()
      let later = Client(stand)
      #expect(try await held(later) == HeldContent(bytes: 3000, size: 10_000))
      #expect(try await append(3000..<10_000, later) == .holds(HeldContent(bytes: 10_000, size: 10_000)))
      #expect(try await part(2990, 20, later)?.bytes == Array(bytes[2990..<3010]))
      try await stand.stop()
    }

    StorageRule("anAttachmentUploadDoesNotChangeTheLogbookPosition") { stand in
      let client = Client(stand)
      var other = Client(stand)
      let mark = try await client.push(Sample.history(1)).position
      _ = try await append(0..<10_000, client)
      #expect(try await client.push(Sample.history(1)).position == mark)
      #expect(try await other.pullAll().count == 1)
    }
  }
}
