// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import SeededRandom
import Testing

/// Rules for the order in which every storage returns changes.
enum OrderRules {
  private static func number(_ page: ChangePage) throws -> Int {
    try #require(Int(page.cursor.prefix { $0 != "." }))
  }

  /// The changes that a reader has pulled while other clients were writing.
  private struct Seen {
    var readings: [String] = []
    var records: [String: String] = [:]
    var revisions: [String] = []
    var numbers: [Int] = []
  }

  /// Sends readings of devices that other writers use as well, and edits records that all writers edit.
  private static func write(
    _ client: Client, _ number: Int, _ guids: [String], _ generator: SeededGenerator
  ) async throws {
    var generator = generator
    let device = Device(vendor: "v", model: "m", serial: "\(number % 4)", format: "f")
    for round in 1...15 {
      let count = Int.random(in: 1...40, using: &generator)
      try await client.push(
        Sample.history(count, from: Int.random(in: 0..<200, using: &generator), device: device))
      let guid = guids[Int.random(in: 0..<guids.count, using: &generator)]
      let state = Sample.note("\(number) \(round)")
      let verdict = try await client.push(Sample.change(guid, round * 2, on: nil, state)).first
      if case .conflict(let revision, _, _) = verdict {
        try await client.push(Sample.change(guid, round * 2 + 1, on: revision, state))
      }
    }
  }

  private static func read(_ client: Client, until written: AsyncStream<Void>) async throws -> Seen {
    var client = client
    var seen = Seen()
    let isWritten = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in written {}
        await isWritten.set()
      }
      while true {
        let isLast = await isWritten.value
        for page in try await client.pullAll(limit: 16) {
          seen.readings += page.readings.texts
          for record in page.records { seen.records[record.guid] = record.state.json }
          seen.revisions += page.records.map(\.revision)
          seen.numbers.append(try number(page))
        }
        if isLast { return }
        await Task.yield()
      }
    }
    return seen
  }

  private actor Flag {
    private(set) var value = false
    func set() { value = true }
  }

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("aPullWithoutChangesReturnsNothing") { stand in
      var reader = Client(stand, as: stand.reader)
      #expect(try await reader.pull() == nil)
      try await Client(stand).push(Sample.history(3))
      let page = try #require(try await reader.pull())
      #expect(page.readings.readings.count == 3 && !page.hasMore)
      #expect(try await reader.pull() == nil)
    }

    StorageRule("aPullOmitsWritesOfTheSameStoreAndAdvancesTheCursor") { stand in
      var (here, there) = (Client(stand), Client(stand))
      try await here.push(Sample.history(4))
      let own = try #require(try await here.pull())
      #expect(own.readings.readings.isEmpty && own.records.isEmpty && !own.hasMore)
      #expect(try await here.pull() == nil)
      // The other node also sends the readings of the first node. The first node still counts as their
      // writer.
      try await there.push(Sample.history(6))
      #expect(try await here.pull()?.readings.readings.count == 2)
      #expect(try await there.pull()?.readings.readings.count == 4)
    }

    StorageRule("aChangedRecordIsListedOnceAtItsLastChange") { stand in
      var (here, there, third) = (Client(stand), Client(stand), Client(stand))
      let (guid, other) = (Client.uuid(), Client.uuid())
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      _ = try await here.revision(Sample.change(other, 1, on: nil, Sample.note("other")))
      #expect(try await there.pullAll().flatMap(\.records).map(\.guid) == [guid, other])
      _ = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("two")))
      #expect(try await there.pullAll().flatMap(\.records).isEmpty)
      #expect(try await here.pullAll().flatMap(\.records).map(\.state) == [Sample.note("two")])
      #expect(try await third.pullAll().flatMap(\.records).map(\.guid) == [other, guid])
    }

    for limit in [1, 2, 7, 100] {
      StorageRule("pagesObeyTheirLimitAndHoldEachItemOnce \(limit)") { stand in
        let writer = Client(stand)
        var guids: [String] = []
        for round in 0..<5 {
          try await writer.push(Sample.history(6, from: round * 6))
          guids.append(Client.uuid())
          try await writer.push(Sample.change(guids[round], 1, on: nil, Sample.note("\(round)")))
        }
        var reader = Client(stand)
        let pages = try await reader.pullAll(limit: limit)
        #expect(pages.allSatisfy { $0.readings.readings.count + $0.records.count <= limit })
        #expect(pages.dropLast().allSatisfy { $0.hasMore } && pages.last?.hasMore == false)
        #expect(pages.flatMap(\.readings.texts) == Sample.history(30).texts)
        #expect(pages.flatMap(\.records).map(\.guid) == guids)
        let numbers = try pages.map(number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
      }
    }

    for limit in [Int.min, 0, Int.max] {
      StorageRule("anInvalidPageLimitIsReplacedByAValidOne \(limit)") { stand in
        try await Client(stand).push(Sample.history(3))
        var reader = Client(stand)
        #expect(try await reader.pull(limit: limit)?.readings.readings.count == (limit > 0 ? 3 : 1))
      }
    }

    StorageRule("aPageOfLargeRecordsFitsIntoOneBody") { stand in
      let writer = Client(stand)
      let large = String(repeating: "x", count: 1 << 20)
      for _ in 0..<9 { try await writer.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note(large))) }
      var reader = Client(stand)
      let pages = try await reader.pullAll()
      #expect(pages.count > 1 && pages.flatMap(\.records).count == 9)
      #expect(pages.allSatisfy { WireCodec.write($0).count <= WireProtocol.maxBodyBytes })
    }

    StorageRule("manyWritesOfTheSameStoreAreSkippedInLimitedSteps") { stand in
      var (here, there) = (Client(stand), Client(stand))
      for round in 0..<6 { try await here.push(Sample.history(10_000, from: round * 10_000)) }
      try await there.push(Sample.history(1, device: Sample.meter))
      let pages = try await here.pullAll()
      #expect(pages.map { $0.readings.readings.count } == [0, 1] && pages[0].hasMore)
      // The client's own change comes after six full pages. A pull omits it.
      #expect(
        try await there.pullAll().map { $0.readings.readings.count } == Array(repeating: 10_000, count: 6) + [
          0
        ]
      )
    }

    for seed in [UInt64(1), 2, 3] {
      StorageRule("duringConcurrentWritesAReaderSeesEachChangeOnceInOrder \(seed)") { stand in
        let guids = (0..<5).map { _ in Client.uuid() }
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<8 {
            group.addTask {
              try await write(
                Client(stand), writer, guids, SeededGenerator(seed: seed * 100 + UInt64(writer)))
            }
          }
          let written = AsyncStream.makeStream(of: Void.self)
          async let seen = read(Client(stand, as: stand.reader), until: written.stream)
          try await group.waitForAll()
          written.continuation.finish()
          return try await seen
        }
        var whole = Client(stand)
        let pages = try await whole.pullAll()
        #expect(seen.readings.count == Set(seen.readings).count, "seed \(seed)")
        #expect(seen.readings == pages.flatMap(\.readings.texts), "seed \(seed)")
        #expect(seen.revisions.count == Set(seen.revisions).count, "seed \(seed)")
        let records = pages.flatMap(\.records)
        #expect(seen.records == Dictionary(uniqueKeysWithValues: records.map { ($0.guid, $0.state.json) }))
        #expect(zip(seen.numbers, seen.numbers.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        #expect(seen.numbers.count > 1, "the reader read while others wrote")
      }
    }
  }
}
