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

  /// The first instant, and the one after the last, in UTC seconds; nil for an open end.
  func instants(zone: LogbookZone, now: Int64) -> (since: Int64?, until: Int64?) {
    (since?.instant(zone: zone, now: now), until?.instant(zone: zone, now: now))
  }
}
