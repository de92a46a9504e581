// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore
import USBTransport

/// The store, zone and clock of an import, decided once for all inputs.
///
/// The store is opened, or created, only after an input turned out to be readable.
final class ImportTarget {
  private(set) var options: ExportOptions
  let path: String
  private let isDryRun: Bool
  private let new: NewLogbook
  private let output: Output?
  private var existing: Store?
  private var opened: Store?

  init(_ command: ImportCommand, _ output: Output) throws {
    path = try command.storeOptions.path
    isDryRun = command.dryRun
    let existing = try command.storeOptions.existing()
    self.existing = existing
    let new = try NewLogbook(timezone: command.timezone)
    self.new = new
    self.output = command.quiet || command.json ? nil : output
    options = ExportOptions(
      zone: try new.zone(of: existing), now: try TrustedClock.now(after: existing?.lastSuccess(), output))
    options.isInterrupted = { SignalFlag.isRaised }
    options.zoneIsGiven = command.timezone != nil
    options.format = command.format
    options.unit = command.unit
    options.dateOrder = command.dateOrder
    options.lastLineIsComplete = command.lastLine != nil
    options.device = command.device
    options.kind = command.kind.flatMap { ReadingKind(name: $0) }
    options.columns = try command.columns()
    options.rows = try command.rowFilters()
    options.force = command.force
    options.commandStart = command.start
  }

  /// The store as it is; nil before it is created.
  var present: Store? { opened ?? existing }

  /// The store to write to: for a dry run, a temporary copy.
  func store() throws -> Store {
    if let opened { return opened }
    let store =
      try isDryRun
      ? Store.scratch(
        copyOf: existing, zone: new.zone, isGiven: new.isGiven, isForImport: new.isOfCommand)
      : new.openOrCreate(path, .importer, output)
    if isDryRun { try new.complete(store) }
    existing = nil
    opened = store
    return store
  }

  /// Ends the import: a later import no longer decides the zone of a new logbook.
  func finish() throws { try opened?.endFirstImport() }
}
