// SPDX-License-Identifier: Apache-2.0

/// A person's statement that the items of one import were shown in a time zone. It lists the readings and
/// records of the import, so it never changes the times of other imports. A record holds at most 256 KiB, so
/// a long statement is divided into parts, each a value of this type.
package struct ItemZone: Hashable, Sendable {
  /// The maximum number of records with such statements that the imports of one store write. It is enough for
  /// one statement on each day of a life.
  package static let maxRecords = 30_000

  private enum FieldName {
    static let (zone, group, points, records) = ("zone", "group", "points", "records")
  }

  /// The guid of the record that contains the statement.
  package let guid: String
  /// The id that the parts of one statement share.
  package let group: String
  /// The name of the zone, which this system may not know.
  package let zoneName: String
  /// When the zone was stated, in UTC seconds.
  package let madeAt: Int64
  /// The readings that the statement lists, by their series.
  package let points: [SeriesName: PointRuns]
  /// The ids of the records that the statement lists.
  package let records: Set<String>

  /// A statement, or one part of it.
  package init(
    guid: String, group: String, zoneName: String, madeAt: Int64, points: [SeriesName: PointRuns] = [:],
    records: Set<String> = []
  ) {
    (self.guid, self.group, self.zoneName, self.madeAt) = (guid, group, zoneName, madeAt)
    (self.points, self.records) = (points, records)
  }

  /// The statement in a record; nil for a tombstone, for a record of another kind, and for content that this
  /// program does not understand.
  package init?(guid: String, _ state: RecordState) {
    guard !state.isDeleted, let zoneName = state.zoneName,
      case .text(let group)? = state.fields[FieldName.group],
      Guid.isValid(group)
    else { return nil }
    var texts: [String: String] = [:]
    for name in [FieldName.points, FieldName.records] {
      switch state.fields[name] {
      case nil: break
      case .text(let text)?: texts[name] = text
      default: return nil
      }
    }
    guard texts.values.reduce(0, { $0 + $1.utf8.count }) <= Withdrawal.maxBytes,
      let points = WithdrawnInput.points(texts[FieldName.points] ?? "")
    else { return nil }
    let records = (texts[FieldName.records] ?? "").listedLines.map(String.init)
    guard records.allSatisfy(Guid.isValid) else { return nil }
    self.init(
      guid: guid, group: group, zoneName: zoneName, madeAt: state.statedAt, points: points,
      records: Set(records))
  }

  /// The fields of the statement's record. The time of the record is the time at which the statement was
  /// made.
  package var fields: RecordFields {
    var fields = RecordFields([FieldName.zone: .text(zoneName), FieldName.group: .text(group)])
    let lines = WithdrawnInput.lines(points)
    if !lines.isEmpty { fields[FieldName.points] = .text(lines.joined(separator: "\n")) }
    if !records.isEmpty { fields[FieldName.records] = .text(records.sorted().joined(separator: "\n")) }
    return fields
  }

  /// Whether a record of kind `zone` states the zone of an import, and not a base zone or a period.
  package static func isStated(by fields: RecordFields) -> Bool { fields[FieldName.group] != nil }

  /// Whether `left` has precedence over `right` if both list the same item. The later statement has
  /// precedence. If two statements have the same second, their ids decide, so that every store chooses the
  /// same one.
  package static func precedes(_ left: Self, _ right: Self) -> Bool {
    (left.madeAt, left.group, left.guid) > (right.madeAt, right.group, right.guid)
  }
}

/// The statements that may give the readings of one series their zone. Callers ask for the zones of the
/// readings in the order of the series.
package struct ItemZones: Sendable {
  private struct Listed {
    let zone: NamedZone
    let points: PointRuns
    let ends: ClosedRange<SeriesPoint>
    let madeAt: Int64
    var cursor: PointRuns.Cursor?
  }

  private var listed: [Listed]
  /// The zone periods that can apply to the series, in the order of precedence.
  private let periods: [ZonePeriod]

  /// - Parameters:
  ///   - statements: the statements that may list readings of the series. A statement with an unknown zone is
  ///     ignored.
  ///   - zones: the other zones of the logbook.
  package init(of series: SeriesName, _ statements: [ItemZone], _ zones: LogbookZones) {
    periods = zones.periods.filter { $0.devices.isEmpty || $0.devices.contains(series.device) }
    listed = statements.sorted(by: ItemZone.precedes).compactMap { statement in
      guard let points = statement.points[series], let ends = points.ends,
        let zone = NamedZone(known: statement.zoneName)
      else { return nil }
      return Listed(zone: zone, points: points, ends: ends, madeAt: statement.madeAt, cursor: nil)
    }
  }

  /// The zone of a reading according to the statements; nil if the periods or the base zone determine it.
  ///
  /// - Parameter placement: the current placement of the time. For an instant, the time that the period's
  ///   zone shows decides whether it is in the period.
  package mutating func zone(
    of point: SeriesPoint, shownAt time: DeviceTime, _ placement: Placement
  ) -> NamedZone? {
    for index in listed.indices where listed[index].ends.contains(point) {
      if listed[index].cursor == nil {
        listed[index].cursor = PointRuns.Cursor(listed[index].points, from: point)
      }
      guard listed[index].cursor?.contains(point) == true else { continue }
      // If both the statement and a period contain the time, the one that was made later applies.
      let period = periods.first { $0.contains(time, placement) }
      return period.map { $0.madeAt > listed[index].madeAt } == true ? nil : listed[index].zone
    }
    return nil
  }
}

extension RecordState {
  /// When a statement was made, in UTC seconds.
  var statedAt: Int64 {
    min(deviceTime.seconds - Int64(placement.utcOffset), LogbookZones.lastSecond)
  }
}
