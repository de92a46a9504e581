// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Parts that can be fetched separately from a remote.
package enum DownloadSubject: Hashable, Sendable {
  /// The name and the limits of the logbook.
  case logbook
  /// All changes of others since the last time.
  case changes
  /// Every record.
  case records
  /// Readings with shown times from `from` until before `until`, in civil seconds.
  case readings(from: Int64, until: Int64)
  /// One record, by its guid.
  case record(String)
  /// The content of attachments, by its SHA-256.
  case attachment(String)

  /// The name of its kind.
  package var kind: String {
    switch self {
    case .logbook: "logbook"
    case .changes: "changes"
    case .records: "records"
    case .readings: "readings"
    case .record: "record"
    case .attachment: "attachment"
    }
  }

  /// The stored form of the part; empty if the kind has only one.
  var text: String {
    switch self {
    case .logbook, .changes, .records: ""
    case .readings(let from, let until): "\(from)/\(until)"
    case .record(let guid): guid
    case .attachment(let digest): digest
    }
  }

  init?(kind: String, text: String) {
    switch kind {
    case "logbook": self = .logbook
    case "changes": self = .changes
    case "records": self = .records
    case "record": self = .record(text)
    case "attachment": self = .attachment(text)
    case "readings":
      let ends = text.split(separator: "/").compactMap { Int64($0) }
      guard ends.count == 2 else { return nil }
      self = .readings(from: ends[0], until: ends[1])
    default: return nil
    }
  }
}

/// The priority of a download. Higher priorities always go first; equal ones go in the order in which they
/// were queued.
package enum DownloadPriority: Int, CaseIterable, Sendable {
  /// A person asked for it.
  case waiting
  /// Something changed or is new.
  case changed
  /// Fetch it when there is time.
  case idle

  /// The name in commands and in JSON.
  package var name: String {
    switch self {
    case .waiting: "waiting"
    case .changed: "changed"
    case .idle: "idle"
    }
  }
}

/// One row of the queue of downloads.
package struct Download: Hashable, Sendable {
  /// The number that commands use.
  package let id: Int64
  /// The part to be fetched.
  package let subject: DownloadSubject
  /// How urgent it is.
  package let priority: DownloadPriority
  /// When it was queued, in UTC seconds.
  package let queuedAt: Int64
  /// The cursor of the next page, if it has begun.
  package let position: String?
  /// The reason of the remote, if it refused the download permanently; else nil.
  package let refusal: String?

  static let columns = "id, kind, subject, priority, queued_at, position, refusal"

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "download")
    guard let subject = DownloadSubject(kind: try row[1], text: try row[2]) else { throw row.damage(2) }
    id = try row[0]
    self.subject = subject
    priority = try row.code(3)
    queuedAt = try row.seconds(4)
    position = try row[5]
    refusal = try row[6]
  }
}
