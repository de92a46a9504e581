// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// Compares the sheets of a workbook, or the members of an archive, that are tables without a device: a sheet for each
/// person or each sensor has other values at the same times, and all of them would become one series.
///
/// Each part is first imported into a store that is not kept, together with the ones before it.
final class PartComparison {
  private struct Part {
    let name: String
    let times: ClosedRange<Int64>

    /// The name of a sheet that may be a person's. The name of a sheet has no colon.
    var person: Substring? {
      guard let sheet = name.split(separator: ":").last else { return nil }
      return SheetName.mayNamePerson(String(sheet)) ? sheet : nil
    }
  }

  /// The least common time, in seconds. Exports of consecutive months may share their last hour.
  private static let leastCommon: Int64 = 3600

  /// The least common time of sheets that are named for persons.
  private static let leastCommonOfPersons: Int64 = 86_400

  private let options: ExportOptions
  private let areSheets: Bool
  private var scratch: Store?
  private var deviceCount = 0
  private var parts: [Part] = []

  init(_ options: ExportOptions, areSheets: Bool) {
    (self.options, self.areSheets) = (options, areSheets)
  }

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
    let part = Part(name: report.source, times: first...last)
    // What has other devices is a separate series.
    let other = devices > deviceCount ? nil : parts.first { Self.share($0.times, part.times) }
    if devices == deviceCount || parts.isEmpty { parts.append(part) }
    guard let other, report.counts.knownReadings * 2 < report.counts.readings else { return }
    guard isOfSensor(report.counts) else { return try requireNoPersons(part) }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): other sensor values at the same times as in \(displayed(other.name)), as those of another "
        + "person or device; nothing of it was imported. If they are yours, import them as those of a device with --device "
        + "NAME \(part.name.shellWord); if they are another person's, with --person NAME \(part.name.shellWord)"
    )
  }

  /// - Throws: `Failure` of category `badInput` for finger sticks in sheets that are named for two persons.
  private func requireNoPersons(_ part: Part) throws {
    guard areSheets, let name = part.person else { return }
    let other = parts.first { other in
      other.person.map { $0 != name } ?? false
        && Self.common(other.times, part.times) >= Self.leastCommonOfPersons
    }
    guard let other else { return }
    throw Failure(
      .badInput,
      "\(displayed(part.name)): the sheet has readings of the same days as \(displayed(other.name)), and both may be named for "
        + "persons; a store is for one person, and nothing of it was imported. If they are yours, import "
        + "\(part.name.shellWord) alone; if they are another person's, with --person NAME \(part.name.shellWord)"
    )
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
