// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

/// Tests finger sticks that are copies of a sensor's values.
struct SensorCopyTests {
  typealias Sample = CountingSample
  private static let sensor = CountingSource(
    Device(vendor: "Dexcom", model: "G6", serial: "8AAAA1", format: "clarity"))
  private static let phone = Device(vendor: "Apple Health", model: "iPhone", format: "apple-health")
  private static let watch = Device(vendor: "Apple Health", model: "Watch", format: "apple-health")

  /// A value of the sensor, or a finger stick of a device.
  private struct Glucose {
    let number: Double
    var unit = GlucoseUnit.milligramsPerDecilitre
    let seconds: Int64
    var device: Device?

    var measurement: Measurement { .value(Quantity(number, unit)) }
    var item: CountableItem? { device.flatMap { CountingSample.stick(number, unit, at: seconds, $0) } }
  }

  private static func sensor(_ count: Int, every step: Int64 = 300, from start: Int64 = 0) -> [Glucose] {
    (0..<count).map { Glucose(number: 100 + Double($0), seconds: start + Int64($0) * step) }
  }

  private static func sticks(
    _ values: [Glucose], later: Int64 = 0, higher: Double = 0, _ device: Device = phone
  ) -> [Glucose] {
    values.map { Glucose(number: $0.number + higher, seconds: $0.seconds + later, device: device) }
  }

  /// Decides which finger sticks among these values count, and which are copies of sensor values.
  private static func verdicts(_ glucose: [Glucose], _ rules: CountingRules = CountingRules())
    -> [CountVerdict]
  {
    var finder = SensorCopyFinder(rules)
    let sorted = glucose.sorted { $0.seconds < $1.seconds }
    for value in sorted {
      let instant = Sample.morning + value.seconds
      if let device = value.device {
        finder.addStick(value.measurement, CountingSource(device), at: instant)
      } else {
        finder.addSensor(value.measurement, sensor, at: instant)
      }
    }
    var rules = rules
    rules.sensorCopies = finder.finish()
    return Array(counted(sorted.map(\.item), rules).verdicts.values)
  }

  private static func copies(_ verdicts: [CountVerdict]) -> Int {
    verdicts.count { $0 == .sensorValue(sensor) }
  }

  @Test(arguments: [-1, 0, 1] as [Int64]) func moreThanTenFingerSticksEqualToSensorValuesAreCopies(
    later: Int64
  ) {
    let values = Self.sensor(11)
    let verdicts = Self.verdicts(values + Self.sticks(values, later: later))
    #expect(verdicts.count == 11 && Self.copies(verdicts) == 11)
  }

  @Test func tenFingerSticksEqualToSensorValuesAreNotCopies() {
    let values = Self.sensor(30)
    let verdicts = Self.verdicts(values + Self.sticks(Array(values.prefix(10))))
    #expect(verdicts.count == 10 && verdicts.allSatisfy { $0.counts })
  }

  @Test func valuesThatDifferFromTheSensorInSecondOrValueAreFingerSticks() {
    let values = Self.sensor(20)
    #expect(Self.copies(Self.verdicts(values + Self.sticks(values, later: 2))) == 0)
    #expect(Self.copies(Self.verdicts(values + Self.sticks(values, higher: 1))) == 0)
    // Finger sticks of the same program at other times are not copies.
    let own = Self.sticks(Self.sensor(3, from: 1000), later: 40)
    let verdicts = Self.verdicts(values + Self.sticks(values) + own)
    #expect(Self.copies(verdicts) == 20 && verdicts.count { $0.counts } == 3)
  }

  @Test func onlyAProgramWithMoreThanTenEqualValuesHasCopiesOfTheSensor() {
    let values = Self.sensor(20)
    let few = Self.sticks(Array(values.prefix(5)), Self.watch)
    #expect(Self.copies(Self.verdicts(values + Self.sticks(Array(values.suffix(8))) + few)) == 0)
    let verdicts = Self.verdicts(values + Self.sticks(Array(values.suffix(12))) + few)
    #expect(Self.copies(verdicts) == 12 && verdicts.count { $0.counts } == 5)
  }

  @Test(arguments: [Sample.meter, Sample.app]) func fingerSticksOfAMeterOrADiaryAreNeverCopies(
    _ device: Device
  ) {
    let values = Self.sensor(20)
    #expect(Self.copies(Self.verdicts(values + Self.sticks(values, device))) == 0)
  }

  @Test func aCopyOfASensorValueInTheOtherUnitIsFound() {
    let values = Self.sensor(12)
    let sticks = values.map { value in
      Glucose(
        number: Quantity(value.number, .milligramsPerDecilitre).converted(to: .millimolesPerLitre).number,
        unit: .millimolesPerLitre, seconds: value.seconds, device: Self.phone)
    }
    #expect(Self.copies(Self.verdicts(values + sticks)) == 12)
  }

  @Test func onlySensorValuesWithinAWeekDecideAboutACopy() {
    // With a value every second day, only eight values are within a week before and after a value. With
    // daily values, there are fifteen.
    let rare = Self.sensor(40, every: 2 * 86400)
    #expect(Self.copies(Self.verdicts(rare + Self.sticks(rare))) == 0)
    let daily = Self.sensor(40, every: 86400)
    let first = Self.verdicts(daily + Self.sticks(daily))
    #expect(Self.copies(first) == 34, "the first and the last three have too few on their side")
    // Copies months later do not change the decision about the earlier finger sticks.
    let later = Self.sensor(40, every: 300, from: 200 * 86400)
    #expect(Self.copies(Self.verdicts(rare + Self.sticks(rare) + later + Self.sticks(later))) == 40)
  }

  @Test func aDecisionOfThePersonCountsCopiesOfSensorValues() {
    let values = Self.sensor(20)
    let both = CountingRules([CountDecision(.sources("apple-health", "clarity"), .both)])
    #expect(Self.verdicts(values + Self.sticks(values), both).allSatisfy { $0.counts })
  }

  @Test func aCopyOfASensorValueDoesNotReplaceAFingerStickOfAMeter() throws {
    let values = Self.sensor(20)
    let own = Glucose(number: 105, seconds: 5 * 300 + 20, device: Sample.meter)
    let verdicts = Self.verdicts(values + Self.sticks(values) + [own])
    #expect(Self.copies(verdicts) == 20 && verdicts.contains(.counts(alsoIn: [])))
  }

  @Test func thousandsOfValuesInOneSecondGetOneVerdictForEachValue() {
    let values = (0..<2000).map { Glucose(number: 20 + Double($0 % 500), seconds: 0) }
    #expect(Self.verdicts(values + Self.sticks(values)).count == 500)
  }
}
