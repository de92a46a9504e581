// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests exports of a Nightscout site with treatments that glucoport wrote. Each record is read with its
/// original identity.
@Suite struct NightscoutOwnTests {
  private static let guid = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  private static let bolus = RecordState(
    kind: .insulin, entryGuid: "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c12",
    deviceTime: DeviceTime(seconds: 1_778_007_200), placement: Placement(utcOffset: 7200, source: .stated),
    fields: RecordFields([
      "units": .number(4.5), "subtype": .text("rapid"), "text": .text("a < \"b\""), "excluded": .flag(true),
      "tags": .words(["x", "y"]),
    ]), isDeleted: false, editedAt: 1_778_000_100)
  private static let created = "2026-05-05T16:53:20.000Z"

  private static let seen = #"{"insulin":4.5,"notes":"a < \"b\"","created_at":"\#(created)"}"#

  private static func part(
    _ state: RecordState, guid: String = guid, seen: String = seen, text: String? = nil
  ) -> String {
    #"{"guid":"\#(guid)","state":\#(jsonText(text ?? state.json)),"digest":"\#(state.digest)","seen":\#(seen),"sent":[]}"#
  }

  private static func treatment(
    _ parts: [String], app: String = "glucoport", members: String = #""insulin":4.5,"notes":"a < \"b\"""#,
    created: String = created, own: String = ""
  ) -> String {
    #"{"identifier":"\#(guid)","app":"\#(app)","eventType":"Correction Bolus","date":1778000000000,"utcOffset":120,"#
      + #""created_at":"\#(created)",\#(members),"isValid":true,"#
      + #""glucoport":{"node":"n","run":"r",\#(own)"parts":[\#(parts.joined(separator: ","))]}}"#
  }

  private func lines(_ treatments: String...) throws -> [String] {
    try Rendering.items(ofText: "[" + treatments.joined(separator: ",\n") + "]")
  }

  private static func line(_ state: RecordState, guid: String = guid, line: Int = 1) -> String {
    #"{"line":\#(line),"record":"\#(state.kind.rawValue)","time":"\#(state.deviceTime.text)","#
      + #""offset":"\#(DeviceTime.offsetText(state.placement.utcOffset)) \#(state.placement.source.name)","#
      + #""fields":\#(state.fields.json),"guid":"\#(guid)"\#(state.isDeleted ? #","deleted":true"# : "")}"#
  }

  @Test func aGlucoportRecordInANightscoutExportIsReadWithItsID() throws {
    let treatment = Self.treatment([Self.part(Self.bolus)])
    #expect(try lines(treatment) == [Self.line(Self.bolus)])
    let answer = try Rendering.items(ofText: #"{"status":200,"result":[\#(treatment)]}"#)
    #expect(answer == [Self.line(Self.bolus)])
    let file = try ScratchFile("[\(treatment)]")
    var reader = try InputReader(path: file.url.path, options: Rendering.options())
    var batch = IngestBatch()
    _ = try reader.read(into: &batch)
    #expect(batch.records.first?.entryGuid == Self.bolus.entryGuid && batch.records.first?.sourceID == "")
  }

  @Test func aTextEscapedByAPIv1IsUnescaped() throws {
    let escape = { (text: String) in
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
    let members = #""insulin":"4.5","notes":"a &lt; \"b\"""#
    let rewritten = Self.part(Self.bolus, text: escape(Self.bolus.json))
    #expect(try lines(Self.treatment([rewritten], members: members)) == [Self.line(Self.bolus)])
    // The original text may itself contain `&lt;`, which must stay.
    var state = Self.bolus
    state.fields["text"] = .text("&lt;")
    let part = Self.part(state, seen: #"{"insulin":4.5,"notes":"&lt;","created_at":"\#(Self.created)"}"#)
    let own = Self.treatment([part], members: #""insulin":4.5,"notes":"&lt;""#)
    #expect(try lines(own) == [Self.line(state)])
  }

  @Test(arguments: [
    (#""insulin":7,"notes":"a < \"b\"""#, "units", FieldValue.number(7)),
    (#""insulin":"7","notes":"a < \"b\"""#, "units", .number(7)),
    (#""insulin":4.5,"notes":"0 &lt; 1""#, "text", .text("0 < 1")),
    // API v1 escapes only texts with a `<`, so this text was edited.
    (#""insulin":4.5,"notes":"1 &gt; 0""#, "text", .text("1 &gt; 0")),
    (#""insulin":4.5"#, "text", nil), (#""insulin":4.5,"notes":"""#, "text", nil),
    (#""insulin":0,"notes":"a < \"b\"""#, "units", nil),
    (#""insulin":4.5,"notes":"a < \"b\"","duration":30"#, "minutes", .number(30)),
  ])
  func aTreatmentChangedByAnotherProgramIsReadAsAnEdit(
    _ members: String, _ field: String, _ value: FieldValue?
  ) throws {
    var state = Self.bolus
    state.fields[field] = value
    #expect(try lines(Self.treatment([Self.part(Self.bolus)], members: members)) == [Self.line(state)])
  }

  @Test(arguments: [("13", 12.5), ("12", 12)])
  func aDurationThatTheSiteRoundedIsNotReadAsAnEdit(_ shown: String, _ minutes: Double) throws {
    var state = Self.bolus
    state.fields["minutes"] = .number(12.5)
    let seen = #"{"insulin":4.5,"duration":12.5,"notes":"a < \"b\"","created_at":"\#(Self.created)"}"#
    let members = #""insulin":4.5,"notes":"a < \"b\"","duration":\#(shown)"#
    let part = Self.part(state, seen: seen)
    state.fields["minutes"] = .number(minutes)
    #expect(try lines(Self.treatment([part], members: members)) == [Self.line(state)])
  }

  @Test func aTreatmentMovedByAnotherProgramHasItsNewTime() throws {
    var state = Self.bolus
    state.deviceTime = DeviceTime(seconds: state.deviceTime.seconds + 600)
    state.placement = Placement(utcOffset: 7200, source: .stated)
    let treatment = Self.treatment([Self.part(Self.bolus)], created: "2026-05-05T17:03:20.000Z")
    #expect(try lines(treatment) == [Self.line(state)])
  }

  @Test func aTreatmentWhoseRecordMovedToAnotherTreatmentProducesNoRecord() throws {
    let treatment = Self.treatment([Self.part(Self.bolus)], own: #""moved":"x","#)
    let all = try Rendering.lines(ofText: "[\(treatment)]")
    #expect(all.count == 1 && all[0].contains(#""moved in time":1"#))
  }

  /// A treatment of another program that glucoport edited has the edited record in a part of its member
  /// `glucoport`. The other fields stay in the usual members.
  @Test func anEditedTreatmentOfAnotherProgramKeepsItsOtherFields() throws {
    var state = Self.bolus
    (state.entryGuid, state.fields) = (nil, RecordFields(["units": .number(5)]))
    let part = Self.part(state, seen: #"{"insulin":5,"created_at":"\#(Self.created)"}"#)
    let treatment = Self.treatment([part], app: "phone", members: #""insulin":5,"carbs":40,"notes":"pizza""#)
    let found = try lines(treatment)
    #expect(found.count == 2)
    var edited = state
    edited.fields["text"] = .text("pizza")
    #expect(found.contains(Self.line(edited)))
    #expect(
      found.contains {
        $0.contains(#""fields":{"carbs":40,"text":"pizza"}"#) && $0.contains("\(Self.guid)/food")
      }
    )
  }

  @Test func aRecordThatGlucoportDeletedInATreatmentOfAnotherProgramIsReadAsDeleted() throws {
    var state = Self.bolus
    (state.entryGuid, state.fields, state.isDeleted) = (nil, RecordFields(), true)
    let part = Self.part(state, seen: #"{"insulin":4.5}"#)
    let found = try lines(Self.treatment([part], app: "phone", members: #""insulin":4.5"#))
    #expect(found == [Self.line(state)])
  }

  @Test(arguments: [
    "{}", "[]", #"{"guid":"x"}"#, #"{"guid":"x","state":"{}"}"#, #"{"guid":"x","state":"}{"}"#,
    #"{"guid":"x","state":7}"#, #"{"guid":"x y","state":"\#(bolus.json.replacing("\"", with: "\\\""))"}"#,
  ])
  func onlyTheDamagedRecordOfATreatmentIsRejected(_ part: String) throws {
    let found = try lines(Self.treatment([part]))
    #expect(
      found.count == 1 && found[0].contains("rejected") && found[0].contains("import an export in JSON"))
    // In a treatment of another program, the damaged part is ignored and the usual members are read.
    let foreign = try lines(Self.treatment([part], app: "phone"))
    #expect(foreign.count == 1 && foreign[0].contains("\(Self.guid)/insulin"))
  }

  /// A table has no parts with glucoport's records, so the row of glucoport is rejected.
  @Test func aGlucoportRecordInANightscoutTableIsRejected() throws {
    let found = try Rendering.items(
      ofText: """
        eventType,created_at,app,insulin,identifier
        Correction Bolus,\(Self.created),glucoport,4.5,\(Self.guid)
        Correction Bolus,\(Self.created),phone,2,t2

        """)
    #expect(found.filter { $0.contains("rejected") }.count == 1)
    #expect(found.filter { $0.contains("t2/insulin") }.count == 1 && found.count == 2)
  }

  @Test func allGlucoportRecordsInOneTreatmentAreRead() throws {
    let guids = (0..<20).map { Digest.uuid(of: ["guid", String($0)]) }
    let treatment = Self.treatment(guids.map { Self.part(Self.bolus, guid: $0) })
    #expect(try lines(treatment) == guids.map { Self.line(Self.bolus, guid: $0) })
  }
}
