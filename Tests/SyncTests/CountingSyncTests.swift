// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom
import Simulation
import Testing

@testable import Sync

/// Tests that stores which share a logbook show the same totals, whatever each of them imported and in
/// whatever order they uploaded.
@Suite struct CountingSyncTests {
  private static let placement = Placement(utcOffset: 3600, source: .stated)

  /// Doses and meals of three days. With `cuts`, these are the same items as a phone forwards them: with
  /// times in whole minutes.
  private func input(_ seed: UInt64, cuts: Bool = false) -> IngestBatch {
    var random = SeededGenerator(seed: seed)
    var batch = IngestBatch()
    batch.records = (0..<40).map { index in
      let amount = Double(Int.random(in: 1...3, using: &random))
      var seconds = 1_700_006_400 + Int64.random(in: 0..<3 * 86_400, using: &random)
      if cuts { seconds -= seconds % 60 }
      var record = ImportedRecord(
        kind: index.isMultiple(of: 3) ? .food : .insulin, at: DeviceTime(seconds: seconds),
        placement: Self.placement,
        fields: RecordFields(
          index.isMultiple(of: 3) ? ["carbs": .number(amount * 10)] : ["units": .number(amount)]),
        sourceID: "\(index)", line: 1)
      record.source = cuts ? "iPhone" : ""
      return record
    }
    return batch
  }

  /// Readings of a sensor, or finger sticks that a phone made from the sensor's values.
  private func glucose(_ kind: ReadingKind) -> IngestBatch {
    var batch = IngestBatch()
    batch.devices = [
      kind == .cbg
        ? Device(vendor: "Dexcom", model: "G6", serial: "8AAAA1", format: "clarity")
        : Device(vendor: "Apple Health", model: "iPhone", format: "apple-health")
    ]
    batch.readings = (0..<40).map { place in
      Reading(
        device: DeviceIndex(0), kind: kind, at: DeviceTime(seconds: 1_700_006_400 + place * 900),
        placement: Self.placement, .value(Quantity(Double(90 + place), .milligramsPerDecilitre)), line: 1)
    }
    return batch
  }

  private func ingest(_ batch: IngestBatch, _ format: String, _ node: SimulatedNode) throws {
    let source = IngestSource(name: "-", format: format, startedAt: 1, modifiedAt: nil, decisions: [])
    try node.importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: 2, decisions: [])
    }
  }

  /// The number of items by kind, day, source and verdict: counted, or omitted because of an item from
  /// another source.
  private func counting(_ node: SimulatedNode) throws -> [String: Int] {
    var lines: [String: Int] = [:]
    try node.sync().forEachCounted(ItemFilter()) { _, item, verdict in
      let fate =
        switch verdict {
        case .counts: "counts"
        case .repeats(_, let source), .otherAmount(_, let source), .edited(_, let source): "as \(source.text)"
        case .sensorValue(let source): "of \(source.text)"
        case .computed: "computed"
        case .notChosen: "not chosen"
        }
      lines["\(item.kind) \(item.shown / 86_400) \(item.source.text) \(fate)", default: 0] += 1
    }
    return lines
  }

  @Test func theOrderOfUploadsDoesNotChangeTotals() async throws {
    var expected: [String: Int] = [:]
    for order in ["aba", "bab", "aab", "bba"] {
      let scene = try await Scene()
      func node(_ name: Character) -> SimulatedNode { name == "a" ? scene.a : scene.b }
      try ingest(input(1), "mysugr", scene.a)
      try ingest(glucose(.smbg), "apple-health", scene.a)
      try ingest(input(2), "tandem", scene.b)
      for name in order.prefix(1) { try await scene.upload(node(name)) }
      try ingest(input(1, cuts: true), "apple-health", scene.b)
      try ingest(glucose(.cbg), "clarity", scene.b)
      for name in order + "ab" + "ab" { try await scene.upload(node(name)) }
      let found = try counting(scene.a)
      #expect(try counting(scene.b) == found, "\(order)")
      if expected.isEmpty { expected = found }
      #expect(found == expected, "\(order)")
      #expect(found.contains { $0.key.hasSuffix("as mysugr") && $0.key.hasPrefix("insulin") })
      #expect(found.filter { $0.key.hasPrefix("smbg") }.reduce(0) { $0 + $1.value } == 40)
      #expect(!found.contains { $0.key.hasPrefix("smbg") && $0.key.hasSuffix("counts") })
      // A decision about counting, made in one store, is synced and applies in the other store.
      let editor = CountEditor(try scene.a.editing(), at: 9)
      #expect(try editor.decide(CountDecision(.sources("apple-health", "mysugr"), .both)))
      try await scene.upload(scene.a, scene.b)
      let decided = try counting(scene.b)
      #expect(try counting(scene.a) == decided && decided != found)
    }
  }
}
