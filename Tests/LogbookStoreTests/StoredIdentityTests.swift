// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

@Suite struct StoredIdentityTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func counts(_ counts: IngestCounts) -> [Int] {
    [counts.newReadings, counts.knownReadings, counts.repeatedReadings, counts.changedReadings]
  }

  @Test func anInputImportedTwiceIsStoredOnce() throws {
    let readings = (0..<250).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) }
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [250, 0, 0, 0])
    #expect(counts(try scratch.ingest(Make.batch(readings.reversed()))) == [0, 250, 0, 0])
    #expect(counts(try scratch.ingest(Make.batch(readings), Make.batch(readings))) == [0, 500, 0, 0])
  }

  @Test func aReadingThatOccursTwiceInOneInputIsCountedAsRepeated() throws {
    let reading = Make.reading(.smbg, Make.milligrams(100))
    #expect(
      counts(try scratch.ingest(Make.batch([reading, reading]), Make.batch([reading]))) == [1, 0, 2, 0])
  }

  @Test(arguments: [ReadingKind.smbg, .cbg, .scan]) func aReadingImportedInTheOtherUnitIsKnown(
    _ kind: ReadingKind
  )
    throws
  {
    try scratch.ingest(Make.batch([Make.reading(kind, Make.milligrams(103))]))
    #expect(
      counts(try scratch.ingest(Make.batch([Make.reading(kind, Make.millimoles(5.7))]))) == [0, 1, 0, 0])
    #expect(try scratch.rows("SELECT value, unit FROM reading") == ["103.0 0"])
  }

  @Test func aDifferentValueIsAnotherReadingExceptInSensorHistory() throws {
    for kind in [ReadingKind.smbg, .scan, .ketone] {
      try scratch.ingest(Make.batch([Make.reading(kind, Make.millimoles(5.7))]))
      #expect(
        counts(try scratch.ingest(Make.batch([Make.reading(kind, Make.millimoles(6.7))]))) == [1, 0, 0, 0])
    }
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.millimoles(5.7))]))
    #expect(
      counts(try scratch.ingest(Make.batch([Make.reading(.cbg, Make.millimoles(6.7))]))) == [0, 0, 0, 1])
  }

  /// Both 103.0 and 103.4 mg/dL are 5.7 mmol/L when they are rounded to one decimal.
  @Test(arguments: [[103.0, 103.4], [103.4, 103.0]])
  func valuesThatRoundToTheSameTenthOfAMillimoleAreOrderedBySize(_ numbers: [Double]) throws {
    let readings = numbers.map { Make.reading(.smbg, Make.milligrams($0)) }
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [2, 0, 0, 0])
    #expect(try scratch.rows("SELECT value, occurrence FROM reading") == ["103.0 0", "103.4 1"])
    #expect(counts(try scratch.ingest(Make.batch(readings.reversed()))) == [0, 2, 0, 0])
    for reading in readings { #expect(counts(try scratch.ingest(Make.batch([reading]))) == [0, 1, 0, 0]) }
  }

  @Test func valuesOfTwoBatchesThatRoundToTheSameTenthOfAMillimoleAreTwoReadings() throws {
    let readings = [103.0, 103.4].map { Make.reading(.smbg, Make.milligrams($0)) }
    #expect(counts(try scratch.ingest(Make.batch([readings[0]]), Make.batch([readings[1]]))) == [2, 0, 0, 0])
    #expect(counts(try scratch.ingest(Make.batch([readings[1]]), Make.batch([readings[0]]))) == [0, 2, 0, 0])
    #expect(try scratch.occurrences() == ["103 0", "103 1"])
  }

  @Test(arguments: [103.0, 103.4]) func valuesThatRoundToTheSameTenthOfAMillimoleCanBeImportedInEitherOrder(
    _ first: Double
  )
    throws
  {
    let readings = [103.0, 103.4].map { Make.reading(.smbg, Make.milligrams($0)) }
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(first))]))
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [1, 1, 0, 0])
    #expect(try scratch.rows("SELECT value FROM reading ORDER BY value") == ["103.0", "103.4"])
  }

  @Test func valuesOfARepeatedHourKeepTheOrderOfTheInput() throws {
    let readings = [140.0, 90, 120].map {
      Make.reading(.cbg, Make.milligrams($0), at: Make.repeated, source: .zoneOverlap)
    }
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [3, 0, 0, 0])
    #expect(try scratch.occurrences() == ["140 0", "90 1", "120 2"])
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [0, 3, 0, 0])
  }

  @Test func aRepeatedHourOfAnImportContinuesInTheNextBatch() throws {
    let readings = [140.0, 90, 90].map {
      Make.reading(.cbg, Make.milligrams($0), at: Make.repeated, source: .zoneOverlap)
    }
    let borders = readings.map { Make.batch([$0]) }
    #expect(counts(try scratch.ingest(borders[0], borders[1], borders[2])) == [2, 0, 1, 0])
    #expect(try scratch.occurrences() == ["140 0", "90 1"])
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [0, 2, 1, 0])
  }

  @Test func anExportThatBeginsInTheRepeatedHourIsCompletedByALaterExport() throws {
    let readings = [140.0, 90].map {
      Make.reading(.cbg, Make.milligrams($0), at: Make.repeated, source: .zoneOverlap)
    }
    try scratch.ingest(Make.batch([readings[1]]))
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [1, 1, 0, 0])
    #expect(try scratch.rows("SELECT value FROM reading ORDER BY value") == ["90.0", "140.0"])
  }

  @Test func revisedValuesOfARepeatedHourAreNotNewReadings() throws {
    func both(_ numbers: [Double]) -> IngestBatch {
      Make.batch(
        numbers.map { Make.reading(.cbg, Make.milligrams($0), at: Make.repeated, source: .zoneOverlap) })
    }
    try scratch.ingest(both([140, 90]))
    #expect(counts(try scratch.ingest(both([141, 91]))) == [0, 0, 0, 2])
    #expect(counts(try scratch.ingest(both([140, 92]))) == [0, 1, 0, 1])
    #expect(try scratch.occurrences() == ["140 0", "90 1"])
  }

  @Test func twoReadingsAtOneTimeAfterAClockSetBackAreBothStored() throws {
    var readings = [140.0, 90].map { Make.reading(.cbg, Make.milligrams($0)) }
    for index in readings.indices { readings[index].marks = .clockSetBack }
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [2, 0, 0, 0])
  }

  @Test func aRevisedSensorValueIsListedAndTheFirstOneKept() throws {
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100))]))
    #expect(
      counts(try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(104))]))) == [0, 0, 0, 1])
    #expect(try scratch.rows("SELECT value FROM reading") == ["100.0"])
    #expect(
      try scratch.rows(
        "SELECT ingest, kind, value, unit, range_flag FROM revision JOIN series ON id = series")
        == ["2 2 104.0 0 0"])
    let store = try scratch.open(.reader)
    var addresses: [String] = []
    try store.forEachItem(ItemFilter()) {
      if case .reading(let reading) = $0 { addresses.append(reading.address) }
    }
    let address = try #require(addresses.first)
    let reading = try #require(try store.reading(at: address))
    let revisions = try store.revisions(of: reading)
    #expect(revisions.map(\.measurement) == [Make.milligrams(104)])
    #expect(revisions.map(\.ingest) == [2])
  }

  // MARK: Two values with one time in one input

  private func sensor(_ numbers: [Double], at time: Int64 = Make.noon) -> [Reading] {
    numbers.map { Make.reading(.cbg, Make.milligrams($0), at: time) }
  }

  @Test(arguments: [false, true]) func twoDifferentValuesAtOneTimeInOneInputAreTwoReadings(
    acrossBatches: Bool
  ) throws {
    let readings = sensor([104, 100])
    let batches = acrossBatches ? readings.map { Make.batch([$0]) } : [Make.batch(readings)]
    func ingest() throws -> [Int] {
      counts(
        batches.count == 1
          ? try scratch.ingest(batches[0]) : try scratch.ingest(batches[0], batches[1]))
    }
    #expect(try ingest() == [2, 0, 0, 0])
    #expect(try scratch.occurrences() == ["104 0", "100 1"])
    #expect(try ingest() == [0, 2, 0, 0])
    #expect(counts(try scratch.ingest(Make.batch([readings[1]]))) == [0, 1, 0, 0])
    #expect(try scratch.number("SELECT count(*) FROM revision") == 0)
  }

  @Test func equalValuesAtOneTimeAreOneReading() throws {
    #expect(counts(try scratch.ingest(Make.batch(sensor([104, 104, 100, 104])))) == [2, 0, 2, 0])
  }

  /// One export has only some of the values at one time, and another export has all of them. They are
  /// imported in both orders.
  @Test(arguments: [([104.0], [104.0, 100]), ([100.0], [104.0, 100]), ([104.0, 100], [104.0, 100, 96])])
  func anExportWithSomeValuesOfOneTimeIsCompletedByOneWithAll(_ part: [Double], _ whole: [Double])
    throws
  {
    let other = try ScratchStore()
    #expect(counts(try scratch.ingest(Make.batch(sensor(part)))) == [part.count, 0, 0, 0])
    #expect(
      counts(try scratch.ingest(Make.batch(sensor(whole)))) == [whole.count - part.count, part.count, 0, 0])
    try other.ingest(Make.batch(sensor(whole)))
    #expect(counts(try other.ingest(Make.batch(sensor(part)))) == [0, part.count, 0, 0])
    let values = "SELECT value FROM reading ORDER BY value"
    #expect(try scratch.rows(values) == other.rows(values))
  }

  @Test func revisionsOfTwoSensorValuesAtOneTimeArePaired() throws {
    try scratch.ingest(Make.batch(sensor([104, 100])))
    #expect(counts(try scratch.ingest(Make.batch(sensor([104, 99])))) == [0, 1, 0, 1])
    #expect(counts(try scratch.ingest(Make.batch(sensor([104, 98, 97])))) == [1, 1, 0, 1])
    #expect(try scratch.rows("SELECT value FROM reading ORDER BY occurrence") == ["104.0", "100.0", "97.0"])
  }

  /// A pump that counts whole minutes can have two finger sticks at one instant.
  @Test(arguments: [false, true]) func twoFingerSticksAtOneInstantInOneInputAreTwoReadings(
    acrossBatches: Bool
  ) throws {
    let readings = [104.0, 100, 104].map { Make.tick(5, $0, .smbg) }
    func ingest() throws -> [Int] {
      let batches = readings.map { Make.batch([$0]) }
      return counts(
        acrossBatches
          ? try scratch.ingest(batches[0], batches[1], batches[2])
          : try scratch.ingest(Make.batch(readings)))
    }
    #expect(try ingest() == [2, 0, 1, 0])
    #expect(try ingest() == [0, acrossBatches ? 3 : 2, acrossBatches ? 0 : 1, 0])
    #expect(counts(try scratch.ingest(Make.batch([readings[1]]))) == [0, 1, 0, 0])
    #expect(try scratch.rows("SELECT value FROM reading ORDER BY value") == ["100.0", "104.0"])
    #expect(try scratch.number("SELECT count(*) FROM revision") == 0)
  }

  @Test func anotherValueOfAFingerStickInALaterInputIsARevision() throws {
    try scratch.ingest(Make.batch([Make.tick(5, 104, .smbg)]))
    #expect(counts(try scratch.ingest(Make.batch([Make.tick(5, 100, .smbg)]))) == [0, 0, 0, 1])
    let both = Make.batch([Make.tick(5, 104, .smbg), Make.tick(5, 99, .smbg)])
    #expect(counts(try scratch.ingest(both)) == [1, 1, 0, 0])
    #expect(try scratch.rows("SELECT value FROM reading ORDER BY value") == ["99.0", "104.0"])
  }

  @Test func theFirstOfTwoValuesWithOneCounterIsKept() throws {
    #expect(counts(try scratch.ingest(Make.batch([Make.tick(5, 100), Make.tick(5, 104)]))) == [1, 0, 0, 1])
  }

  /// The clock was set back and showed the same half hour twice, so the readings of its second pass are
  /// marked. Two readings in one minute on another day are not marked.
  @Test func readingsOfAClockSetBackAreMarkedAndReportedOncePerDay() throws {
    let passes = [0, 900, 1800].flatMap { sensor([110 + Double($0) / 90, 90], at: Make.noon + $0) }
    let single = sensor([120, 121], at: Make.noon + 3 * 86_400)
    var sentences: [String] = []
    let source = IngestSource(name: "input", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch(passes + single))
      sentences = writer.doubledDays
      try writer.finish(end: .whole, digest: "d", generatedAt: nil, finishedAt: 2, decisions: [])
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == 8)
    let marked = "SELECT occurrence FROM reading WHERE marks & \(ReadingMarks.clockSetBack.rawValue) <> 0"
    #expect(try scratch.rows(marked) == ["1", "1", "1"])
    #expect(sentences.count == 2)
    #expect(
      sentences[0].contains("at each of 3 times from 12:00 to 12:30, since the device's clock was set back"))
    #expect(sentences[1].hasSuffix("two different sensor values at 12:00; both are stored"))
  }

  @Test(arguments: [false, true]) func aControlTestIsNotMatchedWithAReadingOfThePerson(controlFirst: Bool)
    throws
  {
    let own = Make.reading(.smbg, Make.milligrams(104))
    var control = own
    control.marks = .controlSolution
    let both = controlFirst ? [control, own] : [own, control]
    #expect(counts(try scratch.ingest(Make.batch(both))) == [2, 0, 0, 0])
    #expect(try scratch.rows("SELECT marks, occurrence FROM reading ORDER BY occurrence") == ["0 0", "8 1"])
    #expect(counts(try scratch.ingest(Make.batch(both.reversed()))) == [0, 2, 0, 0])
    for one in both { #expect(counts(try scratch.ingest(Make.batch([one]))) == [0, 1, 0, 0]) }
  }

  @Test(arguments: [false, true]) func aControlTestThatIsImportedLaterIsASeparateReading(controlFirst: Bool)
    throws
  {
    let own = Make.reading(.smbg, Make.milligrams(104))
    var control = own
    control.marks = .controlSolution
    for one in controlFirst ? [control, own] : [own, control] {
      #expect(counts(try scratch.ingest(Make.batch([one]))) == [1, 0, 0, 0])
    }
    // With a meal mark, it is still the same reading, since not every export has meal marks.
    var meal = own
    meal.marks = .beforeMeal
    #expect(counts(try scratch.ingest(Make.batch([meal]))) == [0, 1, 0, 0])
  }

  @Test func aReadingWithTheSameCounterAndAnotherShownTimeIsKnown() throws {
    // One input has known readings, a known counter with another shown time, and a new reading.
    let ticks = (0..<29).map { Make.tick(7573 + $0 * 300, 100, at: Make.noon + $0 * 300) }
    try scratch.ingest(Make.batch(ticks))
    var moved = ticks
    moved[28] = Make.tick(ticks[28].position, 100, at: ticks[28].deviceTime.seconds + 3600)
    moved.append(Make.tick(7573 + 29 * 300, 100, at: Make.noon + 29 * 300))
    #expect(counts(try scratch.ingest(Make.batch(moved))) == [1, 29, 0, 0])
    #expect(try scratch.number("SELECT max(device_time) FROM reading") == Int(Make.noon) + 29 * 300)
  }

  @Test func lowAndHighReadingsHaveSeparateIdentities() throws {
    let readings = [
      Make.reading(.smbg, .low(below: 20, .milligramsPerDecilitre)),
      Make.reading(.smbg, .high(above: 600, .milligramsPerDecilitre)),
      Make.reading(.smbg, Make.milligrams(20)),
    ]
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [3, 0, 0, 0])
    let again = [
      Make.reading(.smbg, .low(below: nil, .millimolesPerLitre)),
      Make.reading(.smbg, .high(above: 33.3, .millimolesPerLitre)),
    ]
    #expect(counts(try scratch.ingest(Make.batch(again))) == [0, 2, 0, 0])
    #expect(
      try scratch.rows("SELECT value_bucket, value, range_flag, threshold FROM reading ORDER BY value_bucket")
        == [
          "-2 NULL 2 600.0", "-1 NULL 1 20.0", "11 20.0 0 NULL",
        ])
  }

  @Test func aNumberThatReplacesLOInSensorHistoryIsListedAsARevision() throws {
    try scratch.ingest(Make.batch([Make.reading(.cbg, .low(below: 40, .milligramsPerDecilitre))]))
    #expect(
      counts(try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(39))]))) == [0, 0, 0, 1])
  }

  @Test func occurrenceNumbersStatedByAnInputAreKept() throws {
    var readings = [90.0, 140].map { Make.reading(.cbg, Make.milligrams($0), at: Make.repeated) }
    for (index, occurrence) in zip(readings.indices, [1, 0] as [Int32]) {
      readings[index].occurrence = occurrence
      readings[index].occurrenceIsStated = true
    }
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [2, 0, 0, 0])
    #expect(try scratch.occurrences() == ["140 0", "90 1"])
    #expect(counts(try scratch.ingest(Make.batch(readings))) == [0, 2, 0, 0])
  }

  @Test func eachKindAndDeviceHasASeparateSeries() throws {
    let other = Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")
    let readings = [
      Make.reading(.cbg, Make.milligrams(100)), Make.reading(.scan, Make.milligrams(100)),
      Make.reading(.cbg, Make.milligrams(100), device: 1),
    ]
    let batch = Make.batch(readings, devices: [Make.device, other])
    #expect(counts(try scratch.ingest(batch)) == [3, 0, 0, 0])
    #expect(try scratch.number("SELECT count(*) FROM series") == 3)
  }

  @Test func aDeviceIsIdentifiedByVendorAndSerialOrByFormatAndModel() throws {
    let reading = Make.reading(.cbg, Make.milligrams(100))
    func new(_ vendor: String, _ model: String, _ serial: String, _ format: String) throws -> Int {
      let device = Device(vendor: vendor, model: model, serial: serial, format: format)
      return try scratch.ingest(Make.batch([reading], devices: [device])).newReadings
    }
    #expect(try new("Abbott", "Libre", "S1", "libreview") == 1)
    #expect(try new("Abbott", "Libre 2", "S1", "libre-desktop") == 0, "names of models may change")
    #expect(try new("Roche", "Libre", "S1", "libreview") == 1)
    #expect(try new("Abbott", "Libre", "", "libreview") == 1)
    #expect(try new("Other", "Libre", "", "libreview") == 0)
    #expect(try new("Abbott", "Libre", "", "libre-desktop") == 1)
    #expect(try new("Abbott", "Libre 2", "", "libreview") == 1)
    #expect(try scratch.number("SELECT count(*) FROM device") == 5)
  }

  @Test func importCountsIncludeKindsTimeRangeAndDoubtfulTimes() throws {
    var late = Make.reading(.smbg, Make.milligrams(90), at: Make.noon + 600)
    late.marks = .doubtfulTime
    let readings = [
      Make.reading(.cbg, Make.milligrams(100)), late,
      Make.reading(.cbg, Make.milligrams(80), at: Make.noon + 60, source: .zoneGap),
    ]
    let counts = try scratch.ingest(Make.batch(readings))
    #expect(counts.newByKind == ["cbg": 2, "smbg": 1])
    #expect(counts.firstTime == Make.noon)
    #expect(counts.lastTime == Make.noon + 600)
    #expect(counts.ambiguousTimes == 1)
    #expect(counts.doubtfulTimes == 1)
    let entry = try #require(try scratch.open(.reader).ingests(limit: 1).first)
    #expect(entry.counts == (try OrderedJSON.text(counts)))
    #expect(entry.new == 3)
  }
}
