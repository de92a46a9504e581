// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import ServiceConformance
import Testing

@testable import ServerStore

/// A comparison hashes each reading once, however many requests it takes.
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

  @Test func whatIsKnownIsNotReadAgain() throws {
    let first = Sample.history(400)
    try store(first, after: 0)
    var buckets = ReadingBuckets()
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.digests == expected([first]) && buckets.last == 400)
    // Whoever reads an old row once more meets this one, and fails.
    try file.writeNow { database in
      try database.execute(sql: "DROP TRIGGER reading_is_immutable")
      try database.execute(sql: "UPDATE reading SET series = 99 WHERE seq <= 400")
    }
    try file.readNow { try buckets.extend($0) }
    let second = Sample.history(3, device: Sample.meter)
    try store(second, after: 400)
    try file.readNow { try buckets.extend($0) }
    #expect(buckets.digests == expected([first, second]) && buckets.last == 403)
    var anew = ReadingBuckets()
    #expect(throws: (any Error).self) { try file.readNow { try anew.extend($0) } }
    try file.close()
  }

  @Test func theReadingsOfBucketsAreThoseOfTheFileAlsoBehindNumbersOfRecords() throws {
    let (first, second) = (Sample.history(300), Sample.history(5, device: Sample.meter))
    try store(first, after: 0)
    // The numbers between belong to changes of records.
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

  @Test func oneFileIsKeptAndNeverTakenForAnother() async throws {
    try store(Sample.history(3), after: 0)
    let buckets = try file.readNow { database in
      var buckets = ReadingBuckets()
      try buckets.extend(database)
      return buckets
    }
    let compared = ComparedLogbook()
    await compared.keep(buckets, of: "a 1")
    #expect(await compared.buckets(of: "a 1").last == 3)
    #expect(await compared.buckets(of: "a 2").last == 0)
    await compared.keep(ReadingBuckets(), of: "a 1")
    #expect(await compared.buckets(of: "a 1").last == 3)
    await compared.keep(ReadingBuckets(), of: "b 1")
    #expect(await compared.buckets(of: "a 1").last == 0)
    try file.close()
  }
}
