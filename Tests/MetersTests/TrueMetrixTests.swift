// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import SeededRandom
import SimulatedMeters
import SimulatedUSB
import Testing

@testable import Meters

/// Tests the TRUE METRIX's messages and records from a capture of the vendor's program. The whole sessions
/// are assembled from these messages.
struct TrueMetrixTests {
  private static func messages(_ text: String) -> [TrueMetrixMessage] {
    var bytes = Array(text.utf8)
    var messages: [TrueMetrixMessage] = []
    while let message = TrueMetrixMessage.next(in: &bytes) { messages.append(message) }
    return messages
  }

  @Test(arguments: [
    "(^)AF", "(^*)D9", "(I)9A", "(iMR2)8B", "(Z1)DC", "(z1T08269395)FA", "(V)A7", "(v2.53)8F", "(S)A4",
    "(sh01907625)CA", "(T)A5", "(P41)06", "(p*)EB", "(Q56071608122120)6B", "(q*)EC", "(G)98", "(ZG1)23",
    "(_)B0",
    "(zg5C3355DE06901)03", "(zg5C3353BF09B02)0D", "(zg5C33520A09E01)F7", "(zg5C2D13F407B02)09",
    "(zg5C2D107007102)E2", "(zg5C26D74106A01)FA", "(zg5B5F193109E05)05", "(zg5B3357EE0B001)08", "(x1F85A)EE",
  ])
  func aTrueMetrixMessageOfTheCaptureHasItsChecksum(text: String) {
    let content = String(text.dropFirst().dropLast(3))
    #expect(TrueMetrixMessage.bytes(content) == Array(text.utf8))
    #expect(Self.messages(text + "\r\n") == [.content(content)])
  }

  @Test func trueMetrixMessagesAreFoundInAStreamAndAnInvalidOneIsReported() {
    #expect(
      Self.messages("xx(^*)D9\r\n(iMR2)8B\r\n(v2.5") == [.content("^*"), .content("iMR2")])
    #expect(Self.messages("(iMR2)8C\r\n(^*)D9").first == .broken)
    #expect(Self.messages("(iMR2)8b").first == .broken)
    #expect(Self.messages("(" + String(repeating: "A", count: 100)).first == .broken)
  }

  @Test(arguments: [
    ("C3355DE06901", "2021-12-08T15:02:00", 105, ReadingMarks.beforeMeal),
    ("C3353BF09B02", "2021-12-08T09:59:00", 155, .afterMeal),
    ("C33520A09E01", "2021-12-08T05:22:00", 158, .beforeMeal),
    ("C2D13F407B02", "2021-12-07T10:12:00", 123, .afterMeal),
    ("C2D107007102", "2021-12-07T01:12:00", 113, .afterMeal),
    ("C26D74106A01", "2021-12-06T18:57:00", 106, .beforeMeal),
    ("B3357EE0B001", "2021-11-08T20:30:00", 176, .beforeMeal),
  ])
  func aTrueMetrixRecordOfTheCaptureAgreesWithTheVendorLogbook(
    text: String, time: String, value: Double, marks: ReadingMarks
  ) throws {
    let record = try TrueMetrixRecord.parse(text).get()
    let reading = record.reading
    #expect(record.remark.isEmpty && record.unknownTag == nil)
    #expect(reading.deviceTime.text == time)
    #expect(reading.measurement == .value(Quantity(value, .milligramsPerDecilitre)))
    #expect(reading.marks == marks)
  }

  @Test func trueMetrixValuesOutsideTheRangeAreReadAsLOAndHI() throws {
    #expect(
      try TrueMetrixRecord.parse("C3355DE25900").get().reading.measurement
        == .high(above: 600, .milligramsPerDecilitre))
    #expect(
      try TrueMetrixRecord.parse("C3355DE01300").get().reading.measurement
        == .low(below: 20, .milligramsPerDecilitre))
  }

  @Test(arguments: [("5", "medication", nil), ("3", "unknown tag 3", "3"), ("F", "unknown tag F", "F")])
  func aTrueMetrixTagWithoutAMarkIsReportedByNameAndTheValueKept(
    tag: String, remark: String, unknown: String?
  ) throws {
    let record = try TrueMetrixRecord.parse("C3355DE0690" + tag).get()
    #expect(record.reading.measurement == .value(Quantity(105, .milligramsPerDecilitre)))
    #expect(record.reading.marks == [])
    #expect(record.remark == remark && record.unknownTag == unknown)
  }

  @Test(arguments: [
    "C3355DE00001", "C3355DE00003", "D3355DE06901", "C3355DE0690", "C3355DE069011", "G3355DE06901",
    "CFFF5DE06901", "C3355DE0690G", "é3355DE06901",
  ])
  func anAmbiguousTrueMetrixRecordIsRejected(text: String) {
    #expect(throws: TrueMetrixRejection.self) { try TrueMetrixRecord.parse(text).get() }
  }

  // MARK: Whole sessions

  private static func report(_ text: some StringProtocol) -> Transcript.Step {
    let bytes = [UInt8(text.utf8.count)] + Array(text.utf8)
    return HexSession.step(
      .receive(maxBytes: 64), .success(bytes + [UInt8](repeating: 0x41, count: 64 - bytes.count)))
  }

  /// The steps that receive these messages, in reports of eight characters.
  private static func comes(_ contents: [String]) -> [Transcript.Step] {
    let text = contents.map { String(decoding: TrueMetrixMessage.bytes($0), as: UTF8.self) + "\r\n" }.joined()
    let characters = Array(text.utf8)
    return stride(from: 0, to: characters.count, by: 8).map {
      report(String(decoding: characters[$0..<min($0 + 8, characters.count)], as: UTF8.self))
    }
  }

  private static func sent(_ content: String) -> Transcript.Step {
    let message = TrueMetrixMessage.bytes(content)
    return HexSession.step(.send([0xA0, UInt8(message.count)] + message), .success([]))
  }

  /// A request and its answer, without the line end: it would be in a later report, for which a driver does
  /// not wait.
  private static func pair(_ asked: String, _ answered: String) -> [Transcript.Step] {
    let text = String(decoding: TrueMetrixMessage.bytes(answered), as: UTF8.self)
    let characters = Array(text.utf8)
    return [sent(asked)]
      + stride(from: 0, to: characters.count, by: 8).map {
        report(String(decoding: characters[$0..<min($0 + 8, characters.count)], as: UTF8.self))
      }
  }

  private static let silence = HexSession.step(.receive(maxBytes: 64), .failure(.timedOut))
  private static let identity =
    [report("(iMR2)8B"), silence] + pair("^", "^*") + pair("I", "iMR2") + pair("Z1", "z1T08269395")
    + pair("V", "v2.53") + pair("T", "t560716081221")

  @Test func everyTrueMetrixRecordIsReadAndTheChecksumCompared() throws {
    let (meter, transport) = HexSession.meter(
      TrueMetrixDriver.self,
      Self.identity + [Self.sent("G")]
        + Self.comes(["g5C3355DE06901", "g5C3353BF09B02", "g5C3355DE06903", "g5C3355DE06905", "x10A80"])
        + [Self.sent("_")], now: 1_638_979_676)
    let contents = try TrueMetrixDriver().read(meter)
    #expect(
      contents.identity.device
        == Device(vendor: "Trividia", model: "TRUE METRIX", serial: "T08269395", format: "true-metrix"))
    #expect(contents.identity.firmware == "2.53")
    #expect(contents.identity.clock?.meter.text == "2021-12-08T16:07:56")
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [105, 155, 105, 105])
    #expect(contents.rejections.isEmpty)
    #expect(
      contents.records.map(\.fields.json) == [
        #"{"tags":["unknown tag 3"]}"#, #"{"tags":["medication"]}"#,
      ])
    #expect(
      contents.warnings.count == 1 && contents.warnings.allSatisfy { $0.hasPrefix("1 reading has the tag 3") }
    )
    #expect(contents.identity.count == 4)
    #expect(transport.isExhausted)
  }

  /// The vendor's program does not ask for the clock, so it is not known whether every meter reports it.
  @Test func aTrueMetrixThatDoesNotReportItsClockIsRead() throws {
    let asked = [Self.sent("T"), Self.silence]
    let (meter, transport) = HexSession.meter(
      TrueMetrixDriver.self,
      Array(Self.identity.dropLast(Self.pair("T", "t560716081221").count)) + asked + asked + asked
        + [Self.sent("G")] + Self.comes(["g5C3355DE06901", "x1029C"]) + [Self.sent("_")])
    let contents = try TrueMetrixDriver().read(meter)
    #expect(contents.readings.count == 1 && contents.identity.clock == nil && contents.warnings.count == 1)
    #expect(transport.isExhausted)
  }

  /// In the capture, the greeting came 2.35 seconds after each of two attempts to wake the meter.
  @Test func theTrueMetrixDriverWaitsForALateGreeting() throws {
    var memory = SimulatedMemory(clock: DriverTrial.noon)
    memory.items = [SimulatedItem(at: DriverTrial.noon, .value(Quantity(105, .milligramsPerDecilitre)))]
    let dock = try SlowDock(SimulatedTrueMetrix(memory), milliseconds: 2350)
    let meter = MeterConnection(dock, model: TrueMetrixDriver.models[0]) { DriverTrial.noon.seconds }
    let contents = try TrueMetrixDriver().read(meter)
    #expect(contents.readings.map(\.measurement) == [.value(Quantity(105, .milligramsPerDecilitre))])
    #expect(dock.powerOffs == 1)
  }

  @Test func aTrueMetrixGreetingAfterTheSecondContactIsAccepted() throws {
    let dock = try SlowDock(SimulatedTrueMetrix(SimulatedMemory(clock: DriverTrial.noon)), milliseconds: 7000)
    let meter = MeterConnection(dock, model: TrueMetrixDriver.models[0]) { DriverTrial.noon.seconds }
    #expect(try TrueMetrixDriver().identify(meter).device.model == "TRUE METRIX")
    #expect(dock.powerOffs == 1)
  }

  @Test func aTrueMetrixDownloadWithAWrongChecksumIsRepeatedAndThenFails() throws {
    let download = [Self.sent("G")] + Self.comes(["g5C3355DE06901", "x10000"])
    let (meter, transport) = HexSession.meter(
      TrueMetrixDriver.self,
      Self.identity + download + [Self.silence] + download + [Self.silence] + download + [Self.sent("_")])
    #expect {
      try TrueMetrixDriver().read(meter)
    } throws: {
      "\($0)".contains("checksum")
    }
    #expect(transport.isExhausted)
  }

  @Test func anEmptyTrueMetrixIsReadAsNoReadings() throws {
    let (meter, _) = HexSession.meter(
      TrueMetrixDriver.self, Self.identity + [Self.sent("G")] + Self.comes(["x10000"]) + [Self.sent("_")])
    #expect(try TrueMetrixDriver().read(meter).readings.isEmpty)
  }

  @Test func aTrueMetrixDockWithoutAMeterFailsWithThatReason() {
    let attempt = [Self.sent("^"), Self.silence]
    let (meter, transport) = HexSession.meter(
      TrueMetrixDriver.self, [Self.silence] + attempt + attempt + attempt + [Self.sent("_")])
    #expect {
      try TrueMetrixDriver().identify(meter)
    } throws: {
      ($0 as? Failure)?.category == .unavailable
    }
    #expect(transport.isExhausted)
  }

  @Test func theClockOfATrueMetrixIsSetAsByTheVendorProgram() throws {
    let (meter, transport) = HexSession.meter(
      TrueMetrixDriver.self,
      [Self.silence] + Self.pair("^", "^*") + Self.pair("P41", "p*") + Self.pair("Q56071608122120", "q*")
        + [Self.sent("_")])
    try TrueMetrixDriver().setClock(meter, to: #require(DeviceTime(text: "2021-12-08T16:07:56")))
    #expect(transport.isExhausted)
  }

  @Test func arbitraryBytesNeverCrashTheTrueMetrixParser() {
    var random = SeededGenerator(seed: 1637)
    let bytes = Array("(^*)D9\r\n(zg5C3355DE06901)03\r\n(x1F85A)EE\r\n".utf8)
    for _ in 0..<5000 {
      var changed = random.mutated(bytes)
      while let message = TrueMetrixMessage.next(in: &changed) {
        if case .content(let content) = message { _ = TrueMetrixRecord.parse(String(content.dropFirst(3))) }
      }
    }
  }
}

/// A dock whose meter greets late. Its time advances only while the driver waits.
private final class SlowDock: Transport {
  /// The number of times that the meter was switched off, which restarts its waking.
  private(set) var powerOffs = 0

  private let host: SimulatedHost
  private let delay: Int
  private var now = 0
  private var greetsAt: Int?

  init(_ meter: SimulatedTrueMetrix, milliseconds: Int) throws {
    host = try SimulatedHost(meter, .hid)
    delay = milliseconds
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let bytes):
      let message = String(decoding: bytes.dropFirst(2), as: UTF8.self)
      if message.hasPrefix("(^)") { greetsAt = greetsAt ?? now + delay }
      if message.hasPrefix("(_)") { (powerOffs, greetsAt) = (powerOffs + 1, nil) }
      return try host.perform(exchange, within: milliseconds)
    case .receive:
      let end = now + milliseconds
      if let greetsAt, greetsAt > end {
        now = end
        throw .timedOut
      }
      now = max(now, greetsAt ?? now)
      do {
        return try host.perform(exchange, within: milliseconds)
      } catch {
        if error == .timedOut { now = end }
        throw error
      }
    default: return try host.perform(exchange, within: milliseconds)
    }
  }
}
