// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests exports that state a dose with another use than an earlier export.
@Suite struct RetypedDoseTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func dose(_ use: String, _ units: Double, at seconds: Int64, source: String = "") -> ImportedRecord
  {
    var fields: [String: FieldValue] = ["units": .number(units)]
    if !use.isEmpty { fields["subtype"] = .text(use) }
    var dose = Make.record(fields, kind: .insulin, at: seconds)
    dose.source = source
    return dose
  }

  /// An export with a dose of 8 units at noon for each of these uses, and with other doses at later hours.
  private func export(
    _ uses: String..., others: Int = 12, of otherUse: String = "rapid", source: String = ""
  ) -> IngestBatch {
    let atNoon = uses.map { dose($0, 8, at: Make.noon, source: source) }
    let later = (1...Int64(others)).map { (hour: Int64) -> ImportedRecord in
      dose(otherUse, Double(hour), at: Make.noon + 3600 * hour, source: source)
    }
    return Make.batch(atNoon + later)
  }

  /// The uses of the visible doses at noon.
  private func uses(_ scratch: ScratchStore) throws -> [String] {
    var uses: [String] = []
    try scratch.open(.reader).forEachItem(ItemFilter()) { item in
      guard case .record(let record) = item, record.deviceTime.seconds == Make.noon else { return }
      uses.append(try RecordFields(json: record.fields).subtype)
    }
    return uses.sorted()
  }

  private func uses() throws -> [String] { try uses(scratch) }

  /// Imports an export, and returns the warnings about its doses.
  private func warnings(
    _ batch: IngestBatch, generatedAt: Int64, digest: String = "\(Int64.random(in: 0 ... .max))"
  ) throws -> [String] {
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [])
    var warnings: [String] = []
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest, generatedAt: generatedAt, finishedAt: 2000, decisions: [])
      warnings = [writer.doubtfulUses, try writer.missingItems()].compactMap(\.self)
    }
    return warnings
  }

  @Test func aDoseWhoseUseALaterExportCorrectsCountsOnce() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    let counts = try scratch.ingest(export("long"), generatedAt: 20, digest: "a")
    #expect([counts.newRecords, counts.updatedRecords, counts.knownRecords] == [0, 1, 12])
    #expect(try uses() == ["long"])
    let before = try scratch.rows("SELECT * FROM record")
    let again = try scratch.ingest(export("long"), generatedAt: 20, digest: "a")
    #expect([again.newRecords, again.updatedRecords, again.knownRecords] == [0, 0, 13])
    #expect(try scratch.rows("SELECT * FROM record") == before)
    #expect(try warnings(export("long"), generatedAt: 20).isEmpty)
  }

  @Test func anOlderExportDoesNotBringTheEarlierUseBack() throws {
    try scratch.ingest(export("long"), generatedAt: 20)
    let counts = try scratch.ingest(export("rapid"), generatedAt: 10, digest: "a")
    #expect([counts.newRecords, counts.keptRecords, counts.knownRecords] == [0, 1, 12])
    #expect(try uses() == ["long"])
    try scratch.ingest(export("rapid"), generatedAt: 10, digest: "a")
    #expect(try uses() == ["long"])
  }

  /// The uses that exports of the ages 1, 2 and 3 state. The last one decides.
  @Test(arguments: [
    [["rapid"], ["long"], ["mix"]], [["rapid"], ["long"], ["rapid"]], [["long"], ["long"], ["rapid"]],
    [["rapid"], ["long"], ["long", "rapid"]], [["rapid"], ["rapid"], ["long"]],
    [["long", "rapid"], ["long", "rapid"], ["long", "rapid"]],
  ])
  func exportsInAnyOrderEndWithTheUsesOfTheLatestOne(_ stated: [[String]]) throws {
    for haveNewItems in [true, false] {
      for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let scratch = try ScratchStore()
        for index in order {
          let doses = stated[index].map { dose($0, 8, at: Make.noon) }
          // Doses of several uses are known from other hours.
          let others = ["rapid", "long", "mix"].flatMap { export(others: 12, of: $0).records }
          try scratch.ingest(
            Make.batch(doses + others), generatedAt: haveNewItems ? Int64(index + 1) : 1,
            modifiedAt: Int64(index + 1), digest: "\(index)")
        }
        #expect(try uses(scratch) == stated[2], "\(order)")
      }
    }
  }

  /// A table got a column for the use, so that none of its doses is stated as before.
  @Test(arguments: [["", "rapid"], ["rapid", ""]]) func aDoseOfUnknownUseIsTheDoseWithAUse(_ order: [String])
    throws
  {
    for (use, count) in zip(order, [13, 0]) {
      let counts = try scratch.ingest(export(use, of: use), generatedAt: 10, digest: use)
      #expect([counts.newRecords, counts.updatedRecords + counts.keptRecords] == [count, 13 - count])
    }
    #expect(try uses() == ["rapid"])
    #expect(
      try scratch.number(
        "SELECT count(*) FROM record AS record WHERE kind = 'insulin' AND NOT \(Withdrawn.record)") == 13)
    for use in ["", "rapid"] {
      #expect(try warnings(export(use, of: use), generatedAt: 20).isEmpty)
      #expect(try uses() == ["rapid"])
    }
    _ = try scratch.open(.editor).undo(order[0] == "rapid" ? 1 : 2, group: Digest.uuid(of: ["undo"]), at: 50)
    _ = try scratch.open(.editor).undo(4, group: Digest.uuid(of: ["last"]), at: 60)
    #expect(try uses() == [""])
  }

  @Test func aDoseOfUnknownUseAndAnotherOneInOneExportStayTwo() throws {
    try scratch.ingest(export(""), generatedAt: 10)
    for time in [Int64(20), 30] {
      #expect(try warnings(export("", "rapid"), generatedAt: time).isEmpty)
      #expect(try uses() == ["", "rapid"])
    }
  }

  @Test func aDoseOfUnknownUseAndOneOfAnotherSourceStayTwo() throws {
    try scratch.ingest(export("", of: "", source: "one"), generatedAt: 10)
    try scratch.ingest(export("rapid", source: "two"), generatedAt: 20)
    #expect(try uses() == ["", "rapid"])
  }

  @Test func twoDosesOfDifferentUsesInOneExportStayTwo() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    for time in [Int64(20), 30] {
      #expect(try warnings(export("rapid", "long"), generatedAt: time).isEmpty)
      #expect(try uses() == ["long", "rapid"])
    }
  }

  /// A person deleted one of two doses that an earlier export has. The dose was not corrected.
  @Test func aDoseWithoutASuccessorStaysVisible() throws {
    try scratch.ingest(export("rapid", "long", others: 30), generatedAt: 10)
    #expect(try warnings(export("long", others: 30), generatedAt: 20).count == 1)
    #expect(try uses() == ["long", "rapid"])
  }

  /// A table of boluses and one of basal doses have equal amounts at the same times.
  @Test func dosesOfTablesWithOneUseEachStayTwo() throws {
    for (time, use) in [(Int64(10), "rapid"), (20, "long"), (30, "rapid"), (40, "long")] {
      #expect(try warnings(export(use, of: use), generatedAt: time).isEmpty)
    }
    #expect(try uses() == ["long", "rapid"])
  }

  @Test func dosesOfOtherAmountsAndOtherSourcesStayTwo() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    let other = Make.batch([dose("long", 7, at: Make.noon)] + export(others: 12).records)
    try scratch.ingest(other, generatedAt: 20)
    #expect(try uses() == ["long", "rapid"])
    let second = try ScratchStore()
    try second.ingest(export("rapid", source: "a"), generatedAt: 10)
    try second.ingest(
      Make.batch([dose("long", 8, at: Make.noon, source: "b")] + export(others: 12, source: "a").records),
      generatedAt: 20)
    #expect(try uses(second) == ["long", "rapid"])
  }

  @Test func withFewCommonDosesAWarningNamesTheCommand() throws {
    try scratch.ingest(export("rapid", others: 9), generatedAt: 10)
    for _ in 0..<2 {
      let warnings = try warnings(export("long", others: 9), generatedAt: 20, digest: "a")
      let guid = try scratch.rows(
        "SELECT substr(guid, 1, 8) FROM record WHERE device_time = \(Make.noon) AND ingest = 1")
      #expect(
        warnings == [
          "1 dose of two exports differs only in use and counts twice: 2025-06-01 12:00 (rapid, later long); if the use was "
            + "corrected at the source, hide the earlier one with 'glucoport record hide \(guid[0])'"
        ])
      #expect(try uses() == ["long", "rapid"])
    }
  }

  @Test func anExportWithRejectedRowsCorrectsNoUse() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    var batch = export("long")
    batch.rejections = [Rejection(line: 3, reason: "invalid")]
    try scratch.ingest(batch, generatedAt: 20)
    #expect(try uses() == ["long", "rapid"])
  }

  @Test func undoShowsTheEarlierUseAndRedoHidesIt() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    try scratch.ingest(export("long"), generatedAt: 20, digest: "a")
    let editor = try scratch.open(.editor)
    _ = try editor.undo(2, group: Digest.uuid(of: ["undo"]), at: 5000)
    #expect(try uses() == ["rapid"])
    // The same file again stays undone, so it hides nothing.
    try scratch.ingest(export("long"), generatedAt: 20, digest: "a")
    #expect(try uses() == ["rapid"])
    _ = try editor.redo(2, at: 5000)
    #expect(try uses() == ["long"])
  }

  @Test func aDoseThatAPersonShowsStaysVisible() throws {
    try scratch.ingest(export("rapid"), generatedAt: 10)
    try scratch.ingest(export("long"), generatedAt: 20)
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    var hidden: [StoredRecord] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .record(let record) = item, record.isWithdrawn { hidden.append(record) }
    }
    let record = try #require(hidden.first)
    #expect(try WithdrawalEditor(scratch.open(.editor), at: 3000).set(record, isHidden: false, reason: ""))
    #expect(try uses() == ["long", "rapid"])
    let counts = try scratch.ingest(export("long"), generatedAt: 30)
    #expect([counts.newRecords, counts.updatedRecords, counts.knownRecords] == [0, 0, 13])
    #expect(try uses() == ["long", "rapid"])
  }

  // MARK: Devices

  /// A table with doses and meals of a device, one of each per hour.
  private func table(_ device: String, hours: Int = 12, from first: Int = 1) -> IngestBatch {
    Make.batch(
      (first..<first + hours).flatMap { hour in
        let time = Make.noon + 3600 * Int64(hour)
        return [
          Make.record(["units": .number(Double(hour))], kind: .insulin, at: time),
          Make.record(["carbs": .number(Double(hour))], kind: .food, at: time),
        ].map { record in
          var record = record
          record.owner = device
          return record
        }
      })
  }

  private func visibleCount(_ scratch: ScratchStore? = nil) throws -> Int? {
    try (scratch ?? self.scratch).number(
      "SELECT count(*) FROM record AS record WHERE kind IN ('insulin', 'food') AND NOT \(Withdrawn.record)")
  }

  /// A table got a column for the device, or the name of a device was corrected.
  @Test(arguments: [["", "Guide"], ["Guide", ""], ["Guide", "Guide Me"]])
  func aTableWithAnotherDeviceStatesItsDosesAndMealsOnce(_ devices: [String]) throws {
    for generatedAt: Int64 in [20, 5] {
      let scratch = try ScratchStore()
      _ = try scratch.ingest(table(devices[0]), format: "generic", generatedAt: 10, digest: "a")
      let counts = try scratch.ingest(
        table(devices[1], hours: 14), format: "generic", generatedAt: generatedAt, digest: "b")
      #expect([counts.newRecords, counts.updatedRecords + counts.keptRecords] == [4, 24])
      #expect(try visibleCount(scratch) == 28)
      let editor = try scratch.open(.editor)
      _ = try editor.undo(2, group: Digest.uuid(of: ["undo"]), at: 5000)
      #expect(try visibleCount(scratch) == 24)
      _ = try editor.redo(2, at: 5000)
      #expect(try visibleCount(scratch) == 28)
    }
  }

  /// Two pens give few equal doses at equal times, and one table with both states two doses.
  @Test func fewEqualDosesOfTwoDevicesStay() throws {
    _ = try scratch.ingest(table("pen"), format: "generic", generatedAt: 10)
    _ = try scratch.ingest(table("other pen", hours: 20, from: 10), format: "generic", generatedAt: 20)
    #expect(try visibleCount() == 64)
    _ = try scratch.ingest(
      Make.batch(table("pen").records + table("third pen").records), format: "generic", generatedAt: 30)
    #expect(try visibleCount() == 88)
  }

  /// Each morning both pens record an equal dose. One of them records two more doses a day.
  @Test func equalDosesOfTwoPensEachMorningStay() throws {
    func pen(_ name: String, hours: [Int64]) -> IngestBatch {
      Make.batch(
        (0..<14 as Range<Int64>).flatMap { day in
          hours.map { hour in
            var dose = Make.record(
              ["units": .number(Double(8 + hour))], kind: .insulin, at: Make.noon + 86_400 * day + 3600 * hour
            )
            dose.owner = name
            return dose
          }
        })
    }
    for order in [[0, 1], [1, 0]] {
      let scratch = try ScratchStore()
      let pens = [pen("blue", hours: [0, 5, 10]), pen("green", hours: [0])]
      for index in order {
        _ = try scratch.ingest(
          pens[index], format: "generic", generatedAt: Int64(10 + index), digest: "\(index)")
      }
      #expect(try visibleCount(scratch) == 56, "\(order)")
    }
  }

  /// Other formats state ids, or devices that do not change their names.
  @Test func equalDosesOfTwoDevicesInAnotherFormatStay() throws {
    _ = try scratch.ingest(table("pen"), generatedAt: 10)
    _ = try scratch.ingest(table("other pen"), generatedAt: 20)
    #expect(try visibleCount() == 48)
  }
}
