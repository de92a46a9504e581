// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// What a person types at once: readings and records of one moment.
package struct TypedEntry: Sendable {
  /// The readings with what took them: `Device.typed`, or what a line of another store states.
  package var readings: [(reading: Reading, device: Device)]
  /// The records with the ids that were made for them. Those after the first belong to it.
  package var records: [(draft: RecordDraft, guid: String)]

  /// An entry of these items.
  package init(
    readings: [(reading: Reading, device: Device)] = [], records: [(draft: RecordDraft, guid: String)] = []
  ) {
    (self.readings, self.records) = (readings, records)
  }
}

/// How an entry is corrected. A reading never changes: the old one is hidden, and another one is added.
package struct EntryRevision: Sendable {
  /// Readings that are hidden.
  package var hidden: [StoredReading] = []
  /// Readings of the entry that stay.
  package var kept: [StoredReading] = []
  /// Records of the entry with what they then hold.
  package var records: [(guid: String, draft: RecordDraft)] = []
  /// What is added.
  package var added = TypedEntry()

  /// A revision that changes nothing.
  package init() {}
}

/// The one way in which a person types readings into a store. Each call is one transaction, and one step of `undo`.
///
/// Needs a store opened as `importer`, the role that stores readings.
package struct EntryEditor {
  private let store: Store
  private let now: Int64

  /// - Parameter now: the host's clock in UTC seconds, which the edits bear.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// The items of an entry that was typed, and whether one of them was not there before.
  package struct Outcome: Sendable {
    /// The items as they are in the store.
    package let items: [StoredItem]
    /// False where the store had all of them.
    package let isNew: Bool
  }

  /// Stores entries, all of them or none, each as a step of its own.
  ///
  /// - Throws: `Failure`: `badInput` for a reading that the store has with another value, and as for records that are added.
  package func add(_ entries: [TypedEntry]) throws -> [Outcome] {
    try store.write { database in
      try entries.map { entry in
        let (added, readings) = try write(entry.readings, database)
        let new = try entry.records.filter { record in
          try !RecordEditor.exists(record.guid, database)
        }
        guard !added.isEmpty || !new.isEmpty else {
          return try Outcome(items: items(readings, entry.records, database), isNew: false)
        }
        try ActionLog(database, at: now).noting(.add, new.map(\.guid), added: added) {
          for (draft, guid) in new { _ = try RecordEditor(store, at: now).insert(draft, guid, database) }
        }
        return try Outcome(items: items(readings, entry.records, database), isNew: true)
      }
    }
  }

  /// Corrects an entry; returns its items as they are then.
  ///
  /// - Throws: `Failure` as for records that are edited and added.
  package func revise(_ revision: EntryRevision) throws -> [StoredItem] {
    try store.write { database in
      let (added, _) = try write(revision.added.readings, database)
      let hidden = revision.hidden.map { Withdrawal(.reading($0.identity), isHidden: true) }
      let guids =
        hidden.compactMap(\.guid) + revision.records.map(\.guid) + revision.added.records.map(\.guid)
      let editor = RecordEditor(store, at: now)
      try ActionLog(database, at: now).noting(.edit, guids, added: added, kept: revision.kept) {
        for (withdrawal, reading) in zip(hidden, revision.hidden) {
          try WithdrawalEditor(store, at: now).hide(withdrawal, at: reading.deviceTime, database)
        }
        for (guid, draft) in revision.records { try editor.replace(guid, by: draft, database) }
        for (draft, guid) in revision.added.records { _ = try editor.insert(draft, guid, database) }
      }
      return try items(
        revision.kept + added, revision.records.map { ($0.draft, $0.guid) } + revision.added.records, database
      )
    }
  }

  /// Stores readings; returns those that were not there, and all of them.
  private func write(
    _ typed: [(reading: Reading, device: Device)], _ database: Database
  ) throws -> (added: [StoredReading], all: [StoredReading]) {
    guard !typed.isEmpty else { return ([], []) }
    let identities = typed.map { ReadingIdentity($0.reading, $0.device) }
    let known = try identities.map { try StoredReading.fetch($0, database) }
    for (stored, item) in zip(known, typed) {
      guard let stored, !stored.measurement.agrees(with: item.reading.measurement) else { continue }
      throw Failure(.badInput, "\(stored.shortID): the store has this reading with another value")
    }
    let ingest = try Self.ingest(at: now, database)
    let writer = try ReadingWriter(database, store.batch, ingest: ingest)
    var new = 0
    for (stored, item) in zip(known, typed) where stored == nil {
      var reading = item.reading
      (reading.device, reading.occurrenceIsStated) = (DeviceIndex(0), true)
      new += try writer.write(
        [reading], of: [item.device], deviceIDs: [item.device.addedID(database)], placedBy: nil
      ).new
    }
    try database.executeCached(
      sql:
        "UPDATE ingest SET counts = json_set(counts, '$.new', json_extract(counts, '$.new') + ?) WHERE id = ?",
      arguments: [new, ingest])
    let all = try identities.map { identity in
      guard let stored = try StoredReading.fetch(identity, database) else {
        throw Failure(.badInput, "the store does not accept this reading")
      }
      return stored
    }
    return (zip(known, all).filter { $0.0 == nil }.map(\.1), all)
  }

  private func items(
    _ readings: [StoredReading], _ records: [(draft: RecordDraft, guid: String)], _ database: Database
  ) throws -> [StoredItem] {
    try readings.map(StoredItem.reading)
      + records.map { .record(try RecordEditor.require($0.guid, database)) }
  }

  /// The ingest of typed readings, one for a store.
  private static func ingest(at now: Int64, _ database: Database) throws -> Int64 {
    let known = try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT id FROM ingest WHERE \(UndoPlan.isTyped) ORDER BY id LIMIT 1"))
    if let known { return known }
    // Without an end: what is typed later belongs to it, too, and its clock says nothing of the last import.
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, started_at, outcome, counts)
        VALUES (?1, ?1, ?2, 'whole', '{"new":0}')
        """, arguments: [Device.typed.format, now])
    return database.lastInsertedRowID
  }
}

/// The items of an entry that is corrected.
package struct StoredEntry: Sendable {
  /// Its readings that are shown.
  package var readings: [StoredReading] = []
  /// Its records that are not deleted, the entry before what belongs to it.
  package var records: [StoredRecord] = []
}

extension Store {
  /// The entry that a person typed or corrected last in this store; nil for none.
  package func lastEntry() throws -> StoredEntry? {
    try read { database in
      let actions = try ActionLog.actions(
        "is_undone = 0 AND kind IN ('add', 'edit')", [], limit: Self.searchedActions, database)
      for action in actions {
        let entry = try Self.entry(of: action, database)
        if !entry.readings.isEmpty || !entry.records.isEmpty { return entry }
      }
      return nil
    }
  }

  /// The entry to which an item belongs that was typed here; only the item where nothing is known of others.
  package func entry(of item: StoredItem) throws -> StoredEntry {
    try read { database in
      let guid: String
      switch item {
      case .reading(let reading): guid = Withdrawal(.reading(reading.identity), isHidden: true).guid ?? ""
      case .record(let record): guid = record.guid
      }
      let actions = try ActionLog.actions(
        """
        is_undone = 0 AND kind IN ('add', 'edit')
          AND id IN (SELECT action FROM action_state INDEXED BY action_state_by_record WHERE guid = ?)
        """, [guid], limit: 1, database)
      if let entry = try actions.first.map({ try Self.entry(of: $0, database) }) { return entry }
      switch item {
      case .reading(let reading): return StoredEntry(readings: [reading])
      case .record(let record): return StoredEntry(records: [record])
      }
    }
  }

  /// How far back the last entry is looked for. Edits of settings, such as hidden readings, are in between.
  private static let searchedActions = 100

  private static func entry(of action: PersonAction, _ database: Database) throws -> StoredEntry {
    var entry = StoredEntry()
    for subject in action.subjects {
      if let reading = subject.reading {
        let stored = try StoredReading.fetch(reading.identity, database)
        if let stored, !stored.isWithdrawn { entry.readings.append(stored) }
      } else if subject.state.kind.details?.isListed == true,
        let record = try RecordEditor.fetch(subject.guid, database), !record.isDeleted
      {
        entry.records.append(record)
      }
    }
    entry.records.sort { ($0.entryGuid == nil ? 0 : 1, $0.guid) < ($1.entryGuid == nil ? 0 : 1, $1.guid) }
    return entry
  }
}
