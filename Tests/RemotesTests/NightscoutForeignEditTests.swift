// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout
import TestServers
import Testing

@testable import Remotes

/// Tests edits of other programs' treatments. Active doses must stay correct, and no data of the other
/// programs may be lost.
@Suite(.timeLimit(.minutes(10)))
struct NightscoutForeignEditTests {
  private static let clock: Int64 = 1_800_000_000_000
  private static let time = clock - 40 * 60_000

  private static func site() throws -> LoopbackNightscout { try .withFullMemory(frozenAt: clock) }

  private static let members: [String: DocumentValue] = [
    "eventType": "Meal Bolus", "insulin": 3, "carbs": 30, "notes": "lunch", "enteredBy": "phone",
    "boluscalc": ["foods": ["soup"]], "created_at": "2027-01-15T09:20:00.000+02:00",
  ]

  /// Adds a lunch by API v1 without an identifier. Returns its id and the record that a store pulls from it.
  private static func lunch(
    _ kind: RecordKind, on loopback: LoopbackNightscout
  ) async throws -> (id: String, record: RemoteRecord) {
    let time = NightscoutTime.localText(Self.time, minutes: 120)
    let id = loopback.site.actAsPhoneApp().addTreatment(members.merging(["created_at": .string(time)]) { $1 })
    loopback.site.settle()
    let page = try #require(try await loopback.pull(nil))
    return (try #require(id), try #require(page.records.first { $0.state.kind == kind }))
  }

  private static func edit(
    _ record: RemoteRecord, version: Int = 1, _ change: (inout RecordState) -> Void
  ) -> RecordChange {
    var state = record.state
    change(&state)
    return RecordChange(
      guid: record.guid, node: Login.run().node, version: version, base: record.revision, state: state)
  }

  /// All pages of a pull as one; nil if there are no changes.
  private static func everything(
    _ loopback: LoopbackNightscout, _ cursor: String?, node: Int = 2
  ) async throws -> ChangePage? {
    try await loopback.ask { remote in
      var all: ChangePage?
      while let page = try await remote.changes(
        after: all?.cursor ?? cursor, limit: 1000, Login.run(node: node))
      {
        var sum = page
        sum.readings.readings += all?.readings.readings ?? []
        sum.records += all?.records ?? []
        sum.notTaken.merge(all?.notTaken ?? [:], uniquingKeysWith: +)
        all = sum
        if !page.hasMore { break }
      }
      return all
    }
  }

  @Test func afterEditsADoseWithoutAnIdentifierCountsOnce() async throws {
    let loopback = try Self.site()
    let (id, record) = try await Self.lunch(.food, on: loopback)
    let before = loopback.site.insulinOnBoard
    var known = record
    for (version, text) in ["one", "two < three"].enumerated() {
      let change = Self.edit(known, version: version + 1) { $0.fields["text"] = .text(text) }
      guard case .accepted(let revision)? = try await loopback.push(change) else {
        Issue.record("not accepted")
        return
      }
      known = RemoteRecord(guid: known.guid, revision: revision, state: change.state)
      #expect(before > 1 && loopback.site.insulinOnBoard == before, "edit \(version)")
    }
    let document = try #require(
      loopback.site.documents("treatments").first { $0["_id"]?.text == id })
    #expect(document["notes"] == "two < three" && document["insulin"] == 3 && document["carbs"] == 30)
    #expect(document["boluscalc"]?["foods"]?.array == ["soup"], "what others wrote stays")
    #expect(document["utcOffset"] == 120 && document["identifier"] == nil)
    #expect(document["created_at"]?.text == NightscoutTime.utcText(Self.time))
    // Another store finds the document in the site's history, which also contains changes of old documents.
    let seen = try #require(try await loopback.pull(nil, node: 3))
    #expect(
      seen.records.contains { $0.guid == record.guid && $0.state.fields["text"] == .text("two < three") })
    #expect(document["srvModified"]?.whole ?? 0 >= Self.clock)
  }

  @Test func afterEditsADoseWithAnIdentifierCountsOnce() async throws {
    let loopback = try Self.site()
    // The dose is stored as API v1 stores a dose of a program that sends an identifier: the dose lacks
    // `mills`.
    let time = NightscoutTime.utcText(Self.time)
    loopback.site.actAsPhoneApp().addTreatment([
      "identifier": "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c12", "app": "AAPS", "eventType": "Correction Bolus",
      "insulin": 2, "created_at": .string(time), "date": DocumentValue(Self.time),
    ])
    loopback.site.settle()
    let before = loopback.site.insulinOnBoard
    let page = try #require(try await loopback.pull(nil))
    let record = try #require(page.records.first { $0.state.kind == .insulin })
    let first = Self.edit(record) { $0.fields["text"] = .text("one") }
    guard case .accepted? = try await loopback.push(first) else {
      Issue.record("not accepted")
      return
    }
    #expect(before > 1 && loopback.site.insulinOnBoard == before)
  }

  /// The site draws the extended part of a bolus from members such as `splitExt`, which no field of a record
  /// stores.
  @Test func anEditOfACombinationBolusChangesBothPartsOnTheSite() async throws {
    let loopback = try Self.site()
    loopback.site.actAsPhoneApp().addTreatment([
      "eventType": "Combo Bolus", "insulin": 4, "enteredinsulin": 10, "splitNow": 40, "splitExt": 60,
      "duration": 120, "relative": 3, "created_at": .string(NightscoutTime.utcText(Self.time)),
    ])
    loopback.site.settle()
    let page = try #require(try await loopback.pull(nil))
    let record = try #require(page.records.first { $0.state.kind == .insulin })
    #expect(record.state.fields["extended"] == .number(6))
    let edit = Self.edit(record) { state in
      (state.fields["units"], state.fields["extended"]) = (.number(5), .number(3))
      state.fields["minutes"] = .number(90)
    }
    guard case .accepted? = try await loopback.push(edit) else {
      Issue.record("not accepted")
      return
    }
    let document = try #require(
      loopback.site.documents("treatments").first { $0["eventType"] == "Combo Bolus" })
    let found = ["insulin", "enteredinsulin", "splitNow", "splitExt", "duration", "relative"].map {
      document[$0]?.number
    }
    #expect(found == [5, 8, 62.5, 37.5, 90, 2])
  }

  /// The amount of long-acting insulin stays in the member in which the other program wrote it.
  @Test(
    arguments: [
      ["eventType": "Correction Bolus", "insulin": 16, "notes": "Levemir"],
      ["eventType": "Correction Bolus", "insulin": 16, "isBasalInsulin": true],
      ["eventType": "Temp Basal", "absolute": 16, "duration": 1440, "insulinType": "Long-Acting"],
      [
        "eventType": "Temp Basal", "absolute": 16, "duration": 1440, "insulinName": "evening",
        "insulinDIA": 24,
      ],
    ] as [[String: DocumentValue]])
  func anEditOfLongActingInsulinLeavesNoOtherAmountOnTheSite(_ members: [String: DocumentValue]) async throws
  {
    let loopback = try Self.site()
    let id = loopback.site.actAsPhoneApp().addTreatment(
      members.merging(["created_at": .string(NightscoutTime.utcText(Self.time))]) { own, _ in own })
    loopback.site.settle()
    var known = try #require(
      try await loopback.pull(nil)?.records.first { $0.state.kind == .insulin })
    #expect(known.state.fields.subtype == "long" && known.state.fields["units"] == .number(16))
    for (version, units) in [17.0, 18].enumerated() {
      let change = Self.edit(known, version: version + 1) { $0.fields["units"] = .number(units) }
      guard case .accepted(let revision)? = try await loopback.push(change) else {
        Issue.record("not accepted")
        return
      }
      known = RemoteRecord(guid: known.guid, revision: revision, state: change.state)
      let document = try #require(loopback.site.documents("treatments").first { $0["_id"]?.text == id })
      let amounts = ["insulin", "absolute"].map { document[$0]?.number }
      #expect(amounts == (members["insulin"] == nil ? [nil, units] : [units, nil]))
      #expect(document["notes"] == members["notes"])
    }
    let again = try #require(
      try await loopback.pull(nil, node: 3)?.records.first { $0.guid == known.guid })
    #expect(again.state.agrees(with: known.state))
  }

  /// The doses that a new store reads from the site's treatment of xDrip+ with two insulins, by subtype.
  private static func doses(_ loopback: LoopbackNightscout, node: Int) async throws -> [String: RemoteRecord]
  {
    let page = try #require(try await loopback.pull(nil, node: node))
    let doses = page.records.filter { $0.state.kind == .insulin && !$0.state.isDeleted }
    return Dictionary(doses.map { ($0.state.fields.subtype, $0) }) { first, _ in first }
  }

  @Test(arguments: ["rapid", "long"], [false, true])
  func aChangeOfOneOfTwoInjectionsLeavesTheOtherUnchanged(_ use: String, _ isDeletion: Bool) async throws {
    let loopback = try Self.site()
    loopback.site.actAsPhoneApp().addTreatment([
      "eventType": "Correction Bolus", "insulin": 7, "notes": "evening",
      "insulinInjections":
        #"[{"insulin":"Novorapid","units":5},{"insulin":"Lantus","units":2}]"#,
      "created_at": .string(NightscoutTime.utcText(Self.time)),
    ])
    loopback.site.settle()
    let before = try await Self.doses(loopback, node: 2)
    func valid() -> Int { loopback.site.documents("treatments").count { $0["isValid"] != false } }
    let count = valid()
    #expect(before["rapid"]?.state.fields["units"] == .number(5))
    #expect(before["long"]?.state.fields["units"] == .number(2))
    let change = Self.edit(try #require(before[use])) { state in
      if isDeletion { (state.fields, state.isDeleted) = (RecordFields(), true) }
      if !isDeletion { state.fields["units"] = .number(4) }
    }
    guard case .accepted? = try await loopback.push(change) else {
      Issue.record("not accepted")
      return
    }
    let after = try await Self.doses(loopback, node: 3)
    let other = use == "rapid" ? "long" : "rapid"
    #expect(after[use]?.state.fields["units"] == (isDeletion ? nil : .number(4)))
    let (kept, known) = (try #require(after[other]), try #require(before[other]))
    #expect(kept.guid == known.guid && kept.state.agrees(with: known.state))
    // The other dose is sent by a store that has imported the site's export. No second document may appear.
    let sent = RecordChange(
      guid: known.guid, node: Login.run().node, version: 1, base: nil, state: known.state)
    guard case .accepted? = try await loopback.push(sent) else {
      Issue.record("not accepted")
      return
    }
    #expect(valid() == count)
  }

  @Test func aDeletedDoseWithoutAnIdentifierNoLongerCounts() async throws {
    let loopback = try Self.site()
    let id = loopback.site.actAsPhoneApp().addTreatment([
      "eventType": "Correction Bolus", "insulin": 3, "created_at": .string(NightscoutTime.utcText(Self.time)),
    ])
    loopback.site.settle()
    let page = try #require(try await loopback.pull(nil))
    let record = try #require(page.records.first { $0.state.kind == .insulin })
    let change = Self.edit(record) { ($0.fields, $0.isDeleted) = (RecordFields(), true) }
    guard case .accepted? = try await loopback.push(change) else {
      Issue.record("not accepted")
      return
    }
    #expect(loopback.site.insulinOnBoard == 0)
    let document = try #require(loopback.site.documents("treatments").first { $0["_id"]?.text == id })
    #expect(document["isValid"] == false && document["insulin"] == nil)
  }

  /// If another program writes between the two reads of a document, the edit is a conflict and that write is
  /// kept.
  @Test(arguments: [false, true])
  func changesOfOthersJustBeforeAWriteAreNotOverwritten(_ isDeleted: Bool) async throws {
    let loopback = try Self.site()
    let (id, record) = try await Self.lunch(.food, on: loopback)
    let phone = loopback.site.actAsPhoneApp()
    if isDeleted {
      #expect(phone.deleteTreatment(id))
    } else {
      #expect(phone.editTreatment(id, ["carbs": 44]))
    }
    let verdict = try await loopback.push(Self.edit(record) { $0.fields["carbs"] = .number(50) })
    guard case .conflict(_, let state, _)? = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    #expect(state.isDeleted == isDeleted)
    let left = loopback.site.documents("treatments").filter { $0["_id"]?.text == id }
    #expect(left.map { $0["carbs"] } == (isDeleted ? [] : [44]))
  }

  /// The insulin of this treatment is not a record. It must not disappear when the treatment's last record is
  /// deleted.
  @Test func insulinThatFillsAPumpStaysOnTheSiteWhenTheMealIsDeleted() async throws {
    let loopback = try Self.site()
    let phone = loopback.site.actAsPhoneApp()
    let time = NightscoutTime.utcText(Self.time)
    let id = try #require(
      phone.addTreatment([
        "eventType": "Insulin Change", "insulin": 300, "carbs": 30, "enteredBy": "phone",
        "created_at": .string(time),
      ]))
    loopback.site.settle()
    let page = try #require(try await Self.everything(loopback, nil))
    // The site's memory is filled with notes, which are ignored.
    let taken = page.records.filter { $0.state.kind != .note }
    #expect(taken.map(\.state.kind) == [.food])
    let meal = try #require(taken.first)
    let verdict = try await loopback.push(
      Self.edit(meal) { ($0.fields, $0.isDeleted) = (RecordFields(), true) })
    guard case .accepted? = verdict else {
      Issue.record("\(String(describing: verdict))")
      return
    }
    let left = loopback.site.documents("treatments").filter { $0["_id"]?.text == id }
    #expect(left.map { $0["insulin"] } == [300] && left.allSatisfy { $0["isValid"] != false })
  }

  /// A store may contain a dose for insulin that only filled a pump, because an earlier version imported it.
  @Test func aDoseCreatedFromInsulinThatFillsAPumpIsNotSent() async throws {
    let loopback = try Self.site()
    let (_, dose) = try await Self.lunch(.insulin, on: loopback)
    let time = NightscoutTime.utcText(Self.time)
    let id = try #require(
      loopback.site.actAsPhoneApp().addTreatment([
        "eventType": "Insulin Change", "insulin": 300, "enteredBy": "phone", "created_at": .string(time),
      ]))
    loopback.site.settle()
    let change = RecordChange(
      guid: Digest.uuid(of: ["record", "nightscout", "\(id)/insulin"]), node: Login.run().node, version: 1,
      base: nil, state: dose.state)
    let before = loopback.site.documents("treatments").count
    guard case .refused? = try await loopback.push(change) else {
      Issue.record("the dose was not refused")
      return
    }
    #expect(loopback.site.documents("treatments").count == before)
  }

  /// A write reads the document twice, replaces it by a PUT, and reads the result. If the second read differs
  /// from the first, nothing is written.
  @Test func aDocumentOfAnotherProgramIsReadImmediatelyBeforeItIsReplaced() async throws {
    let key = "5f1e2d3c4b5a69788796a5b4"
    let shown: [String: JSONValue] = [
      "identifier": .text(key), "eventType": .text("Carb Correction"), "carbs": .number(30),
      "created_at": .text("2026-05-06T16:30:00.000Z"),
    ]
    var raw = shown
    (raw["identifier"], raw["_id"], raw["carbs"]) = (nil, .text(key), .number(31))
    let stored = raw
    let script = try NightscoutScript { call, _ in
      if call.hasPrefix("GET /api/v3/treatments/\(key)") { return NightscoutScript.document(shown) }
      if call.hasPrefix("GET /api/v1/treatments") { return (200, JSONValue.list([.object(stored)]).json) }
      return call.hasPrefix("GET") ? NightscoutScript.list([]) : nil
    }
    let document = try #require(NightscoutDocument(.object(shown)))
    let theirs = try #require(
      NightscoutTreatment.records(document, NightscoutZone(zone: nil)).first)
    let change = Self.edit(theirs.remote) { $0.fields["carbs"] = .number(40) }
    await #expect(throws: ServiceError.self) {
      _ = try await script.ask { try await $0.apply([change], Login.run()) }
    }
    #expect(!script.calls.contains { $0.hasPrefix("PUT") || $0.hasPrefix("PATCH") })
  }

  /// A search by time does not find entries without a valid date, and no program shows them.
  @Test func entriesOfASiteWithoutAValidDateAreCountedOnce() async throws {
    let loopback = try LoopbackNightscout(frozenAt: Self.clock)
    let phone = loopback.site.actAsPhoneApp()
    let time = NightscoutTime.utcText(Self.time)
    for date in [
      DocumentValue.string(time), DocumentValue(Self.time / 1000), DocumentValue(Self.time + 300_000),
    ] {
      phone.addEntry(["type": "sgv", "sgv": 100, "device": .string("phone \(date.json)"), "date": date])
      loopback.site.moveClock(by: 1000)
    }
    let first = try #require(try await Self.everything(loopback, nil))
    #expect(first.notTaken == [NightscoutRefusal.dateIsNoNumber: 2])
    #expect(first.readings.readings.count == 1)
    // A later pull searches for these entries again after some hours, but must not count them again.
    loopback.site.moveClock(by: 7 * 3_600_000)
    let second = try await Self.everything(loopback, first.cursor)
    #expect(second?.notTaken.isEmpty != false)
    phone.addEntry([
      "type": "sgv", "sgv": 101, "device": "phone", "date": DocumentValue(Self.time / 1000 + 300),
    ])
    loopback.site.moveClock(by: 7 * 3_600_000)
    let third = try #require(try await Self.everything(loopback, second?.cursor ?? first.cursor))
    #expect(third.notTaken == [NightscoutRefusal.dateIsNoNumber: 1])
  }

  /// API v3 marks the dose as deleted, but the running site still counts it as active insulin. A note is
  /// never active, and glucoport empties a document before it deletes it.
  @Test(arguments: [(RecordKind.insulin, false, true), (.note, false, false), (.insulin, true, false)])
  func anUploadedActiveDoseThatOthersDeletedIsReported(
    _ kind: RecordKind, _ isOurs: Bool, _ acts: Bool
  ) async throws {
    let loopback = try LoopbackNightscout(frozenAt: Self.clock)
    let fields: [String: FieldValue] =
      kind == .note ? ["text": .text("a walk")] : ["units": .number(3), "subtype": .text("rapid")]
    var state = RecordState(
      kind: kind, entryGuid: nil, deviceTime: DeviceTime(seconds: Self.time / 1000),
      placement: Placement(utcOffset: 0, source: .stated), fields: RecordFields(fields), isDeleted: false)
    func change(_ version: Int, _ base: String?) -> RecordChange {
      RecordChange(
        guid: Login.logbookID, node: Login.run().node, version: version, base: base, state: state)
    }
    guard case .accepted(let revision)? = try await loopback.push(change(1, nil)) else {
      Issue.record("not accepted")
      return
    }
    let first = try #require(try await Self.everything(loopback, nil))
    loopback.site.moveClock(by: 120_000)
    if isOurs {
      (state.fields, state.isDeleted) = (RecordFields(), true)
      _ = try await loopback.push(change(2, revision))
    } else {
      let token = loopback.site.addSubject("other", rights: LoopbackNightscout.rights)
      try await LoopbackNightscout.ask(loopback.url, token) { remote in
        try await (remote as? NightscoutRemote)?.softDelete(Login.logbookID)
      }
    }
    #expect((loopback.site.insulinOnBoard > 1) == acts)
    loopback.site.moveClock(by: 120_000)
    let second = try #require(try await Self.everything(loopback, first.cursor))
    #expect(second.records.map(\.state.isDeleted) == [true])
    #expect(second.notTaken == (acts ? [NightscoutRefusal.actsAlthoughDeleted: 1] : [:]))
  }

  @Test func recordsThatAPIv1WouldChangeAreRefused() throws {
    let key = "5f1e2d3c4b5a69788796a5b4"
    func refusal(_ more: [String: JSONValue], _ changes: [String: JSONValue] = [:]) throws -> String? {
      let members: [String: JSONValue] = [
        "_id": .text(key), "created_at": .text("2026-05-06T16:30:00.000Z"), "insulin": .number(2),
      ]
      return try #require(NightscoutRawTreatment(.object(members.merging(more) { $1 }))).refusal(of: changes)
    }
    #expect(try refusal([:]) == nil)
    #expect(try refusal(["preBolus": .number(15)]) == nil)
    #expect(try refusal(["preBolus": .number(15)], ["carbs": .number(20)]) != nil)
    #expect(try refusal(["readonly": .flag(true)]) != nil)
    #expect(try refusal(["created_at": .text("yesterday")]) != nil)
    #expect(try refusal(["eventTime": .text("2026-05-06T16:30:00.000Z")]) != nil)
  }
}
