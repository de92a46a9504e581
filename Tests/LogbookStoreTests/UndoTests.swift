// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests undo and redo of imports.
@Suite struct UndoTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func sensor(_ places: some Sequence<Int>, _ value: Double = 100) -> IngestBatch {
    Make.batch(
      places.map { Make.reading(.cbg, Make.milligrams(value), at: Make.noon + Int64($0) * 300) })
  }

  private func undo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).undo(ingest, group: guid(), at: 5000)
  }

  private func redo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).redo(ingest, at: 5000)
  }

  /// Undoes an import, or redoes an undone one.
  private func toggle(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.reader).undoneImports().contains(ingest) ? redo(ingest) : undo(ingest)
  }

  private func guid() -> String { Digest.uuid(of: ["\(UInt64.random(in: .min ... .max))"]) }

  /// The visible readings, each as its minute after noon and its value, and the texts of the visible records.
  private func shown() throws -> [String] {
    var texts: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      switch item {
      case .reading(let reading):
        let number = reading.measurement.quantity.map { Int($0.number) } ?? -1
        texts.append("\((reading.deviceTime.seconds - Make.noon) / 300):\(number)")
      case .record(let record): texts.append(record.fields)
      }
    }
    return texts
  }

  private func rows() throws -> Set<String> { Set(try scratch.rows("SELECT * FROM reading")) }

  @Test func undoHidesOnlyTheItemsOfTheImport() throws {
    try scratch.ingest(sensor([0, 2, 4]))
    try scratch.ingest(sensor([1, 2, 3], 100))
    let before = try (shown(), rows())
    let counts = try undo(2)
    #expect([counts.readings, counts.uploaded, counts.records] == [2, 0, 0] && !counts.isDoneAlready)
    #expect(try shown() == ["0:100", "2:100", "4:100"])
    #expect(try rows() == before.1)
    let again = try redo(2)
    #expect(!again.isDoneAlready && again.readings == 2)
    #expect(try shown() == before.0)
    #expect(try rows() == before.1)
  }

  @Test func anImportIsUndoneOnlyOnceAndRedoneOnlyOnce() throws {
    try scratch.ingest(sensor(0..<3))
    #expect(try redo(1).isDoneAlready && shown().count == 3)
    _ = try undo(1)
    let records = try scratch.rows("SELECT * FROM record")
    let second = try undo(1)
    #expect(second.isDoneAlready && second.readings == 0)
    #expect(try scratch.rows("SELECT * FROM record") == records && shown() == [])
    #expect(try redo(1).readings == 3)
    #expect(try redo(1).isDoneAlready && shown().count == 3)
    // An undo after a redo stores a second, separate withdrawal.
    #expect(try undo(1).readings == 3 && shown() == [])
  }

  /// A reading that a person has hidden is not counted, and it stays hidden after the redo.
  @Test func undoCountsItemsThatBecomeHiddenOrVisible() throws {
    try scratch.ingest(sensor([0, 1, 2]))
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    let first = try #require(try items().first)
    try editor.set(first, isHidden: true, reason: "")
    #expect(try scratch.open(.reader).undoCounts(of: 1).readings == 2)
    #expect(try undo(1).readings == 2)
    #expect(try scratch.open(.reader).undoCounts(of: 1, .redo).readings == 2)
    #expect(try redo(1).readings == 2)
    #expect(try shown() == ["1:100", "2:100"])
  }

  /// The row in `same_as` states that another program uploaded the same reading to the site. This counts as a
  /// second import of the reading.
  @Test func undoKeepsReadingsVisibleThatAnotherProgramUploadedToTheSite() throws {
    try scratch.ingest(sensor([0, 1, 2]))
    let note = """
      INSERT INTO same_as SELECT series, position, value_bucket, occurrence, zeroblob(16), 0 FROM reading
      WHERE position = \(Make.noon + 300)
      """
    #expect(try scratch.refusal(.sync, note) == nil)
    #expect(try undo(1).readings == 2)
    #expect(try shown() == ["1:100"])
  }

  @Test func hidingAReadingOfAnUndoneImportIsKeptAfterRedo() throws {
    try scratch.ingest(sensor([0, 1]))
    _ = try undo(1)
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    let first = try #require(try items().first)
    #expect(first.isWithdrawn)
    #expect(try editor.set(first, isHidden: true, reason: ""))
    #expect(try editor.set(first, isHidden: true, reason: "") == false)
    #expect(try redo(1).readings == 1)
    #expect(try shown() == ["1:100"])
  }

  @Test func undoKeepsAReadingVisibleWhileAnotherImportHasIt() throws {
    try scratch.ingest(sensor([0, 1, 2]))
    try scratch.ingest(sensor([1, 2, 3]))
    #expect(try undo(1).readings == 1)
    #expect(try shown() == ["1:100", "2:100", "3:100"])
    #expect(try undo(2).readings == 3)
    #expect(try shown() == [])
    // The first import is redone, so all its items are visible, also the ones that the second import has.
    _ = try redo(1)
    #expect(try shown() == ["0:100", "1:100", "2:100"])
    _ = try redo(2)
    #expect(try shown() == ["0:100", "1:100", "2:100", "3:100"])
  }

  @Test func aPreviewOfUndoReturnsTheCountsOfTheUndoAndChangesNothing() throws {
    try scratch.ingest(sensor(0..<5))
    let content = try scratch.rows("SELECT * FROM record") + scratch.rows("SELECT * FROM withdrawn")
    let preview = try scratch.open(.reader).undoCounts(of: 1)
    #expect(try scratch.rows("SELECT * FROM record") + scratch.rows("SELECT * FROM withdrawn") == content)
    #expect(try preview == undo(1))
  }

  @Test func anUndoneFileImportedAgainStaysHiddenUntilRestored() throws {
    try scratch.ingest(sensor(0..<5), digest: "file")
    _ = try undo(1)
    let known = try scratch.ingest(sensor(0..<5), digest: "file")
    #expect([known.knownReadings, known.withdrawnReadings, known.restoredReadings] == [5, 5, 0])
    #expect(try shown() == [])
    let again = try ingest(sensor(0..<5), digest: "file", restoresWithdrawn: true)
    #expect([again.withdrawnReadings, again.restoredReadings] == [0, 5])
    #expect(try shown().count == 5)
    #expect(try scratch.open(.reader).undoneImports() == [])
  }

  private static let madrid = Decision("zone", "Europe/Madrid", .given)

  /// The second import uses the zone of the logbook, which is the zone that was given for the first import.
  /// So it counts as a repetition of the undone import.
  @Test func anUndoneFileImportedWithoutItsTimeZoneStaysHidden() throws {
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 5)
    _ = try ingest(sensor(0..<5), digest: "file", [Self.madrid])
    _ = try undo(1)
    let same = try ingest(sensor(0..<5), digest: "file", [Decision("zone", "Europe/Madrid", .logbook)])
    #expect([same.withdrawnReadings, same.restoredReadings] == [5, 0])
    #expect(try shown() == [])
    let wanted = try ingest(sensor(0..<5), digest: "file", restoresWithdrawn: true)
    #expect([wanted.withdrawnReadings, wanted.restoredReadings] == [0, 5])
  }

  @Test func anUndoneFileImportedWithAnotherTimeZoneIsVisible() throws {
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 5)
    _ = try ingest(sensor(0..<5), digest: "file", [Self.madrid])
    _ = try undo(1)
    let other = try ingest(sensor(0..<5), digest: "file", [Decision("zone", "Asia/Tokyo", .given)])
    #expect([other.withdrawnReadings, other.restoredReadings] == [0, 5])
  }

  @Test func anUndoneFileImportedWithAnotherOptionIsVisible() throws {
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 5)
    _ = try ingest(sensor(0..<5), digest: "file", [Self.madrid])
    _ = try undo(1)
    let order = try ingest(sensor(0..<5), digest: "file", [Decision("date order", "dmy", .given)])
    #expect([order.withdrawnReadings, order.restoredReadings] == [0, 5])
  }

  @Test func anImportWithoutItemsCannotBeUndone() throws {
    try scratch.ingest(sensor(0..<3))
    try scratch.ingest(Make.batch([ImportedRecord]()), digest: "empty")
    let counts = try undo(2)
    #expect(counts.broughtNothing && counts.readings == 0 && !counts.isDoneAlready)
    #expect(try scratch.number("SELECT count(*) FROM record WHERE kind = 'withdrawal'") == 0)
    #expect(try scratch.open(.reader).undoneImports() == [])
    // The import stored nothing, since another import had stored its items. It can be undone all the same.
    try scratch.ingest(sensor(0..<3), digest: "copy")
    let met = try undo(3)
    #expect(!met.broughtNothing && met.readings == 0)
    #expect(try scratch.open(.reader).undoneImports() == [3])
    #expect(try undo(1).readings == 3)
    #expect(try shown() == [])
  }

  @Test func aRecordTooLargeToUndoIsReportedAndKept() throws {
    func food(_ carbs: Double, _ bytes: Int) -> IngestBatch {
      Make.batch([
        Make.record(
          ["carbs": .number(carbs), "text": .text(String(repeating: "x", count: bytes))], sourceID: "large")
      ])
    }
    try scratch.ingest(food(10, 120_000), generatedAt: 10)
    #expect(try scratch.ingest(food(20, 120_000), generatedAt: 20).updatedRecords == 1)
    let guid = try #require(try scratch.rows("SELECT guid FROM record").first)
    let preview = try scratch.open(.reader).undoCounts(of: 2)
    #expect(preview.largeRecords == [guid] && preview.changedRecords == 0)
    #expect(try undo(2) == preview)
    #expect(try scratch.number("SELECT json_extract(fields, '$.carbs') FROM records") == 20)
    // If the record is smaller, its change is reverted, and nothing is reported.
    let other = try ScratchStore()
    try other.ingest(food(10, 1000), generatedAt: 10)
    try other.ingest(food(20, 1000), generatedAt: 20)
    let counts = try other.open(.editor).undo(2, group: self.guid(), at: 5000)
    #expect(counts.largeRecords.isEmpty && counts.changedRecords == 1)
  }

  @Test func anotherFileWithTheReadingsOfAnUndoneImportShowsThemAgain() throws {
    try scratch.ingest(sensor(0..<5), digest: "wrong")
    _ = try undo(1)
    let counts = try scratch.ingest(sensor(3..<8), digest: "right")
    #expect([counts.newReadings, counts.knownReadings, counts.restoredReadings] == [3, 2, 2])
    #expect(try shown() == ["3:100", "4:100", "5:100", "6:100", "7:100"])
    _ = try undo(2)
    #expect(try shown() == [])
  }

  @Test func anUndoneFileImportedInAnotherUnitIsStoredAsNewReadings() throws {
    try scratch.ingest(sensor(0..<3, 5), digest: "file")
    _ = try undo(1)
    let counts = try ingest(sensor(0..<3, 90), digest: "file", [Decision("unit", "mmol/L", .given)])
    #expect([counts.newReadings, counts.changedReadings] == [3, 0])
    #expect(try shown() == ["0:90", "1:90", "2:90"])
    #expect(try scratch.number("SELECT max(occurrence) FROM reading") == 1)
    // A repeated import finds these readings. In another file, another value at the time of a visible reading
    // counts as a revision.
    let known = try ingest(sensor(0..<3, 90), digest: "file", [Decision("unit", "mmol/L", .given)])
    #expect([known.newReadings, known.knownReadings, known.withdrawnReadings] == [0, 3, 0])
    #expect(try scratch.ingest(sensor(0..<3, 95), digest: "third").changedReadings == 3)
  }

  @Test func theCounterOfAnUndoneReadingCanIdentifyAReadingOfAnotherDay() throws {
    let day: Int64 = 86_400 * 3
    let wrong = Make.batch((1...3).map { Make.tick($0, 100, at: Make.noon + $0 * 300) })
    let right = Make.batch((1...3).map { Make.tick($0, 100, at: Make.noon + day + $0 * 300) })
    try scratch.ingest(wrong, digest: "wrong")
    #expect(try scratch.ingest(right).rejected == 3)
    _ = try undo(2)
    _ = try undo(1)
    let counts = try scratch.ingest(right)
    #expect([counts.newReadings, counts.rejected] == [3, 0])
    #expect(try scratch.ingest(right).knownReadings == 3)
    #expect(try scratch.ingest(wrong, digest: "wrong").rejected == 0)
    #expect(try shown().count == 3)
  }

  @Test func undoHidesRecordsExceptEditedOnes() throws {
    func food(_ carbs: Double, _ id: String) -> ImportedRecord {
      Make.record(["carbs": .number(carbs)], sourceID: id)
    }
    try scratch.ingest(Make.batch([food(10, "a"), food(20, "b"), food(30, "c")]), generatedAt: 10)
    try scratch.ingest(Make.batch([food(10, "a"), food(25, "b"), food(40, "d")]), generatedAt: 20)
    let edited = Digest.uuid(of: ["record", "test", "c"])
    _ = try RecordEditor(scratch.open(.editor), at: 3000).edit(edited) { $0.fields["text"] = .text("mine") }
    let before = try shown()
    let counts = try undo(2)
    #expect([counts.records, counts.changedRecords, counts.editedRecords] == [1, 1, 0])
    #expect(
      try shown().sorted() == [#"{"carbs":10}"#, #"{"carbs":20}"#, #"{"carbs":30,"text":"mine"}"#])
    #expect(try scratch.number("SELECT count(*) FROM records WHERE withdrawn") == 1)
    // Import 3 repeats the undone import 2, and is undone as well. A redo of import 2 still restores
    // everything.
    try scratch.ingest(
      Make.batch([food(10, "a"), food(25, "b"), food(40, "d")]), generatedAt: 20, digest: "late")
    _ = try undo(3)
    _ = try redo(2)
    #expect(try Set(shown()) == Set(before))
    let first = try undo(1)
    #expect([first.records, first.editedRecords] == [0, 1])
  }

  /// Three weekly exports of one table have the dose, and the third one has a wrong amount.
  @Test(arguments: [false, true])
  func undoRestoresTheContentOfARecordThatSeveralEarlierImportsHad(isFirstUndone: Bool) throws {
    func food(_ carbs: Double) -> ImportedRecord { Make.record(["carbs": .number(carbs)], sourceID: "a") }
    try scratch.ingest(Make.batch([food(10)]), generatedAt: 10)
    try scratch.ingest(Make.batch([food(10)]), generatedAt: 20)
    try scratch.ingest(Make.batch([food(90)]), generatedAt: 30)
    if isFirstUndone { _ = try undo(1) }
    #expect(try undo(3).changedRecords == 1)
    #expect(try shown() == [#"{"carbs":10}"#])
    #expect(try redo(3).changedRecords == 1)
    #expect(try shown() == [#"{"carbs":90}"#])
  }

  @Test func undoLeavesAContentThatALaterImportAlsoHas() throws {
    func food(_ carbs: Double) -> ImportedRecord { Make.record(["carbs": .number(carbs)], sourceID: "a") }
    try scratch.ingest(Make.batch([food(10)]), generatedAt: 10)
    try scratch.ingest(Make.batch([food(90)]), generatedAt: 20)
    try scratch.ingest(Make.batch([food(90)]), generatedAt: 30)
    #expect(try undo(2).changedRecords == 0)
    #expect(try shown() == [#"{"carbs":90}"#])
  }

  @Test func undoOfAnImportAlsoUndoesItsCorrections() throws {
    func typed(_ number: Double) -> IngestBatch {
      var reading = Make.reading(.smbg, Make.millimoles(number))
      reading.marks = .manual
      return Make.batch([reading])
    }
    try scratch.ingest(typed(5.6), generatedAt: 10)
    #expect(try scratch.ingest(typed(6.5), generatedAt: 20).correctedReadings == 1)
    #expect(try shown() == ["0:6"])
    let undone = try undo(2)
    #expect([undone.readings, undone.oppositeReadings, undone.records] == [1, 1, 0])
    #expect(try shown() == ["0:5"])
    _ = try redo(2)
    #expect(try shown() == ["0:6"])
  }

  @Test func aPullOrAMissingImportCannotBeUndone() throws {
    try scratch.ingest(sensor(0..<2))
    #expect(try scratch.refusal(.importer, "UPDATE ingest SET digest = NULL") == nil)
    for (number, category) in [(Int64(1), FailureCategory.usage), (2, .missingInput)] {
      let failure = #expect(throws: Failure.self) { try undo(number) }
      #expect(failure?.category == category)
    }
    #expect(try scratch.open(.reader).nextStep(.undo) == nil)
  }

  @Test func undoWithoutANumberUndoesTheLastImportWithItemsThatIsNotUndone() throws {
    func last() throws -> Int64? {
      guard case .ingest(let number)? = try scratch.open(.reader).nextStep(.undo) else { return nil }
      return number
    }
    #expect(try last() == nil)
    try scratch.ingest(sensor(0..<3))
    try scratch.ingest(sensor([]))
    #expect(try last() == 1)
    // This import has only known items. The items stay visible while this import is not undone, but `undo`
    // first undoes the import that stored them.
    try scratch.ingest(sensor(0..<3))
    #expect(try last() == 1)
    #expect(try undo(1).readings == 0)
    #expect(try last() == 3)
    #expect(try undo(3).readings == 3)
    #expect(try last() == nil)
    #expect(try scratch.open(.reader).nextStep(.redo) == .ingest(3))
    _ = try redo(3)
    #expect(try scratch.open(.reader).nextStep(.redo) == .ingest(1))
    _ = try redo(1)
    #expect(try last() == 1)
    #expect(try scratch.open(.reader).nextStep(.redo) == nil)
  }

  /// A timer may have fetched these items without a person's command. So `undo` without a number must not
  /// hide them.
  @Test func itemsFetchedFromASourceAreNotAnUndoStep() throws {
    try scratch.ingest(sensor(0..<3))
    #expect(try scratch.refusal(.importer, "UPDATE ingest SET source = 'source phone'") == nil)
    #expect(try scratch.open(.reader).nextStep(.undo) == nil)
    #expect(try undo(1).readings == 3)
  }

  @Test func undoReportsIfAnImportHasTooManyRunsOfKnownReadings() throws {
    var notes = ImportNotes(ingest: 2)
    try scratch.ingest(sensor(0..<4))
    let store = try scratch.open(.importer)
    try store.queue.inDatabase { database in
      let series = Series(id: 1, device: 1, positionKind: .time, partition: 2, kind: .cbg, positions: nil)
      for _ in 0...ImportNotes.maxRuns {
        for place in [Int64(0), 2] {
          let point = SeriesPoint(position: Make.noon + place * 300, valueBucket: 0, occurrence: 0)
          try notes.add([point], of: series, database)
        }
      }
      try database.execute(
        sql:
          "INSERT INTO ingest (source, format, started_at, digest, outcome) VALUES ('b', 'test', 1, 'd', 'whole')"
      )
      try notes.save(database)
    }
    #expect(try scratch.number("SELECT count(*) FROM ingest_run") == 0)
    #expect(try scratch.open(.reader).undoCounts(of: 1).lacksNotes)
  }

  @Test func theReadingsOfACompleteImportAreStoredAsOneRangeOfPositions() throws {
    try scratch.ingest(sensor(0..<500))
    try scratch.ingest(sensor(0..<500))
    #expect(try scratch.number("SELECT count(*) FROM ingest_run") == 1)
    try scratch.ingest(sensor(0..<500).readings.filter { $0.position % 600 == 0 }.batch)
    #expect(try scratch.number("SELECT count(*) FROM ingest_run WHERE ingest = 3") == 250)
  }

  // MARK: Devices and single readings

  @Test func hidingADeviceHidesItsCurrentAndLaterReadings() throws {
    try scratch.ingest(sensor(0..<4))
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    let since = DeviceTime(seconds: Make.noon + 600)
    #expect(
      try editor.hide(Make.device, since: since, until: nil, reason: "lent", guid: guid()) == 2)
    try scratch.ingest(sensor(0..<6))
    #expect(try shown() == ["0:100", "1:100"])
    let restored = try editor.restore(Make.device, since: nil, until: nil)
    #expect(restored.rules == 1 && restored.readings == 4)
    #expect(try shown().count == 6)
    #expect(try editor.restore(Make.device, since: nil, until: nil).rules == 0)
  }

  @Test func anEntryIsHiddenAndShownWithItsRecords() throws {
    let store = try scratch.open(.editor)
    let placement = Placement(utcOffset: 0, source: .stated)
    let (entry, child) = (guid(), guid())
    for (id, parent) in [(entry, nil), (child, entry as String?)] {
      var draft = RecordDraft(
        kind: .note, at: DeviceTime(seconds: 5), placement: placement,
        fields: RecordFields(["text": .text(id)]))
      draft.entryGuid = parent
      _ = try RecordEditor(store, at: 6).add(draft, guid: id)
    }
    func stored() throws -> StoredRecord { try #require(try store.records(guidPrefix: entry).first) }
    let editor = WithdrawalEditor(store, at: 5000)
    #expect(try editor.set(stored(), isHidden: true, reason: ""))
    #expect(try editor.set(stored(), isHidden: true, reason: "") == false)
    #expect(try shown() == [])
    #expect(try editor.set(stored(), isHidden: false, reason: ""))
    #expect(try shown().count == 2)
  }

  // MARK: Any sequence

  @Test func randomImportsUndosAndHidesMatchAReferenceImplementation() throws {
    for seed in Seeds.first(4) {
      let other = try UndoTests()
      try other.run(seed: seed)
    }
  }

  private func run(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var imports = 0
    for step in 0..<25 {
      let before = try rows()
      let draw = random.next() % 6
      if imports == 0 || draw < 2 {
        let first = Int(random.next() % 20)
        let places = stride(from: first, to: first + 10, by: Int(random.next() % 3) + 1)
        let value = Double(80 + random.next() % 2 * 40)
        try scratch.ingest(sensor(places, value), digest: "\(Array(places)) \(value)")
        imports += 1
      } else if draw < 5 {
        let number = Int64(random.next() % UInt64(imports)) + 1
        let shown = try shown()
        if try !toggle(number).broughtNothing, try scratch.open(.reader).undoneImports().contains(number) {
          _ = try redo(number)
          #expect(try self.shown() == shown, "seed \(seed) step \(step): redo of the undo of \(number)")
          _ = try undo(number)
        }
      } else {
        let readings = try items()
        let reading = readings[Int(random.next() % UInt64(readings.count))]
        let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
        #expect(try editor.set(reading, isHidden: !reading.isWithdrawn, reason: ""))
      }
      #expect(try rows().isSuperset(of: before), "seed \(seed) step \(step)")
      try expectResultFollows("seed \(seed) step \(step)")
    }
  }

  private func items() throws -> [StoredReading] {
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var readings: [StoredReading] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  /// Checks that the hidden readings in the store are those that follow from its readings and withdrawals.
  private func expectResultFollows(_ place: String) throws {
    let readings = try items()
    let visibility = try Visibility(
      scratch.open(.reader).queue.inDatabase { try WithdrawalChanges.items($0) })
    for (position, group) in Dictionary(grouping: readings, by: \.position) {
      let sorted = group.sorted { $0.occurrence < $1.occurrence }
      let verdicts = visibility.series(SeriesName(sorted[0].identity)).judge(
        sorted.map { .init(SeriesPoint($0.identity), at: $0.deviceTime, $0.measurement) })
      #expect(verdicts.map { $0 != .shown } == sorted.map(\.isWithdrawn), "\(place) at \(position)")
    }
  }

  private func ingest(
    _ batch: IngestBatch, digest: String, _ decisions: [Decision] = [], restoresWithdrawn: Bool = false
  ) throws -> IngestCounts {
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [],
      restoresWithdrawn: restoresWithdrawn)
    var counts = IngestCounts()
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest, generatedAt: nil, finishedAt: 2000, decisions: decisions)
      counts = writer.counts
    }
    return counts
  }
}

extension [Reading] {
  fileprivate var batch: IngestBatch { Make.batch(self) }
}
