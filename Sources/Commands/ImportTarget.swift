// SPDX-License-Identifier: Apache-2.0

import Exports
import Logbook
import LogbookStore
import USBTransport

/// Where an import goes, and by which zone and clock: settled once for all of its inputs.
///
/// The store is opened, or created, only when an input turned out to be readable.
final class ImportTarget {
  private(set) var options: ExportOptions
  private let path: String
  private let isDryRun: Bool
  private var existing: Store?
  private var opened: Store?

  init(_ command: ImportCommand, _ output: Output) throws {
    path = try command.storeOptions.path
    isDryRun = command.dryRun
    let existing = try Self.openExisting(path: path)
    self.existing = existing
    let zone =
      try command.timezone.map { try LogbookZone(name: $0) }
      ?? existing?.timezone() ?? LogbookZone(name: Host.systemZone)
    options = ExportOptions(zone: zone, now: try Self.trustedClock(existing, output))
    options.isInterrupted = { SignalFlag.isRaised }
    options.zoneIsGiven = command.timezone != nil
    options.format = command.format
    options.unit = command.unit
    options.dateOrder = command.dateOrder
    options.device = command.device
    options.kind = command.kind.flatMap { ReadingKind(name: $0) }
    options.columns = try command.columns()
    options.rows = try command.rowFilters()
    options.commandStart = command.start
  }

  /// The store to write to: for a dry run a copy that nobody sees.
  func store() throws -> Store {
    if let opened { return opened }
    let store =
      try isDryRun
      ? Store.scratch(copyOf: existing, zone: options.zone)
      : Store.openOrCreate(path: path, role: .importer, zone: options.zone)
    existing = nil
    opened = store
    return store
  }

  private static func openExisting(path: String) throws -> Store? {
    guard try Store.exists(path: path) else { return nil }
    do {
      return try Store(path: path, role: .reader)
    } catch let failure as Failure where failure.category == .missingInput {
      return nil
    }
  }

  /// The host's clock, unless it shows a time before this program was made or before the last import.
  private static func trustedClock(_ store: Store?, _ output: Output) throws -> Int64? {
    let now = Host.now()
    let last = try store?.lastSuccess() ?? Release.date
    if now >= max(Release.date, last) { return now }
    output.message(
      "glucoport: the clock of this computer shows \(DeviceTime(seconds: now).text)Z, which is in the past; it judges no times"
    )
    return nil
  }
}
