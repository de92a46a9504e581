// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// Tests that a comparison hashes each reading once, whatever the number of its requests.
@Suite struct ReadingBucketsTests {
  private let folder: ScratchFolder
  private let file: DatabaseFile

  init() throws {
    folder = try ScratchFolder()
    let path = folder.path + "/a.db"
    try DataFolder.makeFile(path)
    file = try DatabaseFile(path: path, name: "logbook a", schema: LogbookSchema.schema)
  }

  private func store(_ batch: ReadingBatch, after last: Int64) throws {
    try file.writeNow { _ = try ReadingStorage($0, node: 1, after: last).store(batch) }
  }

  private func expected(_ batches: [ReadingBatch]) -> IdentityDigests {
    var digests = IdentityDigests()
    for batch in batches { for reading in batch.readings { digests.insert(batch.identity(reading).key) } }
    return digests
  }

  @Test func extendingDigestsReadsOnlyNewReadings() throws {
    let first = Sample.history(400)
    try store(first, after: 0)
    var buckets = ReadingBuckets()
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.digests == expected([first]) && buckets.last == 400)
    // If the old rows were read again, the damage in them would cause an error.
    try file.writeNow { database in
      try database.execute(sql: "DROP TRIGGER reading_is_immutable")
      try database.execute(sql: "UPDATE reading SET series = 99 WHERE seq <= 400")
    }
    try file.readNow { try buckets.extend($0) }
    let second = Sample.history(3, device: Sample.meter)
    try store(second, after: 400)
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.digests == expected([first, second]) && buckets.last == 403)
    var rebuilt = ReadingBuckets()
    #expect(throws: (any Error).self) { try file.readNow { try rebuilt.extend($0) } }
    try file.close()
  }

  @Test func theReadingsOfDigestBucketsAreComplete() throws {
    let (first, second) = (Sample.history(300), Sample.history(5, device: Sample.meter))
    try store(first, after: 0)
    // The sequence numbers between the two batches belong to changes of records.
    try store(second, after: 5000)
    var buckets = ReadingBuckets()
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.last == 5005)
    let all = try file.readNow { try buckets.readings(in: Set(0..<4096), $0) }
    #expect(all?.texts.sorted() == (first.texts + second.texts).sorted())
    let bucket = IdentityDigests.bucket(of: second.identity(second.readings[0]).key)
    let some = try #require(try file.readNow { try buckets.readings(in: [bucket], $0) })
    #expect(some.texts.contains(second.texts[0]))
    #expect(some.readings.allSatisfy { IdentityDigests.bucket(of: some.identity($0).key) == bucket })
    #expect(try file.readNow { try buckets.readings(in: [], $0) }?.readings.isEmpty == true)
    try file.close()
  }

  /// An array indexed by sequence number would need more memory than exists.
  @Test func aReadingWithAHugeSequenceNumberNeedsNoExtraMemory() throws {
    let far = Sample.history(2, device: Sample.meter)
    try store(Sample.history(3), after: 0)
    try store(far, after: 1 << 61)
    var buckets = ReadingBuckets()
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.last == 1 << 61 + 2 && buckets.count == 5)
    let all = try file.readNow { try buckets.readings(in: Set(0..<4096), $0) }
    #expect(all?.readings.count == 5)
    try file.close()
  }

  @Test func digestBucketsWithMoreReadingsThanOneAnswerHoldsAreNotRead() throws {
    for start in stride(from: 0, to: WireProtocol.maxReadings, by: 10_000) {
      try store(
        Sample.history(min(10_000, WireProtocol.maxReadings - start), from: start), after: Int64(start))
    }
    var buckets = ReadingBuckets()
    try file.readNow { try buckets.extend($0) }
    let whole = try file.readNow { try buckets.readings(in: Set(0..<4096), $0) }
    #expect(whole?.readings.count == WireProtocol.maxReadings)
    try store(Sample.history(1, device: Sample.meter), after: Int64(WireProtocol.maxReadings))
    try file.readNow { try buckets.extend($0) }
    #expect(try file.readNow { try buckets.readings(in: Set(0..<4096), $0) } == nil)
    let half = try file.readNow { try buckets.readings(in: Set(0..<2048), $0) }
    #expect((half?.readings.count ?? 0) > WireProtocol.maxReadings / 3)
    try file.close()
  }

  private func read(_ count: Int, in name: String) throws -> ReadingBuckets {
    let path = folder.path + "/\(name).db"
    try DataFolder.makeFile(path)
    let file = try DatabaseFile(path: path, name: name, schema: LogbookSchema.schema)
    let buckets = try file.writeNow { database in
      _ = try ReadingStorage(database, node: 1, after: 0).store(Sample.history(count))
      var buckets = ReadingBuckets()
      try buckets.extend(database)
      return buckets
    }
    try file.close()
    return buckets
  }

  @Test func twoVerificationsInTurnKeepTheirOwnDigestBuckets() async throws {
    let (first, second) = (try read(3, in: "first"), try read(5, in: "second"))
    let compared = ComparedLogbook()
    await compared.cache(first, of: "a 1")
    await compared.cache(second, of: "b 1")
    #expect(await compared.buckets(of: "a 1").last == 3)
    #expect(await compared.buckets(of: "b 1").last == 5)
    #expect(await compared.buckets(of: "a 2").last == 0)
    await compared.cache(ReadingBuckets(), of: "a 1")
    #expect(await compared.buckets(of: "a 1").last == 3, "an answer that was late takes nothing back")
  }

  @Test func theDigestBucketsKeptForComparisonsAreBounded() async throws {
    let buckets = try read(4, in: "few")
    let compared = ComparedLogbook(maxReadings: 8)
    for number in 0..<3 { await compared.cache(buckets, of: "\(number)") }
    for number in 0..<3 { #expect(await compared.buckets(of: "\(number)").last == 4) }
    await compared.cache(buckets, of: "0")
    await compared.cache(buckets, of: "3")
    #expect(await compared.buckets(of: "1").last == 0, "it asked longest ago")
    #expect(await compared.buckets(of: "0").last == 4)
    let strict = ComparedLogbook(maxReadings: 0)
    await strict.cache(buckets, of: "a")
    #expect(await strict.buckets(of: "a").last == 4, "the last one is kept whatever its size")
    for number in 0..<20 { await compared.cache(ReadingBuckets(), of: "empty \(number)") }
    #expect(await compared.buckets(of: "3").last == 0)
  }
}
