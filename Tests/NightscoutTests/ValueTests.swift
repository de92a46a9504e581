// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats
@testable import Nightscout

/// Tests that a value has the same meaning in a document of a site and in a row of an export.
@Suite struct ValueTests {
  @Test(arguments: [
    "0", "-5", "120", "5.6", "1e3", "1.778e12", "1778085000123", "1778085000.123", "1778085000123.9",
    "946684799999", "253402300800000", "9e18", "1e300", "true", "null", "[1]", #"{"a":1}"#, #""""#, #"" ""#,
    #""4.5""#, #""0x1A""#, #""nan""#, #""inf""#, #""1e2""#, #""1778085000123""#, #""LOW""#,
    #""2026-05-06T12:00:00Z""#, #""2026-05-06t12:00:00z""#, #""2026-05-06 12:00:00.5Z""#,
    #""2026-05-06T12:00:00.123456+0200""#, #""2026-05-06T12:00:00,25+02:00""#,
    #""2026-05-06T12:00:00-03:30""#,
    #""2026-05-06T12:00:00 +02""#, #""2026-05-06T12:00""#, #""2026-05-06""#, #""2026-02-30T12:00:00Z""#,
    #""2026-05-06T12:00:00+19:00""#, #""2026-05-06T12:00:00 UTC""#, #""05/06/2026 12:00:00 PM""#, #""soon""#,
  ])
  func aJSONValueAndTheSameCSVCellAreReadAlike(_ json: String) throws {
    let document = try JSONValue.read(Array("{\"v\":\(json)}".utf8))["v"] ?? .null
    let bytes = Array(json.utf8)
    try bytes.withUnsafeBufferPointer { buffer in
      let start = try #require(buffer.baseAddress)
      let isQuoted = json.hasPrefix("\"")
      let isComposite = json.hasPrefix("[") || json.hasPrefix("{")
      let row =
        json == "null"
        ? Field.absent
        : isQuoted
          ? Field(start: start + 1, count: bytes.count - 2, shape: .quoted)
          : Field(start: start, count: bytes.count, shape: isComposite ? .composite : .bare)
      #expect(document.jsonNumber == row.jsonNumber)
      #expect(document.instant == row.instant)
      #expect(document.statedOffset == row.statedOffset)
      if !isComposite { #expect(document.isEmpty == row.isEmpty) }
      if isQuoted { #expect(document.plainText == row.plainText && document.endsInZ == row.endsInZ) }
      #expect(
        document.equals("120") == row.equals("120") && document.equalsFolded("low") == row.equalsFolded("low")
      )
    }
  }
}
