// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Simulation
import TestServers
import Testing

@testable import Sync

/// Tests that the provenance of a record is synced with it, and that no edit, merge or conflict changes it.
@Suite struct ProvenanceSyncTests {
  private static let diary = Provenance(format: "test", source: "Anna’s phone")
  private static let guid = Digest.uuid(of: ["record", "test", "row"])

  private func known(_ state: RecordState, _ provenance: Provenance? = diary) -> RecordState {
    state.addingProvenance(provenance)
  }

  // MARK: Merging

  @Test func differentProvenanceIsNeverAConflict() {
    let base = note(["text": .text("a")])
    let (local, remote) = (known(base), known(base, .typed))
    #expect(Merge.of(local: local, remote: remote, base: base) == .takesRemote)
    #expect(Merge.of(local: local, remote: remote, base: nil) == .takesRemote)
    #expect(Merge.of(local: base, remote: remote, base: nil) == .takesRemote)
  }

  @Test func aStoreThatKnowsTheProvenanceOfARecordSendsIt() {
    let base = note(["text": .text("a")])
    #expect(Merge.of(local: known(base), remote: base, base: base) == .yields(known(base)))
    let remote = note(["text": .text("b")])
    #expect(Merge.of(local: known(base), remote: remote, base: base) == .yields(known(remote)))
    // The remote has deleted the record. A tombstone needs no provenance, so the local provenance is not
    // sent.
    #expect(Merge.of(local: known(base), remote: tombstone, base: base) == .takesRemote)
  }

  @Test(arguments: [true, false]) func aMergedRecordHasTheProvenanceThatOneSideKnows(_ isLocalKnown: Bool) {
    let base = note(["a": .number(1), "b": .number(1)])
    let local = known(note(["a": .number(2), "b": .number(1)]), isLocalKnown ? Self.diary : nil)
    let remote = known(note(["a": .number(1), "b": .number(2)]), isLocalKnown ? nil : Self.diary)
    let merged = known(note(["a": .number(2), "b": .number(2)]))
    #expect(Merge.of(local: local, remote: remote, base: base) == .yields(merged))
    #expect(
      Merge.of(local: local, remote: known(base, nil), base: base) == .yields(known(local, local.provenance)))
  }

  // MARK: Over a real server

  /// Imports a row without provenance, like a program from before records had a provenance.
  private func importUnknown(_ node: SimulatedNode) throws {
    try node.importDiary(carbs: 30, generatedAt: 1) {
      $0.guid = Self.guid
      $0.sourceID = ""
    }
  }

  private func importKnown(_ node: SimulatedNode, source: String = diary.source) throws {
    try node.importDiary(carbs: 30, generatedAt: 1) { $0.source = source }
  }

  @Test func provenanceIsTransferredBetweenStores() async throws {
    let scene = try await Scene()
    try importKnown(scene.a)
    let typed = try scene.a.add(["a": "1"])
    try await scene.upload(scene.a, scene.b)
    for node in [scene.a, scene.b] {
      #expect(try node.record(Self.guid).state.provenance == Self.diary)
      #expect(try node.record(typed).state.provenance == .typed)
    }
    #expect(try await scene.held(Self.guid)?.provenance == Self.diary)
    // The provenance stays the same after an edit and a deletion in another store.
    try scene.b.edit(Self.guid, "text", "soup")
    try scene.b.delete(typed)
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.text(Self.guid, "text") == "soup")
    #expect(try scene.a.record(Self.guid).state.provenance == Self.diary)
    #expect(try scene.a.record(typed).state.provenance == .typed)
    #expect(try await scene.held(typed)?.provenance == .typed)
  }

  @Test(arguments: ["mine", "theirs", "both"]) func aConflictKeepsTheProvenanceOfItsRecord(
    _ resolution: String
  )
    async throws
  {
    let scene = try await Scene()
    try importKnown(scene.a)
    try await scene.upload(scene.a, scene.b)
    try scene.a.edit(Self.guid, "text", "a")
    try scene.b.edit(Self.guid, "text", "b")
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.record(Self.guid).isConflicted)
    let copy = Digest.uuid(of: ["copy"])
    switch resolution {
    case "mine": try scene.a.resolve(Self.guid, .mine)
    case "theirs": try scene.a.resolve(Self.guid, .theirs)
    default: try scene.a.resolve(Self.guid, .both(guid: copy))
    }
    try await scene.upload(scene.a, scene.b)
    for guid in resolution == "both" ? [Self.guid, copy] : [Self.guid] {
      #expect(try scene.a.record(guid).state.provenance == Self.diary)
      #expect(try scene.b.record(guid).state.provenance == Self.diary)
      #expect(try await scene.held(guid)?.provenance == Self.diary)
    }
  }

  @Test func allStoresLearnTheProvenanceOfARecordFromOneStore() async throws {
    let scene = try await Scene()
    try importUnknown(scene.a)
    try await scene.upload(scene.a, scene.b)
    #expect(try await scene.held(Self.guid)?.provenance == nil)
    try importKnown(scene.b)
    try await scene.upload(scene.b, scene.a)
    #expect(try await scene.held(Self.guid)?.provenance == Self.diary)
    #expect(try scene.a.record(Self.guid).state.provenance == Self.diary)
    #expect(try scene.a.record(Self.guid).isUpToDate && scene.b.record(Self.guid).isUpToDate)
  }

  @Test(arguments: [true, false]) func anEditIsNotLostWhenAnotherStoreSendsTheProvenance(_ isSameField: Bool)
    async throws
  {
    let scene = try await Scene()
    try importUnknown(scene.a)
    try await scene.upload(scene.a, scene.b)
    try scene.a.edit(Self.guid, "text", "soup")
    try importKnown(scene.b)
    if isSameField { try scene.b.edit(Self.guid, "text", "bread") }
    try await scene.upload(scene.b, scene.a)
    #expect(try scene.a.record(Self.guid).isConflicted == isSameField)
    #expect(try scene.a.record(Self.guid).state.provenance == Self.diary)
    if isSameField { try scene.a.resolve(Self.guid, .mine) }
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.b.text(Self.guid, "text") == "soup")
    #expect(try scene.b.record(Self.guid).state.provenance == Self.diary)
    #expect(try await scene.held(Self.guid)?.provenance == Self.diary)
  }

  /// Both stores import the same row, and only one of them knows its provenance. The second upload finds the
  /// first store's version on the server.
  @Test(arguments: [true, false]) func twoStoresAgreeOnTheKnownProvenanceOfARecord(_ isFirstKnown: Bool)
    async throws
  {
    let scene = try await Scene()
    try isFirstKnown ? importKnown(scene.a) : importUnknown(scene.a)
    try isFirstKnown ? importUnknown(scene.b) : importKnown(scene.b)
    try await scene.upload(scene.a, scene.b, scene.a)
    for node in [scene.a, scene.b] {
      #expect(try node.record(Self.guid).state.provenance == Self.diary)
      #expect(try node.record(Self.guid).isUpToDate)
    }
    #expect(try await scene.held(Self.guid)?.provenance == Self.diary)
  }

  @Test(arguments: [nil, Provenance(format: "other", source: "x")])
  func aServerKeepsTheFirstProvenanceOfARecord(_ sent: Provenance?) async throws {
    let scene = try await Scene()
    try importKnown(scene.a)
    try await scene.upload(scene.a)
    let held = try #require(try await scene.server.everything().records.first { $0.guid == Self.guid })
    var state = held.state
    state.provenance = sent
    state.fields["text"] = .text("soup")
    let run = RunStamp(node: Digest.uuid(of: ["node"]), number: 1, id: Digest.uuid(of: ["run"]))
    let change = RecordChange(guid: Self.guid, node: run.node, version: 1, base: held.revision, state: state)
    for _ in 0..<2 {
      // The server accepts the change again when it is repeated, although it did not store the sent
      // provenance.
      let answer = try await scene.server.connection()().apply([change], run)
      guard case .accepted? = answer.verdicts.first else { throw Unexpected() }
    }
    #expect(try await scene.held(Self.guid)?.provenance == Self.diary)
    #expect(try await scene.held(Self.guid)?.fields["text"] == .text("soup"))
    try await scene.upload(scene.a, scene.b)
    #expect(try scene.a.text(Self.guid, "text") == "soup")
    #expect(try scene.b.record(Self.guid).state.provenance == Self.diary)
  }

  private struct Unexpected: Error {}

  // MARK: Over a Nightscout site

  /// A meal from the row with the id `row` of an import.
  private static let meal = ImportedRecord(
    kind: .food, at: DeviceTime(seconds: SiteScene.start),
    placement: Placement(utcOffset: 0, source: .stated),
    fields: RecordFields(["carbs": .number(30)]), sourceID: "row", line: 1)

  private func provenances(_ scene: SiteScene, _ name: String) throws -> [Provenance?] {
    try scene.store(name).compare { try $0.allRecords() }
      .filter { $0.state.kind.details?.isListed == true }.map(\.state.provenance)
  }

  @Test func aNightscoutSiteStoresTheProvenanceInTheGlucoportField() async throws {
    let scene = try SiteScene()
    var record = Self.meal
    record.source = "a < \"b\" & c"
    try scene.ingest("a", [], records: [record])
    try await scene.upload("a")
    try await scene.upload("b")
    let origin = Provenance(format: "test", source: "a < \"b\" & c")
    #expect(try provenances(scene, "a") == [origin] && provenances(scene, "b") == [origin])
    // The site's field `enteredBy` is only the name of glucoport and does not replace the provenance. The
    // next upload changes nothing.
    let document = try #require(scene.site.documents("treatments").first { $0["carbs"] != nil })
    #expect(document["enteredBy"]?.text == "glucoport")
    #expect(try await scene.upload("b").summary == UploadSummary())
  }

  @Test func aDeletedRecordThatIsCreatedAgainKeepsItsProvenance() async throws {
    let scene = try SiteScene()
    var record = Self.meal
    try scene.ingest("a", [], records: [record])
    record.guid = Digest.uuid(of: ["record", "test", "row"])
    // A deletion that is older than 30 days leaves no document on the site.
    let then = SiteScene.clock / 1000 - 31 * 86_400
    _ = try RecordEditor(scene.editing("a"), at: then).delete(#require(record.guid))
    try await scene.upload("a")
    try scene.ingest("b", [], records: [record])
    #expect(try provenances(scene, "b") == [nil])
    for name in ["b", "a", "a", "b"] { try await scene.upload(name) }
    let origin = Provenance(format: "test", source: "")
    #expect(try provenances(scene, "a") == [origin] && provenances(scene, "b") == [origin])
    for name in ["a", "b"] { #expect(try await scene.upload(name).summary == UploadSummary()) }
  }

  @Test func theEnteredByFieldOfATreatmentBecomesItsProvenance() async throws {
    let scene = try SiteScene()
    let phone = scene.site.actAsPhoneApp()
    for (place, name) in ["Loop &lt;3", "", "openaps://phone"].enumerated() {
      phone.addTreatment([
        "eventType": "Correction Bolus", "insulin": 1, "enteredBy": .string(name),
        "created_at": .string(SiteScene.text((SiteScene.start + Int64(place) * 600) * 1000)),
      ])
    }
    try await scene.upload("a")
    let sources = try provenances(scene, "a").compactMap(\.self)
    #expect(Set(sources.map(\.format)) == ["nightscout"])
    #expect(Set(sources.map(\.source)) == ["Loop <3", "", "openaps://phone"])
  }
}
