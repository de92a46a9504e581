// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What a store holds and what waits, for people and as a JSON object.
struct StatusText {
  let path: String
  let overview: Overview
  let sync: SyncOverview
  let contents: AttachmentBacklog

  var lines: [String] {
    var lines = ["\(displayed(path)) · zone \(overview.timezone)"]
    lines.append(
      "\(counted(overview.readings, "reading")), \(grouped(overview.pendingReadings)) pending"
        + part(overview.refusedReadings, "refused"))
    for line in overview.lines {
      lines.append(
        "  \(line.kind.name): \(grouped(line.readings)) · \(displayed(deviceName(line.device))) · \(day(line.firstTime)) … \(day(line.lastTime))"
          + reasons([("pending", line.pending), ("refused", line.refused)], of: line.readings))
    }
    lines.append(
      "\(counted(overview.records, "record")), \(grouped(overview.pendingRecords)) pending"
        + part(overview.conflicts, "in conflict") + part(overview.refusedRecords, "refused"))
    for line in overview.recordLines {
      lines.append(
        "  \(line.kind): \(grouped(line.records))"
          + reasons([("pending", line.pending), ("refused", line.refused)], of: line.records))
    }
    lines += AttachmentText.lines(contents, for: sync.remote) + syncLines
    if !overview.ingests.isEmpty { lines.append("last imports") }
    for ingest in overview.ingests { lines.append("  " + IngestText.line(ingest)) }
    return lines
  }

  /// What of a device or kind waits. Where everything does, the sum above has said so.
  private func reasons(_ counts: [(String, Int)], of all: Int) -> String {
    if counts.contains(where: { $0.1 == all }), overview.readings + overview.records == overview.pending {
      return ""
    }
    return counts.filter { $0.1 > 0 }.map { " · \(grouped($0.1)) \($0.0)" }.joined()
  }

  private var syncLines: [String] {
    guard let remote = sync.remote else { return [] }
    if sync.activity.isRunning { return ["upload runs" + moving] }
    var line =
      remote.lastSuccess.map { "last upload \(instant($0))" }
      ?? "no upload to \(displayed(remote.access.url)) yet"
    if let oldest = sync.oldestPending { line += " · oldest pending since \(instant(oldest))" }
    if sync.downloads > 0 { line += " · \(counted(sync.downloads, "download")) queued" }
    // Those of contents stand in a line of their own.
    let refused = sync.refusedDownloads - contents.notFetched
    if refused > 0 { line += " · \(counted(refused, "download")) refused" }
    let missing = sync.missingHistoryEnd.map {
      ["  readings before \(day($0)) were left out; 'glucoport upload --all' fetches them"]
    }
    let lines = [line] + (missing ?? [])
    guard let error = remote.lastError else { return lines }
    let next = remote.nextAttempt.map { " · next attempt \(instant($0))" } ?? ""
    return lines + ["  last attempt failed: \(displayed(error))\(next)"]
  }

  private var moving: String {
    let activity = sync.activity
    return [
      (activity.readings, "reading"), (activity.records, "record"), (activity.attachments, "attachment"),
    ]
    .filter { $0.0 > 0 }.map { " · \(counted($0.0, $0.1)) syncing" }.joined()
  }

  private func part(_ count: Int, _ name: String) -> String { count > 0 ? ", \(grouped(count)) \(name)" : "" }

  private func day(_ seconds: Int64) -> Substring { DeviceTime(seconds: seconds).text.prefix(10) }
}

// MARK: - JSON

extension StatusText {
  /// The object of `status --json`; glucoport-json(5) documents its members.
  func json(_ findings: [StatusFinding]) -> String {
    let devices = overview.lines.map { line in
      """
      {"kind":"\(line.kind.name)","vendor":\(jsonText(line.device.vendor)),"model":\(jsonText(line.device.model)),\
      "serial":\(jsonText(line.device.serial)),"readings":\(line.readings),"pending":\(line.pending),\
      "refused":\(line.refused),"first_time":"\(DeviceTime(seconds: line.firstTime).text)",\
      "last_time":"\(DeviceTime(seconds: line.lastTime).text)"}
      """
    }
    let records = overview.recordLines.map {
      "{\"kind\":\"\($0.kind)\",\"records\":\($0.records),\"pending\":\($0.pending),\"refused\":\($0.refused)}"
    }
    return """
      {"store":\(jsonText(path)),"timezone":\(jsonText(overview.timezone)),\
      "readings":\(overview.readings),"records":\(overview.records),\
      "pending":\(overview.pending),\
      "pending_readings":\(overview.pendingReadings),"pending_records":\(overview.pendingRecords),\
      "conflicts":\(overview.conflicts),"refused":\(overview.refused),\
      "attachment_contents":\(AttachmentText.json(contents)),\
      "devices":[\(devices.joined(separator: ","))],"record_kinds":[\(records.joined(separator: ","))],\
      "sync":\(syncObject),"findings":[\(findings.map(\.json).joined(separator: ","))],\
      "ingests":[\(overview.ingests.map(IngestText.json).joined(separator: ","))]}
      """
  }

  private var syncObject: String {
    let (remote, activity) = (sync.remote, sync.activity)
    return """
      {"remote":\((remote?.access.url).map(jsonText) ?? "null"),"running":\(activity.isRunning),\
      "syncing_readings":\(activity.readings),"syncing_records":\(activity.records),\
      "syncing_attachments":\(activity.attachments),"downloads":\(sync.downloads),\
      "missing_history_before":\(sync.missingHistoryEnd.map { "\"\(DeviceTime(seconds: $0).text)\"" } ?? "null"),\
      "oldest_pending":\(instantMember(sync.oldestPending)),\
      "last_success":\(instantMember(remote?.lastSuccess)),"last_push":\(instantMember(remote?.lastPush)),\
      "last_pull":\(instantMember(remote?.lastPull)),"next_attempt":\(instantMember(remote?.nextAttempt)),\
      "last_error":\((remote?.lastError).map(jsonText) ?? "null")}
      """
  }
}
