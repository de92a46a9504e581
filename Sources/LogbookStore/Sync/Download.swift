// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// The data of a remote that can be downloaded separately.
package enum DownloadSubject: Hashable, Sendable {
  /// The name and the limits of the logbook.
  case logbook
  /// All changes that other nodes have made since the last pull.
  case changes
  case records
  /// Readings with shown times from `from` until before `until`, in civil seconds.
  case readings(from: Int64, until: Int64)
  /// One record, by its guid.
  case record(String)
  /// The content of attachments, by its SHA-256.
  case attachment(String)

  /// The name of the kind, which commands and the store use.
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

  /// The text that identifies the subject in the table `download`; empty for a kind that has only one
  /// subject.
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

/// The priority of a download. Downloads with a higher priority come first. Downloads with the same priority
/// are processed in the order in which they were queued.
package enum DownloadPriority: Int, CaseIterable, Sendable {
  /// A person asked for the download.
  case waiting
  /// The remote's data changed or is new.
  case changed
  /// The download is not urgent, such as that of older history.
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
  /// The data to be downloaded.
  package let subject: DownloadSubject
  /// How urgent the download is.
  package let priority: DownloadPriority
  /// When the download was queued, in UTC seconds.
  package let queuedAt: Int64
  /// The remote's position at which the next page of the download begins; nil if no page was downloaded yet.
  package let position: String?
  /// The remote's reason, if it refused the download permanently; otherwise nil.
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
