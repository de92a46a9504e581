// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A value that a sensor stored.
package struct SensorSample: Sendable {
  /// The sensor's number, counted from 0. Memory grows with the largest number.
  package let device: Int
  /// The sensor's position among all devices of the logbook: see `GlucoseReading.deviceRank`.
  package let rank: Int
  /// Whether the sample is outside of the period, and only affects which samples near the ends of the period
  /// are used.
  package let isContext: Bool
  /// UTC seconds.
  package let instant: Int64
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// The value.
  package let level: GlucoseLevel
  /// Whether the value is the lowest or the highest that its source can state.
  package let isAtLimit: Bool
  /// Whether the shown time is in an hour that the clocks repeat, so that it can mean two instants.
  package let isInRepeatedHour: Bool

  /// Makes a sample from a sensor reading; nil if its value cannot be used.
  init?(_ reading: GlucoseReading, isContext: Bool = false) {
    guard let level = GlucoseLevel(reading.measurement, of: .cbg) else { return nil }
    (device, rank, self.isContext) = (reading.device, reading.deviceRank, isContext)
    (instant, deviceTime, self.level) = (reading.instant, reading.deviceTime, level)
    isAtLimit = reading.marks.contains(.atLimit)
    isInRepeatedHour = reading.placement.source == .zoneOverlap
  }
}

/// Selects one sensor for each instant, and calculates how long each sample is valid.
///
/// A sample is valid for the interval of its sensor minus ten seconds. Of two samples whose valid times
/// overlap, the one of the sensor with the lower rank is used. So no time counts twice. If two sensors
/// measure at the same time, the same sensor is always used, except in the pauses of its measurements. The
/// choice depends only on the samples of two hours before and after, and not on the period or on the order of
/// imports.
///
/// A spreadsheet that saves an export cuts its times to the minute. So a sample at a full minute counts as a
/// copy of an equal sample of its sensor at another second of this minute.
///
/// The interval of a sensor is the median difference of its samples so far, in whole minutes. At the start,
/// samples are kept until the interval is known.
package struct SensorSelection: Sendable {
  /// Whether a sample is used and, if not, why.
  enum SampleUse: Sendable {
    case used
    /// Another sensor measured at that time.
    case overlapping
    /// Another value of the same sensor is used at that instant.
    case repeated
  }

  /// The seconds before and after a period in which samples affect which samples of the period are used. This
  /// is twice the longest time for which a sample is valid. A sample that overlaps one in the period may
  /// itself be left out because of a third sensor.
  package static let contextSeconds: Int64 = 2 * maxValidSeconds

  private static let maxValidSeconds = Int64(SampleInterval.maxMinutes * 60)
  private static let toleranceSeconds: Int64 = 10
  /// The maximum time, and below the maximum number of samples, that are kept until the interval of their
  /// sensor is known.
  private static let maxHeldSeconds: Int64 = 86400
  private static let maxHeldSamples = 4096

  /// The state of one sensor.
  private struct Sensor: Sendable {
    var interval = SampleInterval()
    var lastInstant: Int64?
    /// The number of the sensor's samples that wait for a result.
    var waiting = 0
  }

  /// A kept sample, and its result; nil until the result is decided.
  private struct HeldSample: Sendable {
    let sample: SensorSample
    var outcome: SampleUse?
  }

  /// The state of each sensor; the index is the sensor's rank.
  private var sensors: [Sensor] = []
  private var held: [HeldSample] = []
  private var heldStart = 0
  /// The number of sensors with samples that wait for a result.
  private var waitingSensors = 0
  private var newest = Int64.min
  private var isFinished = false
  /// The sensor of the latest used sample, and the end of the time for which that sample is valid.
  private var latest: (rank: Int, end: Int64)?

  /// Adds the next sample in the order of time.
  mutating func add(_ sample: SensorSample) {
    while sensors.count <= sample.rank { sensors.append(Sensor()) }
    let isRepeated = sensors[sample.rank].lastInstant == sample.instant && !sample.isInRepeatedHour
    sensors[sample.rank].lastInstant = sample.instant
    if let copy = copyTruncatedToMinute(of: sample) {
      held[copy].outcome = .repeated
    } else {
      sensors[sample.rank].interval.add(sample.instant)
    }
    if sensors[sample.rank].waiting == 0 { waitingSensors += 1 }
    sensors[sample.rank].waiting += 1
    held.append(HeldSample(sample: sample, outcome: isRepeated ? .repeated : nil))
    newest = sample.instant
  }

  /// The index of a kept sample that repeats `sample` with its time cut to the minute; nil if there is none.
  private func copyTruncatedToMinute(of sample: SensorSample) -> Int? {
    let minute = DeviceTime.startOfMinute(sample.deviceTime.seconds)
    let seconds = sample.deviceTime.seconds - minute
    guard seconds > 0 else { return nil }
    var index = held.count - 1
    while index >= heldStart, held[index].sample.instant >= sample.instant - seconds {
      let other = held[index].sample
      if held[index].outcome == nil, other.rank == sample.rank, other.deviceTime.seconds == minute,
        other.level == sample.level
      {
        return index
      }
      index -= 1
    }
    return nil
  }

  /// States that no further sample follows, so that `next()` returns all kept samples.
  mutating func finish() { isFinished = true }

  /// The next sample with a decided result, and the minutes that it represents; nil until another sample is
  /// added.
  mutating func next() -> (sample: SensorSample, minutes: Int, outcome: SampleUse)? {
    guard heldStart < held.count, isFinished || isReady(held[heldStart].sample) else {
      if heldStart == held.count { release() }
      return nil
    }
    let sample = held[heldStart].sample
    let outcome = outcome(at: heldStart)
    if outcome == .used { latest = (sample.rank, validEnd(of: sample)) }
    sensors[sample.rank].waiting -= 1
    if sensors[sample.rank].waiting == 0 { waitingSensors -= 1 }
    heldStart += 1
    if heldStart > Self.maxHeldSamples { release() }
    return (sample, sensors[sample.rank].interval.minutes, outcome)
  }

  private mutating func release() {
    held.removeFirst(heldStart)
    heldStart = 0
  }

  private func isReady(_ sample: SensorSample) -> Bool {
    if held.count - heldStart > Self.maxHeldSamples { return true }
    let age = newest - sample.instant
    return age > Self.contextSeconds && (sensors[sample.rank].interval.isKnown || age > Self.maxHeldSeconds)
  }

  private func validEnd(of sample: SensorSample) -> Int64 {
    sample.instant + Int64(sensors[sample.rank].interval.minutes * 60) - Self.toleranceSeconds
  }

  /// Decides the result of a kept sample. It is left out if it overlaps certain used samples. These are the
  /// latest one, if another sensor took it, and those of sensors with a lower rank, which are decided first.
  private mutating func outcome(at index: Int) -> SampleUse {
    if let outcome = held[index].outcome { return outcome }
    let outcome: SampleUse = isOverlapped(at: index) ? .overlapping : .used
    held[index].outcome = outcome
    return outcome
  }

  private mutating func isOverlapped(at index: Int) -> Bool {
    let sample = held[index].sample
    if let latest, latest.rank != sample.rank, sample.instant < latest.end { return true }
    if waitingSensors == 1 { return false }
    var other = index - 1
    while other >= heldStart, held[other].sample.instant > sample.instant - Self.maxValidSeconds {
      let isValid = sample.instant < validEnd(of: held[other].sample)
      if isValid, held[other].sample.rank < sample.rank, outcome(at: other) == .used { return true }
      other -= 1
    }
    other = index + 1
    let end = validEnd(of: sample)
    while other < held.count, held[other].sample.instant < end {
      if held[other].sample.rank < sample.rank, outcome(at: other) == .used { return true }
      other += 1
    }
    return false
  }
}

/// The minutes between two samples of one sensor: the median of the differences, in whole minutes.
struct SampleInterval: Sendable {
  /// The interval that is used for a sensor with too few samples.
  static let usualMinutes = 5
  /// The longest interval. Even if a sensor pauses for longer, a sample is not valid for more than this time.
  static let maxMinutes = 60
  private static let neededDifferences = 8

  private var counts = [Int](repeating: 0, count: SampleInterval.maxMinutes + 1)
  private var differences = 0
  private var below = 0
  private var last: Int64?
  /// The median so far.
  private(set) var minutes = SampleInterval.usualMinutes

  /// Whether there were enough samples to know the interval.
  var isKnown: Bool { differences >= Self.neededDifferences }

  /// Adds the instant of the next sample, in UTC seconds. Samples must be added in the order of time.
  mutating func add(_ instant: Int64) {
    defer { last = instant }
    guard let last, instant > last else { return }
    let difference = Int(min(Int64(Self.maxMinutes), max(1, (instant - last + 30) / 60)))
    counts[difference] += 1
    differences += 1
    if difference < minutes { below += 1 }
    moveMedian()
  }

  /// Corrects the median after a difference was added. For most samples, one step is enough.
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
