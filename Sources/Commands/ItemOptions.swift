// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The options that choose items, the same for `list` and `export`.
struct ItemOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show only items from this time on: 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d, 36h.",
      valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Show only items before this time.", valueName: "time"))
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "Only these kinds: \(names.joined(separator: ", ")).",
      valueName: "kind,…"))
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
    filter.since = since?.instant(zone: zone, now: Host.now())
    filter.until = until?.instant(zone: zone, now: Host.now())
    filter.includesDeleted = deleted
    filter.includesWithdrawn = withdrawn
    if !kinds.isEmpty {
      filter.readingKinds = Set(kinds.compactMap { ReadingKind(name: $0) })
      filter.recordKinds = Set(RecordKind.listed.filter { kinds.contains($0.rawValue) })
    }
    return filter
  }

  /// Whether a kind of readings is among those that were asked for.
  var namesReadings: Bool { kinds.contains { ReadingKind(name: $0) != nil } }

  private static let names = ReadingKind.allCases.map(\.name) + RecordKind.listed.map(\.rawValue)

  private var kinds: [String] { kind?.split(separator: ",").map(String.init) ?? [] }
}
