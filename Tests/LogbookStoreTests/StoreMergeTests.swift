// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests the merge of two stores of one person.
@Suite struct StoreMergeTests {
  private let here: ScratchStore
  private let there: ScratchStore

  init() throws { (here, there) = (try ScratchStore(), try ScratchStore()) }

  @discardableResult
  private func merge(_ other: ScratchStore, into store: ScratchStore, at now: Int64 = 9000) throws
    -> IngestCounts
  {
    let original = try other.open(.reader)
    let result = try StoreMerge(original, named: original.path, at: now).run(into: store.open(.importer))
    try store.expectCountersEqualCount()
    return result.counts
  }

  /// The visible content of a store: the identities of its readings, and the ids and fields of its records.
  private func shown(_ scratch: ScratchStore) throws -> [String] {
    var texts: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      switch item {
      case .reading(let reading):
        texts.append("\(reading.kind.name) \(reading.position) \(reading.valueBucket) \(reading.occurrence)")
      case .record(let record): texts.append("\(record.guid) \(record.deviceTime.text) \(record.fields)")
      }
    }
    return texts.sorted()
  }

  private func sensor(_ places: some Sequence<Int>) -> IngestBatch {
    Make.batch(places.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + Int64($0) * 300) })
  }

  private func note(_ text: String, in scratch: ScratchStore, at now: Int64 = 3000) throws -> String {
    let draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(["text": .text(text)]))
    let guid = Digest.uuid(of: [text, String(now)])
    return try RecordEditor(scratch.open(.editor), at: now).add(draft, guid: guid).record.guid
  }

  private func edit(_ guid: String, _ text: String, in scratch: ScratchStore, at now: Int64) throws {
    _ = try RecordEditor(scratch.open(.editor), at: now).edit(guid) { $0.fields["text"] = .text(text) }
  }

  @Test func afterAMergeItemsOfBothStoresAreStoredOnceAndPending() throws {
    try here.ingest(sensor([0, 1, 2]))
    try there.ingest(sensor([2, 3]), generatedAt: 1500)
    _ = try note("there", in: there)
    let counts = try merge(there, into: here)
    #expect([counts.newReadings, counts.knownReadings, counts.newRecords] == [1, 1, 1])
    #expect(try here.number("SELECT count(*) FROM reading") == 4)
    #expect(try here.number("SELECT count(*) FROM reading WHERE uploaded = 0") == 4)
    #expect(try here.number("SELECT count(*) FROM record WHERE version > version_synced") == 1)
    let before = try here.rows("SELECT * FROM reading") + here.rows("SELECT * FROM record")
    let again = try merge(there, into: here)
    #expect([again.newReadings, again.knownReadings, again.newRecords, again.knownRecords] == [0, 2, 0, 1])
    #expect(try here.rows("SELECT * FROM reading") + here.rows("SELECT * FROM record") == before)
    #expect(try there.number("SELECT count(*) FROM reading") == 2)
  }

  @Test func aMergeWithDifferentPassesOfARepeatedHourHasEveryValueOnce() throws {
    func passes(_ values: [Double]...) -> IngestBatch {
      Make.batch(
        values.joined().enumerated().map { index, value in
          Make.reading(.cbg, Make.milligrams(value), at: Make.noon + Int64(index % values[0].count) * 300)
        })
    }
    func values(_ scratch: ScratchStore) throws -> [String] {
      try scratch.rows("SELECT value FROM readings WHERE NOT withdrawn ORDER BY value")
    }
    try here.ingest(passes([90, 95], [110, 115]))
    try there.ingest(passes([110, 115]))
    try merge(there, into: here)
    #expect(try values(here) == ["90.0", "95.0", "110.0", "115.0"])
    try merge(here, into: there)
    #expect(try values(there) == values(here))
    let again = try merge(here, into: there)
    #expect([again.newReadings, again.withdrawnReadings, again.changedReadings] == [0, 0, 0])
    #expect(try values(there) == values(here))
  }

  @Test func aMergeOfStoresKeepsTheLaterEditOrDeletion() throws {
    let guid = try note("first", in: here)
    try merge(here, into: there)
    #expect(try shown(here) == shown(there))
    try edit(guid, "later", in: there, at: 5000)
    try edit(guid, "earlier", in: here, at: 4000)
    let counts = try merge(there, into: here)
    #expect(counts.updatedRecords == 1)
    #expect(try here.rows("SELECT json_extract(fields, '$.text') FROM record") == ["later"])
    #expect(try merge(here, into: there).keptRecords == 0)
    // A merge restores no deleted record, even if the other store edited it later. An earlier deletion does
    // not remove a later edit either.
    _ = try RecordEditor(here.open(.editor), at: 6000).delete(guid)
    try edit(guid, "before", in: there, at: 5500)
    #expect(try merge(there, into: here).keptRecords == 1)
    try edit(guid, "latest", in: there, at: 8000)
    #expect(try merge(there, into: here).keptRecords == 1)
    #expect(try shown(here).isEmpty)
    #expect(try merge(here, into: there).keptRecords == 1)
    #expect(try !shown(there).isEmpty)
    // A deletion that is later than the other store's edit also deletes the record in that store.
    let other = try note("second", in: here)
    try merge(here, into: there)
    try edit(other, "edited", in: there, at: 4000)
    _ = try RecordEditor(here.open(.editor), at: 6000).delete(other)
    #expect(try merge(here, into: there).updatedRecords == 1)
    #expect(try shown(there).count == 1)
  }

  /// If the conflict's remote side is already the same deletion, the merge does not adopt the deletion. If it
  /// did, both sides would be equal, but the conflict would remain.
  @Test(arguments: [true, false])
  func aMergeOfStoresLeavesAConflictToThePerson(_ isTheSame: Bool) throws {
    let guid = try note("first", in: here)
    try merge(here, into: there)
    try edit(guid, "mine", in: here, at: 4000)
    _ = try RecordEditor(there.open(.editor), at: 6000).delete(guid)
    try here.open(.sync).sync { store in
      var theirs = try #require(try store.record(guid)).state
      if isTheSame {
        (theirs.isDeleted, theirs.fields) = (true, RecordFields())
      } else {
        theirs.fields["text"] = .text("third")
      }
      let remote = RemoteRecord(guid: guid, revision: "r2", state: theirs)
      try store.markConflicted(remote, isAnswered: true)
    }
    let counts = try merge(there, into: here)
    #expect(counts.keptRecords == (isTheSame ? 1 : 0) && counts.updatedRecords == (isTheSame ? 0 : 1))
    let conflict = try #require(try RecordResolver(here.open(.resolver)).conflicts().first)
    #expect(!conflict.mine.agrees(with: conflict.theirs))
  }

  /// The undo happened in `here`. The other store still has the content from before the undo.
  @Test func mergingAStoreFromBeforeAnUndoDoesNotRevertTheUndo() throws {
    let food = Make.batch([Make.record(["carbs": .number(45)], sourceID: "a")])
    try here.ingest(food)
    let guid = try #require(try here.rows("SELECT guid FROM record").first)
    _ = try RecordEditor(here.open(.editor), at: 3000).edit(guid) { $0.fields["carbs"] = .number(99) }
    try merge(here, into: there)
    let store = try here.open(.editor)
    let step = try #require(try store.nextStep(.undo))
    guard case .action(let action) = step else { throw Failure(.usage, "no action") }
    _ = try store.apply(.undo, to: action, at: 4000)
    #expect(try merge(there, into: here).keptRecords == 1)
    #expect(try here.rows("SELECT json_extract(fields, '$.carbs') FROM record") == ["45"])
  }

  @Test func aMergeOfStoresKeepsTheRecordOfTheLaterExport() throws {
    let old = Make.batch([
      Make.record(["carbs": .number(45)], sourceID: "a"), Make.record(["carbs": .number(10)], sourceID: "b"),
    ])
    let new = Make.batch([
      Make.record(["carbs": .number(50)], sourceID: "a"), Make.record(["carbs": .number(20)], sourceID: "b"),
    ])
    try here.ingest(old, generatedAt: 100)
    try there.ingest(old, generatedAt: 100)
    try there.ingest(new, generatedAt: 200)
    #expect(try merge(here, into: there).keptRecords == 2)
    #expect(try merge(there, into: here).updatedRecords == 2)
    #expect(try shown(here) == shown(there))
    #expect(try here.number("SELECT sum(json_extract(fields, '$.carbs')) FROM record") == 70)
  }

  /// A merged item has the age of the export that it comes from, and not the age of the newest export in the
  /// other store.
  @Test func aLaterExportUpdatesARecordStoredByAMerge() throws {
    func food(_ carbs: Double) -> IngestBatch {
      Make.batch([Make.record(["carbs": .number(carbs)], sourceID: "a")])
    }
    try there.ingest(food(45), generatedAt: 100)
    try there.ingest(Make.batch([Make.record(["carbs": .number(1)], sourceID: "z")]), generatedAt: 900)
    try merge(there, into: here)
    let imports = try here.open(.reader).ingests(limit: 10).count
    #expect(imports == 1)
    try here.ingest(food(30), generatedAt: 50)
    #expect(try here.number("SELECT max(json_extract(fields, '$.carbs')) FROM record") == 45)
    try here.ingest(food(50), generatedAt: 200)
    #expect(try here.number("SELECT max(json_extract(fields, '$.carbs')) FROM record") == 50)
    try merge(there, into: here)
    #expect(try here.number("SELECT max(json_extract(fields, '$.carbs')) FROM record") == 50)
  }

  @Test func aMergeOfStoresPrefersAnEditByAPersonOverAnImport() throws {
    let food = Make.batch([Make.record(["carbs": .number(45)], sourceID: "a")])
    try here.ingest(food, generatedAt: 100)
    try there.ingest(food, generatedAt: 100)
    let guid = try #require(try here.rows("SELECT guid FROM record").first)
    _ = try RecordEditor(here.open(.editor), at: 50).edit(guid) { $0.fields["carbs"] = .number(50) }
    #expect(try merge(there, into: here).keptRecords == 1)
    #expect(try merge(here, into: there).updatedRecords == 1)
    #expect(try shown(here) == shown(there))
  }

  @Test func afterAMergeAnUndoneImportStaysHiddenUnlessTheOtherStoreHasIt() throws {
    try there.ingest(sensor(0..<6))
    _ = try there.open(.editor).undo(1, group: Digest.uuid(of: ["g"]), at: 5000)
    try here.ingest(sensor(4..<8))
    try merge(there, into: here)
    // Readings 0 to 3 were only in the undone import, so they stay hidden. Readings 4 and 5 were also
    // imported in `here`.
    #expect(try shown(here).count == 4)
    #expect(try here.number("SELECT count(*) FROM reading") == 8)
    try merge(here, into: there)
    #expect(try shown(there) == shown(here))
    // A redo in `there` shows the items again, and a merge then shows them in `here`.
    _ = try there.open(.editor).redo(1, at: 6000)
    try merge(there, into: here)
    #expect(try shown(here).count == 8)
  }

  /// `here` imports the earlier export of a meal, and `there` the later one, which is then undone.
  ///
  /// - Parameters:
  ///   - mergesBefore: whether both stores are merged before the undo, too.
  ///   - laterIsFirst: whether the first merge is the one into the store with the later export.
  @Test(arguments: [false, true], [false, true])
  func afterAMergeTheContentOfAnUndoneExportIsThatOfTheEarlierOne(
    _ mergesBefore: Bool, _ laterIsFirst: Bool
  ) throws {
    func food(_ carbs: Double) -> IngestBatch {
      Make.batch([Make.record(["carbs": .number(carbs)], sourceID: "a")])
    }
    func mergeBoth(at now: Int64 = 9000) throws {
      for isIntoThere in [laterIsFirst, !laterIsFirst] {
        _ = try isIntoThere ? merge(here, into: there, at: now) : merge(there, into: here, at: now)
      }
    }
    func expect(_ carbs: Int) throws {
      for store in [here, there] {
        let shown = try shown(store)
        #expect(shown.count == 1 && shown[0].contains("\"carbs\":\(carbs)}"), "\(shown)")
      }
    }
    try here.ingest(food(30), generatedAt: 100)
    try there.ingest(food(80), generatedAt: 200)
    if mergesBefore {
      try mergeBoth()
      try expect(80)
    }
    let counts = try there.open(.editor).undo(1, group: Digest.uuid(of: ["g"]), at: 5000)
    // Without a merge into it, the store with the later export does not know the earlier content.
    #expect(counts.changedRecords == (mergesBefore && laterIsFirst ? 1 : 0))
    try mergeBoth()
    try expect(30)
    // A redo shows the later content again, if the record still had it when the undo was merged.
    _ = try there.open(.editor).redo(1, at: 10_000)
    if mergesBefore {
      try mergeBoth(at: 11_000)
      try expect(80)
    }
  }

  @Test func afterAMergeAnUndoOfAnOwnImportLeavesItemsOfTheOtherStoreVisible() throws {
    var batch = sensor(0..<3)
    batch.records = [Make.record(["carbs": .number(45)], sourceID: "a")]
    try here.ingest(batch)
    try there.ingest(batch)
    try merge(there, into: here)
    let before = try shown(here)
    _ = try here.open(.editor).undo(1, group: Digest.uuid(of: ["g"]), at: 5000)
    #expect(try before.count == 4 && shown(here) == before)
    // If the other store undid its import, too, the next merge hides the items.
    _ = try there.open(.editor).undo(1, group: Digest.uuid(of: ["h"]), at: 5000)
    try merge(there, into: here)
    #expect(try shown(here).isEmpty)
  }

  /// A diary with a hand-typed finger stick of this value at noon.
  private func diary(_ value: Double, _ more: Int64) -> IngestBatch {
    let values = [(0, value), (3600, 140), (7200 * more, 150)]
    return Make.batch(
      values.map { seconds, value in
        var reading = Make.reading(.smbg, Make.milligrams(value), at: Make.noon + seconds)
        reading.marks = .manual
        return reading
      })
  }

  private func valuesAtNoon(_ scratch: ScratchStore) throws -> [String] {
    try scratch.rows("SELECT value FROM readings WHERE NOT withdrawn AND device_time = '2025-06-01T12:00:00'")
  }

  /// The third store has the corrected value by a merge, and no import of its export.
  @Test func aLaterMergeOfAnotherStoreKeepsTheCorrectionOfAFingerStick() throws {
    let third = try ScratchStore()
    try here.ingest(diary(203, 1), generatedAt: Make.noon + 7200)
    try there.ingest(diary(103, 2), generatedAt: Make.noon + 14_400)
    try merge(there, into: here)
    try merge(there, into: third)
    #expect(try valuesAtNoon(here) == ["103.0"])
    try merge(third, into: here)
    #expect(try valuesAtNoon(here) == ["103.0"])
    let unrelated = try ScratchStore()
    try unrelated.ingest(sensor([5]))
    try merge(unrelated, into: here)
    #expect(try valuesAtNoon(here) == ["103.0"])
  }

  @Test(arguments: [false, true])
  func aMergeShowsAFingerStickThatOneStoreHasCorrectedOnce(_ laterIsHere: Bool) throws {
    let (earlier, later) = laterIsHere ? (there, here) : (here, there)
    try earlier.ingest(diary(203, 1), generatedAt: Make.noon + 7200)
    try later.ingest(diary(103, 2), generatedAt: Make.noon + 14_400)
    for _ in 0..<2 {
      try merge(there, into: here)
      #expect(try valuesAtNoon(here) == ["103.0"])
    }
  }

  @Test func itemsStoredByAMergeAreNotAnImportOfTheStore() throws {
    try there.ingest(sensor(0..<3))
    try merge(there, into: here)
    _ = try there.open(.editor).undo(1, group: Digest.uuid(of: ["g"]), at: 5000)
    try merge(there, into: here)
    #expect(try shown(here).isEmpty)
    #expect(throws: Failure.self) {
      try here.open(.editor).undo(1, group: Digest.uuid(of: ["h"]), at: 5000)
    }
  }

  @Test func aMergeOfStoresWithTwoTimeZonesSetByPeopleIsRefused() throws {
    try here.ingest(sensor([0]))
    _ = try there.open(zone: "Asia/Tokyo")
    try there.ingest(sensor([1]))
    let before = try here.number("SELECT count(*) FROM ingest")
    #expect { try merge(there, into: here) } throws: { ($0 as? Failure)?.category == .configuration }
    #expect(try here.number("SELECT count(*) FROM ingest") == before)
  }

  @Test func aMergeThatFailsAtAnyBatchLeavesTheStoreUnchanged() throws {
    try here.ingest(sensor([0]))
    try there.ingest(sensor(0..<50))
    _ = try note("there", in: there)
    let before = try here.rows("SELECT * FROM reading") + here.rows("SELECT * FROM ingest")
    let store = try here.open(.importer)
    try store.queue.inDatabase {
      try $0.execute(
        sql:
          "CREATE TEMP TRIGGER stop BEFORE UPDATE OF counts ON main.ingest WHEN NEW.counts LIKE '%\"new\":49%' "
          + "BEGIN SELECT RAISE(ABORT, 'stop'); END")
    }
    #expect(throws: Failure.self) {
      try StoreMerge(there.open(.reader), named: "there", at: 9000).run(into: store)
    }
    #expect(try here.rows("SELECT * FROM reading") + here.rows("SELECT * FROM ingest") == before)
  }

  @Test func aMergeIncludesThePersonsStatedByImports() throws {
    let anna = try #require(StatedPerson(name: "Anna Sample")),
      ben = try #require(StatedPerson(name: "Ben Other"))
    func stated(_ person: StatedPerson, in scratch: ScratchStore) throws {
      let source = IngestSource(
        name: "input", format: "glooko", startedAt: 1000, modifiedAt: nil, decisions: [], persons: [person])
      try scratch.open().ingest(source, isAtomic: false) { writer in
        try writer.write(sensor([0]))
        try writer.finish(end: .whole, digest: "d", generatedAt: nil, finishedAt: 2000, decisions: [])
      }
    }
    try stated(anna, in: there)
    try merge(there, into: here)
    let store = try here.open(.reader)
    #expect(try store.verdict(on: [anna]) == .same)
    if case .other = try store.verdict(on: [ben]) {} else { Issue.record("another person is accepted") }
    // Stores keep only salted digests of names. Digests with different salts cannot be compared, so the
    // result is `.unknown`.
    let third = try ScratchStore()
    try stated(ben, in: third)
    #expect(try store.verdict(onPersonOf: third.open(.reader)) == .unknown)
    #expect(try store.verdict(onPersonOf: there.open(.reader)) == .same)
  }

  // MARK: Any history

  /// Makes one random change in a store.
  private func act(in scratch: ScratchStore, _ generator: inout SeededGenerator, at now: Int64) throws {
    switch Int.random(in: 0..<6, using: &generator) {
    case 0, 1:
      let first = Int.random(in: 0..<20, using: &generator)
      try scratch.ingest(
        sensor(first..<first + Int.random(in: 1...6, using: &generator)), generatedAt: now,
        digest: "\(first) \(now)")
    case 2: _ = try note("note \(now)", in: scratch, at: now)
    case 3:
      let notes = try scratch.rows(
        "SELECT guid FROM record WHERE kind = 'note' AND deleted = 0 ORDER BY guid")
      if let guid = notes.randomElement(using: &generator) {
        try edit(guid, "edited \(now)", in: scratch, at: now)
      }
    case 4:
      if let guid = try scratch.rows(
        "SELECT guid FROM record WHERE kind = 'note' AND deleted = 0 ORDER BY guid"
      ).first {
        _ = try RecordEditor(scratch.open(.editor), at: now).delete(guid)
      }
    default:
      let imports = try scratch.rows("SELECT id FROM ingest WHERE digest IS NOT NULL ORDER BY id DESC")
        .compactMap(Int64.init)
      guard let ingest = imports.randomElement(using: &generator) else { return }
      let store = try scratch.open(.editor)
      if try store.undoneImports().contains(ingest) {
        _ = try store.redo(ingest, at: now)
      } else {
        _ = try store.undo(ingest, group: Digest.uuid(of: ["\(now)"]), at: now)
      }
    }
  }

  @Test(arguments: Seeds.share(of: Seeds.first(12), every: 3))
  func mergesInEitherOrderOrRepeatedShowTheSameItems(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    _ = (try here.open(), try there.open())
    for round in 0..<3 {
      for step in 0..<8 {
        let scratch = Bool.random(using: &generator) ? here : there
        try act(in: scratch, &generator, at: 10_000 + Int64(round) * 100 + Int64(step))
      }
      let now = 20_000 + Int64(round) * 1000
      try merge(there, into: here, at: now)
      try merge(here, into: there, at: now)
      let once = try shown(here)
      // These records are not compared: a merge leaves a record deleted in one store, even if the other store
      // edited it later.
      let deleted = try [here, there].flatMap { try $0.rows("SELECT guid FROM record WHERE deleted = 1") }
      let differing = try Set(once).symmetricDifference(shown(there))
        .filter { item in !deleted.contains { item.hasPrefix($0) } }
      #expect(differing.sorted() == [], "round \(round)")
      try merge(there, into: here, at: now + 1)
      #expect(try shown(here) == once, "round \(round), again")
    }
  }
}
