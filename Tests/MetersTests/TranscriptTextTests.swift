// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import SeededRandom
import Testing

/// Tests how the text of a transcript is written and read.
@Suite struct TranscriptTextTests {
  /// A transcript with a step for each kind of exchange and each error.
  static let everything = {
    var transcript = Transcript(
      driver: "contour", vendorID: 0x1A79, productID: 0x7410, startedAt: 1_778_092_200)
    let request = ControlRequest(type: 0x80, request: 6, value: 0x100, index: 0xABCD)
    let line = LineSettings(
      baud: 38400, parity: .even, dataBits: 7, stopBits: 2, hasHardwareFlowControl: true)
    let exchanges: [(LinkOperation, Result<[UInt8], TransportError>)] = [
      (.send([0x58, 0x00, 0xFF]), .success([])),
      (.receive(maxBytes: 64), .success([0x04, 0x05])),
      (.feature(id: 5, maxBytes: 65536), .success([5, 1])),
      (.setFeature([5, 2]), .success([])),
      (.controlIn(request, maxBytes: 18), .success(Array(0..<18))),
      (.controlOut(request, []), .success([])),
      (.command([0x28, 0, 0], reads: 512), .failure(.stalled)),
      (.commandWriting([0x2A], [1, 2, 3]), .failure(.unplugged)),
      (.setLine(line), .failure(.unsupported)),
      (.setLine(LineSettings(baud: 9600)), .success([])),
      (.discard, .success([])),
      (.receive(maxBytes: 0), .failure(.timedOut)),
      (.receive(maxBytes: 1), .failure(.overflow)),
      (.receive(maxBytes: 1), .failure(.interrupted)),
      (.receive(maxBytes: 1), .failure(.failed("No such device (100 %): é = ! \n"))),
      (.receive(maxBytes: 1), .failure(.failed(""))),
      (.readValue(.serial), .success([0x31])),
      (.subscribe(.recordAccess), .success([])),
      (.recordAccess(.reportAll), .failure(.notPaired)),
      (.notification, .success([0x52, 0x2A, 6, 0, 1, 1])),
    ]
    transcript.steps = exchanges.enumerated().map { index, pair in
      Transcript.Step(milliseconds: index * 250, exchange: pair.0, result: pair.1)
    }
    return transcript
  }()

  static let head = "glucoport-transcript 1\ndriver contour\nusb 1a79:7410\nstarted 2026-05-06T18:30:00Z\n"

  private func read(_ text: String) throws -> Transcript {
    try Transcript(bytes: Array(text.utf8), named: "file")
  }

  /// The message that refuses a text; empty if the text is accepted.
  private func refusal(_ text: String) -> String {
    do {
      _ = try Transcript(bytes: Array(text.utf8), named: "file")
      return ""
    } catch {
      return error.category == .badInput ? error.message : "another category"
    }
  }

  @Test func aWrittenTranscriptIsReadBack() throws {
    #expect(try read(Self.everything.text) == Self.everything)
    var anonymised = Self.everything
    anonymised.isAnonymised = true
    #expect(try read(anonymised.text) == anonymised)
    for link in MeterLink.Kind.allCases where link != .bluetooth {
      var forced = anonymised
      forced.link = link
      #expect(try read(forced.text) == forced)
    }
  }

  @Test func aBluetoothTranscriptHasNoUSBIDs() throws {
    var transcript = Self.everything
    (transcript.driver, transcript.vendorID, transcript.productID) = ("bluetooth-glucose", 0, 0)
    transcript.link = .bluetooth
    let head =
      "glucoport-transcript 1\ndriver bluetooth-glucose\nbluetooth\nstarted 2026-05-06T18:30:00Z\n"
    #expect(transcript.head == head)
    #expect(try read(transcript.text) == transcript)
    #expect(refusal(head + "link bluetooth\n").hasPrefix("file:5: "))
    #expect(refusal(head.replacing("bluetooth\n", with: "bluetooth 1\n")).hasPrefix("file:3: "))
  }

  @Test(arguments: [
    ("record-access 0201", "no driver sends this request"), ("record-access 0103", "no driver sends"),
    ("record-access 02", "no driver sends"), ("read-value 2a19", "no driver uses this characteristic"),
    ("subscribe 2a5", "a number of 4 hexadecimal digits"),
  ])
  func aTranscriptWithARequestThatNoDriverSendsIsRefused(_ exchange: String, _ reason: String) {
    #expect(refusal(Self.head + "5 \(exchange) = -\n").contains(reason))
  }

  @Test func aTranscriptLineOfEachKindHasTheFormatInTheManual() {
    let lines = Self.everything.text.split(separator: "\n")
    #expect(Self.everything.text.hasPrefix(Self.head))
    #expect(lines[4] == "0 send 5800ff = -")
    #expect(lines[5] == "250 receive 64 = 0405")
    #expect(lines[6] == "500 feature 05 65536 = 0501")
    #expect(lines[8] == "1000 control-in 80 06 0100 abcd 18 = 000102030405060708090a0b0c0d0e0f1011")
    #expect(lines[9] == "1250 control-out 80 06 0100 abcd - = -")
    #expect(lines[10] == "1500 command 280000 512 ! stalled")
    #expect(lines[11] == "1750 command-writing 2a 010203 ! unplugged")
    #expect(lines[12] == "2000 set-line 38400 7e2 rtscts ! unsupported")
    #expect(lines[13] == "2250 set-line 9600 8n1 none = -")
    #expect(lines[18] == "3500 receive 1 ! failed No such device (100 %25): %c3%a9 = ! %0a")
    #expect(lines[20] == "4000 read-value 2a25 = 31")
    #expect(lines[21] == "4250 subscribe 2a52 = -")
    #expect(lines[22] == "4500 record-access 0101 ! not-paired")
    #expect(lines[23] == "4750 notification = 522a06000101")
  }

  @Test func commentsAndEmptyLinesOfATranscriptAreIgnored() throws {
    let text = "# constructed, é\n\n" + Self.head + "\n# a wait\n7 discard = -\n"
    let steps = [Transcript.Step(milliseconds: 7, exchange: .discard, result: .success([]))]
    #expect(try read(text).steps == steps)
  }

  @Test(arguments: [
    ("", "file:1: the transcript is truncated"),
    ("glucoport-transcript 2\n", "file:1: this is not a transcript"),
    ("date,value\n", "file:1: this is not a transcript"),
    ("glucoport-transcript 1\n", "file:1: the transcript ends"),
    ("glucoport-transcript 1\nusb 1a79:7410\n", "file:2: a line with 'driver …'"),
    ("glucoport-transcript 1\ndriver Contour\n", "file:2: invalid driver id"),
    ("glucoport-transcript 1\ndriver \n", "file:2: invalid driver id"),
    ("glucoport-transcript 1\ndriver a\nusb 1a79\n", "file:3: USB ids"),
    ("glucoport-transcript 1\ndriver a\nusb +a79:7410\n", "file:3: USB ids"),
    ("glucoport-transcript 1\ndriver a\nusb 1a79:7410\nstarted today\n", "file:4: a time such as"),
    ("glucoport-transcript 1\ndriver a\nusb 1a79:7410\nstarted 2026-02-30T10:00:00Z\n", "file:4: a time"),
  ])
  func anInvalidTranscriptHeaderIsRefusedWithItsLine(_ text: String, _ message: String) {
    #expect(refusal(text).hasPrefix(message))
  }

  @Test(arguments: [
    ("x discard = -", "milliseconds"), ("-1 discard = -", "milliseconds"),
    ("86400001 discard = -", "milliseconds"), ("5", "the name of an exchange is missing"),
    ("5 throw = -", "unknown exchange"), ("5 discard", "= or ! is missing"),
    ("5 discard -", "= or ! is missing"), ("5 discard ! broken", "unknown error"),
    ("5 discard = - -", "'-' follows the result of the exchange; write one exchange on each line"),
    ("5 discard ! stalled now", "'now' follows the result of the exchange"),
    ("5  discard = -", "the name of an exchange is missing"), ("5 send 5 = -", "two hexadecimal digits"),
    ("5 send 5G = -", "a byte has an invalid digit"), ("5 send 5A = -", "a byte has an invalid digit"),
    ("5 send = -", "two hexadecimal digits"), ("5 receive 65537 = -", "the maximum number of bytes"),
    ("5 feature 5 64 = -", "a number of 2 hexadecimal digits"),
    ("5 control-in 80 06 +100 0000 18 = -", "a number of 4"), ("5 set-line 9600 9n1 none = -", "the bits"),
    ("5 set-line 9600 8x1 none = -", "the parity"),
    ("5 set-line 9600 8n1 xon = -", "the flow control of the line is none or rtscts, not 'xon'"),
    ("5 set-line 9600 8n1", "the flow control of the line, none or rtscts, is missing"),
    ("5 set-line 4000001 8n1 none = -", "the speed"), ("5 discard ! failed %4", "% must be followed by"),
    ("5 discard ! failed %ff", "not UTF-8"), ("5 discard = -\u{7}", "invalid character"),
    ("5 discard = -\r", "invalid character"), ("anonymised ", "milliseconds"),
  ])
  func anInvalidTranscriptStepIsRefusedWithItsLine(_ line: String, _ reason: String) {
    let message = refusal(Self.head + "# first\n" + line + "\n")
    #expect(message.hasPrefix("file:6: ") && message.contains(reason), "\(message)")
  }

  @Test(arguments: [
    ("link usb\n", "file:5: a link must be one of hid, bulk, disk, cdc, cp2110, terminal"),
    ("link \n", "file:5: a link must be one of"), ("link hid\nlink hid\n", "file:6: "),
    ("anonymised\nlink hid\n", "file:6: "), ("7 discard = -\nlink hid\n", "file:6: "), ("link hid\n", ""),
  ])
  func aTranscriptStatesItsLinkOnceBeforeTheSteps(_ lines: String, _ message: String) {
    let refusal = refusal(Self.head + lines)
    #expect(message.isEmpty ? refusal.isEmpty : refusal.hasPrefix(message), "\(refusal)")
  }

  @Test func aTranscriptWithDecreasingTimesIsRefused() {
    #expect(
      refusal(Self.head + "5 discard = -\n5 discard = -\n4 discard = -\n").hasPrefix("file:7: the time"))
  }

  @Test func aTruncatedTranscriptLineIsRefusedEvenIfTheRestIsValid() {
    #expect(refusal(Self.head + "5 receive 64 = 0405").hasPrefix("file:5: the transcript is truncated"))
  }

  @Test func anEndlessTranscriptLineIsRefusedBeforeItIsParsed() {
    let long = Self.head + "5 send " + String(repeating: "0", count: 300_000) + " = -\n"
    #expect(refusal(long) == "file:5: the line is too long")
    let maxBytes = String(repeating: "ab", count: 65536)
    #expect(refusal(Self.head + "5 command-writing \(maxBytes) \(maxBytes) = -\n") == "")
    #expect(refusal(Self.head + "5 send \(maxBytes)ab = -\n").contains("at most 65536 bytes"))
  }

  @Test func randomTranscriptTextIsRefusedOrWrittenBackUnchanged() throws {
    var random = SeededGenerator(seed: 20_260_506)
    let original = Array(Self.everything.text.utf8)
    var taken = 0
    for round in 0..<4000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
      guard let transcript = read(bytes) else { continue }
      taken += 1
      let again = try Transcript(bytes: Array(transcript.text.utf8), named: "again")
      #expect(again == transcript, "round \(round) of seed 20260506")
    }
    #expect(taken > 50, "some mutations still read")
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes.remove(at: place)
    case 2: bytes.insert(Array("0 af-=!%\n".utf8).randomElement(using: &random) ?? 0, at: place)
    case 3: bytes.removeSubrange(place..<min(bytes.count, place + 12))
    default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 12)], at: place)
    }
  }

  /// The transcript; nil if it is refused.
  private func read(_ bytes: [UInt8]) -> Transcript? {
    do {
      return try Transcript(bytes: bytes, named: "file")
    } catch {
      return error.category == .badInput ? nil : Self.everything
    }
  }
}
