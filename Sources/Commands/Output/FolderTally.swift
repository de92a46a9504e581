// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore

/// The sum of the results for the files of a folder.
struct FolderTally {
  private var inputs = 0
  private var counts = IngestCounts()
  private var formats: [String: Int] = [:]
  private var reasons: [String: Int] = [:]
  private var duplicates: [String: Int] = [:]

  /// Adds the results of an input.
  mutating func add(_ report: ImportReport) {
    inputs += 1
    formats[report.format, default: 0] += 1
    counts += report.counts
    for duplicate in report.likelyDuplicates {
      let pair = "\(displayed(duplicate.device)) and \(displayed(duplicate.other))"
      duplicates[pair, default: 0] += duplicate.readings
    }
  }

  /// Counts a file that is not an export.
  mutating func passOver(_ reason: String) { reasons[reason, default: 0] += 1 }

  /// The summary as text.
  func lines(of folder: String, isDryRun: Bool) -> [String] {
    let passedOver = reasons.values.reduce(0, +)
    let kinds = formats.keys.sorted().map { "\($0) \(grouped(formats[$0] ?? 0))" }.joined(separator: ", ")
    var title = "\(displayed(folder)): \(counted(inputs, "export"))"
    if !kinds.isEmpty { title += " (\(kinds))" }
    if passedOver > 0 { title += ", \(counted(passedOver, "other file"))" }
    var lines = [title]
    if inputs > 0 {
      lines += ImportSummary.lines(counts)
      if let notTaken = ImportSummary.notTaken(counts.notTaken) { lines.append(notTaken) }
      if let skipped = ImportSummary.skipped(counts) { lines.append(skipped) }
    }
    lines += duplicates.keys.sorted().map {
      "likely the same readings: \(grouped(duplicates[$0] ?? 0)) of \($0)"
    }
    let sorted = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    lines += sorted.map { "not read: \(counted($0.value, "file")): \(displayed($0.key))" }
    if isDryRun { lines.append("preview: nothing was stored") }
    return lines.enumerated().map { $0.offset == 0 ? $0.element : "  " + $0.element }
  }
}
