// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The sync state of an item. Only this computer knows it; it is never sent.
package enum SyncState: Hashable, Sendable {
  /// The remote has the current content of the item. Lists print no state for it.
  case synced
  /// The running upload is sending the item.
  case syncing
  /// The remote does not have the item, for this reason.
  case queued(QueueReason)

  /// The name in tables and in JSON.
  package var name: String {
    switch self {
    case .synced: "synced"
    case .syncing: "syncing"
    case .queued: "queued"
    }
  }

  /// Why the item is queued; nil if it is not queued.
  package var reason: QueueReason? {
    if case .queued(let reason) = self { reason } else { nil }
  }
}

/// Why an item is not on the remote yet.
package enum QueueReason: Hashable, Sendable {
  /// The item is pending; the next upload sends it.
  case waiting
  /// The item is in conflict, so a person must decide.
  case conflict
  /// The remote refused the item permanently.
  case refused

  /// The name that lists print after the state.
  package var name: String {
    switch self {
    case .waiting: "waiting"
    case .conflict: "conflict"
    case .refused: "refused"
    }
  }
}

/// The sync state of a record and all records that belong to it, as one number. It is the code of the worst
/// reason of the queued items, plus 8 if an item is being sent.
struct QueueCode: Hashable {
  private let rawValue: Int

  init(_ rawValue: Int) { self.rawValue = rawValue }

  /// The sync state that the code means.
  ///
  /// - Parameter isRunning: whether an upload is running. If not, items that an interrupted upload was
  ///   sending count as queued.
  func state(isRunning: Bool) -> SyncState {
    if rawValue & 8 != 0, isRunning { return .syncing }
    switch rawValue & 3 {
    case 0: return .synced
    case 1: return .queued(.waiting)
    case 2: return .queued(.refused)
    default: return .queued(.conflict)
    }
  }

  /// The SQL expression for a row of `record`. It searches the primary key of `queued` and the index by entry
  /// once each, for any number of records that belong to the entry.
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

/// The JSON texts of a record that sync stores. A damaged text counts as missing. This overwrites nothing:
/// without `sent`, the current content is sent, and without `base`, nothing is merged.
struct SyncTexts {
  /// A column with a text that cannot be read.
  struct Damage {
    let column: String
    let error: JSONError
  }

  private(set) var sent: RecordChange?
  private(set) var base: RecordState?
  private(set) var conflict: RecordState?
  private(set) var damages: [Damage] = []

  init(sent: String?, base: String?, conflict: String? = nil) {
    self.sent = read(sent, "sent") { (text) throws(JSONError) in try RecordChange(json: text) }
    self.base = read(base, "base") { (text) throws(JSONError) in try RecordState(json: text) }
    self.conflict = read(conflict, "conflict") { (text) throws(JSONError) in try RecordState(json: text) }
  }

  private mutating func read<Value>(
    _ text: String?, _ column: String, _ parse: (String) throws(JSONError) -> Value
  ) -> Value? {
    guard let text else { return nil }
    do throws(JSONError) {
      return try parse(text)
    } catch {
      damages.append(Damage(column: column, error: error))
      return nil
    }
  }
}
