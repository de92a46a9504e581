// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing

@testable import Logbook

/// Tests how JSON of other programs is read, grouped by the kind of value.
@Suite struct JSONScannerTests {
  private static func read<Value>(
    _ text: String, _ read: (inout JSONScanner) throws(JSONError) -> Value
  ) throws -> Value {
    try JSONScanner.read(Array(text.utf8), read)
  }

  private static func refuses(_ bytes: [UInt8]) -> Bool {
    do throws(JSONError) {
      try JSONScanner.read(bytes) { (scanner) throws(JSONError) in try scanner.skip() }
      return false
    } catch {
      return true
    }
  }

  // MARK: Numbers

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("7", 7), (" \n\t\r42 ", 42), ("-1", -1),
      ("999999999999999999", 999_999_999_999_999_999),
      ("-999999999999999999", -999_999_999_999_999_999),
    ] as [(String, Int64)])
  func aWholeNumberInJSONIsRead(_ text: String, _ number: Int64) throws {
    #expect(try Self.read(text) { (scanner) throws(JSONError) in try scanner.integer() } == number)
  }

  @Test(arguments: [
    "", "-", "+1", "1.0", "1e3", "1000000000000000000", "9223372036854775808", "0x1", "١", "\"1\"", "null",
    "--1", "1 2",
  ])
  func anInvalidWholeNumberInJSONIsRefused(_ text: String) {
    #expect(throws: JSONError.self) {
      try Self.read(text) { (scanner) throws(JSONError) in try scanner.integer() }
    }
  }

  /// The fast conversion for few digits returns the same number as the system's parser.
  @Test func aDecimalNumberInJSONIsReadAsTheNearestDouble() throws {
    for seed in UInt64(1)...3000 {
      var random = SeededGenerator(seed: seed)
      let digits = (0..<1 + random.next() % 17).map { _ in String(random.next() % 10) }.joined()
      let whole = digits.drop { $0 == "0" }
      var text = whole.isEmpty ? "0" : String(whole)
      if random.next() % 3 > 0 {
        text += "." + (0..<1 + random.next() % 8).map { _ in String(random.next() % 10) }.joined()
      }
      if random.next() % 4 == 0 { text += "e\(Int(random.next() % 40) - 20)" }
      if random.next() % 2 == 0 { text = "-" + text }
      let number = try Self.read(text) { (scanner) throws(JSONError) in try scanner.number() }
      #expect(number.bitPattern == Double(text)?.bitPattern, "seed \(seed): \(text)")
    }
  }

  @Test(arguments: [
    "", "-", ".5", "+1", "1e", "e1", "1e400", "-1e999", "1..2", "1-2", "NaN", "inf", "0x10", "1,5",
  ])
  func aJSONNumberThatIsNotFiniteIsRefused(_ text: String) {
    #expect(throws: JSONError.self) {
      try Self.read(text) { (scanner) throws(JSONError) in try scanner.number() }
    }
  }

  @Test func aJSONNumberOfTooManyBytesIsRefused() throws {
    let short = "0." + String(repeating: "1", count: 62)
    #expect(try Self.read(short) { (scanner) throws(JSONError) in try scanner.number() } == Double(short))
    #expect(throws: JSONError.self) {
      try Self.read(short + "1") { (scanner) throws(JSONError) in try scanner.number() }
    }
  }

  // MARK: Texts

  @Test(arguments: [
    (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""\u0041\u00e9\u20AC""#, "Aé€"),
    (#""\ud83d\ude00""#, "😀"), (#""x\uD834\uDD1Ey""#, "x\u{1D11E}y"), ("\"é日😀\"", "é日😀"),
    (#""\u0000""#, "\0"),
    (#""e\u0301""#, "e\u{301}"), (#""\uFFFF""#, "\u{FFFF}"), (#""😀\n😀""#, "😀\n😀"),
  ])
  func aValidJSONStringIsRead(_ json: String, _ text: String) throws {
    let read = try Self.read(json) { (scanner) throws(JSONError) in try scanner.string() }
    #expect(Array(read.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "", "a", "\"", "\"a", #""\"#, #""\""#, #""\x""#, #""\u""#, #""\u12""#, #""\u12g4""#, #""\ud83d""#,
    #""\ud83dx""#,
    #""\ud83d\n""#, #""\ud83d\u0041""#, #""\ude00""#, #""\ud83d\ud83d""#, "\"a\nb\"", "\"\u{1}\"", "\"\t\"",
    #"'a'"#,
    #""a"b"#, #""\U0041""#, #""\u-041""#,
  ])
  func anInvalidJSONStringIsRefused(_ json: String) {
    #expect(throws: JSONError.self) {
      try Self.read(json) { (scanner) throws(JSONError) in try scanner.string() }
    }
    #expect(Self.refuses(Array(json.utf8)))
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      [0xC3, 0x28],
    ] as [[UInt8]])
  func bytesThatAreNotUTF8AreRefusedEvenInSkippedValues(_ bytes: [UInt8]) {
    for (before, after) in [("\"", "\""), ("\"\\n", "\""), ("\"", "\\n\""), ("{\"a\":[\"", "\"]}")] {
      #expect(Self.refuses(Array(before.utf8) + bytes + Array(after.utf8)))
    }
  }

  /// An escape must not complete a truncated character before it.
  @Test func aJSONEscapeDoesNotCompleteATruncatedUTF8Character() {
    #expect(Self.refuses(Array("\"".utf8) + [0xC3] + Array(#"\u00a9""#.utf8)))
  }

  @Test func nullIsReadAsAMissingStringOnlyWhereTheStringIsOptional() throws {
    #expect(try Self.read("null") { (scanner) throws(JSONError) in try scanner.optionalString() } == nil)
    #expect(
      try Self.read(#""null""#) { (scanner) throws(JSONError) in try scanner.optionalString() } == "null")
    #expect(throws: JSONError.self) {
      try Self.read("nul") { (scanner) throws(JSONError) in try scanner.optionalString() }
    }
  }

  @Test(arguments: [("true", true), (" false", false)]) func aJSONBooleanIsRead(_ text: String, _ flag: Bool)
    throws
  {
    #expect(try Self.read(text) { (scanner) throws(JSONError) in try scanner.flag() } == flag)
  }

  @Test(arguments: ["", "True", "tru", "truex", "0", "\"true\"", "null"]) func anInvalidJSONBooleanIsRefused(
    _ text: String
  ) {
    #expect(throws: JSONError.self) {
      try Self.read(text) { (scanner) throws(JSONError) in try scanner.flag() }
    }
  }

  @Test func onlyAWordFromTheListWrittenWithoutEscapesIsRead() throws {
    let words: [(word: StaticString, value: Int)] = [("cbg", 1), ("cb", 2)]
    for (text, value) in [
      (#""cbg""#, 1), (#""cb""#, 2), (#""c""#, nil), (#""CBG""#, nil), (#""cb\u0067""#, nil), ("cbg", nil),
    ] {
      let read = try? Self.read(text) { (scanner) throws(JSONError) in try scanner.word(words) }
      #expect(read == value, "\(text)")
    }
  }

  // MARK: Objects and arrays

  @Test func theMembersOfAJSONObjectAreVisitedInOrderAndUnreadOnesAreSkipped() throws {
    let text = #" { "a" : 1 , "b" : {"a":[2,{"c":"}"}]} , "" : null, "a":[] } "#
    var names: [String] = []
    try Self.read(text) { (scanner) throws(JSONError) in
      try scanner.object { (name, _) throws(JSONError) in
        names.append(name)
        return false
      }
    }
    #expect(names == ["a", "b", "", "a"])
  }

  @Test(arguments: [
    "{", "}", "{}}", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, "{a:1}", #"{"a":1"#,
    #"{1:2}"#, "[", "]",
    "[,]", "[1,]", "[1 2]", "[1", "[1]]", "[}", "nulltrue", "[1],", #"{"a"::1}"#, "tru", "-", "{}[]",
  ])
  func anInvalidJSONValueIsRefused(_ text: String) {
    #expect(Self.refuses(Array(text.utf8)))
  }

  @Test(arguments: [
    "{}", "[]", " [ ] ", "[[],{}]", "null", "true", "false", "0", "-1.5e-3", #""""#,
    #"{"a":{"b":[1,"x",null,true]}}"#,
  ])
  func aJSONValueOfAnyTypeIsSkippedWhole(_ text: String) {
    #expect(!Self.refuses(Array(text.utf8)))
  }

  @Test(arguments: [("[", "]"), (#"{"a":"#, "}")]) func jsonNestedDeeperThanTheLimitIsRefused(
    _ open: String, _ close: String
  ) {
    for (depth, isRefused) in [(1, false), (32, false), (33, true), (10_000, true)] {
      let inner = open == "[" ? "" : "1"
      let text = String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
      #expect(Self.refuses(Array(text.utf8)) == isRefused, "\(depth)")
    }
  }

  /// Adjacent values are not nested.
  @Test func manyJSONListsNextToEachOtherDoNotReachTheNestingLimit() {
    let list = Array(("[" + Array(repeating: "[{}]", count: 500).joined(separator: ",") + "]").utf8)
    #expect(!Self.refuses(list))
  }

  @Test func theSourceTextOfAJSONValueIsReturnedUnchanged() throws {
    let text = "[ 1.50 , {\"a\" :\t[ ] } ]"
    let (count, read) = try JSONScanner.read(Array("  \(text) \n".utf8)) { (scanner) throws(JSONError) in
      try scanner.withText { (scanner) throws(JSONError) in
        var count = 0
        try scanner.array { (scanner) throws(JSONError) in
          count += 1
          try scanner.skip()
        }
        return count
      }
    }
    #expect(count == 2 && read == text)
  }

  @Test func aJSONErrorStatesTheOffsetOfTheInvalidByte() {
    for (text, offset) in [("x", 0), ("[1,x]", 3), (#"{"a":1 ]"#, 7), ("[] []", 3)] {
      let error = #expect(throws: JSONError.self) {
        try Self.read(text) { (scanner) throws(JSONError) in try scanner.skip() }
      }
      #expect(error?.offset == offset, "\(text)")
    }
  }

  /// A value that is truncated anywhere or has a changed byte is either refused or read as another valid
  /// value. Nothing outside it is read.
  @Test func truncatedOrDamagedJSONIsEitherRefusedOrValid() {
    let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00"],"b":{"c":null,"d":true},"é":"日"}"#.utf8)
    #expect(!Self.refuses(text))
    for length in 0..<text.count { #expect(Self.refuses(Array(text.prefix(length))), "\(length) bytes") }
    for seed in UInt64(1)...2000 {
      var random = SeededGenerator(seed: seed)
      var damaged = text
      for _ in 0...random.next() % 3 {
        damaged[Int(random.next() % UInt64(text.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if Self.refuses(damaged) { continue }
      // The accepted text is not compared with the system's parser, which also refuses repeated names and
      // numbers such as 01 and -.5.
      #expect(String(validating: damaged, as: UTF8.self) != nil, "seed \(seed)")
    }
  }

  // MARK: Times

  @Test(
    arguments: [
      ("1970-01-01T00:00:00", 0), ("2024-02-29T23:59:59", 1_709_251_199),
      ("0001-01-01T00:00:00", -62_135_596_800),
      ("9999-12-31T23:59:59", 253_402_300_799),
    ] as [(String, Int64)])
  func aDeviceTimeInJSONIsRead(_ text: String, _ seconds: Int64) throws {
    let time = try Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.deviceTime() }
    #expect(time.seconds == seconds)
    #expect(try Self.read("\"\(text)Z\"") { (scanner) throws(JSONError) in try scanner.instant() } == seconds)
    #expect(throws: JSONError.self) {
      try Self.read("\"\(text)Z\"") { (scanner) throws(JSONError) in try scanner.deviceTime() }
    }
    #expect(throws: JSONError.self) {
      try Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.instant() }
    }
  }

  @Test(arguments: [
    "", "Z", "2025-02-29T00:00:00", "2025-13-01T00:00:00", "2025-01-01 00:00:00", "2025-01-01T24:00:00",
    "0000-01-01T00:00:00",
    "2025-1-01T00:00:000", "2025-01-01T00:00:60", "2025-01-01t00:00:00", "+025-01-01T00:00:00",
    "2025-01-01T00-00:00",
  ])
  func anInvalidTimeInJSONIsRefused(_ text: String) {
    #expect(throws: JSONError.self) {
      try Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.deviceTime() }
    }
    #expect(throws: JSONError.self) {
      try Self.read("\"\(text)Z\"") { (scanner) throws(JSONError) in try scanner.instant() }
    }
  }

  @Test func everyUTCOffsetIsReadBackFromItsText() throws {
    for seconds in stride(from: Int32(-86_399), through: 86_399, by: 61) {
      let text = "\"\(DeviceTime.offsetText(seconds))\""
      #expect(
        try Self.read(text) { (scanner) throws(JSONError) in try scanner.utcOffset() } == seconds, "\(text)")
    }
  }

  @Test(arguments: [
    "", "z", "02:00", "+2:00", "+02", "+0200", "+24:00", "+02:60", "+02:00:60", "+02:00:0", "±02:0", "+0a:00",
  ])
  func anInvalidUTCOffsetInJSONIsRefused(_ text: String) {
    #expect(throws: JSONError.self) {
      try Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.utcOffset() }
    }
  }

  // MARK: Identities

  @Test(arguments: [
    ("0a1b2c3d-0000-4000-8000-00000000000f", true), ("0A1B2C3D-0000-4000-8000-00000000000F", false),
    ("0a1b2c3d-0000-4000-8000-00000000000", false), ("0a1b2c3d-0000-4000-8000-00000000000f0", false),
    ("0a1b2c3d00000-4000-8000-00000000000f", false), ("0a1b2c3d-0000-4000-8000-00000000000g", false),
    ("", false),
    ("-a1b2c3d-0000-4000-8000-00000000000f", false),
  ])
  func onlyAUUIDInLowerCaseIsAcceptedAsARecordID(_ text: String, _ isValid: Bool) {
    #expect(Guid.isValid(text) == isValid)
    let read = try? Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.guid() }
    #expect(read == (isValid ? text : nil))
  }

  @Test func onlyAShortTextOfVisibleCharactersIsAcceptedAsAServerToken() {
    let long = String(repeating: "x", count: 128)
    for (text, isValid) in [
      ("12.ab", true), ("~!", true), (long, true), (long + "x", false), ("", false), ("a b", false),
      ("é", false), ("\u{7F}", false),
    ] {
      let read = try? Self.read("\"\(text)\"") { (scanner) throws(JSONError) in try scanner.token() }
      #expect(read == (isValid ? text : nil), "\(text)")
    }
    #expect(
      (try? Self.read("null") { (scanner) throws(JSONError) in try scanner.optionalToken() }) == .some(nil))
  }
}
