// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A value of a sensor's own history.
package struct SensorSample: Sendable {
  /// The sensor's number, counted from 0: memory grows with the largest one.
  package let device: Int
  /// UTC seconds.
  package let instant: Int64
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// The value.
  package let level: GlucoseLevel
  /// Whether the number equals the limit to which its source clamps.
  package let isAtLimit: Bool
  /// Whether its time is in an hour that the clocks repeat, and its occurrence is unknown.
  package let isInRepeatedHour: Bool

  package init(
    device: Int, instant: Int64, deviceTime: DeviceTime, level: GlucoseLevel,
    isAtLimit: Bool = false,
    isInRepeatedHour: Bool = false
  ) {
    self.device = device
    self.instant = instant
    self.deviceTime = deviceTime
    self.level = level
    self.isAtLimit = isAtLimit
    self.isInRepeatedHour = isInRepeatedHour
  }
}

/// Selects one sensor for each instant, and calculates how long each sample is valid.
///
/// A sample is valid for the interval of its sensor less ten seconds, and samples of other sensors in that
/// time are left out. So the sensor that measured first is used until it pauses, and no time counts twice.
/// The interval of a sensor is the median difference of its samples so far, in whole minutes. At the start,
/// samples are kept until it is known.
struct SensorSelection: Sendable {
  /// The result for a sample.
  enum Fate: Sendable {
    case used
    /// Another sensor measured at that time.
    case overlapping
    /// The same sensor has another value at that instant.
    case repeated
  }

  private static let toleranceSeconds: Int64 = 10
  /// The maximum time and number of kept samples.
  private static let maxHeldSeconds: Int64 = 86400
  private static let maxHeldSamples = 4096

  /// The state of one sensor.
  private struct Sensor: Sendable {
    var interval = SampleInterval()
    var lastInstant: Int64?
  }

  /// By number.
  private var sensors: [Sensor] = []
  private var held: [SensorSample] = []
  private var heldStart = 0
  private var newest = Int64.min
  private var isFinished = false
  private var current: (device: Int, end: Int64)?

  /// Adds the next sample in the order of time.
  mutating func add(_ sample: SensorSample) {
    while sensors.count <= sample.device { sensors.append(Sensor()) }
    sensors[sample.device].interval.add(sample.instant)
    held.append(sample)
    newest = sample.instant
  }

  /// Ends the samples, so that none is kept any longer.
  mutating func finish() { isFinished = true }

  /// The next sample with a decided result, and the minutes that it represents; nil until another sample is
  /// added.
  mutating func next() -> (sample: SensorSample, minutes: Int, fate: Fate)? {
    guard heldStart < held.count, isFinished || isReady(held[heldStart]) else {
      if heldStart == held.count { release() }
      return nil
    }
    let sample = held[heldStart]
    heldStart += 1
    if heldStart > Self.maxHeldSamples { release() }
    let minutes = sensors[sample.device].interval.minutes
    return (sample, minutes, fate(of: sample, minutes))
  }

  private mutating func release() {
    held.removeFirst(heldStart)
    heldStart = 0
  }

  private func isReady(_ sample: SensorSample) -> Bool {
    sensors[sample.device].interval.isKnown || newest - sample.instant > Self.maxHeldSeconds
      || held.count - heldStart > Self.maxHeldSamples
  }

  private mutating func fate(of sample: SensorSample, _ minutes: Int) -> Fate {
    let last = sensors[sample.device].lastInstant
    sensors[sample.device].lastInstant = sample.instant
    if last == sample.instant, !sample.isInRepeatedHour { return .repeated }
    if let current, current.device != sample.device, sample.instant < current.end {
      return .overlapping
    }
    current = (sample.device, sample.instant + Int64(minutes * 60) - Self.toleranceSeconds)
    return .used
  }
}

/// The minutes between two samples of one sensor: the median of the differences, in whole minutes.
struct SampleInterval: Sendable {
  /// The interval of a sensor with too few samples.
  static let usualMinutes = 5
  private static let maxMinutes = 60
  private static let neededDifferences = 8

  private var counts = [Int](repeating: 0, count: SampleInterval.maxMinutes + 1)
  private var differences = 0
  private var below = 0
  private var last: Int64?
  /// The median so far.
  private(set) var minutes = SampleInterval.usualMinutes

  /// Whether there were enough samples.
  var isKnown: Bool { differences >= Self.neededDifferences }

  /// Adds the instant of a sample, in UTC seconds; they come in order.
  mutating func add(_ instant: Int64) {
    defer { last = instant }
    guard let last, instant > last else { return }
    let difference = Int(min(Int64(Self.maxMinutes), max(1, (instant - last + 30) / 60)))
    counts[difference] += 1
    differences += 1
    if difference < minutes { below += 1 }
    moveMedian()
  }

  /// Moves the median to the right position; for each sample, one step is mostly enough.
  private mutating func moveMedian() {
    while below > (differences - 1) / 2 {
      minutes -= 1
      below -= counts[minutes]
    }
    while below + counts[minutes] <= (differences - 1) / 2 {
      below += counts[minutes]
      minutes += 1
    }
  }
}
