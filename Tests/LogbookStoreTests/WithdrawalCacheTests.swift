// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests the cache of withdrawals, which an import keeps from one batch to the next.
@Suite struct WithdrawalCacheTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func sensor(_ places: some Sequence<Int>) -> [Reading] {
    places.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + Int64($0) * 300) }
  }

  private func undo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).undo(ingest, group: Digest.uuid(of: ["group"]), at: 5000)
  }

  private func withdrawn() throws -> Int { try scratch.number("SELECT count(*) FROM withdrawn") }

  private func source(_ name: String) -> IngestSource {
    IngestSource(name: name, format: "test", startedAt: 1000, modifiedAt: nil, decisions: [])
  }

  private func finish(_ writer: IngestWriter, _ digest: String) throws {
    try writer.finish(end: .whole, digest: digest, generatedAt: nil, finishedAt: 2000, decisions: [])
  }

  @Test func anImportReadsUndoRecordsOnceForAllItsBatches() throws {
    try scratch.ingest(Make.batch(sensor(0..<100)), digest: "wrong")
    #expect(try undo(1).readings == 100)
    try scratch.open().ingest(source("x"), isAtomic: false) { writer in
      for start in stride(from: 1000, to: 1400, by: 100) {
        try writer.write(Make.batch(sensor(start..<start + 100)))
      }
      #expect(writer.withdrawals.decodings == 1)
      try finish(writer, "other")
    }
    #expect(try withdrawn() == 100)
  }

  /// Another connection hides readings between two batches, and later shows them again. The next batch must
  /// not use the outdated cache.
  @Test func readingsHiddenBetweenTwoBatchesAffectTheNextBatch() throws {
    try scratch.ingest(Make.batch(sensor(0..<10)), digest: "wrong")
    #expect(try undo(1).readings == 10)
    let device = Make.device
    try scratch.open().ingest(source("x"), isAtomic: false) { writer in
      try writer.write(Make.batch(sensor(1000..<1010)))
      #expect(try withdrawn() == 10)
      let rule = Digest.uuid(of: ["rule"])
      _ = try WithdrawalEditor(scratch.open(.editor), at: 7000)
        .hide(device, since: nil, until: nil, reason: "", guid: rule)
      #expect(try withdrawn() == 20)
      try writer.write(Make.batch(sensor(2000..<2010)))
      #expect(try withdrawn() == 30)
      _ = try WithdrawalEditor(scratch.open(.editor), at: 7001).restore(device, since: nil, until: nil)
      try writer.write(Make.batch(sensor(3000..<3010)))
      #expect(try withdrawn() == 10 && writer.withdrawals.decodings == 3)
      try finish(writer, "other")
    }
  }

  @Test func undosOfARolledBackTransactionAreForgotten() throws {
    struct Interruption: Error {}
    let (known, point) = (WithdrawalCache(), SeriesPoint(position: Make.noon, valueBucket: 0, occurrence: 0))
    try scratch.ingest(Make.batch(sensor(0..<10)), digest: "wrong")
    #expect(try undo(1).readings == 10)
    let store = try scratch.open(.editor)
    #expect(throws: Interruption.self) {
      try store.queue.write { database in
        try database.execute(
          sql: "UPDATE record SET deleted = 1, fields = '{}', version = version + 1 WHERE kind = 'withdrawal'"
        )
        let holds = try known.visibility(database).series(SeriesName.stored(1, database)).lists(point)
        #expect(!holds)
        throw Interruption()
      }
    }
    let holds = try store.queue.read { database in
      try known.visibility(database).series(SeriesName.stored(1, database)).lists(point)
    }
    #expect(holds)
    #expect(known.decodings == 2)
  }

  /// Another undo would exceed the limit of listed readings. The store would then ignore its largest
  /// withdrawal, whose readings would be visible again.
  @Test func anUndoBeyondTheLimitIsRefusedUntilARedoMakesSpace() throws {
    try scratch.ingest(Make.batch(sensor(0..<10)), digest: "wrong")
    let store = try scratch.open(.editor)
    let groups = (0..<SeriesVisibility.maxListedPoints / PointRuns.maxPoints).map {
      Digest.uuid(of: ["group", String($0)])
    }
    try store.write { database in
      let series = try SeriesName.stored(1, database)
      for (index, group) in groups.enumerated() {
        let first = SeriesPoint(position: Make.noon + 10_000 + Int64(index), valueBucket: 0, occurrence: 0)
        let runs = PointRuns(runs: [.init(first: first, step: 1 << 20, count: PointRuns.maxPoints)])
        try WithdrawalGroup(group, database, at: 4000)
          .insert(WithdrawnInput(group: group, points: [series: runs]))
      }
    }
    let failure = #expect(throws: Failure.self) { try undo(1) }
    #expect(failure?.category == .configuration && failure?.message.contains("glucoport redo") == true)
    #expect(try withdrawn() == 0)
    try store.write { database in
      let ended = try WithdrawalGroup.validWithdrawals(database).filter { $0.input.group == groups[0] }
      _ = try WithdrawalGroup.end(ended, database, at: 4500)
    }
    #expect(try undo(1).readings == 10)
    #expect(try withdrawn() == 10)
  }
}
