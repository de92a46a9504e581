// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests reports, replies and tables of FreeStyle meters.
struct FreeStyleReplyTests {
  /// Messages from meters or from tests of other programs, with their stated checksums.
  @Test(arguments: [
    ("2.1.2\r\n", "00000108"), ("DB Record Number = 226988\r\n", "00000765"), ("1.40\r\n0\r\n", "00000121"),
    ("JAGT241-U6242\r\n", "00000324"), ("8,27,14\r\n", "00000175"), ("13,22\r\n", "0000010B"),
    ("1\r\n", "00000048"), ("0\r\n", "00000047"), ("255,255\r\n", "0000017B"),
    ("255,255,255\r\n", "00000243"),
    ("1,70,160,7,22,14,11,26,11\r\n", "000004D2"), ("\r\n", "00000017"), ("bar\r\n", "0000014C"),
    ("", "00000000"),
  ])
  func theChecksumOfARealFreeStyleReplyIsAccepted(_ message: String, sum: String) {
    let bytes = Array("\(message)CKSM:\(sum)\r\nCMD OK\r\n".utf8)
    #expect(FreeStyleReply(bytes) == .done(Array(message.utf8)))
  }

  @Test func theFreeStyleChecksumIsComputedOverBytesNotCharacters() {
    // A text in Latin-1, as on an InsuLinx.
    let message: [UInt8] = [0x6D, 0xE9, 0x0D, 0x0A]
    #expect(FreeStyleReply(FreeStyleTranscript.reply(message)) == .done(message))
  }

  @Test(arguments: [
    "CKSM:00000109", "CKSM:108", "CKSM:0000010g", "CKSM:00000108 ", "XKSM:00000108", "00000108",
  ])
  func aFreeStyleReplyWithAWrongChecksumIsReportedAsDamaged(_ sum: String) {
    #expect(FreeStyleReply(Array("2.1.2\r\n\(sum)\r\nCMD OK\r\n".utf8)) == .damaged)
    #expect(FreeStyleReply(Array("CMD OK\r\n".utf8)) == .damaged)
  }

  @Test func aFreeStyleReplyEndsOnlyWithItsLastLine() {
    let whole = FreeStyleTranscript.reply(Array("13,22\r\n".utf8))
    for length in 0..<whole.count { #expect(FreeStyleReply(Array(whole[..<length])) == nil) }
    #expect(FreeStyleReply(Array("CKSM:00000000\r\nCMD Fail!\r\n".utf8)) == .refused)
    #expect(FreeStyleReply(Array("unknown\r\nCMD Fail!\r\n".utf8)) == .refused)
  }

  /// Documented tables: the rows are real, and the checksums are calculated.
  @Test(arguments: [
    (
      [
        "0,20476,8,27,14,12,47,1,0,0,0,3,0,68,0,0", "4,20470,8,26,14,11,26,1,0,5,70,160,26,2,0",
        "6,20175,7,22,14,10,58,1,7,22,14,9,50",
      ], "3,0000167A", "0000188F"
    ),
    (
      ["9,13,7,18,17,18,33,1,6,1,0", "9,4,7,18,17,14,36,1,1,1,0", "6,2,7,18,17,14,32,1,7,18,17,14,5"],
      "3,00001014", "00001210"
    ),
    (["58012,12,4,8,19,22,56,13,1,0,0,0,0,191,3765,0"], "1,000008A8", "00000ABD"),
  ])
  func aFreeStyleTableIsReadWithItsCountAndBothChecksums(_ rows: [String], trailer: String, sum: String)
    throws
  {
    let message = Array((rows + [trailer]).map { "\($0)\r\n" }.joined().utf8)
    #expect(FreeStyleReply(message + Array("CKSM:\(sum)\r\nCMD OK\r\n".utf8)) == .done(message))
    #expect(try #require(FreeStyleDump(message)).rows.map(\.text) == rows)
  }

  @Test func aFreeStyleTableWithAWrongCountOrChecksumIsRefused() {
    let body = Array("9,13,7,18,17,18,33,1,6,1,0\r\n".utf8)
    let sum = FreeStyleTranscript.digits(body)
    #expect(FreeStyleDump(body + Array("1,\(sum)\r\n".utf8)) != nil)
    for trailer in ["2,\(sum)\r\n", "1,00000000\r\n", "1,\(sum)", "1\r\n", ",\(sum)\r\n", "1,\(sum),\r\n"] {
      #expect(FreeStyleDump(body + Array(trailer.utf8)) == nil)
    }
    #expect(FreeStyleDump([]) == nil)
    #expect(FreeStyleDump(Array("Log Empty\r\n".utf8))?.rows.isEmpty == true)
  }

  @Test func aTextInAFreeStyleTableMayContainACommaOrLineFeed() {
    let row = FreeStyleRow(Array("1,\"a, b\nc\",,-22".utf8)[...])
    #expect(row.count == 4)
    #expect(row.text(1) == "a, b\nc" && row.text(2).isEmpty && row.number(3) == -22)
    #expect(row.number(1) == nil && row.number(2) == nil && row.number(9) == nil)
    let body = Array("1,\"x\ny\"\r\n".utf8)
    #expect(FreeStyleDump(body + Array("1,\(FreeStyleTranscript.digits(body))\r\n".utf8))?.rows.count == 1)
  }

  @Test func aFreeStyleReportEndsAfterItsStatedLength() {
    // Recorded from an InsuLinx: three bytes, followed by bytes of an earlier report.
    let stale = [0x22, 0x01, 0x03] + Array("2=1,Coup de pompe\r\n2,1,0,0,0,1,0,177,0,0\r\nF FF\r\n".utf8)
    #expect(FreeStyleReport(stale) == FreeStyleReport(0x22, [0x03]))
    #expect(FreeStyleReport([0x60]) == nil)
    #expect(FreeStyleReport([0x60, 63] + [UInt8](repeating: 0, count: 64)) == nil)
    #expect(FreeStyleReport([0x60, 3, 1, 2]) == nil)
    #expect(
      FreeStyleReport(0x60, Array("$swver?".utf8)).bytes == [
        0x60, 7, 0x24, 0x73, 0x77, 0x76, 0x65, 0x72, 0x3F,
      ])
    #expect(FreeStyleReport(0x17, Array("command".utf8)).bytes.prefix(4) == [0x17, 7, 0x63, 0x6F])
  }

  @Test func theFreeStyleParsersNeverCrashOnDamagedBytes() {
    var generator = SeededGenerator(seed: 1_400)
    let rows = ["0,20476,8,27,14,12,47,1,0,0,0,3,0,68,0,0", "6,20175,7,22,14,10,58,1,7,22,14,9,50"]
    let whole = FreeStyleTranscript.table(rows)
    for _ in 0..<2000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      let part = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
      for candidate in [bytes, part] {
        _ = FreeStyleReport(candidate)
        _ = FreeStyleDump(candidate)
        if case .done(let message) = FreeStyleReply(candidate) { #expect(message.count < whole.count) }
      }
    }
  }
}
