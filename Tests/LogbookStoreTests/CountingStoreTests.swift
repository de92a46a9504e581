// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests that items which two sources have count once in totals, whatever the order of the imports.
@Suite struct CountingStoreTests {
  /// The content of one import from one source.
  struct Input {
    var format: String
    var part = ""
    var records: [ImportedRecord] = []
    var device: Device?
    var readings: [Reading] = []

    var batch: IngestBatch {
      var batch = IngestBatch()
      batch.records = records
      batch.readings = readings
      if let device { batch.devices = [device] }
      return batch
    }
  }

  private static let day: Int64 = 86_400
  /// 2025-06-02T00:00:00 as seconds since 1970.
  private static let start: Int64 = 1_748_822_400
  private static let placement = Placement(utcOffset: 7200, source: .stated)

  // MARK: Inputs

  /// Doses and meals of four days. The records have few different amounts, and many records are near
  /// midnight.
  private static func records(
    _ random: inout SeededGenerator, _ count: Int = 60, part: String = ""
  ) -> [ImportedRecord] {
    (0..<count).map { index in
      let isFood = index.isMultiple(of: 3)
      let amount = Double(Int.random(in: 1...3, using: &random))
      var seconds = Int64.random(in: 0..<4 * day, using: &random)
      if index.isMultiple(of: 2) {
        seconds = seconds / day * day + Int64.random(in: -120...120, using: &random)
      }
      var record = ImportedRecord(
        kind: isFood ? .food : .insulin, at: DeviceTime(seconds: start + seconds), placement: placement,
        fields: RecordFields(
          isFood
            ? ["carbs": .number(amount * 10)] : ["units": .number(amount), "subtype": .text("rapid")]),
        sourceID: "\(index)", line: 1)
      record.source = part
      return record
    }
  }

  /// The same records from another source, with times truncated to minutes.
  private static func copy(_ records: [ImportedRecord], part: String) -> [ImportedRecord] {
    records.map { record in
      var record = record
      let seconds = record.deviceTime.seconds
      record.deviceTime = DeviceTime(seconds: seconds - (seconds % 60 + 60) % 60)
      record.source = part
      record.sourceID = "\(part) \(record.sourceID)"
      return record
    }
  }

  /// Finger sticks of a meter, and the same finger sticks in an app.
  private static func sticks(_ random: inout SeededGenerator) -> [Input] {
    let meter = Device(vendor: "Ascensia", model: "Contour Next", serial: "1", format: "contour")
    let app = Device(vendor: "mySugr", model: "mySugr", format: "mysugr")
    let own = (0..<30).map { index in
      let seconds = Int64.random(in: 0..<4 * day, using: &random) / 60 * 60 + 20
      return Reading(
        device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: start + seconds), placement: placement,
        Make.milligrams(Double(80 + index)), line: 1)
    }
    let copies = own.map { reading in
      Reading(
        device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: reading.deviceTime.seconds - 20),
        placement: placement, reading.measurement, line: 1)
    }
    return [
      Input(format: "contour", device: meter, readings: own),
      Input(format: "mysugr", device: app, readings: copies),
    ]
  }

  /// Three sources of records, and finger sticks from a meter and from an app. The last source of records
  /// repeats the first one.
  private static func inputs(_ random: inout SeededGenerator) -> [Input] {
    let diary = records(&random)
    return [
      Input(format: "mysugr", records: diary),
      Input(format: "tandem", records: records(&random, part: "t:slim")),
      Input(format: "apple-health", records: copy(diary, part: "iPhone")),
    ] + sticks(&random)
  }

  // MARK: Totals

  private func store(_ inputs: [Input]) throws -> ScratchStore {
    let scratch = try ScratchStore()
    for input in inputs { try scratch.ingest(input.batch, format: input.format) }
    return scratch
  }

  /// The totals of each kind by day: insulin in ten thousandths of a unit, carbohydrates in grams, and the
  /// number of readings.
  private func totals(
    _ scratch: ScratchStore, since: Int64? = nil, until: Int64? = nil
  ) throws -> [String: Int64] {
    var filter = ItemFilter()
    (filter.since, filter.until) = (since, until)
    var totals: [String: Int64] = [:]
    try scratch.open(.reader).forEachCounted(filter) { _, item, verdict in
      guard verdict.counts else { return }
      let amount: Int64 =
        switch item.amount {
        case .insulin(let units, let extended): units + extended
        case .carbohydrates(let grams): grams
        case .measured: 1
        }
      totals["\(item.kind) \((item.shown - Self.start + 10 * Self.day) / Self.day - 10)", default: 0] +=
        amount
    }
    return totals
  }

  private func sum(_ totals: [String: Int64], _ kind: CountableItem.Kind) -> Int64 {
    totals.filter { $0.key.hasPrefix("\(kind)") }.reduce(0) { $0 + $1.value }
  }

  // MARK: Properties

  @Test(arguments: Seeds.first(3)) func theOrderOfImportsDoesNotChangeTotals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let inputs = Self.inputs(&random)
    let expected = try totals(store(inputs))
    #expect(expected.count > 8)
    for _ in 0..<3 {
      let order = inputs.shuffled(using: &random)
      #expect(try totals(store(order)) == expected, "seed \(seed): \(order.map(\.format))")
    }
  }

  @Test(arguments: Seeds.first(3)) func importingAFileInPartsDoesNotChangeTotals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let inputs = Self.inputs(&random)
    let expected = try totals(store(inputs))
    // Each input is imported as two overlapping parts. The part with the later rows is imported first.
    let halves = inputs.map { input in
      let (first, second) = (Int.random(in: 10...15, using: &random), Int.random(in: 5...9, using: &random))
      var (early, late) = (input, input)
      early.records = Array(input.records.prefix(first))
      early.readings = Array(input.readings.prefix(first))
      late.records = Array(input.records.dropFirst(second))
      late.readings = Array(input.readings.dropFirst(second))
      return (early, late)
    }
    #expect(try totals(store(halves.map(\.1) + halves.map(\.0))) == expected, "seed \(seed)")
  }

  @Test(arguments: Seeds.first(3)) func theRequestedPeriodDoesNotChangeTheTotalsOfItsDays(seed: UInt64) throws
  {
    var random = SeededGenerator(seed: seed)
    let scratch = try store(Self.inputs(&random))
    let expected = try totals(scratch)
    for day in -1...4 as ClosedRange<Int64> {
      let since = Self.start + day * Self.day - 7200
      let found = try totals(scratch, since: since, until: since + Self.day)
      #expect(found == expected.filter { $0.key.hasSuffix(" \(day)") }, "seed \(seed), day \(day)")
    }
    let noon = Self.start + Self.day + Self.day / 2
    let parts = try [totals(scratch, until: noon), totals(scratch, since: noon)]
    #expect(parts[0].merging(parts[1]) { $0 + $1 } == expected, "seed \(seed)")
  }

  @Test(arguments: Seeds.first(3)) func aRenamedCopyOfAnImportDoesNotChangeTotals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let diary = Self.records(&random)
    let own = try totals(store([Input(format: "mysugr", records: diary)]))
    let copies = ["iPhone", "Watch"].map { part in
      Input(format: "apple-health", records: Self.copy(diary, part: part))
    }
    for all in [[copies[0]], copies] {
      let both = try totals(store(all + [Input(format: "mysugr", records: diary)]))
      #expect(both == own, "seed \(seed)")
    }
  }

  /// `cut` is a second export of the diary, as a spreadsheet saves it: without the seconds.
  @Test(arguments: Seeds.first(3)) func aSecondExportWithoutSecondsDoesNotChangeTotals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let diary = Self.records(&random)
    let cut = Self.copy(diary.filter { $0.deviceTime.seconds % 60 != 0 }, part: "")
    let inputs = [Input(format: "mysugr", records: diary), Input(format: "mysugr", records: cut)]
    let own = try totals(store([inputs[0]]))
    for order in [inputs, inputs.reversed()] {
      let scratch = try store(order)
      #expect(try totals(scratch) == own, "seed \(seed)")
      for day in 0...3 as ClosedRange<Int64> {
        let since = Self.start + day * Self.day - 7200
        let found = try totals(scratch, since: since, until: since + Self.day)
        #expect(found == own.filter { $0.key.hasSuffix(" \(day)") }, "seed \(seed), day \(day)")
      }
    }
    // With other amounts, the records of the second export are not copies of the first.
    let others = cut.map { record in
      var record = record
      if let units = record.fields.amount("units") { record.fields["units"] = .number(units + 0.5) }
      if let grams = record.fields.amount("carbs") { record.fields["carbs"] = .number(grams + 5) }
      return record
    }
    let both = try totals(store([inputs[0], Input(format: "mysugr", records: others)]))
    let alone = try totals(store([Input(format: "mysugr", records: others)]))
    #expect(both == own.merging(alone) { $0 + $1 }, "seed \(seed)")
  }

  @Test(arguments: Seeds.first(3)) func anotherSourceAddsAtMostWhatItStatesToTotals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let inputs = Self.inputs(&random)
    let scratch = try ScratchStore()
    var before: [String: Int64] = [:]
    for input in inputs {
      try scratch.ingest(input.batch, format: input.format)
      let (both, own) = (try totals(scratch), try totals(store([input])))
      for kind in CountableItem.Kind.allCases {
        let (all, mine, others) = (sum(both, kind), sum(own, kind), sum(before, kind))
        #expect(all <= mine + others && all >= max(mine, others), "seed \(seed): \(input.format)")
      }
      before = both
    }
    // This source has only copies of the diary's records, as an old phone may have them. It adds nothing to
    // the totals.
    let again = Input(format: "apple-health", records: Self.copy(inputs[0].records, part: "old phone"))
    try scratch.ingest(again.batch, format: again.format)
    #expect(try totals(scratch) == before, "seed \(seed)")
  }

  // MARK: A sensor's own values

  /// The sensor's history, and an export of a phone. The phone's finger sticks are copies of the sensor
  /// values and 20 real finger sticks.
  private static let relayed: [Input] = {
    func readings(_ kind: ReadingKind, _ number: (Int64) -> Double, _ seconds: (Int64) -> Int64) -> [Reading]
    {
      (0..<480 as Range<Int64>).map { place in
        let seconds = start + seconds(place)
        return Reading(
          device: DeviceIndex(0), kind: kind, tick: (seconds - 7200) * 1000, at: DeviceTime(seconds: seconds),
          placement: placement, Make.milligrams(number(place)), line: 1)
      }
    }
    let values = { (place: Int64) in Double(80 + place * 37 % 190) }
    let sensor = Device(vendor: "Dexcom", model: "G6", serial: "8AAAA1", format: "clarity")
    let phone = Device(vendor: "Apple Health", model: "iPhone", format: "apple-health")
    let own = readings(.smbg, { Double(91 + $0) }, { $0 * 900 + 400 }).prefix(20)
    return [
      Input(
        format: "clarity", device: sensor,
        readings: readings(.cbg, values) { $0 * 900 }),
      Input(
        format: "apple-health", device: phone,
        readings: readings(.smbg, values) { $0 * 900 + 1 } + own),
    ]
  }()

  @Test func copiesOfSensorValuesInTheStoreAreNotCountedAsFingerSticks() throws {
    for inputs in [Self.relayed, Self.relayed.reversed()] {
      let scratch = try store(inputs)
      #expect(try sum(totals(scratch), .smbg) == 20)
      // These periods contain copies and no real finger stick. The last period begins between a sensor value
      // and its copy.
      for (since, length) in [(Self.day, Self.day), (Self.day * 2 + 450, 3600), (Self.day * 3 + 1, 450)] {
        let since = Self.start + since - 7200
        #expect(try totals(scratch, since: since, until: since + length).isEmpty)
      }
      // If the sensor's readings are hidden, the finger sticks of the phone are not copies of visible values,
      // so they all count.
      let editor = WithdrawalEditor(try scratch.open(.editor), at: 5)
      _ = try editor.hide(
        Device(vendor: "Dexcom", model: "G6", serial: "8AAAA1", format: "clarity"), since: nil, until: nil,
        reason: "", guid: "w")
      #expect(try sum(totals(scratch), .smbg) == 500)
    }
  }

  @Test func aDecisionCanCountCopiesOfSensorValues() throws {
    let scratch = try store(Self.relayed)
    let editor = CountEditor(try scratch.open(.editor), at: 5)
    #expect(try editor.decide(CountDecision(.sources("apple-health", "clarity"), .both)))
    #expect(try sum(totals(scratch), .smbg) == 500)
  }

  @Test func withoutAPossibleCopyOfASensorValueNoSensorValuesAreRead() throws {
    var random = SeededGenerator(seed: 1)
    let scratch = try store([Self.relayed[0]] + Self.sticks(&random))
    #expect(try !scratch.open(.reader).mayRelaySensors())
    try scratch.ingest(Self.relayed[1].batch, format: "apple-health")
    #expect(try scratch.open(.reader).mayRelaySensors())
  }

  /// A finger stick of a meter, and a finger stick with another value that a person typed half an hour later.
  @Test func afterADecisionTwoFingerSticksCountOnceWhileBothAreVisible() throws {
    func stick(_ minute: Int64, _ milligrams: Double, _ kind: ReadingKind = .smbg) -> Reading {
      Reading(
        device: DeviceIndex(0), kind: kind, at: DeviceTime(seconds: Self.start + 43_200 + minute * 60),
        placement: Self.placement, Make.milligrams(milligrams), line: 1)
    }
    let meter = Device(vendor: "Ascensia", model: "Contour", serial: "1", format: "contour")
    let app = Device(vendor: "App", model: "Diary", serial: "", format: "mysugr")
    let sticks = (stick(0, 100), stick(30, 140))
    let scratch = try store([
      Input(format: "contour", device: meter, readings: [sticks.0, stick(60, 90)]),
      Input(format: "mysugr", device: app, readings: [sticks.1]),
    ])
    func count() throws -> Int64 { try sum(totals(scratch), .smbg) }
    #expect(try count() == 3)
    let ids = (ReadingIdentity(sticks.0, meter).text, ReadingIdentity(sticks.1, app).text)
    func decide(_ second: String, _ choice: CountDecision.Choice) throws -> Bool {
      try CountEditor(scratch.open(.editor), at: 5).decide(CountDecision(.items(ids.0, second), choice))
    }
    // A decision that names a reading which the store does not have changes no total.
    #expect(try decide(ReadingIdentity(stick(31, 140), app).text, .once))
    #expect(try count() == 3)
    #expect(try decide(ids.1, .once))
    #expect(try count() == 2)
    #expect(try decide(ids.1, .rule))
    #expect(try count() == 3)
    #expect(try decide(ids.1, .once))
    // The two finger sticks count once. If one of them is hidden, the other one still counts.
    _ = try WithdrawalEditor(scratch.open(.editor), at: 6).hide(
      app, since: nil, until: nil, reason: "", guid: "w")
    #expect(try count() == 2)
  }
}
