// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// Compares the sheets of a workbook, or the members of an archive, that are tables without a device: a table for each
/// person or each sensor has other values at the same times, and all of them would become one series.
///
/// Each part is first imported into a store that is not kept, together with the ones before it.
final class PartComparison {
  private struct Part {
    let name: String
    let times: ClosedRange<Int64>
    /// The days of its readings that no earlier part has.
    var days: Set<Int64> = []

    /// Their names without the folders and containers of both.
    static func ownNames(_ one: Part, _ other: Part) -> (String, String) {
      let common = zip(one.name, other.name).prefix { $0 == $1 }.map(\.0)
      let kept = (common.lastIndex { $0 == ":" || $0 == "/" } ?? -1) + 1
      return (String(one.name.dropFirst(kept)), String(other.name.dropFirst(kept)))
    }
  }

  /// A reading as an app shows it that cuts times to the minute.
  private struct Sign: Hashable {
    let minute: Int64
    let value: Int64
  }

  /// The least common time, in seconds. Exports of consecutive months may share their last hour.
  private static let leastCommon: Int64 = 3600

  /// The least common time of sheets that are named for persons.
  private static let leastCommonOfPersons: Int64 = 86_400

  /// The least number of days that two tables of different persons have in common.
  private static let leastDays = 2

  private let options: ExportOptions
  private var scratch: Store?
  private var deviceCount = 0
  private var parts: [Part] = []
  private var signs: Set<Sign> = []

  init(_ options: ExportOptions) { self.options = options }

  /// Tries the next part that is a table of no known format.
  ///
  /// - Throws: `Failure` of category `badInput` if it has other sensor values at the times of an earlier part.
  func requireOneSeries(_ reader: InputReader) throws {
    guard options.device == nil else { return }
    let store = try scratch ?? Store.scratch(copyOf: nil, zone: options.zone)
    scratch = store
    let session = ImportSession(clock: Host.now, isInterrupted: { SignalFlag.isRaised })
    let report = try session.run(reader, into: { store })
    let devices = try store.devices().count
    defer { deviceCount = devices }
    guard let first = report.counts.firstTime, let last = report.counts.lastTime, first <= last else {
      return
    }
    var part = Part(name: report.source, times: first...last)
    let agreeing = try isOfSensor(report.counts) ? 0 : survey(&part, report.ingest, in: store)
    // What has other devices is a separate series.
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

  /// Adds the days of what only this part has.
  ///
  /// - Returns: the number of its readings whose minute and value an earlier part has.
  private func survey(_ part: inout Part, _ ingest: Int64, in store: Store) throws -> Int {
    var filter = ItemFilter()
    filter.recordKinds = []
    var own: Set<Sign> = []
    var agreeing = 0
    var days: Set<Int64> = []
    try store.forEachItem(filter) { item in
      guard case .reading(let reading) = item, reading.ingest == ingest else { return }
      let seconds = reading.deviceTime.seconds
      let sign = Sign(minute: DeviceTime.startOfMinute(seconds), value: reading.valueBucket)
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

  /// The names may say that the parts differ in something other than the person.
  ///
  /// - Throws: `Failure` of category `badInput` for other finger sticks of the same days as in an earlier part.
  private func requireNoPersons(_ part: Part, _ earlier: [Part]) throws {
    guard let other = earlier.first(where: { Self.mayBePersons($0, part) }) else { return }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): it has other readings of the same days as \(displayed(other.name)), and both may be named for "
        + "persons; a store is for one person, and nothing of it was imported. If they are yours, import "
        + "\(part.name.shellWord) alone; if they are another person's, with --person NAME \(part.name.shellWord)"
    )
  }

  private static func mayBePersons(_ one: Part, _ other: Part) -> Bool {
    let names = Part.ownNames(one, other)
    if SheetName.describe(names.0, names.1) { return false }
    // Two persons may measure on different days.
    if SheetName.mayNamePerson(names.0), SheetName.mayNamePerson(names.1) {
      return common(one.times, other.times) >= leastCommonOfPersons
    }
    // A day or two with another month's date are typing errors.
    let days = one.days.intersection(other.days).count
    return days >= leastDays && days * 4 >= min(one.days.count, other.days.count)
  }

  private func isOfSensor(_ counts: IngestCounts) -> Bool {
    counts.newByKind["cbg", default: 0] + counts.changedReadings > 0
  }

  private static func share(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> Bool {
    common(one, other) >= leastCommon
  }

  private static func common(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> Int64 {
    min(one.upperBound, other.upperBound) - max(one.lowerBound, other.lowerBound)
  }
}
