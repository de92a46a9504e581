// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests records that no remote accepts. Each of them needs a decision by a person and must not delay other
/// items.
@Suite struct UnsendableRecordTests {
  static let odd: [(fields: String, reason: String)] = [
    (#"{"text":"a\u0000b"}"#, "U+0000"),
    ("{\"text\":\"\(String(repeating: "x", count: (1 << 20) + 1))\"}", "longer than 1 MiB"),
    ("{\"\(String(repeating: "n", count: 129))\":1}", "longer than 128 bytes"),
    ("{\"tags\":[\((0...1024).map { "\"\($0)\"" }.joined(separator: ","))]}", "more than 1024 words"),
    (#"{"nested":{"a":1}}"#, "not an object of numbers"),
  ]

  @Test(arguments: odd.indices) func aRecordThatCannotBeSentDoesNotStopOthers(_ index: Int) async throws {
    let scene = try await Scene()
    let guid = try scene.a.add(["a": "odd"])
    let (fields, reason) = Self.odd[index]
    try DamagedFile.execute(
      "UPDATE record SET fields = '\(fields)' WHERE guid = '\(guid)'", in: scene.a.path)
    scene.a.reopen()
    let others = try [scene.a.add(["a": "2"]), scene.a.add(["a": "3"])]
    #expect(try scene.a.sync().unsendableRecords() == 1)
    let (ending, summary) = try await scene.a.upload()
    #expect(ending == .complete && summary.refused == 1 && summary.pushedRecords == 2)
    for other in others { #expect(try await scene.held(other) != nil) }
    #expect(try await scene.held(guid) == nil)
    var reasons: [String: String] = [:]
    try scene.a.sync().forEachRefused { item, words in
      if case .record(let record) = item { reasons[record.guid] = words }
    }
    #expect(reasons.keys.sorted() == [guid] && reasons[guid]?.contains(reason) == true, "\(reasons)")
    #expect(try scene.a.sync().unsendableRecords() == 0, "it is counted as refused from then on")
    let again = try await scene.a.upload()
    #expect(again.ending == .complete && again.summary == UploadSummary())
  }
}
