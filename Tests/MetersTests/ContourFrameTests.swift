// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests reports, frames and records of Contour meters, compared with what real ones sent.
struct ContourFrameTests {
  /// Frames that real meters sent, each with its checksum.
  static let frames: [(text: String, checksum: String, isLast: Bool)] = [
    ("2P|1", "53", false), ("3L|1||N", "82", true), ("4L|1||N", "83", true), ("5L|1||N", "84", true),
    ("1R|67|^^^Glucose|7.9|mmol/L^P||B||201011281949", "04", false),
    ("4R|2|^^^Glucose|102|mg/dL^P||M0/T1||201402052135", "26", false),
    ("4R|234|^^^Glucose|106|mg/dL^P||F/M0/T1||201907111026", "0B", false),
    ("5R|3|^^^Glucose|93|mg/dL^P||A/M0/T1||201505261150", "74", false),
    ("3R|1|^^^Glucose|10.9|mmol/L^P||A||201504171154", "EC", false),
    ("4R|1706|^^^Glucose|6.2|mmol/L^P||F/M0/T1||201811090310", "B8", false),
    ("4R|2|^^^Glucose|7.1|mmol/L^P||F/M0/T1||201302050733", "1C", false),
    ("7R|5|^^^Glucose|10.5|mmol/L^P||F/M0/T1||201302060807", "53", false),
    ("0R|6|^^^Glucose|4.9|mmol/L^P||B/M0/T1||201302061956", "26", false),
    ("2R|8|^^^Glucose|12.9|mmol/L^P||F/M0/T1||201302070723", "55", false),
    ("5R|11|^^^Glucose|10.9|mmol/L^P||F/M0/T1||201302081017", "7E", false),
    ("5R|11|^^^Glucose|4.0|mmol/L^P||B/M0/T1||201404021052", "40", false),
    ("6R|12|^^^Carb|8|3^||||201404021053", "A0", false),
    ("7R|13|^^^Insulin|80|1^||||201404021053", "3A", false),
    (
      #"1H|\^&||7w3LBL|Bayer7390^01.24\01.04\09.02.20^7390-2336773^7403-|A=1^C=63^G=1^I=0200^R=0^S=1^U=0^V=10600^X=070070070070180130150250^Y=360126090050099050300089^Z=1|1714||||||1|201909221304"#,
      "D7", false
    ),
    (
      #"1H|\^&||0t4cvJ|Contour7900^02.13\01.00\02.40^7901H33A1578|A=0^C=6^R=0^S=0^U=0^V=10600^X=070070180130^a=0^J=0|25|||||P|1|20260208104218|"#,
      "1A", false
    ),
    (
      #"1H|\^&||7EyQm2|Bayer7410^01.10\01.05\10.03^7428-4293200^00000|A=1^C=03^G=en,en\de\fr\it\nl\es\pt\sl\hr\da\no\fi\sv\el^I=0200^R=0^S=01^U=303^V=20600^X=054070054054180154154254054154^Y=360126099054120054252099^Z=1|226|||||P|1|20190621125555"#,
      "F9", false
    ),
    (
      #"1H|\^&||BEVQVM|Bayer6200^01.22\01.13\01.13^6201- C36847^0000-^C36847|A=1^C=41^G=en,en\es^I=0200^R=0^S=0^U=0^X=070070070070180130180250^Y=360126099054120054252099^Z=1|0||||||1|201305081509"#,
      "37", false
    ),
    // Another program made this frame from the manufacturer's description. No meter sent it.
    (#"1H|\^&||-7880|Bayer7150^1.05\0.00^7150-SAM2193|||||||P|1|200305121635"#, "AE", false),
  ]

  @Test(arguments: frames)
  func aFrameOfARealContourIsRead(_ vector: (text: String, checksum: String, isLast: Bool)) throws {
    let bytes = ContourTranscript.printed(vector.text, vector.checksum, isLast: vector.isLast)
    let frame = try #require(ContourFrame(bytes[...]))
    #expect("\(frame.number)" + String(decoding: frame.text, as: UTF8.self) == vector.text)
  }

  @Test(arguments: [
    ("iUJxq6", "01.13", 0, "201305081510", "85"), ("3ki5VT", "01.13", 1, "201505251330", "46"),
    ("7OiUTY", "XX.XX", 0, "201305081532", "EE"),
  ])
  func threeHeadersOfOneContourUSBAreReadWithTheSameIdentity(
    _ password: String, version: String, setting: Int, time: String, checksum: String
  ) throws {
    let text =
      #"1H|\^&||\#(password)|Bayer6200^01.22\01.13\\#(version)^6201- C36847^0000-^C36847|A=1^C=41^G=en,en\es^I=0200^R=0^S=\#(setting)^U=0^X=070070070070180130180250^Y=360126099054120054252099^Z=1|0||||||1|\#(time)"#
    let frame = try #require(ContourFrame(ContourTranscript.printed(text, checksum)[...]))
    let header = try #require(ContourHeader(ASTMRecord(frame.text)))
    #expect(header.serial == "6201- C36847" && header.range == nil)
    #expect(header.firmware == "01.22 01.13 \(version)")
  }

  @Test func aContourFrameWithAWrongChecksumIsRefused() {
    #expect(ContourFrame(ContourTranscript.printed("2P|1", "54")[...]) == nil)
    #expect(ContourFrame(ContourTranscript.printed("9P|1", "5A")[...]) == nil)
    #expect(ContourFrame([0x02, 0x31][...]) == nil)
  }

  @Test func theBytesOfAContourRecordFrameAreAsDocumented() throws {
    let hex =
      "0234527C327C5E5E5E476C75636F73657C3130327C6D672F644C5E507C7C4D302F54317C7C3230313430323035323133350D1732360D0A"
    let bytes = stride(from: 0, to: hex.count, by: 2).compactMap { index in
      UInt8(hex.dropFirst(index).prefix(2), radix: 16)
    }
    #expect(bytes.count == 55)
    #expect(try #require(ContourFrame(bytes[...])).number == 4)
  }

  @Test func aContourFrameThatFillsOneReportNeedsNoFurtherReport() throws {
    let bytes = ContourTranscript.printed("5R|11|^^^Glucose|10.9|mmol/L^P||F/M0/T1||201302081017", "7E")
    #expect(bytes.count == 60)
    var stream = ContourStream()
    stream.add(try #require(ContourReport.payload(Array("ABC<".utf8) + bytes)))
    let token = stream.next()
    guard case .frame(let frame)? = token else {
      Issue.record("no frame")
      return
    }
    #expect(frame.number == 5)
  }

  @Test func fourReportsOfAContourUSBAreReadAsEOTHeaderAndENQ() throws {
    let parts = [
      #"1H|\^&||uvmjq4|Bayer7390^01.20\01.04\04.02.19^7390-1163170"#,
      "^7396-|A=1^C=63^G=1^I=0200^R=0^S=1^U=1^V=10600^X=07007007009",
      "9180135180248^Y=360126090050099050300089^Z=1|209||||||1|2011", "02142249",
    ].map { Array($0.utf8) }
    let payloads = [
      [0x04, 0x02] + parts[0], parts[1], parts[2], parts[3] + [0x0D, 0x17, 0x36, 0x35, 0x0D, 0x0A, 0x05],
    ]
    #expect(payloads.map(\.count) == [60, 60, 60, 15])
    var stream = ContourStream()
    var tokens: [ContourToken] = []
    for payload in payloads {
      let report = Array("ABC".utf8) + [UInt8(payload.count)] + payload
      stream.add(
        try #require(ContourReport.payload(report + [UInt8](repeating: 0, count: 64 - report.count))))
      while let token = stream.next() { tokens.append(token) }
    }
    #expect(tokens.count == 3)
    #expect(tokens.first == .endOfTransmission && tokens.last == .enquiry)
    guard case .frame(let frame) = try #require(tokens.dropFirst().first) else {
      Issue.record("\(tokens[1])")
      return
    }
    let header = try #require(ContourHeader(ASTMRecord(frame.text)))
    #expect(header.serial == "7390-1163170" && header.count == 209 && header.model == "Contour USB")
    #expect(header.clock?.text == "2011-02-14T22:49:00" && header.firmware == "01.20 01.04 04.02.19")
  }

  @Test(arguments: [
    ("10600", 10.0, 600.0, GlucoseUnit.milligramsPerDecilitre), ("20600", 20, 600, .milligramsPerDecilitre),
    ("06333", 0.6, 33.3, .millimolesPerLitre),
  ])
  func theSizeOfTheStatedRangeDeterminesTheUnitOfAContour(
    _ text: String, low: Double, high: Double, unit: GlucoseUnit
  ) throws {
    let range = try #require(ContourRange(text))
    #expect(range.low == low && range.high == high && range.unit == unit)
  }

  @Test(arguments: ["", "E0600", "1060", "60010"])
  func anInvalidRangeOfAContourIsRefused(_ text: String) { #expect(ContourRange(text) == nil) }

  @Test(arguments: [
    ("201302020341", "2013-02-02T03:41:00"), ("20190621125555", "2019-06-21T12:55:55"), ("2013020203", nil),
    ("201302300341", nil), ("2013o2020341", nil), ("", nil),
  ])
  func contourTimesHaveTwelveOrFourteenDigits(_ digits: String, text: String?) {
    #expect(ASTMRecord(Array("H|\(digits)".utf8)).time(1)?.text == text)
  }

  @Test(arguments: [
    ("10.9", 10.9), ("102", 102.0), ("", nil), ("1.2.3", nil), ("-4", nil), ("1e3", nil), (".5", nil),
  ])
  func onlyPlainDecimalNumbersOfAContourAreRead(_ text: String, number: Double?) {
    #expect(ASTMRecord(Array("R|\(text)".utf8)).number(1) == number)
  }

  @Test func contourReportsThatStateMoreBytesThanTheyHoldAreRefused() {
    #expect(ContourReport.payload([]) == nil)
    #expect(ContourReport.payload(Array("ABC".utf8) + [61] + [UInt8](repeating: 0, count: 61)) == nil)
    #expect(ContourReport.payload(Array("ABC".utf8) + [3, 1, 2]) == nil)
    #expect(ContourReport.payload(Array("XBC".utf8) + [1, 1]) == nil)
    #expect(ContourReport.payload(Array("ABC".utf8) + [2, 4, 5, 0, 0]) == [4, 5])
  }

  @Test func theContourStreamNeverCrashesOrGrowsOnDamagedBytes() {
    var generator = SeededGenerator(seed: 20_261_121)
    let whole = Self.frames.flatMap { ContourTranscript.printed($0.text, $0.checksum, isLast: $0.isLast) }
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...20, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      var stream = ContourStream()
      var tokens = 0
      for start in stride(from: 0, to: bytes.count, by: 60) {
        stream.add(bytes[start..<min(start + 60, bytes.count)])
        while let token = stream.next() {
          tokens += 1
          if case .frame(let frame) = token { _ = ContourHeader(ASTMRecord(frame.text)) }
        }
      }
      #expect(tokens <= bytes.count)
    }
  }
}
