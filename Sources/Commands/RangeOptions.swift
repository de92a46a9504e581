// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// The options for a period, the same for lists, exports and figures.
struct RangeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only items from this time on: 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d, 36h.",
      valueName: "time"), transform: TimeArgument.parse)
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("Only items before this time.", valueName: "time"), transform: TimeArgument.parse)
  var until: TimeArgument?

  /// Whether one of them is given.
  var isGiven: Bool { since != nil || until != nil }

  /// Where the stretch begins and ends; nil for an open end.
  func bounds(zone: LogbookZone, now: Int64) -> (since: TimeBound?, until: TimeBound?) {
    (since?.bound(zone: zone, now: now), until?.bound(zone: zone, now: now))
  }
}

/// An end of a stretch of time. A date or a time of day is what the clock of an item showed, in any zone. `14d` and a
/// time with an offset are instants.
struct TimeBound {
  /// In UTC seconds; of a shown time on the clock of the logbook.
  let instant: Int64
  /// In civil seconds; nil for an instant.
  let shown: Int64?
}
