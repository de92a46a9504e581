// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

struct InsulinNameTests {
  @Test(arguments: [
    ("Lantus SoloStar 100 U/ml", "long"), ("insulin glargine", "long"), ("Levemir®", "long"),
    ("Humulin N", "long"),
    ("Basal (U)", "long"), ("Basalinsulin", "long"), ("Langzeitinsulin", "long"),
    ("Long acting insulin", "long"),
    ("Insulina lenta", "long"), ("Insuman Basal", "long"), ("NPH", "long"),
    ("NovoRapid FlexPen", "rapid"), ("Humalog", "rapid"), ("FIASP", "rapid"), ("Bolus (U)", "rapid"),
    ("Kurzzeitinsulin", "rapid"), ("insulina rápida", "rapid"), ("Rapid acting", "rapid"),
    ("Humulin R", "rapid"),
    ("Humalog Mix25", "mix"), ("NovoMix 30", "mix"), ("Mischinsulin", "mix"), ("Novolin 70/30", "mix"),
  ])
  func theSubtypeOfAnInsulinFollowsFromItsName(_ name: String, _ subtype: String) {
    #expect(InsulinName.subtype(name) == subtype)
  }

  @Test(arguments: [
    "", "Insulin", "insulin dose (U)", "breakfast", "fasting", "along", "silent", "bolognese", "Humulin",
    "100/10",
    "basal and bolus", "Lantus/Humalog",
  ])
  func aNameOfNoneOrTwoInsulinsHasNoSubtype(_ name: String) {
    #expect(InsulinName.subtype(name) == nil)
  }
}
