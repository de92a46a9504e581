// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// The items of an input for which a person gave a zone.
struct GivenItems {
  /// For each series, the range of positions that contains the input's new readings.
  var new: [Int64: ClosedRange<Int64>] = [:]
  /// The readings of the input that were already in the store.
  var knownReadings = KnownReadings()
  /// The guids of the input's records. Empty if the statement lists no items; see `StatedZone.listsItems`.
  var records: Set<String> = []
}

/// Stores the zone that a person gave for an input, as a statement about the items of this import only. The
/// statement lists these readings and records by their identities.
struct StatedZone {
  private let zone: NamedZone
  private let ingest: Int64
  private let database: Database

  init(_ zone: LogbookZone, ingest: Int64, _ database: Database) {
    (self.zone, self.ingest, self.database) = (zone.base, ingest, database)
  }

  /// Throws if the logbook already has the maximum number of statements about the zones of imports. Called
  /// before the first item is stored.
  func requireCapacity() throws {
    let count = try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM item_zone")) ?? 0
    guard count >= ItemZone.maxRecords else { return }
    throw Failure(
      .configuration,
      "this logbook has \(ItemZone.maxRecords) statements of --timezone, and no more count; import without --timezone, "
        + "in the zone of the logbook")
  }

  /// Whether the statement lists the items of the import. It does not if the zone becomes or is the base zone
  /// of the logbook by an import.
  func listsItems(_ zones: LogbookZones) throws -> Bool {
    guard Self.hasBase(zones) else { return false }
    return try zones.base != zone || Store.setting(.baseOfImport, database) == nil
  }

  /// Whether the logbook has a base zone. If this system does not know that zone, the zone of an input does
  /// not replace it.
  private static func hasBase(_ zones: LogbookZones) -> Bool { zones.isKnown || zones.unknownBase != nil }

  /// Makes the zone the base zone if the logbook has none. Otherwise returns the records that state the zone
  /// for the items of the import. Items for which an earlier import of this store stated the same zone are
  /// left out. The earlier statement stays valid until all imports with these items are undone.
  func state(_ given: GivenItems, at now: Int64) throws -> ZoneEffect {
    let zones = try LogbookZones(database)
    guard Self.hasBase(zones) else {
      try ZoneRecords.setBase(zone, at: now, database)
      try Store.set(.baseOfImport, "1", database)
      return ZoneEffect()
    }
    guard try listsItems(zones) else { return ZoneEffect() }
    var brought = Brought()
    try addReadings(given, to: &brought)
    try addRecords(given.records, to: &brought)
    let stated = try EqualStatements(zone, database).covering(brought.whole)
    for guid in stated.statements.sorted() {
      try database.executeCached(
        sql: "INSERT INTO ingest_record (ingest, guid) VALUES (?, ?) ON CONFLICT DO NOTHING",
        arguments: [ingest, guid])
    }
    let moved = brought.moved.subtracting(stated.items)
    var result = ZoneEffect(otherwise: brought.otherwise(of: stated.items), moved: moved.count)
    let rest = brought.whole.subtracting(stated.items)
    guard !rest.points.isEmpty || !rest.records.isEmpty else { return result }
    let madeAt = max(now, try ZoneRecords.nextMoment(zones, database))
    result.statements = ItemZone.parts(of: rest, in: zone.name, madeAt: madeAt).map(record)
    return result
  }

  /// What the zone of an import changes.
  struct ZoneEffect {
    /// The records that state the zone for the items of the import.
    var statements: [ImportedRecord] = []
    /// The number of items that keep the zone of a period. An earlier import gave them the same zone as this
    /// import, and a person stated the period after that.
    var otherwise = 0
    /// The number of visible items of earlier imports whose offset the zone changes.
    var moved = 0
  }

  /// Those items of an input whose offsets are derived from zones.
  private struct Brought {
    var whole = WithdrawnInput(group: UUID().uuidString.lowercased())
    /// The items in `whole` that have another zone until the statement of this import is applied.
    var others = WithdrawnInput(group: "")
    /// The visible items of earlier imports whose offset the zone changes.
    var moved = WithdrawnInput(group: "")

    func otherwise(of items: WithdrawnInput) -> Int {
      others.points.reduce(0) { count, other in
        count + Int(items.points[other.key].map { other.value.intersection($0).count } ?? 0)
      } + others.records.keys.filter { items.records[$0] != nil }.count
    }
  }

  /// Adds the readings of the input to `brought`. Only readings at positions of the input are read, since a
  /// device may have a hundred million readings.
  private func addReadings(_ given: GivenItems, to brought: inout Brought) throws {
    var knownReadings = given.knownReadings
    let lists = knownReadings.lists()
    let id = try ItemZoneTables.id(of: zone.name, database)
    var placing = LogbookZone(base: zone, periods: [])
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.ingest, coalesce(r.zone, 0), r.device_time, r.derived_offset,
        r.offset_source, \(Withdrawn.reading)
      FROM series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id = ?1 AND r.position >= ?2 AND r.position <= ?3 AND r.offset_source <> 0
      """)
    for series in Set(given.new.keys).union(lists.keys).sorted() {
      let known = (lists[series] ?? []).reduce(PointRuns([])) { $0.union($1) }
      let ranges = [given.new[series], known.positions].compactMap { $0 }
      guard let first = ranges.map(\.lowerBound).min(), let last = ranges.map(\.upperBound).max() else {
        continue
      }
      var cursor = known.ends.map { PointRuns.Cursor(known, from: $0.lowerBound) }
      var (all, others, moved) = (PointRuns.Builder(), PointRuns.Builder(), PointRuns.Builder())
      rows.bind(series, at: 1)
      rows.bind(first, at: 2)
      rows.bind(last, at: 3)
      while try rows.step() {
        let point = rows.point(from: 0)
        let isNew = rows.integer(3) == ingest
        let isKnown = known.ends?.contains(point) == true && cursor?.contains(point) == true
        guard isNew || isKnown else { continue }
        all.append(point)
        if rows.integer(4) != id { others.append(point) }
        guard !isNew, rows.integer(8) == 0 else { continue }
        let name = "reading (series \(series), position \(point.position))"
        let placement = try rows.placement(6, in: name)
        guard placement.source != .ticks else { continue }
        let time = DeviceTime(seconds: try rows.seconds(5, in: name))
        if placing.recalculated(time, placement).1.utcOffset != placement.utcOffset { moved.append(point) }
      }
      let (points, otherPoints, movedPoints) = (all.finish(), others.finish(), moved.finish())
      guard !points.isEmpty else { continue }
      let name = try SeriesName.stored(series, database)
      brought.whole.points[name] = points
      if !otherPoints.isEmpty { brought.others.points[name] = otherPoints }
      if !movedPoints.isEmpty { brought.moved.points[name] = movedPoints }
    }
  }

  private func addRecords(_ guids: Set<String>, to brought: inout Brought) throws {
    let id = try ItemZoneTables.id(of: zone.name, database)
    var placing = LogbookZone(base: zone, periods: [])
    for guid in guids {
      let row = try Row.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT \(ItemZoneTables.zoneOfRecord), ingest, device_time, utc_offset, offset_source, \(Withdrawn.record)
            FROM record
            WHERE guid = ? AND offset_source <> 0 AND deleted = 0 AND NOT \(Withdrawn.isStatement)
            """), arguments: [guid])
      guard let row else { continue }
      brought.whole.records[guid] = ""
      let stored = StoredRow(row, of: "record (guid \(guid))", key: 0..<0)
      let (stated, from): (Int64?, Int64?) = (try stored[0], try stored[1])
      if stated != id { brought.others.records[guid] = "" }
      let (time, placement, isHidden): (DeviceTime, Placement, Bool) = (
        try stored.deviceTime(2), try stored.placement(3), try stored[5]
      )
      if from != ingest, !isHidden, placing.recalculated(time, placement).1.utcOffset != placement.utcOffset {
        brought.moved.records[guid] = ""
      }
    }
  }

  private func record(of statement: ItemZone) -> ImportedRecord {
    var record = ImportedRecord(
      kind: .zone, at: DeviceTime(seconds: statement.madeAt),
      placement: Placement(utcOffset: 0, source: .stated), fields: statement.fields, line: 0)
    record.guid = statement.guid
    return record
  }

  /// The failure for an input whose times need a zone, if the logbook has no known zone.
  static func missing(_ input: String, _ unknown: String?) -> Failure {
    if let unknown {
      return Failure(
        .configuration,
        "\(input): times without an offset need the time zone \(unknown) of the logbook, which this system does not know; "
          + "update its time zone data (tzdata)")
    }
    return Failure(
      .configuration,
      "\(input): times without an offset need a time zone, and that of the logbook was never given; add --timezone, "
        + "such as --timezone Europe/Madrid, or set the logbook's with 'glucoport config timezone Europe/Madrid'"
    )
  }
}

/// Statements by which earlier imports of this store gave the same zone to the same items. With them, an
/// export that is imported each day states its zone only for its new items.
///
/// Periods that a person stated later are ignored here, since importing an input again must not override
/// them.
struct EqualStatements {
  private let zone: String
  private let database: Database

  init(_ zone: NamedZone, _ database: Database) { (self.zone, self.database) = (zone.name, database) }

  /// The items for which the store already states this zone, and the guids of these statements. Statements of
  /// other stores are not counted, since an undo in the other store would end them.
  func covering(_ whole: WithdrawnInput) throws -> (items: WithdrawnInput, statements: Set<String>) {
    var items = WithdrawnInput(group: whole.group)
    var used: Set<String> = []
    let own = try ownStatements()
    guard !own.isEmpty else { return (items, used) }
    for (series, points) in whole.points {
      guard let positions = points.positions else { continue }
      let all = try ItemZoneTables.statements(of: series, positions, database)
        .filter { $0.points[series] != nil }
      let mine = all.filter { own.contains($0.guid) }
      let stated = Self.union(of: mine.compactMap { $0.points[series] })
      let covered = points.intersection(stated).intersection(readingsInZone(all, of: series))
      guard !covered.isEmpty else { continue }
      items.points[series] = covered
      for statement in mine {
        guard let part = statement.points[series], !part.intersection(covered).isEmpty else { continue }
        used.insert(statement.guid)
      }
    }
    for record in whole.records.keys {
      let statements = try statements(ofRecord: record)
      guard statements.first?.zone == zone,
        let mine = statements.first(where: { own.contains($0.guid) })
      else { continue }
      items.records[record] = ""
      used.insert(mine.guid)
    }
    return (items, used)
  }

  private func ownStatements() throws -> Set<String> {
    try String.fetchSet(
      database.cachedStatement(
        sql: """
          SELECT guid FROM item_zone JOIN record USING (guid) WHERE zone = ? AND record.ingest IS NOT NULL
          """), arguments: [zone])
  }

  /// The readings of a series that have this zone by the latest statement about them.
  private func readingsInZone(_ all: [ItemZone], of series: SeriesName) -> PointRuns {
    var held = PointRuns([])
    var rest = all.sorted { ItemZone.precedes($1, $0) }[...]
    while let first = rest.first {
      let equal = rest.prefix { $0.zoneName == first.zoneName }
      rest = rest.dropFirst(equal.count)
      let points = Self.union(of: equal.compactMap { $0.points[series] })
      held = first.zoneName == zone ? held.union(points) : held.subtracting(points)
    }
    return held
  }

  /// The union of all lists. Lists of similar size are merged first, since each union reads both of its
  /// lists.
  private static func union(of lists: [PointRuns]) -> PointRuns {
    var lists = lists
    while lists.count > 1 {
      lists = stride(from: 0, to: lists.count, by: 2).map { index in
        index + 1 < lists.count ? lists[index].union(lists[index + 1]) : lists[index]
      }
    }
    return lists.first ?? PointRuns([])
  }

  /// The statements about the zone of a record, the latest one first.
  private func statements(ofRecord guid: String) throws -> [(guid: String, zone: String)] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT i.guid, i.zone FROM item_zone_record AS l JOIN item_zone AS i ON i.guid = l.guid
          WHERE l.record = ? AND i.is_known = 1 ORDER BY i.made_at DESC, i.import_group DESC, i.guid DESC
          """), arguments: [guid]
    ).map { row in
      let row = StoredRow(row, of: "item_zone")
      return (try row[0], try row[1])
    }
  }
}

extension WithdrawnInput {
  /// The number of readings and records.
  var count: Int { points.values.reduce(records.count) { $0 + Int($1.count) } }

  /// The items that `other` does not contain.
  func subtracting(_ other: Self) -> Self {
    var rest = self
    rest.points = points.reduce(into: [:]) { rest, next in
      let left = other.points[next.key].map { next.value.subtracting($0) } ?? next.value
      if !left.isEmpty { rest[next.key] = left }
    }
    rest.records = records.filter { other.records[$0.key] == nil }
    return rest
  }
}

/// The zone for times of an input that state no offset.
package struct InputZone: Sendable {
  package let zone: LogbookZone
  /// Whether a person gave the zone for this input. Then it is stored as a statement about the input's
  /// readings and records.
  package let isGiven: Bool
  /// Whether the offsets of the readings come from this zone. False for readings of another store, which
  /// already have offsets.
  package let placesReadings: Bool

  /// The zone of an input.
  package init(_ zone: LogbookZone, isGiven: Bool, placesReadings: Bool = true) {
    self.zone = zone
    self.isGiven = isGiven
    self.placesReadings = placesReadings
  }

  /// The zone that a person gave; nil if the zone is that of the logbook.
  var given: LogbookZone? { isGiven ? zone : nil }
  /// The zone from which the readings got their offsets; nil if they got them in another store.
  var placing: LogbookZone? { placesReadings ? zone : nil }
}
