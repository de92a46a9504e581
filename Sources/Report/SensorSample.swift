// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A value of a sensor's own history.
package struct SensorSample: Sendable {
  /// The sensor's number, counted from 0: what is kept grows with the greatest.
  package let device: Int
  /// UTC seconds.
  package let instant: Int64
  /// The time as the device showed it.
  package let deviceTime: DeviceTime
  /// The value.
  package let level: GlucoseLevel
  /// Whether the number equals the limit to which its source clamps.
  package let isAtLimit: Bool
  /// Whether its time is one that the clocks show twice, and nothing else is known of it.
  package let isInRepeatedHour: Bool

  /// A sample of these parts.
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

/// Chooses one sensor for each instant, and finds how long a sample of each speaks for.
///
/// The rule: a sample holds its place for the interval of its sensor less ten seconds; samples of other sensors in that
/// time are left out. So the sensor that measured first is used until it pauses, and no time counts twice. The interval of a
/// sensor is the median difference of its samples in whole minutes, so far as it was seen; at the start samples are held
/// until it is known.
struct SensorSelection: Sendable {
  /// What became of a sample.
  enum Fate: Sendable {
    case used
    /// Another sensor measured at that time.
    case overlapping
    /// The same sensor has another value at that instant.
    case repeated
  }

  private static let toleranceSeconds: Int64 = 10
  /// How far samples are held back at most.
  private static let maxHeldSeconds: Int64 = 86400
  private static let maxHeldSamples = 4096

  /// What is known of one sensor.
  private struct Sensor: Sendable {
    var interval = SampleInterval()
    var lastInstant: Int64?
  }

  /// By their numbers.
  private var sensors: [Sensor] = []
  private var held: [SensorSample] = []
  private var heldStart = 0
  private var newest = Int64.min
  private var isFinished = false
  private var current: (device: Int, end: Int64)?

  /// Takes the next sample in the order of time.
  mutating func add(_ sample: SensorSample) {
    while sensors.count <= sample.device { sensors.append(Sensor()) }
    sensors[sample.device].interval.add(sample.instant)
    held.append(sample)
    newest = sample.instant
  }

  /// No more samples come, so that none is held any longer.
  mutating func finish() { isFinished = true }

  /// The next sample whose fate is settled, with the minutes that it speaks for; nil until another one comes.
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
