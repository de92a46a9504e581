// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Statements by which imports of this store gave the same zone to the same items. An export that is imported each day
/// states its zone only for its new items.
///
/// A period that was stated since for the time of an item makes no difference: a repeated import decides nothing.
struct EqualStatements {
  private let zone: String
  private let database: Database

  init(_ zone: NamedZone, _ database: Database) { (self.zone, self.database) = (zone.name, database) }

  /// The items to which these statements give the zone, and the ids of the statements. One of another store is not
  /// counted: it ends with an undo there.
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
      let stated = Self.united(mine.compactMap { $0.points[series] })
      let covered = points.intersection(stated).intersection(held(all, of: series))
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

  /// The readings of a series to which the last statement about each gives the zone.
  private func held(_ all: [ItemZone], of series: SeriesName) -> PointRuns {
    var held = PointRuns([])
    var rest = all.sorted { ItemZone.precedes($1, $0) }[...]
    while let first = rest.first {
      let equal = rest.prefix { $0.zoneName == first.zoneName }
      rest = rest.dropFirst(equal.count)
      let points = Self.united(equal.compactMap { $0.points[series] })
      held = first.zoneName == zone ? held.union(points) : held.subtracting(points)
    }
    return held
  }

  /// All points of the lists. Lists of similar size are joined, since each union reads both.
  private static func united(_ lists: [PointRuns]) -> PointRuns {
    var lists = lists
    while lists.count > 1 {
      lists = stride(from: 0, to: lists.count, by: 2).map { index in
        index + 1 < lists.count ? lists[index].union(lists[index + 1]) : lists[index]
      }
    }
    return lists.first ?? PointRuns([])
  }

  /// The statements about a record, the last one first.
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
  /// The items that are not in the other input.
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
