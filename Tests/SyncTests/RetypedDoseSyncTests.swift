// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Tests exports that correct the use of a dose, in two stores.
@Suite struct RetypedDoseSyncTests {
  /// Imports an export with a dose of 8 units with this use, and twelve other doses of each use.
  private func importDoses(_ use: String, _ node: SimulatedNode, generatedAt: Int64) throws {
    var batch = IngestBatch()
    let others = (1...24).map { (use: $0 % 2 == 0 ? "rapid" : "long", units: Double($0), hour: Int64($0)) }
    batch.records = ([(use: use, units: 8, hour: 0)] + others).map { dose in
      var fields = RecordFields(["units": .number(dose.units)])
      if !dose.use.isEmpty { fields["subtype"] = .text(dose.use) }
      return ImportedRecord(
        kind: .insulin, at: DeviceTime(seconds: 1_700_000_000 + 3600 * dose.hour),
        placement: Placement(utcOffset: 3600, source: .zone), fields: fields, line: 1)
    }
    try node.ingest(batch, generatedAt: generatedAt)
  }

  /// The uses of the visible doses of 8 units at the first time.
  private func uses(_ node: SimulatedNode) throws -> [String] {
    var uses: [String] = []
    try node.importer().forEachItem(ItemFilter()) { item in
      guard case .record(let record) = item, record.deviceTime.seconds == 1_700_000_000 else { return }
      uses.append(record.subtype)
    }
    return uses
  }

  /// The stores import the earlier and the later export, in this order.
  @Test(arguments: [["rapid", "long"], ["long", "rapid"]])
  func storesAgreeOnTheLaterUseWhicheverImportsIt(_ order: [String]) async throws {
    let scene = try await Scene()
    func bring(_ use: String, _ node: SimulatedNode) throws {
      try importDoses(use, node, generatedAt: use == "rapid" ? 5 : 6)
    }
    try bring(order[0], scene.a)
    if order[0] == "rapid" {
      try await scene.upload(scene.a, scene.b)
      try bring(order[1], scene.b)
    } else {
      try bring(order[1], scene.a)
    }
    try await scene.upload(scene.b, scene.a, scene.b)
    for node in [scene.a, scene.b] { #expect(try uses(node) == ["long"]) }
    for node in [scene.a, scene.b] { try bring("rapid", node) }
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try uses(node) == ["long"]) }
  }

  /// If a dose from another store hid one of this store, the undo of its import would leave both hidden.
  @Test func aDoseWithAUseFromAnotherStoreHidesNoDoseWithoutOne() async throws {
    let scene = try await Scene()
    try importDoses("rapid", scene.a, generatedAt: 5)
    try await scene.upload(scene.a, scene.b)
    try importDoses("", scene.b, generatedAt: 6)
    #expect(try uses(scene.b).sorted() == ["", "rapid"])
    _ = try scene.a.undo(#require(try scene.a.imports().max()))
    try await scene.upload(scene.b, scene.a, scene.b)
    #expect(try uses(scene.b) == [""])
  }

  /// A person corrected the use back. The export that shows this is imported in the other store.
  @Test func aUseThatWasCorrectedBackIsShownInBothStores() async throws {
    let scene = try await Scene()
    try importDoses("rapid", scene.a, generatedAt: 5)
    try importDoses("long", scene.a, generatedAt: 6)
    try importDoses("rapid", scene.a, generatedAt: 7)
    try await scene.upload(scene.a, scene.b)
    for node in [scene.a, scene.b] { #expect(try uses(node) == ["rapid"]) }
    try importDoses("rapid", scene.b, generatedAt: 8)
    try await scene.upload(scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try uses(node) == ["rapid"]) }
  }
}
