// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Commands

@Suite struct FieldChangesTests {
  private func fields(_ kind: RecordKind, _ words: String...) throws -> String {
    var changes = FieldChanges(kind)
    try changes.set(words: words)
    return changes.applied(to: RecordFields()).json
  }

  @Test(arguments: [
    (RecordKind.insulin, ["4.5"], #"{"units":4.5}"#), (.insulin, ["4", "IU"], #"{"units":4}"#),
    (.insulin, ["0.85", "U/h"], #"{"rate":0.85}"#), (.food, ["45g"], #"{"carbs":45}"#),
    (.food, ["45", "300", "kcal"], #"{"carbs":45,"energy":300}"#),
    (.food, ["2", "servings"], #"{"servings":2}"#),
    (.exercise, ["30", "min"], #"{"minutes":30}"#),
    (.exercise, ["1.5h", "4000", "steps"], #"{"minutes":90,"steps":4000}"#),
    (.insulin, ["1.5 U"], #"{"units":1.5}"#), (.food, ["12 g"], #"{"carbs":12}"#),
    (.exercise, ["45 min"], #"{"minutes":45}"#), (.food, ["45 g 300 kcal"], #"{"carbs":45,"energy":300}"#),
    (.food, ["45 g", "300", "kcal"], #"{"carbs":45,"energy":300}"#),
    (.note, ["3", "apples", "g"], #"{"text":"3 apples g"}"#), (.food, [], "{}"), (.annotation, [], "{}"),
  ])
  func typedAmountsAreReadWithTheirUnits(_ kind: RecordKind, _ words: [String], _ expected: String) throws {
    var changes = FieldChanges(kind)
    try changes.set(words: words)
    #expect(changes.applied(to: RecordFields()).json == expected)
  }

  @Test(arguments: [
    "", "4,5", "-4", "+4", "1e3", "0x10", "nan", "inf", ".5", "5.", "1.2.3", "1000001", "٣", "4 ", " 4",
    "4  g", "1,5 g", "4 5",
    "g 4", "4 x", "g",
    String(repeating: "9", count: 400),
  ])
  func invalidTypedNumbersAreRefused(_ word: String) {
    #expect(throws: Failure.self) { try fields(.food, word) }
  }

  @Test func theUnitOfATypedAmountMustMatchItsQuantity() {
    #expect(throws: Failure.self) { try fields(.insulin, "4", "g") }
    #expect(throws: Failure.self) { try fields(.food, "4", "5") }
    #expect(throws: Failure.self) { try fields(.annotation, "4") }
    #expect(throws: Failure.self) { try fields(.attachment, "4") }
  }

  @Test(arguments: [
    (RecordKind.insulin, ["4.5", "rapid"], "'rapid' is a subtype of insulin; write --subtype rapid"),
    (.insulin, ["rapid", "4.5"], "'rapid' is a subtype of insulin; write --subtype rapid"),
    (
      .food, ["soup", "45", "g"],
      "'soup' is not a unit of food, which has g, servings or kcal; for a text write --note soup"
    ),
    (
      .food, ["45", "g", "it's"],
      #"'it's' is not a unit of food, which has g, servings or kcal; for a text write --note 'it'\''s'"#
    ),
  ])
  func anUnknownUnitOfAnAmountIsRefusedWithAnExplanation(
    _ kind: RecordKind, _ words: [String], _ message: String
  ) {
    var changes = FieldChanges(kind)
    let failure = #expect(throws: Failure.self) { try changes.set(words: words) }
    #expect(failure?.message == message && failure?.category == .usage)
  }

  @Test func aFieldIsSetByItsNameAndRemovedByAnEmptyValue() throws {
    var changes = FieldChanges(.note)
    try changes.set("tags=b,a,b")
    try changes.set("text=1=2")
    try changes.set("subtype=")
    let before = RecordFields(["subtype": .text("health"), "text": .text("old"), "own": .flag(true)])
    #expect(changes.applied(to: before).json == #"{"own":true,"tags":["a","b"],"text":"1=2"}"#)
  }

  @Test(arguments: ["units", "steps=4", "=4", "units=x", "subtype=fast", "units=5", "excluded=true"])
  func anInvalidFieldAssignmentIsRefused(_ assignment: String) throws {
    var changes = FieldChanges(.insulin)
    try changes.set(words: ["4"])
    #expect(throws: Failure.self) { try changes.set(assignment) }
  }

  @Test func typedTextsThatAreTooLongOrHaveAZeroByteAreRefused() throws {
    let longest = String(repeating: "é", count: 32 * 1024)
    #expect(try fields(.note, longest).utf8.count > 64 * 1024)
    #expect(throws: Failure.self) { try fields(.note, longest + "x") }
    #expect(throws: Failure.self) { try fields(.note, "a\0b") }
  }

  @Test func everyDocumentedFieldOfEveryRecordKindCanBeSet() throws {
    for kind in RecordKind.known {
      for field in kind.fields {
        let text = if case .choice(let words) = field.content { words[0] } else { "7" }
        var changes = FieldChanges(kind)
        guard field.isSettable else {
          #expect(throws: Failure.self) { try changes.set(field.name, to: text) }
          continue
        }
        try changes.set(field.name, to: text)
        let value = try #require(try field.value(text))
        #expect(field.holds(value), "\(kind) \(field.name)")
        #expect(try field.value("") == nil)
      }
      for unit in kind.fields.flatMap(\.units) {
        #expect(try fields(kind, "2", unit.word) != "{}", "\(kind) \(unit.word)")
      }
    }
  }
}
