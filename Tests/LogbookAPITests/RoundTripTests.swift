// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import SeededRandom
import Testing

/// Tests that written bodies are read back unchanged.
@Suite struct RoundTripTests {
  private static let seeds = Array(UInt64(1)...200)

  private func texts(_ batch: ReadingBatch) -> [String] {
    batch.readings.map { reading in
      var reading = reading
      let device = batch.devices[Int(reading.device.number)]
      reading.device = DeviceIndex(0)
      return "\(device) \(reading)"
    }
  }

  @Test func readingsInARequestBodyAreReadBackUnchanged() throws {
    for seed in Self.seeds {
      var random = RandomBodies(seed: seed)
      let batch = random.batch()
      let received = try WireCodec.readReadings(WireCodec.writeReadings(batch))
      #expect(received.refused.map(\.reason) == [], "seed \(seed)")
      #expect(texts(received.batch) == texts(batch), "seed \(seed)")
    }
  }

  @Test func changePagesAreReadBackUnchanged() throws {
    for seed in Self.seeds {
      var random = RandomBodies(seed: seed)
      let page = random.page()
      let read = try WireCodec.readPage(WireCodec.write(page))
      #expect(texts(read.readings) == texts(page.readings), "seed \(seed)")
      #expect(read.records == page.records, "seed \(seed)")
      #expect(read.cursor == page.cursor && read.hasMore == page.hasMore, "seed \(seed)")
    }
  }

  @Test func recordChangesAndTheirAnswersAreReadBackUnchanged() throws {
    for seed in Self.seeds {
      var random = RandomBodies(seed: seed)
      let changes = (0..<3).map { _ in random.change() }
      let received = try WireCodec.readChanges(WireCodec.writeChanges(changes.map(\.json)))
      let read = received.compactMap { if case .change(let change) = $0 { change } else { nil } }
      #expect(read == changes, "seed \(seed)")
      #expect(try changes.map { try RecordChange(json: $0.json) } == changes, "seed \(seed)")
      #expect(
        try changes.map { try RecordState(json: $0.state.json) } == changes.map(\.state), "seed \(seed)")
      let answer = RecordAnswer(
        verdicts: (0..<4).map { _ in random.verdict() }, position: random.optionalToken())
      #expect(try WireCodec.readRecordAnswer(WireCodec.write(answer), sent: 4) == answer, "seed \(seed)")
    }
  }

  @Test func everyAnswerOfTheServerIsReadBackUnchanged() throws {
    for seed in Self.seeds {
      var random = RandomBodies(seed: seed)
      let answer = ReadingAnswer(
        stored: 3, known: 4, differing: [0, 5], refused: [RefusedItem(item: 7, reason: random.text())],
        position: random.optionalToken())
      #expect(try WireCodec.readReadingAnswer(WireCodec.write(answer), sent: 8) == answer, "seed \(seed)")
      let logbook = RemoteLogbook(
        id: random.guid(), name: random.text(), isWritable: seed % 2 == 0, maxReadings: 5, maxRecords: 6,
        position: random.optionalToken(), time: seed % 3 == 0 ? nil : random.time().seconds)
      #expect(try WireCodec.readLogbook(WireCodec.write(logbook)) == logbook, "seed \(seed)")
      let digests = random.digests()
      #expect(try WireCodec.readDigests(WireCodec.write(digests)) == digests, "seed \(seed)")
      let error = ErrorBody(
        ErrorCode.allCases.randomElement(using: &random.random), random.text(), logbook: random.guid())
      #expect(try ErrorBody(error.json) == error, "seed \(seed)")
    }
  }

  @Test func theSyncRunIsReadFromTheRequestHeaders() {
    var random = RandomBodies(seed: 1)
    let run = RunStamp(
      node: random.guid(), number: 12, id: random.guid(), logbook: random.guid(), lastSeenPosition: "5.a")
    #expect(
      RunStamp(node: run.node, run: run.runText, logbook: run.logbook, lastSeenPosition: run.lastSeenPosition)
        == run)
    for text in [
      "", "1", "0 \(run.id)", "-1 \(run.id)", "1  \(run.id)", "1 \(run.id) ", "x \(run.id)",
      "1 \(run.id.uppercased())x",
    ] {
      #expect(RunStamp(node: run.node, run: text, logbook: nil, lastSeenPosition: nil) == nil, "\(text)")
    }
    #expect(RunStamp(node: "x", run: run.runText, logbook: nil, lastSeenPosition: nil) == nil)
  }

  @Test func everyNewLoginTokenIsDifferentAndIdentifiedByItsHash() {
    var random = SeededGenerator(seed: 1)
    let tokens = (0..<100).map { _ in LoginToken(using: &random) }
    #expect(Set(tokens.map(\.text)).count == 100 && Set(tokens.map(\.hash)).count == 100)
    #expect(tokens.allSatisfy { $0.text.hasPrefix("gp_") && $0.text.utf8.count == 46 && $0.hash.count == 32 })
    #expect(LoginToken(tokens[0].text).hash == tokens[0].hash)
  }
}
