// SPDX-License-Identifier: Apache-2.0

/// Counts the minutes, some time before and after a minute, that are evidence for copies. Callers ask for the
/// minutes in the order of time.
struct MinuteWindow {
  private var minutes: [Int64] = []
  private var (first, end) = (0, 0)
  private let before: Int64
  private let after: Int64

  /// Counts each minute once: a dose and a meal that were typed together are not more evidence than one of
  /// them.
  init(
    _ instants: [Int64], before: Int64 = OwnCopies.spanSeconds, after: Int64 = OwnCopies.spanSeconds
  ) {
    (self.before, self.after) = (before, after)
    for instant in instants where minutes.last != instant.minuteStart {
      minutes.append(instant.minuteStart)
    }
  }

  mutating func count(around minute: Int64) -> Int {
    while first < minutes.count, minutes[first] < minute - before { first += 1 }
    while end < minutes.count, minutes[end] <= minute + after { end += 1 }
    return end - first
  }
}

extension Int64 {
  /// The first second of the minute of this instant.
  var minuteStart: Int64 { DeviceTime.startOfMinute(self) }
  /// Whether this instant is the first second of a minute.
  var isAtMinute: Bool { self == minuteStart }
}
