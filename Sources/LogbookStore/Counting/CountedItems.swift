// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension Store {
  /// People's decisions, and the items between two instants that are left out. These are finger sticks that
  /// repeat a sensor's value, items that one source states twice, and items that two sources state with
  /// different amounts. Other states of items that a person edited are left out, too.
  package func countingRules(since: Int64?, until: Int64?) throws -> CountingRules {
    var rules = try countingRules()
    rules.sensorCopies = try sensorCopies(since: since, until: until, rules)
    try addCopies(to: &rules, since: since, until: until)
    return rules
  }

  /// Calls `body` with each visible dose, meal, finger stick and ketone reading that passes the filter, and
  /// with the verdict on it. The order is by time. Items outside the filter's range are read as well, since
  /// they affect the verdicts.
  ///
  /// - Parameters:
  ///   - rules: the rules for the period of the filter; nil to determine them.
  ///   - omitted: the addresses of finger sticks to leave out, because they affect no verdict.
  package func forEachCounted(
    _ filter: ItemFilter, by rules: CountingRules? = nil, besides omitted: Set<String> = [],
    _ body: (StoredItem, CountableItem, CountVerdict) throws -> Void
  ) throws {
    var wide = filter.withoutShownLimits
    wide.newest = nil
    wide.readingKinds.formIntersection(CountingContext.readingKinds)
    wide.recordKinds.formIntersection(CountingContext.recordKinds)
    (wide.includesWithdrawn, wide.includesDeleted, wide.includesDevice) = (false, false, nil)
    wide.since = filter.since.map { $0 - CountingMargin.seconds }
    wide.until = filter.until.map { $0 + CountingMargin.seconds }
    var counting = CountedOnce<StoredItem>(
      try rules ?? countingRules(since: filter.since, until: filter.until))
    func visitDecided() throws {
      while let (stored, item, verdict) = counting.next() {
        guard let item, filter.holds(utc: stored.utc, shown: stored.deviceTime) else { continue }
        if case .reading(let reading) = stored, filter.includesDevice?(reading.device) == false { continue }
        try body(stored, item, verdict)
      }
    }
    try forEachItem(wide) { stored in
      if case .reading(let reading) = stored, !omitted.isEmpty, omitted.contains(reading.address) { return }
      counting.add(stored, CountableItem(stored), at: stored.utc)
      try visitDecided()
    }
    counting.finish()
    try visitDecided()
  }
}

/// The kinds of items that can affect the verdicts on other items.
package enum CountingContext {
  package static let readingKinds: Set<ReadingKind> = [.smbg, .ketone]
  package static let recordKinds: Set<RecordKind> = [.insulin, .food]
}

extension Store {
  /// Whether the store has finger sticks, hidden or not, of a format that may repeat values of a sensor. If
  /// so, readings up to a week before and after a period affect which items of the period count.
  package func mayRelaySensors() throws -> Bool { try relayedTimes() != nil }

  /// The finger sticks that repeat a sensor's value, as far as they affect the verdicts between two instants.
  package func sensorCopies(
    since: Int64?, until: Int64?, _ rules: CountingRules
  ) throws -> SensorCopies {
    guard let times = try relayedTimes() else { return SensorCopies() }
    let margin = CountingMargin.seconds + SensorCopies.marginSeconds
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([.smbg, .cbg], [])
    filter.since = max(since.map { $0 - margin } ?? .min, times.lowerBound)
    filter.until = min(until.map { $0 + margin } ?? .max, times.upperBound)
    guard filter.since ?? 0 < filter.until ?? 0 else { return SensorCopies() }
    var finder = SensorCopyFinder(rules)
    var sources: [Int64: CountingSource] = [:]
    try forEachItem(filter) { item in
      guard case .reading(let reading) = item, reading.marks.isDisjoint(with: .doubtfulTime) else { return }
      let source = sources[reading.deviceID] ?? CountingSource(reading.device)
      sources[reading.deviceID] = source
      if reading.kind == .cbg {
        finder.addSensor(reading.measurement, source, at: reading.utc)
      } else if CountableItem(reading) != nil {
        finder.addStick(reading.measurement, source, at: reading.utc)
      }
    }
    return finder.finish()
  }

  /// Sets `editedItems`, `ownCopies`, `otherAmounts`, `computedMeals` and `hasSingleSources`, as far as they
  /// affect the verdicts between two instants.
  package func addCopies(to rules: inout CountingRules, since: Int64?, until: Int64?) throws {
    let margin = CountingMargin.seconds + OwnCopies.marginSeconds
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = (CountingContext.readingKinds, CountingContext.recordKinds)
    (filter.since, filter.until) = (since.map { $0 - margin }, until.map { $0 + margin })
    rules.editedItems = try editedItems(since: filter.since, until: filter.until, rules)
    let edited = rules.editedItems
    var (copies, others, near) = (OwnCopyFinder(rules), OtherAmountFinder(rules), NearItems())
    var computed = ComputedMealFinder(rules)
    var sources = SourcesOfKinds()
    func add(_ item: CountableItem) {
      if edited.leavesOut(item) { return }
      copies.add(item)
      others.add(item)
    }
    try forEachItem(filter) { item in
      if Self.mayBeComputed(item), let item = CountableItem(item) { computed.add(item) }
      near.add(item, add)
      sources.add(item)
    }
    near.finish(add)
    rules.hasSingleSources = !sources.differ
    (rules.ownCopies, rules.otherAmounts) = (copies.finish(), others.finish())
    rules.computedMeals = computed.finish()
  }

  /// Whether an item is a meal of a program that computes meals. The fields of other items are not decoded
  /// for it.
  private static func mayBeComputed(_ item: StoredItem) -> Bool {
    guard case .record(let record) = item, record.kind == .food, let provenance = record.provenance else {
      return false
    }
    return ComputedMeals.mayBe(of: CountingSource(format: provenance.format, part: provenance.source))
  }

  /// A range of instants that contains all finger sticks that may be values of a sensor. Nil if there are
  /// none, as in most stores.
  private func relayedTimes() throws -> Range<Int64>? {
    try read { database in
      let rows = try Row.fetchAll(
        database,
        sql: """
          SELECT s.first_time, s.last_time, \(Device.storedColumns)
          FROM series AS s JOIN device AS d ON d.id = s.device
          WHERE s.kind = ? AND s.first_time IS NOT NULL AND s.last_time IS NOT NULL
          """, arguments: [ReadingKind.smbg.rawValue])
      var times: Range<Int64>?
      for row in rows {
        let row = StoredRow(row, of: "series")
        guard CountingSource(try Device(row, from: 2)).mayRelaySensors else { continue }
        let (first, last): (Int64, Int64) = (try row[0], try row[1])
        let (start, end) = (max(first, .min / 2) - Self.maxOffset, min(last, .max / 2) + Self.maxOffset)
        times = min(times?.lowerBound ?? start, start)..<max(times?.upperBound ?? end, end, start)
      }
      return times
    }
  }

  /// The maximum difference between a shown time and its instant in seconds, plus two. The two seconds are
  /// added because the sensor's reading of the same value may have another second.
  private static let maxOffset = PositionSpan.maxOffset + 2
}

/// Determines whether two sources have items of one kind.
private struct SourcesOfKinds {
  private var devices: [ReadingKind: Int64] = [:]
  private var provenances: [RecordKind: Provenance] = [:]
  /// Whether two items of one kind have different sources. Devices count as sources. It is also true if the
  /// source of an item is unknown.
  private(set) var differ = false

  mutating func add(_ item: StoredItem) {
    if differ { return }
    switch item {
    case .reading(let reading):
      differ = devices[reading.kind, default: reading.deviceID] != reading.deviceID
      devices[reading.kind] = reading.deviceID
    case .record(let record):
      guard let provenance = record.provenance else { return differ = true }
      differ = provenances[record.kind, default: provenance] != provenance
      provenances[record.kind] = provenance
    }
  }
}

/// Passes on only items that have another item in the same minute. There are few of them, so the fields of
/// only a few records are decoded.
private struct NearItems {
  /// The maximum number of items in a minute. If a minute has more, its items are not compared.
  private static let maxItems = 4096

  private var minute = Int64.min
  private var items: [StoredItem] = []

  mutating func add(_ item: StoredItem, _ body: (CountableItem) -> Void) {
    let start = DeviceTime.startOfMinute(item.utc)
    if start != minute {
      finish(body)
      minute = start
    }
    if items.count <= Self.maxItems { items.append(item) }
  }

  mutating func finish(_ body: (CountableItem) -> Void) {
    if items.count > 1, items.count <= Self.maxItems { items.compactMap(CountableItem.init).forEach(body) }
    items.removeAll(keepingCapacity: true)
  }
}

extension CountableItem {
  /// The properties of an item that counting compares; nil for an item that always counts or never counts.
  package init?(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self.init(reading)
    case .record(let record): self.init(record)
    }
  }

  /// The properties of a reading that counting compares; nil for a reading that always counts or never
  /// counts.
  package init?(_ reading: StoredReading) {
    guard reading.kind == .smbg || reading.kind == .ketone, !reading.isWithdrawn else { return nil }
    self.init(
      reading.kind, reading.measurement, marks: reading.marks, id: reading.identity.text,
      deviceTime: reading.deviceTime, placement: reading.placement, source: CountingSource(reading.device))
  }

  /// The properties of a record that counting compares; nil for a record that always counts or never counts.
  ///
  /// - Parameter fields: the decoded fields; nil to decode those of the record.
  package init?(_ record: StoredRecord, _ fields: RecordFields? = nil) {
    guard [.insulin, .food].contains(record.kind), !record.isWithdrawn, !record.isDeleted else { return nil }
    self.init(
      record.kind, fields ?? record.decodedFields(), id: record.guid, deviceTime: record.deviceTime,
      placement: record.placement, source: record.countingSource,
      amountEditedAt: record.amountEditedAt)
  }
}

extension StoredRecord {
  /// The source of the record, as counting compares it; `unknown` without provenance.
  package var countingSource: CountingSource {
    provenance.map { CountingSource(format: $0.format, part: $0.source) } ?? .unknown
  }

  /// The decoded fields; empty if another program wrote fields that glucoport cannot read.
  package func decodedFields() -> RecordFields {
    do {
      return try RecordFields(json: fields)
    } catch {
      return RecordFields()
    }
  }
}

extension Store {
  /// The query for the records of each second at which an export shows a record as corrected. The conditions
  /// that cost little come first, since the record of an undo lists up to 256 KiB of items.
  private static let correctedSecondsQuery = """
    WITH corrected(guid) AS MATERIALIZED (
      SELECT json_extract(w.fields, '$.record') FROM record AS w INDEXED BY record_withdrawing
      WHERE w.kind = 'withdrawal' AND w.deleted = 0 AND length(w.fields) < 1000
        AND json_extract(w.fields, '$.subtype') = 'record'
        AND json_extract(w.fields, '$.text') = '\(Withdrawal.correctedAtSource)'),
    seconds(at, zone, name, format, part) AS MATERIALIZED (
      SELECT DISTINCT r.device_time, r.utc_offset, r.kind, r.provenance_format, r.provenance_source
      FROM corrected AS c CROSS JOIN record AS r ON r.guid = c.guid
      WHERE r.kind IN ('insulin', 'food') AND r.device_time BETWEEN ?1 AND ?2
        AND r.provenance_format IN (\(formatsWithAmountsInIDs)))
    SELECT \(StoredRecord.columns),
      CASE WHEN \(ContentExport.isImported) THEN NULL ELSE record.edited_at END,
      EXISTS (SELECT 1 FROM corrected AS c WHERE c.guid = record.guid)
    FROM seconds AS s CROSS JOIN record ON record.device_time = s.at
    WHERE record.utc_offset = s.zone AND record.kind = s.name
      AND (record.provenance_format, record.provenance_source) = (s.format, s.part)
    """

  private static let formatsWithAmountsInIDs = CountingSource.formatsWithAmountsInIDs.sorted()
    .map { "'\($0)'" }.joined(separator: ", ")

  private struct Second: Hashable {
    let time: DeviceTime
    let offset: Int32
    let kind: RecordKind
    let source: CountingSource
  }

  /// The items between two instants that are other states of items that a person edited.
  func editedItems(since: Int64?, until: Int64?, _ rules: CountingRules) throws -> EditedItems {
    try read { database in
      // Most stores hide nothing, and then no export corrected a record.
      guard try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM listed_record)") == true else {
        return EditedItems()
      }
      // A shown time and its instant differ by less than two days.
      let rows = try Row.fetchCursor(
        database.cachedStatement(sql: Self.correctedSecondsQuery),
        arguments: [
          since.map { $0 - CountingMargin.seconds } ?? .min,
          until.map { $0 + CountingMargin.seconds } ?? .max,
        ])
      var seconds: [Second: [EditedItems.State]] = [:]
      while let row = try rows.next() {
        let record = try StoredRecord(row)
        let second = Second(
          time: record.deviceTime, offset: record.placement.utcOffset, kind: record.kind,
          source: record.countingSource)
        let stored = StoredRow(row, of: "record")
        seconds[second, default: []].append(
          EditedItems.State(
            CountableItem(record), editedAt: try stored[row.count - 2],
            wasCorrected: try stored[row.count - 1]))
      }
      return EditedItems(seconds.values, rules)
    }
  }
}
