// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How the time of a copy of a finger stick differs from that of its original.
enum CareLinkCopy {
  /// The copy has the same second as its original.
  case exact
  /// The copy is some seconds later, when the pump sent the finger stick on to the sensor.
  case later
  /// The seconds of the copy are truncated.
  case rounded
}

/// Finger sticks that occur more than once in CareLink's CSV: as the meter's reading, the pump's copy, and
/// the value that calibrated the sensor. Copies are held until the end of the input, and those with an
/// original are left out.
///
/// A pump writes every finger stick that a person types into it to the column of calibrations, even without a
/// sensor. So such a value counts as a calibration only within a day of a sensor's value, or if the sensor's
/// own row (`SensorCalBG`) states it.
struct CareLinkTwins {
  /// The maximum number of items of each kind to keep, enough for more than ten years of finger sticks.
  private static let maxKept = 100_000
  private static let hour: Int64 = 3600
  /// A sensor counts as worn for this many hours before and after each of its values. It needs a calibration
  /// at least every 12 hours, and has gaps of hours.
  private static let hoursOfSensor: Int64 = 24

  private struct TimeAndValue: Hashable {
    let seconds: Int64
    let value: Int64
  }

  private var originals: Set<TimeAndValue> = []
  private var minutes: Set<TimeAndValue> = []
  private var copies: [(reading: Reading, kind: CareLinkCopy)] = []
  /// The maximum number of seconds from a finger stick to its copy. The pump first asks the person whether to
  /// send it to the sensor, and the question stays open for minutes.
  private static let maxDelay: Int64 = 300
  /// The hours since 1970 in which a sensor had values.
  private var sensorHours: Set<Int64> = []

  private static func timeAndValue(of reading: Reading, unit: Int64) -> TimeAndValue {
    TimeAndValue(
      seconds: reading.deviceTime.seconds / unit, value: reading.measurement.valueBucket)
  }

  /// Records a meter's own reading.
  mutating func addOriginal(_ reading: Reading) {
    guard originals.count < Self.maxKept else { return }
    originals.insert(Self.timeAndValue(of: reading, unit: 1))
    minutes.insert(Self.timeAndValue(of: reading, unit: 60))
  }

  /// Records that a sensor was worn at a time.
  mutating func addSensorHour(at time: DeviceTime) {
    let hour = time.seconds / Self.hour
    if sensorHours.count < Self.maxKept { sensorHours.insert(hour) }
  }

  private func isNearSensor(_ reading: Reading) -> Bool {
    let hour = reading.deviceTime.seconds / Self.hour
    return (hour - Self.hoursOfSensor...hour + Self.hoursOfSensor).contains { sensorHours.contains($0) }
  }

  /// Holds a copy; false if there are too many, so that the store must find duplicates.
  mutating func buffer(_ reading: Reading, _ kind: CareLinkCopy) -> Bool {
    guard copies.count < Self.maxKept else { return false }
    copies.append((reading, kind))
    return true
  }

  /// Whether a finger stick with the same value is at most `maxDelay` seconds older than the copy.
  private func hasEarlierOriginal(_ reading: Reading) -> Bool {
    let copy = Self.timeAndValue(of: reading, unit: 1)
    return (0...Self.maxDelay).contains { delay in
      originals.contains(TimeAndValue(seconds: copy.seconds - delay, value: copy.value))
    }
  }

  /// The copies without an original, each once, and the number of copies that are left out.
  mutating func decide() -> (readings: [Reading], known: Int) {
    var readings: [Reading] = []
    let calibrations = Set(
      copies.filter { $0.kind == .rounded }.map { Self.timeAndValue(of: $0.reading, unit: 60) })
    // Copies with seconds come first, so that they replace their rounded copies.
    let sent = Set(copies.filter { $0.kind == .later }.map { Self.timeAndValue(of: $0.reading, unit: 1) })
    for copy in copies where copy.kind == .exact {
      // A finger stick that the pump sent on to the sensor is also listed as a calibration of the sensor.
      if sent.contains(Self.timeAndValue(of: copy.reading, unit: 1)), hasEarlierOriginal(copy.reading) {
        continue
      }
      if originals.contains(Self.timeAndValue(of: copy.reading, unit: 1)) { continue }
      var reading = copy.reading
      if !calibrations.contains(Self.timeAndValue(of: reading, unit: 60)), !isNearSensor(reading) {
        reading.marks.subtract(.calibration)
      }
      addOriginal(reading)
      readings.append(reading)
    }
    for copy in copies where copy.kind == .later && !hasEarlierOriginal(copy.reading) {
      addOriginal(copy.reading)
      readings.append(copy.reading)
    }
    for copy in copies where copy.kind == .rounded {
      if minutes.contains(Self.timeAndValue(of: copy.reading, unit: 60)) { continue }
      addOriginal(copy.reading)
      readings.append(copy.reading)
    }
    let known = copies.count - readings.count
    copies.removeAll()
    return (readings.sorted { $0.line < $1.line }, known)
  }
}

/// Carbohydrates of bolus calculations that were cancelled. A person who mistyped them corrects them some
/// minutes later in a calculation that the pump delivers. So only the second calculation is a meal.
struct CareLinkCalculations {
  /// The carbohydrates of a calculation that was not delivered.
  struct Meal {
    let time: ShownTime
    let owner: String
    let line: Int64
    let fields: [String: FieldValue]
  }

  private static let maxKept = 100_000
  /// The seconds within which a person corrects a calculation.
  private static let correctionSeconds: Int64 = 600

  private var meals: [Meal] = []
  /// The times of the delivered calculations in civil seconds, by pump.
  private var delivered: [String: Set<Int64>] = [:]

  /// Records that a calculation was delivered.
  mutating func addDelivered(at time: ShownTime, owner: String) {
    delivered[owner, default: []].insert(time.deviceTime.seconds)
  }

  /// Holds a meal until the end of the input; false if there are too many.
  mutating func buffer(_ meal: Meal) -> Bool {
    guard meals.count < Self.maxKept else { return false }
    meals.append(meal)
    return true
  }

  /// The meals that no delivered calculation corrects, and the number of corrected meals.
  mutating func decide() -> (meals: [Meal], corrected: Int) {
    let kept = meals.filter { meal in
      let times = delivered[meal.owner] ?? []
      let start = meal.time.deviceTime.seconds
      return !(1...Self.correctionSeconds).contains { times.contains(start + $0) }
    }
    defer { meals.removeAll() }
    return (kept, meals.count - kept.count)
  }
}
