// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests the table `withdrawn` with many hidden readings, and with withdrawal records that other programs
/// wrote.
@Suite struct WithdrawnReadingsTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func sensor(_ places: some Sequence<Int>, device: Int32 = 0) -> [Reading] {
    places.map {
      Make.reading(.cbg, Make.milligrams(100), at: Make.noon + Int64($0) * 300, device: device)
    }
  }

  private func undo(_ ingest: Int64) throws -> UndoCounts {
    let group = Digest.uuid(of: ["\(UInt64.random(in: .min ... .max))"])
    return try scratch.open(.editor).undo(ingest, group: group, at: 5000)
  }

  private func redo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).redo(ingest, at: 5000)
  }

  private func withdrawn(_ condition: String = "TRUE") throws -> Int {
    try scratch.number("SELECT count(*) FROM withdrawn WHERE \(condition)")
  }

  /// Each hidden reading is a separate change. There are more changes than the store writes at a time.
  @Test func everySecondOfManyReadingsCanBeHiddenAndShown() throws {
    try scratch.ingest(Make.batch(sensor(stride(from: 0, to: 20_000, by: 2))))
    try scratch.ingest(Make.batch(sensor(stride(from: 1, to: 20_000, by: 2))))
    #expect(try undo(2).readings == 10_000)
    #expect(try withdrawn() == 10_000)
    #expect(try withdrawn("(position - \(Make.noon)) / 300 % 2 = 0") == 0)
    #expect(try redo(2).readings == 10_000)
    #expect(try withdrawn() == 0)
  }

  /// Readings of the same kind are in one partition, so the readings of both devices are mixed in the table.
  @Test func undoKeepsReadingsOfAnotherDeviceInBetweenVisible() throws {
    let devices = [Make.device, Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")]
    try scratch.ingest(Make.batch(sensor(0..<500), devices: devices))
    try scratch.ingest(Make.batch(sensor(100..<400, device: 1), devices: devices))
    #expect(try undo(1).readings == 500)
    #expect(
      try withdrawn() == 500 && withdrawn("series = (SELECT series FROM reading WHERE ingest = 2)") == 0)
    #expect(try undo(2).readings == 300)
    #expect(try redo(1).readings == 500)
    #expect(
      try withdrawn() == 300 && withdrawn("series = (SELECT series FROM reading WHERE ingest = 1)") == 0)
  }

  @Test func undoneReadingsImportedAgainAreNotRewrittenAndStayHidden() throws {
    try scratch.ingest(Make.batch(sensor(0..<1000)))
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    let (since, until) = (
      DeviceTime(seconds: Make.noon + 300 * 400), DeviceTime(seconds: Make.noon + 300 * 410)
    )
    let guid = Digest.uuid(of: ["rule"])
    #expect(try editor.hide(Make.device, since: since, until: until, reason: "", guid: guid) == 10)
    #expect(try undo(1).readings == 990)
    #expect(try withdrawn() == 1000)
    // The person hid the device's readings of a period. This is still valid after the redo of the import.
    _ = try redo(1)
    #expect(try withdrawn() == 10)
    #expect(try editor.restore(Make.device, since: nil, until: nil).readings == 10)
    #expect(try withdrawn() == 0)
  }

  /// Finger sticks with random values at random times, so that an undo cannot describe them in a short text.
  @Test func anUndoOfIrregularReadingsTakesFewBytesInRecordsOfLimitedSize() throws {
    var random = SeededGenerator(seed: 1)
    var time = Make.noon
    let readings = (0..<100_000).map { _ in
      time += 1 + Int64(random.next() % 7200)
      return Make.reading(.smbg, Make.milligrams(Double(60 + random.next() % 200)), at: time)
    }
    try scratch.ingest(Make.batch(readings))
    #expect(try undo(1).readings == 100_000)
    #expect(try withdrawn() == 100_000)
    let bytes = try scratch.number(
      "SELECT sum(length(CAST(fields AS BLOB))) FROM record WHERE kind = 'withdrawal'")
    let longest = try scratch.number(
      "SELECT max(length(CAST(fields AS BLOB))) FROM record WHERE kind = 'withdrawal'")
    #expect(bytes < 420_000 && longest <= Withdrawal.maxBytes, "\(bytes) \(longest)")
    #expect(try scratch.number("SELECT count(*) FROM record WHERE kind = 'withdrawal'") > 1)
    #expect(try redo(1).readings == 100_000)
    #expect(try withdrawn() == 0)
  }

  /// The changes of an import are encoded as JSON inside JSON. Quotation marks in a text are escaped twice,
  /// so they need more bytes.
  @Test func anUndoOfManyRecordsIsSplitIntoRecordsOfLimitedSize() throws {
    func foods(_ carbs: Double) -> IngestBatch {
      Make.batch(
        (0..<2000).map { index in
          let fields: [String: FieldValue] = [
            "carbs": .number(carbs), "text": .text(String(repeating: "\"", count: 40)),
          ]
          return Make.record(fields, sourceID: "\(index)", at: Make.noon + Int64(index) * 60)
        })
    }
    try scratch.ingest(foods(10), generatedAt: 10)
    #expect(try scratch.ingest(foods(20), generatedAt: 20).updatedRecords == 2000)
    #expect(try undo(2).changedRecords == 2000)
    let longest = try scratch.number(
      "SELECT max(length(CAST(fields AS BLOB))) FROM record WHERE kind = 'withdrawal'")
    #expect(longest <= Withdrawal.maxBytes, "\(longest)")
    #expect(
      try scratch.number("SELECT count(*) FROM records WHERE json_extract(fields, '$.carbs') = 10") == 2000)
    #expect(try redo(2).changedRecords == 2000)
    #expect(
      try scratch.number("SELECT count(*) FROM records WHERE json_extract(fields, '$.carbs') = 20") == 2000)
  }

  /// There are more readings than `KnownReadings` packs at a time. The other file has half of them, unsorted,
  /// and in more runs of consecutive positions than `ImportNotes.maxRuns`.
  @Test func manyUndoneReadingsAreShownAgainByAnotherFile() throws {
    let all = sensor(0..<40_000)
    try scratch.ingest(Make.batch(all), digest: "wrong")
    #expect(try undo(1).readings == 40_000)
    var random = SeededGenerator(seed: 1)
    let some = sensor(stride(from: 0, to: 40_000, by: 2)).shuffled(using: &random)
    let counts = try scratch.ingest(Make.batch(some), digest: "right")
    #expect([counts.newReadings, counts.knownReadings, counts.restoredReadings] == [0, 20_000, 20_000])
    #expect(try withdrawn() == 20_000 && withdrawn("(position - \(Make.noon)) / 300 % 2 = 0") == 0)
    // The undone file is imported again. It does not show its hidden readings again.
    let same = try scratch.ingest(Make.batch(all), digest: "wrong")
    #expect([same.knownReadings, same.withdrawnReadings, same.restoredReadings] == [40_000, 20_000, 0])
    #expect(try withdrawn() == 20_000)
  }

  // MARK: Rows of other programs

  private func imported(_ fields: [String: FieldValue], _ number: Int) -> ImportedRecord {
    Make.record(fields, kind: .withdrawal, sourceID: "\(number)", at: Make.noon)
  }

  /// A withdrawal of a few bytes can name any number of readings. The work is limited by the number of stored
  /// readings.
  @Test func anUndoOfMoreReadingsThanStoredHidesTheStoredOnes() throws {
    try scratch.ingest(Make.batch(sensor(0..<1000)))
    let series = SeriesName(
      device: ReadingIdentity.text(of: Make.device), kind: .cbg, positionKind: .time)
    let records = (1...300).map { number in
      let run = PointRuns.Run(
        first: SeriesPoint(position: Make.noon - Int64(number), valueBucket: 0, occurrence: 0), step: 1,
        count: PointRuns.maxPoints - Int64(number))
      let input = WithdrawnInput(
        group: Digest.uuid(of: ["\(number)"]), points: [series: PointRuns(runs: [run])])
      return imported(Withdrawal(.input(input), isHidden: true).fields.values, number)
    }
    try scratch.ingest(Make.batch(records))
    #expect(try withdrawn() == 1000)
    // Every withdrawal hides these readings. The import must restore them from each of the withdrawals.
    #expect(try scratch.ingest(Make.batch(sensor(0..<10))).restoredReadings == 10)
    #expect(try withdrawn() == 990)
  }

  @Test func anUndoAboveTheLimitsIsStoredAndHidesNothing() throws {
    try scratch.ingest(Make.batch(sensor(0..<10)))
    let line = "\(ReadingIdentity.text(of: Make.device))|cbg|time"
    // In the encoding of withdrawals, these bytes are a run of 2^40 readings that begins at position 0.
    let run = PointRuns.text(packing: [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 1])
    let fields: [String: FieldValue] = [
      "hidden": .flag(true), "subtype": .text("import"), "group": .text(Digest.uuid(of: ["g"])),
      "points": .text("\(line) \(run)"),
    ]
    try scratch.ingest(Make.batch([imported(fields, 1)]))
    #expect(try withdrawn() == 0)
    #expect(
      try scratch.rows("SELECT fields FROM record WHERE kind = 'withdrawal'") == [RecordFields(fields).json])
    // The same record with a list of ten existing readings is valid and hides them.
    var smaller = fields
    smaller["points"] = .text(
      "\(line) "
        + PointRuns(sensor(0..<10).map { SeriesPoint(position: $0.position, valueBucket: 0, occurrence: 0) })
        .text)
    try scratch.ingest(Make.batch([imported(smaller, 2)]))
    #expect(try withdrawn() == 10)
  }

  // MARK: The wrong file, unit, order or column

  private enum Axis: CaseIterable { case fingerStick, sensor, tick }

  private func readings(_ axis: Axis, _ value: Double, days: Int64 = 0) -> IngestBatch {
    Make.batch(
      (0..<3).map { (index: Int64) in
        let time = Make.noon + days * 86_400 + index * 300
        return switch axis {
        case .fingerStick: Make.reading(.smbg, Make.milligrams(value + Double(index)), at: time)
        case .sensor: Make.reading(.cbg, Make.milligrams(value + Double(index)), at: time)
        case .tick: Make.tick(index + 1, value + Double(index), at: time)
        }
      })
  }

  private func shown() throws -> [String] {
    try scratch.rows(
      "SELECT device_time, value_mgdl FROM readings WHERE NOT withdrawn ORDER BY device_time")
  }

  /// If the unit or column was wrong, the values differ. If day and month were swapped, the days differ.
  @Test(arguments: [(90.0, Int64(0)), (100, 30), (90, 30)])
  func afterAnUndoACorrectedImportShowsTheSameAsInAnEmptyStore(_ value: Double, _ days: Int64) throws {
    for axis in Axis.allCases {
      let (other, reference) = (try WithdrawnReadingsTests(), try WithdrawnReadingsTests())
      try reference.scratch.ingest(readings(axis, value, days: days))
      try other.scratch.ingest(readings(axis, 100), digest: "wrong")
      #expect(try other.undo(1).readings == 3)
      let counts = try other.scratch.ingest(readings(axis, value, days: days), digest: "right")
      #expect([counts.newReadings, counts.changedReadings, counts.rejected] == [3, 0, 0], "\(axis)")
      #expect(try other.shown() == reference.shown(), "\(axis)")
      let again = try other.scratch.ingest(readings(axis, value, days: days), digest: "right")
      #expect([again.newReadings, again.knownReadings] == [0, 3], "\(axis)")
      // The wrong file is imported again. It is recognised as undone, and changes nothing.
      let wrong = try other.scratch.ingest(readings(axis, 100), digest: "wrong")
      #expect([wrong.newReadings, wrong.knownReadings, wrong.withdrawnReadings] == [0, 3, 3], "\(axis)")
      #expect(try other.shown() == reference.shown(), "\(axis)")
      #expect(try other.scratch.number("SELECT count(*) FROM reading") == 6, "\(axis)")
    }
  }

  @Test func withoutAnUndoOnlyCorrectedSensorValuesCountAsRevisions() throws {
    for (axis, expected) in [(Axis.sensor, [0, 3, 0]), (.tick, [0, 3, 0]), (.fingerStick, [3, 0, 0])] {
      let other = try WithdrawnReadingsTests()
      try other.scratch.ingest(readings(axis, 100), digest: "wrong")
      let counts = try other.scratch.ingest(readings(axis, 90), digest: "right")
      #expect([counts.newReadings, counts.changedReadings, counts.rejected] == expected, "\(axis)")
    }
  }
}
