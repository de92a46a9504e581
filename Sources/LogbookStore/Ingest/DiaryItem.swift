// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A visible dose, meal or finger stick, as `OtherZoneDiary` compares it.
struct DiaryItem {
  private enum ItemKey: Hashable {
    case record(guid: String)
    case reading(series: Int64, SeriesPoint)
  }

  /// What equal items have in common.
  private struct CommonContent: Hashable {
    let source: [String]
    let text: String
  }

  /// The maximum number of records and of readings that are compared: the newest ones. A diary of ten years
  /// has about 40,000 doses and meals.
  private static let maxItems = 50_000

  private let key: ItemKey
  /// The shown time in civil seconds.
  let time: Int64
  /// The instant in UTC seconds.
  let instant: Int64
  /// Whether the source states only the shown time, so that the zone determines the instant.
  let isPlaced: Bool
  /// Whether the item is of a table whose columns a person named. Equal items of such tables count once if
  /// they have one instant and times in different forms; see `OwnCopies`.
  let isOfTable: Bool
  /// The import that stored the item.
  let ingest: Int64?
  /// Whether the examined import stored the item.
  let isNew: Bool
  /// The number of the content: items with equal kind, source and content have the same one.
  let content: Int
  /// The number of the source within the input, such as a device.
  let source: Int
  /// The amount with its kind.
  let amount: String

  var isReading: Bool { if case .reading = key { true } else { false } }

  /// The items with these shown times, in the order of time.
  static func all(_ database: Database, ingest: Int64, _ times: ClosedRange<Int64>) throws -> [DiaryItem] {
    var numbers = Numbers()
    let records = try records(database, ingest: ingest, times, &numbers)
    let readings = try readings(database, ingest: ingest, times, &numbers)
    return (records + readings).sorted { $0.time < $1.time }
  }

  /// Numbers sources and contents, since comparing numbers takes less time than comparing texts.
  private struct Numbers {
    var sources: [[String]: Int] = [:]
    var contents: [CommonContent: Int] = [:]

    mutating func number(of source: [String]) -> Int {
      if let number = sources[source] { return number }
      sources[source] = sources.count
      return sources.count - 1
    }

    mutating func number(of content: CommonContent) -> Int {
      if let number = contents[content] { return number }
      contents[content] = contents.count
      return contents.count - 1
    }
  }

  private static func records(
    _ database: Database, ingest: Int64, _ times: ClosedRange<Int64>, _ numbers: inout Numbers
  ) throws -> [DiaryItem] {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, kind, fields, device_time, utc_offset, offset_source, ingest,
            coalesce(provenance_format, ''), coalesce(provenance_source, ''),
            kind || ' ' || coalesce(json_extract(fields, '$.units'), 0) || ' '
              || coalesce(json_extract(fields, '$.extended'), 0) || ' ' || coalesce(json_extract(fields, '$.carbs'), 0)
          FROM record INDEXED BY record_by_time
          WHERE device_time BETWEEN ? AND ? AND kind IN ('insulin', 'food') AND deleted = 0
            AND ingest IS NOT NULL AND offset_source <> \(OffsetSource.instant.rawValue) AND \(Withdrawn.record) = 0
          ORDER BY device_time DESC LIMIT \(maxItems)
          """), arguments: [times.lowerBound, times.upperBound])
    var items: [DiaryItem] = []
    while let row = try rows.next() {
      let row = StoredRow(row, of: "record")
      let (guid, kind, fields): (String, String, String) = (try row[0], try row[1], try row[2])
      let format: String = try row[7]
      let source = [kind, format, try row[8]]
      let (time, offset) = (try row.deviceTime(3).seconds, try row.offset(4))
      let stored: Int64 = try row[6]
      items.append(
        DiaryItem(
          key: .record(guid: guid), time: time, instant: time - Int64(offset),
          isPlaced: try row[5] != Int64(OffsetSource.stated.rawValue),
          isOfTable: format == Device.ofUnknownTable.format,
          ingest: stored, isNew: stored == ingest,
          content: numbers.number(of: CommonContent(source: source, text: fields)),
          source: numbers.number(of: Array(source.dropFirst())), amount: try row[9]))
    }
    return items
  }

  /// The finger sticks whose positions are shown times. Others have an identity that does not depend on a
  /// zone.
  private static func readings(
    _ database: Database, ingest: Int64, _ times: ClosedRange<Int64>, _ numbers: inout Numbers
  ) throws -> [DiaryItem] {
    let rows = try RawStatement(
      keptBy: database,
      """
      SELECT r.position, r.value_bucket, r.occurrence, r.series, r.unit, r.range_flag, r.derived_offset, r.ingest,
        r.value
      FROM reading AS r
      WHERE r.partition = \(ReadingKind.smbg.rawValue) AND r.position BETWEEN ?1 AND ?2 AND r.stated_offset IS NULL
        AND \(Withdrawn.readingIsShown)
      ORDER BY r.position DESC LIMIT \(maxItems)
      """)
    rows.bind(times.lowerBound, at: 1)
    rows.bind(times.upperBound, at: 2)
    var items: [DiaryItem] = []
    while try rows.step() {
      let (point, series, stored) = (rows.point(from: 0), rows.integer(3), rows.integer(7))
      let source = ["series", String(series)]
      let text = "\(rows.number(8) ?? 0) \(rows.integer(4)) \(rows.integer(5))"
      items.append(
        DiaryItem(
          key: .reading(series: series, point), time: point.position,
          instant: point.position - rows.integer(6), isPlaced: true, isOfTable: false, ingest: stored,
          isNew: stored == ingest, content: numbers.number(of: CommonContent(source: source, text: text)),
          source: numbers.number(of: source), amount: text))
    }
    return items
  }

  /// For each item, the imports that state it and are not undone.
  static func imports(of items: [DiaryItem], _ database: Database) throws -> [Set<Int64>] {
    let undone = try ImportContribution.undone(database)
    var found = items.map { Set([$0.ingest].compactMap(\.self)) }
    let ofRecord = try database.cachedStatement(
      sql: """
        SELECT ingest FROM ingest_record WHERE guid = ?1 UNION SELECT ingest FROM stated_content WHERE guid = ?1
        """)
    var points: [Int64: [(index: Int, point: SeriesPoint)]] = [:]
    for (index, item) in items.enumerated() {
      switch item.key {
      case .record(let guid): found[index].formUnion(try Int64.fetchAll(ofRecord, arguments: [guid]))
      case .reading(let series, let point): points[series, default: []].append((index, point))
      }
    }
    for (series, points) in points {
      var runs = KnownRunCursor(try KnownRun.fetch(of: series, besides: undone, database))
      for (index, point) in points.sorted(by: { $0.point < $1.point }) {
        let reading = ContributedReading(point: point, ingest: items[index].ingest ?? 0, isUploaded: false)
        found[index].formUnion(runs.imports(of: reading))
      }
    }
    return found.map { $0.subtracting(undone) }
  }
}
