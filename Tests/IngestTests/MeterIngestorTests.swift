// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore
import Meters
import Testing

/// Tests how the contents of a meter are imported into a store.
@Suite struct MeterIngestorTests {
  /// 2026-11-21T00:00:00Z as seconds since 1970; the local time in Madrid is 01:00. It is fixed, so that the
  /// result does not depend on the day of the test.
  private static let now: Int64 = 1_795_219_200
  private static let meter = "meter S1 1.23 2026-11-21T01:00:30"
  private static let ingest = """
    SELECT source, ingest.format, digest, outcome, clock_meter, clock_host, clock_difference, ingest.firmware, serial,
      device.firmware FROM ingest JOIN device ON device.id = meter
    """

  private let bench: ImportBench

  init() throws { bench = try ImportBench() }

  @discardableResult
  private func run(
    _ packets: [String], source: MeterSource = .meter, zone: String = "Europe/Madrid",
    policy: ImportPolicy = ImportPolicy(), isTrusted: Bool = true, startedAt: Int64 = now,
    onRejection: @escaping (Rejection, String?) throws -> Void = { _, _ in }
  ) throws -> ImportReport {
    let replayed = ReplayedTransport(wordSession(packets, startedAt: startedAt))
    let connection = MeterConnection(replayed, model: WordDriver.models[0]) {
      startedAt + Int64(replayed.milliseconds / 1000)
    }
    let times = MeterTimes(zone: try LogbookZone(name: zone), now: isTrusted ? Self.now : nil)
    let meter = MeterIngestor(WordDriver(), connection, source: source, times: times, clock: { Self.now })
    return try ImportSession(policy: policy, clock: { Self.now }, onRejection: onRejection)
      .run(meter) { bench.store }
  }

  private func readings() throws -> [String] {
    try bench.rows(
      "SELECT kind, device_time, utc_offset, offset_source, value, marks FROM readings ORDER BY device_time, value"
    )
  }

  @Test func implausibleAmountsOfAMeterAreRejectedWithAReason() throws {
    let report = try run([
      Self.meter, "reading smbg 2026-11-20T08:00:00 0", "reading smbg 2026-11-20T08:01:00 1000000",
      "reading smbg 2026-11-20T08:02:00 9.9", "reading smbg 2026-11-20T08:03:00 10",
      "reading smbg 2026-11-20T08:04:00 1000", "amount insulin units 9999.9 2026-11-20T08:05:00",
      "amount food carbs 99999 2026-11-20T08:06:00", "amount insulin units 500 2026-11-20T08:07:00",
      "amount food carbs 0 2026-11-20T08:08:00", "end",
    ])
    #expect(report.counts.newReadings == 2 && report.counts.newRecords == 2)
    #expect(
      report.counts.notTaken == [
        "glucose outside 10–1000 mg/dL": 3, "'units' outside 0–500": 1, "'carbs' outside 0–2000": 1,
      ])
    #expect(try bench.rows("SELECT value FROM reading ORDER BY value") == ["10.0", "1000.0"])
  }

  @Test func aStrictImportOfAMeterWithAnImplausibleValueStoresNothing() throws {
    var policy = ImportPolicy()
    policy.isStrict = true
    #expect(throws: RejectedInput.self) {
      try run(
        [
          Self.meter, "reading smbg 2026-11-20T08:00:00 110", "reading smbg 2026-11-20T08:01:00 0", "end",
        ], policy: policy)
    }
    #expect(try bench.number("SELECT count(*) FROM reading") == 0)
  }

  @Test func aControlTestAndAReadingInOneMinuteAreTwoReadings() throws {
    let packets = [
      Self.meter, "reading smbg 2026-11-20T08:00:00 110 control", "reading smbg 2026-11-20T08:00:00 110",
      "end",
    ]
    #expect(try run(packets).counts.newReadings == 2)
    #expect(try run(packets).counts.knownReadings == 2)
    #expect(
      try bench.rows("SELECT marks FROM readings ORDER BY marks") == ["", "control-solution"])
  }

  @Test func readingsOfAMeterAreStoredWithItsClockAndFirmware() throws {
    let report = try run([
      Self.meter, "reading smbg 2026-11-20T08:00:00 110", "reading cbg 2026-11-20T08:05:00 115 tick=7",
      "note 3 2026-11-20T08:10:00 breakfast", "end",
    ])
    #expect(report.counts.newReadings == 2 && report.counts.newRecords == 1)
    #expect(report.warnings == [])
    #expect(report.meter?.identity.device.serial == "S1")
    #expect(report.meter?.clock?.difference == 30)
    #expect(
      try readings() == [
        "smbg|2026-11-20T08:00:00|+01:00|zone|110.0|", "cbg|2026-11-20T08:05:00|+01:00|zone|115.0|",
      ])
    #expect(
      try bench.rows(Self.ingest) == ["meter|word|NULL|whole|\(Self.now + 3630)|\(Self.now)|30|1.23|S1|1.23"])
    let entry = try #require(try bench.store.ingest(1))
    #expect(entry.meter == Device(vendor: "Words", model: "Word One", serial: "S1", format: "word"))
    #expect(entry.clock?.difference == 30 && entry.firmware == "1.23")
    #expect(
      entry.clock?.comparison == ClockComparison(meter: DeviceTime(seconds: Self.now + 3630), host: Self.now))
  }

  @Test func readingAMeterAgainStoresOnlyItsNewerFirmwareVersion() throws {
    let items = ["reading smbg 2026-11-20T08:00:00 110", "note 3 2026-11-20T08:10:00 breakfast", "end"]
    try run([Self.meter] + items)
    let again = try run(["meter S1 2.0 2026-11-21T01:00:30"] + items)
    #expect(again.counts.newReadings == 0 && again.counts.knownReadings == 1)
    #expect(again.counts.newRecords == 0 && again.counts.knownRecords == 1)
    #expect(try bench.rows("SELECT firmware FROM device") == ["2.0"])
    #expect(try bench.rows("SELECT firmware FROM ingest ORDER BY id") == ["1.23", "2.0"])
  }

  @Test func recordsWithEqualNumbersOfTwoMetersAreTwoRecords() throws {
    try run([Self.meter, "note 3 2026-11-20T08:10:00 breakfast", "end"])
    let other = try run(["meter S2 1 -", "note 3 2026-11-20T08:10:00 breakfast", "end"])
    #expect(other.counts.newRecords == 1)
  }

  @Test func timesOfAMeterAreKeptAsShownInTheZoneOfMeterOrLogbook() throws {
    let report = try run([
      Self.meter, "reading smbg 2026-03-29T02:30:00 100", "reading smbg 2026-10-25T02:30:00 101",
      "reading smbg 2026-10-25T02:30:00 102 offset=3600", "end",
    ])
    #expect(report.counts.ambiguousTimes == 2)
    #expect(
      try readings() == [
        "smbg|2026-03-29T02:30:00|+01:00|zone-gap|100.0|",
        "smbg|2026-10-25T02:30:00|+02:00|zone-overlap|101.0|",
        "smbg|2026-10-25T02:30:00|+01:00|stated|102.0|",
      ])
  }

  @Test func aReadingWithAnImpossibleTimeIsMarkedAndKept() throws {
    let items = [
      "reading smbg 2031-01-01T00:00:00 100", "reading smbg 1980-01-01T00:00:00 101",
      "reading smbg 2026-11-21T12:00:00 102", "end",
    ]
    #expect(try run([Self.meter] + items).counts.doubtfulTimes == 2)
    #expect(try readings().map { $0.hasSuffix("doubtful-time") } == [true, false, true])
  }

  @Test func withAnUntrustedHostClockTheTimesOfAMeterAreNotChecked() throws {
    let packets = ["meter S1 1 2026-11-21T05:00:00", "reading smbg 2031-01-01T00:00:00 100", "end"]
    let report = try run(packets, isTrusted: false)
    #expect(report.counts.doubtfulTimes == 0)
    #expect(report.warnings == [])
    #expect(report.meter?.clock?.difference == 14400, "what was seen is kept all the same")
  }

  @Test func aWrongMeterClockIsReportedAndNoTimesAreChanged() throws {
    let report = try run(["meter S1 1 2026-11-21T02:00:00", "reading smbg 2026-11-20T08:00:00 110", "end"])
    #expect(report.warnings.count == 1)
    #expect(report.warnings[0].contains("1 h 0 min ahead of the local time in Europe/Madrid, probably"))
    #expect(try readings() == ["smbg|2026-11-20T08:00:00|+01:00|zone|110.0|"])
    #expect(try bench.number("SELECT clock_difference FROM ingest") == 3600)
  }

  /// `words` are part of the warning that the newest reading of a meter causes. The meter has no readable
  /// clock, and the local time is 01:00.
  @Test(arguments: [
    (
      ["reading smbg 2026-11-21T02:00:00 110"],
      "at least 59 min 58 s ahead of the local time in Europe/Madrid"
    ),
    (
      ["reading smbg 2026-11-21T02:00:00 110", "reading smbg 2026-11-20T08:00:00 111"], "2026-11-21 02:00:00"
    ),
    // A minute ahead is normal, and a reading in the past shows nothing about the clock.
    (["reading smbg 2026-11-21T01:01:00 110"], nil), (["reading smbg 2026-11-19T08:00:00 110"], nil),
    ([], nil),
    // The packet `offset` states by how many minutes the shown time differs from the meter's internal clock.
    // It explains the first difference, but not the others.
    (["offset 60", "reading smbg 2026-11-21T02:03:00 110"], nil),
    (["offset 120", "reading smbg 2026-11-21T02:03:00 110"], "at least 1 h 2 min ahead"),
    (["offset 0", "reading smbg 2026-11-21T01:05:00 110"], "at least 4 min 5"),
  ])
  func theNewestReadingShowsThatAnUnreadableMeterClockIsAhead(_ packets: [String], _ words: String?) throws {
    let report = try run(["meter S1 1 -"] + packets + ["end"])
    #expect(report.warnings.count == (words == nil ? 0 : 1), "\(report.warnings)")
    if let words { #expect(report.warnings.first?.contains(words) == true, "\(report.warnings)") }
    let untrusted = try run(["meter S2 1 -"] + packets + ["end"], isTrusted: false)
    #expect(untrusted.warnings == [])
    #expect(try bench.number("SELECT count(clock_meter) FROM ingest") == 0)
  }

  @Test func aTranscriptWithAFutureHostClockCausesNoWarning() throws {
    let report = try run(["meter S1 1 2026-11-21T01:00:00", "end"], startedAt: Self.now + 86400)
    #expect(report.warnings == [])
  }

  @Test(arguments: 0..<4) func anIncompleteMeterSessionStoresNothing(_ steps: Int) throws {
    let packets = [
      Self.meter, "reading smbg 2026-11-20T08:00:00 110", "note 3 2026-11-20T08:10:00 x", "broken",
    ]
    #expect(throws: Failure.self) { try run(Array(packets.prefix(steps))) }
    for table in ["ingest", "reading", "record", "rejection", "device", "series"] {
      #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
    }
  }

  /// The meter was reset, so its second session has the counter 7 again. The store rejects this reading.
  @Test(arguments: [true, false]) func rejectionsByTheStoreCountForTheLimitsOfAnImport(_ isStrict: Bool)
    throws
  {
    try run([Self.meter, "reading cbg 2026-08-20T08:05:00 115 tick=7", "end"])
    let items = [
      Self.meter, "reading cbg 2026-11-21T00:05:00 120 tick=7", "reading cbg 2026-11-21T00:10:00 121 tick=8",
      "end",
    ]
    var policy = ImportPolicy()
    policy.isStrict = isStrict
    policy.maxRejections = isStrict ? nil : 0
    let content = try bench.content()
    let stopped = try #require(throws: RejectedInput.self) { try run(items, policy: policy) }
    #expect(stopped.count == 1 && stopped.rejections.map(\.line) == [1] && stopped.source == "meter")
    #expect(stopped.failure.category == .badInput && stopped.failure.message.contains("nothing was stored"))
    #expect(try bench.content() == content)
    policy.isStrict = false
    policy.maxRejections = 1
    let report = try run(items, policy: policy)
    #expect(report.counts.rejected == 1 && report.counts.newReadings == 1)
  }

  @Test func theStoreIsOpenedOnlyAfterTheWholeMeterIsRead() throws {
    let replayed = ReplayedTransport(wordSession([Self.meter]))
    var wasAsked = false
    let connection = MeterConnection(replayed, model: WordDriver.models[0]) { Self.now }
    let times = MeterTimes(zone: try LogbookZone(name: "UTC"), now: nil)
    let meter = MeterIngestor(WordDriver(), connection, source: .meter, times: times, clock: { Self.now })
    #expect(throws: Failure.self) {
      try ImportSession(clock: { Self.now }).run(meter) {
        wasAsked = true
        return bench.store
      }
    }
    #expect(!wasAsked)
  }

  @Test func anImportOfAnEmptyMeterIsStored() throws {
    let report = try run([Self.meter, "end"])
    #expect(report.counts.readings == 0)
    #expect(try bench.rows(Self.ingest).count == 1)
  }

  @Test func anImportOfAMeterWithoutAClockStoresNoClockComparison() throws {
    try run(["meter S1 1 -", "end"])
    #expect(
      try bench.rows("SELECT clock_meter, clock_host, clock_difference FROM ingest") == ["NULL|NULL|NULL"])
    #expect(try bench.store.ingest(1)?.clock == nil)
  }

  @Test func anInvalidItemOfAMeterIsRejectedWithItsLineNumber() throws {
    let packets = [Self.meter, "reading smbg 2026-11-20T08:00:00 110", "broken", "end"]
    let report = try run(packets)
    #expect(report.counts.rejected == 1 && report.counts.newReadings == 1)
    #expect(report.rejections.map(\.line) == [7])
    #expect(try bench.rows("SELECT line, reason FROM rejection") == ["7|the record's checksum is wrong"])
  }

  @Test func aStrictImportOfAMeterWithARejectionStoresNothing() throws {
    var strict = ImportPolicy()
    strict.isStrict = true
    #expect(throws: RejectedInput.self) { try run([Self.meter, "broken", "end"], policy: strict) }
    var limited = ImportPolicy()
    limited.maxRejections = 0
    #expect(throws: RejectedInput.self) { try run([Self.meter, "broken", "end"], policy: limited) }
    #expect(try bench.number("SELECT count(*) FROM ingest") == 0)
    limited.maxRejections = 1
    #expect(try run([Self.meter, "broken", "end"], policy: limited).counts.rejected == 1)
  }

  @Test func rejectedItemsOfAMeterAreReportedOnceEvenIfNothingIsStored() throws {
    for limit in [0, 1] {
      var policy = ImportPolicy()
      policy.maxRejections = limit
      var lines: [Int64] = []
      let packets = [Self.meter, "reading smbg 2026-11-20T08:00:00 110", "broken", "end"]
      do {
        try run(packets, policy: policy) { rejection, _ in lines.append(rejection.line) }
        #expect(limit == 1)
      } catch is RejectedInput {
        #expect(limit == 0)
      }
      #expect(lines == [7], "at most \(limit)")
    }
  }

  @Test func theNameAndDigestOfAnImportedTranscriptAreStored() throws {
    try run([Self.meter, "end"], source: MeterSource(name: "session.transcript", digest: "d"))
    #expect(try bench.rows("SELECT source, digest FROM ingest") == ["session.transcript|d"])
  }
}
