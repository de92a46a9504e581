// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Compares the values that this store and another one have for one shown time of a sensor, in any order.
/// Finger sticks at one tick are compared in the same way.
///
/// A clock that is set back shows a time twice. The value of a sensor is not part of a reading's identity, so
/// the values of such a time get different occurrence numbers. So do two strips at one instant, if the device
/// counts whole minutes. Another store may have imported only the second pass of the repeated time. Its
/// values then have the numbers that this store assigned to those of the first pass. So identities are equal
/// and values differ, which looks like a change at the source. It is not a change if one store has the other
/// store's value under another number.
///
/// A value that only the other store has is stored in this store with a further number. The other store may
/// have given the number of one of this store's own values to another value. The own value is then stored a
/// second time with a further number, and uploaded. Of equal values at one time, only the first is visible.
struct ValueSets {
  /// How the values at one position changed.
  struct SetChange {
    /// The number of values that only the other store had, and that were added to this one.
    var new = 0
    /// The number of values of this store that were stored a second time, since the other store uses their
    /// occurrence number for another value.
    var restated = 0
  }

  private let ingest: Int64
  private let database: Database
  /// Whether the current ingest states identities, as an export of a store does.
  private let statesIdentities: Bool

  init(_ database: Database, ingest: Int64, statesIdentities: Bool) {
    (self.database, self.ingest, self.statesIdentities) = (database, ingest, statesIdentities)
  }

  /// Stores the missing values of one position. A second call changes nothing.
  func complete(_ place: PlaceOfValues) throws -> SetChange {
    let stored = try values(at: place)
    let stated = try statedValues(at: place)
    // The values of the other store: those that it stated, and this store's values whose numbers the other
    // store did not state with another value.
    let theirs = stated + stored.filter { own in !stated.contains { $0.occurrence == own.occurrence } }
    let onlyHere = Self.distinct(
      stored.filter { own in !own.isHidden && !theirs.contains { $0.agrees(own) } })
    let onlyThere = Self.distinct(stated.filter { other in !stored.contains { $0.agrees(other) } })
    // If each store has values that the other one lacks, they are paired. Such a pair is a change at the
    // source, and this store keeps its value. Only values that remain without a partner are added.
    let changes = min(onlyHere.count, onlyThere.count)
    var occurrences = UsedOccurrences()
    for value in stored + stated { occurrences.insert(value.occurrence) }
    var change = SetChange()
    if let reading = stored.first {
      for value in onlyThere.dropFirst(changes) {
        try insert(value, of: nil, as: occurrences.useNextNumber(), at: place, like: reading)
        change.new += 1
      }
    }
    for value in onlyHere.dropFirst(changes) {
      try insert(value, of: value.ingest, as: occurrences.useNextNumber(), at: place, like: value)
      change.restated += 1
    }
    try countAdded(change, at: place)
    return change
  }
}

/// The occurrence numbers that readings at one position have.
struct UsedOccurrences {
  private var all: Set<Int64> = []

  mutating func insert(_ occurrence: Int64) { all.insert(occurrence) }

  /// Returns the number after the largest one, and marks it as used. If a reading from another store has the
  /// maximum number, the first free number is used.
  mutating func useNextNumber() -> Int64 {
    let last = all.max() ?? -1
    let next = last < Int64(Int32.max) ? last + 1 : (0...Int64(all.count)).first { !all.contains($0) } ?? 0
    all.insert(next)
    return next
  }
}

/// A position that has several values, which their occurrence numbers distinguish.
struct PlaceOfValues: Hashable {
  let partition: Int64
  let series: Int64
  let position: Int64
  let valueBucket: Int64
}

extension ValueSets {
  /// A value with its occurrence number.
  private struct NumberedValue {
    let occurrence: Int64
    let measurement: Measurement
    var isHidden = false
    var ingest: Int64?

    func agrees(_ other: NumberedValue) -> Bool { measurement.agrees(with: other.measurement) }
  }

  private static func distinct(_ values: [NumberedValue]) -> [NumberedValue] {
    values.reduce(into: []) { found, value in
      if !found.contains(where: { $0.agrees(value) }) { found.append(value) }
    }
  }

  private func values(at place: PlaceOfValues) throws -> [NumberedValue] {
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.occurrence, r.value, r.unit, r.range_flag, r.threshold, r.ingest, \(Withdrawn.reading) FROM reading AS r
      WHERE r.partition = ?1 AND r.position = ?2 AND r.series = ?3 AND r.value_bucket = ?4 ORDER BY r.occurrence
      """)
    bind(place, to: rows)
    var values: [NumberedValue] = []
    while try rows.step() {
      values.append(
        NumberedValue(
          occurrence: rows.integer(0), measurement: try measurement(of: rows, at: place),
          isHidden: rows.integer(6) == 1, ingest: rows.integer(5)))
    }
    return values
  }

  /// Values that other stores stated. For the same occurrence numbers, this store has other values.
  private func statedValues(at place: PlaceOfValues) throws -> [NumberedValue] {
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT v.occurrence, v.value, v.unit, v.range_flag, NULL FROM revision AS v JOIN ingest AS i ON i.id = v.ingest
      WHERE v.series = ?3 AND v.position = ?2 AND v.value_bucket = ?4 AND iif(v.ingest = ?5, ?6,
        i.outcome = 'whole' AND (\(UndoPlan.isPulled) OR i.format = 'glucoport'))
      ORDER BY v.occurrence, v.ingest
      """)
    bind(place, to: rows)
    rows.bind(ingest, at: 5)
    rows.bind(statesIdentities ? 1 : 0 as Int64, at: 6)
    var values: [NumberedValue] = []
    while try rows.step() {
      values.append(
        NumberedValue(occurrence: rows.integer(0), measurement: try measurement(of: rows, at: place)))
    }
    return values
  }

  private func measurement(of row: RawStatement, at place: PlaceOfValues) throws -> Measurement {
    try StoredMeasurement(row, from: 1).measurement(
      in: StoredPlace(
        series: place.series, position: place.position, valueBucket: place.valueBucket,
        occurrence: row.integer(0)
      ).name)
  }

  /// Stores a value as a new pending reading. All properties except value and occurrence number are those of
  /// `reading`.
  ///
  /// - Parameter import: the import whose undo hides the new reading; nil for the running import.
  private func insert(
    _ value: NumberedValue, of import: Int64?, as occurrence: Int64, at place: PlaceOfValues,
    like reading: NumberedValue
  ) throws {
    var pending = PendingPositions()
    pending.append(place.partition, place.position)
    try pending.save(database)
    let insert = try RawStatement(
      keptBy: database,
      """
      INSERT INTO reading (\(ReadingRow.columns), ingest, uploaded, zone)
      SELECT partition, position, series, value_bucket, ?6, device_time, stated_offset, derived_offset, offset_source,
        ?8, ?9, ?10, ?11, marks, ?7, 0, zone
      FROM reading WHERE partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5
      """)
    bind(place, to: insert)
    insert.bind(reading.occurrence, at: 5)
    insert.bind(occurrence, at: 6)
    insert.bind(`import` ?? ingest, at: 7)
    StoredMeasurement(value.measurement).bind(to: insert, from: 8)
    _ = try insert.run()
  }

  /// Counts the added values. At the end of the transaction, it is decided which values at this time are
  /// visible.
  private func countAdded(_ change: SetChange, at place: PlaceOfValues) throws {
    let added = change.new + change.restated
    if added > 0 {
      try database.executeCached(
        sql: "UPDATE series SET readings = readings + ?2, pending = pending + ?2 WHERE id = ?1",
        arguments: [place.series, added])
    }
    // Only values with stated numbers can be equal. So a long import without stated numbers causes few
    // further checks.
    guard statesIdentities || added > 0 else { return }
    try database.executeCached(
      sql: "INSERT INTO changed_series (series, first_position, last_position) VALUES (?1, ?2, ?2)",
      arguments: [place.series, place.position])
  }

  private func bind(_ place: PlaceOfValues, to row: RawStatement) {
    row.bind(place.partition, at: 1)
    row.bind(place.position, at: 2)
    row.bind(place.series, at: 3)
    row.bind(place.valueBucket, at: 4)
  }
}
