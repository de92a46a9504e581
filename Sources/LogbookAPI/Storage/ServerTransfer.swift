// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The logins of a server and the names of its logbooks, on their way from one storage to another.
package struct TransferredDirectory: Hashable, Sendable {
  /// A login with the hash of its token.
  package struct Login: Hashable, Sendable {
    package var name: String
    package var tokenHash: [UInt8]
    package var role: String
    package var logbook: String
    /// UTC seconds.
    package var createdAt: Int64

    package init(name: String, tokenHash: [UInt8], role: String, logbook: String, createdAt: Int64) {
      (self.name, self.tokenHash, self.role, self.logbook) = (name, tokenHash, role, logbook)
      self.createdAt = createdAt
    }
  }

  /// A token that was replaced, and until when (UTC seconds) it is accepted.
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
  /// The logins by name.
  package var logins: [Login] = []
  /// Replaced tokens.
  package var replacedTokens: [ReplacedToken] = []
  /// The ids of purged logbooks.
  package var purged: [String] = []
  /// The ids of purged logbooks by the hashes of their tokens.
  package var purgedTokens: [[UInt8]: String] = [:]

  package init() {}
}

/// Some rows of a logbook on their way from one storage to another. The cases are in the order in which they come:
/// rows refer to earlier ones.
package enum TransferredRows: Sendable {
  /// The tags of epochs with the numbers at which they begin.
  case epochs([(firstSeq: Int64, tag: String)])
  case nodes([(id: Int64, name: String, runNumber: Int64, runID: String, lastSeq: Int64)])
  case devices([(id: Int64, device: Device)])
  case series([(id: Int64, device: Int64, kind: Int64, positionKind: Int64)])
  /// Records in the order of their numbers.
  case records([(guid: String, seq: Int64, revision: String, kind: String, state: String, node: Int64)])
  /// Readings in the order of their numbers.
  case readings([TransferredReading])
  case accepted([(guid: String, node: String, version: Int64, digest: String, revision: String)])
  /// Contents before their parts.
  case contents([(digest: String, size: Int64, held: Int64)])
  case part(digest: String, start: Int64, bytes: [UInt8])
}

/// A reading in columns.
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
  ///   - value: the number of the measurement, if it is within the device's range.
  ///   - threshold: the end of that range, if the device stated it.
  package init(whole: [Int64], value: Double?, threshold: Double?) {
    (seq, series, position, valueBucket) = (whole[0], whole[1], whole[2], whole[3])
    (occurrence, deviceTime, utcOffset, offsetSource) = (whole[4], whole[5], whole[6], whole[7])
    (unit, rangeFlag, marks, node) = (whole[8], whole[9], whole[10], whole[11])
    (self.value, self.threshold) = (value, threshold)
  }
}

/// Counts of what a transfer moved.
package struct TransferCounts: Hashable, Sendable {
  package var logbooks = 0
  /// How many of the logbooks an earlier transfer moved. Their items are not counted.
  package var knownLogbooks = 0
  package var readings = 0
  package var records = 0
  /// Bytes of attachments.
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

/// The database to which the data of a server's folder are moved.
package struct MovedDatabase: Hashable, Sendable {
  /// What stays the same when the database gets another name or address; without a space.
  package let id: String
  /// The name for people.
  package let name: String

  /// - Parameter id: has no space.
  package init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The database of a line that `line` made; nil for any other text.
  package init?(line: String) {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    (id, name) = (String(parts[0]), parts[1].filter { !$0.isNewline })
  }

  /// Both as one line of text.
  package var line: String { "\(id) \(name)\n" }
}

/// The data of a server that are moved to another storage.
package protocol TransferSource {
  /// The logins and names.
  func directory() throws -> TransferredDirectory
  /// Passes the rows of a logbook in the order of their cases, some at a time.
  func read(_ logbook: String, _ use: (TransferredRows) throws -> Void) throws
}

/// A storage to which the data of a server are moved.
package protocol TransferTarget {
  /// Stores one logbook, whole or not at all; false if it is stored already.
  ///
  /// - Parameters:
  ///   - directory: has its name, and its logins for a target that stores them with it.
  ///   - read: passes the rows.
  func store(
    _ logbook: String, of directory: TransferredDirectory,
    _ read: (_ use: (TransferredRows) throws -> Void) throws -> Void
  ) throws -> Bool
  /// Stores what is not stored with logbooks, after all of them: no login is of a logbook that is missing.
  func store(_ directory: TransferredDirectory) throws
}

extension TransferSource {
  /// Moves everything to another storage. It can be repeated after an interruption.
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
