// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// The way in which people hide readings and records, and show them again. Each is an edit of a record of kind
/// `withdrawal`; no reading and no other record changes.
///
/// Needs a store opened as `editor`.
package struct WithdrawalEditor {
  private let store: Store
  private let now: Int64

  /// - Parameter now: the host's clock in UTC seconds, which the edits bear.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// A rule that hides readings of a device.
  package struct Rule: Hashable, Sendable {
    /// The id of its record.
    package let guid: String
    /// The first shown time; nil for no limit.
    package let since: DeviceTime?
    /// The shown time behind the last; nil for no limit.
    package let until: DeviceTime?
    /// Why; empty where nobody said it.
    package let reason: String
  }

  /// Hides a reading, also where something else hides it, which may end; or shows it whatever else hides it.
  ///
  /// - Returns: whether something changed.
  @discardableResult
  package func set(_ reading: StoredReading, isHidden: Bool, reason: String) throws -> Bool {
    try store.write { database in
      let withdrawal = Withdrawal(.reading(reading.identity), isHidden: isHidden, reason: reason)
      return try write(withdrawal, at: reading.deviceTime, isShown: !reading.isWithdrawn, database)
    }
  }

  /// Hides a record and what belongs to it, also where something else hides it; or shows it whatever else hides it.
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

  /// Hides the readings of a device in a range of shown times, those that come later, too.
  ///
  /// - Parameter guid: an id that was made for it.
  /// - Returns: how many readings of the store it hides that were shown.
  package func hide(
    _ device: Device, since: DeviceTime?, until: DeviceTime?, reason: String, guid: String
  ) throws -> Int {
    let rule = DeviceRule(device: ReadingIdentity.text(of: device), since: since, until: until)
    return try counting { database in
      let withdrawal = Withdrawal(.device(rule), isHidden: true, reason: reason)
      try ActionLog(database, at: now).noting(.hide, [guid]) {
        try RecordEditor.insert(state(withdrawal, at: DeviceTime(seconds: now)), guid, database)
      }
    }
  }

  /// Ends the rules of a device, or of these the one with this range.
  ///
  /// - Returns: how many rules there were, and how many readings of the store are shown again.
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
      try ActionLog(database, at: now).noting(.restore, rules.map(\.guid)) {
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

  /// Does the work; returns how many readings it hides, less than 0 where it shows some again.
  private func counting(_ work: (Database) throws -> Void) throws -> Int {
    try store.write { database in
      let count = "SELECT count(*) FROM withdrawn"
      let before = try Int.fetchOne(database, sql: count) ?? 0
      try work(database)
      try WithdrawalChanges.settle(database)
      return (try Int.fetchOne(database, sql: count) ?? 0) - before
    }
  }

  /// The rules of a device that hold.
  static func rules(_ device: Device, _ database: Database) throws -> [Rule] {
    let identity = ReadingIdentity.text(of: device)
    return try WithdrawalChanges.items(database).compactMap { item in
      guard case .device(let rule) = item.withdrawal.subject, item.withdrawal.isHidden,
        rule.device == identity
      else { return nil }
      return Rule(guid: item.guid, since: rule.since, until: rule.until, reason: item.withdrawal.reason)
    }
  }

  /// Hides one reading or record inside the caller's transaction and action.
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
    // What is shown needs no record that shows it; what another record hides is hidden by its own one, too.
    if withdrawal.isHidden ? own?.isHidden == true : isShown { return false }
    try ActionLog(database, at: now).noting(withdrawal.isHidden ? .hide : .restore, [guid]) {
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
  /// The devices that a word of the command line names: by serial number, model, or the name that lists show.
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

  /// How many readings and records withdrawals hide.
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
