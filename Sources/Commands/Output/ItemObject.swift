// SPDX-License-Identifier: Apache-2.0

import Formats

/// An item with the members of its export, and its state in the store.
struct ItemObject: Encodable {
  enum More {
    case reading(ReadingObject)
    case record(RecordObject)
  }

  let cells: GlucoportCells
  let more: More

  func encode(to encoder: any Encoder) throws {
    try cells.encode(to: encoder)
    switch more {
    case .reading(let reading): try reading.encode(to: encoder)
    case .record(let record): try record.encode(to: encoder)
    }
  }
}

/// The state of a reading in the store.
struct ReadingObject: Encodable {
  let id: String
  let ingest: Int64
  let uploaded: Bool
  let state: String
  let reason: String?
  let refused: String?
  let revisions: [RevisionObject]
  let clock: ClockObject?
}

/// Another value that a source had for a reading.
struct RevisionObject: Encodable {
  let value: String
  let unit: String
  let ingest: Int64
}

/// The state of a record in the store.
struct RecordObject: Encodable {
  let withdrawn: Bool
  let version: Int
  let versionSynced: Int
  let state: String
  let reason: String?
  let refused: String?
  let ingest: Int64?
}
