// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct ProvenanceTests {
  private static let state = RecordState(
    kind: .food, entryGuid: nil, deviceTime: DeviceTime(seconds: 1000),
    placement: Placement(utcOffset: 3600, source: .stated), fields: RecordFields(["carbs": .number(30)]),
    isDeleted: false)
  private static let origin = Provenance(format: "apple-health", source: "Anna’s \"iPhone\" \\ ümlaut")

  private func known(_ provenance: Provenance? = origin) -> RecordState {
    Self.state.addingProvenance(provenance)
  }

  @Test(arguments: [
    ("John’s iPhone", "John’s iPhone"), (" a b\t", "a b"), ("a\u{0}b\u{1B}[31m\u{7F}\u{85}c", "ab[31mc"),
    ("", ""),
    (" \u{A0} ", ""),
    (String(repeating: "x", count: 129), String(repeating: "x", count: 128)),
    // The name is not cut inside a character, and has no blank at the end.
    (String(repeating: "x", count: 127) + "é", String(repeating: "x", count: 127)),
    (String(repeating: "x", count: 127) + " yyy", String(repeating: "x", count: 127)),
  ])
  func theSourceNameInAProvenanceIsCleanedAndShortened(_ text: String, _ bounded: String) {
    let source = Provenance(format: "test", source: text).source
    #expect(source == bounded && source.utf8.count <= Provenance.maxSourceBytes)
    #expect(Provenance(format: "test", source: source).source.utf8.elementsEqual(source.utf8))
  }

  @Test func aProvenanceIsReadBackFromItsJSON() throws {
    for provenance in [Self.origin, .typed, Provenance(format: "contour")] {
      #expect(try Provenance(json: provenance.json) == provenance)
    }
    #expect(Self.origin.json == #"{"format":"apple-health","source":"Anna’s \"iPhone\" \\ ümlaut"}"#)
    #expect(try Provenance(json: #"{ "x" : [1], "format" : "contour" }"#) == Provenance(format: "contour"))
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"source":"a"}"#, #"{"format":""}"#, #"{"format":1}"#,
    #"{"format":"a","source":null}"#,
    #"{"format":"a","source":"b\u0007"}"#, #"{"format":"a","source":" b"}"#, #"{"format":"a\n"}"#,
    #"{"format":"a","source":"\#(String(repeating: "x", count: 129))"}"#,
    #"{"format":"\#(String(repeating: "x", count: 65))"}"#,
  ])
  func anInvalidProvenanceIsRefused(_ text: String) {
    #expect(throws: JSONError.self) { try Provenance(json: text) }
  }

  @Test func aRecordWithoutProvenanceHasNoProvenanceMemberInJSON() throws {
    let known = known()
    #expect(known.json.hasSuffix(#","edited_at":null,"provenance":\#(Self.origin.json)}"#))
    #expect(try RecordState(json: known.json) == known)
    #expect(try RecordState(json: known.json).provenance == Self.origin)
    #expect(!Self.state.json.contains("provenance"))
    let unknown = Self.state.json.replacing(
      #""edited_at":null}"#, with: #""edited_at":null,"provenance":null}"#)
    #expect(unknown != Self.state.json)
    #expect(try RecordState(json: unknown).provenance == nil)
    #expect(throws: JSONError.self) {
      try RecordState(json: known.json.replacing("apple-health", with: #"a\u0000"#))
    }
  }

  @Test func theProvenanceIsInTheDigestOfAChangeButNotInEditableContent() {
    let other = known(Provenance(format: "apple-health", source: "Anna’s iPad"))
    #expect(known().digest != Self.state.digest && known().digest != other.digest)
    #expect(known() != Self.state && known() != other)
    #expect(known().agrees(with: Self.state) && known().agrees(with: other))
    #expect(known().contentJSON == Self.state.contentJSON)
  }

  @Test func aRecordKeepsItsFirstProvenance() {
    #expect(known().addingProvenance(.typed).provenance == Self.origin)
    #expect(known().addingProvenance(nil).provenance == Self.origin)
    #expect(known().addsProvenance(to: Self.state))
    #expect(!Self.state.addsProvenance(to: known()) && !known().addsProvenance(to: known(.typed)))
  }

  /// A record with the largest valid fields and the longest provenance is within the size limit of a record
  /// in JSON.
  @Test func theLargestRecordWithTheLongestProvenanceFitsTheSizeLimit() throws {
    let long = Provenance(
      format: String(repeating: "\"", count: 64), source: String(repeating: "\\", count: 128))
    let text = String(repeating: "x", count: RecordLimits.maxTextBytes - 600)
    func fields(_ more: Int) -> RecordFields {
      RecordFields(["a": .text(text), "b": .text(text + String(repeating: "x", count: more))])
    }
    // Finds the largest accepted size by bisection.
    var (taken, refused) = (0, 600)
    while refused - taken > 1 {
      let middle = (taken + refused) / 2
      if fields(middle).fault == nil { taken = middle } else { refused = middle }
    }
    var state = known(long)
    (state.fields, state.editedAt) = (fields(taken), 1_800_000_000)
    state.export = ExportAge(generated: 1_800_000_000, modified: 1_800_000_000)
    state.entryGuid = "00000000-0000-4000-8000-000000000001"
    #expect(taken > 0 && refused < 600)
    #expect(state.json.utf8.count <= RecordLimits.maxStateBytes)
  }

  // MARK: The age of an export

  @Test(arguments: [
    (ExportAge(generated: 0, modified: 1_800_000_000), #"{"modified_at":"2027-01-15T08:00:00Z"}"#),
    (
      ExportAge(generated: 1_700_000_000, modified: 1_800_000_000),
      #"{"generated_at":"2023-11-14T22:13:20Z","modified_at":"2027-01-15T08:00:00Z"}"#
    ),
  ]) func theAgeOfAnExportIsTransferredWithARecord(_ age: ExportAge, _ json: String) throws {
    var state = known()
    state.export = age
    #expect(state.json.hasSuffix(",\"export\":\(json)}"))
    let read = try RecordState(json: state.json)
    #expect(read == state && read.export == age && read != known())
    #expect(read.agrees(with: known()) && read.contentJSON == known().contentJSON)
    #expect(try RecordState(json: known().json).export == nil)
  }

  @Test(arguments: [
    "{}", #"{"modified_at":null}"#, #"{"generated_at":"2027-01-15T08:00:00Z"}"#,
    #"{"modified_at":1800000000}"#,
    #""2027-01-15T08:00:00Z""#,
  ]) func anExportWithoutAValidTimeIsRefused(_ text: String) {
    let json = Self.state.json.dropLast() + ",\"export\":\(text)}"
    #expect(throws: JSONError.self) { try RecordState(json: String(json)) }
  }

  @Test func theAgesOfExportsAreComparedByNewestItemAndThenByFileTime() {
    let ages = [(0, 9), (1, 5), (1, 6), (2, 1)].map { ExportAge(generated: $0, modified: $1) }
    #expect(ages.reversed().sorted() == ages && ages.map(\.instant) == [9, 1, 1, 2])
  }
}
