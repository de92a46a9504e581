// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

struct JSONTextTests {
  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), ("\"", #""\"""#), (#"a\b"#, #""a\\b""#),
    ("\n\r\t", #""\n\r\t""#), ("\u{0}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#),
    ("5 < 6 & „ä“ 🩸", #""5 < 6 & „ä“ 🩸""#), ("\"a\"", #""\"a\"""#), ("/", #""/""#),
  ])
  func aStringIsEscapedInJSONAsRFC8259Requires(_ text: String, _ expected: String) {
    #expect(jsonText(text) == expected)
  }

  @Test func everyWrittenCharacterIsReadBackByTheJSONParserOfFoundation() throws {
    for scalar in (0..<0x300).compactMap({ Unicode.Scalar($0) }) {
      let text = "a\(scalar)\(scalar)b"
      let read = try JSONSerialization.jsonObject(with: Data("[\(jsonText(text))]".utf8)) as? [String]
      #expect(read == [text], "U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test func aJSONStringIsAppendedAfterExistingBytes() {
    var out = Array("x:".utf8)
    appendJSONText("a\nb", to: &out)
    #expect(String(decoding: out, as: UTF8.self) == #"x:"a\nb""#)
  }
}
