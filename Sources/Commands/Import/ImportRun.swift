// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// Imports several inputs one after the other: named files, members of archives, and files in folders.
///
/// If a file cannot be read, the others are still imported. Members and files that are not exports are
/// listed, which is not a failure. If the store fails, the run ends, since every further file would fail,
/// too.
final class ImportRun {
  private let command: ImportCommand
  private let output: Output
  private let target: ImportTarget
  private let rejectsFile: RejectsFile?
  private var tallies: [String: FolderTally] = [:]
  /// The exit status of each input so far.
  private(set) var statuses: [ExitStatus] = []
  private var wasInterrupted = false
  private var storeHasFailed = false
  /// The maximum number of members of one archive that are listed as not imported. An archive of Apple Health
  /// has thousands of such members.
  private static let maxNamed = 10
  private var skippedCount = 0
  /// The imports of the sheets of the current workbook so far.
  private var sheetIngests: [Int64] = []

  init(_ command: ImportCommand, _ target: ImportTarget, _ rejectsFile: RejectsFile?, _ output: Output) {
    self.command = command
    self.target = target
    self.rejectsFile = rejectsFile
    self.output = output
  }

  /// Imports all files, and then prints the results for each folder.
  func run(_ paths: ImportPaths) throws {
    for folder in paths.folders { tallies[folder] = FolderTally() }
    for (index, place) in paths.places.enumerated() {
      try importAll(of: place)
      if storeHasFailed { break }
      guard let signal = SignalFlag.signal else { continue }
      // If the signal came after the last input was completely stored, the status is that of the input.
      if wasInterrupted || index < paths.places.count - 1 { statuses.append(ExitStatus(signal: signal)) }
      break
    }
    for folder in paths.folders {
      for line in tallies[folder]?.warningLines ?? [] { output.message(line) }
    }
    if command.quiet || command.json { return }
    for folder in paths.folders {
      for line in tallies[folder]?.lines(of: folder, isDryRun: command.dryRun) ?? [] {
        command.show(line, output)
      }
    }
  }

  /// Imports every export that a file contains.
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
          path: place.path, skipsUnrecognised: place.folder != nil, isInterrupted: interrupted)
      return nil
    }
    guard let inputs else { return }
    let before = statuses.count
    skippedCount = 0
    let hasExport = try importEach(of: inputs, place)
    if SignalFlag.isRaised || storeHasFailed { return }
    if skippedCount > Self.maxNamed, !command.quiet, let part = inputs.container?.part {
      output.message(
        "\(displayed(place.path)): \(counted(skippedCount - Self.maxNamed, "more \(part)")) not imported")
    }
    if let container = inputs.container, place.folder == nil, !hasExport, statuses.count == before {
      output.failure(
        "glucoport: \(displayed(place.path)): no \(container.part) of this \(container.rawValue) is an export that glucoport reads",
        .badInput)
      statuses.append(.badInput)
    }
  }

  /// Imports every export in an archive or workbook. A workbook may itself be a member of an archive.
  ///
  /// - Parameter others: the comparison with the earlier tables of the enclosing archive; nil if the file is
  ///   not in an archive.
  /// - Returns: whether at least one input is an export.
  private func importEach(
    of inputs: ExportInputs, _ place: ImportPaths.FoundInput, comparedWith others: PartComparison? = nil
  ) throws -> Bool {
    var hasExport = false
    let comparison = others ?? (inputs.count > 1 ? PartComparison(target.options) : nil)
    sheetIngests = []
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
          // The table is read once before the import, to find out whether it continues the series of the
          // tables before it.
          if reader.format == "generic", let comparison,
            case .export(let trial) = try inputs.open(index, options: target.options)
          {
            try comparison.requireOneSeries(trial)
          }
          return try importOne(reader, place, isSheet: inputs.container == .spreadsheet)
        case .spreadsheet(let sheets):
          if try importEach(of: sheets, place, comparedWith: comparison) { hasExport = true }
        case .unread(let name, let reason): reportSkipped(name, reason, place)
        }
        return nil
      }
    }
    return hasExport
  }

  /// Runs the import of one input, and stores its exit status unless it is nil. A failure is printed.
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

  /// Reports an input that is not an export. An input in a folder is counted; the name of any other input is
  /// printed.
  private func reportSkipped(_ name: String, _ reason: String, _ place: ImportPaths.FoundInput) {
    if let folder = place.folder {
      tallies[folder]?.countSkipped(reason)
      return
    }
    skippedCount += 1
    if !command.quiet, skippedCount <= Self.maxNamed {
      output.message("\(displayed(name)): not imported: \(displayed(reason))")
    }
  }

  /// Warns of finger sticks, doses and meals that may be another person's, if neither the options nor the
  /// input states whose they are.
  ///
  /// - Parameter doses: the doses and meals of a table whose columns a person named.
  private func warnOfOthersItems(_ report: ImportReport, _ doses: DoseTable) throws {
    guard !command.yes, command.device == nil, !report.statesPerson else { return }
    let store = try target.store()
    let warning =
      try OthersSticks(report, in: store)?.warning(in: store)
      ?? OthersDoses(report, doses, in: store)?.warning(in: store)
    if let warning { output.message("\(displayed(report.source)): \(warning)") }
  }

  /// Warns if doses or meals were not stored because an earlier import read another column of the same file.
  private func warnOfOtherColumns(_ report: ImportReport) throws {
    guard !command.map.isEmpty, let other = try OtherColumns(report, in: target.store()) else { return }
    let count = report.counts.knownRecords + report.counts.keptRecords
    output.message(
      "\(displayed(report.source)): \(counted(count, "record")) not stored: import \(other.ingest) read another column of this "
        + "file and has records at the same times. To import both columns: glucoport undo \(report.ingest), "
        + "glucoport undo \(other.ingest), then import --map \(other.map.shellWord)")
  }

  /// Imports one input.
  ///
  /// - Parameter isSheet: whether the input is one of several sheets of a workbook.
  private func importOne(
    _ reader: InputReader, _ place: ImportPaths.FoundInput, isSheet: Bool
  ) throws -> ExitStatus {
    var reader = reader
    if !command.yes { try InputPerson(reader, place.path, target).require() }
    let others = try command.yes ? nil : OthersMeters(target.path)
    let stores = try command.yes ? nil : OthersStores(target.path, target.present)
    // With `--strict`, or if other persons have meters, a transaction stays open until the input ends. A pipe
    // may be slow and would keep the transaction open for long, so it is first copied to a file.
    if command.strict || others != nil { try reader.spool() }
    let name = reader.name
    let meter = ProgressMeter(output, isQuiet: command.quiet)
    var policy = command.policy
    if isSheet { policy.earlierSheets = sheetIngests }
    var doses = DoseTable()
    let keepsDoses = !command.map.isEmpty
    let session = ImportSession(
      policy: policy, clock: Host.now,
      onProgress: { meter.show(ImportCommand.progress(name, $0, $1)) },
      onRejection: { [rejectsFile] in try rejectsFile?.add($0, header: $1) },
      isInterrupted: { SignalFlag.isRaised },
      onDevices: others.map { others in
        { try others.requireNone(of: $0, in: name) { $0.hint(toImport: place.path) } }
      },
      onFirstBatch: stores == nil && !keepsDoses
        ? nil
        : { batch, format in
          try stores?.requireNone(of: batch, format: format, in: name) { $0.hint(toImport: place.path) }
          if keepsDoses { doses.add(batch.records) }
        })
    return try command.namingRejections(output) {
      let report: ImportReport
      do {
        report = try session.run(reader, into: target.store)
      } catch {
        meter.clear()
        throw error
      }
      meter.clear()
      if isSheet { sheetIngests.append(report.ingest) }
      try warnOfOthersItems(report, doses)
      try warnOfOtherColumns(report)
      if let folder = place.folder, !command.json {
        tallies[folder]?.add(report, isQuiet: command.quiet)
        command.showDoubles(
          of: report, try ImportDoubles(report.ingest, report.counts, target.store()), output)
        return command.reportProblems(report, output)
      }
      return try command.show(report, in: target.store, output)
    }
  }
}

/// The store, the zone and the clock of a run. They are the same for all of its inputs.
///
/// The store is opened or created only when the first input was recognised as an export.
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
    options.exportedAt = try command.exported.map { time in
      let (exported, now) = (time.instant(zone: options.zone, now: Host.now()), Host.now())
      guard exported <= now else { throw ValidationError("--exported is a time that has passed.") }
      return exported
    }
    options.commandStart = command.start
  }

  /// The store if it is open or exists; nil before it is created.
  var present: Store? { opened ?? existing }

  /// The store that gets the readings. In a dry run, it is a temporary copy.
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

  /// Whether a failure comes from the store, and not from an input.
  func isReason(for failure: Failure) -> Bool {
    cannotOpen || failure.store != nil && failure.store == (present?.path ?? path)
  }

  /// Ends the first import of a new logbook. Later imports do not change the base zone of the logbook.
  func finish() throws { try opened?.endFirstImport() }
}

/// The results for all files of one folder.
struct FolderTally {
  private var inputs = 0
  private var counts = IngestCounts()
  private var formats: [String: Int] = [:]
  private var reasons: [String: Int] = [:]
  private var duplicates: [String: Int] = [:]
  /// The warnings in the order of the inputs, and the inputs that have each of them.
  private var warnings: [(text: String, sources: [String])] = []

  /// Adds the results for one input.
  mutating func add(_ report: ImportReport, isQuiet: Bool) {
    inputs += 1
    for text in ImportSummary.warnings(report, isQuiet: isQuiet) {
      if let index = warnings.firstIndex(where: { $0.text == text }) {
        warnings[index].sources.append(report.source)
      } else {
        warnings.append((text, [report.source]))
      }
    }
    formats[report.format, default: 0] += 1
    counts += report.counts
    for duplicate in report.likelyDuplicates {
      let pair = "\(displayed(duplicate.device)) and \(displayed(duplicate.other))"
      duplicates[pair, default: 0] += duplicate.readings
    }
  }

  /// Counts a file that is not an export, with the reason.
  mutating func countSkipped(_ reason: String) { reasons[reason, default: 0] += 1 }

  /// The warnings about the inputs. Equal ones are one line, which names the first input.
  var warningLines: [String] {
    warnings.map { text, sources in
      let more = sources.count > 1 ? " and \(counted(sources.count - 1, "more export"))" : ""
      return "\(displayed(sources[0]))\(more): \(text)"
    }
  }

  /// The results as lines of text.
  func lines(of folder: String, isDryRun: Bool) -> [String] {
    let skippedCount = reasons.values.reduce(0, +)
    let kinds = formats.keys.sorted().map { "\($0) \(grouped(formats[$0] ?? 0))" }.joined(separator: ", ")
    var title = "\(displayed(folder)): \(counted(inputs, "export"))"
    if !kinds.isEmpty { title += " (\(kinds))" }
    if skippedCount > 0 { title += ", \(counted(skippedCount, "other file"))" }
    var lines = [title]
    if inputs > 0 {
      lines += ImportSummary.lines(counts)
      if let notTaken = ImportSummary.notTaken(counts.notTaken) { lines.append(notTaken) }
      if let skipped = ImportSummary.skipped(counts) { lines.append(skipped) }
      lines += ImportSummary.zoneNotes(counts)
      if let hidden = ImportSummary.hiddenNote(counts) { lines.append(hidden) }
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
