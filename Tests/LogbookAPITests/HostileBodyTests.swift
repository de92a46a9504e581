// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Tests that invalid bodies are refused, and never crash or block a reader.
@Suite(.timeLimit(.minutes(10))) struct HostileBodyTests {
  /// Whether a reader accepts the bytes; the reader must return in any case.
  private func takes(_ bytes: [UInt8], _ read: ([UInt8]) throws -> Void) -> Bool {
    do {
      try read(bytes)
      return true
    } catch {
      return false
    }
  }

  @Test func truncatedRequestBodiesAreRefused() throws {
    for seed in UInt64(1)...4 {
      var random = RandomBodies(seed: seed)
      for body in random.bodies() {
        #expect(takes(body.bytes, body.read), "\(body.name), seed \(seed)")
        // Short bodies are truncated at every length, long ones only at about 150, so that the test takes
        // only seconds.
        for length in stride(from: 0, to: body.bytes.count, by: 1 + body.bytes.count / 150) {
          #expect(
            !takes(Array(body.bytes[..<length]), body.read), "\(body.name), seed \(seed), \(length) bytes")
        }
      }
    }
  }

  @Test func mutatedRequestBodiesNeverCrashOrBlockTheReader() {
    for seed in UInt64(1)...30 {
      var random = RandomBodies(seed: seed)
      for body in random.bodies() where !body.bytes.isEmpty {
        for _ in 0..<10 {
          var bytes = body.bytes
          for _ in 0..<Int.random(in: 1...4, using: &random.random) {
            let place = Int.random(in: 0..<bytes.count, using: &random.random)
            switch Int.random(in: 0..<4, using: &random.random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random.random)
            case 1:
              bytes.insert(Array("{}[],:\"\\0-eu".utf8).randomElement(using: &random.random) ?? 0, at: place)
            case 2 where bytes.count > 1: bytes.remove(at: place)
            default: bytes.swapAt(place, bytes.count - 1)
            }
          }
          _ = takes(bytes, body.read)
        }
      }
    }
  }

  @Test(arguments: [
    "", " ", "null", "7", "\"\"", "[]", "{\"series\"", "{\"series\":}", "{\"series\":[],}", "{,}",
    "{\"series\":[]}x",
    "{\"series\":[]}{}", "\u{FEFF}{\"series\":[]}", "{\"series\":[],\"series\":[]}", "{series:[]}",
    "{'series':[]}",
    "{\"a\":01e,\"series\":[]}", "{\"a\":+1,\"series\":[]}", "{\"a\":.5,\"series\":[]}",
    "{\"a\":nul,\"series\":[]}",
    "{\"a\":1e400,\"series\":[]}", "{\"a\":\"\\ud800\",\"series\":[]}",
    "{\"a\":\"\\udc00\\ud800\",\"series\":[]}",
    "{\"a\":\"\\ud800\\u0041\",\"series\":[]}", "{\"a\":\"\\x\",\"series\":[]}",
    "{\"a\":\"\\u12\",\"series\":[]}",
    "{\"a\":\"\u{1}\",\"series\":[]}", "{\"a\":NaN,\"series\":[]}", "{\"a\":Infinity,\"series\":[]}",
    "{\"a\":tru,\"series\":[]}", "{\"a\":1 2,\"series\":[]}", "{\"a\":[1,],\"series\":[]}",
    "{\"series\":[{\"device\":{},\"kind\":\"cbg\",\"position_kind\":\"time\"}]}",
    "{\"series\":[{\"kind\":\"cbg\",\"position_kind\":\"time\",\"readings\":[]}]}",
    "{\"series\":[{\"device\":{},\"kind\":\"basal\",\"position_kind\":\"time\",\"readings\":[]}]}",
    "{\"series\":[{\"device\":{\"serial\":\"\\u0000\"},\"kind\":\"cbg\",\"position_kind\":\"time\",\"readings\":[]}]}",
  ])
  func invalidReadingBodiesAreRefused(_ text: String) {
    #expect(!takes(Array(text.utf8)) { _ = try WireCodec.readReadings($0) })
  }

  @Test func aBodyNestedTooDeepIsRefused() {
    for depth in [33, 1000, 200_000] {
      for sign in ["[", "{\"a\":", "{\"series\":[", "{\"records\":[{\"state\":{\"fields\":{\"a\":["] {
        let body = Array(String(repeating: sign, count: depth).utf8)
        #expect(!takes(body) { _ = try WireCodec.readReadings($0) })
        #expect(!takes(body) { _ = try WireCodec.readChanges($0) })
        #expect(!takes(body) { _ = try WireCodec.readPage($0) })
      }
    }
    let allowed =
      "{\"a\":" + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + ",\"series\":[]}"
    #expect(
      takes(Array(allowed.utf8)) { _ = try WireCodec.readReadings($0) }, "unknown members are passed over")
  }

  @Test(
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]]
  )
  func aBodyWithStringsThatAreNotUTF8IsRefused(_ bytes: [UInt8]) {
    for escape in ["", "\\n"] {
      let body = Array("{\"error\":\"busy\",\"message\":\"\(escape)".utf8) + bytes + Array("\"}".utf8)
      #expect(!takes(body) { _ = try ErrorBody($0) })
    }
  }

  @Test(arguments: [
    "[99999999999999999999,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",1e5,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",-1,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",null,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\",\"low\",null]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"g/L\"]",
    "[0,0,0,\"1970-01-01T00:00:01\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,1,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,0,-1,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,0,4294967296,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0.5,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,0,0,\"1970-02-30T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"+24:00\",\"stated\",5,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"guessed\",5,\"mg/dL\"]",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\",null,null,[\"odd\"]]",
    "{}", "null", "[]", "[[[[]]]]", "\"\\u0000\"",
    "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\",]",
  ])
  func anInvalidReadingIsRefusedAndTheOthersAreAccepted(_ row: String) throws {
    let good = "[7,0,0,\"1970-01-01T00:00:07\",\"Z\",\"stated\",5,\"mg/dL\"]"
    let body =
      "{\"series\":[{\"device\":{},\"kind\":\"cbg\",\"position_kind\":\"time\",\"readings\":[\(good),\(row),\(good)]}]}"
    // After a row that is not JSON, nothing can be parsed.
    guard !row.hasSuffix(",]") else {
      return #expect(!takes(Array(body.utf8)) { _ = try WireCodec.readReadings($0) })
    }
    let received = try WireCodec.readReadings(Array(body.utf8))
    #expect(received.batch.readings.count == 2 && received.refused.map(\.item) == [1] && received.count == 3)
    #expect(received.items(of: [0, 1]) == [0, 2])
  }

  @Test func aRecordChangeWithAWrongDigestIsRefused() throws {
    var random = RandomBodies(seed: 5)
    let change = random.change()
    let other = change.json.replacing(change.digest, with: String(repeating: "0", count: 64))
    let received = try WireCodec.readChanges(WireCodec.writeChanges([other, change.json]))
    guard case .refused(let reason) = received[0], case .change = received[1] else {
      Issue.record("\(received)")
      return
    }
    #expect(reason.contains("digest"))
  }

  @Test func aRecordStateThatIsTooLargeIsRefused() throws {
    var random = RandomBodies(seed: 6)
    var state = random.state()
    state.isDeleted = false
    // The text is six times as long in JSON, which escapes each of its characters.
    state.fields = RecordFields([
      "text": .text(String(repeating: "\u{7F}", count: RecordState.maxBytes / 5))
    ])
    let change = RecordChange(guid: random.guid(), node: random.guid(), version: 1, base: nil, state: state)
    let received = try WireCodec.readChanges(WireCodec.writeChanges([change.json]))
    guard case .refused = received[0] else {
      Issue.record("it was taken")
      return
    }
  }

  @Test func anAnswerThatDoesNotAccountForEverySentItemIsRefused() {
    let answer = WireCodec.write(ReadingAnswer(stored: 1, known: 1))
    #expect(takes(answer) { _ = try WireCodec.readReadingAnswer($0, sent: 2) })
    #expect(!takes(answer) { _ = try WireCodec.readReadingAnswer($0, sent: 3) })
    let place = WireCodec.write(ReadingAnswer(stored: 2, known: 0, differing: [2]))
    #expect(!takes(place) { _ = try WireCodec.readReadingAnswer($0, sent: 2) })
    let records = WireCodec.write(RecordAnswer(verdicts: [.refused(reason: "")]))
    #expect(!takes(records) { _ = try WireCodec.readRecordAnswer($0, sent: 2) })
    let negative = "{\"stored\":-1,\"known\":3,\"differing\":[],\"refused\":[]}"
    #expect(!takes(Array(negative.utf8)) { _ = try WireCodec.readReadingAnswer($0, sent: 2) })
    let huge = "{\"stored\":999999999999999999,\"known\":999999999999999999}"
    #expect(!takes(Array(huge.utf8)) { _ = try WireCodec.readReadingAnswer($0, sent: 2) })
  }

  private static let state =
    #"{"kind":"note","device_time":"2026-05-01T08:00:00","utc_offset":"Z","offset_source":"stated","fields":{"text":"a"},"deleted":false}"#
  private static let record =
    #"{"guid":"00000000-0000-4000-8000-000000000001","revision":"r1","state":\#(state)}"#

  @Test(arguments: [
    (#"{"records":[],"more":false}"#, true), (#"{"records":[\#(record)],"more":true}"#, true),
    (#"{"records":[\#(record)],"more":false,"future":[1]}"#, true),
    // An empty page with more to follow is refused, since the next page could not be requested.
    (#"{"records":[],"more":true}"#, false),
    (#"{"records":[\#(record)]}"#, false),
    (#"{"records":[{"revision":"r1","state":\#(state)}],"more":false}"#, false),
    (#"{"records":[{"guid":"00000000-0000-4000-8000-000000000001","state":\#(state)}],"more":false}"#, false),
    (#"{"records":[{"guid":"00000000-0000-4000-8000-000000000001","revision":"r1"}],"more":false}"#, false),
    (
      #"{"records":[\#(record.replacing("\"deleted\":false", with: "\"deleted\":true"))],"more":false}"#,
      false
    ),
  ]) func anIncompletePageOfRecordsIsRefused(_ body: String, _ isRead: Bool) {
    #expect(takes(Array(body.utf8)) { _ = try WireCodec.readRecordPage($0) } == isRead)
  }

  @Test(arguments: [
    (#"{"cursor":"c","more":false}"#, true), (#"{"series":[],"records":[\#(record)],"cursor":"c"}"#, true),
    (#"{"series":[],"records":[]}"#, false), (#"{"cursor":null}"#, false),
    (#"{"series":[{"device":{},"kind":"cbg","position_kind":"time","readings":[[]]}],"cursor":"c"}"#, false),
  ]) func aPageOfChangesWithoutCursorOrWithInvalidReadingsIsRefused(_ body: String, _ isRead: Bool) {
    #expect(takes(Array(body.utf8)) { _ = try WireCodec.readPage($0) } == isRead)
  }

  @Test(arguments: [
    (#"{"stored":1,"known":0,"refused":[{"item":1,"reason":"a"}]}"#, true),
    (#"{"stored":1,"known":0,"refused":[{"reason":"a"}]}"#, false),
    (#"{"stored":1,"known":0,"refused":[{"item":2,"reason":"a"}]}"#, false),
    (#"{"stored":1,"known":0,"refused":[{"item":-1,"reason":"a"}]}"#, false),
    (#"{"stored":1,"known":0,"refused":[{"item":0.5,"reason":"a"}]}"#, false),
  ]) func anAnswerThatRefusesAnItemThatWasNotSentIsRefused(_ body: String, _ isRead: Bool) {
    #expect(takes(Array(body.utf8)) { _ = try WireCodec.readReadingAnswer($0, sent: 2) } == isRead)
  }

  @Test func aBodyWithMoreThanTenThousandSeriesIsRefused() {
    func body(_ count: Int) -> [UInt8] {
      let series = #"{"device":{},"kind":"cbg","position_kind":"time","readings":[]}"#
      return Array("{\"series\":[\(repeatElement(series, count: count).joined(separator: ","))]}".utf8)
    }
    #expect(takes(body(10_000)) { _ = try WireCodec.readReadings($0) })
    #expect(!takes(body(10_001)) { _ = try WireCodec.readReadings($0) })
  }

  @Test func aReadingWithTooManyOrUnknownMarksIsRefused() throws {
    func refusal(_ marks: [String]) throws -> String? {
      let names = marks.map { "\"\($0)\"" }.joined(separator: ",")
      let row = "[0,0,0,\"1970-01-01T00:00:00\",\"Z\",\"stated\",5,\"mg/dL\",null,null,[\(names)]]"
      let body = #"{"series":[{"device":{},"kind":"cbg","position_kind":"time","readings":[\#(row)]}]}"#
      return try WireCodec.readReadings(Array(body.utf8)).refused.first?.reason
    }
    let names = ReadingMarks.named.map(\.name)
    #expect(try refusal([names[0]]) == nil)
    #expect(try refusal(names + [names[0]])?.contains("too many marks") == true)
    #expect(try refusal(["before breakfast"])?.contains("unknown mark") == true)
  }
}
