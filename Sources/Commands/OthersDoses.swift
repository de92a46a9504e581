// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore

/// The doses and meals of a table, for a comparison with another table that may be of another person.
///
/// Two tables of one person are often about different insulins, or about doses and meals. So only tables with
/// doses of the same use, or with meals, are compared.
struct DoseTable {
  /// The minute and the content of a dose or a meal. Two tables with copies of one entry agree in both.
  private struct Sign: Hashable {
    let minute: Int64
    let kind: RecordKind
    let fields: String
  }

  /// The maximum number of entries that are compared, more than a person takes in ten years.
  static let maxEntries = 50_000
  private static let minDays = 2

  private var days: Set<Int64> = []
  private var signs: Set<Sign> = []
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
    signs.insert(Sign(minute: DeviceTime.startOfMinute(time.seconds), kind: kind, fields: fields))
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
