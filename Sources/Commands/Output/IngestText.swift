// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// An ingest in one line.
enum IngestText {
  /// - Parameter doubled: how many of its items another source states, too.
  static func line(_ ingest: IngestEntry, doubled: DoubledCount = DoubledCount()) -> String {
    let counting =
      (doubled.doubled > 0 ? " · doubled \(grouped(doubled.doubled))" : "")
      + (doubled.sensorCopies > 0 ? " · copies of a sensor \(grouped(doubled.sensorCopies))" : "")
    let undone = ingest.isUndone ? " · undone" : ""
    let outcome = (ingest.outcome == "whole" ? "" : " · \(outcomeWords(ingest.outcome))") + undone
    return
      "\(ingest.id)  \(time(ingest.startedAt))  \(ingest.format)  \(displayed(ingest.source)): \(items(ingest)) · rejected \(grouped(ingest.rejected))\(counting)\(outcome)"
  }

  /// The numbers of readings and records; only of records if the import had no readings.
  private static func items(_ ingest: IngestEntry) -> String {
    let readings = "new \(grouped(ingest.new)) · known \(grouped(ingest.known))"
    let (new, known, updated) = ingest.records
    guard new + known + updated > 0 else { return readings }
    let records =
      "records new \(grouped(new)) · known \(grouped(known))"
      + (updated > 0 ? " · updated \(grouped(updated))" : "")
    return ingest.new + ingest.known > 0 ? readings + " · " + records : records
  }

  /// All stored facts about an ingest: one line for each fact, and one for each stored rejection.
  static func details(
    _ ingest: IngestEntry, _ rejections: [Rejection], _ doubles: ImportDoubles
  ) throws -> [String] {
    let counts = try ingest.readCounts()
    var parts: [String] = []
    if let finished = ingest.finishedAt { parts.append("finished \(time(finished))") }
    parts.append("digest \(ingest.digest ?? "unknown")")
    if let meter = ingest.meter {
      parts.append("meter \(displayed(MeterText.name(meter, firmware: ingest.firmware)))")
    }
    if let clock = ingest.clock { parts.append("clock \(MeterText.line(clock))") }
    parts += ImportSummary.lines(counts)
    let decisions = ImportSummary.decisions(try ingest.readDecisions())
    if !decisions.isEmpty { parts.append(decisions) }
    if let notTaken = ImportSummary.notTaken(counts.notTaken) { parts.append(notTaken) }
    if let skipped = ImportSummary.skipped(counts) { parts.append(skipped) }
    parts += doubles.lines
    parts += rejections.map { "line \($0.line): \(displayed($0.reason))" }
    let others = counts.rejected - rejections.count
    if others > 0 { parts.append("\(counted(others, "more rejection")), without their reasons") }
    return [line(ingest, doubled: doubles.items)] + parts.map { "  " + $0 }
  }

  private static func time(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

  /// An ingest without an end was killed, or is running.
  private static func outcomeWords(_ outcome: String) -> String {
    outcome == "running" ? "not finished" : outcome == "truncated" ? "input truncated" : outcome
  }
}
