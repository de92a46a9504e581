// SPDX-License-Identifier: Apache-2.0

/// A change of a zone's clocks, such as to summer time, and what it does to the shown times that it skips or repeats.
struct ClockChange: Hashable, Sendable {
  /// The first instant after the change, in UTC seconds.
  let instant: Int64
  /// The offset before the change, in seconds east of Greenwich.
  let old: Int32
  /// The offset after it, in seconds east of Greenwich.
  let new: Int32

  /// The shown times that the change skips or repeats, in civil seconds.
  var times: Range<Int64> {
    let (before, after) = (instant + Int64(old), instant + Int64(new))
    return min(before, after)..<max(before, after)
  }

  /// The placement of these times: the offset before the change. A clock that showed a skipped time was not changed yet.
  /// A repeated time is at its first occurrence, unless ticks show the other one; see `TickClock`.
  var placement: Placement {
    Placement(utcOffset: old, source: new > old ? .zoneGap : .zoneOverlap)
  }
}
