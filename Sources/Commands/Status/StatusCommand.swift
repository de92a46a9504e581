// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport status`: what the store holds and what waits to be sent.
struct StatusCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what the store holds, by kind and device, and what is pending.")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Follow an upload that runs, to its end.")
  var watch = false

  @Flag(help: "Tell by the exit status whether conflicts wait (4) or items are refused (3).")
  var check = false

  @Option(
    help: ArgumentHelp(
      "With --check: end with 75 when something is pending, or no upload succeeded, for so long.",
      valueName: "time"))
  var maxAge: DurationArgument?

  @Flag(help: "With --check: print nothing but what is wrong.")
  var quiet = false

  func validate() throws {
    if !check, maxAge != nil || quiet { throw ValidationError("--max-age and --quiet belong to --check.") }
    if json, quiet { throw ValidationError("--json prints an object and --quiet nothing; choose one.") }
    if watch, json || check { throw ValidationError("--watch goes without --json and --check.") }
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
    let text = StatusText(path: store.path, overview: overview, sync: sync, contents: contents)
    if json {
      output.line(text.json)
    } else if !quiet {
      for line in text.lines { output.line(line) }
    }
    try output.finish()
    let maxAge = maxAge.map { Int64($0.seconds) }
    if check {
      try tell(
        StatusCheck(overview: overview, sync: sync, contents: contents, maxAge: maxAge, now: Host.now()),
        output)
    }
  }

  /// Ends with the status of the worst that is wrong.
  private func tell(_ check: StatusCheck, _ output: Output) throws {
    let findings = check.findings
    for finding in findings { output.message("glucoport: \(finding.message)") }
    let status = ExitStatus.of(findings.map(\.status))
    if status != .done { throw status }
  }
}
