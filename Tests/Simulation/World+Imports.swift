// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import SeededRandom

/// Simulates imports of meters and exports.
extension World {
  func importReadings(_ node: SimulatedNode) throws {
    let batch = drawReadings()
    log("\(node.name) imports \(batch.readings.count) readings")
    try ingest(batch, node)
  }

  /// Imports readings in a zone that a person states. This zone is often the zone of the logbook.
  func importGiven(_ node: SimulatedNode) throws {
    let base = try node.baseZone().split(separator: " ").first.map(String.init)
    let name = random.once(in: 2) ? base ?? "UTC" : drawZone()
    let batch = drawReadings()
    removesReadings = kind == .site
    log("\(node.name) imports \(batch.readings.count) readings of \(name)")
    try ingest(batch, node, zone: InputZone(LogbookZone(name: name), isGiven: true, placesReadings: false))
    // All readings of this import must be in the given zone, whatever zones were stated before.
    let others = try node.rows(
      """
      SELECT r.device_time FROM reading AS r LEFT JOIN item_zone_name AS n ON n.id = r.zone
      WHERE r.ingest = (SELECT max(id) FROM ingest) AND n.name IS NOT '\(name)'
      """)
    guard others.isEmpty else {
      throw Broken("\(node.name): readings of an import are not in its zone \(name)")
    }
  }

  private func drawReadings() -> IngestBatch {
    var batch = IngestBatch()
    // The device `c` states only instants. The zones of the logbook determine their shown times.
    let device = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    batch.devices = [Device(vendor: "Maker", model: "M", serial: device, format: "sim")]
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      // There are few different times and values. So several nodes have the same readings, or other values at
      // the same times.
      let isSensor = random.once(in: 2)
      let time = DeviceTime(seconds: 1_700_000_000 + 300 * Int64.random(in: 0..<12, using: &random))
      let value = Quantity(Double(Int.random(in: 100...103, using: &random)), .milligramsPerDecilitre)
      let kind = isSensor ? ReadingKind.cbg : .smbg
      batch.readings.append(
        device == "c"
          ? Reading(
            device: DeviceIndex(0), kind: kind, tick: (time.seconds - 3600) * 1000, at: time,
            placement: Placement(utcOffset: 3600, source: .instant), .value(value), line: 1)
          : Reading(
            device: DeviceIndex(0), kind: kind, at: time,
            placement: Placement(utcOffset: 3600, source: .zone), .value(value), line: 1))
    }
    return batch
  }

  /// Imports a random export of a diary whose rows have ids. Exports are imported in any order of their
  /// export times.
  func importDiary(_ node: SimulatedNode) throws {
    if random.once(in: 2) { exportTime += 1 }
    let made = Int64.random(in: max(1, exportTime - 2)...exportTime, using: &random)
    var batch = IngestBatch()
    for id in 0..<3 where random.once(in: 2) {
      var row = ImportedRecord(
        kind: .food, at: DeviceTime(seconds: 1_700_000_000),
        placement: Placement(utcOffset: 3600, source: id == 2 ? .instant : .zone),
        fields: RecordFields(["carbs": .number(Double(made)), "text": .text("row\(id)")]),
        sourceID: "s\(id)", source: "app \(id)", line: 1)
      // Some rows are like rows in an export of a store: they state the id of the record but not its origin.
      if random.once(in: 3) { row.guid = Digest.uuid(of: ["record", "sim", "s\(id)"]) }
      batch.records.append(row)
    }
    log("\(node.name) imports an export of \(made)")
    let hidden = try node.sync().compare { try $0.hiddenRecords() }
    try ingest(batch, node, generatedAt: made)
    try checkCorrected(batch, node, made, besides: hidden)
  }

  /// Checks that records from an earlier export have the content of this export, and that records from a
  /// later export have not changed. Hidden records are not checked.
  private func checkCorrected(
    _ batch: IngestBatch, _ node: SimulatedNode, _ made: Int64, besides hidden: Set<String>
  ) throws {
    let after = try node.records()
    for row in batch.records {
      let guid = row.guid ?? Digest.uuid(of: ["record", "sim", row.sourceID])
      guard let old = before[guid], !old.state.isDeleted, !hidden.contains(guid),
        let age = old.state.export?.generated, age != made
      else { continue }
      let expected = age < made ? row.fields : old.state.fields
      guard after[guid]?.state.fields == expected else {
        throw Broken("\(node.name): an export of \(made) did not meet \(guid) of \(age) correctly")
      }
    }
  }

  private func ingest(
    _ batch: IngestBatch, _ node: SimulatedNode, zone: InputZone? = nil, generatedAt: Int64? = nil
  ) throws {
    before = try node.records()
    // A meter has no file, so an import of a meter has no digest.
    let digest = random.once(in: 2) ? random.uuid() : ""
    let source = IngestSource(
      name: "-", format: "sim", startedAt: node.clock, modifiedAt: nil, decisions: [], zone: zone)
    try node.importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest, generatedAt: generatedAt, finishedAt: node.clock, decisions: [])
    }
    owedReadings.formUnion(try node.identities())
    try checkNothingOverwritten(node)
  }
}
