// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct QuantityTests {
  @Test func everyWholeValueIsConvertedBackFromTheOtherUnit() {
    for number in 1...1000 {
      let there = Quantity(Double(number), .milligramsPerDecilitre).converted(to: .millimolesPerLitre)
      #expect(there.displayed(in: .milligramsPerDecilitre) == String(number))
    }
  }

  /// A tenth of a mmol/L is 1.8 mg/dL, so a displayed value cannot be converted back exactly.
  @Test func aDisplayedTenthOfAMillimoleIsConvertedBackWithinOneMilligram() throws {
    var same = 0
    for number in 1...1000 {
      let shown = Quantity(Double(number), .milligramsPerDecilitre).displayed(in: .millimolesPerLitre)
      let back = Quantity(try #require(Double(shown)), .millimolesPerLitre).displayed(
        in: .milligramsPerDecilitre)
      let whole = try #require(Int(back))
      #expect(abs(whole - number) <= 1, "\(number) mg/dL shown as \(shown)")
      if whole == number { same += 1 }
    }
    #expect(same == 555)
  }

  @Test func everyTenthOfAMillimoleIsConvertedBackFromTheDisplayedMilligrams() throws {
    for tenths in 1...500 {
      let quantity = Quantity(Double(tenths) / 10, .millimolesPerLitre)
      let shown = try #require(Double(quantity.displayed(in: .milligramsPerDecilitre)))
      #expect(Quantity(shown, .milligramsPerDecilitre).tenthsOfMillimole == Int64(tenths))
      #expect(quantity.tenthsOfMillimole == Int64(tenths))
    }
  }

  @Test(arguments: [
    (103.0, GlucoseUnit.milligramsPerDecilitre, Int64(57)), (104, .milligramsPerDecilitre, 58),
    (5.7, .millimolesPerLitre, 57), (5.65, .millimolesPerLitre, 57), (5.64, .millimolesPerLitre, 56),
    (0, .milligramsPerDecilitre, 0), (600, .milligramsPerDecilitre, 333),
  ])
  func tenthsOfMillimolesAreRoundedHalfUp(_ number: Double, _ unit: GlucoseUnit, _ tenths: Int64) {
    #expect(Quantity(number, unit).tenthsOfMillimole == tenths)
  }

  @Test func aValueIsDisplayedUnchangedInItsOwnUnit() {
    #expect(Quantity(5.72, .millimolesPerLitre).displayed(in: .millimolesPerLitre) == "5.72")
    #expect(Quantity(103, .milligramsPerDecilitre).displayed(in: .milligramsPerDecilitre) == "103")
    #expect(Quantity(103, .milligramsPerDecilitre).displayed(in: .millimolesPerLitre) == "5.7")
  }

  @Test(arguments: [
    (6.0, GlucoseUnit.millimolesPerLitre, "6.0"), (0, .millimolesPerLitre, "0.0"),
    (10, .millimolesPerLitre, "10.0"), (6.05, .millimolesPerLitre, "6.05"), (6, .milligramsPerDecilitre, "6"),
    (120.5, .milligramsPerDecilitre, "120.5"),
  ])
  func aValueInMillimolesIsDisplayedWithAtLeastOneDecimal(
    _ number: Double, _ unit: GlucoseUnit, _ text: String
  ) {
    #expect(Quantity(number, unit).displayed(in: unit) == text)
  }

  @Test func bothFormsOfTheUnitConversionFactorAreEqual() {
    #expect(Quantity.milligramsPerDecilitreInMillimole == 18.01559)
  }

  @Test func measurementsAreComparedExactlyInOneUnitAndInTenthsAcrossUnits() {
    let milligrams = Measurement.value(Quantity(103, .milligramsPerDecilitre))
    #expect(milligrams.agrees(with: .value(Quantity(5.7, .millimolesPerLitre))))
    #expect(!milligrams.agrees(with: .value(Quantity(102.5, .milligramsPerDecilitre))))
    #expect(!milligrams.agrees(with: .value(Quantity(5.8, .millimolesPerLitre))))
    #expect(
      Measurement.low(below: 40, .milligramsPerDecilitre).agrees(with: .low(below: nil, .millimolesPerLitre)))
    #expect(
      !Measurement.low(below: 40, .milligramsPerDecilitre).agrees(
        with: .high(above: 40, .milligramsPerDecilitre)))
    #expect(Measurement.low(below: 40, .milligramsPerDecilitre).valueBucket == Measurement.lowLevel)
    #expect(Measurement.high(above: nil, .milligramsPerDecilitre).valueBucket == Measurement.highLevel)
  }
}
