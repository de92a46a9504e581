// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Nightscout

/// Tests that readings and records are unchanged after conversion to documents of Nightscout and back.
@Suite struct MappingTests {
  static let writer = NightscoutWriter(node: "n", run: "r")
  static let zone = NightscoutZone(zone: nil)

  @Test(arguments: UInt64(1)...40)
  func everyReadingIsReadBackFromItsNightscoutEntry(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<50 {
      let (reading, device) = random.reading()
      let identity = ReadingIdentity(reading, device)
      let members = NightscoutEntry.members(
        reading, device, identifier: identity.uuid, shift: Int64.random(in: 0...3, using: &random),
        Self.writer)
      // The document as a server returns it, with members that the server adds.
      let document = try document(
        members.merging(["srvModified": .number(1.8e12), "subject": .text("me")]) { $1 })
      let (back, backDevice) = try #require(NightscoutEntry.reading(document, Self.zone), "seed \(seed)")
      #expect(backDevice == device && ReadingIdentity(back, backDevice) == identity, "seed \(seed)")
      #expect(back.measurement == reading.measurement && back.marks == reading.marks, "seed \(seed)")
      let sent = reading.withoutZone
      #expect(back.deviceTime == sent.deviceTime && back.placement == sent.placement, "seed \(seed)")
      #expect(back.position == reading.position && back.occurrence == reading.occurrence, "seed \(seed)")
    }
  }

  @Test(arguments: UInt64(1)...40)
  func everyRecordIsReadBackFromItsNightscoutTreatment(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<50 {
      let (guid, state) = (random.guid(), random.state())
      let part = NightscoutPart(guid: guid, state: state, seen: [:], sent: [])
      let members = NightscoutTreatment.members(part, identifier: guid, shift: 0, Self.writer)
      let records = NightscoutTreatment.records(try document(members), Self.zone)
      #expect(records.map(\.guid) == [guid] && records.map(\.state) == [state], "seed \(seed): \(state.json)")
      #expect(records.allSatisfy { $0.isOwn }, "seed \(seed)")
    }
  }

  /// Other programs read the extended part of a bolus from the site's own members.
  @Test(arguments: [(4.0, 6.0, 120.0), (nil, 5, 60), (0.35, 1.15, 45)])
  func anExtendedBolusIsACombinationBolusOnASite(
    _ units: Double?, _ extended: Double, _ minutes: Double
  ) throws {
    var fields = RecordFields([
      "extended": .number(extended), "minutes": .number(minutes), "subtype": .text("rapid"),
    ])
    fields["units"] = units.map { .number($0) }
    var members = treatment(fields)
    #expect(members["eventType"] == .text("Combo Bolus"))
    #expect(members["insulin"] == units.map { .number($0) })
    members["glucoport"] = nil
    members["app"] = .text("other")
    let foreign = NightscoutTreatment.foreignContents(of: try document(members), Self.zone)
    #expect(foreign.records.map(\.state.fields) == [fields])
  }

  @Test func aBolusWithoutAnExtendedPartIsNotACombinationBolusOnASite() throws {
    for fields in [
      ["units": .number(4), "subtype": .text("rapid")],
      ["units": .number(4), "subtype": .text("rapid"), "extended": .number(2)],
      ["units": .number(4), "subtype": .text("rapid"), "minutes": .number(30)],
      ["units": .number(4), "subtype": .text("rapid"), "minutes": .number(30), "extended": .number(0)],
    ] as [[String: FieldValue]] {
      let members = treatment(RecordFields(fields))
      #expect(members["eventType"] == .text("Correction Bolus"), "\(fields)")
      #expect(members["relative"] == nil && members["duration"] == nil, "\(fields)")
    }
    let long = treatment(
      RecordFields([
        "units": .number(4), "subtype": .text("long"), "extended": .number(2), "minutes": .number(30),
      ]))
    #expect(long["eventType"] == .text("Insulin") && long["insulin"] == nil && long["relative"] == nil)
  }

  private func treatment(_ fields: RecordFields) -> [String: JSONValue] {
    let state = RecordState(
      kind: .insulin, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_061_600),
      placement: Placement(utcOffset: 0, source: .stated), fields: fields, isDeleted: false)
    let guid = "30000000-0000-4000-8000-000000000001"
    let part = NightscoutPart(guid: guid, state: state, seen: [:], sent: [])
    return NightscoutTreatment.members(part, identifier: guid, shift: 0, Self.writer)
  }

  @Test func aRecordReadFromASiteIsRejectedOrWithinTheLimitsForSending() throws {
    let guid = "30000000-0000-4000-8000-000000000001"
    let words = RecordFields(["tags": .words((0...1024).map { "\($0)" }), "text": .text("x")])
    let state = RecordState(
      kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_061_600),
      placement: Placement(utcOffset: 0, source: .stated), fields: words, isDeleted: false)
    let part = NightscoutPart(guid: guid, state: state, seen: [:], sent: [])
    let ours = NightscoutTreatment.members(part, identifier: guid, shift: 0, Self.writer)
    let texts = ["a\u{0}b", String(repeating: "x", count: (1 << 20) + 1)]
    let theirs: [[String: JSONValue]] = texts.map {
      [
        "identifier": .text("x"), "eventType": .text("Note"), "notes": .text($0),
        "created_at": .text("2026-05-06T10:00:00.000Z"), "date": .number(1.778e12),
      ]
    }
    for members in theirs + [ours] {
      let contents = try document(members).contents(of: .treatments, Self.zone)
      #expect(contents.records.count + contents.rejections.count >= 1)
      #expect(contents.records.allSatisfy { $0.state.fields.fault == nil })
    }
  }

  /// API v1 escapes HTML in a text with `<`, converts texts to numbers, and drops empty values and 0.
  @Test(arguments: UInt64(1)...40)
  func aTreatmentRewrittenByAPIv1IsReadAsTheSameRecord(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<50 {
      let (guid, state) = (random.guid(), random.state())
      let part = NightscoutPart(guid: guid, state: state, seen: [:], sent: [])
      let members = NightscoutTreatment.members(part, identifier: guid, shift: 0, Self.writer)
      let rewritten = try #require(Self.rewritten(.object(members)).members)
      let records = NightscoutTreatment.records(
        try document(rewritten.merging(["utcOffset": .number(0)]) { $1 }), Self.zone)
      #expect(records.map(\.state) == [state], "seed \(seed): \(state.json)")
    }
  }

  private static func rewritten(_ value: JSONValue) -> JSONValue {
    switch value {
    case .text(let text) where text.contains("<"):
      .text(text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))
    case .list(let items): .list(items.map(rewritten))
    case .object(let members): .object(members.filter { $0.value != .number(0) }.mapValues(rewritten))
    default: value
    }
  }

  @Test(arguments: [
    ("insulin", JSONValue.number(5), "units", FieldValue.number(5)),
    ("insulin", .text("5.5"), "units", .number(5.5)),
    ("notes", .text("a &lt; b"), "text", .text("a < b")),
  ])
  func editsOfATreatmentByAnotherProgramAreRead(
    _ member: String, _ value: JSONValue, _ field: String, _ expected: FieldValue
  ) throws {
    let record = try edited(Sample.bolus, [member: value])
    var state = Sample.bolus
    state.fields[field] = expected
    #expect(record.state.agrees(with: state) && !record.isOwn)
    #expect(record.state.fields["tags"] == state.fields["tags"], "what only glucoport knows stays")
  }

  @Test func aFieldRemovedOrATimeMovedByAnotherProgramIsReadAsAnEdit() throws {
    let without = try edited(Sample.bolus, ["notes": .null])
    #expect(without.state.fields["text"] == nil && without.state.fields["units"] == .number(4.5))
    let moved = try edited(Sample.bolus, ["created_at": .text("2026-05-05T17:00:00.000Z")])
    #expect(moved.state.deviceTime.text == "2026-05-05T19:00:00" && moved.state.placement.utcOffset == 7200)
  }

  private func edited(_ state: RecordState, _ members: [String: JSONValue]) throws -> NightscoutRecord {
    let part = NightscoutPart(guid: Sample.guid, state: state, seen: [:], sent: [])
    let all = NightscoutTreatment.members(part, identifier: part.guid, shift: 0, Self.writer)
    return try #require(
      NightscoutTreatment.records(try document(all.merging(members) { $1 }), Self.zone).first)
  }

  @Test(arguments: [
    ("long", nil as Double?, "12 U long · evening"), ("mix", nil, "12 U mix · evening"),
    ("rapid", 12, "evening"), ("", 12, "evening"),
  ])
  func onlyRapidInsulinIsWrittenToTheInsulinFieldOfATreatment(
    _ subtype: String, _ units: Double?, _ notes: String
  ) {
    var state = Sample.bolus
    state.fields = RecordFields(["units": .number(12), "text": .text("evening")])
    if !subtype.isEmpty { state.fields["subtype"] = .text(subtype) }
    let shown = NightscoutTreatment.shown(state)
    #expect(shown["insulin"] == units.map(JSONValue.number) && shown["notes"] == .text(notes))
  }

  @Test(arguments: [
    (2.5, nil as String?, "2.5 servings"), (1, nil, "1 serving"), (2, "rice", "2 servings · rice"),
  ])
  func foodPortionsAreWrittenAsTextAndReadBackAsPortions(_ servings: Double, _ text: String?, _ notes: String)
    throws
  {
    var state = Sample.bolus
    state.kind = .food
    state.fields = RecordFields(["servings": .number(servings)])
    state.fields["text"] = text.map { .text($0) }
    let shown = NightscoutTreatment.shown(state)
    #expect(shown["notes"] == .text(notes) && shown["carbs"] == nil, "a portion is no gram")
    let record = try edited(state, [:])
    #expect(record.isOwn && record.state.fields == state.fields)
  }

  @Test func aTemporaryBasalRateInPercentOfAnotherProgramKeepsItsNote() throws {
    let document = try document([
      "identifier": .text("a"), "eventType": .text("Temp Basal"), "percent": .number(-35),
      "duration": .number(30), "notes": .text("walk"), "created_at": .text("2026-05-06T16:30:00.000Z"),
    ])
    let found = NightscoutTreatment.foreignContents(of: document, Self.zone)
    #expect(
      found.records.map(\.state.fields.json)
        == [#"{"minutes":30,"subtype":"basal","text":"-35 %\nwalk"}"#])
  }

  @Test func aNumericDateHasPrecedenceOverADateTextWithoutAnOffset() throws {
    let document = try document([
      "identifier": .text("a"), "created_at": .text("2026-05-06T18:30:00"),
      "date": .number(1_778_085_000_000),
    ])
    #expect(document.treatmentInstant?.milliseconds == 1_778_085_000_000)
  }

  @Test func aTreatmentOfAnotherProgramProducesTheSameRecordAsItsImport() throws {
    let document = try document([
      "identifier": .text("6634c7c1d2f6b5a3e8f0a001"), "eventType": .text("Meal Bolus"), "carbs": .number(45),
      "insulin": .text("4.5"), "notes": .text("5 &lt; 6"), "created_at": .text("2026-05-06T16:30:00.000Z"),
      "glucose": .number(120), "glucoseType": .text("Finger"), "units": .text("mg/dl"),
      // The server computes these members for its answer, and does not store them.
      "srvModified": .number(1_778_085_000_000), "srvCreated": .number(1_778_085_000_000),
    ])
    let found = NightscoutTreatment.foreignContents(of: document, Self.zone)
    #expect(found.records.map(\.state.kind) == [.food, .insulin])
    #expect(found.records[0].state.fields.json == #"{"carbs":45,"text":"5 < 6"}"#)
    #expect(found.records[1].state.fields.json == #"{"subtype":"rapid","units":4.5}"#)
    #expect(
      found.records[0].guid == Digest.uuid(of: ["record", "nightscout", "6634c7c1d2f6b5a3e8f0a001/food"]))
    let (reading, device) = try #require(found.reading)
    #expect(
      ReadingIdentity(reading, device).text == "model|nightscout|Nightscout|smbg|tick|1778085000000|0|0")
  }

  @Test func htmlEscapesInDocumentsOfAPIv3AreKept() throws {
    let document = try document([
      "identifier": .text("a"), "eventType": .text("Note"), "notes": .text("write &lt; for <"),
      "created_at": .text("2026-05-06T16:30:00.000Z"), "subject": .text("phone"),
    ])
    let found = NightscoutTreatment.foreignContents(of: document, Self.zone)
    #expect(found.records.map(\.state.fields["text"]) == [.text("write &lt; for <")])
  }

  @Test func anEntryWithoutAnOffsetIsShownInTheTimeZoneOfTheLogbook() throws {
    let madrid = NightscoutZone(zone: try LogbookZone(name: "Europe/Madrid"))
    let members: [String: JSONValue] = [
      "identifier": .text("a"), "type": .text("sgv"), "sgv": .number(401), "date": .number(1_778_085_000_123),
      "device": .text("xDrip"), "dateString": .text("2026-05-06T16:30:00.123Z"), "utcOffset": .number(0),
    ]
    let plain = try #require(NightscoutEntry.reading(try document(members), madrid))
    #expect(plain.0.deviceTime.text == "2026-05-06T18:30:00" && plain.0.marks == .atLimit)
    #expect(plain.0.position == 1_778_085_000_123 && plain.1.model == "xDrip")
    let stated = try document(members.merging(["utcOffset": .number(-240)]) { $1 })
    let shown = try #require(NightscoutEntry.reading(stated, madrid))
    #expect(shown.0.deviceTime.text == "2026-05-06T12:30:00")
  }

  @Test(arguments: [
    ["type": JSONValue.text("sgv"), "sgv": .number(5)], ["type": .text("cal"), "slope": .number(1)],
    ["type": .text("mbg"), "mbg": .number(0)], ["type": .text("sgv")],
    ["type": .text("rawbg"), "sgv": .number(100)],
    ["type": .text("sgv"), "sgv": .number(120), "date": .text("soon")],
  ])
  func entriesOfOtherTypesOrWithoutAValidValueAreNotReadings(_ members: [String: JSONValue]) throws {
    let all: [String: JSONValue] = ["identifier": .text("a"), "date": .number(1_778_085_000_000)]
    #expect(NightscoutEntry.reading(try document(all.merging(members) { $1 }), Self.zone) == nil)
  }

  @Test func anEntryWhoseGlucoportFieldIsDamagedIsRejected() throws {
    let (reading, device) = (Sample.reading, Sample.device)
    let members = NightscoutEntry.members(reading, device, identifier: "a", shift: 0, Self.writer)
    let own = try #require(members["glucoport"]?.members)
    for name in [
      "kind", "position", "device_time", "utc_offset", "offset_source", "unit", "value", "value_bucket",
    ] {
      let damaged = own.merging([name: .text("?")]) { $1 }
      let document = try document(members.merging(["glucoport": .object(damaged)]) { $1 })
      #expect(NightscoutEntry.reading(document, Self.zone) == nil, "\(name)")
    }
  }

  @Test(arguments: [
    (#"{"notes":"\ud83d"}"#, "\u{FFFD}"), (#"{"notes":"\ude00a"}"#, "\u{FFFD}a"),
    (#"{"notes":"\ud83d\ude00"}"#, "😀"),
    (#"{"notes":"\\ud83d"}"#, "\\ud83d"), (#"{"notes":"\ud83d\n"}"#, "\u{FFFD}\n"),
    (#"{"notes":"\u00e4"}"#, "ä"),
  ])
  func halfASurrogatePairInJSONIsReadAsAReplacementCharacter(_ body: String, _ expected: String) throws {
    #expect(try JSONValue.read(Array(body.utf8))["notes"] == .text(expected))
  }

  @Test func anUploadedEntryShowsTheLocalTimeOfItsReading() throws {
    var reading = Sample.reading
    reading.placement = Placement(utcOffset: -12600, source: .stated)
    let members = NightscoutEntry.members(
      reading, Sample.device, identifier: "a", shift: 2, Self.writer)
    let time = reading.deviceTime.text
    #expect(members["dateString"] == .text("\(time).002-03:30") && members["utcOffset"] == .number(-210))
    #expect(members["sysTime"]?.text == members["date"]?.integer.map(NightscoutTime.utcText))
  }

  @Test(arguments: [
    (1_778_085_000_999, "Wed, 06 May 2026 16:30:00 GMT"),
    (1_000_000_000_000, "Sun, 09 Sep 2001 01:46:40 GMT"),
  ])
  func aDateInAnHTTPHeaderIsTruncatedToSeconds(_ milliseconds: Int64, _ expected: String) {
    #expect(NightscoutTime.headerText(milliseconds) == expected)
  }

  private func document(_ members: [String: JSONValue]) throws -> NightscoutDocument {
    // The members are converted to JSON text and back, as in a transfer.
    let value = try JSONValue.read(Array(JSONValue.object(members).json.utf8))
    return try #require(NightscoutDocument(value))
  }
}
