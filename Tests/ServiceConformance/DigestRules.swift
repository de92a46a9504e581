// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules for comparing a store with any storage. First their digests are compared, then the items in the
/// buckets that differ.
enum DigestRules {
  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("recordDigestsAreComputedFromTheirContents") { stand in
      let client = Client(stand)
      var expected = IdentityDigests()
      #expect(try await stand.logbook(stand.reader).neededDigests.recordDigests(client.run) == expected)
      for number in 0..<50 {
        let (guid, state) = (Client.uuid(), Sample.note("\(number)", isDeleted: number % 7 == 0))
        try await client.push(Sample.change(guid, 1, on: nil, state))
        expected.insert(guid, state)
      }
      #expect(try await stand.logbook(stand.reader).neededDigests.recordDigests(client.run) == expected)
    }

    StorageRule("readingsOfADigestBucketAreReturnedWithAllTheirParts") { stand in
      let client = Client(stand)
      let batches = [Sample.history(500), Sample.everyShape]
      for batch in batches { try await client.push(batch) }
      let all = batches.flatMap { batch in
        zip(batch.readings, batch.texts).map {
          (bucket: IdentityDigests.bucket(of: batch.identity($0).key), text: $1)
        }
      }
      for bucket in [all[0].bucket, all[501].bucket, all[502].bucket] {
        let found = try await stand.logbook(stand.reader).neededDigests.readings(in: [bucket], client.run)
        #expect(found.texts.sorted() == all.filter { $0.bucket == bucket }.map(\.text).sorted())
      }
      let everything = try await stand.logbook(stand.reader).neededDigests.readings(
        in: Array(0..<4096), client.run)
      #expect(everything.texts.sorted() == all.map(\.text).sorted())
      #expect(
        try await stand.logbook(stand.reader).neededDigests.readings(in: [], client.run).readings.isEmpty)
    }

    StorageRule("digestBucketsWithMoreReadingsThanAnAnswerHoldsAreRefused") { stand in
      let client = Client(stand)
      try await client.push(Sample.history(WireProtocol.maxReadings))
      let all = Array(0..<IdentityDigests.bucketCount)
      let found = try await stand.logbook(stand.reader).neededDigests.readings(in: all, client.run)
      #expect(found.readings.count == WireProtocol.maxReadings)
      try await client.push(Sample.history(1, device: Sample.meter))
      await #expect(throws: ServiceError.tooLarge) {
        _ = try await stand.logbook(stand.reader).neededDigests.readings(in: all, client.run)
      }
    }

    StorageRule("recordsOfDigestBucketsAreReturnedInPagesOrderedByID") { stand in
      let client = Client(stand)
      // One of these records has two texts of this length. So its size is a quarter of the maximum size of a
      // body.
      let long = String(repeating: "x", count: WireProtocol.maxBodyBytes / 8)
      let guids = (0..<6).map { "a\($0 % 2)000000-0000-4000-8000-00000000000\($0)" }.sorted()
      for guid in guids {
        let fields = RecordFields(["a": .text(long), "b": .text(long), "c": .text(long)])
        var state = Sample.note("")
        state.fields = guid.hasSuffix("5") ? fields : RecordFields(["text": .text(guid)])
        if guid.hasSuffix("5") { state.fields["c"] = nil }
        try await client.push(Sample.change(guid, 1, on: nil, state))
      }
      var (found, after, pages) = ([String](), String?.none, 0)
      while pages < 10 {
        let page = try await stand.logbook(stand.reader).neededDigests.records(
          in: [0xA00, 0xA10], after: after, client.run)
        found += page.records.map(\.guid)
        after = page.records.last?.guid
        pages += 1
        if !page.hasMore { break }
      }
      #expect(found == guids)
      let one = try await stand.logbook(stand.reader).neededDigests.records(
        in: [0xA10], after: nil, client.run)
      #expect(one.records.map(\.guid) == guids.filter { $0.hasPrefix("a1") } && !one.hasMore)
      #expect(one.records.allSatisfy { !$0.revision.isEmpty })
    }

    StorageRule("aPageOfRecordsIsLimitedAndStatesWhetherMoreFollow") { stand in
      let client = Client(stand)
      let changes = (0..<WireProtocol.maxRecords + 5).map { number in
        let tail = String(1_000_000 + number)
        return Sample.change("00000000-0000-4000-8000-00000\(tail)", 1, on: nil, Sample.note(tail))
      }
      for start in [0, 500, 1000] {
        _ = try await stand.logbook(stand.writer).apply(
          Array(changes[start..<min(start + 500, changes.count)]), client.run)
      }
      let first = try await stand.logbook(stand.reader).neededDigests.records(in: [0], after: nil, client.run)
      #expect(first.records.count == WireProtocol.maxRecords && first.hasMore)
      let second = try await stand.logbook(stand.reader).neededDigests.records(
        in: [0], after: first.records.last?.guid, client.run)
      #expect(second.records.count == 5 && !second.hasMore)
      #expect((first.records + second.records).map(\.guid) == changes.map(\.guid))
    }
  }
}
