// SPDX-License-Identifier: Apache-2.0

import Formats
import Ingest
import Logbook
import LogbookStore

/// Finds an earlier import of the same file that read other columns for doses or carbohydrates.
///
/// A dose is identified by its time, its use (such as bolus) and its device, but not by its column, since
/// exports rename their columns. So doses of a second column at the same times look like those of the first,
/// and are not stored.
struct OtherColumns {
  /// The number of recent imports that are searched.
  private static let maxImports = 1000
  /// The roles of the first columns for doses and for carbohydrates, and the roles for a second column.
  private static let roles = [(first: "insulin", second: "insulin2"), (first: "carbs", second: "carbs2")]

  /// The roles and columns of the two imports together, in the notation of `--map`.
  let map: String
  /// The number of the earlier import.
  let ingest: Int64

  /// Nil if the import stored all of its records, or if no earlier import of this file read other columns.
  init?(_ report: ImportReport, in store: Store) throws {
    let own = Self.columns(report.decisions)
    guard report.counts.knownRecords + report.counts.keptRecords > 0, !own.isEmpty,
      let digest = try store.ingest(report.ingest)?.digest
    else { return nil }
    for entry in try store.ingests(limit: Self.maxImports)
    where entry.id != report.ingest && !entry.isUndone
      && (entry.digest == digest || entry.source == report.source && report.source != "-")
    {
      let earlier = Self.columns(try entry.readDecisions())
      let other = Self.roles.filter { role in
        own[role.first].map { own in earlier[role.first].map { $0 != own } ?? false } ?? false
      }
      guard !other.isEmpty else { continue }
      var all = own
      for role in other {
        all[role.first] = earlier[role.first]
        all[role.second] = own[role.first]
      }
      map = ColumnPairs.text(all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      ingest = entry.id
      return
    }
    return nil
  }

  /// The columns that a person chose, by their roles.
  private static func columns(_ decisions: [Decision]) -> [String: String] {
    let map = decisions.first { $0.subject == Decision.columns }?.value
    return (map.flatMap(ColumnPairs.parse) ?? []).reduce(into: [:]) { $0[$1.name] = $1.value }
  }
}
