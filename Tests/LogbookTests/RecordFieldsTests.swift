// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@Suite struct RecordFieldsTests {
  @Test func fieldsAreWrittenInOrderOfTheirNamesWithShortNumbers() {
    let fields = RecordFields([
      "units": .number(3), "text": .text("a"), "amount": .number(2.5), "draft": .flag(true),
    ])
    #expect(fields.json == #"{"amount":2.5,"draft":true,"text":"a","units":3}"#)
    #expect(RecordFields().json == "{}")
  }

  @Test func tagsAreWrittenSortedAndWithoutRepetition() {
    let one = RecordFields(["tags": .words(["b", "a", "b"])])
    let other = RecordFields(["tags": .words(["a", "b"])])
    #expect(one.json == #"{"tags":["a","b"]}"#)
    #expect(one.json == other.json)
  }

  @Test func aSubtypeThatIsNotTextIsReadAsEmpty() {
    #expect(RecordFields(["subtype": .text("rapid")]).subtype == "rapid")
    #expect(RecordFields(["subtype": .number(1)]).subtype.isEmpty)
    #expect(RecordFields().subtype.isEmpty)
  }

  @Test func aFieldWithRandomTextIsReadBackFromItsJSON() throws {
    var texts = (0..<0x100).compactMap { UnicodeScalar($0).map { "x\($0)y" } }
    texts += [#"say "hi" \ there"#, "ünï 🍎", "line\nbreak\ttab\r", "", "\u{2028}"]
    for text in texts {
      let data = Data("[\(jsonText(text))]".utf8)
      let back = try JSONSerialization.jsonObject(with: data) as? [String]
      #expect(back == [text])
    }
  }

  @Test func controlCharactersInAFieldAreEscapedInJSON() {
    #expect(jsonText("\u{1B}[31m\u{7F}") == #""\u001b[31m\u007f""#)
    #expect(jsonText("a\"b\\c\n\r\t") == #""a\"b\\c\n\r\t""#)
  }

  @Test func wholeNumbersInFieldsAreWrittenWithoutAnExponent() {
    #expect(plainNumber(100) == "100")
    #expect(plainNumber(-0.5) == "-0.5")
    #expect(plainNumber(123_456_789_012) == "123456789012")
    #expect(plainNumber(0.1) == "0.1")
  }
}
