// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// The readings and records that a person types in one command, for one moment.
package struct TypedEntry: Sendable {
  /// The readings with their devices. The device is `Device.typed`, or the one that a typed reading from
  /// another store states.
  package var readings: [(reading: Reading, device: Device)]
  /// The records with their new guids. All records after the first one belong to the first one.
  package var records: [(draft: RecordDraft, guid: String)]
  /// Whether the person stated the time. Otherwise the time is when the person typed the entry, so the store
  /// may have the same entry with another time.
  package var statesTime = true

  /// An entry with these items.
  package init(
    readings: [(reading: Reading, device: Device)] = [], records: [(draft: RecordDraft, guid: String)] = []
  ) {
    (self.readings, self.records) = (readings, records)
  }
}

/// The correction of an entry. Readings never change: the old reading is hidden, and another one is added.
package struct EntryRevision: Sendable {
  /// The readings that the correction hides.
  package var hidden: [StoredReading] = []
  /// Readings of the entry that stay.
  package var kept: [StoredReading] = []
  /// Records of the entry, each with its corrected content.
  package var records: [(guid: String, draft: RecordDraft)] = []
  /// The items that the correction adds to the entry.
  package var added = TypedEntry()

  /// A revision that changes nothing.
  package init() {}
}

/// The only code that stores typed readings. Each call is one transaction. `undo` reverts each entry
/// separately.
///
/// Needs a store opened as `importer`, the role that stores readings.
package struct EntryEditor {
  private let store: Store
  private let now: Int64

  /// - Parameter now: the host's clock in UTC seconds, used as the time of the edits.
  package init(_ store: Store, at now: Int64) {
    self.store = store
    self.now = now
  }

  /// The items of a typed entry, and whether one of them is new.
  package struct EntryResult: Sendable {
    /// The items of the entry as they are stored.
    package let items: [StoredItem]
    /// False if the store already had all items of the entry.
    package let isNew: Bool
    /// Whether the store already has a record of the entry with different content. The store keeps its
    /// content.
    package var differs = false
  }

  /// Stores all of the entries, or none of them if one is refused. `undo` reverts each entry separately.
  ///
  /// - Parameter reached: receives the index of each entry before it is stored, so that the caller knows
  ///   which one was refused.
  /// - Throws: `Failure`: `badInput` for a reading that the store has with another value, and failures of
  ///   adding records.
  package func add(_ entries: [TypedEntry], reached: (Int) -> Void = { _ in }) throws -> [EntryResult] {
    try store.write { database in
      try entries.enumerated().map { place, entry in
        reached(place)
        let (added, readings) = try write(entry.readings, database)
        let new = try entry.records.filter { record in
          try !RecordEditor.exists(record.guid, database)
        }
        let differs = try entry.records.contains { try Self.differs($0, entry, database) }
        guard !added.isEmpty || !new.isEmpty else {
          return try EntryResult(
            items: items(readings, entry.records, database), isNew: false, differs: differs)
        }
        try ActionLog(database, at: now).logging(.add, new.map(\.guid), added: added) {
          for (draft, guid) in new { _ = try RecordEditor(store, at: now).insert(draft, guid, database) }
        }
        return try EntryResult(
          items: items(readings, entry.records, database), isNew: true, differs: differs)
      }
    }
  }

  /// Whether the stored record with this guid has different content. False if the record is deleted.
  private static func differs(
    _ record: (draft: RecordDraft, guid: String), _ entry: TypedEntry, _ database: Database
  ) throws -> Bool {
    guard let stored = try RecordEditor.fetch(record.guid, database), !stored.isDeleted else { return false }
    var (draft, known) = (record.draft, try RecordDraft(stored))
    if !entry.statesTime { draft.deviceTime = known.deviceTime }
    // An entry without a stated time or offset agrees with any offset, as a row of an export does.
    if !entry.statesTime || draft.placement.source.isDerived { known.placement = draft.placement }
    return !draft.agrees(with: known)
  }

  /// Corrects an entry. Returns its items after the correction, and whether anything changed.
  ///
  /// - Throws: `Failure` as for records that are edited and added.
  package func revise(_ revision: EntryRevision) throws -> EntryResult {
    try store.write { database in
      func outcome(_ added: [StoredReading], isNew: Bool) throws -> EntryResult {
        let records = revision.records.map { ($0.draft, $0.guid) } + revision.added.records
        return try EntryResult(items: items(revision.kept + added, records, database), isNew: isNew)
      }
      // `undo` cannot revert a correction that changes nothing, so it is not logged.
      guard try Self.isChange(revision, database) else { return try outcome([], isNew: false) }
      let (added, _) = try write(revision.added.readings, database)
      let hidden = revision.hidden.map { Withdrawal(.reading($0.identity), isHidden: true) }
      let guids =
        hidden.compactMap(\.guid) + revision.records.map(\.guid) + revision.added.records.map(\.guid)
      let editor = RecordEditor(store, at: now)
      try ActionLog(database, at: now).logging(.edit, guids, added: added, kept: revision.kept) {
        for (withdrawal, reading) in zip(hidden, revision.hidden) {
          try WithdrawalEditor(store, at: now).hide(withdrawal, at: reading.deviceTime, database)
        }
        for (guid, draft) in revision.records { try editor.replace(guid, by: draft, database) }
        for (draft, guid) in revision.added.records { _ = try editor.insert(draft, guid, database) }
      }
      return try outcome(added, isNew: true)
    }
  }

  private static func isChange(_ revision: EntryRevision, _ database: Database) throws -> Bool {
    let added = revision.added
    return try !revision.hidden.isEmpty || !added.readings.isEmpty || !added.records.isEmpty
      || revision.records.contains { guid, draft in
        let stored = try RecordEditor.require(guid, database)
        return try stored.isDeleted || !draft.agrees(with: RecordDraft(stored))
      }
  }

  /// Stores readings. Returns those that are new, and all of them.
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

  /// The number of the ingest to which all typed readings of a store belong.
  private static func ingest(at now: Int64, _ database: Database) throws -> Int64 {
    let known = try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT id FROM ingest WHERE \(UndoPlan.isTyped) ORDER BY id LIMIT 1"))
    if let known { return known }
    // The ingest never gets a time at which it ended, since readings that are typed later belong to it, too.
    // So it never counts as the last import.
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, started_at, outcome, counts)
        VALUES (?1, ?1, ?2, 'whole', '{"new":0}')
        """, arguments: [Device.typed.format, now])
    return database.lastInsertedRowID
  }
}

/// The items of an entry that is being corrected.
package struct StoredEntry: Sendable {
  /// The visible readings of the entry.
  package var readings: [StoredReading] = []
  /// The records of the entry that are not deleted. The first one is the entry itself; the others belong to
  /// it.
  package var records: [StoredRecord] = []
}

extension Store {
  /// The last entry that a person typed or corrected in this store; nil if there is none.
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

  /// The entry to which an item belongs. If nothing is known to belong to the item, the entry has only this
  /// item.
  package func entry(of item: StoredItem) throws -> StoredEntry {
    if let entry = try read({ try Self.entry(of: item, $0) }) { return entry }
    if let entry = try typedEntry(with: item) { return entry }
    switch item {
    case .reading(let reading): return StoredEntry(readings: [reading])
    case .record(let record): return StoredEntry(records: [record])
    }
  }

  /// The typed items with the same time as an item. This search is used for an entry that another store
  /// added, since the log of actions is not synced. Nil if several values or several entries have this time,
  /// since nothing shows which of them belong together.
  private func typedEntry(with item: StoredItem) throws -> StoredEntry? {
    let (time, id) = (item.deviceTime, item.id)
    var filter = ItemFilter()
    // No offset is longer than a day, so the instant is within a day of the shown time.
    let day: Int64 = 86_400
    (filter.since, filter.until) = (time.seconds - day, time.seconds + day + 1)
    var (entry, hasItem) = (StoredEntry(), false)
    try forEachItem(filter) { other in
      guard other.deviceTime == time else { return }
      switch other {
      case .reading(let reading) where reading.device == .typed: entry.readings.append(reading)
      case .record(let record) where record.provenance == .typed: entry.records.append(record)
      default: return
      }
      hasItem = hasItem || other.id == id
    }
    let ketones = entry.readings.count { $0.kind == .ketone }
    guard hasItem, ketones <= 1, entry.readings.count - ketones <= 1,
      entry.records.count(where: { $0.entryGuid == nil }) <= 1,
      Set(entry.records.map(\.kind)).count == entry.records.count
    else { return nil }
    entry.sortRecords()
    return entry
  }

  /// The number of newest actions among which the last entry is searched. Other actions, such as hiding
  /// readings, can come after it.
  private static let searchedActions = 100

  private static func entry(of item: StoredItem, _ database: Database) throws -> StoredEntry? {
    let guid: String
    switch item {
    case .reading(let reading): guid = Withdrawal(.reading(reading.identity), isHidden: true).guid ?? ""
    case .record(let record): guid = record.guid
    }
    return try actions(with: guid, limit: 1, database).first.map { try entry(of: $0, database) }
  }

  /// The newest actions that added or corrected the record with this guid.
  private static func actions(
    with guid: String, limit: Int, _ database: Database
  ) throws -> [PersonAction] {
    try ActionLog.actions(
      """
      is_undone = 0 AND kind IN ('add', 'edit')
        AND id IN (SELECT action FROM action_state INDEXED BY action_state_by_record WHERE guid = ?)
      """, [guid], limit: limit, database)
  }

  private static func entry(of action: PersonAction, _ database: Database) throws -> StoredEntry {
    var entry = StoredEntry()
    for subject in try subjects(of: action, database) {
      if let reading = subject.reading {
        let stored = try StoredReading.fetch(reading.identity, database)
        if let stored, !stored.isWithdrawn { entry.readings.append(stored) }
      } else if subject.state.kind.details?.isListed == true,
        let record = try RecordEditor.fetch(subject.guid, database), !record.isDeleted
      {
        entry.records.append(record)
      }
    }
    entry.sortRecords()
    return entry
  }

  /// The subjects of an action, and of all actions that share a subject with it. All of these are needed,
  /// since the log of an edit of one item lists only this item and not the whole entry.
  private static func subjects(
    of action: PersonAction, _ database: Database
  ) throws -> [PersonAction.Subject] {
    var (subjects, known): ([PersonAction.Subject], Set<String>) = ([], [])
    var (open, visited): ([PersonAction], Set<Int64>) = ([action], [action.id])
    while let next = open.popLast() {
      for subject in next.subjects where known.insert(subject.guid).inserted {
        subjects.append(subject)
        for other in try actions(with: subject.guid, limit: searchedActions, database)
        where visited.count < searchedActions && visited.insert(other.id).inserted {
          open.append(other)
        }
      }
    }
    return subjects
  }
}

extension StoredItem {
  fileprivate var id: String {
    switch self {
    case .reading(let reading): reading.address
    case .record(let record): record.guid
    }
  }
}

extension StoredEntry {
  /// Sorts the records so that the entry itself comes before the records that belong to it.
  fileprivate mutating func sortRecords() {
    records.sort { ($0.entryGuid == nil ? 0 : 1, $0.guid) < ($1.entryGuid == nil ? 0 : 1, $1.guid) }
  }
}
