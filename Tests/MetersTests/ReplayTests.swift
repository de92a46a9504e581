// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import Testing

/// Tests a session that is replayed from a transcript.
struct ReplayTests {
  private static let transcript = {
    var transcript = Transcript(driver: "contour", vendorID: 0x1A79, productID: 0x7410, startedAt: 0)
    transcript.steps = [
      Transcript.Step(milliseconds: 0, exchange: .send([0x58]), result: .success([])),
      Transcript.Step(milliseconds: 12, exchange: .receive(maxBytes: 64), result: .success([0x04, 0x05])),
      Transcript.Step(milliseconds: 900, exchange: .receive(maxBytes: 64), result: .failure(.timedOut)),
    ]
    return transcript
  }()

  @Test func aReplayReturnsTheRecordedAnswersInOrder() throws {
    let replayed = ReplayedTransport(Self.transcript)
    #expect(try replayed.perform(.send([0x58]), within: 1000) == [])
    #expect(try replayed.perform(.receive(maxBytes: 1024), within: 1000) == [0x04, 0x05])
    #expect(throws: TransportError.timedOut) { try replayed.perform(.receive(maxBytes: 64), within: 1000) }
    #expect(replayed.isExhausted)
  }

  @Test func aRequestThatDiffersFromTheRecordedOneFailsTheReplay() {
    let replayed = ReplayedTransport(Self.transcript)
    #expect(throws: TransportError.failed("exchange 1 of the transcript differs from what the driver sends"))
    {
      try replayed.perform(.send([0x59]), within: 1000)
    }
  }

  @Test func aRequestAfterTheEndOfTheTranscriptFailsTheReplay() throws {
    let replayed = ReplayedTransport(Transcript(driver: "contour", vendorID: 0, productID: 0, startedAt: 0))
    #expect(throws: TransportError.failed("the transcript ends at exchange 0")) {
      try replayed.perform(.discard, within: 1000)
    }
  }
}
