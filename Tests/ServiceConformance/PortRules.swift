// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// Rules for services that offer a port, such as attachments, in addition to the core functions.
enum PortRules {
  private static let guid = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  private static let bytes: [UInt8] =
    (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) } + [0, 0xFF, 0xFE]
  private static let content = contentOf(bytes)

  private static func contentOf(_ bytes: [UInt8]) -> AttachmentContent {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    return AttachmentContent(digest: digest.hexadecimal(), size: Int64(bytes.count))
  }

  @RuleBuilder<ServiceRule> static var parts: [ServiceRule] {
    ServiceRule("aPartialDownloadReturnsExactlyItsItems") { service, _ in
      let parts = try service.neededParts
      let batch = Sample.numbered(20)
      _ = try await service.store(batch, Client.run(1))
      let change = RecordChange(
        guid: guid, node: Client.run(1).node, version: 1, base: nil, state: Sample.note("a"))
      _ = try await service.apply([change], Client.run(1))
      let times = batch.readings.map(\.deviceTime.seconds)
      let range = ChangePart.readings(from: times[3], until: times[12])
      var pages = [try await parts.changes(of: range, after: nil, limit: 4, Client.run(2))]
      while let last = pages.last, last.hasMore, pages.count < 10 {
        pages.append(try await parts.changes(of: range, after: last.cursor, limit: 4, Client.run(2)))
      }
      #expect(pages.flatMap(\.readings.readings).map(\.deviceTime.seconds) == Array(times[3..<12]))
      #expect(pages.allSatisfy { $0.records.isEmpty })
      for part in [ChangePart.records, .record(guid)] {
        let page = try await parts.changes(of: part, after: nil, limit: 10, Client.run(2))
        #expect(
          page.records.map(\.state) == [change.state] && page.readings.readings.isEmpty && !page.hasMore)
      }
      let absent = ChangePart.record("22222222-2222-4222-8222-222222222222")
      #expect(try await parts.changes(of: absent, after: nil, limit: 10, Client.run(2)).records.isEmpty)
    }
  }

  @RuleBuilder<ServiceRule> static var digests: [ServiceRule] {
    ServiceRule("aComparisonReturnsTheItemsOfItsBuckets") { service, _ in
      let digests = try service.neededDigests
      let batch = Sample.numbered(50)
      _ = try await service.store(batch, Client.run(1))
      let changes = ["0a", "0b", "0b"].enumerated().map { place, start in
        RecordChange(
          guid: "\(start)000000-0000-4000-8000-00000000000\(place)", node: Client.run(1).node, version: 1,
          base: nil,
          state: Sample.note("\(place)"))
      }
      _ = try await service.apply(changes, Client.run(1))
      let identities = batch.readings.map { batch.identity($0) }
      let bucket = IdentityDigests.bucket(of: identities[7].key)
      let found = try await digests.readings(in: [bucket], Client.run(1))
      #expect(
        Set(found.readings.map(found.identity))
          == Set(identities.filter { IdentityDigests.bucket(of: $0.key) == bucket }))
      var expected = IdentityDigests()
      for change in changes { expected.insert(change.guid, change.state) }
      #expect(try await digests.recordDigests(Client.run(1)) == expected)
      var (records, after) = ([RemoteRecord](), String?.none)
      for _ in 0..<10 {
        let page = try await digests.records(in: [0x0A0, 0x0B0], after: after, Client.run(1))
        records += page.records
        after = page.records.last?.guid
        if !page.hasMore { break }
      }
      #expect(records.map(\.guid) == changes.map(\.guid) && records.map(\.state) == changes.map(\.state))
    }
  }

  @RuleBuilder<ServiceRule> static var snapshots: [ServiceRule] {
    ServiceRule("aSnapshotHoldsAllItemsForEveryStore") { service, _ in
      let snapshots = try service.neededSnapshots
      let batch = Sample.numbered(20)
      _ = try await service.store(batch, Client.run(1))
      let guids = [guid, "22222222-2222-4222-8222-222222222222"]
      let changes = guids.map { Sample.change($0, 1, on: nil, Sample.note($0), node: Client.run(1).node) }
      let verdicts =
        try await service.apply(changes, Client.run(1)).verdicts
        + service.apply([changes[1]], Client.run(1)).verdicts
      guard case .accepted(let revision)? = verdicts.last else {
        Issue.record("\(verdicts)")
        return
      }
      let deletion = Sample.change(
        guids[1], 2, on: revision, Sample.note("", isDeleted: true), node: Client.run(1).node)
      _ = try await service.apply([deletion], Client.run(1))
      for node in [1, 2] {
        var (pages, cursor) = ([ChangePage](), String?.none)
        repeat {
          pages.append(try await snapshots.snapshot(after: cursor, limit: 7, Client.run(node)))
          cursor = pages.last.flatMap { $0.hasMore ? $0.cursor : nil }
        } while cursor != nil && pages.count < 20
        let found = pages.flatMap { page in page.readings.readings.map(page.readings.identity) }
        #expect(Set(found) == Set(batch.readings.map(batch.identity)))
        #expect(Set(pages.flatMap(\.records).map(\.guid)) == [guid])
        #expect(pages.flatMap(\.records).allSatisfy { $0.state == changes[0].state })
        #expect(pages.allSatisfy { $0.foreign.isEmpty })
      }
    }

    ServiceRule("aSnapshotPositionThatWasNeverIssuedIsRefused") { service, _ in
      let snapshots = try service.neededSnapshots
      await #expect(throws: ServiceError.positionUnknown) {
        _ = try await snapshots.snapshot(after: "nowhere", limit: 7, Client.run(1))
      }
    }
  }

  @RuleBuilder<ServiceRule> static var purging: [ServiceRule] {
    ServiceRule("everyCallForADeletedLogbookReportsItsDeletion") { service, _ in
      let purging = try service.neededPurging
      _ = try await service.store(Sample.numbered(3), Client.run(1))
      let logbook = try await service.logbook()
      var other = logbook
      other.name = "another"
      await #expect(throws: ServiceError.self) { try await purging.purge(other) }
      #expect(try await service.store(Sample.numbered(3), Client.run(1)).known == 3)
      try await purging.purge(logbook)
      await #expect(throws: ServiceError.purged) { _ = try await service.logbook() }
      await #expect(throws: ServiceError.purged) {
        _ = try await service.store(Sample.numbered(1), Client.run(1))
      }
      await #expect(throws: ServiceError.purged) { try await purging.purge(logbook) }
    }
  }

  @RuleBuilder<ServiceRule> static var attachments: [ServiceRule] {
    ServiceRule("anAttachmentIsSentInPartsAndFetchedInOtherParts") { service, _ in
      let attachments = try service.neededAttachments
      let run = Client.run(1)
      #expect(try await attachments.heldContent(of: content.digest, run) == HeldContent())
      #expect(try await attachments.part(of: content.digest, from: 0, limit: 100, run) == nil)
      let first = try await attachments.append(Array(bytes[..<2000]), to: content, at: 0, run)
      #expect(first == .holds(HeldContent(bytes: 2000, size: content.size)))
      #expect(
        try await attachments.heldContent(of: content.digest, run)
          == HeldContent(bytes: 2000, size: content.size))
      let again = try await attachments.append(Array(bytes[..<2000]), to: content, at: 0, run)
      #expect(again == .misplaced(HeldContent(bytes: 2000, size: content.size)), "as when an answer was lost")
      let last = try await attachments.append(Array(bytes[2000...]), to: content, at: 2000, run)
      #expect(last == .holds(HeldContent(bytes: content.size, size: content.size)))

      var fetched: [UInt8] = []
      while fetched.count < bytes.count {
        let part = try #require(
          try await attachments.part(
            of: content.digest, from: Int64(fetched.count), limit: 999, Client.run(2)))
        #expect(part.size == content.size && !part.bytes.isEmpty && part.bytes.count <= 999)
        fetched += part.bytes
      }
      #expect(fetched == bytes)
      let outside = try await attachments.part(of: content.digest, from: content.size + 10, limit: 10, run)
      #expect(outside == ContentPart(size: content.size, bytes: []))
    }

    ServiceRule("anEmptyAttachmentIsSentAndFetched") { service, _ in
      let attachments = try service.neededAttachments
      let empty = contentOf([])
      let sent = try await attachments.append([], to: empty, at: 0, Client.run(1))
      #expect(sent == .holds(HeldContent(bytes: 0, size: 0)))
      let part = try await attachments.part(of: empty.digest, from: 0, limit: 10, Client.run(1))
      #expect(part == ContentPart(size: 0, bytes: []))
    }

    ServiceRule("anAttachmentWithAWrongDigestIsRefused") { service, _ in
      let attachments = try service.neededAttachments
      let other = AttachmentContent(digest: String(repeating: "a", count: 64), size: content.size)
      #expect(try await attachments.append(bytes, to: other, at: 0, Client.run(1)) == .wrongDigest)
      #expect(try await attachments.heldContent(of: other.digest, Client.run(1)) == HeldContent())
    }

    ServiceRule("aReadOnlyLoginFetchesButCannotSendAttachments") { _, service in
      let attachments = try service.neededAttachments
      #expect(try await attachments.heldContent(of: content.digest, Client.run(1)) == HeldContent())
      await #expect(throws: ServiceError.readOnly) {
        try await attachments.append(bytes, to: content, at: 0, Client.run(1))
      }
    }
  }
}
