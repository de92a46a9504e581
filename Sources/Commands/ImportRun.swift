// SPDX-License-Identifier: Apache-2.0

import Formats
import Ingest
import Logbook
import USBTransport

/// Imports files one after the other: named files, the members of archives, and the files of folders.
///
/// A file that cannot be read does not stop the others. Members of archives and files of folders that are not
/// exports are listed, and are not a failure.
final class ImportRun {
  private let command: ImportCommand
  private let output: Output
  private let target: ImportTarget
  private let rejectsFile: RejectsFile?
  private var tallies: [String: FolderTally] = [:]
  /// The exit status of each input.
  private(set) var statuses: [ExitStatus] = []
  private var wasInterrupted = false
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
  private func importAll(of place: ImportPaths.Place) throws {
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
    if SignalFlag.isRaised { return }
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
  /// - Returns: whether any of them is an export.
  private func importEach(of inputs: ExportInputs, _ place: ImportPaths.Place) throws -> Bool {
    var hasExport = false
    for index in 0..<inputs.count {
      if index > 0, SignalFlag.isRaised {
        wasInterrupted = true
        break
      }
      try reporting {
        switch try inputs.open(index, options: target.options) {
        case .export(let reader):
          hasExport = true
          return try importOne(reader, place)
        case .spreadsheet(let sheets):
          if try importEach(of: sheets, place) { hasExport = true }
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
      let status = signal.map(ExitStatus.init(signal:)) ?? ExitStatus(failure.category)
      output.failure("glucoport: \(failure.message)" + (isInterrupted ? "; nothing was stored" : ""), status)
      if !isInterrupted { statuses.append(status) }
    }
  }

  /// Handles a member or a file that is not an export: counted in a folder, otherwise named.
  private func pass(over name: String, _ reason: String, _ place: ImportPaths.Place) {
    if let folder = place.folder {
      tallies[folder]?.passOver(reason)
      return
    }
    passedOver += 1
    if !command.quiet, passedOver <= Self.maxNamed {
      output.message("\(displayed(name)): not imported: \(displayed(reason))")
    }
  }

  private func importOne(_ reader: ExportReader, _ place: ImportPaths.Place) throws -> ExitStatus {
    var reader = reader
    if !command.yes { try InputPerson(reader, place.path, target).require() }
    if command.strict { try reader.spool() }
    let name = reader.name
    let meter = ProgressMeter(output, isQuiet: command.quiet)
    let session = ImportSession(
      policy: command.policy, clock: Host.now,
      onProgress: { meter.show(ImportCommand.progress(name, $0, $1)) },
      onRejection: { [rejectsFile] in try rejectsFile?.add($0, header: $1) },
      isInterrupted: { SignalFlag.isRaised })
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
        return command.showTroubles(report, output)
      }
      return try command.show(report, in: target.store, output)
    }
  }
}
