// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The data that each request on a logbook reads first. They are the logbook's last sequence number, the node
/// that sent the request, and the tags of positions.
struct PostgresEntry {
  /// The number of the logbook.
  let logbook: Int64
  /// The sequence number of the last change.
  let last: Int64
  /// The tag in the position of the last change.
  let lastTag: String
  /// The sequence number in the cursor; 0 without a cursor.
  let cursor: Int64
  /// The number of the node that sent the request; nil if the node's run (its upload) is not recorded yet.
  let node: Int64?
  /// Whether this is the first request that uses a copy after the move to it.
  let isUnconfirmed: Bool

  /// The SQL expression for the tag of sequence numbers that this transaction assigns. The tag changes after
  /// each event that could cause a number to be assigned twice. It is computed from these values:
  ///
  /// - The system identifier. A dump and restore changes it.
  /// - The id of the database. A restore next to other databases changes it.
  /// - The timeline. A promotion or a recovery to a point in time changes it.
  /// - The start time. It differs after the data folder was restored from a copy.
  /// - The id of a table. Restoring a dump into the same database changes it.
  /// - The number of the table's file. It differs if the table was emptied and only its rows were restored.
  ///
  /// A rewrite of the table, as by VACUUM FULL, also changes the file. This does no harm; the tag only
  /// changes once more.
  ///
  /// The number of the logbook is also included, so that no logbook accepts positions of another logbook. The
  /// tag is evaluated in the transaction that assigns numbers, since a pooler could connect each transaction
  /// to another server.
  static func currentTag(of logbook: Int64) -> String {
    """
    substr(encode(sha256(convert_to(concat_ws('/', \(logbook), (SELECT system_identifier FROM pg_control_system()), \
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), \
    to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), \
    (SELECT oid FROM pg_database WHERE datname = current_database()), \
    (SELECT oid || '/' || relfilenode FROM pg_class WHERE oid = 'glucoport.counter'::regclass)), \
    'UTF8')), 'hex'), 1, 8)
    """
  }

  /// Reads what a request needs, and checks whether the request is allowed.
  ///
  /// - Parameters:
  ///   - writes: whether the transaction changes the logbook; see `CopyState`.
  ///   - hidesOwn: whether the response omits the node's own changes; see `RecordedNode`.
  /// - Throws: `ServiceError`: `purged`, `otherLogbook`, `positionUnknown`, `nodeReused`, `busy` while the
  ///   logbook is being moved. After a move, `LogbookMovedAway`.
  init(
    _ transaction: DatabaseTransaction, _ logbook: Int64, of login: Login, _ run: RunStamp, writes: Bool,
    cursor: String? = nil, hidesOwn: Bool = true
  ) throws {
    if let expected = run.logbook, expected != login.logbook {
      throw ServiceError.otherLogbook(id: login.logbook)
    }
    let seen = try run.lastSeenPosition.map(Self.number)
    let start = try cursor.map(Self.number)
    let tag = { (seq: String) in
      "(SELECT tag FROM glucoport.epoch WHERE logbook = $1 AND first_seq <= \(seq) ORDER BY first_seq DESC LIMIT 1)"
    }
    let rows = try transaction.rows(
      """
      SELECT c.last_seq, \(tag("c.last_seq")), \(tag("$3")), \(tag("$4")), n.id, n.run_number, n.run_id, n.last_seq,
        \(CopyState.columns(writes: writes)), \(writes ? CopyState.isUnconfirmed : "false")
      FROM glucoport.counter c LEFT JOIN glucoport.residence r ON r.logbook = $1
        LEFT JOIN glucoport.node n ON n.logbook = $1 AND n.name = $2 WHERE c.logbook = $1
      """, .integer(logbook), .text(run.node), .integer(seen), .integer(start))
    guard rows.count == 1 else { throw ServiceError.purged }
    try CopyState.check(rows, from: 8, login.place)
    isUnconfirmed = try rows.integer(0, 11) == 1
    let last = try rows.integer(0, 0)
    guard (0..<PositionText.end).contains(last) else {
      throw DatabaseError.unexpected("the number of the last change of logbook \(logbook) is impossible")
    }
    self.logbook = logbook
    self.last = last
    lastTag = try rows.optionalText(0, 1) ?? ""
    try Self.requireKnown(run.lastSeenPosition, seen, tag: try rows.optionalText(0, 2), last: last)
    if rows.isNull(0, 4) {
      node = nil
    } else {
      let recorded = RecordedNode(
        id: try rows.integer(0, 4), runNumber: try rows.integer(0, 5), runID: try rows.text(0, 6),
        lastSeq: try rows.integer(0, 7))
      node = try recorded.isRecorded(run, position: seen ?? 0, hidesOwn: hidesOwn) ? recorded.id : nil
    }
    try Self.requireKnown(cursor, start, tag: try rows.optionalText(0, 3), last: last)
    self.cursor = start ?? 0
  }

  /// The position of the last change, as a text for clients.
  var position: String { PositionText.text(last, tag: lastTag) }

  /// The position of the change with this sequence number, as a text for clients.
  func text(_ seq: Int64, _ transaction: DatabaseTransaction) throws -> String {
    if seq == last { return position }
    let rows = try transaction.rows(
      "SELECT tag FROM glucoport.epoch WHERE logbook = $1 AND first_seq <= $2 ORDER BY first_seq DESC LIMIT 1",
      .integer(logbook), .integer(seq))
    return PositionText.text(seq, tag: rows.count == 1 ? try rows.text(0, 0) : "")
  }

  /// The texts of this list that the logbook has returned as positions. The counter of the logbook must be
  /// locked.
  func known(_ texts: [String], _ transaction: DatabaseTransaction) throws -> Set<String> {
    let numbers = texts.map { PositionText.number(in: $0) ?? -1 }
    let rows = try transaction.rows(
      """
      SELECT i.ord, (SELECT tag FROM glucoport.epoch WHERE logbook = $1 AND first_seq <= i.seq
        ORDER BY first_seq DESC LIMIT 1)
      FROM unnest($2::int8[]) WITH ORDINALITY AS i(seq, ord)
      """, .integer(logbook), .integers(numbers))
    var known: Set<String> = []
    for row in 0..<rows.count {
      let place = Int(try rows.integer(row, 0)) - 1
      guard numbers[place] >= 0, numbers[place] <= last, let tag = try rows.optionalText(row, 1),
        PositionText.text(numbers[place], tag: tag) == texts[place]
      else { continue }
      known.insert(texts[place])
    }
    return known
  }

  private static func number(in text: String) throws(ServiceError) -> Int64 {
    guard let seq = PositionText.number(in: text) else { throw .positionUnknown }
    return seq
  }

  private static func requireKnown(
    _ text: String?, _ seq: Int64?, tag: String?, last: Int64
  ) throws(ServiceError) {
    guard let text, let seq else { return }
    guard seq <= last, let tag, PositionText.text(seq, tag: tag) == text else { throw .positionUnknown }
  }
}

/// A transaction that changes a logbook. It has locked the logbook's counter.
struct PostgresWriter {
  let transaction: DatabaseTransaction
  let entry: PostgresEntry
  /// The number of the node that sent the request. Its run (its upload) is recorded.
  let node: Int64

  /// Reads what the request needs, and records the run if it is unknown.
  ///
  /// - Throws: as `PostgresEntry`, and `ServiceError.busy` if the logbook has the maximum number of nodes.
  init(
    _ transaction: DatabaseTransaction, _ logbook: Int64, of login: Login, _ run: RunStamp, maxNodes: Int64,
    cursor: String? = nil, hidesOwn: Bool = true
  ) throws {
    self.transaction = transaction
    entry = try PostgresEntry(
      transaction, logbook, of: login, run, writes: true, cursor: cursor, hidesOwn: hidesOwn)
    if entry.isUnconfirmed {
      try transaction.rows(
        "SELECT glucoport.arrive($1, $2)", .text(login.logbook), .integer(login.place.moves))
    }
    if let node = entry.node {
      self.node = node
      return
    }
    let others = try transaction.rows(
      "SELECT count(*) FROM glucoport.node WHERE logbook = $1 AND name <> $2", .integer(logbook),
      .text(run.node))
    guard try others.integer(0, 0) < maxNodes else { throw LogbookQuota.tooManyNodes(maxNodes) }
    let rows = try transaction.rows(
      """
      INSERT INTO glucoport.node AS n (logbook, id, name, run_number, run_id)
      SELECT $1, coalesce(max(id), 0) + 1, $2, $3, $4 FROM glucoport.node WHERE logbook = $1
      ON CONFLICT (logbook, name) DO UPDATE SET run_number = excluded.run_number, run_id = excluded.run_id
      RETURNING n.id
      """, .integer(logbook), .text(run.node), .integer(run.number), .text(run.id))
    node = try rows.integer(0, 0)
  }

  /// The tag for sequence numbers that this transaction assigns. If it differs from the tag in the last row
  /// of the table `epoch`, a row for the next number is added.
  func beginEpoch() throws(DatabaseError) -> String {
    let rows = try transaction.rows(
      """
      WITH tag AS MATERIALIZED (SELECT \(PostgresEntry.currentTag(of: entry.logbook)) AS now),
      begun AS (
        INSERT INTO glucoport.epoch (logbook, first_seq, tag) SELECT $1, $2, now FROM tag
        WHERE now IS DISTINCT FROM
          (SELECT tag FROM glucoport.epoch WHERE logbook = $1 ORDER BY first_seq DESC LIMIT 1)
      )
      SELECT now FROM tag
      """, .integer(entry.logbook), .integer(entry.last + 1))
    return try rows.text(0, 0)
  }

  /// Stores the sequence number of the last change, for the logbook and for the node that made it.
  func storeLastChange(_ last: Int64) throws(DatabaseError) {
    try transaction.rows(
      """
      WITH counted AS (UPDATE glucoport.counter SET last_seq = $2 WHERE logbook = $1)
      UPDATE glucoport.node SET last_seq = $2 WHERE logbook = $1 AND id = $3 AND last_seq < $2
      """, .integer(entry.logbook), .integer(last), .integer(node))
  }

  /// Throws if a table has more rows than its quota, so that the transaction is rolled back.
  ///
  /// - Parameter last: the sequence number of the last change. Each row has a different number, so rows are
  ///   only counted if `last` is above the quota.
  func check(_ max: Int64, _ table: String, last: Int64) throws {
    guard last > max else { return }
    let rows = try transaction.rows(
      "SELECT count(*) FROM glucoport.\(table) WHERE logbook = $1", .integer(entry.logbook))
    guard try rows.integer(0, 0) > max else { return }
    throw LogbookQuota.exceeded(max, table)
  }
}
