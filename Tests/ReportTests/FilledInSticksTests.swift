// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

@Suite struct FilledInSticksTests {
  private func reading(
    _ kind: ReadingKind, _ number: Double, _ unit: GlucoseUnit = .milligramsPerDecilitre, at seconds: Int64,
    _ marks: ReadingMarks = [], isWithdrawn: Bool = false
  ) -> GlucoseReading {
    GlucoseReading(
      device: 0, kind: kind, deviceTime: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: 0, source: .stated),
      .value(Quantity(number, unit)), marks: marks, isWithdrawn: isWithdrawn)
  }

  private func isFilledIn(_ stick: GlucoseReading, after sensor: GlucoseReading...) -> Bool {
    var filledIn = FilledInSticks()
    for value in sensor {
      let isStick = filledIn.isFilledIn(value)
      #expect(!isStick)
    }
    return filledIn.isFilledIn(stick)
  }

  @Test func aCalculatorValueEqualToARecentSensorValueIsTreatedAsFilledIn() {
    let stick = reading(.smbg, 132, at: 10_000, .calculator)
    #expect(isFilledIn(stick, after: reading(.cbg, 132, at: 9_340), reading(.cbg, 140, at: 9_640)))
    #expect(isFilledIn(stick, after: reading(.cbg, 132, at: 10_000)))
    #expect(!isFilledIn(stick, after: reading(.cbg, 132, at: 9_339)))
    #expect(!isFilledIn(stick, after: reading(.cbg, 133, at: 9_900)))
    #expect(!isFilledIn(stick))
  }

  @Test func calculatorAndSensorValuesInTwoUnitsAreComparedAsShown() {
    let stick = reading(.smbg, 7.3, .millimolesPerLitre, at: 10_000, .calculator)
    #expect(isFilledIn(stick, after: reading(.cbg, 132, at: 9_900)))
    #expect(!isFilledIn(stick, after: reading(.cbg, 135, at: 9_900)))
    #expect(!isFilledIn(stick, after: reading(.cbg, 7.2, .millimolesPerLitre, at: 9_900)))
  }

  @Test func onlyCalculatorValuesAreComparedWithVisibleSensorValues() {
    let value = reading(.cbg, 132, at: 9_900)
    #expect(!isFilledIn(reading(.smbg, 132, at: 10_000), after: value))
    #expect(!isFilledIn(reading(.smbg, 132, at: 10_000, .calculator, isWithdrawn: true), after: value))
    #expect(!isFilledIn(reading(.ketone, 132, at: 10_000, .calculator), after: value))
    let hidden = reading(.cbg, 132, at: 9_900, isWithdrawn: true)
    #expect(!isFilledIn(reading(.smbg, 132, at: 10_000, .calculator), after: hidden))
    #expect(!isFilledIn(reading(.smbg, 132, at: 10_000, .calculator), after: reading(.smbg, 132, at: 9_900)))
  }

  @Test func aCalculatorValueIsComparedOnlyWithTheNewestSensorValues() {
    var filledIn = FilledInSticks()
    for second in 0..<10_000 { _ = filledIn.isFilledIn(reading(.cbg, Double(second), at: Int64(second))) }
    var found: [Bool] = []
    for number in [9_999, 9_936, 9_935] {
      let stick = reading(.smbg, Double(number), at: 10_000, .calculator)
      found.append(filledIn.isFilledIn(stick))
    }
    #expect(found == [true, true, false])
  }
}
