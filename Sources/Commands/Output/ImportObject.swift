// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore

/// The results of an import, as `import --json` prints them; glucoport-json(5) documents the members.
struct ImportObject: Encodable {
  private struct Head: Encodable {
    let source: String
    let format: String
    let outcome: String
    let dryRun: Bool
  }

  private struct Details: Encodable {
    let decisions: JSONMembers<DecisionObject>
    let meter: MeterObject?
    let clock: ClockObject?
    let warnings: [String]
    let likelyDuplicates: [DuplicateObject]
    let doubled: [DoubledObject]
    let sensorCopies: [DoubledObject]
  }

  private let head: Head
  private let counts: IngestCounts
  private let details: Details

  init(_ report: ImportReport, _ doubles: ImportDoubles, isDryRun: Bool) {
    head = Head(
      source: report.source, format: report.format, outcome: report.end == .whole ? "whole" : "truncated",
      dryRun: isDryRun)
    counts = report.counts
    details = Details(
      decisions: JSONMembers(
        report.decisions.map { ($0.subject, DecisionObject(value: $0.value, basis: $0.basis.rawValue)) }),
      meter: report.meter.map { MeterObject($0.identity) },
      clock: report.meter?.clock.map { ClockObject($0) }, warnings: report.warnings,
      likelyDuplicates: report.likelyDuplicates.map(DuplicateObject.init), doubled: doubles.objects,
      sensorCopies: doubles.sensorCopyObjects)
  }

  func encode(to encoder: any Encoder) throws {
    try head.encode(to: encoder)
    try counts.encode(to: encoder)
    try details.encode(to: encoder)
  }
}

/// A decision on one subject.
struct DecisionObject: Encodable {
  let value: String
  let basis: String
}

/// Readings of two devices that are probably the same.
struct DuplicateObject: Encodable {
  let kind: String
  let device: String
  let other: String
  let readings: Int

  init(_ duplicate: LikelyDuplicate) {
    kind = duplicate.kind.name
    device = duplicate.device
    other = duplicate.other
    readings = duplicate.readings
  }
}
