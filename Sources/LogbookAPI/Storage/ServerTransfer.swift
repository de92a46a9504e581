// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The logins of a server and the names of its logbooks, as they are moved from one storage to another.
package struct TransferredDirectory: Hashable, Sendable {
  /// A login with the hash of its token.
  package struct Login: Hashable, Sendable {
    package var name: String
    package var tokenHash: [UInt8]
    package var role: String
    package var logbook: String
    /// When the login was added, in UTC seconds.
    package var createdAt: Int64

    package init(name: String, tokenHash: [UInt8], role: String, logbook: String, createdAt: Int64) {
      (self.name, self.tokenHash, self.role, self.logbook) = (name, tokenHash, role, logbook)
      self.createdAt = createdAt
    }
  }

  /// A token that was replaced. It is accepted until `until`, in UTC seconds.
  package struct ReplacedToken: Hashable, Sendable {
    package var hash: [UInt8]
    package var login: String
    package var until: Int64

    package init(hash: [UInt8], login: String, until: Int64) {
      (self.hash, self.login, self.until) = (hash, login, until)
    }
  }

  /// The names of logbooks by their ids.
  package var logbooks: [String: String] = [:]
  /// All logins, ordered by name.
  package var logins: [Login] = []
  /// The tokens that were replaced and may still be valid.
  package var replacedTokens: [ReplacedToken] = []
  /// The ids of purged logbooks.
  package var purged: [String] = []
  /// For each token of a purged logbook, by its hash: the id of the logbook.
  package var purgedTokens: [[UInt8]: String] = [:]

  package init() {}
}

/// Some rows of a logbook that are moved from one storage to another. A row may refer to rows of earlier
/// cases, so the rows are moved in the order of the cases.
package enum TransferredRows: Sendable {
  /// The tags of the epochs, each with the first sequence number of the epoch.
  case epochs([(firstSeq: Int64, tag: String)])
  case nodes([(id: Int64, name: String, runNumber: Int64, runID: String, lastSeq: Int64)])
  case devices([(id: Int64, device: Device)])
  case series([(id: Int64, device: Int64, kind: Int64, positionKind: Int64)])
  /// Records in the order of their sequence numbers.
  case records([(guid: String, seq: Int64, revision: String, kind: String, state: String, node: Int64)])
  /// Readings in the order of their sequence numbers.
  case readings([TransferredReading])
  case accepted([(guid: String, node: String, version: Int64, digest: String, revision: String)])
  /// The sizes of attachments' contents. They are moved before the bytes of all contents, which are in
  /// `parts`.
  case contents([(digest: String, size: Int64, held: Int64)])
  case part(digest: String, start: Int64, bytes: [UInt8])
}

/// A reading as the columns of its row.
package struct TransferredReading: Hashable, Sendable {
  package var seq: Int64
  package var series: Int64
  package var position: Int64
  package var valueBucket: Int64
  package var occurrence: Int64
  package var deviceTime: Int64
  package var utcOffset: Int64
  package var offsetSource: Int64
  package var value: Double?
  package var unit: Int64
  package var rangeFlag: Int64
  package var threshold: Double?
  package var marks: Int64
  package var node: Int64

  /// - Parameters:
  ///   - whole: the twelve whole numbers in the order of the columns, without value and threshold.
  ///   - value: the measured number; nil if it is outside the device's range.
  ///   - threshold: the limit of the device's range; nil if the device did not state it.
  package init(whole: [Int64], value: Double?, threshold: Double?) {
    (seq, series, position, valueBucket) = (whole[0], whole[1], whole[2], whole[3])
    (occurrence, deviceTime, utcOffset, offsetSource) = (whole[4], whole[5], whole[6], whole[7])
    (unit, rangeFlag, marks, node) = (whole[8], whole[9], whole[10], whole[11])
    (self.value, self.threshold) = (value, threshold)
  }
}

/// The numbers of items that a transfer moved.
package struct TransferCounts: Hashable, Sendable {
  package var logbooks = 0
  /// The number of logbooks that an earlier transfer had already moved. Their items are not counted.
  package var knownLogbooks = 0
  package var readings = 0
  package var records = 0
  /// The number of bytes in the contents of attachments.
  package var contentBytes: Int64 = 0

  package init() {}

  /// Adds rows to the counts.
  package mutating func add(_ rows: TransferredRows) {
    switch rows {
    case .readings(let rows): readings += rows.count
    case .records(let rows): records += rows.count
    case .part(_, _, let bytes): contentBytes += Int64(bytes.count)
    case .epochs, .nodes, .devices, .series, .accepted, .contents: break
    }
  }
}

/// The database to which the data of a server's folder were moved.
package struct MovedDatabase: Hashable, Sendable {
  /// An identifier without spaces that stays the same if the database gets another name or address.
  package let id: String
  /// The name of the database for people.
  package let name: String

  /// - Parameter id: an identifier without spaces.
  package init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The database in a text that `line` created; nil for any other text.
  package init?(line: String) {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    (id, name) = (String(parts[0]), parts[1].filter { !$0.isNewline })
  }

  /// The id and the name as one line of text.
  package var line: String { "\(id) \(name)\n" }
}

/// A storage from which the data of a server are moved.
package protocol TransferSource {
  /// The logins, and the names of the logbooks.
  func directory() throws -> TransferredDirectory
  /// Passes the rows of a logbook to `use`, some rows at a time, in the order of the cases of
  /// `TransferredRows`.
  func read(_ logbook: String, _ use: (TransferredRows) throws -> Void) throws
}

/// A storage to which the data of a server are moved.
package protocol TransferTarget {
  /// Stores one logbook, completely or not at all. Returns false if it is already stored.
  ///
  /// - Parameters:
  ///   - directory: the names of all logbooks and all logins. A target may store the logins of a logbook with
  ///     the logbook.
  ///   - read: passes the rows of the logbook.
  func store(
    _ logbook: String, of directory: TransferredDirectory,
    _ read: (_ use: (TransferredRows) throws -> Void) throws -> Void
  ) throws -> Bool
  /// Stores the part of the directory that `store(_:of:_:)` does not store with the logbooks. It is called
  /// last, so that no login refers to a missing logbook.
  func store(_ directory: TransferredDirectory) throws
}

extension TransferSource {
  /// Moves all data to another storage. After an interruption, it can be called again.
  package func move(to target: some TransferTarget) throws -> TransferCounts {
    let directory = try directory()
    var counts = TransferCounts()
    for id in directory.logbooks.keys.sorted() {
      var moved = TransferCounts()
      let isNew = try target.store(id, of: directory) { use in
        try read(id) { rows in
          moved.add(rows)
          try use(rows)
        }
      }
      counts.logbooks += 1
      if !isNew { counts.knownLogbooks += 1 }
      counts.readings += moved.readings
      counts.records += moved.records
      counts.contentBytes += moved.contentBytes
    }
    try target.store(directory)
    return counts
  }
}
