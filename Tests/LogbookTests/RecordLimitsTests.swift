// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

/// Tests that the check of a record's fields and the check of their JSON have the same limits.
@Suite struct RecordLimitsTests {
  static let beyond: [(fields: [String: FieldValue], reason: String)] = [
    (["text": .text("a\u{0}b")], "U+0000"),
    (["tags": .words(["a", "b\u{0}"])], "U+0000"),
    (["text": .text(String(repeating: "x", count: RecordLimits.maxTextBytes + 1))], "longer than 1 MiB"),
    ([String(repeating: "n", count: 129): .flag(true)], "longer than 128 bytes"),
    (["tags": .words((0...RecordLimits.maxWords).map { "\($0)" }.sorted())], "more than 1024 words"),
    (
      Dictionary(uniqueKeysWithValues: (0...RecordLimits.maxFields).map { ("f\($0)", FieldValue.number(1)) }),
      "more than 256 fields"
    ),
    (
      Dictionary(
        uniqueKeysWithValues: (0..<3).map {
          ("f\($0)", FieldValue.text(String(repeating: "x", count: 900_000)))
        }), "larger than 2 MiB"
    ),
    (["text": .text(String(repeating: "\u{1}", count: 400_000))], "larger than 2 MiB"),
  ]

  @Test(arguments: beyond.indices) func fieldsAboveALimitAreRefusedWithTheReasonWhateverTheirSource(
    _ index: Int
  ) throws {
    let (values, reason) = Self.beyond[index]
    let fields = RecordFields(values)
    #expect(fields.fault?.contains(reason) == true, "\(fields.fault ?? "none")")
    // Content that is already stored is still read, so that it can be shown.
    #expect(try RecordFields(uncheckedJSON: fields.json) == fields)
    // The total size of a state is checked only when it is sent, so this reader still accepts its JSON.
    if reason.contains("2 MiB") {
      #expect(try RecordFields(json: fields.json) == fields)
    } else {
      let error = try #require(throws: JSONError.self) { try RecordFields(json: fields.json) }
      #expect(error.reason.contains(reason))
    }
  }

  @Test func aRecordWithContentExactlyAtTheLimitsIsValid() throws {
    let atLimits: [[String: FieldValue]] = [
      [:], ["text": .text(String(repeating: "x", count: RecordLimits.maxTextBytes))],
      [String(repeating: "n", count: 128): .flag(true)],
      ["tags": .words((0..<RecordLimits.maxWords).map { "\($0)" })],
      Dictionary(uniqueKeysWithValues: (0..<RecordLimits.maxFields).map { ("f\($0)", FieldValue.number(1)) }),
      ["text": .text(String(repeating: "\u{1}", count: 300_000))],
    ]
    for values in atLimits {
      #expect(RecordFields(values).fault == nil)
      #expect(try RecordFields(json: RecordFields(values).json).values.count == values.count)
    }
  }

  /// The other parts of a state are too small to exceed the limit of the whole state.
  @Test func aRecordWithTheLargestValidFieldsCanBeSent() throws {
    let escapes = String(repeating: "\u{1}", count: (RecordState.maxBytes - 1042) / 6)
    let fields = RecordFields(["text": .text(escapes)])
    let state = RecordState(
      kind: try #require(RecordKind(rawValue: String(repeating: "k", count: 32))),
      entryGuid: "30000000-0000-4000-8000-000000000001", deviceTime: DeviceTime(seconds: 0),
      placement: Placement(utcOffset: -3723, source: .zoneOverlap), fields: fields, isDeleted: false,
      editedAt: 1_800_000_000,
      provenance: Provenance(
        format: String(repeating: "\"", count: 64), source: String(repeating: "\"", count: 128)),
      export: ExportAge(generated: 1_800_000_000, modified: 1_800_000_000))
    #expect(fields.fault == nil && state.json.utf8.count <= RecordState.maxBytes)
    let change = RecordChange(
      guid: "30000000-0000-4000-8000-000000000002", node: "30000000-0000-4000-8000-000000000003", version: 1,
      base: nil, state: state)
    #expect(try RecordChange(json: change.json) == change)
  }
}
