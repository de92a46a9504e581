// SPDX-License-Identifier: Apache-2.0

/// The kinds of episodes: periods beyond a limit (Battelino et al. 2023).
package enum EpisodeKind: Int, CaseIterable, Sendable {
  /// Periods below the target range.
  case low
  /// Periods of very low values.
  case veryLow
  /// Periods below the target range for more than two hours without a break.
  case extendedLow
  /// Periods above the target range.
  case high
  /// Periods of very high values.
  case veryHigh

  /// The name in tables and JSON.
  package var name: String {
    switch self {
    case .low: "low"
    case .veryLow: "very_low"
    case .extendedLow: "extended_low"
    case .high: "high"
    case .veryHigh: "very_high"
    }
  }

  func contains(_ band: GlucoseBand) -> Bool {
    switch self {
    case .low, .extendedLow: band <= .low
    case .veryLow: band == .veryLow
    case .high: band >= .high
    case .veryHigh: band == .veryHigh
    }
  }

  /// Whether consecutive samples of `minutes` in total begin an episode. A single sample never begins one,
  /// however long its interval is.
  func begins(minutes: Int, samples: Int) -> Bool {
    samples >= 2
      && (self == .extendedLow ? minutes > 120 : minutes >= EpisodeDetector.recoveryMinutes)
  }

  /// The more severe kind of episode that an episode of this kind can contain: `veryLow` in `low`, and
  /// `veryHigh` in `high`. Nil for other kinds.
  var deeper: EpisodeKind? {
    switch self {
    case .low: .veryLow
    case .high: .veryHigh
    case .veryLow, .extendedLow, .veryHigh: nil
    }
  }
}

/// A completed episode.
struct Episode: Sendable {
  let kind: EpisodeKind
  /// The group of the statistics that contains the episode's first sample, such as a day.
  let group: Int
  /// Whether the episode's first sample was between midnight and six o'clock.
  let isAtNight: Bool
  let minutes: Int
  /// The sum of the samples in mg/dL, each multiplied by its minutes.
  let sum: Double
  /// Whether the episode contains a more severe one: a very low episode in a low one, or a very high one in a
  /// high one.
  let hasDeeper: Bool
}

/// Finds the episodes of one kind. An episode begins with at least 15 minutes of samples beyond the limit, or
/// with more than two hours for `extendedLow`. It ends before at least 15 minutes of samples within the
/// limit. A shorter recovery is part of the episode.
struct EpisodeDetector: Sendable {
  static let recoveryMinutes = 15

  /// The sums over consecutive samples.
  private struct SampleRun: Sendable {
    var minutes = 0
    var samples = 0
    var sum = 0.0

    mutating func add(_ minutes: Int, _ milligrams: Double) {
      self.minutes += minutes
      samples += 1
      sum += milligrams * Double(minutes)
    }

    mutating func add(_ other: SampleRun) {
      minutes += other.minutes
      samples += other.samples
      sum += other.sum
    }
  }

  let kind: EpisodeKind
  private var run = SampleRun()
  private var recovery = SampleRun()
  private var group = 0
  private var isAtNight = false
  private(set) var isOpen = false
  private var hasDeeper = false

  init(_ kind: EpisodeKind) { self.kind = kind }

  /// Adds the next sample of a series without gaps. Returns the episode that the sample ends; nil if it ends
  /// none.
  mutating func add(
    _ band: GlucoseBand, _ milligrams: Double, minutes: Int, group: Int, isAtNight: Bool
  ) -> Episode? {
    if kind.contains(band) {
      if run.samples == 0 { (self.group, self.isAtNight) = (group, isAtNight) }
      if recovery.samples > 0 {
        run.add(recovery)
        recovery = SampleRun()
      }
      run.add(minutes, milligrams)
      isOpen = isOpen || kind.begins(minutes: run.minutes, samples: run.samples)
      return nil
    }
    if !isOpen {
      if run.samples > 0 { run = SampleRun() }
      return nil
    }
    recovery.add(minutes, milligrams)
    let isBack = recovery.minutes >= Self.recoveryMinutes && recovery.samples >= 2
    return isBack ? end() : nil
  }

  /// Records that a more severe episode began within the current episode.
  mutating func deepen() { hasDeeper = true }

  /// Ends the series of samples, at a gap or after the last sample. Returns the episode that was in progress.
  mutating func end() -> Episode? {
    let episode =
      isOpen
      ? Episode(
        kind: kind, group: group, isAtNight: isAtNight, minutes: run.minutes, sum: run.sum,
        hasDeeper: hasDeeper)
      : nil
    (run, recovery, isOpen, hasDeeper) = (SampleRun(), SampleRun(), false, false)
    return episode
  }
}

/// Finds the episodes of every kind in the samples of a sensor.
struct EpisodeTracker: Sendable {
  /// The end of the night in seconds since midnight: six o'clock, as in the consensus of Battelino et al.
  /// 2023.
  private static let nightSeconds = 6 * 3600

  private let targets: Targets
  private var detectors = EpisodeKind.allCases.map(EpisodeDetector.init)
  private var last: (instant: Int64, level: GlucoseLevel)?

  init(_ targets: Targets) { self.targets = targets }

  /// Adds the next sample that statistics use.
  mutating func add(
    _ sample: SensorSample, minutes: Int, group: Int, ended: (Episode) -> Void
  ) {
    let isAtNight = secondsOfDay(sample.deviceTime) < Self.nightSeconds
    if let last {
      let gap = sample.instant - last.instant
      // A longer gap ends the episode, and in a shorter gap values are interpolated.
      if gap > DayCurve.maxGapSeconds {
        finish(ended: ended)
      } else {
        let steps = (Int(gap) + minutes * 30) / (minutes * 60)
        if steps > 1 {
          for step in 1..<steps {
            let level = GlucoseLevel(
              between: last.level, sample.level, at: Double(step) / Double(steps))
            addStep(level, minutes, group, isAtNight, ended)
          }
        }
      }
    }
    addStep(sample.level, minutes, group, isAtNight, ended)
    last = (sample.instant, sample.level)
  }

  /// Ends the open episodes.
  mutating func finish(ended: (Episode) -> Void) {
    for index in detectors.indices { if let episode = detectors[index].end() { ended(episode) } }
    last = nil
  }

  private mutating func addStep(
    _ level: GlucoseLevel, _ minutes: Int, _ group: Int, _ isAtNight: Bool, _ ended: (Episode) -> Void
  ) {
    let band = targets.band(of: level)
    for index in detectors.indices {
      let wasOpen = detectors[index].isOpen
      let episode = detectors[index].add(
        band, level.milligrams, minutes: minutes, group: group, isAtNight: isAtNight)
      if let episode { ended(episode) }
      if !wasOpen, detectors[index].isOpen { deepen(detectors[index].kind) }
    }
  }

  private mutating func deepen(_ kind: EpisodeKind) {
    for index in detectors.indices where detectors[index].kind.deeper == kind {
      detectors[index].deepen()
    }
  }
}

/// The numbers and durations of episodes of each kind.
package struct EpisodeCounts: Sendable {
  /// The episodes of one kind.
  package struct EpisodeLine: Sendable {
    /// The number of episodes.
    package var count = 0
    /// The number of episodes that contain no more severe episode; equal to `count` for all kinds except low
    /// and high.
    package var withoutDeeper = 0
    /// The number of episodes that began between midnight and six o'clock.
    package var atNight = 0
    /// The total duration in minutes.
    package var minutes = 0
    var means = 0.0

    /// The mean duration in minutes; nil without episodes.
    package var meanMinutes: Double? { count > 0 ? Double(minutes) / Double(count) : nil }
    /// The mean of the mean values of all episodes, in mg/dL, with equal weights; nil without episodes.
    package var mean: Double? { count > 0 ? means / Double(count) : nil }
  }

  private var lines = [EpisodeLine](repeating: EpisodeLine(), count: EpisodeKind.allCases.count)

  package subscript(kind: EpisodeKind) -> EpisodeLine { lines[kind.rawValue] }

  mutating func add(_ episode: Episode) {
    let index = episode.kind.rawValue
    lines[index].count += 1
    lines[index].withoutDeeper += episode.hasDeeper ? 0 : 1
    lines[index].atNight += episode.isAtNight ? 1 : 0
    lines[index].minutes += episode.minutes
    lines[index].means += episode.sum / Double(episode.minutes)
  }
}
