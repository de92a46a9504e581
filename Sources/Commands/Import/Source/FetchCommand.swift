// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import USBTransport

/// `glucoport fetch`: imports new items from the sources of the store.
struct FetchCommand: AsyncParsableCommand, PersonVisitor {
  static let actionClass = ActionClass.immediate
  static let keepsPartialWork = true
  static let configuration = CommandConfiguration(
    "fetch", "Import what the sources of the store have.",
    """
    'glucoport source set' names a source. Nothing is stored twice, and nothing is written to a source. \
    A job may run it at any rate: each source has its interval, and is left alone after a failure.
    """,
    examples: "glucoport fetch", "glucoport fetch --unattended --quiet --max-time 10m")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: ArgumentHelp("The sources; default: all of the store.", valueName: "name"))
  var names: [String] = []

  @Flag(help: "Try at once after a failure, too; only a wait that the source asked for still holds.")
  var now = false

  @Flag(help: "For cron: fetch only when the interval has passed; end with 75 if a source cannot be reached.")
  var unattended = false

  @Option(
    help: ArgumentHelp("Stop after this time: 90s, 10m or 1h. The next run continues.", valueName: "time"))
  var maxTime: DurationArgument?

  @Flag(help: "Print one JSON object for each source.")
  var json = false

  @Flag(
    help:
      "Print nothing on success; with --unattended also nothing on temporary failures, and lasting ones once."
  )
  var quiet = false

  var needsNoHeading: Bool { quiet || json }

  func validateForSeveral() throws {
    if !names.isEmpty {
      throw Failure(.usage, "sources are of one person; choose the person with --person")
    }
  }

  func reasonToSkip(_ store: Store) throws -> String? {
    try store.sources().isEmpty ? "no source; 'glucoport source set' names one" : nil
  }

  func run() async throws {
    let output = Output()
    Host.keepFilesPrivate()
    let path = try storeOptions.path
    _ = try storeOptions.open(.reader).requireSources(names)
    guard let lock = try UploadLock.acquire(storePath: path, for: .fetch) else {
      if unattended, quiet { throw ExitStatus.temporary }
      throw Failure(.temporary, "\(path): another fetch of this store is running; try again later")
    }
    defer { lock.release() }
    let store = try storeOptions.open(.importer)
    SignalFlag.watch(endsOnSecond: true)
    // The sources are read again with the lock held, since another fetch may have changed their states in the
    // meantime.
    let settings = try store.requireSources(names)
    let end = maxTime.map { ContinuousClock.now + .seconds($0.seconds) }
    let run = FetchRun(store: store, isUnattended: unattended, isNow: now, end: end)
    var statuses: [ExitStatus] = []
    for setting in settings {
      if let signal = SignalFlag.signal { throw ExitStatus(signal: signal) }
      if let end, ContinuousClock.now >= end {
        statuses.append(.temporary)
        break
      }
      statuses.append(try await fetch(setting, run, output))
      // A program that reads the output gets the line about each source as soon as the source is done.
      guard output.writeBuffer() else { break }
    }
    try output.finish()
    try ExitStatus.of(statuses).end()
  }

  /// Fetches from one source, and prints the result. A failure does not stop the fetches from the others.
  private func fetch(_ setting: SourceSetting, _ run: FetchRun, _ output: Output) async throws -> ExitStatus {
    let (ending, state): (FetchRun.Ending, SourceState)
    do {
      (ending, state) = try await run.run(setting)
    } catch let failure as Failure {
      if let signal = SignalFlag.signal { throw ExitStatus(signal: signal) }
      let status = ExitStatus(failure.category)
      output.failure("glucoport: \(failure.message)", status)
      return status
    }
    let zone = try run.store.timezone()
    if json {
      try output.json(FetchObject(setting, ending, state))
    } else if !quiet, let line = FetchText.line(setting, ending) {
      output.line(line)
      if case .stored(let counts) = ending {
        for duplicate in counts.likelyDuplicates { output.line("  \(ImportSummary.line(duplicate))") }
      }
    }
    switch ending {
    case .failed(let failure, let isKnown): return report(failure, isKnown: isKnown, output)
    case .notDue, .unchanged: break
    case .stored(let counts):
      for doubt in counts.doubts { output.message("glucoport: \(displayed(setting.name)): \(doubt)") }
      if !quiet { for line in FetchText.remarks(setting, counts) { output.message(line) } }
      if counts.rejected > 0, !unattended { return showHoles(state, setting, zone, output, .partial) }
    }
    return showHoles(state, setting, zone, output, .done)
  }

  private func report(_ failure: Failure, isKnown: Bool, _ output: Output) -> ExitStatus {
    let isSilent = unattended && quiet && (failure.category.isTemporary || isKnown)
    let status = ExitStatus(failure.category, isUnattended: unattended)
    if !isSilent { output.failure("glucoport: \(failure.message)", status) }
    return status
  }

  /// Prints the holes of the source that were not known before this run, and returns `status`. A hole is a
  /// time whose sensor values the source no longer has.
  private func showHoles(
    _ state: SourceState, _ setting: SourceSetting, _ zone: LogbookZone, _ output: Output,
    _ status: ExitStatus
  ) -> ExitStatus {
    for hole in state.holes where !setting.state.holes.contains(hole) {
      // If an import filled a part of a known hole, the remaining part is not new.
      let isRest = setting.state.holes.contains { $0.from <= hole.from && hole.until <= $0.until }
      if !isRest { output.message("glucoport: \(SourceText.line(hole, of: setting, in: zone))") }
    }
    return status
  }
}

extension Store {
  /// The sources with these names; for an empty list, all sources.
  ///
  /// - Throws: `Failure`: `configuration` if the store has no source, `missingInput` for an unknown name.
  func requireSources(_ names: [String] = []) throws -> [SourceSetting] {
    let all = try sources()
    guard !all.isEmpty else {
      throw Failure(.configuration, "\(path): the store has no source; set one with 'glucoport source set'")
    }
    if names.isEmpty { return all }
    for name in names where !all.contains(where: { $0.name == name }) {
      throw Failure(
        .missingInput,
        "\(path): no source '\(displayed(name))'; there \(all.count == 1 ? "is" : "are") \(alternatives(all.map(\.name)))"
      )
    }
    return all.filter { names.contains($0.name) }
  }
}

/// The texts about the result of a fetch.
enum FetchText {
  /// The line on standard output. It is nil for a failure, which is printed on standard error.
  static func line(_ setting: SourceSetting, _ ending: FetchRun.Ending) -> String? {
    let name = displayed(setting.name)
    switch ending {
    case .failed: return nil
    case .unchanged: return "\(name): nothing new"
    case .notDue(let next): return "\(name): not due before \(instant(next))"
    case .stored(let counts):
      if counts.isNothingUsed, counts.rejected == 0 { return "\(name): the source has no readings" }
      var parts = ["new \(grouped(counts.newReadings))", "known \(grouped(counts.knownReadings))"]
      if counts.changedReadings > 0 {
        parts.append("changed at the source \(grouped(counts.changedReadings))")
      }
      let records = counts.newRecords + counts.knownRecords + counts.updatedRecords
      if records > 0 {
        parts.append("records new \(grouped(counts.newRecords))")
        if counts.updatedRecords > 0 { parts.append("updated \(grouped(counts.updatedRecords))") }
      }
      if counts.rejected > 0 { parts.append("rejected \(grouped(counts.rejected))") }
      return "\(name): " + parts.joined(separator: " · ")
    }
  }

  /// The lines for standard error about a successful fetch that a person should know, such as rejected items.
  static func remarks(_ setting: SourceSetting, _ counts: FetchRun.AnswerCounts) -> [String] {
    let name = displayed(setting.name)
    var lines = counts.rejections.prefix(5).map { "\(name):\($0.line): \(displayed($0.reason))" }
    if counts.rejected > lines.count, !lines.isEmpty {
      lines.append("\(name): and \(counted(counts.rejected - lines.count, "more rejected item"))")
    }
    if counts.otherValues > 0 {
      lines.append(
        "glucoport: \(name): \(counted(counts.otherValues, "value differs", "values differ")) from the stored ones of the same time, which are kept"
      )
    }
    if counts.hasMore { lines.append("glucoport: \(name): there is more; the next fetch continues") }
    return lines
  }
}

/// The result of a fetch for `fetch --json`; glucoport-json(5) documents the members.
private struct FetchObject: Encodable {
  let source: String
  let type: String
  let result: String
  let newReadings: Int
  let knownReadings: Int
  let changedReadings: Int
  let newRecords: Int
  let knownRecords: Int
  let updatedRecords: Int
  let rejected: Int
  let hasMore: Bool
  let newestValue: String?
  let nextAttempt: String?
  let lastSuccess: String?
  let error: String?
  let status: Int32?
  let holes: [HoleObject]

  init(_ setting: SourceSetting, _ ending: FetchRun.Ending, _ state: SourceState) {
    (source, type) = (setting.name, setting.access.type)
    var counts = FetchRun.AnswerCounts()
    var failure: Failure?
    switch ending {
    case .stored(let stored): (result, counts) = ("stored", stored)
    case .unchanged: result = "unchanged"
    case .notDue: result = "not-due"
    case .failed(let reason, _): (result, failure) = ("failed", reason)
    }
    newReadings = counts.newReadings
    knownReadings = counts.knownReadings
    changedReadings = counts.changedReadings
    newRecords = counts.newRecords
    knownRecords = counts.knownRecords
    updatedRecords = counts.updatedRecords
    rejected = counts.rejected
    hasMore = counts.hasMore
    newestValue = state.newestValue.map(instant)
    nextAttempt = state.nextAttempt.map(instant)
    lastSuccess = state.lastSuccess.map(instant)
    error = failure?.message
    status = failure.map { ExitStatus($0.category).rawValue }
    holes = state.holes.map(HoleObject.init)
  }
}
