// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Hides and shows readings and records for a person. Each call edits a record of kind `withdrawal`; no
/// reading and no other record changes.
///
/// Needs a store opened as `editor`.
package struct WithdrawalEditor {
  private let store: Store
  private let now: Int64

  /// - Parameter now: the host's clock in UTC seconds, used as the time of the edits.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// A rule that hides readings of a device.
  package struct Rule: Hashable, Sendable {
    /// The guid of the rule's record.
    package let guid: String
    /// The first shown time; nil for no limit.
    package let since: DeviceTime?
    /// The exclusive end of the shown times; nil for no limit.
    package let until: DeviceTime?
    /// The reason; empty if none was given.
    package let reason: String
  }

  /// Hides or shows a reading, whatever other withdrawals state. A reading that another withdrawal already
  /// hides gets its own record, since the other withdrawal may end.
  ///
  /// - Returns: whether something changed.
  @discardableResult
  package func set(_ reading: StoredReading, isHidden: Bool, reason: String) throws -> Bool {
    try store.write { database in
      let withdrawal = Withdrawal(.reading(reading.identity), isHidden: isHidden, reason: reason)
      return try write(withdrawal, at: reading.deviceTime, isShown: !reading.isWithdrawn, database)
    }
  }

  /// Hides or shows a record with the records that belong to it, whatever other withdrawals state.
  ///
  /// - Returns: whether something changed.
  @discardableResult
  package func set(_ record: StoredRecord, isHidden: Bool, reason: String) throws -> Bool {
    guard record.kind.details?.isListed ?? true else {
      throw Failure(
        .usage, "\(record.guid): this record states something about others; there is nothing of it to hide")
    }
    return try store.write { database in
      let withdrawal = Withdrawal(.record(record.guid), isHidden: isHidden, reason: reason)
      return try write(withdrawal, at: DeviceTime(seconds: now), isShown: !record.isWithdrawn, database)
    }
  }

  /// Hides the readings of a device in a range of shown times, including readings that are imported later.
  ///
  /// - Parameter guid: the guid of the new rule's record.
  /// - Returns: the number of readings that became hidden.
  package func hide(
    _ device: Device, since: DeviceTime?, until: DeviceTime?, reason: String, guid: String
  ) throws -> Int {
    let rule = DeviceRule(device: ReadingIdentity.text(of: device), since: since, until: until)
    return try counting { database in
      let withdrawal = Withdrawal(.device(rule), isHidden: true, reason: reason)
      try ActionLog(database, at: now).logging(.hide, [guid]) {
        try RecordEditor.insert(state(withdrawal, at: DeviceTime(seconds: now)), guid, database)
      }
    }
  }

  /// Ends all rules of a device or, with a range, only the rule with exactly this range.
  ///
  /// - Returns: the number of rules that ended, and the number of readings that are visible again.
  package func restore(
    _ device: Device, since: DeviceTime?, until: DeviceTime?
  ) throws -> (rules: Int, readings: Int) {
    var found = 0
    let shown = try counting { database in
      let rules = try Self.rules(device, database).filter { rule in
        since == nil && until == nil || (rule.since, rule.until) == (since, until)
      }
      found = rules.count
      if rules.isEmpty { return }
      try ActionLog(database, at: now).logging(.restore, rules.map(\.guid)) {
        for rule in rules { try end(rule, of: device, database) }
      }
    }
    return (found, -shown)
  }

  private func end(_ rule: Rule, of device: Device, _ database: Database) throws {
    let withdrawal = Withdrawal(
      .device(DeviceRule(device: ReadingIdentity.text(of: device), since: rule.since, until: rule.until)),
      isHidden: false, reason: rule.reason)
    var draft = try RecordDraft(RecordEditor.require(rule.guid, database))
    draft.fields = withdrawal.fields
    try RecordEditor.write(draft.state(editedAt: now), to: rule.guid, database)
  }

  /// Runs `work`. Returns how many more readings are hidden than before; negative if fewer are.
  private func counting(_ work: (Database) throws -> Void) throws -> Int {
    try store.write { database in
      let count = "SELECT count(*) FROM withdrawn"
      let before = try Int.fetchOne(database, sql: count) ?? 0
      try work(database)
      try WithdrawalChanges.apply(database)
      return (try Int.fetchOne(database, sql: count) ?? 0) - before
    }
  }

  /// The valid rules of a device.
  static func rules(_ device: Device, _ database: Database) throws -> [Rule] {
    let identity = ReadingIdentity.text(of: device)
    return try WithdrawalChanges.items(database).compactMap { item in
      guard case .device(let rule) = item.withdrawal.subject, item.withdrawal.isHidden,
        rule.device == identity
      else { return nil }
      return Rule(guid: item.guid, since: rule.since, until: rule.until, reason: item.withdrawal.reason)
    }
  }

  /// Hides one reading or record, inside the caller's transaction and as a part of the caller's action.
  func hide(_ withdrawal: Withdrawal, at time: DeviceTime, _ database: Database) throws {
    guard let guid = withdrawal.guid else { return }
    try write(withdrawal, as: guid, at: time, over: RecordEditor.fetch(guid, database), database)
  }

  private func write(
    _ withdrawal: Withdrawal, as guid: String, at time: DeviceTime, over record: StoredRecord?,
    _ database: Database
  ) throws {
    guard let record, !record.isDeleted else {
      return try RecordEditor.insert(state(withdrawal, at: time), guid, database)
    }
    var draft = try RecordDraft(record)
    draft.fields = withdrawal.fields
    try RecordEditor.write(draft.state(editedAt: now), to: guid, database)
  }

  private func write(
    _ withdrawal: Withdrawal, at time: DeviceTime, isShown: Bool, _ database: Database
  ) throws -> Bool {
    guard let guid = withdrawal.guid else { return false }
    let record = try RecordEditor.fetch(guid, database)
    let own = try record.map { try Withdrawal(fields: RecordDraft($0).fields) } ?? nil
    // A visible item needs no record that shows it. An item that another withdrawal hides still gets its own
    // record that hides it.
    // A withdrawal that is limited to one content came with an import and may end with it.
    let isHiddenByPerson = own?.isHidden == true && own?.content.isEmpty == true
    if withdrawal.isHidden ? isHiddenByPerson : isShown { return false }
    try ActionLog(database, at: now).logging(withdrawal.isHidden ? .hide : .restore, [guid]) {
      try write(withdrawal, as: guid, at: time, over: record, database)
    }
    return true
  }

  private func state(_ withdrawal: Withdrawal, at time: DeviceTime) -> RecordState {
    RecordState(
      kind: .withdrawal, entryGuid: nil, deviceTime: time,
      placement: Placement(utcOffset: 0, source: .stated), fields: withdrawal.fields, isDeleted: false,
      editedAt: now)
  }
}

extension Store {
  /// The devices that a name in a command matches: their serial number, their model, or their name in lists.
  package func devices(named name: String) throws -> [Device] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT \(Device.storedColumns) FROM device AS d
          WHERE ?1 IN (d.serial, d.model, d.vendor || ' ' || d.model, d.vendor || ' ' || d.model || ' ' || d.serial)
            AND ?1 <> ''
          ORDER BY d.id
          """, arguments: [name]
      ).map { try Device(StoredRow($0, of: "device"), from: 0) }
    }
  }

  /// The numbers of readings and records that withdrawals hide.
  static func withdrawnItems(_ database: Database) throws -> (readings: Int, records: Int) {
    (
      try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM withdrawn")) ?? 0,
      try Int.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT count(*) FROM listed_record JOIN record USING (guid)
            WHERE is_withdrawn = 1 AND NOT \(Withdrawn.isStatement)
            """)) ?? 0
    )
  }
}

/// The decoded withdrawals of a store, kept between the batches of an import. Decoding the withdrawal of a
/// million readings takes megabytes, and withdrawals rarely change between batches.
final class WithdrawalCache {
  /// The number of times that withdrawals were decoded, for tests.
  private(set) var decodings = 0
  private var kept: (stamp: String, visibility: Visibility)?

  /// The name of a setting. Each change of a withdrawal writes a random value to it, in the same transaction.
  static let stampName = "withdrawals-stamp"

  /// The withdrawals as the current transaction sees them, whichever process wrote them.
  func visibility(_ database: Database) throws -> Visibility {
    // A rollback restores the earlier stamp. Stamps are random, so no later stamp is equal to it.
    let stamp = try String.fetchOne(
      database.cachedStatement(sql: "SELECT value FROM setting WHERE name = '\(Self.stampName)'"))
    if let kept, kept.stamp == stamp { return kept.visibility }
    decodings += 1
    let visibility = try Visibility(WithdrawalChanges.items(database))
    kept = stamp.map { ($0, visibility) }
    return visibility
  }
}
