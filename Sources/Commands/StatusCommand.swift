// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport status`: what the store holds and what waits to be sent.
struct StatusCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what the store holds, by kind and device, and what is pending.")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Tell by the exit status whether conflicts wait (4) or items are refused (3).")
  var check = false

  @Option(
    help: ArgumentHelp(
      "With --check: end with 75 when something is pending and no upload succeeded for so long.",
      valueName: "time"))
  var maxAge: DurationArgument?

  @Flag(help: "With --check: print nothing but what is wrong.")
  var quiet = false

  func validate() throws {
    if !check, maxAge != nil || quiet { throw ValidationError("--max-age and --quiet belong to --check.") }
    if json, quiet { throw ValidationError("--json prints an object and --quiet nothing; choose one.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let overview = try store.overview(ingests: 3)
    if json {
      output.line(jsonObject(overview))
    } else if !quiet {
      for line in lines(overview) { output.line(line) }
    }
    try output.finish()
    if check { try tellWhatWaits(overview, lastSuccess: store.remote()?.lastSuccess, output) }
  }

  /// Ends with the status of the worst that waits.
  private func tellWhatWaits(_ overview: Overview, lastSuccess: Int64?, _ output: Output) throws {
    var parts: [ExitStatus] = []
    if overview.conflicts > 0 {
      parts.append(.conflicts)
      output.message(
        "glucoport: \(grouped(overview.conflicts)) conflicts wait for a decision; 'glucoport conflict list' shows them"
      )
    }
    if overview.refused > 0 {
      parts.append(.partial)
      output.message(
        "glucoport: \(grouped(overview.refused)) items are refused by the remote; 'glucoport upload --retry-refused' sends them once more"
      )
    }
    if let maxAge, overview.pending > 0,
      lastSuccess.map({ Host.now() - $0 > Int64(maxAge.seconds) }) ?? true
    {
      parts.append(.temporary)
      let last = lastSuccess.map { "since \(DeviceTime(seconds: $0).text)Z" } ?? "yet"
      output.message(
        "glucoport: \(grouped(overview.pending)) items are pending, and no upload succeeded \(last)")
    }
    let status = ExitStatus.of(parts)
    if status != .done { throw status }
  }

  private func lines(_ overview: Overview) -> [String] {
    var lines = ["\(displayed(storeOptions.path)) · zone \(overview.timezone)"]
    lines.append(
      "\(grouped(overview.readings)) readings, \(grouped(overview.pendingReadings)) pending"
        + part(overview.refusedReadings, "refused"))
    for line in overview.lines {
      lines.append(
        "  \(line.kind.name): \(grouped(line.readings)) · \(displayed(deviceName(line.device))) · \(day(line.firstTime)) … \(day(line.lastTime))"
      )
    }
    lines.append(
      "\(grouped(overview.records)) records, \(grouped(overview.pendingRecords)) pending"
        + part(overview.conflicts, "in conflict") + part(overview.refusedRecords, "refused"))
    for line in overview.recordLines { lines.append("  \(line.kind): \(grouped(line.records))") }
    if !overview.ingests.isEmpty { lines.append("last imports") }
    for ingest in overview.ingests { lines.append("  " + IngestText.line(ingest)) }
    return lines
  }

  private func part(_ count: Int, _ name: String) -> String { count > 0 ? ", \(grouped(count)) \(name)" : "" }

  private func day(_ seconds: Int64) -> Substring { DeviceTime(seconds: seconds).text.prefix(10) }

  private func jsonObject(_ overview: Overview) -> String {
    let devices = overview.lines.map { line in
      """
      {"kind":"\(line.kind.name)","vendor":\(jsonText(line.device.vendor)),"model":\(jsonText(line.device.model)),\
      "serial":\(jsonText(line.device.serial)),"readings":\(line.readings),"pending":\(line.pending),\
      "first_time":"\(DeviceTime(seconds: line.firstTime).text)","last_time":"\(DeviceTime(seconds: line.lastTime).text)"}
      """
    }
    let records = overview.recordLines.map {
      "{\"kind\":\"\($0.kind)\",\"records\":\($0.records),\"pending\":\($0.pending)}"
    }
    return """
      {"store":\(jsonText(storeOptions.path)),"timezone":\(jsonText(overview.timezone)),\
      "readings":\(overview.readings),"records":\(overview.records),\
      "pending":\(overview.pending),\
      "pending_readings":\(overview.pendingReadings),"pending_records":\(overview.pendingRecords),\
      "conflicts":\(overview.conflicts),"refused":\(overview.refused),\
      "devices":[\(devices.joined(separator: ","))],"record_kinds":[\(records.joined(separator: ","))],\
      "ingests":[\(overview.ingests.map(IngestText.json).joined(separator: ","))]}
      """
  }
}

/// An ingest in one line, and as a JSON object.
enum IngestText {
  static func line(_ ingest: IngestEntry) -> String {
    let outcome = ingest.outcome == "whole" ? "" : " · \(outcomeWords(ingest.outcome))"
    return
      "\(ingest.id)  \(time(ingest.startedAt))  \(ingest.format)  \(displayed(ingest.source)): new \(grouped(ingest.new)) · known \(grouped(ingest.known)) · rejected \(grouped(ingest.rejected))\(outcome)"
  }

  static func json(_ ingest: IngestEntry) -> String {
    """
    {"id":\(ingest.id),"source":\(jsonText(ingest.source)),"format":\(jsonText(ingest.format)),\
    "digest":\(ingest.digest.map(jsonText) ?? "null"),"started_at":"\(time(ingest.startedAt))",\
    "finished_at":\(ingest.finishedAt.map { "\"\(time($0))\"" } ?? "null"),"outcome":"\(ingest.outcome)",\
    "counts":\(ingest.counts),"decisions":\(ingest.decisions),\
    "meter":\(ingest.meter.map { MeterText.json($0, firmware: ingest.firmware) } ?? "null"),\
    "clock":\(ingest.clock.map(MeterText.json) ?? "null")}
    """
  }

  private static func time(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

  /// An ingest without an end was killed, or runs at this moment.
  private static func outcomeWords(_ outcome: String) -> String {
    outcome == "running" ? "not finished" : outcome == "truncated" ? "input was cut off" : outcome
  }
}
