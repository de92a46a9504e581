// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the blood glucose that Tandem's bolus calculator filled in from the sensor: values equal to one of the sensor's of the
/// 11 minutes before.
///
/// Of 1,313 rows of blood glucose in 11 exports it finds 1,299. Of true finger sticks 1.4 to 2.9 % equal the sensor by chance.
struct FilledInValues {
  /// How long before, in seconds: two values of a sensor, since a new one may come while a person is at the calculator.
  static let reach: Int64 = 11 * 60
  /// Nine years of a sensor, in 32 MiB.
  private static let maxValues = 1 << 20
  /// More finger sticks than a lifetime has.
  private static let maxHeld = 1 << 17

  private struct SensorValue {
    let seconds: Int64
    let quantity: Quantity
  }

  /// The sensor's values by the number of the device.
  private var values: [[SensorValue]] = []
  private var count = 0
  private var held: [Reading] = []

  /// Notes a value of the sensor.
  mutating func note(_ reading: Reading) {
    guard let quantity = reading.measurement.quantity, count < Self.maxValues else { return }
    let device = Int(reading.device.number)
    while values.count <= device { values.append([]) }
    values[device].append(SensorValue(seconds: reading.deviceTime.seconds, quantity: quantity))
    count += 1
  }

  /// Keeps blood glucose until all values of the sensor are known; false when no more can be kept.
  mutating func hold(_ reading: Reading) -> Bool {
    guard held.count < Self.maxHeld else { return false }
    held.append(reading)
    return true
  }

  /// The readings that were kept, each with whether the sensor's value was filled in.
  mutating func takeHeld() -> [(reading: Reading, isFilledIn: Bool)] {
    for device in values.indices { values[device].sort { $0.seconds < $1.seconds } }
    defer { (values, held, count) = ([], [], 0) }
    return held.map { ($0, isFilledIn($0)) }
  }

  private func isFilledIn(_ reading: Reading) -> Bool {
    let device = Int(reading.device.number)
    guard device < values.count, let quantity = reading.measurement.quantity else { return false }
    let now = reading.deviceTime.seconds
    let series = values[device]
    var (low, high) = (0, series.count)
    while low < high {
      let middle = (low + high) / 2
      if series[middle].seconds < now - Self.reach { low = middle + 1 } else { high = middle }
    }
    return series[low...].prefix { $0.seconds <= now }.contains { $0.quantity == quantity }
  }
}
