// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

package enum UndoDirection: Sendable {
  case undo, redo
}

/// The visible changes that an undo or redo of an import makes.
package struct UndoCounts: Hashable, Sendable {
  /// The number of readings that an undo hides, or that a redo shows.
  package var readings = 0
  /// The number of readings in `readings` that the remote has.
  package var uploaded = 0
  /// The number of readings that change in the opposite way. If the import corrected a reading, an undo shows
  /// the reading that was replaced.
  package var oppositeReadings = 0
  /// The number of records that an undo hides, or that a redo shows.
  package var records = 0
  /// The number of records that change in the opposite way. If the import stated that its source deleted a
  /// record, an undo shows the record.
  package var oppositeRecords = 0
  /// The number of the import's records that stay as they are, since they were edited later.
  package var editedRecords = 0
  /// The number of records that the import changed. An undo restores their earlier content, and a redo that
  /// of the import.
  package var changedRecords = 0
  /// The guids of records that keep the content of the import, since the change is too large for a
  /// withdrawal.
  package var largeRecords: [String] = []
  /// The numbers of hidden readings to which other imports gave another value, by the numbers of these
  /// imports. Of a sensor value, the store keeps the first one of its time as the reading, and the others as
  /// revisions.
  package var otherValues: [Int64: Int] = [:]
  /// Whether the undo ends the validity of the zone that a person gave for the import, or the redo restores
  /// it.
  package var changesZone = false
  /// Whether the import had no items, so that nothing can be withdrawn.
  package var broughtNothing = false
  /// Whether there is nothing to do: an undo of an undone import, or a redo of one that is not undone.
  package var isDoneAlready = false
  /// Whether the store has no complete note of the known readings of this or another import. The import had
  /// too many separate runs of known readings, or it did not end. An undo may then hide readings that another
  /// import also contained.
  package var lacksNotes = false
}

extension Store {
  /// The changes that `undo` or `redo` would make for an import.
  ///
  /// - Throws: `Failure`: `missingInput` for an unknown number, `usage` for an ingest of items from a remote.
  package func undoCounts(of ingest: Int64, _ direction: UndoDirection = .undo) throws -> UndoCounts {
    try read { try UndoPlan(ingest, direction, group: Self.noGroup, $0).counts }
  }

  /// Withdraws the items of an import. If the import is already undone, nothing changes.
  ///
  /// - Parameters:
  ///   - group: the id of the withdrawal that is written.
  ///   - now: the host's clock in UTC seconds.
  /// - Returns: the changes; all 0 for an import without items.
  /// - Throws: `Failure` as for `undoCounts`.
  package func undo(_ ingest: Int64, group: String, at now: Int64) throws -> UndoCounts {
    try write { database in
      let plan = try UndoPlan(ingest, .undo, group: group, database)
      try plan.apply(at: now)
      return plan.counts
    }
  }

  /// Ends all withdrawals of an import, even if they were made in other copies of the store. If the import is
  /// not undone, nothing changes.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  /// - Throws: `Failure` as for `undoCounts`.
  package func redo(_ ingest: Int64, at now: Int64) throws -> UndoCounts {
    try write { database in
      let plan = try UndoPlan(ingest, .redo, group: Self.noGroup, database)
      try plan.apply(at: now)
      return plan.counts
    }
  }

  /// The numbers of undone imports: those with valid withdrawals.
  package func undoneImports() throws -> Set<Int64> { try read(ImportContribution.undone) }

  private static let noGroup = ""
}

/// The changes that `undo` or `redo` makes for one import, computed inside the transaction that applies them.
struct UndoPlan {
  private(set) var counts = UndoCounts()
  private let ingest: Int64
  private let direction: UndoDirection
  private let database: Database
  private let claims: ImportContribution
  /// The withdrawal that an undo writes.
  private var whole: WithdrawnInput
  /// The withdrawals that a redo ends.
  private var ended: [(guid: String, input: WithdrawnInput)] = []
  /// The items that stay or become visible, because other imports of this store also contain them.
  private var brought: [WithdrawnInput] = []
  /// For each changed record, by guid: the import that states its content after the undo.
  private var earlier: [String: Int64] = [:]

  /// The SQL condition for an ingest that read no input, such as the ingest of readings from a remote. It is
  /// complete, has neither a digest nor a meter, and is not that of typed readings.
  static let isPulled = "outcome = 'whole' AND digest IS NULL AND meter IS NULL AND NOT \(isTyped)"
  /// The SQL condition for the single ingest of all readings that were typed in this store.
  static let isTyped = "format = '\(Device.typed.format)'"
  /// The SQL condition for an ingest of `fetch`. The command `undo` without a number skips it, since a timer
  /// may have started it. Its source is `IngestSource.fetched` and a name of letters, digits and hyphens. The
  /// path of a file that begins with the same prefix mostly has another character, such as a dot or a slash.
  static let isFetched =
    "(source GLOB '\(IngestSource.fetched)*' AND source NOT GLOB '\(IngestSource.fetched)*[^A-Za-z0-9-]*')"

  init(_ ingest: Int64, _ direction: UndoDirection, group: String, _ database: Database) throws {
    (self.ingest, self.direction, self.database) = (ingest, direction, database)
    claims = ImportContribution(ingest, database)
    let importID = try Self.requiredID(ingest, database)
    whole = WithdrawnInput(
      group: group, input: try InputIdentity.of(ingest, database), importID: importID)
    let isUndone = try ImportContribution.undone(database).contains(ingest)
    if isUndone == (direction == .undo) {
      counts.isDoneAlready = true
    } else if direction == .redo {
      try planRedo()
    } else if try claims.hasNoItems() {
      counts.broughtNothing = true
    } else {
      try planUndo()
      counts.lacksNotes = try lacksNotes()
    }
  }

  func apply(at now: Int64) throws {
    if counts.isDoneAlready || counts.broughtNothing { return }
    switch direction {
    case .redo:
      try InputRestoration(database, at: now).end(ended)
      try StatedContents(database).restoreContents(of: ingest, at: now)
    case .undo:
      try WithdrawalGroup(whole.group, database, at: now).insert(whole)
      for change in whole.changes {
        try InputRestoration(database, at: now).write(
          change.before, to: change.guid, ingest: earlier[change.guid])
      }
      // The content after the undo may be one that another undone import stated, too.
      try BroughtItems.state(records: Set(whole.changes.map(\.guid)), database, at: now)
    }
    try StatedContents(database).restoreReplaced(at: now)
    try BroughtItems.insert(brought, database, at: now)
    // The remaining exports may decide otherwise about values and doses that their source corrected.
    try Corrections.writeAfterUndo(at: now, database)
    try WithdrawalChanges.apply(database)
    try RetypedDoses.writeAfterUndo(of: ingest, at: now, database)
    try StatedContents(database).updateWriters(after: ingest)
    try database.executeCached(sql: "DELETE FROM redo WHERE ingest = ?", arguments: [ingest])
    if direction == .undo {
      try StatedContents(database).sendEarlierAges(after: ingest)
      try database.executeCached(sql: "INSERT INTO redo (ingest) VALUES (?)", arguments: [ingest])
    }
  }
}

extension UndoPlan {
  /// The id of an import, which must not be an ingest from a remote or of typed readings.
  private static func requiredID(_ ingest: Int64, _ database: Database) throws -> String {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT guid, \(Self.isPulled), \(Self.isTyped) FROM ingest WHERE id = ?"),
      arguments: [ingest]
    ).map { StoredRow($0, of: "ingest") }
    guard let row else {
      throw Failure(.missingInput, "no import has number \(ingest); 'glucoport log' lists the imports")
    }
    let (isPulled, isTyped): (Bool, Bool) = (try row[1], try row[2])
    guard !isPulled else {
      throw Failure(
        .usage,
        "number \(ingest) is not an import: the remote or another store had these readings. Undo their import where it was made, "
          + "or hide them with 'glucoport reading hide'")
    }
    guard !isTyped else {
      throw Failure(
        .usage,
        "number \(ingest) is not an import: it has the readings that were typed here. 'glucoport undo' without a number takes "
          + "back the last change, and 'glucoport reading hide' hides one reading")
    }
    return try row[0]
  }

  private func lacksNotes() throws -> Bool {
    let undone = try ImportContribution.undone(database).map(String.init).joined(separator: ",")
    return try Bool.fetchOne(
      database,
      sql: """
        SELECT EXISTS (
          SELECT 1 FROM ingest WHERE (is_noted = 0 OR outcome = 'running') AND id NOT IN (\(undone)))
        """) ?? false
  }

  /// The failure for too many withdrawn readings. Above the limit, the largest withdrawals would be ignored
  /// and their readings visible again.
  private static var tooManyWithdrawn: Failure {
    Failure(
      .configuration,
      "\(SeriesVisibility.maxListedPoints) readings of one device are hidden already, and no more count; "
        + "'glucoport log' lists the imports that are undone, and 'glucoport redo NUMBER' shows one again")
  }

  private mutating func planUndo() throws {
    let items = try WithdrawalChanges.items(database)
    let visibility = Visibility(items)
    counts.otherValues = try otherValues(collectReadings(visibility))
    try collectRecords(visibility)
    let begun = [Visibility.WithdrawalItem(guid: "", Withdrawal(.input(whole), isHidden: true), digest: "")]
    // Items that were visible only because of this import may also be contained in other imports. Then they
    // stay visible.
    let stated = try BroughtItems.stated(by: whole.importID, database)
    let series = Set(stated.flatMap(\.points.keys))
    let records = Set(stated.flatMap(\.records.keys))
    brought = try BroughtItems(items + begun, begun: ingest, database).missing(in: series, records: records)
    let (changes, withdrawals) = split(whole.changes.map { ($0.guid, $0.before) })
    try tally(withdrawals.applied(to: items) + begun, changed: [whole, withdrawals.input] + stated)
    counts.changedRecords = changes
  }

  /// Adds the readings that only this import brought to the withdrawal, and returns them by the id of their
  /// series.
  private mutating func collectReadings(_ visibility: Visibility) throws -> [Int64: PointRuns] {
    var hidden: [Int64: PointRuns] = [:]
    for (series, readings) in try claims.readingsOnlyFromThisImport() where !readings.points.isEmpty {
      let name = try SeriesName.stored(series, database)
      guard visibility.series(name).listedPoints + readings.points.count <= SeriesVisibility.maxListedPoints
      else { throw Self.tooManyWithdrawn }
      whole.points[name] = readings.points
      hidden[series] = readings.points
    }
    return hidden
  }

  /// For each other import that is not undone: the number of visible readings that this undo hides, and for
  /// which that import had another value.
  private func otherValues(_ hidden: [Int64: PointRuns]) throws -> [Int64: Int] {
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT v.position, v.value_bucket, v.occurrence, v.series, v.ingest
      FROM revision AS v CROSS JOIN series AS s ON s.id = v.series
        CROSS JOIN reading AS r ON r.partition = s.partition AND r.position = v.position AND r.series = v.series
          AND r.value_bucket = v.value_bucket AND r.occurrence = v.occurrence
        CROSS JOIN ingest AS w ON w.id = v.ingest
      WHERE v.ingest <> ?1 AND w.digest <> '' AND NOT \(ImportContribution.isUndone(of: "w"))
        AND \(Withdrawn.readingIsShown)
      ORDER BY v.series, v.position, v.value_bucket, v.occurrence
      """)
    rows.bind(ingest, at: 1)
    var counts: [Int64: Int] = [:]
    var cursor: (series: Int64, points: PointRuns.Cursor)?
    while try rows.step() {
      let (series, point) = (rows.integer(3), rows.point(from: 0))
      guard let points = hidden[series] else { continue }
      if cursor?.series != series { cursor = (series, PointRuns.Cursor(points, from: point)) }
      if cursor?.points.contains(point) == true { counts[rows.integer(4), default: 0] += 1 }
    }
    return counts
  }

  private mutating func collectRecords(_ visibility: Visibility) throws {
    let contents = StatedContents(database)
    for guid in try claims.soleRecords() {
      guard let record = try BroughtRecord(guid, database), !record.state.isDeleted else { continue }
      guard record.isUnedited else {
        counts.editedRecords += 1
        continue
      }
      // The import of another store may have written the present content.
      if let own = try contents.content(of: guid, by: ingest), !own.state.agrees(with: record.state) {
        continue
      }
      if let before = try contents.latest(of: guid, besides: ingest, visibility) {
        // An earlier export may state the present content, too, and a later one another content.
        if before.state.agrees(with: record.state) { continue }
        let revision = RecordRevision(guid: guid, before: before.state, after: record.state)
        guard revision.listBytes < Withdrawal.maxListBytes else {
          counts.largeRecords.append(guid)
          continue
        }
        whole.changes.append(revision)
        earlier[guid] = before.ingest
      } else if record.canBeListed {
        whole.records[guid] = record.state.withdrawalDigest
        if record.state.kind == .zone { counts.changesZone = true }
      }
    }
  }

  private mutating func planRedo() throws {
    let items = try WithdrawalChanges.items(database)
    ended = try WithdrawalGroup.validWithdrawals(database).filter { $0.input.importID == whole.importID }
    let guids = Set(ended.map(\.guid))
    let rest = items.filter { !guids.contains($0.guid) }
    let found = try BroughtItems(rest, ended: ingest, database)
    brought = try found.missing(in: found.everything.series, records: found.everything.records)
    let stated = try BroughtItems.stated(by: whole.importID, database)
    let (restoration, contents) = (InputRestoration(database, at: 0), StatedContents(database))
    let changes = try ended.flatMap(\.input.changes).filter {
      try restoration.holds($0.before, $0.guid) && contents.content(of: $0.guid, by: ingest) == nil
    }
    let restored = try contents.guidsToRestore(of: ingest).compactMap { guid in
      try contents.content(of: guid, by: ingest).map { (guid, $0.state) }
    }
    let (count, withdrawals) = split(restored)
    try tally(withdrawals.applied(to: rest), changed: ended.map(\.input) + [withdrawals.input] + stated)
    counts.changedRecords = changes.count + count
    counts.changesZone = try ended.flatMap(\.input.records.keys).contains { guid in
      try BroughtRecord(guid, database)?.state.kind == .zone
    }
  }

  /// Returns the number of changes of other records than withdrawals, and the changed withdrawals.
  private func split(_ changes: [(guid: String, state: RecordState)]) -> (Int, ChangedWithdrawals) {
    let withdrawals = changes.filter { $0.state.kind == .withdrawal }
    return (changes.count - withdrawals.count, ChangedWithdrawals(withdrawals))
  }

  /// Counts the items whose visibility changes.
  private mutating func tally(_ items: [Visibility.WithdrawalItem], changed: [WithdrawnInput]) throws {
    let shown = brought.map {
      Visibility.WithdrawalItem(guid: "", Withdrawal(.brought($0), isHidden: false), digest: "")
    }
    let tally = try VisibilityTally(items + shown, changed: changed + brought, database)
    switch direction {
    case .undo:
      (counts.readings, counts.uploaded) = (tally.hiddenReadings, tally.hiddenUploaded)
      (counts.oppositeReadings, counts.records) = (tally.shownReadings, tally.hiddenRecords)
      counts.oppositeRecords = tally.shownRecords
    case .redo:
      (counts.readings, counts.uploaded) = (tally.shownReadings, tally.shownUploaded)
      (counts.oppositeReadings, counts.records) = (tally.hiddenReadings, tally.shownRecords)
      counts.oppositeRecords = tally.hiddenRecords
    }
  }
}

/// Withdrawals by imports that get other contents: corrections of readings, and deletions at the source.
private struct ChangedWithdrawals {
  private var states: [String: RecordState]

  init(_ states: [(guid: String, state: RecordState)]) {
    self.states = Dictionary(states) { first, _ in first }
  }

  /// The withdrawals, as items whose visibility is counted.
  var input: WithdrawnInput {
    var input = WithdrawnInput(group: "")
    for guid in states.keys { input.records[guid] = "" }
    return input
  }

  func applied(to items: [Visibility.WithdrawalItem]) -> [Visibility.WithdrawalItem] {
    items.map { item in
      guard let state = states[item.guid], let withdrawal = Withdrawal(fields: state.fields) else {
        return item
      }
      return Visibility.WithdrawalItem(guid: item.guid, withdrawal, digest: state.withdrawalDigest)
    }
  }
}

/// A record that an import contained, in its current state.
private struct BroughtRecord {
  let state: RecordState
  /// Whether an import wrote the content of the record, and no person has edited it.
  let isUnedited: Bool

  init?(_ guid: String, _ database: Database) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT guid, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted,
            imported IS NOT NULL AND imported = \(RecordContent.sql)
          FROM record WHERE guid = ?
          """), arguments: [guid])
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return nil }
    state = RecordState(
      kind: try row.code(1), entryGuid: try row[2], deviceTime: try row.deviceTime(3),
      placement: try row.placement(4),
      fields: try RecordFields(stored: try row[6], of: guid), isDeleted: try row[7])
    isUnedited = try row[8]
  }

  /// Whether hiding the record has an effect. For the kinds that lists leave out, this is only true for
  /// corrections of readings, deletions at the source and the zone of the import.
  var canBeListed: Bool {
    guard let details = state.kind.details, !details.isListed else { return true }
    // A zone that a person gave for the import is only valid while the import is not undone.
    if state.kind == .zone { return ItemZone.isStated(by: state.fields) }
    guard state.kind == .withdrawal, let withdrawal = Withdrawal(fields: state.fields) else { return false }
    return switch withdrawal.subject {
    case .reading: true
    case .record: !withdrawal.content.isEmpty
    case .input, .brought, .device: false
    }
  }
}
