// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests the columns of the view `readings` that are derived from other columns and from withdrawals.
@Suite struct ReadingViewTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// Stores a withdrawal record that hides a reading.
  private func withdraw(_ reading: String, hidden: FieldValue? = .flag(true), guid: String) throws {
    var record = Make.record(["reading": .text(reading), "subtype": .text("reading")], kind: .withdrawal)
    record.fields["hidden"] = hidden
    record.guid = guid
    try scratch.ingest(Make.batch([record]))
  }

  private func items() throws -> [StoredReading] {
    var readings: [StoredReading] = []
    var filter = ItemFilter()
    filter.includesWithdrawn = true
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  private static let devices = [
    Device(vendor: "Te|st", model: "A", serial: "S%7C\u{1}\u{7F}|é", format: "test"),
    Device(vendor: "Test", model: "100 %|\n\"'", format: "te|st"), Make.device,
  ]

  @Test func hidingAReadingHidesExactlyThatReading() throws {
    var readings: [Reading] = []
    for device in 0..<Int32(Self.devices.count) {
      for kind in ReadingKind.allCases {
        readings += [
          Make.reading(kind, Make.millimoles(5.5), device: device),
          Make.reading(kind, .low(below: nil, .millimolesPerLitre), at: Make.noon + 60, device: device),
        ]
        var tick = Make.tick(-7, 100)
        (tick.kind, tick.device) = (kind, DeviceIndex(device))
        readings.append(tick)
      }
    }
    var again = Make.reading(.smbg, Make.millimoles(5.6), source: .zoneOverlap)
    (again.occurrence, again.occurrenceIsStated) = (1, true)
    try scratch.ingest(Make.batch(readings + [again], devices: Self.devices))
    let identities = try items().map(\.identity.text)
    #expect(Set(identities).count == readings.count + 1)
    #expect(try scratch.number("SELECT count(*) FROM readings WHERE withdrawn") == 0)

    for (number, identity) in identities.enumerated() {
      try withdraw(identity, guid: "a-\(number)")
      let shown = try items()
      #expect(shown.filter(\.isWithdrawn).count == number + 1)
      #expect(shown.first { $0.identity.text == identity }?.isWithdrawn == true, "\(identity)")
      #expect(try scratch.number("SELECT sum(withdrawn) FROM readings") == number + 1)
    }
  }

  @Test(arguments: [
    ("hidden = false", FieldValue.flag(false)), ("no hidden", nil), ("a text", .text("true")),
  ])
  func aWithdrawalWhoseHiddenFlagIsNotTrueHidesNoReading(_ name: String, _ hidden: FieldValue?) throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    let identity = try #require(try items().first?.identity.text)
    try withdraw(identity, hidden: hidden, guid: "a-1")
    #expect(try items().allSatisfy { !$0.isWithdrawn })
    #expect(try scratch.number("SELECT withdrawn FROM readings") == 0)
  }

  @Test func onlyAnActiveHidingRecordHidesAReading() throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    let identity = try #require(try items().first?.identity.text)
    var note = Make.record(
      ["reading": .text(identity), "hidden": .flag(true), "subtype": .text("reading")], kind: .note)
    note.guid = "n-1"
    try scratch.ingest(Make.batch([note]))
    #expect(try scratch.number("SELECT withdrawn FROM readings") == 0)
    let reading = try #require(try items().first)
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    #expect(try editor.set(reading, isHidden: true, reason: ""))
    #expect(try scratch.number("SELECT withdrawn FROM readings") == 1)
    let hidden = try #require(try items().first)
    #expect(try editor.set(hidden, isHidden: false, reason: ""))
    #expect(try scratch.number("SELECT withdrawn FROM readings") == 0)
  }

  @Test func theHidingOfAReadingMayArriveBeforeTheReading() throws {
    try withdraw("serial|Test|S1|smbg|time|\(Make.noon)|56|0", guid: "a-1")
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    #expect(try scratch.number("SELECT withdrawn FROM readings") == 1)
  }

  @Test func theViewFindsWithdrawalsOfReadingsByPrimaryKey() throws {
    let plan = try scratch.rows("EXPLAIN QUERY PLAN SELECT withdrawn FROM readings")
    #expect(plan.contains { $0.contains("SEARCH w USING PRIMARY KEY") }, "\(plan)")
  }

  // MARK: Values in one unit

  /// The readings have every number that a meter can show in either unit. They are one second apart.
  @Test func bothGlucoseUnitsInDatabaseViewsAreRoundedAsInLists() throws {
    let quantities =
      (1...1000).map { Quantity(Double($0), .milligramsPerDecilitre) }
      + (1...550).map { Quantity(Double($0) / 10, .millimolesPerLitre) }
      + [Quantity(120.5, .milligramsPerDecilitre), Quantity(5.72, .millimolesPerLitre)]
    let readings = quantities.enumerated().map { index, quantity in
      Make.reading(.cbg, .value(quantity), at: Make.noon + Int64(index))
    }
    try scratch.ingest(Make.batch(readings))
    let rows = try scratch.rows("SELECT value_mgdl, value_mmoll FROM readings ORDER BY time")
    let expected = quantities.map { quantity in
      GlucoseUnit.allCases.map { "\(Double(quantity.displayed(in: $0)) ?? -1)" }.joined(separator: " ")
    }
    #expect(rows == expected)
  }

  @Test func lowAndHighReadingsHaveNoNumberInDatabaseViews() throws {
    try scratch.ingest(
      Make.batch([
        Make.reading(.smbg, .low(below: 20, .milligramsPerDecilitre)),
        Make.reading(.smbg, .high(above: nil, .millimolesPerLitre), at: Make.noon + 60),
      ]))
    let values = "SELECT value, value_mgdl, value_mmoll FROM readings"
    #expect(try scratch.rows(values) == ["NULL NULL NULL", "NULL NULL NULL"])
  }

  @Test func aKetoneReadingInDatabaseViewsHasOnlyMillimoles() throws {
    try scratch.ingest(
      Make.batch([
        Make.reading(.ketone, Make.millimoles(0.4)),
        Make.reading(.ketone, Make.milligrams(4), at: Make.noon + 60),
      ]))
    let values = "SELECT value, value_mgdl, value_mmoll FROM readings ORDER BY time"
    #expect(try scratch.rows(values) == ["0.4 NULL 0.4", "4.0 NULL NULL"])
  }
}
