// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore

/// `glucoport status`: shows what the store contains, and which items are pending.
struct StatusCommand: PersonVisitor {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "status", "Show what the store holds and what is pending.",
    examples: "glucoport status", "glucoport status --check --max-age 36h --max-reading-age 7d --quiet")

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
      let query = try StatsQuery(store: store, device: nil, zone: zone, now: now)
      // A reading in the future has no age, so the newest one before it counts, if there is one.
      let newest = try query.newestReading(until: now + StoredAge.toleratedSeconds) ?? query.newestReading()
      return newest.map { (time: $0.utc, maxAge: span.seconds) }
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

  /// Prints the result for a monitoring program, and ends with the status that the program expects. For
  /// metrics, the status is `done`, since the metrics contain the findings.
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

  /// Prints the findings, and ends with the status of the worst one.
  private func report(_ findings: [StatusFinding], _ output: Output) throws {
    for finding in findings { output.failure("glucoport: \(finding.line)", finding.status) }
    let status = ExitStatus.of(findings.map(\.status))
    if status != .done { throw status }
  }
}

/// The output formats for monitoring programs.
enum StatusFormat: String, CaseIterable, ExpressibleByArgument { case prometheus, nagios }

/// The result of a check as metrics, in the text format that node_exporter's textfile collector reads.
/// Metrics have counts, times and words of findings, but no value of a reading.
struct StatusMetrics {
  let text: StatusText
  let findings: [StatusFinding]

  var lines: [String] {
    let (overview, sync) = (text.overview, text.sync)
    let kinds = [
      ("readings", overview.pendingReadings), ("records", overview.pendingRecords),
      ("attachments", text.contents.pending(for: sync.remote)),
    ]
    return gauge("readings", "Readings in the store.", [("", Int64(overview.readings))])
      + gauge("records", "Records in the store.", [("", Int64(overview.records))])
      + gauge(
        "pending", "Items that are not on the remote yet.", kinds.map { ("kind=\"\($0.0)\"", Int64($0.1)) })
      + gauge(
        "oldest_pending_timestamp_seconds", "Since when the oldest pending item is pending.",
        [("", sync.oldestPending)])
      + gauge(
        "last_upload_timestamp_seconds", "When an upload last succeeded.", [("", sync.remote?.lastSuccess)])
      + gauge(
        "last_import_timestamp_seconds", "When the last import ended.",
        [("", overview.ingests.compactMap(\.finishedAt).max())])
      + gauge(
        "finding", "Whether a check found this, by the words of glucoport-status(1).",
        StatusFinding.Word.allCases.map { word in
          ("word=\"\(word.rawValue)\"", findings.contains { $0.word == word } ? 1 : 0)
        })
  }

  /// The lines of one metric with its samples. A metric without samples has no lines.
  private func gauge(_ name: String, _ help: String, _ samples: [(label: String, value: Int64?)]) -> [String]
  {
    let name = "glucoport_store_" + name
    let lines = samples.compactMap { label, value in
      value.map { "\(name){store=\"\(escaped)\"\(label.isEmpty ? "" : "," + label)} \($0)" }
    }
    return lines.isEmpty ? [] : ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + lines
  }

  /// The path of the store, escaped for a label. It distinguishes the stores of one computer.
  private var escaped: String {
    displayed(text.path).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}

/// The result of a check as the output of a plug-in for Nagios, Icinga or Naemon: one line of text, with
/// figures after a `|`.
struct StatusPlugin {
  /// The states that the guidelines for plug-ins define.
  private enum PluginState: String { case ok = "OK", warning = "WARNING", critical = "CRITICAL" }

  let text: StatusText
  let findings: [StatusFinding]

  var line: String {
    let overview = text.overview
    let summary =
      findings.isEmpty
      ? "\(counted(overview.readings, "reading")), \(grouped(overview.pending)) pending"
      : findings.map { displayed($0.line) }.joined(separator: "; ")
    let figures = [
      ("readings", overview.readings), ("records", overview.records), ("pending", overview.pending),
      ("conflicts", overview.conflicts), ("refused", overview.refused + text.contents.refused),
    ].map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    // In the format, a `|` begins the figures, so the text must not contain one.
    return "GLUCOPORT \(state.rawValue) - \(summary.replacing("|", with: "/")) | \(figures)"
  }

  /// The exit status of the plug-in for its state.
  var status: ExitStatus {
    switch state {
    case .ok: .done
    case .warning: .failed
    case .critical: .critical
    }
  }

  /// The worst state of the findings. It is critical only if uploads fail or are overdue, since data could be
  /// lost in the end. All other findings can wait for a person.
  private var state: PluginState {
    if findings.contains(where: { $0.word == .upload || $0.word == .overdue }) { return .critical }
    return findings.isEmpty ? .ok : .warning
  }
}

/// Follows a running upload to its end. On a terminal, it rewrites one line, with a mark that moves during a
/// transfer. Otherwise, it prints a line for each change.
struct StatusWatch {
  /// The pause between two reads of the store. It is short for a person, but long enough not to slow an
  /// upload on a small computer.
  private static let pauseMicroseconds: UInt32 = 200_000
  private static let marks = ["|", "/", "-", "\\"]

  let store: Store
  let output: Output

  func run() throws {
    let isTerminal = Host.isTerminal(STDOUT_FILENO) && Host.isTerminal(STDERR_FILENO)
    var (shown, frame) = ("", 0)
    while true {
      let (activity, overview) = (try store.activity(), try store.overview(ingests: 0))
      let text = Self.text(activity, overview, try store.attachmentBacklog())
      guard activity.isRunning else {
        if isTerminal { output.progress("") }
        return output.line(text)
      }
      if isTerminal {
        output.progress(
          activity.isTransferring ? "\(Self.marks[frame % Self.marks.count]) \(text)" : "  \(text)")
        frame += 1
      } else if text != shown {
        output.line(text)
        // If the reader has closed the pipe, it needs no more output.
        guard output.writeBuffer() else { return }
        shown = text
      }
      usleep(Self.pauseMicroseconds)
    }
  }

  private static func text(
    _ activity: SyncActivity, _ overview: Overview, _ contents: AttachmentBacklog
  ) -> String {
    let queued = queued(overview, contents)
    guard activity.isRunning else { return queued.isEmpty ? "synced" : "queued: \(queued)" }
    let moving = Self.counts([
      (activity.readings, "reading", nil), (activity.records, "record", nil),
      (activity.attachments, "attachment", nil),
    ])
    return "syncing" + (moving.isEmpty ? "" : ": \(moving)") + (queued.isEmpty ? "" : " · queued: \(queued)")
  }

  private static func queued(_ overview: Overview, _ contents: AttachmentBacklog) -> String {
    counts([
      (overview.pendingReadings, "reading", nil), (overview.pendingRecords, "record", nil),
      (contents.toSend, "attachment", nil), (overview.conflicts, "in conflict", "in conflict"),
      (overview.refused + contents.refused, "refused", "refused"),
    ])
  }

  private static func counts(_ parts: [(count: Int, one: String, many: String?)]) -> String {
    parts.filter { $0.count > 0 }.map { counted($0.count, $0.one, $0.many) }.joined(separator: ", ")
  }
}
