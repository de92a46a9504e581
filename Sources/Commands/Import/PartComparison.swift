// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// Compares the tables of a workbook or an archive that name no device. Tables of different persons or
/// sensors have different values at the same times, and must not become one series. Tables of doses and meals
/// are compared by their names and days.
///
/// Each table is imported into a temporary store, together with those before it.
final class PartComparison {
  private struct EarlierTable {
    let name: String
    let times: ClosedRange<Int64>
    /// The days on which this table has readings that no earlier table has.
    var days: Set<Int64> = []
  }

  /// The minute and the value of a reading. Two exports of one reading agree in both, even if one app
  /// truncates times to the minute.
  private struct ReadingSign: Hashable {
    let minute: Int64
    let value: Int64
  }

  /// The shortest overlap in seconds at which tables of two sensors are refused. Exports of consecutive
  /// months may overlap by less than an hour.
  private static let minCommon: Int64 = 3600

  /// The shortest overlap in seconds at which tables are refused if their names may be those of persons.
  private static let minCommonOfPersons: Int64 = 86_400

  /// The minimum number of common days for which two tables count as those of different persons.
  private static let minDays = 2

  private let options: ExportOptions
  private var scratch: Store?
  private var deviceCount = 0
  private var parts: [EarlierTable] = []
  private var signs: Set<ReadingSign> = []
  private var doseTables: [(name: String, table: DoseTable)] = []

  init(_ options: ExportOptions) { self.options = options }

  /// Imports the next table into the temporary store, and compares it with the tables before it.
  ///
  /// - Throws: `Failure` of category `badInput` if the table has other values at the times of an earlier one.
  func requireOneSeries(_ reader: InputReader) throws {
    guard options.device == nil else { return }
    let store = try scratch ?? Store.scratch(copyOf: nil, zone: options.zone)
    scratch = store
    var policy = ImportPolicy()
    // The store's check for another person is off, since its message would not name the other table.
    policy.acceptsPerson = true
    var doses = DoseTable()
    let session = ImportSession(
      policy: policy, clock: Host.now, isInterrupted: { SignalFlag.isRaised },
      onFirstBatch: { batch, _ in doses.add(batch.records) })
    let report = try session.run(reader, into: { store })
    try requireNoPersons((report.source, doses), hasReadings: report.counts.readings > 0)
    let devices = try store.devices().count
    defer { deviceCount = devices }
    guard let first = report.counts.firstTime, let last = report.counts.lastTime, first <= last else {
      return
    }
    var part = EarlierTable(name: report.source, times: first...last)
    let agreeing = try isOfSensor(report.counts) ? 0 : survey(&part, report.ingest, in: store)
    // A table with its own devices is a separate series, so it is not compared.
    let earlier = parts
    if devices == deviceCount || parts.isEmpty { parts.append(part) }
    guard devices == deviceCount, (report.counts.knownReadings + agreeing) * 2 < report.counts.readings else {
      return
    }
    guard isOfSensor(report.counts) else { return try requireNoPersons(part, earlier) }
    guard let other = earlier.first(where: { Self.share($0.times, part.times) }) else { return }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): other sensor values at the same times as in \(displayed(other.name)), as those of another "
        + "person or device; nothing of it was imported. If they are yours, import them as those of a device with --device "
        + "NAME \(part.name.shellWord); if they are another person's, with --person NAME \(part.name.shellWord)"
    )
  }

  /// Stores in `part` the days on which it has readings that no earlier part has.
  ///
  /// - Returns: how many of its readings have the minute and value of a reading in an earlier part.
  private func survey(_ part: inout EarlierTable, _ ingest: Int64, in store: Store) throws -> Int {
    var filter = ItemFilter()
    filter.recordKinds = []
    var own: Set<ReadingSign> = []
    var agreeing = 0
    var days: Set<Int64> = []
    try store.forEachItem(filter) { item in
      guard case .reading(let reading) = item, reading.ingest == ingest else { return }
      let seconds = reading.deviceTime.seconds
      let sign = ReadingSign(minute: DeviceTime.startOfMinute(seconds), value: reading.valueBucket)
      if signs.contains(sign) {
        agreeing += 1
      } else {
        days.insert(DeviceTime.day(of: seconds))
        own.insert(sign)
      }
    }
    part.days = days
    signs.formUnion(own)
    return agreeing
  }

  /// Refuses a table that may be of another person. A table whose name is not that of a person, but of a
  /// month, for example, is accepted.
  ///
  /// - Throws: `Failure` of category `badInput` if an earlier table has other finger sticks on the same days.
  private func requireNoPersons(_ part: EarlierTable, _ earlier: [EarlierTable]) throws {
    guard let other = earlier.first(where: { Self.mayBePersons($0, part) }) else { return }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): it has other readings of the same days as \(displayed(other.name)), and both may be named for "
        + "persons; a store is for one person, and nothing of it was imported. If they are yours, import "
        + "\(part.name.shellWord) alone; if they are another person's, with --person NAME \(part.name.shellWord)"
    )
  }

  /// Refuses a table of doses or meals that may be of another person than an earlier table.
  ///
  /// - Throws: `Failure` of category `badInput` if both tables may be named for persons and have other doses
  ///   or meals on the same days.
  private func requireNoPersons(_ part: (name: String, table: DoseTable), hasReadings: Bool) throws {
    guard !part.table.isEmpty else { return }
    defer { doseTables.append(part) }
    guard !hasReadings, let other = doseTables.first(where: { DoseTable.mayBePersons($0, part) }) else {
      return
    }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): it has other doses or meals of the same days as \(displayed(other.name)), and both may be "
        + "named for persons; a store is for one person, and nothing of it was imported. If they are yours, import them with "
        + "--device NAME \(part.name.shellWord); if they are another person's, with --person NAME \(part.name.shellWord)"
    )
  }

  private static func mayBePersons(_ one: EarlierTable, _ other: EarlierTable) -> Bool {
    let names = PartName.differing(one.name, other.name)
    if SheetName.differOnlyInDescription(names.0, names.1) { return false }
    // Two persons may have measured on different days. So the periods from the first to the last reading are
    // compared, and not the days with readings.
    if SheetName.mayNamePerson(names.0), SheetName.mayNamePerson(names.1) {
      return common(one.times, other.times) >= minCommonOfPersons
    }
    // One common day is not enough, since it may come from a typing error in a date.
    let days = one.days.intersection(other.days).count
    return days >= minDays && days * 4 >= min(one.days.count, other.days.count)
  }

  private func isOfSensor(_ counts: IngestCounts) -> Bool {
    counts.newByKind["cbg", default: 0] + counts.changedReadings > 0
  }

  private static func share(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> Bool {
    common(one, other) >= minCommon
  }

  private static func common(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> Int64 {
    min(one.upperBound, other.upperBound) - max(one.lowerBound, other.lowerBound)
  }
}

/// The doses and meals of a table, for a comparison with another table that may be of another person.
///
/// Two tables of one person are often about different insulins, or about doses and meals. So only tables with
/// doses of the same use, or with meals, are compared.
struct DoseTable {
  /// The minute and the content of a dose or a meal. Two tables with copies of one entry agree in both.
  private struct DoseSign: Hashable {
    let minute: Int64
    let kind: RecordKind
    let fields: String
  }

  /// The maximum number of entries that are compared, more than a person takes in ten years.
  static let maxEntries = 50_000
  private static let minDays = 2

  private var days: Set<Int64> = []
  private var signs: Set<DoseSign> = []
  /// The subtypes of the doses. The subtype is empty if the use is unknown.
  private var uses: Set<String> = []
  private var hasMeals = false

  var isEmpty: Bool { signs.isEmpty }

  /// Adds the doses and meals of an input.
  mutating func add(_ records: [ImportedRecord]) {
    for record in records {
      add(record.kind, record.fields.subtype, at: record.deviceTime, record.fields.json)
    }
  }

  /// Adds a record if it is a dose or a meal.
  mutating func add(_ kind: RecordKind, _ subtype: String, at time: DeviceTime, _ fields: String) {
    guard kind == .insulin || kind == .food, signs.count < Self.maxEntries else { return }
    if kind == .food { hasMeals = true } else { uses.insert(subtype) }
    days.insert(DeviceTime.day(of: time.seconds))
    signs.insert(DoseSign(minute: DeviceTime.startOfMinute(time.seconds), kind: kind, fields: fields))
  }

  /// Whether two tables may be of two persons by their names and contents. They have entries of the same kind
  /// on the same days, and less than half of them are equal.
  static func mayBePersons(_ one: (name: String, table: Self), _ other: (name: String, table: Self)) -> Bool {
    let (first, second) = (one.table, other.table)
    let common = first.days.intersection(second.days).count
    guard common >= minDays, common * 4 >= min(first.days.count, second.days.count),
      first.hasMeals && second.hasMeals || first.sharesUse(with: second),
      first.signs.intersection(second.signs).count * 2 < min(first.signs.count, second.signs.count)
    else { return false }
    let names = PartName.differing(one.name, other.name)
    return !SheetName.differOnlyInDescription(names.0, names.1)
      && SheetName.mayNamePersonsOfDoses(names.0, names.1)
  }

  private func sharesUse(with other: Self) -> Bool {
    guard !uses.isEmpty, !other.uses.isEmpty else { return false }
    return uses.contains("") || other.uses.contains("") || !uses.isDisjoint(with: other.uses)
  }
}

/// Compares the doses and meals that an import of a table brought with those of other tables on the same
/// days. The names of the files may show that the tables are of two persons.
struct OthersDoses {
  private static let secondsPerDay: Int64 = 86_400

  private let report: ImportReport
  private let own: DoseTable
  private let tables: [Int64: DoseTable]

  /// Reads the doses and meals of the store from a day before the import's first one to a day after its last
  /// one. The result is nil if the import stored none, or if it did not read a table.
  ///
  /// - Parameter own: the doses and meals of the input. Some of them may not be stored, if another table has
  ///   other amounts at the same times.
  init?(_ report: ImportReport, _ own: DoseTable, in store: Store) throws {
    guard !own.isEmpty, report.format == "generic", report.counts.newRecords > 0,
      report.counts.readings == 0, let first = report.counts.firstCounted,
      let last = report.counts.lastCounted
    else { return nil }
    (self.report, self.own) = (report, own)
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([], [.insulin, .food])
    filter.limitShown(since: first - Self.secondsPerDay, until: last + Self.secondsPerDay)
    var found: [Int64: DoseTable] = [:]
    var count = 0
    try store.forEachItem(filter) { item in
      guard count < DoseTable.maxEntries, case .record(let record) = item, let ingest = record.ingest else {
        return
      }
      count += 1
      found[ingest, default: DoseTable()]
        .add(record.kind, record.subtype, at: record.deviceTime, record.fields)
    }
    tables = found
  }

  /// A warning about another import of the same days that may be of another person; nil if nothing indicates
  /// this.
  func warning(in store: Store) throws -> String? {
    for (number, table) in tables.sorted(by: { $0.key < $1.key }) where number != report.ingest {
      guard let entry = try store.ingest(number), entry.format == report.format,
        DoseTable.mayBePersons((report.source, own), (entry.source, table))
      else { continue }
      return
        "its doses or meals are of the same days as those of import \(number) (\(displayed(entry.source))), and the names "
        + "of both may be those of persons. If they are of another person, undo this import with "
        + "\(quotedCommand("glucoport", "undo", String(report.ingest))), and import it with --person NAME"
    }
    return nil
  }
}
