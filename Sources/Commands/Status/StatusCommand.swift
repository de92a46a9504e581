// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport status`: the content of the store, and the pending items.
struct StatusCommand: PersonVisitor {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what the store holds and what is pending.",
    discussion: helpText(
      examples: "glucoport status",
      "glucoport status --check --max-age 36h --max-reading-age 7d --quiet"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Follow a running upload to its end.")
  var watch = false

  @Flag(help: "Report what needs attention, on standard error and by the exit status.")
  var check = false

  @Option(
    help: ArgumentHelp(
      "With --check: report items pending, and a remote without a successful upload, for longer than this.",
      valueName: "time"))
  var maxAge: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "With --check: report when the newest reading is older than this: 7d, 4w, 36h.", valueName: "span"),
    transform: SpanArgument.parse)
  var maxReadingAge: SpanArgument?

  @Option(
    help: ArgumentHelp(
      "With --check: report when the last 'glucoport backup' is older than this: 7d, 4w, 36h.",
      valueName: "span"),
    transform: SpanArgument.parse)
  var maxBackupAge: SpanArgument?

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "With --check: do not report this finding. May be repeated.", valueName: "word"))
  var ignore: [StatusFinding.Word] = []

  @Option(
    help: ArgumentHelp(
      "With --check: print the result for this monitoring program.", valueName: "format"))
  var format: StatusFormat?

  @Flag(help: "With --check: print only problems.")
  var quiet = false

  var needsNoHeading: Bool { quiet || json || format != nil }

  func validateForSeveral() throws {
    if watch { throw Failure(.usage, "--watch follows one store; choose a person with --person") }
    if format != nil { throw Failure(.usage, "--format reports one store; choose a person with --person") }
  }

  func validate() throws {
    if !check,
      maxAge != nil || maxReadingAge != nil || maxBackupAge != nil || quiet || !ignore.isEmpty
        || format != nil
    {
      throw ValidationError(
        "--max-age, --max-reading-age, --max-backup-age, --ignore, --format and --quiet need --check.")
    }
    if format != nil, json || quiet { throw ValidationError("Use --format without --json and --quiet.") }
    if json, quiet { throw ValidationError("Use only one of --json and --quiet.") }
    if watch, json || check { throw ValidationError("Use --watch without --json and --check.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    if watch {
      try StatusWatch(store: store, output: output).run()
      return try output.finish()
    }
    let overview = try store.overview(ingests: 3)
    let contents = try store.attachmentBacklog()
    let sync = try store.syncOverview(overview, pendingContents: contents.pending(for: store.remote()))
    let now = Host.now()
    let zone = try store.timezone()
    let newest = try maxReadingAge.flatMap { span in
      try StatsQuery(store: store, device: nil, zone: zone, now: now).newestReading()
        .map { (time: $0.utc, maxAge: span.seconds) }
    }
    let sources = try store.sourcesWithHoles()
    let findings = StatusCheck(
      overview: overview, sync: sync, contents: contents, unsendable: try store.unsendableRecords(),
      clocks: try store.meterClocks(now: now),
      zone: zone, maxAge: maxAge.map { Int64($0.seconds) }, newestReading: newest,
      lastBackup: try maxBackupAge.map {
        (time: try BackupNotes(storePath: store.path).notes().last?.madeAt, maxAge: $0.seconds)
      },
      sources: sources, ignored: Set(ignore),
      now: now
    ).findings
    var text = StatusText(
      path: PathText.shown(store.path), overview: overview, sync: sync, contents: contents)
    text.sources = sources
    text.zone = zone
    if !check || json { text.leftOut = try LeftOutCount.recent(store) }
    if let format { return try report(text, findings, format, output) }
    if json {
      try output.json(StatusObject(text, findings))
    } else if !quiet {
      for line in text.lines { output.line(line) }
    }
    try output.finish()
    if check { try report(findings, output) }
  }

  /// Ends with the status that the monitoring program expects. Metrics contain the findings themselves.
  private func report(
    _ text: StatusText, _ findings: [StatusFinding], _ format: StatusFormat, _ output: Output
  ) throws {
    switch format {
    case .prometheus:
      for line in StatusMetrics(text: text, findings: findings).lines { output.line(line) }
      try output.finish()
    case .nagios:
      let plugin = StatusPlugin(text: text, findings: findings)
      output.line(plugin.line)
      try output.finish()
      if plugin.status != .done { throw plugin.status }
    }
  }

  /// Ends with the status of the worst finding.
  private func report(_ findings: [StatusFinding], _ output: Output) throws {
    for finding in findings { output.message("glucoport: \(finding.line)") }
    let status = ExitStatus.of(findings.map(\.status))
    if status != .done { throw status }
  }
}
