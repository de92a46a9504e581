// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct RecordJSONTests {
  private static let node = "00000000-0000-4000-8000-00000000000a"
  private static let guid = "00000000-0000-4000-8000-000000000001"

  private func state(_ fields: [String: FieldValue]) -> RecordState {
    RecordState(
      kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: 1000),
      placement: Placement(utcOffset: 3600, source: .zone), fields: RecordFields(fields), isDeleted: false)
  }

  @Test func recordFieldsAreReadBackFromTheirJSON() throws {
    let fields = RecordFields([
      "units": .number(4.5), "whole": .number(1), "none": .number(0), "large": .number(1e300),
      "text": .text("a \"b\""), "digits": .text("1"), "word": .text("true"), "on": .flag(true),
      "off": .flag(false),
      "tags": .words(["a", "b"]), "empty": .words([]),
    ])
    #expect(try RecordFields(json: fields.json) == fields)
    #expect(try RecordFields(json: "{}") == RecordFields())
  }

  @Test(arguments: [
    "", "[]", "1", "{", #"{"a":{}}"#, #"{"a":null}"#, #"{"a":[1]}"#, #"{"a":[["b"]]}"#, #"{"a":1,"a":2}"#,
    #"{"a":"\u0000"}"#, "{}{}",
  ])
  func anInvalidJSONObjectOfRecordFieldsIsRefused(_ text: String) {
    #expect(throws: JSONError.self) { try RecordFields(json: text) }
  }

  @Test func aRecordChangeIsReadBackWithTheTextThatWasWritten() throws {
    let change = RecordChange(
      guid: Self.guid, node: Self.node, version: 3, base: "12.ab", state: state(["a": .text("é\u{7F}")]))
    #expect(try RecordChange(json: change.json) == change)
  }

  /// The bytes of another program's change are kept as it sent them.
  @Test func theTextOfARecordChangeKeepsItsSpacesAndOrder() throws {
    let state = state(["a": .number(1)])
    let text = """
      { "state" : \(state.json),
        "digest" : "\(state.digest)", "version" : 1, "node" : "\(Self.node)", "guid" : "\(Self.guid)" }
      """
    let change = try RecordChange(json: text)
    #expect(change.json == text && change.state == state && change.base == nil)
  }

  @Test(arguments: ["\"digest\":\"", "\"deleted\":false", "\"kind\":\"note\""])
  func aDamagedRecordChangeIsRefused(_ part: String) throws {
    let change = RecordChange(
      guid: Self.guid, node: Self.node, version: 3, base: nil, state: state(["a": .text("b")]))
    let damaged = change.json.replacing(part, with: part.replacing(":", with: ":0"))
    #expect(damaged != change.json)
    #expect(throws: JSONError.self) { try RecordChange(json: damaged) }
  }
}
