// SPDX-License-Identifier: Apache-2.0

/// The sync state of an item. Known on this computer alone, and never sent.
package enum SyncState: Hashable, Sendable {
  /// The remote has it as it is; nothing is shown.
  case synced
  /// It is on its way at this moment.
  case syncing
  /// The remote lacks it.
  case queued(QueueReason)

  /// Its word on tables and in JSON.
  package var name: String {
    switch self {
    case .synced: "synced"
    case .syncing: "syncing"
    case .queued: "queued"
    }
  }

  /// Why it is queued; nil when it is not.
  package var reason: QueueReason? {
    if case .queued(let reason) = self { reason } else { nil }
  }
}

/// Why an item is not on the remote yet.
package enum QueueReason: Hashable, Sendable {
  /// It goes up with the next upload.
  case waiting
  /// It needs a decision.
  case conflict
  /// The remote refused it permanently.
  case refused

  /// Its word behind the state.
  package var name: String {
    switch self {
    case .waiting: "waiting"
    case .conflict: "conflict"
    case .refused: "refused"
    }
  }
}

/// What the store says of a record and of everything that belongs to it, in one number: 8 for what is under way, and
/// below it the worst reason of what is queued.
struct QueueCode: Hashable {
  private let rawValue: Int

  init(_ rawValue: Int) { self.rawValue = rawValue }

  /// - Parameter isRunning: whether an upload runs. What is noted as under way by one that died is queued.
  func state(isRunning: Bool) -> SyncState {
    if rawValue & 8 != 0, isRunning { return .syncing }
    switch rawValue & 3 {
    case 0: return .synced
    case 1: return .queued(.waiting)
    case 2: return .queued(.refused)
    default: return .queued(.conflict)
    }
  }

  /// For a row of `record`: one search of the primary key and one of the index over entries. Neither its cost nor its
  /// text depends on how many records belong to the entry's siblings.
  static let sql = """
    max(CASE WHEN record.conflict IS NOT NULL OR \(RecordCondition.isOrphaned) THEN 3 ELSE 0 END, coalesce((
      SELECT max(CASE WHEN (q.aspect = 'record' AND c.sent IS NOT NULL
            AND c.guid BETWEEN t.first_record AND t.last_record)
          OR (q.aspect = 'file' AND b.digest BETWEEN t.first_record AND t.last_record) THEN 8 ELSE 0 END)
        + max(CASE WHEN c.conflict IS NOT NULL THEN 3
          WHEN (q.aspect = 'record' AND c.quarantined_version = c.version)
            OR (q.aspect = 'file' AND b.refusal IS NOT NULL) THEN 2 ELSE 1 END)
      FROM queued AS q CROSS JOIN record AS c ON c.guid = q.record
        LEFT JOIN blob AS b ON q.aspect = 'file' AND b.digest = json_extract(c.fields, '$.sha256')
        LEFT JOIN transfer AS t ON t.lane = CASE q.aspect WHEN 'record' THEN 'records' ELSE 'attachments' END
      WHERE q.entry = record.guid OR q.record = record.guid), 0))
    """
}
