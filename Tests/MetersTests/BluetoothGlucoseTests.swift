// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import SeededRandom
import SimulatedMeters
import SimulatedUSB
import Testing

@testable import Meters

/// Tests Bluetooth sessions with a simulated meter, including behaviour that few or no real meters show.
@Suite struct BluetoothGlucoseTests {
  private typealias Notification = SimulatedNotification

  /// A meter with these notifications: `m` for a measurement, `c` for a context.
  static func meter(
    _ lines: [String], _ change: (inout SimulatedGlucoseMeter.Traits) -> Void = { _ in }
  ) -> SimulatedGlucoseMeter {
    var traits = SimulatedGlucoseMeter.Traits()
    change(&traits)
    let meter = SimulatedGlucoseMeter(SimulatedMemory(clock: DriverTrial.noon), traits)
    meter.records = lines.map { line in
      Notification(line.hasPrefix("m") ? 0x2A18 : 0x2A34, [UInt8](printed: String(line.dropFirst(2))))
    }
    return meter
  }

  private static func careSens(_ traits: inout SimulatedGlucoseMeter.Traits) {
    (traits.maker, traits.name) = ("i-SENS", "CareSens 1")
  }

  private func read(
    _ meter: SimulatedGlucoseMeter, now: Int64 = DriverTrial.noon.seconds
  ) throws -> MeterContents {
    try read(meter, from: nil, now: now)
  }

  /// Reads a meter whose records up to a position are already stored.
  private func read(
    _ meter: SimulatedGlucoseMeter, from position: MeterPosition?, now: Int64 = DriverTrial.noon.seconds
  ) throws -> MeterContents {
    let connection = MeterConnection(SimulatedHost(meter), model: .bluetooth("test")) { now }
    connection.storedPosition = { _ in position }
    return try BluetoothGlucoseDriver().read(connection)
  }

  private func failure(_ meter: SimulatedGlucoseMeter) -> Failure? {
    #expect(throws: Failure.self) { try self.read(meter) }
  }

  static let guide = [
    "m 1b 04 00 e4 07 08 02 10 08 10 4a ff 02 b1 f8 00 00", "c 02 04 00 01",
    "m 0b 06 00 e4 07 08 17 10 14 18 4a ff 25 b1 f8 00 00",
  ]

  // MARK: Records

  @Test func recordsOfAnAccuChekGuideAreReadByBluetooth() throws {
    let contents = try read(Self.meter(Self.guide))
    #expect(
      contents.identity.device
        == Device(
          vendor: "Roche", model: "Accu-Chek Guide", serial: "SIM-1234567", format: "bluetooth-glucose")
    )
    #expect(contents.identity.count == 2)
    #expect(contents.readings.map(\.deviceTime.text) == ["2020-08-02T13:06:16", "2020-08-23T13:18:24"])
    #expect(contents.readings.map(\.measurement) == [.milligrams(258), .milligrams(293)])
    #expect(contents.readings.map(\.marks) == [.beforeMeal, []])
    #expect(contents.readings.allSatisfy { $0.tick == nil && $0.utcOffset == nil })
    #expect(contents.skipped.isEmpty && contents.rejections.isEmpty && contents.warnings.isEmpty)
  }

  /// The USB driver of these meters gets times without seconds. The time is a part of a reading's identity,
  /// so the Bluetooth driver drops the seconds.
  @Test func timesOfAContourReadByBluetoothAreWholeMinutesAsByUSB() throws {
    let meter = Self.meter(["m 13 1e 00 e2 07 09 14 05 1b 07 5c fe 6f b0 f1", "c 02 1e 00 02"]) {
      ($0.maker, $0.model) = ("Ascensia Diabetes Care", "Contour7830")
    }
    let contents = try read(meter)
    #expect(contents.identity.device.vendor == "Ascensia")
    #expect(contents.readings.map(\.deviceTime.text) == ["2018-09-19T22:27:00"])
    #expect(contents.readings.map(\.marks) == [.afterMeal])
  }

  @Test func aRecordWithoutATimeOffsetKeepsThatOfTheRecordBefore() throws {
    let contents = try read(
      Self.meter([
        "m 03 01 00 ea 07 03 09 03 00 00 58 02 64 b0 f8", "m 02 02 00 ea 07 03 09 04 00 00 65 b0 f8",
        "m 03 03 00 ea 07 03 09 05 00 00 56 02 66 b0 f8", "m 02 04 00 ea 07 03 09 06 00 00 67 b0 f8",
      ]))
    #expect(
      contents.readings.map(\.deviceTime.text) == [
        "2026-03-09T13:00:00", "2026-03-09T14:00:00", "2026-03-09T14:58:00", "2026-03-09T15:58:00",
      ])
  }

  @Test func readingsOfAMeterWithoutTimeOffsetsHaveItsBaseTime() throws {
    let contents = try read(Self.meter(["m 12 e4 00 e6 07 09 09 11 33 00 a7 b0 18", "c 04 e4 00 ff"]))
    #expect(contents.readings.map(\.deviceTime.text) == ["2022-09-09T17:51:00"])
    #expect(contents.skipped.isEmpty)
  }

  @Test(arguments: [
    ("NaN", "m 03 01 00 ea 07 03 09 03 00 00 00 00 ff 07 f8"),
    ("not at this resolution", "m 03 01 00 ea 07 03 09 03 00 00 00 00 00 08 f8"),
    ("no result", "m 01 01 00 ea 07 03 09 03 00 00 00 00"),
  ])
  func aBluetoothRecordWithoutAResultIsSkipped(_ name: String, _ line: String) throws {
    let contents = try read(Self.meter([line]))
    #expect(contents.readings.isEmpty && contents.rejections.isEmpty)
    #expect(contents.skipped == ["record without a result": 1], "\(name)")
  }

  @Test(arguments: [
    ("m 03 01 00 ea 07 03 09 03 00 00 00 00 fe 07 f8", Measurement.high(above: 600, .milligramsPerDecilitre)),
    ("m 03 01 00 ea 07 03 09 03 00 00 00 00 02 08 f8", .low(below: 20, .milligramsPerDecilitre)),
    ("m 0b 01 00 ea 07 03 09 03 00 00 00 00 58 b2 f8 20 00", .high(above: 600, .milligramsPerDecilitre)),
    ("m 0b 01 00 ea 07 03 09 03 00 00 00 00 0a b0 f8 40 00", .low(below: 20, .milligramsPerDecilitre)),
    ("m 09 01 00 ea 07 03 09 03 00 00 00 00 20 00", .high(above: 600, .milligramsPerDecilitre)),
    ("m 09 01 00 ea 07 03 09 03 00 00 00 00 40 00", .low(below: 20, .milligramsPerDecilitre)),
    ("m 03 01 00 ea 07 03 09 03 00 00 00 00 59 b2 f8", .high(above: 600, .milligramsPerDecilitre)),
    ("m 03 01 00 ea 07 03 09 03 00 00 00 00 13 b0 f8", .low(below: 20, .milligramsPerDecilitre)),
  ])
  func aBluetoothResultOutOfRangeHasTheLimitOfTheMeter(_ line: String, _ measurement: Measurement) throws {
    #expect(try read(Self.meter([line])).readings.map(\.measurement) == [measurement])
  }

  @Test func anUnknownBluetoothMeterHasNoKnownLimits() throws {
    let lines = [
      "m 07 01 00 ea 07 03 09 03 00 00 00 00 fe 07 f8", "m 03 02 00 ea 07 03 09 03 01 00 00 00 02 08 f8",
    ]
    let contents = try read(Self.meter(lines) { ($0.maker, $0.name) = ("Example", "x") })
    #expect(
      contents.readings.map(\.measurement) == [
        .high(above: nil, .millimolesPerLitre), .low(below: nil, .milligramsPerDecilitre),
      ])
  }

  @Test func statusBitsThatTheMeterDoesNotSupportAreIgnored() throws {
    let meter = Self.meter(["m 0b 01 00 ea 07 03 09 03 00 00 00 00 78 b0 f8 a0 01"])
    meter.values[SimulatedCharacteristic(0x1808, 0x2A51)] = [0, 0]
    let reading = try #require(read(meter).readings.first)
    #expect(reading.measurement == .milligrams(120) && reading.marks == [])
    meter.values[SimulatedCharacteristic(0x1808, 0x2A51)] = [0x40, 0]
    #expect(try read(meter).readings.first?.marks == .temperatureWarning)
    meter.values[SimulatedCharacteristic(0x1808, 0x2A51)] = nil
    #expect(try read(meter).readings.first?.measurement == .high(above: 600, .milligramsPerDecilitre))
  }

  @Test func aBluetoothResultInMolesPerLitreIsExact() throws {
    let contents = try read(Self.meter(["m 07 01 00 ea 07 03 09 03 00 00 00 00 34 c0 f8"]))
    #expect(contents.readings.map(\.measurement) == [.value(Quantity(5.2, .millimolesPerLitre))])
  }

  @Test(arguments: ["fa", "41", "4a"]) func controlSolutionIsRecognisedByItsSampleTypeOrLocation(
    _ sample: String
  ) throws {
    let contents = try read(Self.meter(["m 03 01 00 ea 07 03 09 03 00 00 00 00 78 b0 \(sample)"]))
    #expect(contents.readings.map(\.marks) == [.controlSolution])
  }

  @Test func aSensorValueOfABluetoothMeterIsSkipped() throws {
    let contents = try read(Self.meter(["m 03 01 00 ea 07 03 09 03 00 00 00 00 78 b0 f9"]))
    #expect(contents.readings.isEmpty && contents.skipped == ["value of a sensor": 1])
  }

  @Test func mealCodeSixOfAnISensMeterMarksAKetoneReading() throws {
    let lines = ["m 13 01 00 ea 07 03 09 03 00 00 00 00 06 b0 f1", "c 02 01 00 06"]
    let contents = try read(Self.meter(lines, Self.careSens))
    #expect(contents.readings.map(\.kind) == [.ketone])
    #expect(contents.readings.map(\.measurement) == [.value(Quantity(0.6, .millimolesPerLitre))])
    let other = try read(Self.meter(lines))
    #expect(other.readings.isEmpty)
    #expect(other.rejections.map(\.line) == [1])
  }

  @Test func aBluetoothContextThatArrivesBeforeItsMeasurementIsUsed() throws {
    let contents = try read(Self.meter(["c 02 04 00 01"] + Self.guide.filter { !$0.hasPrefix("c") }))
    #expect(contents.readings.map(\.marks) == [.beforeMeal, []])
  }

  @Test func missingContextsAndContextsWithoutAMeasurementAreCounted() throws {
    let contents = try read(Self.meter([Self.guide[0], "c 02 09 00 01", "c 02 0a 00 01"]))
    #expect(contents.readings.map(\.marks) == [[]])
    #expect(contents.skipped == ["context that did not arrive": 1, "context without a reading": 2])
  }

  @Test func carbohydratesExerciseAndMealOfABluetoothContextAreKept() throws {
    let contents = try read(
      Self.meter([Self.guide[0], "c 7b 04 00 02 19 d0 02 08 07 3c 04 0a c0 34 f0"]))
    #expect(contents.readings.map(\.marks) == [.afterMeal])
    #expect(contents.records.map(\.kind) == [.food, .exercise])
    #expect(contents.records.map(\.fields.json) == [#"{"carbs":25}"#, #"{"minutes":30}"#])
    #expect(contents.skipped == ["medication without a unit of insulin": 1, "HbA1c": 1])
  }

  @Test func bluetoothRecordsOutOfOrderAreSortedByTheirNumbers() throws {
    let contents = try read(
      Self.meter([
        "m 03 ff ff ea 07 03 09 05 00 00 00 00 66 b0 f8", "m 03 01 00 ea 07 03 09 03 00 00 00 00 64 b0 f8",
        "m 03 07 00 ea 07 03 09 04 00 00 00 00 65 b0 f8",
      ]))
    #expect(contents.readings.map(\.measurement) == [.milligrams(100), .milligrams(101), .milligrams(102)])
    #expect(contents.readings.allSatisfy { $0.marks == [] })
  }

  @Test func descendingRecordNumbersAreNotTakenForAClockSetBack() throws {
    let contents = try read(
      Self.meter([
        "m 02 00 00 ea 07 03 09 05 00 00 66 b0 f8", "m 02 01 00 ea 07 03 09 04 00 00 65 b0 f8",
        "m 02 02 00 ea 07 03 09 03 00 00 64 b0 f8",
      ]))
    #expect(contents.readings.count == 3 && contents.readings.allSatisfy { $0.marks == [] })
  }

  @Test func twoBluetoothReadingsOfOneSecondAreBothKept() throws {
    let contents = try read(
      Self.meter([
        "m 03 01 00 ea 07 03 09 03 00 00 00 00 64 b0 f8", "m 03 02 00 ea 07 03 09 03 00 00 00 00 65 b0 f8",
      ]))
    #expect(contents.readings.map(\.measurement) == [.milligrams(100), .milligrams(101)])
  }

  @Test func theKnownFalseRecordOfTheYear2037IsSkipped() throws {
    let contents = try read(
      Self.meter(Self.guide + ["m 03 07 00 f5 07 03 09 03 00 00 00 00 fe 07 f8"]))
    #expect(contents.readings.count == 2)
    #expect(contents.skipped == ["false HI of the year 2037": 1])
  }

  @Test func monthThirteenOfABluetoothRecordIsReadAsJanuary() throws {
    let contents = try read(Self.meter(["m 03 01 00 ea 07 0d 09 03 00 00 00 00 64 b0 f8"]))
    #expect(contents.readings.map(\.deviceTime.text) == ["2026-01-09T03:00:00"])
  }

  @Test func aDamagedBluetoothRecordIsRejectedWithItsNumber() throws {
    let contents = try read(
      Self.meter([
        Self.guide[2], "m 0b 07 00 e4 07", "m 03 01 00 ea 07 00 09 03 00 00 00 00 64 b0 f8",
        "m 03 02 00 ea 07 03 09 03 00 00 00 00 ff bf f8", "c 02 04",
      ]))
    #expect(contents.readings.count == 1)
    #expect(
      Set(contents.rejections.map { "\($0.line) \($0.reason)" }) == [
        "1 a context: the record is shorter than its flags state",
        "2 the record is shorter than its flags state", "3 invalid time",
        "4 the value is not a positive number",
      ])
  }

  @Test func afterADamagedRecordNoTimeOffsetIsCarriedForward() throws {
    let contents = try read(
      Self.meter([
        "m 03 01 00 ea 07 03 09 03 00 00 58 02", "m 03 02 00 ea 07",
        "m 02 03 00 ea 07 03 09 04 00 00 65 b0 f8",
        "m 03 04 00 ea 07 03 09 05 00 00 58 02 66 b0 f8", "m 02 05 00 ea 07 03 09 06 00 00 67 b0 f8",
      ]))
    #expect(contents.readings.map(\.deviceTime.text) == ["2026-03-09T15:00:00", "2026-03-09T16:00:00"])
    #expect(contents.rejections.map(\.line) == [1, 2, 3])
    let known = try read(
      Self.meter([
        "m 03 01 00 ea 07 03 09 03 00 00 58 02", "m 02 03 00 ea 07 03 09 04 00 00 65 b0 f8",
      ]))
    #expect(known.readings.map(\.deviceTime.text) == ["2026-03-09T14:00:00"])
    let never = try read(
      Self.meter(["m 02 02 00 ea 07", "m 02 03 00 ea 07 03 09 04 00 00 65 b0 f8"]))
    #expect(never.readings.map(\.deviceTime.text) == ["2026-03-09T04:00:00"])
  }

  @Test func aRecordOfAKetoneMeterWithoutItsContextIsRejected() throws {
    let contents = try read(Self.meter(["m 13 01 00 ea 07 03 09 03 00 00 00 00 06 b0 f1"], Self.careSens))
    #expect(contents.readings.isEmpty && contents.rejections.count == 1)
  }

  // MARK: Sessions

  @Test func onlyTheCountAndTheRecordsAreRequestedFromABluetoothMeter() throws {
    let meter = Self.meter(Self.guide)
    _ = try read(meter)
    #expect(meter.requests == [[0x04, 0x01], [0x01, 0x01]])
  }

  @Test func aLostBluetoothRecordIsRequestedAgain() throws {
    let meter = Self.meter(Self.guide)
    meter.lost = [2]
    #expect(try read(meter).readings.count == 2)
    #expect(meter.requests.count == 3)
  }

  @Test func aWrongRecordCountOfABluetoothMeterCausesAWarning() throws {
    let meter = Self.meter(Self.guide)
    meter.announced = 5
    let contents = try read(meter)
    #expect(contents.readings.count == 2)
    #expect(contents.warnings == ["the meter announced 5 records and sent 2"])
  }

  @Test func oneBluetoothRecordMoreThanCountedCausesNoWarning() throws {
    let meter = Self.meter(Self.guide)
    meter.announced = 1
    let contents = try read(meter)
    #expect(contents.readings.count == 2 && contents.warnings.isEmpty && contents.identity.count == 2)
  }

  @Test func aBluetoothTransferWithoutItsEndFails() {
    let meter = Self.meter(Self.guide)
    meter.end = nil
    #expect(failure(meter)?.category == .protocolViolation)
  }

  @Test(
    arguments: [[0x06, 0x00, 0x01, 0x08], [0x06, 0x00, 0x04, 0x01], [0x05, 0x00, 0x02, 0x00], [0x06]]
      as [[UInt8]])
  func aBluetoothTransferThatEndsWithAnErrorFails(_ end: [UInt8]) {
    let meter = Self.meter(Self.guide)
    meter.end = end
    #expect(failure(meter)?.category == .protocolViolation)
  }

  @Test func aBluetoothMeterThatReportsNoRecordsIsEmpty() throws {
    let contents = try read(Self.meter([]))
    #expect(contents.readings.isEmpty && contents.identity.count == 0)
  }

  @Test func aReadOverALostBluetoothConnectionReturnsNothing() {
    for count in 0..<5 {
      let meter = Self.meter(Self.guide)
      meter.vanishesAfter = count
      let failure = failure(meter)
      #expect(failure?.category == .unavailable, "\(count)")
      #expect(failure?.message.contains("connection to the meter was lost") == true || count == 0)
    }
  }

  @Test func theErrorForALostPairingNamesTheCommandsToPairAgain() {
    let meter = Self.meter(Self.guide)
    meter.isBonded = false
    let failure = failure(meter)
    #expect(failure?.category == .permission)
    #expect(failure?.message.contains("glucoport meter pair") == true)
  }

  @Test func recordsThatAMeterStreamsUnrequestedEndWithASilence() throws {
    let meter = Self.meter(["m 12 e4 00 e6 07 09 09 11 33 00 a7 b0 18", "c 04 e4 00 ff"]) {
      $0.streams = true
    }
    meter.answersRequests = false
    let contents = try read(meter)
    #expect(contents.readings.map(\.measurement) == [.milligrams(167)])
    #expect(meter.requests == [[0x04, 0x01]])
  }

  @Test func aMeterThatStreamsRecordsAndAnswersRequestsIsReadByRequests() throws {
    let meter = Self.meter(Self.guide) { $0.streams = true }
    #expect(try read(meter).readings.count == 2)
    #expect(meter.requests == [[0x04, 0x01], [0x01, 0x01]])
  }

  @Test func aBluetoothMeterThatSendsNothingFailsTheRead() {
    let meter = Self.meter(Self.guide)
    meter.answersRequests = false
    #expect(failure(meter)?.category == .protocolViolation)
  }

  @Test func aBluetoothDeviceWithoutTheGlucoseServiceIsRefused() {
    let session = HexSession.replay([
      HexSession.step(.readValue(.name), .success(Array("Lamp".utf8))),
      HexSession.step(.readValue(.maker), .failure(.unsupported)),
      HexSession.step(.readValue(.model), .failure(.unsupported)),
      HexSession.step(.readValue(.serial), .failure(.unsupported)),
      HexSession.step(.readValue(.currentTime), .failure(.unsupported)),
      HexSession.step(.readValue(.dateTime), .failure(.unsupported)),
      HexSession.step(.readValue(.firmware), .failure(.unsupported)),
      HexSession.step(.readValue(.feature), .failure(.unsupported)),
      HexSession.step(.subscribe(.context), .failure(.unsupported)),
      HexSession.step(.subscribe(.measurement), .failure(.unsupported)),
    ])
    let connection = MeterConnection(session, model: .bluetooth("test")) { 0 }
    let failure = #expect(throws: Failure.self) { try BluetoothGlucoseDriver().read(connection) }
    #expect(failure?.category == .unavailable)
    #expect(session.isExhausted)
  }

  @Test func aThousandBluetoothRecordsAreRead() throws {
    let meter = Self.meter(
      (0..<1000).map { index in
        let (high, low) = (String(index >> 8, radix: 16), String(index & 0xFF, radix: 16))
        return "m 03 \(low) \(high) ea 07 03 09 \(String(index / 60, radix: 16)) "
          + "\(String(index % 60, radix: 16)) 00 00 00 64 b0 f8"
      })
    #expect(try read(meter).readings.count == 1000)
  }

  @Test func anInterruptionStopsTheBluetoothTransfer() {
    let steps = [
      HexSession.step(.readValue(.name), .success(Array("meter+0042".utf8))),
      HexSession.step(.readValue(.maker), .success(Array("Roche".utf8))),
      HexSession.step(.readValue(.model), .success([])),
      HexSession.step(.readValue(.serial), .success([])),
      HexSession.step(.readValue(.currentTime), .failure(.unsupported)),
      HexSession.step(.readValue(.dateTime), .failure(.unsupported)),
      HexSession.step(.readValue(.firmware), .success([])),
      HexSession.step(.readValue(.feature), .success([])),
      HexSession.step(.subscribe(.context), .success([])),
      HexSession.step(.subscribe(.measurement), .success([])),
      HexSession.step(.subscribe(.recordAccess), .success([])),
      HexSession.step(.notification, .failure(.timedOut)),
      HexSession.step(.recordAccess(.countAll), .success([])),
      HexSession.step(.notification, .success([0x52, 0x2A, 5, 0, 9, 0])),
      HexSession.step(.recordAccess(.reportAll), .success([])),
      HexSession.step(.notification, .failure(.interrupted)),
      HexSession.step(.recordAccess(.abort), .success([])),
    ]
    let session = HexSession.replay(steps)
    var serial = ""
    let connection = MeterConnection(session, model: .bluetooth("test")) { 0 }
    connection.onIdentity = { serial = $0.device.serial }
    let failure = #expect(throws: Failure.self) { try BluetoothGlucoseDriver().read(connection) }
    #expect(failure?.category == .temporary)
    #expect(session.isExhausted)
    #expect(serial == "0042")
  }

  @Test func eachTimeOffsetOfTheMeterClockIsReportedOnce() throws {
    #expect(try read(Self.meter(Self.guide)).clockOffsets == [-182])
    let changed =
      Self.records(10...11) + Self.records(12...13, offset: nil) + Self.records(14...14, offset: "58 02")
    #expect(try read(Self.meter(changed)).clockOffsets == [-182, 600])
    #expect(try read(Self.meter(Self.records(10...11, offset: nil))).clockOffsets == [])
  }

  // MARK: Only what is new

  /// Notifications of an Accu-Chek Guide with these record numbers, one for each minute, and with this time
  /// offset.
  private static func records(_ numbers: ClosedRange<Int>, offset: String? = "4a ff") -> [String] {
    numbers.map { number in
      let (code, minute) = (String(number, radix: 16), String(number % 60, radix: 16))
      return
        "m \(offset == nil ? "02" : "03") \(code) 00 e4 07 08 02 10 \(minute) 00 \(offset.map { "\($0) " } ?? "")"
        + "64 b0 f8"
    }
  }

  private func values(_ numbers: ClosedRange<Int>) -> [String] {
    numbers.map { "2020-08-02T13:\($0 - 2 < 10 ? "0" : "")\($0 - 2):00" }
  }

  @Test func onlyRecordsSinceTheLastStoredOneAreRequested() throws {
    let all = try read(Self.meter(Self.records(10...14)))
    let position = try #require(all.position)
    #expect(position.number == 14 && position.deviceTime == all.readings.last?.deviceTime)
    let meter = Self.meter(Self.records(10...17))
    let new = try read(meter, from: position)
    #expect(new.readings.map(\.deviceTime.text) == values(14...17))
    #expect(new.identity.count == nil && new.position?.number == 17)
    #expect(meter.requests == [[4, 3, 1, 14, 0], [1, 3, 1, 14, 0]])
    // Without a newer record, the meter sends only the last record again, which is already stored.
    let same = try read(Self.meter(Self.records(10...17)), from: new.position)
    #expect(same.readings.count == 1 && same.position == new.position)
  }

  @Test func aPartialReadKeepsTheTimeOffsetOfTheEarlierRecords() throws {
    let first = Self.records(10...10) + Self.records(11...14, offset: nil)
    func meter() -> SimulatedGlucoseMeter {
      Self.meter(first + Self.records(15...16, offset: nil)) { $0.offset = -182 }
    }
    let position = try read(Self.meter(first)).position
    #expect(try read(meter(), from: position).readings.map(\.deviceTime.text) == values(14...16))
    // Without a time offset in its first record, a partial transfer would give wrong times. So all records
    // are requested.
    let other = meter()
    other.losesOffset = true
    #expect(try read(other, from: position).readings.map(\.deviceTime.text) == values(10...16))
    #expect(other.requests.last == [1, 1])
  }

  /// Differences from the last import that need a complete read. For example, the last stored record is
  /// missing or has another value, or the meter cannot filter its records.
  enum Change: CaseIterable {
    case cannotFilter, isMissing, isAnother, isEmpty, losesRecords, beginsAgain, isOutOfOrder
  }

  @Test(arguments: Change.allCases)
  func allRecordsAreReadIfTheLastStoredOneHasChanged(_ change: Change) throws {
    let position = try #require(try read(Self.meter(Self.records(10...14))).position)
    var records = Self.records(10...17)
    switch change {
    case .isAnother: records[4] = records[4].replacing("64 b0", with: "65 b0")
    case .isMissing: records.remove(at: 4)
    case .isEmpty: records = []
    case .beginsAgain: records = Self.records(0...3)
    case .isOutOfOrder: records.swapAt(5, 6)
    case .cannotFilter, .losesRecords: break
    }
    let meter = Self.meter(records)
    if change == .cannotFilter { meter.filtersByNumber = false }
    if change == .losesRecords { meter.lost = [1] }
    let contents = try read(meter, from: position)
    #expect(contents.readings.count == records.count)
    #expect(meter.requests.last == [1, 1])
    #expect((contents.position == nil) == [.isEmpty, .isOutOfOrder].contains(change))
  }

  @Test func aMeterWithoutAscendingRecordNumbersIsAlwaysReadCompletely() throws {
    let records = Self.records(10...14)
    for (maker, name) in [("TaiDoc", "TAIDOC"), ("Example", "Example"), ("i-SENS", "CareSens 1")] {
      func meter() -> SimulatedGlucoseMeter {
        Self.meter(records) { ($0.maker, $0.name) = (maker, name) }
      }
      #expect(try read(meter()).position == nil)
      let position = try read(Self.meter(records)).position
      let other = meter()
      #expect(try read(other, from: position).readings.count == 5)
      #expect(other.requests == [[4, 1], [1, 1]])
    }
    #expect(try read(Self.meter(records.reversed())).position == nil)
    // A damaged record of the meter, and a record without the announced context, such as a meal. In both
    // cases no position is stored. So the next import reads all records of the meter again.
    #expect(try read(Self.meter(records + ["m 03 0f"])).position == nil)
    #expect(
      try read(Self.meter(records + ["m 13 0f 00 e4 07 08 02 10 0f 00 4a ff 64 b0 f8"])).position == nil)
  }

  // MARK: The clock

  @Test func aMeterClockWithAnOffsetOfHoursIsReadAsItsInternalClock() throws {
    let meter = Self.meter(["m 03 01 00 ea 07 03 09 03 00 00 58 02 64 b0 f8"])
    let now = DriverTrial.noon.seconds + 30
    #expect(try read(meter, now: now).identity.clock?.meter.seconds == DriverTrial.noon.seconds + 36000)
    #expect(
      try read(meter, now: now + 36000).identity.clock?.meter == DriverTrial.noon)
  }

  @Test func theClockOfTheGlucoseServiceIsReadIfTheMeterHasNoOtherClock() throws {
    func clock(_ current: [UInt8]?) throws -> String? {
      let meter = Self.meter(Self.guide)
      meter.values[SimulatedCharacteristic(0x1805, 0x2A2B)] = current
      meter.values[SimulatedCharacteristic(0x1808, 0x2A08)] = [UInt8](printed: "ea 07 03 09 0d 12 1f")
      return try read(meter).identity.clock?.meter.text
    }
    #expect(try clock(nil) == "2026-03-09T13:18:31")
    #expect(try clock([UInt8](printed: "ea 07 03 09 0d 12 20 01 00 00")) == "2026-03-09T13:18:32")
  }

  @Test func aBluetoothMeterWithoutAClockIsRead() throws {
    let meter = Self.meter(Self.guide)
    meter.values[SimulatedCharacteristic(0x1805, 0x2A2B)] = nil
    #expect(try read(meter).identity.clock == nil)
  }
}
