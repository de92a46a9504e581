// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests entries: readings and records that a person types in one command.
@Suite struct EntryEditorTests {
  private let scratch: ScratchStore
  private let now: Int64 = 1_800_000_000

  init() throws { scratch = try ScratchStore() }

  private func reading(_ number: Double, tick: Int64, at seconds: Int64 = Make.noon) -> Reading {
    let isRepeated = abs(seconds - Make.repeated) < 1800
    return Reading(
      device: DeviceIndex(0), kind: .smbg, tick: Device.typedTicks.lowerBound + tick,
      at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 7200, source: isRepeated ? .zoneOverlap : .zone),
      Make.millimoles(number), marks: .manual, line: 0)
  }

  private func food(_ grams: Double) -> RecordDraft {
    RecordDraft(
      kind: .food, at: DeviceTime(seconds: Make.noon), placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(["carbs": .number(grams)]))
  }

  private let guid = Digest.uuid(of: ["typed"])

  private func editor() throws -> EntryEditor { EntryEditor(try scratch.open(.importer), at: now) }

  @discardableResult
  private func add(_ number: Double, tick: Int64 = 1, grams: Double? = nil) throws -> EntryEditor.EntryResult
  {
    let entry = TypedEntry(
      readings: [(reading(number, tick: tick), .typed)], records: grams.map { [(food($0), guid)] } ?? [])
    return try #require(try editor().add([entry]).first)
  }

  /// The values of the visible readings, and the fields of the visible records.
  private func shown() throws -> [String] {
    var all: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      switch item {
      case .reading(let reading): all.append(plainNumber(reading.measurement.quantity?.number ?? 0))
      case .record(let record): all.append(record.fields)
      }
    }
    return all
  }

  private func step(_ direction: UndoDirection) throws -> ActionOutcome {
    guard case .action(let action)? = try scratch.open(.reader).nextStep(direction) else {
      throw Failure(.missingInput, "no action")
    }
    let store = try scratch.open(.editor)
    let outcome = try store.outcome(of: action, direction)
    #expect(try outcome == store.apply(direction, to: action, at: now))
    return outcome
  }

  @Test func aTypedEntryIsOneStepOfUndoAndRedo() throws {
    try add(6.1, grams: 45)
    for _ in 0..<2 {
      #expect(try shown() == ["6.1", #"{"carbs":45}"#])
      #expect(try step(.undo).left == [])
      #expect(try shown() == [])
      #expect(try scratch.open(.reader).nextStep(.undo) == nil)
      #expect(try step(.redo).left == [])
    }
    #expect(try scratch.open(.reader).nextStep(.redo) == nil)
  }

  @Test func recordsOfATypedEntryAreUndoneWithItInOneStep() throws {
    var dose = RecordDraft(
      kind: .insulin, at: DeviceTime(seconds: Make.noon),
      placement: Placement(utcOffset: 7200, source: .zone),
      fields: RecordFields(["units": .number(4)]))
    dose.entryGuid = guid
    let other = Digest.uuid(of: ["a dose"])
    _ = try editor().add([TypedEntry(records: [(food(45), guid), (dose, other)])])
    #expect(try Set(step(.undo).changed) == [guid, other])
    #expect(try shown() == [])
    #expect(try scratch.rows("SELECT version, deleted FROM record ORDER BY guid") == ["2 1", "2 1"])
    _ = try step(.redo)
    // If the dose was edited after that, undo changes neither the dose nor the meal, and reports both.
    _ = try RecordEditor(scratch.open(.editor), at: now).edit(other) { $0.fields["units"] = .number(5) }
    let first = try #require(try scratch.open(.reader).actions(limit: 9).last)
    #expect(try Set(scratch.open(.reader).outcome(of: first, .undo).left) == [guid, other])
  }

  @Test func eachUndoReversesOneTypedEntryOrHiding() throws {
    try add(6.1)
    try add(7.2, tick: 2)
    let stored = try #require(try scratch.open(.reader).lastEntry()?.readings.first)
    let hides = try WithdrawalEditor(scratch.open(.editor), at: now).set(stored, isHidden: true, reason: "x")
    #expect(hides)
    var seen: [[String]] = []
    for _ in 0..<3 {
      #expect(try step(.undo).left == [])
      seen.append(try shown())
    }
    #expect(seen == [["6.1", "7.2"], ["6.1"], []])
    #expect(try scratch.open(.reader).nextStep(.undo) == nil)
  }

  /// A reading that was hidden after it was typed stays hidden, whether the action is undone or redone.
  @Test func undoAndRedoOfATypedEntryKeepAReadingThatAPersonHidLaterHidden() throws {
    try add(6.1)
    let action = try #require(try scratch.open(.reader).actions(limit: 1).first)
    let stored = try #require(try scratch.open(.reader).lastEntry()?.readings.first)
    _ = try WithdrawalEditor(scratch.open(.editor), at: now).set(stored, isHidden: true, reason: "")
    #expect(try scratch.open(.reader).outcome(of: action, .undo).left.count == 1)
    // The person's later hiding is kept: neither undo nor redo changes whether the reading is visible.
    let store = try scratch.open(.editor)
    #expect(try store.apply(.undo, to: action, at: now).left.count == 1)
    #expect(try store.apply(.redo, to: action, at: now) == ActionOutcome())
    #expect(try shown() == [])
  }

  @Test func anEntryTypedTwiceIsKnownAndAddsNoUndoStep() throws {
    #expect(try add(6.1, grams: 45).isNew)
    #expect(try !add(6.1, grams: 45).isNew)
    #expect(try scratch.open(.reader).actions(limit: 9).count == 1)
    #expect(try scratch.number("SELECT count(*) FROM reading") == 1)
    try scratch.expectCountersEqualCount()
  }

  @Test func aTypedValueThatConflictsWithAStoredOneIsRefused() throws {
    try add(6.1)
    #expect(throws: Failure.self) { try add(6.2, grams: 45) }
    #expect(try shown() == ["6.1"])
  }

  @Test func eitherAllOrNoneOfSeveralTypedEntriesAreStored() throws {
    try add(6.1)
    let entries = [
      TypedEntry(readings: [(reading(7, tick: 2), .typed)]),
      TypedEntry(readings: [(reading(7, tick: 1), .typed)]),
    ]
    #expect(throws: Failure.self) { try editor().add(entries) }
    #expect(try shown() == ["6.1"])
    #expect(try scratch.open(.reader).actions(limit: 9).count == 1)
  }

  @Test func correctingATypedReadingHidesItAndAddsAnotherInOneStep() throws {
    try add(6.1, grams: 45)
    let entry = try #require(try scratch.open(.reader).lastEntry())
    var revision = EntryRevision()
    revision.hidden = entry.readings
    revision.added.readings = [(reading(7.3, tick: 5), .typed)]
    revision.records = [(guid, food(50))]
    _ = try editor().revise(revision)
    #expect(try shown() == ["7.3", #"{"carbs":50}"#])
    #expect(try step(.undo).left == [])
    #expect(try shown() == ["6.1", #"{"carbs":45}"#])
    #expect(try step(.redo).left == [])
    #expect(try shown() == ["7.3", #"{"carbs":50}"#])
    // The next correction finds the reading of the corrected entry, not the first reading.
    #expect(try scratch.open(.reader).lastEntry()?.readings.map(\.measurement) == [Make.millimoles(7.3)])
  }

  @Test func correctingOnlyTheMealKeepsTheReadingInTheEntry() throws {
    try add(6.1, grams: 45)
    let entry = try #require(try scratch.open(.reader).lastEntry())
    var revision = EntryRevision()
    revision.kept = entry.readings
    revision.records = [(guid, food(50))]
    _ = try editor().revise(revision)
    #expect(try scratch.open(.reader).lastEntry()?.readings.count == 1)
    let version = "SELECT version FROM record WHERE guid = '\(guid)'"
    #expect(try scratch.number(version) == 2)
    #expect(try step(.undo) == ActionOutcome(changed: [guid], left: []))
    #expect(try shown() == ["6.1", #"{"carbs":45}"#])
  }

  @Test func anEntryStillKnowsItsReadingAfterItsRecordIsEdited() throws {
    try add(6.1, grams: 45)
    _ = try RecordEditor(scratch.open(.editor), at: now).edit(guid) { $0.fields["carbs"] = .number(50) }
    let entry = try #require(try scratch.open(.reader).lastEntry())
    #expect(entry.readings.map(\.measurement) == [Make.millimoles(6.1)])
    #expect(entry.records.map(\.guid) == [guid])
  }

  /// The log of actions is not synced. So a store that pulled the entry finds its reading by the entry's
  /// time. It finds none if two readings have this time.
  @Test(arguments: [false, true]) func theReadingOfAnEntryFromAnotherStoreIsFoundByItsTime(isAmbiguous: Bool)
    throws
  {
    try add(6.1, grams: 45)
    if isAmbiguous { try add(7.2, tick: 2) }
    for table in ["redo", "action_state", "action"] { try scratch.damage("DELETE FROM \(table)") }
    let store = try scratch.open(.reader)
    let record = try #require(store.records(guidPrefix: guid).first)
    let entry = try store.entry(of: .record(record))
    #expect(entry.readings.map(\.measurement) == (isAmbiguous ? [] : [Make.millimoles(6.1)]))
    #expect(entry.records.map(\.guid) == [guid])
  }

  @Test func typedReadingsAreNotListedAsAnImport() throws {
    try add(6.1)
    let store = try scratch.open(.reader)
    #expect(try store.ingests(limit: 9).map(\.format) == [])
    #expect(try store.overview(ingests: 9).ingests.map(\.format) == [])
    #expect(try store.lastSuccess() == nil)
    let ingest = try #require(try store.lastEntry()?.readings.first?.ingest)
    #expect(throws: Failure.self) { try store.undoCounts(of: ingest) }
    // A reading that is typed later is added to the same ingest.
    try add(7, tick: 2)
    #expect(try scratch.rows("SELECT format, counts FROM ingest") == [#"typed {"new":2}"#])
    try scratch.expectCountersEqualCount()
  }

  @Test func anUndoneImportHidesNoTypedReading() throws {
    try add(6.1)
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.millimoles(6.1))]))
    let store = try scratch.open(.editor)
    _ = try store.undo(2, group: Digest.uuid(of: ["group"]), at: now)
    #expect(try shown() == ["6.1"])
  }

  /// The counters of typed readings are random. So their order does not show in which of the two passes of
  /// the repeated hour a reading was taken.
  @Test func typedReadingsOfARepeatedHourStayInItsFirstPass() throws {
    let later = TypedEntry(readings: [(reading(6, tick: 1, at: Make.repeated + 1500), .typed)])
    let earlier = TypedEntry(readings: [(reading(7, tick: 2, at: Make.repeated - 1500), .typed)])
    _ = try editor().add([later, earlier])
    #expect(try scratch.rows("SELECT derived_offset, offset_source FROM reading") == ["7200 3", "7200 3"])
  }

  @Test func theCountersOfTypedReadingsAreNotStoredAsInstants() throws {
    try add(6.1)
    #expect(try scratch.rows("SELECT is_instant, has_strays FROM series") == ["0 0"])
  }

  @Test func aTypedRecordThatTheStoreHasWithOtherContentIsReportedAndNotChanged() throws {
    #expect(try add(6.1, grams: 45).differs == false)
    let again = try add(6.1, grams: 45)
    #expect(!again.isNew && !again.differs)
    let other = try add(6.1, grams: 50)
    #expect(!other.isNew && other.differs)
    #expect(try shown() == ["6.1", #"{"carbs":45}"#])
    // If the person stated no time, the record has the time at which it was typed. This time is not compared.
    var draft = food(45)
    draft.deviceTime = DeviceTime(seconds: Make.noon + 60)
    var entry = TypedEntry(records: [(draft, guid)])
    #expect(try editor().add([entry]).first?.differs == true)
    entry.statesTime = false
    #expect(try editor().add([entry]).first?.differs == false)
  }

  @Test func aCorrectionWithoutAChangeIsNotAnUndoStep() throws {
    try add(6.1, grams: 45)
    let store = try scratch.open(.reader)
    let entry = try #require(try store.lastEntry())
    var revision = EntryRevision()
    revision.kept = entry.readings
    revision.records = [(guid, food(45))]
    let same = try editor().revise(revision)
    #expect(!same.isNew && same.items.count == 2)
    revision.records = [(guid, food(50))]
    #expect(try editor().revise(revision).isNew)
    #expect(try shown() == ["6.1", #"{"carbs":50}"#])
    // The first undo reverts only the second correction, which changed 45 g to 50 g.
    _ = try step(.undo)
    #expect(try shown() == ["6.1", #"{"carbs":45}"#])
    _ = try step(.undo)
    #expect(try shown() == [])
  }
}

/// Tests short ids of readings.
@Suite struct ShortReadingIDTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func ingest(_ readings: [Reading], devices: [Device] = [Make.device]) throws {
    try scratch.ingest(Make.batch(readings, devices: devices))
  }

  private func all() throws -> [StoredReading] {
    var all: [StoredReading] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) {
      if case .reading(let reading) = $0 { all.append(reading) }
    }
    return all
  }

  @Test func everyReadingIsFoundByItsShortID() throws {
    let other = Device(vendor: "", model: "Phone", format: "test")
    try ingest(
      [
        Make.reading(.smbg, Make.milligrams(110)), Make.reading(.smbg, Make.milligrams(150)),
        Make.reading(.smbg, Make.milligrams(110), device: 1), Make.tick(7, 120),
        Make.reading(.cbg, Make.milligrams(90), at: 0),
        Make.reading(.ketone, Make.millimoles(0.4), at: 5_000_000_000),
      ], devices: [Make.device, other])
    let store = try scratch.open(.reader)
    let readings = try all()
    #expect(readings.count == 6)
    for reading in readings {
      #expect(reading.shortID.count == 10)
      #expect(try store.reading(at: reading.shortID)?.address == reading.address)
      #expect(try store.reading(at: reading.shortID.uppercased())?.address == reading.address)
    }
  }

  @Test func theLastDigitsOfAShortReadingIDAreNeededOnlyIfItsTimeIsNotUnique() throws {
    try ingest([
      Make.reading(.smbg, Make.milligrams(110)), Make.reading(.smbg, Make.milligrams(150)),
      Make.reading(.smbg, Make.milligrams(90), at: Make.noon + 60),
    ])
    let store = try scratch.open(.reader)
    let readings = try all()
    #expect(try store.reading(at: String(readings[2].shortID.dropLast(2)))?.address == readings[2].address)
    #expect(throws: Failure.self) { try store.reading(at: String(readings[0].shortID.dropLast(2))) }
  }

  @Test(arguments: [
    "r1mry458", "r1mry458zz", "rrrrrrrr", "r", "", "r1mry45", "r1mry458u0", "1mry458za", "r1.smbg",
  ])
  func invalidShortReadingIDsFindNoReading(_ text: String) throws {
    try ingest([Make.reading(.smbg, Make.milligrams(110))])
    #expect(try scratch.open(.reader).reading(at: text) == nil)
  }

  @Test func aReadingBefore1970HasItsFullAddressAsID() throws {
    try ingest([Make.reading(.smbg, Make.milligrams(110), at: -5)])
    let reading = try #require(try all().first)
    #expect(reading.shortID == reading.address)
  }
}
