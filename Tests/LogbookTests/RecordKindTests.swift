// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct RecordKindTests {
  @Test(arguments: ["note", "a", "-", "a-b", "zone", String(repeating: "z", count: 32)])
  func aShortWordOfLowerCaseLettersAndHyphensIsARecordKind(_ word: String) throws {
    #expect(RecordKind(rawValue: word)?.rawValue == word)
  }

  @Test(arguments: ["", "Note", "a b", "a_b", "a1", "é", "a\0", String(repeating: "z", count: 33)])
  func aTextWithOtherCharactersOrTooManyIsNotARecordKind(_ text: String) {
    #expect(RecordKind(rawValue: text) == nil)
  }

  @Test func anUnknownRecordKindIsReadWithoutADescription() throws {
    let kind = try #require(RecordKind(rawValue: "sleep"))
    #expect(kind.details == nil && kind.fields.isEmpty && !RecordKind.known.contains(kind))
  }

  @Test func eachRecordKindHasOneDescription() {
    #expect(Set(RecordKind.known).count == RecordKindDescription.all.count)
    for description in RecordKindDescription.all {
      #expect(RecordKind(rawValue: description.kind.rawValue) == description.kind)
      #expect(description.kind.details?.kind == description.kind)
      #expect(!description.treatmentEvent.isEmpty)
    }
  }

  @Test(arguments: RecordKind.known)
  func namesFieldsAndUnitsOfARecordKindAreUnique(_ kind: RecordKind) {
    for names in [
      kind.fields.map(\.name), kind.fields.compactMap(\.treatmentMember),
      kind.fields.flatMap(\.units).map(\.word),
    ] {
      #expect(Set(names).count == names.count, "\(names)")
    }
  }

  @Test(arguments: RecordKindDescription.all)
  func everyRecordKindHasAFieldForTheTypedAmountOrText(_ description: RecordKindDescription) throws {
    let units = description.fields.flatMap(\.units)
    switch description.typing {
    case .amounts: #expect(!units.isEmpty)
    case .text(let name):
      let field = try #require(description.field(name))
      #expect(field.content == .text && field.isSettable && units.isEmpty)
    case .reading, .command, .statement: #expect(units.isEmpty)
    }
    for field in description.fields where !field.units.isEmpty {
      #expect(field.plausibleRange != nil && field.isSettable)
    }
  }

  @Test(arguments: RecordKindDescription.all)
  func aFieldOfARecordKindAcceptsOnlyValuesOfItsType(_ description: RecordKindDescription) {
    for field in description.fields {
      let own = Value.of(field.content)
      #expect(field.holds(own), "\(field.name)")
      for other in Value.all where Value.type(other) != Value.type(own) {
        #expect(!field.holds(other), "\(field.name)")
      }
    }
  }

  /// Each required field in turn is missing, or has a value of another type.
  @Test(arguments: RecordKindDescription.all)
  func aRecordWithoutARequiredFieldIsReportedAsInvalid(_ description: RecordKindDescription) {
    var fields = RecordFields()
    for field in description.fields { fields[field.name] = Value.of(field.content) }
    #expect(description.fault(in: fields) == nil)
    for field in description.fields {
      for value in Value.all.map(Optional.some) + [nil] where !(value.map(field.holds) ?? false) {
        var fields = fields
        fields[field.name] = value
        #expect((description.fault(in: fields) != nil) == field.isRequired, "\(field.name)")
      }
    }
  }

  @Test func onlyAttachmentAndTimeZoneRecordsHaveRequiredFields() {
    let required = RecordKindDescription.all.flatMap { kind in
      kind.fields.filter(\.isRequired).map { "\(kind.kind.rawValue).\($0.name)" }
    }
    #expect(
      required
        == ["attachment.name", "attachment.type", "attachment.size", "attachment.sha256", "zone.zone"])
    for size in [-1, 0.5, 1e300] as [Double] {
      #expect(RecordKind.attachment.details?.field("size")?.holds(.number(size)) == false)
    }
  }

  @Test(arguments: [
    (RecordKind.insulin, "units", 500.0), (.insulin, "extended", 500), (.insulin, "rate", 35),
    (.insulin, "minutes", 100_000), (.food, "carbs", 2000), (.food, "fat", 2000), (.food, "protein", 2000),
    (.food, "servings", 200), (.food, "energy", 20_000), (.exercise, "minutes", 100_000),
    (.exercise, "steps", 1_000_000),
  ])
  func thePlausibleAmountsOfAFieldAreFromZeroToItsMaximum(
    _ kind: RecordKind, _ field: String, _ largest: Double
  ) {
    #expect(kind.details?.field(field)?.plausibleRange == 0...largest)
  }
}

/// Values for each field of a kind.
private enum Value {
  static func of(_ content: RecordField.Content) -> FieldValue {
    switch content {
    case .number, .byteCount: .number(7)
    case .text: .text("a text")
    case .choice(let words): .text(words[0])
    case .words: .words(["a"])
    case .flag: .flag(true)
    case .digest: .text(String(repeating: "a", count: 64))
    }
  }

  /// A value of each type.
  static let all: [FieldValue] = [.number(7), .text("a text"), .words(["a"]), .flag(true)]

  static func type(_ value: FieldValue) -> Int {
    switch value {
    case .number: 0
    case .text: 1
    case .words: 2
    case .flag: 3
    }
  }
}
