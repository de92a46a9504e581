// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// An ingest, as `log --json` prints it; glucoport-json(5) documents its members.
struct IngestObject: Encodable {
  let id: Int64
  let source: String
  let format: String
  let digest: String?
  let startedAt: String
  let finishedAt: String?
  let outcome: String
  let undone: Bool
  let counts: IngestCounts
  let decisions: JSONFragment
  let meter: MeterObject?
  let clock: ClockObject?

  /// - Throws: `Failure` of category `inputOutput` for counts that another program wrote.
  init(_ ingest: IngestEntry) throws {
    id = ingest.id
    source = ingest.source
    format = ingest.format
    digest = ingest.digest
    startedAt = instant(ingest.startedAt)
    finishedAt = ingest.finishedAt.map(instant)
    outcome = ingest.outcome
    undone = ingest.isUndone
    // A failed import, or a download, stores only some of the counts. Every object has all of them.
    counts = try ingest.readCounts()
    decisions = JSONFragment(ingest.decisions)
    meter = ingest.meter.map { MeterObject($0, firmware: ingest.firmware) }
    clock = ingest.clock.map { ClockObject($0) }
  }
}

/// An ingest with the number of its items that another source states, too, as `log --json` lists it.
struct ListedIngestObject: Encodable {
  private let ingest: IngestObject
  private let counting: DoubledCount

  init(_ ingest: IngestEntry, doubled: DoubledCount) throws {
    self.ingest = try IngestObject(ingest)
    counting = doubled
  }

  func encode(to encoder: any Encoder) throws {
    try ingest.encode(to: encoder)
    try counting.encode(to: encoder)
  }
}

/// An ingest with the stored rejections, as `log NUMBER --json` prints it.
struct IngestDetailsObject: Encodable {
  private struct Rejections: Encodable {
    let rejections: [RejectionObject]
  }

  private let ingest: ListedIngestObject
  private let rejections: Rejections

  init(_ ingest: IngestEntry, _ rejections: [Rejection], _ doubles: ImportDoubles) throws {
    self.ingest = try ListedIngestObject(ingest, doubled: doubles.items)
    self.rejections = Rejections(
      rejections: rejections.map { RejectionObject(line: $0.line, reason: $0.reason) })
  }

  func encode(to encoder: any Encoder) throws {
    try ingest.encode(to: encoder)
    try rejections.encode(to: encoder)
  }
}

/// One rejected item.
struct RejectionObject: Encodable {
  let line: Int64
  let reason: String
}
