// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

struct OrderedJSONTests {
  private struct Sample: Encodable {
    var zebra = 1
    var apple: String? = nil
    var lastSuccess: Int64? = nil
    var logID = "x"
    var inner: Inner? = nil
    var port: UInt16? = nil
    var isSet = true
  }

  private struct Inner: Encodable {
    let word: Word
    let list: [Int]
  }

  private enum Word: String, Encodable { case some }

  @Test func jsonMembersAreInDeclaredOrderWithUnderscoresAndNull() throws {
    #expect(
      try OrderedJSON.text(Sample())
        == #"{"zebra":1,"apple":null,"last_success":null,"log_id":"x","inner":null,"port":null,"is_set":true}"#
    )
    let full = Sample(
      zebra: -2, apple: "a\"\n", lastSuccess: .max, inner: Inner(word: .some, list: [1, 2]), port: 443)
    let text =
      #"{"zebra":-2,"apple":"a\"\n","last_success":9223372036854775807,"log_id":"x","#
      + #""inner":{"word":"some","list":[1,2]},"port":443,"is_set":true}"#
    #expect(try OrderedJSON.text(full) == text)
  }

  @Test func numbersAreWrittenInTheirShortestFormAndFragmentsUnchanged() throws {
    #expect(try OrderedJSON.text([6.0, 0.1, -5.72, 1e-7]) == "[6,0.1,-5.72,1e-07]")
    #expect(try OrderedJSON.text([JSONFragment(#"{"units":1.50}"#)]) == #"[{"units":1.50}]"#)
    #expect(throws: EncodingError.self) { try OrderedJSON.text(Double.nan) }
  }

  @Test func dictionaryKeysAreWrittenToJSONUnchanged() throws {
    #expect(try OrderedJSON.text(["sensorStart": 1, "Alarm": 2]) == #"{"Alarm":2,"sensorStart":1}"#)
    let ordered = JSONMembers([("zoneName", "UTC"), ("format", "csv")])
    #expect(try OrderedJSON.text(ordered) == #"{"zoneName":"UTC","format":"csv"}"#)
    #expect(try OrderedJSON.text(["name": [String: Int]()]) == #"{"name":{}}"#)
    #expect(try OrderedJSON.text([Int]()) == "[]")
  }

  /// Two values can be encoded into one object, such as an item and additional members about it.
  @Test func membersOfTwoValuesAreWrittenIntoOneJSONObject() throws {
    struct Both: Encodable {
      func encode(to encoder: any Encoder) throws {
        try Inner(word: .some, list: []).encode(to: encoder)
        try ["more": 1].encode(to: encoder)
      }
    }
    #expect(try OrderedJSON.text(Both()) == #"{"word":"some","list":[],"more":1}"#)
  }
}
