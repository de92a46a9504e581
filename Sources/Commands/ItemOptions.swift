// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The options that choose items, the same for `list` and `export`.
struct ItemOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "From this time on: 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d, 36h.", valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Up to this time.", valueName: "time"))
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "Only these kinds: smbg, cbg, scan, ketone, insulin, food, exercise, note, annotation, attachment.",
      valueName: "kind,…"))
  var kind: String?

  @Flag(help: "Deleted records, too.")
  var deleted = false

  func validate() throws {
    for name in kinds where ReadingKind(name: name) == nil && RecordKind(rawValue: name) == nil {
      throw ValidationError("There is no kind '\(name)'.")
    }
  }

  func filter(_ store: Store) throws -> ItemFilter {
    let zone = try store.timezone()
    var filter = ItemFilter()
    filter.since = since?.instant(zone: zone, now: Host.now())
    filter.until = until?.instant(zone: zone, now: Host.now())
    filter.includesDeleted = deleted
    if !kinds.isEmpty {
      filter.readingKinds = Set(kinds.compactMap { ReadingKind(name: $0) })
      filter.recordKinds = Set(kinds.compactMap { RecordKind(rawValue: $0) })
    }
    return filter
  }

  /// Whether a kind of readings is among those that were asked for.
  var namesReadings: Bool { kinds.contains { ReadingKind(name: $0) != nil } }

  private var kinds: [String] { kind?.split(separator: ",").map(String.init) ?? [] }
}
