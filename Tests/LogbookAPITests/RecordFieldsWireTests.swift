// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

@Suite struct RecordFieldsWireTests {
  @Test func fieldsAreReadBackFromTheirJson() throws {
    let fields = RecordFields([
      "units": .number(4.5), "whole": .number(1), "none": .number(0), "large": .number(1e300),
      "text": .text("a \"b\""), "digits": .text("1"), "word": .text("true"), "on": .flag(true),
      "off": .flag(false),
      "tags": .words(["a", "b"]), "empty": .words([]),
    ])
    #expect(try RecordWire.fields(fields.json) == fields)
    #expect(try RecordWire.fields("{}") == RecordFields())
  }

  @Test(arguments: ["", "[]", "1", "{", #"{"a":{}}"#, #"{"a":null}"#, #"{"a":[1]}"#, #"{"a":[["b"]]}"#])
  func whatIsNoObjectOfFieldsIsRefused(_ text: String) {
    #expect(throws: WireError.self) { try RecordWire.fields(text) }
  }
}
