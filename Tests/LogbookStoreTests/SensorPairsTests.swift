// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import LogbookStore

/// Tests how the program decides whether two sensors belong to one person or to two, from pairs of their
/// values at the same instants.
struct SensorPairsTests {
  /// Pairs of values, one every five minutes. `other` gets the number of a pair and the first sensor's value,
  /// and returns the second sensor's value.
  private func pairs(hours: Int, _ other: (Int, Double) -> Double) -> SensorPairs {
    (0..<hours * 12 + 1).reduce(into: SensorPairs()) { pairs, row in
      let one = 140 + 50 * sin(Double(row) / 20)
      pairs.add(one, other(row, one), at: Int64(row) * 300)
    }
  }

  private func independent(_ row: Int, _: Double) -> Double { 140 + 50 * sin(Double(row) / 7 + 2) }

  @Test(arguments: [2, 12, 24, 96])
  func independentValuesAreThoseOfTwoPersons(hours: Int) {
    #expect(pairs(hours: hours, independent).areOfTwoPersons)
  }

  @Test(arguments: [2, 12, 24, 96])
  func sensorsWhoseValuesRiseAndFallTogetherAreOfOnePerson(hours: Int) {
    #expect(!pairs(hours: hours) { $1 }.areOfTwoPersons)
    #expect(!pairs(hours: hours) { row, one in one * 1.15 + Double(row % 3) * 8 }.areOfTwoPersons)
  }

  @Test func lessThanAnHourOfValuesDoesNotProveTwoPersons() {
    #expect(!pairs(hours: 1) { _, one in one + 20 }.areOfTwoPersons)
    var pairs = SensorPairs()
    for row in 0..<11 { pairs.add(100, 250, at: Int64(row) * 300) }
    #expect(!pairs.areOfTwoPersons)
  }

  @Test func valuesThatDifferLittleAreOfOnePerson() {
    let close = { (row: Int, one: Double) -> Double in one + Double(row * 7 % 11 - 5) }
    #expect(!pairs(hours: 24, close).areOfTwoPersons)
    let flat = (0..<300).reduce(into: SensorPairs()) { pairs, row in
      pairs.add(100 + Double(row % 5), 100 + Double(row % 7), at: Int64(row) * 300)
    }
    #expect(!flat.areOfTwoPersons)
  }

  @Test func valuesThatDifferByNearlyHalfAreOfTwoPersonsEvenIfTheyRiseAndFallTogether() {
    #expect(pairs(hours: 2) { _, one in one * 1.6 }.areOfTwoPersons)
    #expect(!pairs(hours: 2) { _, one in one * 1.4 }.areOfTwoPersons)
  }

  @Test func aFewSensorValuesWithLongGapsDoNotShowTwoPersons() {
    var pairs = SensorPairs()
    for row in 0..<3 { pairs.add(100, 180, at: Int64(row) * 86_400) }
    #expect(!pairs.areOfTwoPersons)
  }

  @Test func twoDaysOfIndependentValuesAreThoseOfTwoPersonsForAnExport() {
    let far = { (row: Int, _: Double) in 140 + 90 * sin(Double(row) / 7 + 2) }
    #expect(pairs(hours: 49, far).areOfTwoPersonsForDays)
    #expect(!pairs(hours: 47, far).areOfTwoPersonsForDays)
    #expect(!pairs(hours: 96) { row, one in one * 1.3 + Double(row % 3) * 8 }.areOfTwoPersonsForDays)
    // If the values of two persons are nearly constant, they look like values of two sensors of one person.
    #expect(!pairs(hours: 96) { row, _ in 140 + 20 * sin(Double(row) / 7) }.areOfTwoPersonsForDays)
  }
}
