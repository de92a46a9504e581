// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

struct SheetNameTests {
  @Test(arguments: [
    ("Anna", "Ben"), ("anna.csv", "ben.csv"), ("Anna Bolus", "Ben Basal"), ("Insulin Maria", "Insulin José"),
    ("Kind 1 Lea", "Kind 2 Tom"),
  ])
  func namesOfPersonsAreFoundAmongWordsForDoses(_ one: String, _ other: String) {
    #expect(SheetName.mayNamePersonsOfDoses(one, other))
  }

  @Test(arguments: [
    ("Bolus", "Basal"), ("bolus.csv", "basal.csv"), ("meals", "snacks"), ("Anna Bolus", "Anna Basal"),
    ("Anna", "Basal"), ("Humalog", "Levemir"), ("P01", "P02"), ("1", "2"), ("2025", "2026"), ("Mai", "Juni"),
    ("Frühstück", "Abendessen"), ("Novorapid Flexpen", "Tresiba Flextouch"), ("Pumpe", "Pen"),
    ("Doses 2025", "Doses 2026"), ("Tabelle1", "Anna"), ("Insulin", "Kohlenhydrate"),
  ])
  func namesOfDosesAndPeriodsAreNotThoseOfPersons(_ one: String, _ other: String) {
    #expect(!SheetName.mayNamePersonsOfDoses(one, other))
  }

  @Test(arguments: [
    ("Basal", "long"), ("Bolus", "rapid"), ("Anna Basal 2026", "long"), ("Lantus", "long"),
    ("NovoRapid", "rapid"), ("Long", "long"), ("Long-acting insulin", "long"), ("Rapid acting", "rapid"),
  ])
  func aSheetMayStateTheUseOfItsDoses(_ name: String, _ subtype: String) {
    #expect(GenericDiary.subtype(ofSheet: name) == subtype)
  }

  @Test(arguments: [
    "Anna", "Sheet1", "Long weekend", "Fast food", "Short trip", "Basal rate", "Basalrate", "Basal U/h",
    "Bolus and basal", "Bolus + Basal", "Daily bolus", "Insulin", "",
  ])
  func otherNamesOfSheetsStateNoUse(_ name: String) {
    #expect(GenericDiary.subtype(ofSheet: name) == nil)
  }
}
