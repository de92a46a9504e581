// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests that personal data is removed from recorded sessions with a Contour.
@Suite struct ContourAnonymityTests {
  private static let records = [
    "R|1|^^^Glucose|112|mg/dL^P||B||202605040712", "R|2|^^^Insulin|45|1^||||202605041345",
    "R|3|^^^Glucose|20|mg/dL^P||<||202605051530", "R|4|^^^Glucose|6.1|mmol/L^P||A||202605051830",
    "R|5|^^^Carb|4|2^||||202605051831",
  ]

  private func read(_ transcript: Transcript) throws -> MeterContents {
    let replayed = try ReplayedSession(transcript, ContourDriver.self)
    let contents = try ContourDriver().read(replayed.connection)
    #expect(replayed.transport.isExhausted)
    return contents
  }

  private func session(_ records: [String], serial: String = "6201- C36847^0000-") -> Transcript {
    let settings = "A=1^C=41^U=0^V=20600"
    var session = ContourTranscript(opening: [])
    let header = ContourTranscript.header(settings, count: records.count).replacing(
      "6201- C36847^0000-", with: serial)
    session.meter([ContourTranscript.eot] + ContourTranscript.frame(1, header) + [ContourTranscript.enq])
    session.exchange(ContourTranscript.ack, ContourTranscript.frame(1, header))
    session.exchange(ContourTranscript.ack, ContourTranscript.frame(2, "P|1"))
    for (index, record) in records.enumerated() {
      session.exchange(ContourTranscript.ack, ContourTranscript.frame(3 + index, record))
    }
    session.exchange(
      ContourTranscript.ack, ContourTranscript.frame(3 + records.count, "L|1||N", isLast: true))
    session.exchange(ContourTranscript.ack, [ContourTranscript.eot])
    return session.transcript
  }

  @Test func anAnonymisedContourSessionIsReadWithItsTimesAndMarks() throws {
    let before = try read(session(Self.records))
    let after = try read(try ContourDriver.anonymise(session(Self.records)))
    #expect(after.identity.device.serial == "6201- 000000")
    #expect(before.readings.count == 3 && after.readings.count == 3)
    #expect(after.readings.map(\.deviceTime) == before.readings.map(\.deviceTime))
    #expect(after.readings.map(\.marks) == before.readings.map(\.marks))
    #expect(after.readings.map(\.measurement.unit) == before.readings.map(\.measurement.unit))
    #expect(after.readings.map(\.measurement) != before.readings.map(\.measurement))
    #expect(after.records.map(\.deviceTime) == before.records.map(\.deviceTime))
    #expect(after.rejections == before.rejections)
  }

  @Test func anonymisedContourSessionsThatDifferedOnlyInPersonalDataAreEqual() throws {
    let others = [
      "R|1|^^^Glucose|398|mg/dL^P||B||202605040712", "R|2|^^^Insulin|12|1^||||202605041345",
      "R|3|^^^Glucose|20|mg/dL^P||<||202605051530", "R|4|^^^Glucose|9.9|mmol/L^P||A||202605051830",
      "R|5|^^^Carb|7|2^||||202605051831",
    ]
    #expect(
      try ContourDriver.anonymise(session(Self.records))
        == ContourDriver.anonymise(session(others, serial: "6201- X99999^0000-")))
  }

  @Test func anonymisingAContourSessionRemovesBytesAfterAReportPayload() throws {
    var leaking = session(Self.records)
    let last = try #require(leaking.steps.lastIndex { $0.exchange == .receive(maxBytes: 64) })
    var report = try leaking.steps[last].result.get()
    report.replaceSubrange(60..<64, with: Array("112|".utf8))
    leaking.steps[last].result = .success(report)
    #expect(try ContourDriver.anonymise(leaking) == ContourDriver.anonymise(session(Self.records)))
  }

  @Test func aContourSessionWithAPatientNameCannotBeAnonymised() {
    var session = ContourTranscript(opening: [])
    session.exchange(ContourTranscript.ack, ContourTranscript.frame(2, "P|1||||Smith^Anna"))
    #expect(throws: Failure.self) { try ContourDriver.anonymise(session.transcript) }
  }

  @Test(arguments: ["Q|1", "R|1", "X", "H|1"]) func aContourSessionWithAnUnknownRecordTypeCannotBeAnonymised(
    _ record: String
  ) {
    var session = ContourTranscript(opening: [])
    session.exchange(ContourTranscript.ack, ContourTranscript.frame(2, record))
    #expect(throws: Failure.self) { try ContourDriver.anonymise(session.transcript) }
  }

  @Test func aContourSessionWithADamagedFrameCannotBeAnonymised() {
    var frame = ContourTranscript.frame(3, Self.records[0])
    frame[20] ^= 1
    var session = ContourTranscript(opening: [])
    session.exchange(ContourTranscript.ack, frame)
    #expect(throws: Failure.self) { try ContourDriver.anonymise(session.transcript) }
    var other = ContourTranscript(opening: [])
    other.raw([1, 2, 3])
    #expect(throws: Failure.self) { try ContourDriver.anonymise(other.transcript) }
  }

  @Test func aContourSessionWithACommandToTheMeterCannotBeAnonymised() {
    var session = ContourTranscript(opening: [])
    session.host("W|D|260506|\r")
    #expect(throws: Failure.self) { try ContourDriver.anonymise(session.transcript) }
  }

  @Test func anonymisingAnyContourTranscriptNeverCrashes() {
    var random = SeededGenerator(seed: 7)
    let original = session(Self.records)
    for _ in 0..<500 {
      var broken = original
      let step = Int.random(in: 0..<broken.steps.count, using: &random)
      guard case .success(var report) = broken.steps[step].result, !report.isEmpty else { continue }
      report[Int.random(in: 0..<report.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      broken.steps[step].result = .success(Array(report.prefix(Int.random(in: 0...64, using: &random))))
      _ = Result { try ContourDriver.anonymise(broken) }
    }
  }
}
