// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Writes people's decisions on doubles: which items count only once. Each decision is an edit of a record of
/// kind `count`, so it syncs. Readings and other records do not change.
///
/// Needs a store opened as `editor`.
package struct CountEditor {
  private let store: Store
  private let now: Int64

  /// - Parameter now: the host's clock in UTC seconds, the time of the edits.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// Writes a decision. It replaces an earlier decision on the same subject.
  ///
  /// - Returns: whether something changed.
  /// - Throws: `Failure`: `configuration` if the logbook already has the maximum number of decisions.
  package func decide(_ decision: CountDecision) throws -> Bool {
    try store.write { database in
      let known = try CountDecisions.all(database)
      let old = known.first { $0.guid == decision.guid }
      if old == decision || old == nil && decision.choice == .rule { return false }
      let count = known.filter { $0.choice != .rule }.count
      guard
        old.map({ $0.choice != .rule }) ?? false || decision.choice == .rule
          || count < CountingRules.maxDecisions
      else {
        throw Failure(
          .configuration,
          "this logbook has \(count) decisions on what counts, and no more can be made; 'glucoport count list' lists "
            + "them, and 'glucoport count remove N' takes one back")
      }
      try write(decision, database)
      return true
    }
  }

  private func write(_ decision: CountDecision, _ database: Database) throws {
    let exists = try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM record WHERE guid = ?)"),
      arguments: [decision.guid])
    let state = decision.state(editedAt: now)
    if exists == true {
      try RecordEditor.write(state, to: decision.guid, database)
    } else {
      try RecordEditor.insert(state, decision.guid, database)
    }
  }
}

/// The decisions in a store.
enum CountDecisions {
  /// Every decision that this program understands, including decisions that a person withdrew (`choice` is
  /// `rule`).
  static func all(_ database: Database) throws -> [CountDecision] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT fields FROM record INDEXED BY record_counting
          WHERE kind = 'count' AND deleted = 0 ORDER BY guid LIMIT \(8 * CountingRules.maxDecisions)
          """))
    var decisions: [CountDecision] = []
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "record")
      let text: String = try stored[0]
      do throws(JSONError) {
        if let decision = CountDecision(fields: try RecordFields(json: text)) { decisions.append(decision) }
      } catch {
        // A decision with fields that glucoport never writes is ignored.
        continue
      }
    }
    return decisions
  }
}

extension Store {
  /// People's decisions about doubles. If a decision states that two items are the same, both items are read
  /// as well.
  package func countingRules() throws -> CountingRules {
    try read { database in
      let decisions = try CountDecisions.all(database)
      var joined: [CountingRules.Joined] = []
      for decision in decisions.prefix(CountingRules.maxDecisions) where decision.choice == .once {
        guard case .items(let first, let second) = decision.subject,
          let one = try Self.countableItem(first, database),
          let other = try Self.countableItem(second, database), one.kind == other.kind
        else { continue }
        joined.append(CountingRules.Joined(one, other))
      }
      return CountingRules(decisions, joined: joined)
    }
  }

  /// The visible item with this id; nil if there is none, or if the item has no counted amount.
  private static func countableItem(_ id: String, _ database: Database) throws -> CountableItem? {
    if let identity = ReadingIdentity(text: id) { return try countableReading(identity, database) }
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT \(StoredRecord.columns) FROM record WHERE guid = ? AND deleted = 0"), arguments: [id])
    guard let record = try row.map(StoredRecord.init), !record.isWithdrawn else { return nil }
    return CountableItem(record)
  }

  private static func countableReading(
    _ identity: ReadingIdentity, _ database: Database
  ) throws -> CountableItem? {
    let device = Device(
      vendor: identity.vendor, model: identity.model, serial: identity.serial, format: identity.format)
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(StoredReading.columns)
          FROM device AS d JOIN series AS s ON s.device = d.id
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          WHERE d.identity = ? AND s.kind = ? AND s.position_kind = ? AND r.position = ? AND r.value_bucket = ?
            AND r.occurrence = ?
          """),
      arguments: [
        ReadingIdentity.text(of: device), identity.kind.rawValue, identity.positionKind.rawValue,
        identity.position, identity.valueBucket, identity.occurrence,
      ])
    guard let reading = try row.map(StoredReading.init), !reading.isWithdrawn else { return nil }
    return CountableItem(reading)
  }
}

extension Store {
  /// The sources of all items in the store, ordered by name.
  package func countingSources() throws -> [CountingSource] {
    try read { database in
      let devices = try Row.fetchAll(
        database, sql: "SELECT \(Device.storedColumns) FROM device AS d ORDER BY d.id"
      ).map { CountingSource(try Device(StoredRow($0, of: "device"), from: 0)) }
      let records = try Row.fetchAll(
        database,
        sql: """
          SELECT DISTINCT provenance_format, provenance_source FROM record
          WHERE kind IN ('insulin', 'food') AND deleted = 0 AND provenance_format IS NOT NULL
          """
      ).map { row in
        let row = StoredRow(row, of: "record")
        return CountingSource(format: try row[0], part: try row[1])
      }
      return Set(devices).union(records).filter { !$0.format.isEmpty }.sorted { $0.text < $1.text }
    }
  }

  /// The sources of the visible items, by kind. It reads all of these items, so its time grows with the
  /// store.
  package func countingSourcesByKind() throws -> [CountableItem.Kind: Set<CountingSource>] {
    var filter = ItemFilter()
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    var sources: [CountableItem.Kind: Set<CountingSource>] = [:]
    try forEachItem(filter) { stored in
      if let item = CountableItem(stored) { sources[item.kind, default: []].insert(item.source) }
    }
    return sources
  }
}
