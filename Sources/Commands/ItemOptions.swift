// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The options that select items, the same for `list` and `export`.
struct ItemOptions: ParsableArguments {
  @OptionGroup var range: RangeOptions

  @Option(
    help: ArgumentHelp(
      "Only these kinds: \(names.joined(separator: ", ")).",
      valueName: "kind,…"), completion: .commaSeparated(names))
  var kind: String?

  @Flag(help: "Include deleted records.")
  var deleted = false

  @Flag(help: "Include hidden items.")
  var withdrawn = false

  func validate() throws {
    for name in kinds where !Self.names.contains(name) {
      throw ValidationError("Unknown kind '\(name)'; use \(alternatives(Self.names)).")
    }
  }

  func filter(_ store: Store) throws -> ItemFilter {
    let zone = try store.timezone()
    var filter = ItemFilter()
    filter.limit(to: range.bounds(zone: zone, now: Host.now()))
    filter.includesDeleted = deleted
    filter.includesWithdrawn = withdrawn
    if !kinds.isEmpty {
      filter.readingKinds = Set(kinds.compactMap { ReadingKind(name: $0) })
      filter.recordKinds = Set(RecordKind.listed.filter { kinds.contains($0.rawValue) })
    }
    return filter
  }

  /// Whether a kind of readings is among the requested ones.
  var namesReadings: Bool { kinds.contains { ReadingKind(name: $0) != nil } }

  private static let names = ReadingKind.allCases.map(\.name) + RecordKind.listed.map(\.rawValue)

  private var kinds: [String] { kind?.split(separator: ",").map(String.init) ?? [] }
}

extension ItemFilter {
  /// Limits the items to a stretch of time.
  mutating func limit(to bounds: (since: TimeBound?, until: TimeBound?)) {
    if bounds.since?.shown == nil { since = bounds.since?.instant }
    if bounds.until?.shown == nil { until = bounds.until?.instant }
    limitShown(since: bounds.since?.shown, until: bounds.until?.shown)
  }
}
