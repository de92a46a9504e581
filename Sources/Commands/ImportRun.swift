// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// Imports files one after the other: named files, the members of archives, and the files of folders.
///
/// A file that cannot be read does not stop the others. Members of archives and files of folders that are not
/// exports are listed, and are not a failure. A store that fails stops all, since it would fail for each file.
final class ImportRun {
  private let command: ImportCommand
  private let output: Output
  private let target: ImportTarget
  private let rejectsFile: RejectsFile?
  private var tallies: [String: FolderTally] = [:]
  /// The exit status of each input.
  private(set) var statuses: [ExitStatus] = []
  private var wasInterrupted = false
  private var storeHasFailed = false
  /// The maximum number of members of one archive that are named. Apple Health's has thousands.
  private static let maxNamed = 10
  private var passedOver = 0

  init(_ command: ImportCommand, _ target: ImportTarget, _ rejectsFile: RejectsFile?, _ output: Output) {
    self.command = command
    self.target = target
    self.rejectsFile = rejectsFile
    self.output = output
  }

  /// Imports everything, and prints the results of the folders.
  func run(_ paths: ImportPaths) throws {
    for folder in paths.folders { tallies[folder] = FolderTally() }
    for (index, place) in paths.places.enumerated() {
      try importAll(of: place)
      if storeHasFailed { break }
      guard let signal = SignalFlag.signal else { continue }
      // An input that was completely stored before the signal keeps its own status.
      if wasInterrupted || index < paths.places.count - 1 { statuses.append(ExitStatus(signal: signal)) }
      break
    }
    if command.quiet || command.json { return }
    for folder in paths.folders {
      for line in tallies[folder]?.lines(of: folder, isDryRun: command.dryRun) ?? [] {
        command.show(line, output)
      }
    }
  }

  /// Imports every input of a file.
  private func importAll(of place: ImportPaths.FoundInput) throws {
    if place.folder == nil, place.path != "-", let store = StoreImport(command, place.path, target, output) {
      return try reporting { try store.run() }
    }
    var inputs: ExportInputs?
    try reporting {
      let interrupted: @Sendable () -> Bool = { SignalFlag.isRaised }
      inputs =
        try place.path == "-"
        ? ExportInputs(descriptor: command.standardInput, name: "-", isInterrupted: interrupted)
        : ExportInputs(
          path: place.path, passesOver: place.folder != nil, isInterrupted: interrupted)
      return nil
    }
    guard let inputs else { return }
    let before = statuses.count
    passedOver = 0
    let hasExport = try importEach(of: inputs, place)
    if SignalFlag.isRaised || storeHasFailed { return }
    if passedOver > Self.maxNamed, !command.quiet, let part = inputs.container?.part {
      output.message(
        "\(displayed(place.path)): \(counted(passedOver - Self.maxNamed, "more \(part)")) not imported")
    }
    if let container = inputs.container, place.folder == nil, !hasExport, statuses.count == before {
      output.failure(
        "glucoport: \(displayed(place.path)): no \(container.part) of this \(container.rawValue) is an export that glucoport reads",
        .badInput)
      statuses.append(.badInput)
    }
  }

  /// Imports the inputs of a file, and those of the spreadsheets among the members of an archive.
  ///
  /// - Parameter others: the comparison with other members of the archive.
  /// - Returns: whether any of them is an export.
  private func importEach(
    of inputs: ExportInputs, _ place: ImportPaths.FoundInput, comparedWith others: PartComparison? = nil
  ) throws -> Bool {
    var hasExport = false
    let comparison = others ?? (inputs.count > 1 ? PartComparison(target.options) : nil)
    for index in 0..<inputs.count {
      if index > 0, SignalFlag.isRaised {
        wasInterrupted = true
        break
      }
      if storeHasFailed { break }
      try reporting {
        switch try inputs.open(index, options: target.options) {
        case .export(let reader):
          hasExport = true
          // A table is read twice, since its first reading shows whether it is one series with those before it.
          if reader.format == "generic", let comparison,
            case .export(let trial) = try inputs.open(index, options: target.options)
          {
            try comparison.requireOneSeries(trial)
          }
          return try importOne(reader, place)
        case .spreadsheet(let sheets):
          if try importEach(of: sheets, place, comparedWith: comparison) { hasExport = true }
        case .unread(let name, let reason): pass(over: name, reason, place)
        }
        return nil
      }
    }
    return hasExport
  }

  /// Records the status of a piece of work; nil adds none.
  private func reporting(_ work: () throws -> ExitStatus?) throws {
    do {
      if let status = try work() { statuses.append(status) }
    } catch let interruption as ImportInterruption {
      wasInterrupted = true
      let status = SignalFlag.signal.map(ExitStatus.init(signal:)) ?? .interrupted
      output.failure("glucoport: \(ImportSummary.line(interruption, isDryRun: command.dryRun))", status)
    } catch let failure as Failure {
      let signal = SignalFlag.signal
      let isInterrupted = signal != nil
      wasInterrupted = wasInterrupted || isInterrupted
      storeHasFailed = target.isReason(for: failure)
      let status = signal.map(ExitStatus.init(signal:)) ?? ExitStatus(failure.category)
      output.failure("glucoport: \(failure.message)" + (isInterrupted ? "; nothing was stored" : ""), status)
      if !isInterrupted { statuses.append(status) }
    }
  }

  /// Handles a member or a file that is not an export: counted in a folder, otherwise named.
  private func pass(over name: String, _ reason: String, _ place: ImportPaths.FoundInput) {
    if let folder = place.folder {
      tallies[folder]?.passOver(reason)
      return
    }
    passedOver += 1
    if !command.quiet, passedOver <= Self.maxNamed {
      output.message("\(displayed(name)): not imported: \(displayed(reason))")
    }
  }

  private func importOne(_ reader: InputReader, _ place: ImportPaths.FoundInput) throws -> ExitStatus {
    var reader = reader
    if !command.yes { try InputPerson(reader, place.path, target).require() }
    let others = try command.yes ? nil : OthersMeters(target.path)
    // Both keep one transaction open until the end of the input, for which a pipe may take any time.
    if command.strict || others != nil { try reader.spool() }
    let name = reader.name
    let meter = ProgressMeter(output, isQuiet: command.quiet)
    let session = ImportSession(
      policy: command.policy, clock: Host.now,
      onProgress: { meter.show(ImportCommand.progress(name, $0, $1)) },
      onRejection: { [rejectsFile] in try rejectsFile?.add($0, header: $1) },
      isInterrupted: { SignalFlag.isRaised },
      onDevices: others.map { others in { try others.requireNone(of: $0, in: name, place.path) } })
    return try command.namingRejections(output) {
      let report: ImportReport
      do {
        report = try session.run(reader, into: target.store)
      } catch {
        meter.clear()
        throw error
      }
      meter.clear()
      if let folder = place.folder, !command.json {
        tallies[folder]?.add(report)
        command.showDoubles(
          of: report, try ImportDoubles(report.ingest, report.counts, target.store()), output)
        return command.reportProblems(report, output)
      }
      return try command.show(report, in: target.store, output)
    }
  }
}

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
  private var cannotOpen = false

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
    cannotOpen = true
    let store =
      try isDryRun
      ? Store.scratch(
        copyOf: existing, zone: new.zone, isGiven: new.isGiven, isForImport: new.isOfCommand)
      : new.openOrCreate(path, .importer, output)
    if isDryRun { try new.complete(store) }
    existing = nil
    opened = store
    cannotOpen = false
    return store
  }

  /// Whether the store itself failed, not an input.
  func isReason(for failure: Failure) -> Bool {
    cannotOpen || failure.store != nil && failure.store == (present?.path ?? path)
  }

  /// Ends the import: a later import no longer decides the zone of a new logbook.
  func finish() throws { try opened?.endFirstImport() }
}

/// The sum of the results for the files of a folder.
struct FolderTally {
  private var inputs = 0
  private var counts = IngestCounts()
  private var formats: [String: Int] = [:]
  private var reasons: [String: Int] = [:]
  private var duplicates: [String: Int] = [:]

  /// Adds the results of an input.
  mutating func add(_ report: ImportReport) {
    inputs += 1
    formats[report.format, default: 0] += 1
    counts += report.counts
    for duplicate in report.likelyDuplicates {
      let pair = "\(displayed(duplicate.device)) and \(displayed(duplicate.other))"
      duplicates[pair, default: 0] += duplicate.readings
    }
  }

  /// Counts a file that is not an export.
  mutating func passOver(_ reason: String) { reasons[reason, default: 0] += 1 }

  /// The summary as text.
  func lines(of folder: String, isDryRun: Bool) -> [String] {
    let passedOver = reasons.values.reduce(0, +)
    let kinds = formats.keys.sorted().map { "\($0) \(grouped(formats[$0] ?? 0))" }.joined(separator: ", ")
    var title = "\(displayed(folder)): \(counted(inputs, "export"))"
    if !kinds.isEmpty { title += " (\(kinds))" }
    if passedOver > 0 { title += ", \(counted(passedOver, "other file"))" }
    var lines = [title]
    if inputs > 0 {
      lines += ImportSummary.lines(counts)
      if let notTaken = ImportSummary.notTaken(counts.notTaken) { lines.append(notTaken) }
      if let skipped = ImportSummary.skipped(counts) { lines.append(skipped) }
    }
    lines += duplicates.keys.sorted().map {
      "likely the same readings: \(grouped(duplicates[$0] ?? 0)) of \($0)"
    }
    let sorted = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    lines += sorted.map { "not read: \(counted($0.value, "file")): \(displayed($0.key))" }
    if isDryRun { lines.append("preview: nothing was stored") }
    return lines.enumerated().map { $0.offset == 0 ? $0.element : "  " + $0.element }
  }
}
