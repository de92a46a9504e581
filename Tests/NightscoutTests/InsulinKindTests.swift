// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Nightscout

/// Tests how the kind of insulin and the texts of another program's treatment are read.
@Suite struct InsulinKindTests {
  private static func contents(_ members: [String: JSONValue]) throws -> NightscoutContents {
    let common: [String: JSONValue] = [
      "identifier": .text("x"), "eventType": .text("Correction Bolus"),
      "created_at": .text("2026-05-06T10:00:00.000Z"),
    ]
    let document = try #require(NightscoutDocument(.object(common.merging(members) { $1 })))
    return document.contents(of: .treatments, NightscoutZone(zone: nil))
  }

  private static func dose(_ members: [String: JSONValue]) throws -> RecordFields {
    let all = try contents(members.merging(["insulin": .number(12)]) { own, _ in own })
    return try #require(all.records.first { $0.state.kind == .insulin }).state.fields
  }

  @Test(arguments: [
    ("Novolog", "rapid"), ("Fiasp", "rapid"), ("Apidra", "rapid"), ("Lantus", "long"), ("Tresiba", "long"),
    ("Toujeo ", "long"), ("LEVEMIR", "long"), ("Humulin N", "long"), ("NovoMix 30", "mix"),
    ("Humalog Mix 25", "mix"), ("Humalog", "rapid"), ("", "rapid"), ("something", "rapid"),
  ])
  func theNameOfAnInsulinOnASiteDeterminesItsKind(_ name: String, _ kind: String) throws {
    #expect(try Self.dose(["insulinType": .text(name)]).subtype == kind)
    let injections = "[{\"insulin\":\"\(name)\",\"units\":12.0}]"
    #expect(try Self.dose(["insulinInjections": .text(injections)]).subtype == kind)
  }

  @Test func withoutANameTheAndroidAPSFlagDeterminesTheKindOfInsulin() throws {
    #expect(try Self.dose(["isBasalInsulin": .flag(true)]).subtype == "long")
    #expect(try Self.dose(["isBasalInsulin": .flag(false)]).subtype == "rapid")
  }

  /// The care portal has no event for an injection of basal insulin.
  @Test(arguments: [
    ("Lantus", "long"), ("Tresiba 18 U", "long"), ("18 IE Toujeo", "long"), ("Tresiba 18u", "long"),
    ("NovoMix 30", "mix"),
    ("Fiasp", "rapid"),
    ("forgot the Lantus", "rapid"), ("long walk", "rapid"), ("Lantus later", "rapid"), ("basal", "rapid"),
    ("", "rapid"),
  ])
  func aTextThatIsOnlyTheNameOfAnInsulinDeterminesTheKind(_ notes: String, _ kind: String) throws {
    let dose = try Self.dose(["notes": .text(notes)])
    #expect(dose.subtype == kind && dose["text"] == (notes.isEmpty ? nil : .text(notes)))
    #expect(try Self.dose(["notes": .text(notes), "insulinType": .text("Humalog")]).subtype == "rapid")
  }

  @Test(arguments: [
    ("Basal Insulin", "long"), ("Insulin", "rapid"), ("Meal Bolus", "rapid"), ("Snack Bolus", "rapid"),
    ("SMB", "rapid"),
  ])
  func anEventWithTheWordBasalIsALongActingDose(_ event: String, _ kind: String) throws {
    #expect(try Self.dose(["eventType": .text(event)]).subtype == kind)
  }

  private static func basal(_ members: [String: JSONValue]) throws -> NightscoutContents {
    try contents(
      members.merging(["eventType": .text("Temp Basal"), "duration": .number(1440)]) { own, _ in own })
  }

  /// Spike writes the injection of a pen in this way.
  @Test func aBasalRateOfALongActingInsulinIsAnInjection() throws {
    for name in ["Long-Acting", "Lantus", "Intermediate-Acting"] {
      let all = try Self.basal(["absolute": .number(18), "insulinType": .text(name)])
      let fields = try #require(all.records.first).state.fields
      #expect(fields.values == ["units": .number(18), "subtype": .text("long")], "\(name)")
    }
    for name in ["", "Rapid-Acting", "Novorapid"] {
      let all = try Self.basal(["absolute": .number(1.8), "insulinType": .text(name)])
      let fields = try #require(all.records.first).state.fields
      #expect(fields["rate"] == .number(1.8) && fields.subtype == "basal", "\(name)")
    }
  }

  /// If Spike does not know the type of the insulin, its name or the hours for which it works show an
  /// injection.
  @Test(
    arguments: [
      ["insulinType": .text("Unknown"), "insulinName": .text("Toujeo"), "insulinDIA": .number(24)],
      ["insulinName": .text("My Tresiba")], ["insulinType": .text(""), "insulinDIA": .number(24)],
      ["insulinName": .text("evening"), "insulinDIA": .number(24)],
    ] as [[String: JSONValue]])
  func theNameOrTheHoursOfAnInsulinShowAnInjection(_ members: [String: JSONValue]) throws {
    let all = try Self.basal(members.merging(["absolute": .number(18)]) { own, _ in own })
    let fields = try #require(all.records.first).state.fields
    #expect(fields.values == ["units": .number(18), "subtype": .text("long")])
  }

  @Test(
    arguments: [
      ["insulinName": .text("Fiasp"), "insulinDIA": .number(24)],
      ["insulinType": .text("Rapid-Acting"), "insulinName": .text("Lantus"), "insulinDIA": .number(24)],
      ["insulinDIA": .number(5), "duration": .number(300)],
      ["insulinDIA": .number(24), "duration": .number(60)],
      ["insulinName": .text("evening")],
    ] as [[String: JSONValue]])
  func otherMembersOfABasalRateShowNoInjection(_ members: [String: JSONValue]) throws {
    let all = try Self.basal(members.merging(["absolute": .number(1.8)]) { own, _ in own })
    let fields = try #require(all.records.first).state.fields
    #expect(fields["rate"] == .number(1.8) && fields.subtype == "basal")
  }

  @Test func aBasalRateOfMoreThan500UnitsInAllIsRejected() throws {
    let all = try Self.basal(["absolute": .number(21)])
    #expect(all.records.isEmpty && all.rejections.count == 1)
    #expect(try Self.basal(["absolute": .number(20)]).records.count == 1)
  }

  /// Nightscout has no event for an override of an algorithm's settings.
  @Test(arguments: ["Trio", "iAPS", "freeaps-x"])
  func anOverrideThatAProgramWritesAsExerciseIsANote(_ program: String) throws {
    let members: [String: JSONValue] = [
      "eventType": .text("Exercise"), "duration": .number(90), "notes": .text("High resistance"),
    ]
    let all = try Self.contents(members.merging(["enteredBy": .text(program)]) { own, _ in own })
    #expect(all.records.map(\.state.kind) == [.note] && all.rejections.isEmpty)
    let typed = try Self.contents(members.merging(["enteredBy": .text("Trio user")]) { own, _ in own })
    #expect(typed.records.map(\.state.kind) == [.exercise])
  }

  /// The doses of a treatment with these injections, by the text of each dose: units, subtype and guid.
  private static func doses(_ injections: String) throws -> [String: (dose: String, guid: String)] {
    let all = try contents([
      "insulin": .number(12), "insulinInjections": .text(injections), "notes": .text("evening"),
    ])
    let doses = all.records.filter { $0.state.kind == .insulin }.map { record in
      let fields = record.state.fields
      let text = if case .text(let text)? = fields["text"] { text } else { "" }
      let units = if case .number(let units)? = fields["units"] { units } else { -1.0 }
      return (text, (dose: "\(units) \(fields.subtype)", guid: record.guid))
    }
    return Dictionary(doses) { first, _ in first }
  }

  @Test func injectionsOfRapidAndLongInsulinBecomeOneDoseOfEach() throws {
    let doses = try Self.doses(
      #"[{"insulin":"Novorapid","units":2.5},{"insulin":"Lantus","units":7},{"insulin":"Lantus","units":2.5}]"#
    )
    #expect(doses.mapValues(\.dose) == ["evening": "2.5 rapid", "Lantus": "9.5 long"])
    // The order of the list does not matter. Two insulins of one use are one dose: 1 U of Fiasp and 1.5 U of
    // Novorapid are 2.5 U of rapid insulin.
    let turned = try Self.doses(
      #"[{"insulin":"Lantus","units":9.5},{"insulin":"Fiasp","units":1},{"insulin":"Novorapid","units":1.5}]"#
    )
    #expect(turned.mapValues(\.dose) == doses.mapValues(\.dose))
    #expect(turned.mapValues(\.guid) == doses.mapValues(\.guid))
    let one = try Self.doses(#"[{"insulin":"Fiasp","units":2},{"insulin":"Novorapid","units":10}]"#)
    #expect(one.mapValues(\.dose) == ["evening": "12.0 rapid"])
    #expect(one["evening"]?.guid == doses["evening"]?.guid && doses["Lantus"]?.guid != one["evening"]?.guid)
  }

  @Test(arguments: [
    "[]", "", "{", "[{\"units\":\"many\"}]", "[1]", "[{\"insulin\":\"Lantus\",\"units\":-1}]",
  ])
  func anInvalidListOfInjectionsIsIgnored(_ text: String) throws {
    let dose = try Self.dose(["insulinInjections": .text(text)])
    #expect(dose.subtype == "rapid" && dose["units"] == .number(12))
  }

  @Test(arguments: [
    "Insulin Change", "Insulin Cartridge Change", "Prime", "Pump Battery Change", "Site Change",
  ])
  func insulinThatFillsAReservoirOrATubeIsNotADose(_ event: String) throws {
    let taken = try Self.contents([
      "eventType": .text(event), "insulin": .number(300), "notes": .text("left side"),
    ])
    #expect(taken.records.map(\.state.kind) == [.note])
    #expect(taken.rejections.isEmpty)
    let without = try Self.contents(["eventType": .text(event), "insulin": .number(0)])
    #expect(without.records.isEmpty && without.rejections.isEmpty)
  }

  @Test(arguments: ["Correction Bolus", "Meal Bolus", "Sensor Change", ""])
  func insulinOfAnyOtherEventTypeIsADose(_ event: String) throws {
    let taken = try Self.contents(["eventType": .text(event), "insulin": .number(3), "type": .text("NORMAL")])
    #expect(taken.records.map(\.state.kind) == [.insulin] && taken.rejections.isEmpty)
    let filling = try Self.contents(
      ["eventType": .text(event), "insulin": .number(3), "type": .text("PRIMING")])
    #expect(filling.records.isEmpty && filling.rejections.isEmpty)
  }

  // MARK: Texts and amounts

  @Test func aLongNoteOfASiteIsKeptCompletely() throws {
    let text = String(repeating: "ä", count: 70_000)
    let records = try Self.contents(["eventType": .text("Note"), "notes": .text(text)]).records
    #expect(records.map { $0.state.fields["text"] } == [.text(text)])
  }

  @Test func aNoteOfASiteAboveTheLimitIsRefusedWithItsLength() throws {
    let length = (1 << 20) + 5
    let long = try Self.contents([
      "eventType": .text("Note"), "notes": .text(String(repeating: "x", count: length)),
    ])
    #expect(long.records.isEmpty && long.rejections.count == 1)
    #expect(long.rejections.first?.contains("\(length)") == true)
    let zero = try Self.contents(["eventType": .text("Note"), "notes": .text("a\0b")])
    #expect(zero.records.isEmpty && zero.rejections.first?.contains("U+0000") == true)
  }

  /// The check also applies to edits of glucoport's own documents by other programs.
  @Test func anImplausibleEditOfAnotherProgramIsRejected() throws {
    let part = NightscoutPart(guid: Sample.guid, state: Sample.bolus)
    let members = NightscoutTreatment.members(
      part, identifier: Sample.guid, shift: 0, NightscoutWriter(node: "n", run: "r"))
    for (units, isTaken) in [(9_999.9, false), (5, true)] {
      let edited = members.merging(["insulin": .number(units)]) { $1 }
      let document = try #require(NightscoutDocument(.object(edited)))
      let contents = document.contents(of: .treatments, NightscoutZone(zone: nil))
      #expect(contents.records.isEmpty != isTaken && contents.rejections.isEmpty == isTaken)
    }
  }
}
