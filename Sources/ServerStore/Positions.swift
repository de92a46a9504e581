// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// The sequence numbers of a logbook's changes. Each process that writes begins an epoch, whose tag is a part
/// of the text of its numbers; see `PositionText`.
struct Positions {
  let database: Database

  /// The sequence number of the last change; 0 before the first change.
  ///
  /// - Throws: `DamagedRow` for an impossibly large number, since further numbers would overflow.
  func last() throws -> Int64 {
    let sql =
      "SELECT max(coalesce((SELECT max(seq) FROM reading), 0), coalesce((SELECT max(seq) FROM record), 0))"
    let last = try Int64.fetchOne(cached(sql)) ?? 0
    guard (0..<PositionText.end).contains(last) else {
      throw DamagedRow("the sequence of changes", "unknown number")
    }
    return last
  }

  /// The text of a sequence number for clients.
  func text(_ seq: Int64) throws -> String { PositionText.text(seq, tag: try tag(of: seq)) }

  /// The sequence number in a client's text.
  ///
  /// - Throws: `ServiceError.positionUnknown` for a text that this logbook never returned.
  func seq(_ text: String) throws -> Int64 {
    guard let seq = PositionText.number(in: text), seq <= (try last()), try self.text(seq) == text else {
      throw ServiceError.positionUnknown
    }
    return seq
  }

  /// Whether this logbook has returned this text to a client.
  func knows(_ text: String) throws -> Bool {
    do {
      _ = try seq(text)
      return true
    } catch ServiceError.positionUnknown {
      return false
    }
  }

  /// Begins an epoch at this sequence number, unless this process has already begun the last epoch.
  func beginEpoch(at seq: Int64, tag: String) throws {
    let last = try String.fetchOne(cached("SELECT tag FROM epoch ORDER BY first_seq DESC LIMIT 1"))
    guard last != tag else { return }
    try cached("INSERT INTO epoch (first_seq, tag) VALUES (?, ?)").execute(arguments: [seq, tag])
  }

  /// A random tag for an epoch: eight hexadecimal digits.
  static func randomTag() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension Positions {
  private func tag(of seq: Int64) throws -> String {
    let statement = try cached("SELECT tag FROM epoch WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1")
    return try String.fetchOne(statement, arguments: [seq]) ?? ""
  }

  private func cached(_ sql: String) throws -> Statement { try database.cachedStatement(sql: sql) }
}
