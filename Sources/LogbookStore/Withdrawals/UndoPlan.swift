// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// What undoing an import hides, or what undoing that shows again.
package struct UndoCounts: Hashable, Sendable {
  /// Readings that are hidden, or shown again.
  package var readings = 0
  /// Those of them that the remote has.
  package var uploaded = 0
  /// Records that are hidden, or shown again.
  package var records = 0
  /// Records of the import that somebody edited since: they stay as they are.
  package var editedRecords = 0
  /// Records that the import had changed, and that get their content of before, or that of the import again.
  package var changedRecords = 0
  /// Records that keep what the import wrote, since the change is larger than a withdrawal may keep: their ids.
  package var largeRecords: [String] = []
  /// Whether the import brought nothing at all, so that there is nothing to withdraw.
  package var broughtNothing = false
  /// Whether the import was undone: this takes it back.
  package var isRedo = false
  /// Whether it is not known which readings this import met in the store, or another one that is not undone.
  package var lacksNotes = false
}

extension Store {
  /// What `undo` would do to an import.
  ///
  /// - Throws: `Failure`: `missingInput` for a number that no import has, `usage` for what a remote sent.
  package func undoCounts(of ingest: Int64) throws -> UndoCounts {
    try read { try UndoPlan(ingest, group: Self.noGroup, $0).counts }
  }

  /// Withdraws what an import brought, or takes that back where the import is undone.
  ///
  /// - Parameters:
  ///   - group: the id of the withdrawal, made for it.
  ///   - now: the host's clock in UTC seconds.
  /// - Returns: what was done; for an import that brought nothing, nothing was.
  /// - Throws: `Failure` as for `undoCounts`.
  package func undo(_ ingest: Int64, group: String, at now: Int64) throws -> UndoCounts {
    try write { database in
      let plan = try UndoPlan(ingest, group: group, database)
      try plan.apply(at: now)
      return plan.counts
    }
  }

  /// The last import of this store that brought something and is not undone; nil for none. One that met only what was
  /// known brought that, too; one of which no row was taken brought nothing.
  package func lastImport() throws -> Int64? {
    try read { database in
      let undone = try ImportClaims.undone(database).map(String.init).joined(separator: ",")
      let brought = ["new", "known", "corrected", "records.new", "records.known", "records.updated"]
        .map { "coalesce(json_extract(counts, '$.\($0)'), 0)" }.joined(separator: " + ")
      return try Int64.fetchOne(
        database,
        sql: """
          SELECT id FROM ingest WHERE NOT (\(UndoPlan.isPulled)) AND id NOT IN (\(undone)) AND \(brought) > 0
          ORDER BY id DESC LIMIT 1
          """)
    }
  }

  /// Imports whose withdrawals hold.
  package func undoneImports() throws -> Set<Int64> { try read(ImportClaims.undone) }

  private static let noGroup = ""
}

/// What is to be done for one import, computed in the transaction that does it.
struct UndoPlan {
  private(set) var counts = UndoCounts()
  private let ingest: Int64
  private let database: Database
  private let claims: ImportClaims
  private var whole: WithdrawnInput
  /// The import that wrote a changed record before, by its guid.
  private var earlier: [String: Int64] = [:]

  /// An ingest of readings that came from a remote: it read no input, and ended well.
  static let isPulled = "outcome = 'whole' AND digest IS NULL AND meter IS NULL"

  init(_ ingest: Int64, group: String, _ database: Database) throws {
    (self.ingest, self.database) = (ingest, database)
    claims = ImportClaims(ingest, database)
    try Self.require(ingest, database)
    whole = WithdrawnInput(group: group, input: try InputIdentity.of(ingest, database))
    if try ImportClaims.undone(database).contains(ingest) {
      counts.isRedo = true
      try planRedo()
    } else if try claims.areEmpty() {
      counts.broughtNothing = true
    } else {
      try planUndo()
      counts.lacksNotes = try lacksNotes()
    }
  }

  func apply(at now: Int64) throws {
    if counts.isRedo {
      try InputRestoration(database, at: now).end(whole.group, further: further(), ingest: ingest)
    } else if !counts.broughtNothing {
      try WithdrawalGroup(whole.group, database, at: now).insert(whole)
      for change in whole.changes {
        try InputRestoration(database, at: now).write(
          change.before, to: change.guid, ingest: earlier[change.guid])
      }
      try database.executeCached(sql: "DELETE FROM undone WHERE ingest = ?", arguments: [ingest])
      try database.executeCached(
        sql: "INSERT INTO undone (ingest, withdrawal) VALUES (?, ?)", arguments: [ingest, whole.group])
    }
  }
}

extension UndoPlan {
  private static func require(_ ingest: Int64, _ database: Database) throws {
    let isPulled = try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Self.isPulled) FROM ingest WHERE id = ?"), arguments: [ingest])
    guard let isPulled else {
      throw Failure(.missingInput, "no import has number \(ingest); 'glucoport log' lists the imports")
    }
    guard !isPulled else {
      throw Failure(
        .usage,
        "number \(ingest) is no import: the remote sent these readings. Undo their import where it was made, or hide them "
          + "with 'glucoport reading hide'")
    }
  }

  private func lacksNotes() throws -> Bool {
    let undone = try ImportClaims.undone(database).map(String.init).joined(separator: ",")
    return try Bool.fetchOne(
      database,
      sql: """
        SELECT EXISTS (
          SELECT 1 FROM ingest WHERE (is_noted = 0 OR outcome = 'running') AND id NOT IN (\(undone)))
        """) ?? false
  }

  /// Beyond it the largest withdrawals would show again what they hide.
  private static var tooManyWithdrawn: Failure {
    Failure(
      .configuration,
      "\(SeriesVisibility.maxListedPoints) readings of one device are withdrawn already, and no more count; "
        + "'glucoport log' lists the imports that are undone, and 'glucoport undo NUMBER' takes one back")
  }

  private mutating func planUndo() throws {
    let visibility = try Visibility(WithdrawalChanges.items(database))
    let brought = try claims.soleReadings { visibility.series($0).ordered }
    for (series, readings) in brought where !readings.points.isEmpty {
      let name = try SeriesName.stored(series, database)
      guard visibility.series(name).listedPoints + readings.points.count <= SeriesVisibility.maxListedPoints
      else { throw Self.tooManyWithdrawn }
      whole.points[name] = readings.points
      counts.readings += Int(readings.points.count)
      counts.uploaded += readings.uploaded
    }
    let changed = try changes()
    let undone = try ImportClaims.undone(database)
    for guid in try claims.soleRecords() {
      guard let record = try BroughtRecord(guid, database), !record.state.isDeleted else { continue }
      guard record.isUnedited else {
        counts.editedRecords += 1
        continue
      }
      if let change = changed[guid] {
        let revision = RecordRevision(guid: guid, before: change.before, after: record.state)
        // Another import has changed it since, and undoing that one comes first.
        guard record.ingest == ingest else { continue }
        guard revision.listBytes < Withdrawal.maxListBytes else {
          counts.largeRecords.append(guid)
          continue
        }
        whole.changes.append(revision)
        earlier[guid] = change.earlier
        // The import that wrote it before is undone, too, and left the record to this one: it hides what comes back.
        if undone.contains(change.earlier) { whole.records[guid] = change.before.withdrawalDigest }
      } else if record.canBeListed {
        let digest = record.state.withdrawalDigest
        if visibility.listedRecords[guid]?.contains(digest) != true { whole.records[guid] = digest }
      }
    }
    counts.records = try countListed(whole)
    counts.changedRecords = whole.changes.count
  }

  private mutating func planRedo() throws {
    let group = try String.fetchOne(
      database.cachedStatement(sql: "SELECT withdrawal FROM undone WHERE ingest = ?"), arguments: [ingest])
    guard let group else { return }
    whole.group = group
    for (_, input) in try WithdrawalGroup.held(database) where input.group == group {
      counts.readings += Int(input.points.values.reduce(0) { $0 + $1.count })
      counts.records += try countListed(input)
      counts.changedRecords += input.changes.count
      for (name, runs) in input.points { try countUploaded(name, runs) }
    }
  }

  /// How many of the records are no zones, which people see nowhere.
  private func countListed(_ input: WithdrawnInput) throws -> Int {
    try input.records.keys.filter { guid in
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT kind = 'zone' FROM record WHERE guid = ?"), arguments: [guid])
        != true
    }.count
  }

  private mutating func countUploaded(_ name: SeriesName, _ runs: PointRuns) throws {
    guard let ends = runs.ends, let series = try name.stored(database) else { return }
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.uploaded = 1
      """)
    rows.bind(series, at: 1)
    rows.bind(ends.lowerBound.position, at: 2)
    rows.bind(ends.upperBound.position, at: 3)
    var listed = PointRuns.Cursor(runs, from: ends.lowerBound)
    while try rows.step() {
      if listed.contains(rows.point(from: 0)) { counts.uploaded += 1 }
    }
  }

  /// All that the import brought, to be taken out of the imports that this store undid after it: they list what both
  /// brought.
  private func further() throws -> [String: Removal] {
    let later = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT withdrawal FROM undone WHERE id > (SELECT id FROM undone WHERE ingest = ?)
          """), arguments: [ingest])
    guard !later.isEmpty else { return [:] }
    let removal = try claims.removal()
    return Dictionary(uniqueKeysWithValues: later.map { ($0, removal) })
  }

  private struct Change {
    let before: RecordState
    let earlier: Int64
  }

  /// What the records that the import changed held before.
  private func changes() throws -> [String: Change] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT c.guid, r.kind, r.entry_guid, c.device_time, c.utc_offset, c.offset_source, c.fields, c.earlier
          FROM ingest_change AS c JOIN record AS r ON r.guid = c.guid WHERE c.ingest = ?
          """), arguments: [ingest])
    var changes: [String: Change] = [:]
    for row in rows {
      let row = StoredRow(row, of: "ingest_change")
      let guid: String = try row[0]
      let before = RecordState(
        kind: try row.code(1), entryGuid: try row[2], deviceTime: DeviceTime(seconds: try row[3]),
        placement: Placement(utcOffset: try row[4], source: try row.code(5)),
        fields: try RecordFields(stored: try row[6], of: guid), isDeleted: false)
      changes[guid] = Change(before: before, earlier: try row[7])
    }
    return changes
  }
}

/// A record that an import brought, as it is.
private struct BroughtRecord {
  let state: RecordState
  /// Whether it is what an import wrote.
  let isUnedited: Bool
  let ingest: Int64?

  init?(_ guid: String, _ database: Database) throws {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT guid, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted,
            imported IS NOT NULL AND imported = \(RecordContent.sql), ingest
          FROM record WHERE guid = ?
          """), arguments: [guid])
    guard let row = row.map({ StoredRow($0, of: "record") }) else { return nil }
    state = RecordState(
      kind: try row.code(1), entryGuid: try row[2], deviceTime: DeviceTime(seconds: try row[3]),
      placement: Placement(utcOffset: try row[4], source: try row.code(5)),
      fields: try RecordFields(stored: try row[6], of: guid), isDeleted: try row[7])
    isUnedited = try row[8]
    ingest = try row[9]
  }

  /// Whether hiding it means something: of statements only that a source corrected a reading, and the zone of the import.
  var canBeListed: Bool {
    guard let details = state.kind.details, !details.isListed else { return true }
    // The zone that a person gave for the import holds as long as the import counts.
    if state.kind == .zone { return ItemZone.isStated(by: state.fields) }
    if case .reading? = Withdrawal(fields: state.fields)?.subject { return state.kind == .withdrawal }
    return false
  }
}
