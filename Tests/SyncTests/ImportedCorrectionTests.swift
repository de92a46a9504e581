// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests that a later export corrects records of an earlier export, whichever store imported each of them.
/// Changes by a person are kept.
@Suite struct ImportedCorrectionTests {
  private static let guid = Digest.uuid(of: ["record", "test", "row"])

  private func carbs(_ node: SimulatedNode) throws -> FieldValue? {
    try node.record(Self.guid).state.fields["carbs"]
  }

  /// The first store imports an export with one row, and both stores then have its record.
  private func shared(_ scene: Scene) async throws {
    try scene.a.importDiary(carbs: 30, generatedAt: 5)
    try await scene.upload(scene.a, scene.b)
    #expect(try carbs(scene.b) == .number(30))
  }

  @Test func aLaterExportCorrectsARecordThatAnotherStoreImported() async throws {
    let scene = try await Scene()
    try await shared(scene)
    try scene.b.importDiary(carbs: 45, generatedAt: 6)
    #expect(try carbs(scene.b) == .number(45))
    try await scene.upload(scene.b, scene.a)
    #expect(try carbs(scene.a) == .number(45))
    try scene.a.importDiary(carbs: 60, generatedAt: 7)
    try await scene.upload(scene.a, scene.b)
    let late = try await scene.another(seed: 9)
    try await scene.upload(late)
    try late.importDiary(carbs: 75, generatedAt: 8)
    try await scene.upload(late, scene.a, scene.b)
    for node in [scene.a, scene.b, late] {
      #expect(try carbs(node) == .number(75) && !node.record(Self.guid).isPending)
      #expect(try node.record(Self.guid).state.export?.generated == 8)
    }
  }

  @Test func anEarlierExportDoesNotRevertARecordThatAnotherStoreImported() async throws {
    let scene = try await Scene()
    try await shared(scene)
    try scene.b.importDiary(carbs: 20, generatedAt: 4)
    #expect(try carbs(scene.b) == .number(30) && !scene.b.record(Self.guid).isPending)
  }

  @Test func aStoreDoesNotRevertANewerExportOfAnotherStoreToItsOwnOlderOne() async throws {
    let scene = try await Scene()
    try await shared(scene)
    try scene.b.importDiary(carbs: 45, generatedAt: 8)
    try await scene.upload(scene.b, scene.a)
    try scene.a.importDiary(carbs: 40, generatedAt: 7)
    #expect(try carbs(scene.a) == .number(45) && !scene.a.record(Self.guid).isPending)
    try scene.a.importDiary(carbs: 50, generatedAt: 9)
    #expect(try carbs(scene.a) == .number(50))
  }

  /// The later export has the content that both stores already have. So only the store that imports it learns
  /// the later export time.
  @Test(arguments: [true, false]) func anEarlierExportDoesNotReplaceContentOfALaterOneInAnotherStore(
    _ isImporter: Bool
  ) async throws {
    let scene = try await Scene()
    try await shared(scene)
    let (later, earlier) = isImporter ? (scene.a, scene.b) : (scene.b, scene.a)
    try later.importDiary(carbs: 30, generatedAt: 8)
    try earlier.importDiary(carbs: 45, generatedAt: 7)
    #expect(try carbs(earlier) == .number(45))
    try await scene.upload(earlier, later, earlier)
    for node in [scene.a, scene.b] {
      #expect(try carbs(node) == .number(30) && !node.record(Self.guid).isPending)
      #expect(try node.record(Self.guid).state.export?.generated == 8)
    }
    // Both stores have the time of the later export. So an import of the earlier export changes nothing in
    // either store.
    for node in [scene.a, scene.b] {
      try node.importDiary(carbs: 45, generatedAt: 7)
      #expect(try carbs(node) == .number(30))
    }
    try earlier.importDiary(carbs: 60, generatedAt: 9)
    try await scene.upload(earlier, later)
    for node in [scene.a, scene.b] { #expect(try carbs(node) == .number(60)) }
  }

  @Test(arguments: [[0, 1], [1, 0]]) func correctionsOfTwoStoresEndWithTheLaterExport(
    _ order: [Int]
  ) async throws {
    let scene = try await Scene()
    try await shared(scene)
    let nodes = [scene.a, scene.b]
    try nodes[order[0]].importDiary(carbs: 45, generatedAt: 7)
    try nodes[order[1]].importDiary(carbs: 60, generatedAt: 8)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in nodes {
      #expect(try carbs(node) == .number(60) && !node.record(Self.guid).isConflicted)
    }
  }

  /// A person edits the record in the store that imported it, in the other store, or in both stores.
  @Test(arguments: [[0], [1], [0, 1]]) func anEditByAPersonIsKeptInEveryStore(_ editors: [Int]) async throws {
    let scene = try await Scene()
    try await shared(scene)
    for index in editors {
      let node = [scene.a, scene.b][index]
      _ = try node.editor().edit(Self.guid) { $0.fields["carbs"] = .number(99) }
      try await scene.upload(node)
    }
    try await scene.upload(scene.a, scene.b)
    let late = try await scene.another(seed: 9)
    try await scene.upload(late)
    for node in [scene.a, scene.b, late] {
      try node.importDiary(carbs: 60, generatedAt: 50)
      #expect(try carbs(node) == .number(99) && node.record(Self.guid).state.export == nil)
    }
    try await scene.upload(late, scene.a, scene.b)
    #expect(try await scene.held(Self.guid)?.fields["carbs"] == .number(99))
  }

  @Test func aPendingEditIsNotReplacedByTheImportOfAnotherStore() async throws {
    let scene = try await Scene()
    try await shared(scene)
    _ = try scene.a.editor().edit(Self.guid) { $0.fields["carbs"] = .number(99) }
    try scene.b.importDiary(carbs: 60, generatedAt: 50)
    try await scene.upload(scene.b, scene.a)
    #expect(try carbs(scene.a) == .number(99) && scene.a.record(Self.guid).isConflicted)
    // The edit of another field is merged with the import. The merged record equals no export, so it has no
    // export time.
    try scene.a.resolve(Self.guid, .theirs)
    try await scene.upload(scene.a, scene.b)
    try scene.a.edit(Self.guid, "text", "by hand")
    try scene.b.importDiary(carbs: 70, generatedAt: 60)
    try await scene.upload(scene.b, scene.a, scene.b)
    for node in [scene.a, scene.b] {
      #expect(try carbs(node) == .number(70) && node.text(Self.guid, "text") == "by hand")
      #expect(try node.record(Self.guid).state.export == nil)
    }
  }

  @Test func aDeletedRecordStaysDeletedWhenAnotherStoreImportsALaterExport() async throws {
    let scene = try await Scene()
    try await shared(scene)
    try scene.a.delete(Self.guid)
    try await scene.upload(scene.a, scene.b)
    try scene.b.importDiary(carbs: 60, generatedAt: 50)
    #expect(try scene.b.record(Self.guid).state.isDeleted)
  }

  @Test func anEditThatIsUndoneLeavesTheContentOfTheImport() async throws {
    let scene = try await Scene()
    try await shared(scene)
    for number in [99.0, 30.0] {
      _ = try scene.b.editor().edit(Self.guid) { $0.fields["carbs"] = .number(number) }
    }
    try scene.b.importDiary(carbs: 60, generatedAt: 50)
    #expect(try carbs(scene.b) == .number(60))
  }

  @Test func undoAndRedoSwitchBetweenTheContentsOfTheImportsOfTwoStores() async throws {
    let scene = try await Scene()
    try await shared(scene)
    try scene.b.importDiary(carbs: 45, generatedAt: 6)
    let number = try #require(try scene.b.imports().max())
    let counts = try scene.b.editing().undo(number, group: Digest.uuid(of: ["undo"]), at: 10)
    #expect(counts.changedRecords == 1 && counts.editedRecords == 0)
    try await scene.upload(scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try carbs(node) == .number(30)) }
    _ = try scene.b.editing().redo(number, at: 20)
    try await scene.upload(scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try carbs(node) == .number(45)) }
  }

  @Test func aRecordThatAPersonTypedHasNoExportTime() async throws {
    let scene = try await Scene()
    let guid = try await scene.sharedNote()
    for node in [scene.a, scene.b] {
      #expect(try node.record(guid).state.export == nil && !node.record(guid).isImportedOnly)
    }
    try await shared(scene)
    for node in [scene.a, scene.b] {
      #expect(
        try node.record(Self.guid).state.export?.generated == 5 && node.record(Self.guid).isImportedOnly)
    }
    #expect(try await scene.held(Self.guid)?.export?.generated == 5)
  }

  // MARK: Finger sticks

  /// Imports the export `number` of a growing diary. Its first finger stick has the value `first`, which
  /// differs between exports.
  ///
  /// - Parameter age: the time of the newest item; nil if it is the newest finger stick.
  private func importSticks(
    _ first: Double, _ number: Int64, _ node: SimulatedNode, age: Int64? = nil
  ) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Test", model: "Diary", format: "test")]
    let times = [100_000] + (0...number).map { 200_000 + 100_000 * $0 }
    batch.readings = times.enumerated().map { place, time in
      var reading = Reading(
        device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: time),
        placement: Placement(utcOffset: 3600, source: .zone),
        .value(Quantity(place == 0 ? first : 7.7, .millimolesPerLitre)), line: 1)
      reading.marks = .manual
      return reading
    }
    try node.ingest(batch, generatedAt: age ?? 200_000 + 100_000 * number)
  }

  /// The visible values of the first finger stick, in tenths of mmol/L.
  private func firstStick(_ node: SimulatedNode) throws -> [String] {
    try node.rows(
      """
      SELECT r.value_bucket FROM reading AS r WHERE r.position = 100000 AND NOT EXISTS (SELECT 1 FROM withdrawn AS w
        WHERE (w.series, w.position, w.value_bucket) = (r.series, r.position, r.value_bucket)) ORDER BY 1
      """)
  }

  @Test func anEarlierExportDoesNotRestoreAFingerStickThatALaterExportCorrected() async throws {
    let scene = try await Scene()
    try importSticks(6.5, 3, scene.a)
    try await scene.upload(scene.a, scene.b)
    try importSticks(5.6, 1, scene.b)
    #expect(try firstStick(scene.b) == ["65"])
    try await scene.upload(scene.b, scene.a)
    for node in [scene.a, scene.b] { #expect(try firstStick(node) == ["65"]) }
  }

  /// Each store imports one export before it receives the other store's export.
  @Test(arguments: [[0, 1], [1, 0]]) func theLaterOfTwoExportsInTwoStoresDecidesAboutAFingerStick(
    _ order: [Int]
  ) async throws {
    let scene = try await Scene()
    let nodes = [scene.a, scene.b]
    try importSticks(5.6, 0, nodes[order[0]])
    try importSticks(6.5, 3, nodes[order[1]])
    try await scene.upload(scene.a, scene.b, scene.a, scene.b)
    for node in nodes { #expect(try firstStick(node) == ["65"]) }
  }

  /// The later export has only few of the finger sticks, and its newest item is none.
  @Test(arguments: [[0, 1], [1, 0]]) func aLaterExportOfFewerDaysDecidesAboutAFingerStick(
    _ order: [Int]
  ) async throws {
    let scene = try await Scene()
    let nodes = [scene.a, scene.b]
    try importSticks(5.6, 3, nodes[order[0]])
    try importSticks(6.5, 1, nodes[order[1]], age: 900_000)
    try await scene.upload(scene.a, scene.b, scene.a, scene.b)
    for node in nodes { #expect(try firstStick(node) == ["65"]) }
  }

  @Test func aRepeatedImportOfAnEarlierExportKeepsACorrectionByAnotherStore() async throws {
    let scene = try await Scene()
    try importSticks(5.6, 1, scene.a)
    try await scene.upload(scene.a, scene.b)
    try importSticks(6.5, 2, scene.b)
    try await scene.upload(scene.b, scene.a)
    for number in [Int64(1), 0] {
      try importSticks(5.6, number, scene.a)
      #expect(try firstStick(scene.a) == ["65"])
    }
    try await scene.upload(scene.a, scene.b)
    for node in [scene.a, scene.b] { #expect(try firstStick(node) == ["65"]) }
  }

  /// The first store undid the export with the typing error, and the second store imported that export, too.
  @Test(arguments: [[0, 1], [1, 0]]) func anExportThatAnotherStoreImportedTooIsCorrectedAfterItsUndo(
    _ order: [Int]
  ) async throws {
    let scene = try await Scene()
    try importSticks(5.6, 0, scene.a)
    _ = try scene.a.undo(#require(try scene.a.imports().max()))
    try importSticks(6.5, 3, scene.a)
    try importSticks(5.6, 0, scene.b)
    let nodes = order.map { [scene.a, scene.b][$0] }
    for _ in 0..<3 { try await scene.upload(nodes[0], nodes[1]) }
    for node in nodes { #expect(try firstStick(node) == ["65"]) }
  }

  @Test func aFingerStickThatIsCorrectedAndCorrectedBackInTwoStoresHasOneValue() async throws {
    let scene = try await Scene()
    try importSticks(5.6, 0, scene.a)
    try await scene.upload(scene.a, scene.b)
    for (number, value, node) in [(1, 6.5, scene.b), (2, 5.6, scene.a), (3, 6.5, scene.b)] {
      try importSticks(value, Int64(number), node)
      #expect(try firstStick(node) == ["\(Int(value * 10))"])
      try await scene.upload(node, scene.a, scene.b)
      for node in [scene.a, scene.b] {
        #expect(try firstStick(node) == ["\(Int(value * 10))"], "export \(number)")
      }
    }
  }

  @Test func aStoreThatDownloadedAFingerStickWarnsIfALaterExportLacksIt() async throws {
    let scene = try await Scene()
    try importSticks(6.5, 20, scene.a)
    try await scene.upload(scene.a, scene.b)
    for (isLater, number) in [(false, Int64(19)), (true, 21)] {
      var batch = IngestBatch()
      batch.devices = [Device(vendor: "Test", model: "Diary", format: "test")]
      // In the app, the person deleted the finger stick with the number 12.
      batch.readings = (0...number).filter { $0 != 12 }.map { place in
        var reading = Reading(
          device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: 200_000 + 100_000 * place),
          placement: Placement(utcOffset: 3600, source: .zone),
          .value(Quantity(7.7, .millimolesPerLitre)), line: 1)
        reading.marks = .manual
        return reading
      }
      let source = IngestSource(
        name: "-", format: "test", startedAt: scene.b.clock, modifiedAt: nil, decisions: [])
      var warning: String?
      try scene.b.importer().ingest(source, isAtomic: false) { writer in
        try writer.write(batch)
        try writer.finish(
          end: .whole, digest: "", generatedAt: 200_000 + 100_000 * number, finishedAt: scene.b.clock,
          decisions: [])
        warning = try writer.missingItems()
      }
      #expect(
        (warning?.contains("1 item of an earlier import is not in this one: smbg of 1970-01-17") == true)
          == isLater)
      if !isLater { #expect(warning == nil) }
    }
  }

  // MARK: Missing items

  /// Imports one dose at each of these hours. Returns the warning about items that are missing in the export.
  private func importDoses(_ hours: [Int64], _ node: SimulatedNode, generatedAt: Int64) throws -> String? {
    var batch = IngestBatch()
    batch.records = hours.map { hour in
      ImportedRecord(
        kind: .insulin, at: DeviceTime(seconds: 3600 * hour),
        placement: Placement(utcOffset: 3600, source: .zone),
        fields: RecordFields(["insulin": .number(4)]), sourceID: "\(hour)", line: 1)
    }
    let source = IngestSource(
      name: "-", format: "test", startedAt: node.clock, modifiedAt: nil, decisions: [])
    var warning: String?
    try node.importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: "", generatedAt: generatedAt, finishedAt: node.clock, decisions: [])
      warning = try writer.missingItems()
    }
    return warning
  }

  @Test func aDoseMissingInALaterExportIsReportedByAStoreThatDidNotImportIt() async throws {
    let scene = try await Scene()
    let hours = Array<Int64>(1...12)
    #expect(try importDoses(hours, scene.a, generatedAt: 5) == nil)
    try await scene.upload(scene.a, scene.b)
    let remaining = hours.filter { $0 != 6 }
    #expect(try importDoses(remaining, scene.b, generatedAt: 4) == nil, "an older export shows nothing")
    #expect(try importDoses(hours, scene.b, generatedAt: 6) == nil)
    let warning = try #require(try importDoses(remaining, scene.b, generatedAt: 7))
    #expect(warning.contains("1 item of an earlier import is not in this one: insulin of 1970-01-01 06:00"))
    // A dose that a person edited does not come from an export, so no warning reports it as missing.
    let other = try await scene.another(seed: 9)
    try await scene.upload(other)
    _ = try other.editor().edit(Digest.uuid(of: ["record", "test", "6"])) {
      $0.fields["insulin"] = .number(5)
    }
    try await scene.upload(other, scene.a)
    let late = try await scene.another(seed: 10)
    try await scene.upload(late)
    #expect(try importDoses(remaining, late, generatedAt: 8) == nil)
  }

  // MARK: Over a Nightscout site

  private func meal(_ carbs: Double) -> ImportedRecord {
    ImportedRecord(
      kind: .food, at: DeviceTime(seconds: SiteScene.start),
      placement: Placement(utcOffset: 0, source: .stated),
      fields: RecordFields(["carbs": .number(carbs)]), sourceID: "row", line: 1)
  }

  @Test(arguments: [false, true]) func aLaterExportCorrectsARecordOfASiteUnlessItWasEditedThere(
    _ isEdited: Bool
  ) async throws {
    let scene = try SiteScene()
    try scene.ingest("a", [], records: [meal(30)])
    try await scene.upload("a")
    if isEdited {
      let document = try #require(scene.site.documents("treatments").first { $0["carbs"] == 30 })
      #expect(scene.site.actAsPhoneApp().editTreatment(document["_id"]?.text ?? "", ["carbs": 99]))
    }
    try await scene.upload("b")
    try scene.ingest("b", [], records: [meal(45)])
    let guid = Digest.uuid(of: ["record", "test", "row"])
    let record = try #require(try scene.store("b").sync { try $0.record(guid) })
    #expect(record.state.fields["carbs"] == .number(isEdited ? 99 : 45))
    #expect((record.state.export == nil) == isEdited)
  }
}
