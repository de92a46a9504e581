// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
import Logbook
package import LogbookStore

/// The options that select items. `list` and `export` share them.
package struct ItemOptions: ParsableArguments {
  @OptionGroup var range: RangeOptions

  @Option(
    help: ArgumentHelp(
      "Only these kinds: \(names.joined(separator: ", ")).",
      valueName: "kind,…"), completion: .commaSeparated(names))
  package var kind: String?

  @Flag(help: "Include deleted records.")
  var deleted = false

  @Flag(help: "Include hidden items.")
  var hidden = false

  /// Creates the options without values. The parser sets the values.
  package init() {}

  /// Refuses unknown names of kinds.
  package func validate() throws {
    for name in kinds where !Self.names.contains(name) {
      throw ValidationError("Unknown kind '\(name)'; use \(alternatives(Self.names)).")
    }
  }

  /// The filter that passes the items that these options select.
  package func filter(_ store: Store) throws -> ItemFilter {
    let zone = try store.timezone()
    var filter = ItemFilter()
    filter.limit(to: range.bounds(zone: zone, now: Host.now()))
    filter.includesDeleted = deleted
    filter.includesWithdrawn = hidden
    if !kinds.isEmpty {
      filter.readingKinds = Set(kinds.compactMap { ReadingKind(name: $0) })
      filter.recordKinds = Set(RecordKind.listed.filter { kinds.contains($0.rawValue) })
    }
    return filter
  }

  /// Whether the requested kinds include a kind of readings.
  package var namesReadings: Bool { kinds.contains { ReadingKind(name: $0) != nil } }

  private static let names = ReadingKind.allCases.map(\.name) + RecordKind.listed.map(\.rawValue)

  private var kinds: [String] { kind?.split(separator: ",").map(String.init) ?? [] }
}

extension ItemFilter {
  /// Limits the items to a period. A bound with a shown time limits the shown times, and any other bound
  /// limits the instants.
  mutating func limit(to bounds: (since: TimeBound?, until: TimeBound?)) {
    if bounds.since?.shown == nil { since = bounds.since?.instant }
    if bounds.until?.shown == nil { until = bounds.until?.instant }
    limitShown(since: bounds.since?.shown, until: bounds.until?.shown)
  }
}

/// The options for a period. Lists, exports and statistics share them.
package struct RangeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only items from this time on: 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d, 36h.",
      valueName: "time"), transform: TimeArgument.parse)
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("Only items before this time.", valueName: "time"), transform: TimeArgument.parse)
  var until: TimeArgument?

  /// Creates the options without values. The parser sets the values.
  package init() {}

  /// Whether at least one end of the period is given.
  package var isGiven: Bool { since != nil || until != nil }

  /// The ends of the period; nil for an end that is not given.
  func bounds(zone: LogbookZone, now: Int64) -> (since: TimeBound?, until: TimeBound?) {
    (since?.bound(zone: zone, now: now), until?.bound(zone: zone, now: now))
  }
}

/// An end of a period. A date or a time of day is compared with the time that each item's clock showed, in
/// any zone. `14d` and a time with an offset are instants.
struct TimeBound {
  /// The instant in UTC seconds. For a shown time, it is the instant at which a clock in the zone of the
  /// logbook shows it.
  let instant: Int64
  /// The shown time in civil seconds; nil if the end is an instant.
  let shown: Int64?
}
