// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import Testing

@testable import Meters

/// Tests sessions with meters that never stop sending. The time limit uses the clock of the fake meter, so
/// that hours pass at once.
@Suite struct EndlessSessionTests {
  /// Sends reports of FreeStyle endlessly, one every few seconds.
  private final class EndlessMeter: Transport {
    private(set) var seconds = 0
    private(set) var sent: [[UInt8]] = []
    private(set) var received = 0
    private let secondsOfReport: Int
    private let report: [UInt8]

    init(_ report: [UInt8], every seconds: Int) { (self.report, secondsOfReport) = (report, seconds) }

    func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
      switch exchange {
      case .send(let bytes):
        sent.append(bytes)
        return []
      case .receive:
        // The meter is silent until the first request, and then reports that it is ready.
        if sent.isEmpty { throw .timedOut }
        received += 1
        if received == 1 { return [0x71, 0x01, 0x01] }
        seconds += secondsOfReport
        return report
      default: throw .unsupported
      }
    }
  }

  private func failure(_ meter: EndlessMeter) throws -> Failure? {
    let connection = MeterConnection(meter, model: FreeStyleNeoDriver.models[0]) { 0 }
    connection.elapsed = { .seconds(meter.seconds) }
    return #expect(throws: Failure.self) { try FreeStyleNeoDriver().read(connection) }
  }

  @Test func aMeterThatSendsOnlyKeepAlivesEndsTheSessionAfterTwoMinutes() throws {
    let meter = EndlessMeter([0x22, 0x01, 0x03], every: 5)
    let failure = try failure(meter)
    #expect(failure?.category == .protocolViolation)
    #expect(failure?.message.contains("the meter sent no new record for 2 minutes") == true)
    #expect((120...130).contains(meter.seconds), "\(meter.seconds)")
  }

  @Test func aMeterThatSendsEndlessRowsEndsTheSessionAfterAnHour() throws {
    let meter = EndlessMeter([0x60, 0x03] + Array("1\r\n".utf8), every: 100)
    let failure = try failure(meter)
    #expect(failure?.category == .protocolViolation)
    #expect(failure?.message.contains("the session with the meter did not end within an hour") == true)
    #expect((3600...3800).contains(meter.seconds), "\(meter.seconds)")
  }

  @Test func afterTheTimeLimitAFewExchangesMayCloseTheMeterSession() throws {
    let meter = EndlessMeter([0x22], every: 5)
    let connection = MeterConnection(meter, model: FreeStyleNeoDriver.models[0]) { 0 }
    try connection.send([1])
    connection.elapsed = { .seconds(121) }
    #expect(throws: TransportError.overrun(.nothingNew)) { try connection.send([2]) }
    for _ in 1...4 { try connection.send([3]) }
    #expect(throws: TransportError.overrun(.nothingNew)) { try connection.send([4]) }
    #expect(meter.sent == [[1], [3], [3], [3], [3]])
  }

  @Test func eachRecordOfAMeterExtendsTheTimeLimitByTwoMinutes() throws {
    let meter = EndlessMeter([], every: 0)
    let connection = MeterConnection(meter, model: FreeStyleNeoDriver.models[0]) { 0 }
    var seconds = 0
    connection.elapsed = { .seconds(seconds) }
    for record in 1...30 {
      seconds += 119
      try connection.send([])
      connection.reportProgress(record, of: nil)
    }
    // A record number that is repeated is not progress, so the limit is not extended.
    connection.reportProgress(30, of: nil)
    seconds += 31
    #expect(throws: TransportError.overrun(.tooLong)) { try connection.send([]) }
  }

  @Test func aReplayedSessionOfEndlessKeepAlivesStopsAtTheTimeLimit() throws {
    var session = FreeStyleTranscript()
    session.command("$serlnum?")
    var (transcript, milliseconds) = (session.transcript, 0)
    for _ in 1...20_000 {
      milliseconds += 4000
      transcript.steps.append(
        Transcript.Step(
          milliseconds: milliseconds, exchange: .receive(maxBytes: 64), result: .success([0x22, 0x01, 0x03])))
    }
    (transcript.driver, transcript.productID) = (
      FreeStyleNeoDriver.id, FreeStyleNeoDriver.models[0].productID
    )
    let (_, connection) = try transcript.replay(named: "session")
    let failure = #expect(throws: Failure.self) { try FreeStyleNeoDriver().read(connection) }
    #expect(
      failure?.message.contains("no new record for 2 minutes") == true, "\(String(describing: failure))")
  }
}
