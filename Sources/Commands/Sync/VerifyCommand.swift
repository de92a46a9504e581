// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Remotes
import Sync

/// `glucoport verify`: compares the store with the logbook on the server.
struct VerifyCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "verify", "Compare the store with the server.",
    """
    Lists every reading and record that differs. Nothing is changed on either side without \
    --fix.
    """,
    examples: "glucoport verify", "glucoport verify --fix")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(
    help: "Queue again what the remote lacks or was changed here, and download what is missing or different.")
  var fix = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing if there are no differences.")
  var quiet = false

  func run() async throws {
    let output = Output()
    let store = try storeOptions.open(fix ? .sync : .reader)
    _ = try store.requireRemote()
    guard let lock = try UploadLock.acquire(storePath: store.path) else {
      throw Failure(.temporary, "\(store.path): an upload of this store is running; try again later")
    }
    defer { lock.release() }
    // The setting is read with the lock held, since a person may have changed the remote meanwhile.
    let setting = try store.requireRemote()
    try setting.refusePurged()
    let meter = ProgressMeter(output, isQuiet: quiet || json)
    defer { meter.clear() }
    let summary = try await setting.access.connect(in: store.timezone()) { remote in
      guard let session = VerifySession(store, remote, named: setting.access.url) else {
        throw Failure(
          .configuration,
          "\(setting.access.url): this kind of server has no digests, so it cannot be compared with a store"
        )
      }
      meter.show("comparing…")
      session.onProgress = { meter.show("compared \($0) of \(counted($1, "reading", "readings"))") }
      try await session.compare()
      if fix { try FailureAfterRemoteChange.wrapFailures { try session.fix(at: Host.now()) } }
      return session.summary
    }
    meter.clear()
    try FailureAfterRemoteChange.wrapFailures { try show(summary, output) }
  }

  private func show(_ summary: VerifySummary, _ output: Output) throws {
    if json {
      try output.json(VerifyObject(summary, isFixed: fix))
    } else if !quiet || summary.differences > 0 {
      for line in VerifyText.lines(summary, isFixed: fix) { output.line(line) }
    }
    try output.finish()
    try ExitStatus.of(summary, isFixed: fix).end()
  }
}

/// The results of a comparison for `verify --json`; glucoport-json(5) documents the members.
struct VerifyObject: Encodable {
  let outcome: String
  let missingThereReadings: Int
  let missingThereRecords: Int
  let missingHereReadings: Int
  let missingHereRecords: Int
  let differentRecords: Int
  let alteredRecords: Int
  let notPulled: Int
  let requeuedReadings: Int
  let requeuedRecords: Int
  let fetchedReadings: Int
  let fetchedRecords: Int
  let unfixed: Int
  let differences: [FoundDifference]

  init(_ summary: VerifySummary, isFixed: Bool) {
    outcome = summary.differences == 0 ? "equal" : isFixed && summary.unfixed == 0 ? "fixed" : "different"
    missingThereReadings = summary.readings[.missingOnRemote] ?? 0
    missingThereRecords = summary.records[.missingOnRemote] ?? 0
    missingHereReadings = summary.readings[.missingLocally] ?? 0
    missingHereRecords = summary.records[.missingLocally] ?? 0
    differentRecords = summary.records[.different] ?? 0
    alteredRecords = summary.records[.altered] ?? 0
    notPulled = summary.notPulled
    requeuedReadings = summary.requeuedReadings
    requeuedRecords = summary.requeuedRecords
    fetchedReadings = summary.fetchedReadings
    fetchedRecords = summary.fetchedRecords
    unfixed = summary.unfixed
    differences = summary.listed
  }
}

/// The texts about a comparison. They contain no values, serial numbers or texts of records.
enum VerifyText {
  static func lines(_ summary: VerifySummary, isFixed: Bool) -> [String] {
    var lines = summary.listed.map(line)
    let rest = summary.differences - summary.listed.count
    if rest > 0 { lines.append("and \(grouped(rest)) more") }
    lines.append(total(summary))
    if summary.notPulled > 0 {
      lines.append(
        "\(counted(summary.notPulled, "item is", "items are")) not downloaded yet; use 'glucoport upload', with --all for older readings that were skipped"
      )
    }
    if isFixed, summary.differences > 0 { lines.append(contentsOf: outcome(summary)) }
    return lines
  }

  private static func total(_ summary: VerifySummary) -> String {
    if summary.differences == 0 { return "no differences" }
    let parts = FoundDifference.DifferenceKind.allCases.compactMap { kind -> String? in
      let (readings, records) = (summary.readings[kind] ?? 0, summary.records[kind] ?? 0)
      return readings + records == 0 ? nil : "\(words(kind)) \(amount(readings, records))"
    }
    return parts.joined(separator: " · ")
  }

  /// Lines about what this run has changed, and what the next upload will change.
  private static func outcome(_ summary: VerifySummary) -> [String] {
    var lines: [String] = []
    if summary.fetchedReadings + summary.fetchedRecords > 0 {
      lines.append("downloaded \(amount(summary.fetchedReadings, summary.fetchedRecords))")
    }
    if summary.requeuedReadings + summary.requeuedRecords > 0 {
      lines.append(
        "queued again \(amount(summary.requeuedReadings, summary.requeuedRecords)); 'glucoport upload' sends them"
      )
    }
    if summary.unfixed > 0 {
      lines.append(
        "\(counted(summary.unfixed, "difference")) could not be fixed; run 'glucoport upload', then 'glucoport conflict list' shows what needs a decision"
      )
    }
    return lines
  }

  private static func line(_ difference: FoundDifference) -> String {
    let (what, time): (String, DeviceTime) =
      switch difference.item {
      case .reading(let kind, let device, let time):
        ("\(kind.name)  \(displayed(device.model.isEmpty ? device.vendor : device.model))", time)
      case .record(let kind, let guid, let time): ("\(kind.rawValue)  \(displayed(guid))", time)
      }
    return "\(words(difference.kind)): \(time.text.replacing("T", with: " "))  \(what)"
  }

  private static func words(_ kind: FoundDifference.DifferenceKind) -> String {
    switch kind {
    case .missingOnRemote: "missing on the remote"
    case .missingLocally: "missing here"
    case .different: "different on the remote"
    case .altered: "changed here by another program"
    }
  }

  private static func amount(_ readings: Int, _ records: Int) -> String {
    "\(counted(readings, "reading")), \(counted(records, "record"))"
  }
}
