// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finger sticks that occur more than once in CareLink's CSV: as the meter's reading, the pump's copy, and the value
/// that calibrated the sensor. Copies are held until the end of the input, and those with an original are left out.
struct CareLinkTwins {
  /// More than ten years of finger sticks.
  private static let maxKept = 100_000

  private struct TimeAndValue: Hashable {
    let seconds: Int64
    let value: Int64
  }

  private var originals: Set<TimeAndValue> = []
  private var minutes: Set<TimeAndValue> = []
  private var copies: [(reading: Reading, isRounded: Bool)] = []

  private static func place(_ reading: Reading, unit: Int64) -> TimeAndValue {
    TimeAndValue(
      seconds: reading.deviceTime.seconds / unit, value: reading.measurement.valueBucket)
  }

  /// Records a meter's own reading.
  mutating func note(_ reading: Reading) {
    guard originals.count < Self.maxKept else { return }
    originals.insert(Self.place(reading, unit: 1))
    minutes.insert(Self.place(reading, unit: 60))
  }

  /// Holds a copy; false if there are too many, so that the store must find duplicates.
  ///
  /// - Parameter isRounded: whether its seconds are truncated.
  mutating func keep(_ reading: Reading, isRounded: Bool) -> Bool {
    guard copies.count < Self.maxKept else { return false }
    copies.append((reading, isRounded))
    return true
  }

  /// The copies without an original, each once, and the number of others.
  mutating func decide() -> (readings: [Reading], known: Int) {
    var readings: [Reading] = []
    // Those with seconds come first, so that they replace their rounded copies.
    for copy in copies where !copy.isRounded {
      if originals.contains(Self.place(copy.reading, unit: 1)) { continue }
      note(copy.reading)
      readings.append(copy.reading)
    }
    for copy in copies where copy.isRounded {
      if minutes.contains(Self.place(copy.reading, unit: 60)) { continue }
      note(copy.reading)
      readings.append(copy.reading)
    }
    let known = copies.count - readings.count
    copies.removeAll()
    return (readings.sorted { $0.line < $1.line }, known)
  }
}
