// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests whole sessions with a Contour.
struct ContourDriverTests {
  private typealias Session = ContourTranscript

  private func read(_ session: ContourTranscript, now: Int64 = 0) throws -> MeterContents {
    let replayed = try ReplayedSession(session.transcript, ContourDriver.self, now: now)
    let contents = try ContourDriver().read(replayed.connection)
    #expect(replayed.transport.isExhausted)
    return contents
  }

  private func failure(_ session: ContourTranscript) throws -> Failure? {
    let replayed = try ReplayedSession(session.transcript, ContourDriver.self)
    let failure = #expect(throws: Failure.self) { _ = try ContourDriver().read(replayed.connection) }
    #expect(replayed.transport.isExhausted)
    return failure
  }

  /// The beginning of a session, up to the meter's first result.
  private func begun(count: Int = 1) -> ContourTranscript {
    var session = Session(opening: [
      [Session.eot] + Session.frame(1, Session.header(count: count)) + [Session.enq]
    ])
    session.exchange(Session.ack, Session.frame(1, Session.header(processing: "P", count: count)))
    session.exchange(Session.ack, Session.frame(2, "P|1"))
    return session
  }

  private func reading(
    _ value: String, _ unit: String, markers: String = "", at time: String = "201302050733"
  )
    -> String
  {
    "R|1|^^^Glucose|\(value)|\(unit)^P||\(markers)||\(time)"
  }

  @Test func anEmptyContourIsReadWithTheExchangeOfARealOne() throws {
    let tail =
      #"Bayer7390^01.26\01.05\02.06.20^7390-2902076^7393A|A=1^C=03^G=0^I=0200^R=0^S=1^U=0^V=20600^X=070070070070180130180250^Y=360126090050099050300089^Z=1|0|||||"#
    var session = Session(opening: [
      [Session.eot] + Session.printed(#"1H|\^&||FrqvFW|"# + tail + "|1|201302020341", "C0") + [Session.enq]
    ])
    session.exchange(Session.ack, Session.printed(#"1H|\^&||Jwi9Rs|"# + tail + "P|1|201302020341", "FC"))
    session.exchange(Session.ack, Session.printed("2P|1", "53"))
    session.exchange(Session.ack, Session.printed("3L|1||N", "82", isLast: true))
    session.exchange(Session.ack, [Session.eot])
    let contents = try read(session, now: 1_359_776_400)
    #expect(
      contents.identity.device
        == Device(vendor: "Ascensia", model: "Contour USB", serial: "7390-2902076", format: "contour"))
    #expect(contents.identity.clock?.meter.text == "2013-02-02T03:41:00")
    #expect(contents.identity.clock?.host == 1_359_776_400)
    #expect(contents.identity.count == 0)
    #expect(contents.readings.isEmpty && contents.rejections.isEmpty && contents.warnings.isEmpty)
  }

  @Test func aContourSessionOfAnotherProgramIsReadAndMissingResultsReported() throws {
    // The meter had 2000 results; the author of the recording removed all after the first.
    let header =
      #"H|\^&||NIylNt|Bayer7390^01.24\01.04\09.02.20^7390-2408612^7403-|A=1^C=63^G=1^I=0200^R=0^S=1^U=1^V=10600^X=070070070070180130150250^Y=360126090050099050300089^Z=1|2000|||||P|1|201708222058"#
    var session = Session(opening: [[Session.enq]])
    session.exchange(Session.ack, Session.frame(1, header))
    session.silence()
    session.exchange(Session.ack, Session.printed("2P|1", "53"))
    session.exchange(Session.ack, Session.printed("3R|1|^^^Glucose|10.9|mmol/L^P||A||201504171154", "EC"))
    session.exchange(Session.ack, Session.printed("4L|1||N", "83", isLast: true))
    session.exchange(Session.ack, [Session.eot])
    let contents = try read(session)
    #expect(contents.readings.count == 1)
    #expect(contents.readings.first?.measurement == .value(Quantity(10.9, .millimolesPerLitre)))
    #expect(contents.readings.first?.deviceTime.text == "2015-04-17T11:54:00")
    #expect(contents.readings.first?.marks == .afterMeal)
    #expect(contents.warnings == ["the meter announced 2000 results and sent 1"])
  }

  @Test func contourRecordsMayFollowASecondHeader() throws {
    // A Contour Next USB answers the first ACK with another ENQ, and NAK with the header once more.
    let header = Session.frame(1, Session.header(processing: "P"))
    var session = Session(opening: [[Session.eot] + header + [Session.enq]])
    session.exchange(Session.ack, [Session.enq])
    session.exchange(Session.ack, [Session.enq])
    session.silence()
    session.exchange(Session.nak, header)
    session.exchange(Session.ack, Session.frame(2, "P|1"))
    session.exchange(Session.ack, Session.frame(3, "L|1||N", isLast: true))
    session.exchange(Session.ack, [Session.eot])
    #expect(try read(session).identity.device.serial == "6201- C36847")
  }

  @Test func anENQByteInASeparateReportEndsTheContourHeader() throws {
    var session = Session(opening: [[Session.eot] + Session.frame(1, Session.header()), [Session.enq]])
    session.exchange(Session.ack, Session.frame(1, Session.header(processing: "P")))
    session.exchange(Session.ack, Session.frame(2, "P|1"))
    session.exchange(Session.ack, Session.frame(3, "L|1||N", isLast: true))
    session.exchange(Session.ack, [Session.eot])
    #expect(try read(session).readings.isEmpty)
  }

  @Test func aContourThatStoppedInMidSessionIsWokenByAnotherByte() throws {
    var session = ContourTranscript(opening: [])
    session.silence()
    session.silence()
    session.host("X")
    session.meter([Session.eot] + Session.frame(1, Session.header()) + [Session.enq])
    session.host([Session.eot])
    let replayed = try ReplayedSession(session.transcript, ContourDriver.self)
    #expect(try ContourDriver().identify(replayed.connection).firmware == "01.22 01.13")
    #expect(replayed.transport.isExhausted)
  }

  @Test func unitsMarksAndLimitsAreKeptAsAContourStatesThem() throws {
    let contents = try read(
      Session.whole([
        reading("102", "mg/dL", markers: "M0/T1", at: "201402052135"),
        reading("7.9", "mmol/L", markers: "B", at: "20140205213601"),
        reading("601", "mg/dL", markers: ">/A", at: "201402052137"),
        reading("19", "mg/dL", markers: "F/</T0", at: "201402052138"),
        reading("110", "mg/dL", markers: "C/M0", at: "201402052139"),
        reading("95", "mg/dL", markers: "ZC/T0", at: "201402052140"),
        "R|3|^^^Glucose|126|mg/dL^P||T0||20260125085519",
      ]))
    #expect(
      contents.readings.map(\.measurement) == [
        .value(Quantity(102, .milligramsPerDecilitre)), .value(Quantity(7.9, .millimolesPerLitre)),
        .high(above: 600, .milligramsPerDecilitre), .low(below: 20, .milligramsPerDecilitre),
        .value(Quantity(110, .milligramsPerDecilitre)), .value(Quantity(95, .milligramsPerDecilitre)),
        .value(Quantity(126, .milligramsPerDecilitre)),
      ])
    #expect(
      contents.readings.map(\.marks) == [[], .beforeMeal, .afterMeal, .fasting, .controlSolution, [], []])
    #expect(contents.readings[1].deviceTime.text == "2014-02-05T21:36:01")
    #expect(contents.readings.last?.deviceTime.text == "2026-01-25T08:55:19")
    #expect(contents.readings.allSatisfy { $0.tick == nil && $0.kind == .smbg })
    #expect(contents.skipped == ["time since a meal": 1])
  }

  @Test func withoutAStatedRangeTheLimitsOfAContourAreUnknown() throws {
    let contents = try read(
      Session.whole(
        [reading("0.5", "mmol/L", markers: "<"), reading("33.4", "mmol/L", markers: ">")], settings: "A=1"))
    #expect(
      contents.readings.map(\.measurement) == [
        .low(below: nil, .millimolesPerLitre), .high(above: nil, .millimolesPerLitre),
      ])
  }

  @Test func theDiaryOfAContourBecomesRecords() throws {
    let contents = try read(
      Session.whole([
        "R|12|^^^Carb|8|3^||||201404021053", "R|13|^^^Carb|2|2^||||201404021054",
        "R|14|^^^Carb|45|1^||||201404021055", "R|15|^^^Carb|9|0^||||201404021056",
        "R|16|^^^Insulin|80|1^||||201404021057", "R|17|^^^Insulin|125|2^||||201404021058",
        "R|18|^^^Insulin|5|0^||||201404021059", "R|19|^^^Weight|5|0^||||201404021059",
        reading("102", "mg/dL", markers: "A/S/I/X", at: "201404021100"),
      ]))
    #expect(
      contents.records.map(\.fields.json) == [
        #"{"servings":8,"text":"choices"}"#, #"{"servings":2,"text":"points"}"#, #"{"carbs":45}"#,
        #"{"text":"9, in a unit that the meter does not state"}"#, #"{"subtype":"rapid","units":8}"#,
        #"{"subtype":"long","units":12.5}"#, #"{"units":0.5}"#, #"{"tags":["illness","stress"]}"#, "{}",
      ])
    #expect(contents.records.map(\.kind).suffix(3) == [.insulin, .note, .exercise])
    #expect(contents.skipped == ["result of unknown type": 1])
  }

  @Test func contourReadingsAfterTheClockWasSetBackAreMarked() throws {
    let times = ["201404021000", "201404021100", "201404021030", "201404021059", "201404021101"]
    let contents = try read(Session.whole(times.map { reading("100", "mg/dL", at: $0) }))
    #expect(contents.readings.map(\.marks) == [[], [], .clockSetBack, .clockSetBack, []])
  }

  @Test func anInvalidContourResultIsRejectedWithItsNumber() throws {
    let contents = try read(
      Session.whole([
        reading("100", "mg/dL"), reading("100", "mg/dL", at: "201302310733"), reading("1o0", "mg/dL"),
        reading("100", "g/L"), "R|5|^^^Carb||1^||||201404021053", "R|6|^^^Insulin|x|1^||||201404021053", "R",
      ]))
    #expect(contents.readings.count == 1)
    #expect(contents.rejections.map(\.line) == [2, 3, 4, 5, 6, 7])
    #expect(contents.rejections.map(\.reason)[1] == "the value is not a number")
    #expect(contents.rejections.last?.source == "R")
  }

  @Test func aDamagedContourFrameIsRequestedAgain() throws {
    var session = begun()
    let record = Session.frame(3, reading("100", "mg/dL"))
    session.exchange(Session.ack, Session.printed("3R|1|^^^Glucose|100|mg/dL^P||||201302050733", "00"))
    session.silence()
    session.host([Session.nak])
    session.raw(Array("ABC".utf8))
    session.silence()
    session.exchange(Session.nak, record)
    session.exchange(Session.ack, record)
    session.exchange(Session.ack, Session.frame(4, "L|1||N", isLast: true))
    session.exchange(Session.ack, [Session.eot])
    #expect(try read(session).readings.count == 1)
  }

  @Test func aContourFrameThatStaysDamagedEndsTheSession() throws {
    var session = begun()
    session.host([Session.ack])
    for _ in 0..<6 {
      session.meter(Session.printed("3R|1|", "00"))
      session.silence()
      session.host([Session.nak])
    }
    session.meter(Session.printed("3R|1|", "00"))
    session.host([Session.eot])
    let failure = try failure(session)
    #expect(failure?.category == .protocolViolation)
    #expect(failure?.message.contains("it came damaged 6 times") == true)
  }

  @Test func aContourMemoryThatEndsEarlyOrWithoutItsEndRecordFailsTheRead() throws {
    var early = begun()
    early.exchange(Session.ack, [Session.eot])
    early.host([Session.eot])
    #expect(try failure(early)?.message.contains("before its last record") == true)
    var aborted = begun()
    aborted.exchange(Session.ack, Session.frame(3, "L|1||E", isLast: true))
    aborted.host([Session.eot])
    #expect(try failure(aborted)?.message.contains("before it was whole") == true)
  }

  @Test func aMissingContourFrameEndsTheSession() throws {
    var session = begun()
    session.exchange(Session.ack, Session.frame(4, reading("100", "mg/dL")))
    session.host([Session.eot])
    #expect(try failure(session)?.message == "reading frame 3: the meter left a frame out; retry")
  }

  @Test func aContourThatFallsSilentOrIsUnpluggedIsReported() throws {
    var silent = begun()
    silent.host([Session.ack])
    silent.silence()
    silent.silence()
    silent.host([Session.nak])
    silent.silence()
    silent.host([Session.eot])
    #expect(try failure(silent)?.message.contains("the meter did not answer in time") == true)
    var unplugged = begun()
    unplugged.host([Session.ack])
    unplugged.fail(.unplugged)
    unplugged.host([Session.eot])
    #expect(try failure(unplugged)?.category == .unavailable)
  }

  @Test func aContourThatNeverAnswersFailsTheRead() throws {
    var session = ContourTranscript(opening: [])
    session.silence()
    session.silence()
    session.host("X")
    session.silence()
    session.silence()
    session.host([Session.ack])
    session.silence()
    session.silence()
    session.host([Session.eot])
    #expect(try failure(session)?.message.contains("no header was received") == true)
  }

  @Test func aContourThatIsSilentAfterItsLastRecordIsReadSuccessfully() throws {
    var session = begun(count: 0)
    session.exchange(Session.ack, Session.frame(3, "L|1||N", isLast: true))
    session.host([Session.ack])
    session.silence()
    session.exchange(Session.nak, [Session.eot])
    #expect(try read(session).warnings.isEmpty)
  }

  @Test func theClockOfAContourIsSetByTheDocumentedCommands() throws {
    var session = Session(opening: [[Session.eot] + Session.frame(1, Session.header()) + [Session.enq]])
    // The meter answers the first NAK with a header that it had already queued, so the driver sends a second
    // NAK.
    session.exchange(Session.nak, Session.frame(1, Session.header()))
    session.exchange(Session.nak, [Session.eot])
    session.exchange(Session.enq, [Session.ack])
    for text in ["W|", "D|", "190626|\r", "W|", "T|", "1103|\r"] {
      session.host(text)
      session.meter([Session.ack])
    }
    session.host([Session.eot])
    let replayed = try ReplayedSession(session.transcript, ContourDriver.self)
    let time = try #require(DeviceTime(text: "2019-06-26T11:03:20"))
    try ContourDriver().setClock(replayed.connection, to: time)
    #expect(replayed.transport.isExhausted)
  }

  @Test func theClockOfAContourPairedWithAPumpIsNotSet() throws {
    var session = Session(opening: [[Session.eot] + Session.frame(1, Session.header()) + [Session.enq]])
    session.exchange(Session.nak, [Session.eot])
    session.exchange(Session.enq, [Session.ack])
    for (text, answer) in [("W|", Session.ack), ("D|", Session.ack), ("190626|\r", Session.nak)] {
      session.host(text)
      session.meter([answer])
    }
    session.host([Session.eot])
    let replayed = try ReplayedSession(session.transcript, ContourDriver.self)
    let time = try #require(DeviceTime(text: "2019-06-26T11:03:20"))
    let failure = #expect(throws: Failure.self) {
      try ContourDriver().setClock(replayed.connection, to: time)
    }
    #expect(failure?.message.contains("a paired pump sets it") == true)
    let old = try #require(DeviceTime(text: "1999-12-31"))
    #expect(throws: Failure.self) { try ContourDriver().setClock(replayed.connection, to: old) }
  }

  @Test func theContourDriverNeverCrashesOnDamagedReports() throws {
    var generator = SeededGenerator(seed: 7)
    let session = Session.whole((0..<12).map { _ in reading("100", "mg/dL", markers: "A/S") })
    for _ in 0..<200 {
      var changed = session.transcript
      let index = Int.random(in: 0..<changed.steps.count, using: &generator)
      if case .success(var bytes) = changed.steps[index].result, !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: 0...255, using: &generator)
        changed.steps[index].result = .success(bytes)
      }
      let replayed = try ReplayedSession(changed, ContourDriver.self)
      do {
        #expect(try ContourDriver().read(replayed.connection).readings.count <= 12)
      } catch is Failure {
        continue
      }
    }
  }
}
