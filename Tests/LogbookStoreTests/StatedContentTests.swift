// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests that a store shows what the latest exports state whose imports are not undone. The order of imports,
/// undos and redos must not matter.
@Suite struct StatedContentTests {
  /// One of four weekly exports of a diary. In the second one the dose and the finger stick are corrected, in
  /// the third one the meal. In the last one the dose and the finger stick have their first values again.
  private struct Week {
    let number: Int
    let units: Double
    let carbs: Double
    let glucose: Double

    static let all = [
      Week(number: 0, units: 10, carbs: 50, glucose: 100),
      Week(number: 1, units: 11, carbs: 50, glucose: 200),
      Week(number: 2, units: 11, carbs: 60, glucose: 200),
      Week(number: 3, units: 10, carbs: 60, glucose: 100),
    ]

    /// The export with a meal that the source deleted in the second and in the last week.
    var batchWithDeletions: IngestBatch {
      var batch = batch
      var meal = Make.record(["carbs": .number(90)], sourceID: "deleted")
      meal.isDeletedAtSource = isDeleted
      batch.records.append(meal)
      return batch
    }

    private var isDeleted: Bool { [1, 3].contains(number) }

    /// The items of `batchWithDeletions`; 0 for the deleted meal.
    var itemsWithDeletions: [String: Double] {
      items.merging(["deleted": isDeleted ? 0 : 90]) { item, _ in item }
    }

    var batch: IngestBatch {
      let place = Int64(number)
      var batch = Make.batch(
        [(0, glucose), (86_400, 140), (172_800 + place * 3600, 150 + Double(number))].map { seconds, value in
          var reading = Make.reading(.smbg, Make.milligrams(value), at: Make.noon + seconds)
          reading.marks = .manual
          return reading
        })
      batch.records = [
        Make.record(["units": .number(units)], sourceID: "dose"),
        Make.record(["carbs": .number(carbs)], sourceID: "meal"),
        Make.record(["carbs": .number(Double(number) + 1)], sourceID: "new \(number)"),
      ]
      return batch
    }

    /// The items of the export, by the place of a reading or the id of a record.
    var items: [String: Double] {
      [
        "stick 0": glucose, "stick 86400": 140, "stick \(172_800 + number * 3600)": 150 + Double(number),
        "dose": units, "meal": carbs, "new \(number)": Double(number) + 1,
      ]
    }
  }

  private static let names = Dictionary(
    uniqueKeysWithValues: (["dose", "meal", "deleted"] + Week.all.map { "new \($0.number)" }).map {
      (Digest.uuid(of: ["record", "test", $0]), $0)
    })

  /// The visible items of a store. An item with two visible values has the sum, which differs from each
  /// value.
  private func shown(_ scratch: ScratchStore) throws -> [String: Double] {
    var items: [String: Double] = [:]
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      switch item {
      case .reading(let reading):
        guard case .value(let quantity) = reading.measurement else { return }
        items["stick \(reading.deviceTime.seconds - Make.noon)", default: 0] += quantity.number
      case .record(let record):
        let fields = try RecordFields(stored: record.fields, of: record.guid)
        let amount = fields.amount("units") ?? fields.amount("carbs")
        items[Self.names[record.guid] ?? record.guid, default: 0] += amount ?? 0
      }
    }
    return items
  }

  @Test(arguments: Seeds.share(of: Seeds.first(60), every: 4))
  func aStoreShowsTheLatestExportsThatAreNotUndoneInAnyOrder(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scratch = try ScratchStore()
    var (imports, undone, log): ([Int: [Int64]], Set<Int>, [String]) = ([:], [], [])
    for step in 0..<Int.random(in: 3...11, using: &random) {
      let week = try #require(Week.all.randomElement(using: &random))
      let number = week.number
      let age = Make.noon + 172_800 + Int64(number) * 3600
      func bring(restoresWithdrawn: Bool = false) throws {
        try scratch.ingest(
          week.batchWithDeletions, generatedAt: age, modifiedAt: age, digest: "file \(number)",
          restoresWithdrawn: restoresWithdrawn)
      }
      func addImport() throws {
        imports[number, default: []].append(
          Int64(try scratch.number("SELECT max(id) FROM ingest WHERE digest <> ''")))
      }
      if undone.contains(number), Bool.random(using: &random) {
        if Bool.random(using: &random) {
          // A job imports the file again. Its items stay hidden, and it changes no others.
          try bring()
          log.append("import \(number) again")
        } else {
          try bring(restoresWithdrawn: true)
          try addImport()
          undone.remove(number)
          log.append("restore \(number)")
        }
      } else if let ingests = imports[number], Int.random(in: 0..<3, using: &random) > 0 {
        let editor = try scratch.open(.editor)
        let isUndone = undone.remove(number) != nil
        for (index, ingest) in ingests.enumerated() {
          let now = Int64(5000 + 10 * step + index)
          if isUndone {
            _ = try editor.redo(ingest, at: now)
          } else {
            _ = try editor.undo(ingest, group: Digest.uuid(of: ["\(now)"]), at: now)
          }
        }
        if !isUndone { undone.insert(number) }
        log.append("\(isUndone ? "redo" : "undo") \(number)")
      } else {
        try bring()
        try addImport()
        log.append("import \(number)")
      }
      let valid = Week.all.filter { imports[$0.number] != nil && !undone.contains($0.number) }
      let expected = valid.reduce(into: [:]) { items, week in
        items.merge(week.itemsWithDeletions) { _, later in later }
      }.filter { $0.value > 0 }
      let found = try shown(scratch)
      let wrong = expected.merging(found) { first, _ in first }.keys.filter { expected[$0] != found[$0] }
      #expect(found == expected, "seed \(seed): \(log.joined(separator: ", ")): \(wrong)")
    }
  }

  /// The second and the third export state the same dose, and the import of the third one wrote it last.
  @Test func aRedoShowsAContentThatALaterUndoneImportStatedToo() throws {
    let scratch = try ScratchStore()
    func bring(_ number: Int) throws {
      let age = Make.noon + 172_800 + Int64(number) * 3600
      try scratch.ingest(Week.all[number].batch, generatedAt: age, modifiedAt: age)
    }
    func undo(_ ingest: Int64) throws {
      _ = try scratch.open(.editor).undo(ingest, group: Digest.uuid(of: ["\(ingest)"]), at: 5000)
    }
    try bring(0)
    try bring(1)
    try undo(2)
    try bring(2)
    for ingest in [Int64(1), 3] { try undo(ingest) }
    #expect(try shown(scratch) == [:])
    _ = try scratch.open(.editor).redo(2, at: 6000)
    #expect(try shown(scratch) == Week.all[1].items)
  }

  /// Version 15 had the content of a record before an import changed it, in the table `ingest_change`. The
  /// column `earlier` was the import that wrote this content first.
  @Test func theUpgradeFromVersion15KeepsWhatImportsStated() throws {
    let scratch = try ScratchStore()
    for number in [0, 1, 2] {
      let age = Make.noon + Int64(number) * 3600
      try scratch.ingest(Week.all[number].batch, generatedAt: age, modifiedAt: age)
    }
    let stated =
      "SELECT guid, ingest, device_time, utc_offset, offset_source, fields FROM stated_content ORDER BY 1, 2"
    let expected = try scratch.rows(stated)
    #expect(expected.count == 6)
    let queue = try DatabaseQueue(path: scratch.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          CREATE TABLE ingest_change (ingest INTEGER, guid TEXT, earlier INTEGER, device_time INTEGER, utc_offset INTEGER,
            offset_source INTEGER, fields TEXT);
          INSERT INTO ingest_change SELECT later.ingest, later.guid,
            (SELECT min(ingest) FROM stated_content AS e WHERE e.guid = later.guid AND e.fields = before.fields),
            before.device_time, before.utc_offset, before.offset_source, before.fields
          FROM stated_content AS later JOIN stated_content AS before ON before.guid = later.guid
            AND before.ingest = later.ingest - 1 WHERE before.fields <> later.fields;
          DROP TABLE stated_content
          """)
      for statement in WithdrawalSchema.statingContents { try database.execute(sql: statement) }
      #expect(try !database.tableExists("ingest_change"))
    }
    try queue.close()
    #expect(try scratch.rows(stated) == expected)
  }

  @Test func anUndoNamesTheImportWithAnotherValueOfHiddenSensorReadings() throws {
    let scratch = try ScratchStore()
    for (value, count) in [(100.0, 3), (106, 4)] {
      let readings = (0..<count).map {
        Make.reading(.cbg, Make.milligrams(value), at: Make.noon + Int64($0) * 300)
      }
      try scratch.ingest(Make.batch(readings), generatedAt: Make.noon + Int64(value))
    }
    #expect(try scratch.open(.editor).undoCounts(of: 1).otherValues == [2: 3])
    _ = try scratch.open(.editor).undo(2, group: Digest.uuid(of: ["other"]), at: 5000)
    #expect(try scratch.open(.editor).undoCounts(of: 1).otherValues == [:])
  }

  /// Only the readings that an undo hides count, whichever import stored them first.
  @Test func anUndoNamesNoOtherValueOfReadingsThatStayVisible() throws {
    let scratch = try ScratchStore()
    for (value, places) in [(100.0, 0..<4), (100, 2..<6), (106, 2..<8)] {
      let readings = places.map {
        Make.reading(.cbg, Make.milligrams(value), at: Make.noon + Int64($0) * 300)
      }
      try scratch.ingest(Make.batch(readings), generatedAt: Make.noon + Int64(value))
    }
    #expect(try scratch.open(.editor).undoCounts(of: 1).otherValues == [:])
    let counts = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["first"]), at: 5000)
    #expect(counts.readings == 2 && counts.otherValues == [:])
    #expect(try scratch.open(.editor).undoCounts(of: 2).otherValues == [3: 4])
  }
}
