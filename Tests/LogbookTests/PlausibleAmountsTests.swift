// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct PlausibleAmountsTests {
  @Test(arguments: [
    (RecordKind.insulin, "units", 500.0), (.insulin, "extended", 500), (.insulin, "rate", 100),
    (.insulin, "minutes", 100_000), (.food, "carbs", 2000), (.food, "fat", 2000), (.food, "protein", 2000),
    (.food, "servings", 200), (.food, "energy", 20_000), (.exercise, "minutes", 100_000),
    (.exercise, "steps", 1_000_000),
  ])
  func aFieldHasItsRangeFromNothingUpwards(_ kind: RecordKind, _ field: String, _ largest: Double) {
    #expect(PlausibleAmounts.range(of: field, in: kind) == 0...largest)
  }

  @Test(arguments: [
    (RecordKind.note, "text"), (.food, "units"), (.attachment, "size"), (.insulin, "subtype"),
  ])
  func whatHoldsNoAmountHasNoRange(_ kind: RecordKind, _ field: String) {
    #expect(PlausibleAmounts.range(of: field, in: kind) == nil)
  }
}
