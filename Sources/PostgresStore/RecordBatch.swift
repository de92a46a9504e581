// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The records and the stored responses that a batch of changes needs. They are read with few SQL statements
/// before the batch, and written after it.
struct RecordBatch: RecordTable {
  private struct AnswerKey: Hashable {
    let guid: String
    let node: String
  }

  private struct Answer {
    var version: Int64
    var digest: String
    var revision: String
  }

  private struct Written {
    var seq: Int64
    var revision: String
    var state: RecordState
  }

  private let writer: PostgresWriter
  private var records: [String: CurrentRecord] = [:]
  private var answers: [AnswerKey: Answer] = [:]
  private var known: Set<String> = []
  private var written: [String: Written] = [:]
  private var answered: Set<AnswerKey> = []
  private var last: Int64
  private var tag: String?

  /// Reads what the changes need. The logbook's counter must be locked.
  init(_ writer: PostgresWriter, _ changes: [RecordChange]) throws {
    self.writer = writer
    last = writer.entry.last
    let guids = Array(Set(changes.map(\.guid)))
    guard !guids.isEmpty else { return }
    let logbook = SQLValue.integer(writer.entry.logbook)
    // ORDER BY and LIMIT make the planner use the primary key; see `PostgresReadingWriter`.
    let rows = try writer.transaction.rows(
      """
      SELECT r.guid, r.revision, r.state FROM unnest($2::text[]) AS i(guid)
      CROSS JOIN LATERAL (
        SELECT guid, revision, state FROM glucoport.record r
        WHERE r.logbook = $1 AND r.guid >= i.guid AND r.guid <= i.guid ORDER BY r.guid LIMIT 1
      ) r
      """, logbook, .texts(guids))
    for row in 0..<rows.count {
      records[try rows.text(row, 0)] = CurrentRecord(
        revision: try rows.text(row, 1), state: try rows.state(row, 2))
    }
    let keys = Array(Set(changes.map { AnswerKey(guid: $0.guid, node: $0.node) }))
    let found = try writer.transaction.rows(
      """
      SELECT a.guid, a.node, a.version, a.digest, a.revision
      FROM unnest($2::text[], $3::text[]) AS i(guid, node)
      CROSS JOIN LATERAL (
        SELECT guid, node, version, digest, revision FROM glucoport.accepted a
        WHERE a.logbook = $1 AND a.guid >= i.guid AND a.guid <= i.guid AND a.node = i.node ORDER BY a.guid LIMIT 1
      ) a
      """, logbook, .texts(keys.map(\.guid)), .texts(keys.map(\.node)))
    for row in 0..<found.count {
      answers[AnswerKey(guid: try found.text(row, 0), node: try found.text(row, 1))] = Answer(
        version: try found.integer(row, 2), digest: try found.text(row, 3), revision: try found.text(row, 4))
    }
    known = try writer.entry.known(Array(Set(changes.compactMap(\.base))), writer.transaction)
    tag = try writer.beginEpochTag()
  }

  func current(_ guid: String) -> CurrentRecord? { records[guid] }

  func earlierAnswer(to change: RecordChange) -> String? {
    guard let answer = answers[AnswerKey(guid: change.guid, node: change.node)],
      answer.version == Int64(change.version), answer.digest == change.digest
    else { return nil }
    return answer.revision
  }

  func knows(_ position: String) -> Bool { known.contains(position) }

  mutating func store(_ change: RecordChange, _ state: RecordState, isKnown: Bool) throws -> String {
    last += 1
    let revision = PositionText.text(last, tag: tag ?? "")
    records[change.guid] = CurrentRecord(revision: revision, state: state)
    written[change.guid] = Written(seq: last, revision: revision, state: state)
    known.insert(revision)
    return revision
  }

  mutating func keepAnswer(to change: RecordChange, _ revision: String) {
    let key = AnswerKey(guid: change.guid, node: change.node)
    if let answer = answers[key], answer.version > Int64(change.version) { return }
    answers[key] = Answer(version: Int64(change.version), digest: change.digest, revision: revision)
    answered.insert(key)
  }

  /// Writes the changed records and the responses.
  ///
  /// - Returns: the sequence number of the last change, and its position.
  func write() throws -> (last: Int64, position: String) {
    let logbook = SQLValue.integer(writer.entry.logbook)
    let changed = written.sorted { $0.value.seq < $1.value.seq }
    if !changed.isEmpty {
      _ = try writer.beginEpoch()
      try writer.transaction.rows(
        """
        INSERT INTO glucoport.record (logbook, guid, seq, revision, kind, state, node)
        SELECT $1, guid, seq, revision, kind, state, $2
        FROM unnest($3::text[], $4::int8[], $5::text[], $6::text[], $7::text[]) AS i(guid, seq, revision, kind, state)
        ON CONFLICT (logbook, guid) DO UPDATE SET seq = excluded.seq, revision = excluded.revision,
          state = excluded.state, node = excluded.node
        """, logbook, .integer(writer.node), .texts(changed.map(\.key)), .integers(changed.map(\.value.seq)),
        .texts(changed.map(\.value.revision)), .texts(changed.map(\.value.state.kind.rawValue)),
        .texts(changed.map(\.value.state.json)))
      try writer.storeLastChange(last)
    }
    let kept = answered.compactMap { key in answers[key].map { (key, $0) } }
    if !kept.isEmpty {
      try writer.transaction.rows(
        """
        INSERT INTO glucoport.accepted (logbook, guid, node, version, digest, revision)
        SELECT $1, * FROM unnest($2::text[], $3::text[], $4::int8[], $5::text[], $6::text[])
        ON CONFLICT (logbook, guid, node) DO UPDATE SET version = excluded.version, digest = excluded.digest,
          revision = excluded.revision
        """, logbook, .texts(kept.map(\.0.guid)), .texts(kept.map(\.0.node)),
        .integers(kept.map(\.1.version)),
        .texts(kept.map(\.1.digest)), .texts(kept.map(\.1.revision)))
    }
    guard last > writer.entry.last else { return (last, writer.entry.position) }
    return (last, PositionText.text(last, tag: tag ?? ""))
  }
}

extension PostgresWriter {
  /// The tag for sequence numbers that this transaction assigns. No row is added to the table `epoch`.
  func beginEpochTag() throws(DatabaseError) -> String {
    try transaction.rows("SELECT \(PostgresEntry.currentTag(of: entry.logbook))").text(0, 0)
  }
}

extension DatabaseRows {
  /// The state of a record, from the JSON in a column.
  func state(_ row: Int, _ column: Int) throws -> RecordState {
    do {
      return try RecordState(json: try text(row, column))
    } catch is JSONError {
      // The reason of the parser could quote a part of the text, so the error does not contain it.
      throw DatabaseError.unexpected("a record has an unknown state")
    }
  }
}
