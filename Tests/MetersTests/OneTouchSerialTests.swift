// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests a OneTouch Verio IQ. Every frame is constructed, with the structure of those in a recorded session.
struct OneTouchVerioIQTests {
  private static let versionRequest = [UInt8](printed: "02 09 00 03 0d 01 03 10 03")
  private static let versionAnswer = SheetFrame.frame("03 06 04 31 2e 30 33 00")
  private static let identifying: [(request: [UInt8], answer: [UInt8])] = [
    (versionRequest, versionAnswer),
    (
      [UInt8](printed: "02 0a 00 03 0b 01 02 03 2a dc"),
      [UInt8](printed: "02 11 00 03 06 54 47 4b 48 51 30 4d 39 00 03 85 84")
    ),
    ([UInt8](printed: "02 09 00 03 20 02 03 d4 92"), SheetFrame.frame("03 06 73 06 84 2e")),
    ([UInt8](printed: "02 09 00 03 27 00 03 26 71"), SheetFrame.frame("03 06 02 00")),
  ]

  private static func connection(_ session: WrittenSession) -> MeterConnection {
    MeterConnection(session.replayed, model: OneTouchVerioIQDriver.models[0], now: { 1_727_089_139 })
  }

  private static func identified() -> WrittenSession {
    var session = WrittenSession()
    for (request, answer) in identifying { session.exchange(request, answer) }
    return session
  }

  @Test func theMemoryOfAOneTouchVerioIQIsReadInPiecesOfAnySize() throws {
    var session = Self.identified()
    let normal = [UInt8](printed: "02 12 00 03 06 a5 39 26 2d 70 00 00 00 00 00 03 9a ab")
    session.add(.discard)
    session.send([UInt8](printed: "02 0a 00 03 21 00 00 03 9d d2"))
    // The meter sends noise, and then a frame byte by byte.
    session.receive([0x00, 0xFF])
    for byte in normal { session.receive([byte]) }
    session.exchange(
      [UInt8](printed: "02 0a 00 03 21 01 00 03 ad e5"),
      [UInt8](printed: "02 12 00 03 06 a5 39 26 2d 70 00 01 00 00 00 03 cb 01"))
    let contents = try OneTouchVerioIQDriver().read(Self.connection(session))
    #expect(
      contents.identity.device
        == Device(
          vendor: "LifeScan", model: "OneTouch Verio IQ", serial: "TGKHQ0M9", format: "onetouch-verio-iq"))
    #expect(contents.identity.firmware == "1.03")
    #expect(contents.readings.map(\.marks) == [.controlSolution, []])
    #expect(contents.readings.map(\.deviceTime.text) == ["2024-01-02T03:04:05", "2024-01-02T03:04:05"])
  }

  /// The requests and the layout of the answers are from a recorded session of the manufacturer's program.
  /// Numbers, times and values differ.
  @Test func aOneTouchVerioIQSessionWithTheRecordedLayoutIsRead() throws {
    var session = WrittenSession()
    // The version has 17 characters, including its date, and the serial number has eight.
    session.exchange(
      [UInt8](printed: "02 09 00 03 0d 01 03 10 03"),
      SheetFrame.frame("03 06 11 30 32 2e 30 31 2e 30 30 20 30 34 2f 31 37 2f 31 34 00"))
    session.exchange(
      [UInt8](printed: "02 0a 00 03 0b 01 02 03 2a dc"),
      SheetFrame.frame("03 06 41 42 43 44 45 46 47 48 00"))
    session.exchange([UInt8](printed: "02 09 00 03 20 02 03 d4 92"), SheetFrame.frame("03 06 00 f8 7c 1c"))
    session.exchange([UInt8](printed: "02 09 00 03 27 00 03 26 71"), SheetFrame.frame("03 06 03 00"))
    for (request, answer) in [
      ("02 0a 00 03 21 00 00 03 9d d2", "03 06 0d bd 7c 1c 5a 00 00 01 00 00"),
      ("02 0a 00 03 21 01 00 03 ad e5", "03 06 c2 8e 7c 1c 91 00 00 02 00 00"),
      ("02 0a 00 03 21 02 00 03 fd bc", "03 06 69 cc 7b 1c 5d 00 01 00 00 00"),
    ] {
      // The meter sends the STX byte separately, and then pieces of at most eight bytes.
      let frame = SheetFrame.frame(answer)
      session.add(.discard)
      session.send([UInt8](printed: request))
      session.receive([0x02])
      for start in stride(from: 1, to: frame.count, by: 8) {
        session.receive(Array(frame[start..<min(start + 8, frame.count)]))
      }
    }
    let contents = try OneTouchVerioIQDriver().read(Self.connection(session))
    #expect(contents.identity.device.serial == "ABCDEFGH")
    #expect(contents.identity.firmware == "02.01.00 04/17/14")
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [93, 145, 90])
    #expect(contents.readings.map(\.marks) == [.controlSolution, .afterMeal, .beforeMeal])
    #expect(
      contents.readings.map(\.deviceTime.text) == [
        "2015-02-21T23:08:25", "2015-02-22T12:57:38", "2015-02-22T16:15:09",
      ])
    #expect(contents.rejections.isEmpty && contents.warnings.isEmpty)
  }

  /// A recorded meter took 0.7 seconds for its first answer.
  @Test func theDriverWaitsForASlowFirstAnswerOfAVerioIQ() throws {
    let slow = SlowFirstAnswer(Self.identified().replayed, milliseconds: 1500)
    let meter = MeterConnection(slow, model: OneTouchVerioIQDriver.models[0], now: { 0 })
    #expect(try OneTouchVerioIQDriver().identify(meter).device.serial == "TGKHQ0M9")
  }

  @Test func requestsToAOneTouchVerioIQAreRepeatedAfterDamageOrSilence() throws {
    var session = WrittenSession()
    var damaged = Self.versionAnswer
    damaged[6] ^= 1
    session.exchange(Self.versionRequest, damaged)
    session.add(.discard)
    session.send(Self.versionRequest)
    session.receive(.timedOut)
    var silent = session
    for (request, answer) in Self.identifying { session.exchange(request, answer) }
    #expect(try OneTouchVerioIQDriver().identify(Self.connection(session)).count == 2)
    silent.add(.discard)
    silent.send(Self.versionRequest)
    silent.receive(.timedOut)
    let failure = #expect(throws: Failure.self) {
      try OneTouchVerioIQDriver().identify(Self.connection(silent))
    }
    #expect(failure?.message.hasPrefix("asking for the firmware's version: the meter did not answer") == true)
  }

  @Test func endlessNoiseOfAOneTouchVerioIQFailsTheRead() {
    var session = WrittenSession()
    for _ in 0..<3 {
      session.add(.discard)
      session.send(Self.versionRequest)
      for _ in 0..<5 { session.receive([UInt8](repeating: 0x55, count: 250)) }
    }
    let failure = #expect(throws: Failure.self) {
      try OneTouchVerioIQDriver().identify(Self.connection(session))
    }
    #expect(failure?.message.contains("damaged") == true)
  }

  @Test func theClockOfAOneTouchVerioIQIsSetAndReadBack() throws {
    let time = try #require(DeviceTime(text: "2024-09-23T10:58:59"))
    var session = WrittenSession()
    session.exchange(SheetFrame.frame("03 20 01 73 06 84 2e"), SheetFrame.frame("03 06"))
    session.exchange([UInt8](printed: "02 09 00 03 20 02 03 d4 92"), SheetFrame.frame("03 06 74 06 84 2e"))
    try OneTouchVerioIQDriver().setClock(Self.connection(session), to: time)
  }
}

/// Tests a OneTouch UltraEasy, from a recorded session with the manufacturer's program.
struct OneTouchUltraEasyTests {
  private static let reset = (
    request: [UInt8](printed: "02 06 08 03 c2 62"), answer: [UInt8](printed: "02 06 0c 03 06 ae")
  )
  /// The frames of the clock are constructed, because their frame numbers depend on the position in the
  /// session. All others are recorded.
  private static let numbered:
    [(request: String, acknowledged: String, answer: String, acknowledge: String)] = [
      (
        "02 09 00 05 0d 02 03 da 71", "02 06 06 03 cd 41",
        "02 1a 02 05 06 11 50 30 32 2e 30 30 2e 30 30 32 35 2f 30 35 2f 30 37 03 ab 25", "02 06 07 03 fc 72"
      ),
      (
        "02 12 03 05 0b 02 00 00 00 00 00 00 00 00 00 03 ba 6a", "02 06 05 03 9e 14",
        "02 11 01 05 06 43 47 57 41 31 45 35 43 52 03 10 94", "02 06 04 03 af 27"
      ),
      ("", "02 06 06 03 cd 41", "", "02 06 07 03 fc 72"),
      (
        "02 0a 03 05 1f 00 02 03 29 39", "02 06 05 03 9e 14", "02 0a 01 05 0f 03 00 03 fc 96",
        "02 06 04 03 af 27"
      ),
      (
        "02 0a 00 05 1f 00 00 03 ab 91", "02 06 06 03 cd 41",
        "02 10 02 05 06 95 d1 64 4e c4 00 00 00 03 43 4d", "02 06 07 03 fc 72"
      ),
      (
        "02 0a 03 05 1f 01 00 03 7b 68", "02 06 05 03 9e 14",
        "02 10 01 05 06 a5 70 64 4e 50 00 00 00 03 68 d2", "02 06 04 03 af 27"
      ),
      (
        "02 0a 00 05 1f 02 00 03 cb ff", "02 06 06 03 cd 41",
        "02 10 02 05 06 6b 18 62 4e ac 00 00 00 03 d1 c2", "02 06 07 03 fc 72"
      ),
    ]

  private static func opened() -> WrittenSession {
    var session = WrittenSession()
    session.open()
    return session
  }

  private static func recorded(_ range: Range<Int>) -> WrittenSession {
    var session = opened()
    session.exchange(numbered, range)
    return session
  }

  private static func connection(_ transport: ReplayedTransport) -> MeterConnection {
    MeterConnection(transport, model: OneTouchUltraEasyDriver.models[0], now: { 1_315_255_574 })
  }

  @Test func threeReadingsOfARecordedOneTouchUltraEasySessionAreRead() throws {
    var session = Self.recorded(0..<7)
    session.open()
    let transport = session.replayed
    let contents = try OneTouchUltraEasyDriver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(
      contents.identity.device
        == Device(
          vendor: "LifeScan", model: "OneTouch UltraEasy", serial: "CGWA1E5CR", format: "onetouch-ultraeasy"))
    #expect(contents.identity.firmware == "P02.00.00")
    #expect(contents.identity.clock?.meter.text == "2011-09-05T20:46:14")
    #expect(
      contents.readings.map(\.deviceTime.text) == [
        "2011-09-03T12:07:07", "2011-09-05T06:48:05", "2011-09-05T13:41:41",
      ])
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [172, 80, 196])
    #expect(
      contents.readings.allSatisfy { $0.measurement.unit == .milligramsPerDecilitre && $0.marks.isEmpty })
  }

  @Test func afterDamageTheOneTouchUltraEasyLinkIsResetAndTheCommandRepeated() throws {
    var session = Self.recorded(0..<1)
    // The meter's acknowledgement has the number of another frame, so the driver resets the link.
    session.receive(.timedOut)
    session.send([UInt8](printed: Self.numbered[1].request))
    session.receive([UInt8](printed: "02 06 06 03 cd 41"))
    session.open()
    // These frames have the numbers of a new link, and are recorded elsewhere in the same log.
    session.receive(.timedOut)
    session.send([UInt8](printed: "02 12 00 05 0b 02 00*9 03 19 e7"))
    session.receive([UInt8](printed: "02 06 06 03 cd 41 02 11 02 05 06 43 47 57 41 31 45 35 43 52 03 b5 5b"))
    session.send([UInt8](printed: "02 06 07 03 fc 72"))
    // The recorded request for the clock, and its answer.
    session.receive(.timedOut)
    session.send([UInt8](printed: "02 0d 03 05 20 02 00 00 00 00 03 a8 4c"))
    session.receive([UInt8](printed: "02 06 05 03 9e 14 02 0c 01 05 06 16 35 65 4e 03 7e 0e"))
    session.send([UInt8](printed: "02 06 04 03 af 27"))
    session.receive(.timedOut)
    session.send([UInt8](printed: "02 0a 00 05 1f 00 02 03") + SheetFrame.frame("05 1f 00 02").suffix(2))
    session.receive([UInt8](printed: "02 06 06 03 cd 41") + SheetFrame.frame("05 0f 00 00", link: 2))
    session.send([UInt8](printed: "02 06 07 03 fc 72"))
    session.open()
    let transport = session.replayed
    let identity = try OneTouchUltraEasyDriver().identify(Self.connection(transport))
    #expect(identity.device.serial == "CGWA1E5CR")
    #expect(identity.count == 0)
    #expect(transport.isExhausted)
  }

  @Test func aOneTouchUltraEasyAnswerForAnotherRecordIsRefused() {
    var session = Self.opened()
    for _ in 0..<3 {
      session.receive(.timedOut)
      session.send([UInt8](printed: Self.numbered[0].request))
      session.receive(
        [UInt8](printed: "02 06 06 03 cd 41") + SheetFrame.frame("05 06 04 31 2e 30 30", link: 3))
      session.open()
    }
    let transport = session.replayed
    let failure = #expect(throws: Failure.self) {
      try OneTouchUltraEasyDriver().identify(Self.connection(transport))
    }
    #expect(failure?.message.contains("damaged") == true)
    #expect(transport.isExhausted)
  }

  @Test func aSilentOneTouchUltraEasyFailsAfterThreeResets() {
    var session = WrittenSession()
    for _ in 0..<4 {
      session.add(.discard)
      session.send(Self.reset.request)
      session.receive(.timedOut)
    }
    let transport = session.replayed
    let failure = #expect(throws: Failure.self) {
      try OneTouchUltraEasyDriver().identify(Self.connection(transport))
    }
    #expect(failure?.category == .protocolViolation)
    #expect(transport.isExhausted)
  }

  @Test func afterAnInterruptionTheOneTouchUltraEasyLinkIsClosed() {
    var session = Self.recorded(0..<4)
    session.receive(.timedOut)
    session.send([UInt8](printed: Self.numbered[4].request))
    session.receive(.interrupted)
    session.open()
    let transport = session.replayed
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchUltraEasyDriver().read(Self.connection(transport))
    }
    #expect(failure?.category == .temporary)
    #expect(transport.isExhausted)
  }

  @Test func aRecordCountAboveTheMemoryOfAOneTouchUltraEasyIsRefused() {
    var session = Self.recorded(0..<3)
    session.receive(.timedOut)
    session.send([UInt8](printed: Self.numbered[3].request))
    session.receive([UInt8](printed: "02 06 05 03 9e 14") + SheetFrame.frame("05 0f 01 02", link: 1))
    session.send([UInt8](printed: "02 06 04 03 af 27"))
    session.open()
    #expect(throws: Failure.self) {
      try OneTouchUltraEasyDriver().identify(Self.connection(session.replayed))
    }
  }

  /// The request and its answer are constructed and not recorded.
  @Test func theClockOfAOneTouchUltraEasyIsSetAndTheAnswerChecked() throws {
    let time = try #require(DeviceTime(text: "2024-01-02T03:04:05"))
    var session = Self.opened()
    session.receive(.timedOut)
    session.send([UInt8](printed: "02 0d 00 05 20 01 25 7d 93 65 03 aa 2a"))
    session.receive([UInt8](printed: "02 06 06 03 cd 41 02 0c 02 05 06 25 7d 93 65 03 86 44"))
    session.send([UInt8](printed: "02 06 07 03 fc 72"))
    session.open()
    let transport = session.replayed
    try OneTouchUltraEasyDriver().setClock(Self.connection(transport), to: time)
    #expect(transport.isExhausted)
  }
}

extension WrittenSession {
  /// A request and its answer on a line without acknowledgements.
  fileprivate mutating func exchange(_ request: [UInt8], _ answer: [UInt8]) {
    add(.discard)
    send(request)
    receive(answer)
  }

  /// The reset of the link, which begins and ends each session.
  fileprivate mutating func open() {
    exchange([UInt8](printed: "02 06 08 03 c2 62"), [UInt8](printed: "02 06 0c 03 06 ae"))
  }

  fileprivate mutating func exchange(
    _ numbered: [(request: String, acknowledged: String, answer: String, acknowledge: String)],
    _ range: Range<Int>
  ) {
    for (request, acknowledged, answer, acknowledge) in numbered[range] {
      receive(.timedOut)
      send(request.isEmpty ? SheetFrame.frame("05 20 02 00 00 00 00") : [UInt8](printed: request))
      receive([UInt8](printed: acknowledged))
      receive(answer.isEmpty ? SheetFrame.frame("05 06 16 35 65 4e", link: 2) : [UInt8](printed: answer))
      send([UInt8](printed: acknowledge))
    }
  }
}
