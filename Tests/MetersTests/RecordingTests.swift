// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import Testing

/// Tests that a transport is recorded while a driver uses it.
@Suite struct RecordingTests {
  private struct FullDisk: Error, CustomStringConvertible { let description = "the disk is full" }

  /// Stores the recorded steps, with a clock that advances by 10 ms each time that it is read.
  private final class Notes {
    var steps: [Transcript.Step] = []
    var milliseconds = 0

    func tick() -> Int {
      milliseconds += 10
      return milliseconds
    }
  }

  private func recording(of transcript: Transcript, _ notes: Notes) -> RecordingTransport {
    RecordingTransport(ReplayedTransport(transcript), milliseconds: notes.tick) { notes.steps.append($0) }
  }

  @Test func aRecordedTranscriptEqualsTheMeterSession() {
    let notes = Notes()
    let recorded = recording(of: TranscriptTextTests.everything, notes)
    for step in TranscriptTextTests.everything.steps {
      #expect(
        Result { () throws(TransportError) in try recorded.perform(step.exchange, within: 100) }
          == step.result)
    }
    #expect(notes.steps.map(\.exchange) == TranscriptTextTests.everything.steps.map(\.exchange))
    #expect(notes.steps.map(\.result) == TranscriptTextTests.everything.steps.map(\.result))
    #expect(notes.steps.map(\.milliseconds) == notes.steps.indices.map { $0 * 10 + 10 })
  }

  @Test func aFailedMeterExchangeIsRecordedBeforeTheSessionEnds() {
    let notes = Notes()
    let empty = Transcript(driver: "contour", vendorID: 0, productID: 0, startedAt: 0)
    let recorded = recording(of: empty, notes)
    #expect(throws: TransportError.failed("the transcript ends at exchange 0")) {
      try recorded.perform(.discard, within: 100)
    }
    #expect(notes.steps.map(\.result) == [.failure(.failed("the transcript ends at exchange 0"))])
  }

  @Test func aTranscriptThatCannotBeWrittenEndsTheMeterSession() {
    let recorded = RecordingTransport(
      ReplayedTransport(TranscriptTextTests.everything), milliseconds: { 0 }, note: { _ in throw FullDisk() })
    #expect(throws: TransportError.failed("the transcript cannot be written: the disk is full")) {
      try recorded.perform(.send([0x58, 0x00, 0xFF]), within: 100)
    }
  }

  @Test func aDriverThatCannotAnonymiseRefusesAnAnonymousRecording() throws {
    let transcript = TranscriptTextTests.everything
    do {
      _ = try transcript.anonymised(by: SilentDriver.self)
      Issue.record("it was anonymised")
    } catch let failure as Failure {
      #expect(failure.category == .usage)
      #expect(failure.message.contains("'silent' cannot anonymise"))
    }
  }

  @Test func anAnonymisedTranscriptIsMarkedAsAnonymised() throws {
    let transcript = try TranscriptTextTests.everything.anonymised(by: ForgettingDriver.self)
    #expect(transcript.isAnonymised)
    #expect(transcript.steps == [])
    #expect(transcript.text.hasSuffix("Z\nanonymised\n"))
  }
}

/// A driver that sends no requests.
private struct SilentDriver: MeterDriver {
  static let id = "silent"
  static let name = "Silent"
  static let models: [MeterModel] = []

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    MeterIdentity(device: Device(vendor: "", model: "Silent", format: Self.id))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents { MeterContents(try identify(meter)) }
}

/// A driver that anonymises a transcript by removing everything.
private struct ForgettingDriver: AnonymisingDriver {
  static let id = "forgetting"
  static let name = "Forgetting"
  static let models: [MeterModel] = []

  static func anonymise(_ transcript: Transcript) -> Transcript {
    var transcript = transcript
    transcript.steps = []
    return transcript
  }

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    MeterIdentity(device: Device(vendor: "", model: "Forgetting", format: Self.id))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents { MeterContents(try identify(meter)) }
}
