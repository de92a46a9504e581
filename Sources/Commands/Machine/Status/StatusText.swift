// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore

/// What a store contains and which items are pending, for `status --json`; glucoport-json(5) documents the
/// members.
struct StatusObject: Encodable {
  let store: String
  let timezone: String
  let unknownTimezones: [String]
  let readings: Int
  let records: Int
  let withdrawnReadings: Int
  let withdrawnRecords: Int
  let doubled: Int
  let sensorCopies: Int
  let pending: Int
  let pendingReadings: Int
  let pendingRecords: Int
  let conflicts: Int
  let refused: Int
  let readingsToMove: Int
  let recordsToMove: Int
  let attachmentContents: AttachmentBacklog
  let devices: [Overview.DeviceLine]
  let recordKinds: [Overview.RecordLine]
  let sync: SyncObject
  let sources: [SourceObject]
  let findings: [StatusFinding]
  let ingests: [IngestObject]

  init(_ text: StatusText, _ findings: [StatusFinding]) throws {
    let overview = text.overview
    store = text.path
    timezone = overview.timezone
    unknownTimezones = overview.unknownZones
    readings = overview.readings
    records = overview.records
    withdrawnReadings = overview.withdrawnReadings
    withdrawnRecords = overview.withdrawnRecords
    doubled = text.leftOut.doubled
    sensorCopies = text.leftOut.sensorCopies
    pending = overview.pending
    pendingReadings = overview.pendingReadings
    pendingRecords = overview.pendingRecords
    conflicts = overview.conflicts
    refused = overview.refused
    readingsToMove = overview.siteMoves.readings
    recordsToMove = overview.siteMoves.records
    attachmentContents = text.contents
    devices = overview.lines
    recordKinds = overview.recordLines
    sync = SyncObject(text.sync)
    sources = text.sources.map(SourceObject.init)
    self.findings = findings
    ingests = try overview.ingests.map { try IngestObject($0) }
  }
}

/// The remote and what uploads do now, for `status --json`.
struct SyncObject: Encodable {
  let remote: String?
  let running: Bool
  let syncingReadings: Int
  let syncingRecords: Int
  let syncingAttachments: Int
  let downloads: Int
  let missingHistoryBefore: String?
  let oldestPending: String?
  let lastSuccess: String?
  let lastPush: String?
  let lastPull: String?
  let nextAttempt: String?
  let lastError: String?

  init(_ sync: SyncOverview) {
    remote = sync.remote?.access.url
    running = sync.activity.isRunning
    syncingReadings = sync.activity.readings
    syncingRecords = sync.activity.records
    syncingAttachments = sync.activity.attachments
    downloads = sync.downloads
    missingHistoryBefore = sync.missingHistoryEnd.map { DeviceTime(seconds: $0).text }
    oldestPending = sync.oldestPending.map(instant)
    lastSuccess = sync.remote?.lastSuccess.map(instant)
    lastPush = sync.remote?.lastPush.map(instant)
    lastPull = sync.remote?.lastPull.map(instant)
    nextAttempt = sync.remote?.nextAttempt.map(instant)
    lastError = sync.remote?.lastError
  }
}

/// What a store contains and which items are pending, as lines of text.
struct StatusText {
  let path: String
  let overview: Overview
  let sync: SyncOverview
  let contents: AttachmentBacklog
  /// How many items the statistics of the last two weeks leave out because another source has them, too.
  var leftOut = LeftOutCount()
  /// The sources of the store. Their `holes` have only the times whose sensor values the store still lacks.
  var sources: [SourceSetting] = []
  /// The zone of the logbook, in which times without sensor values are shown; nil for UTC.
  var zone: LogbookZone?

  var lines: [String] {
    var lines = ["\(displayed(path)) · zone \(overview.timezone)"]
    lines += overview.unknownZones.map { Self.unknown($0, zone: overview.timezone) }
    lines.append(
      "\(counted(overview.readings, "reading")), \(grouped(overview.pendingReadings)) pending"
        + part(overview.refusedReadings, "refused"))
    for line in overview.lines {
      lines.append(
        "  \(line.kind.name): \(grouped(line.readings)) · \(displayed(deviceName(line.device))) · \(day(line.firstTime)) … \(day(line.lastTime))"
          + reasons([("pending", line.pending), ("refused", line.refused)], of: line.readings))
    }
    lines.append(
      "\(counted(overview.records, "record")), \(grouped(pendingRecords)) pending"
        + deletions(overview.pendingDeletions, after: ", ") + part(overview.conflicts, "in conflict")
        + part(refusedListedRecords, "refused"))
    for line in overview.recordLines where line.isListed {
      lines.append(
        "  \(line.kind): \(grouped(line.records))"
          + reasons(
            [("pending", line.pending - line.pendingDeletions), ("refused", line.refused)], of: line.records)
          + deletions(line.pendingDeletions, after: " · "))
    }
    for line in overview.recordLines where !line.isListed && line.pending + line.refused > 0 {
      let parts = [(line.pending, "pending"), (line.refused, "refused")].filter { $0.0 > 0 }
      lines.append(
        "\(Self.name(ofStatements: line.kind)): "
          + parts.map { "\(grouped($0.0)) \($0.1)" }.joined(separator: ", "))
    }
    if overview.withdrawnReadings + overview.withdrawnRecords > 0 {
      lines.append(
        "hidden: \(counted(overview.withdrawnReadings, "reading")) and \(counted(overview.withdrawnRecords, "record"))"
      )
    }
    if leftOut.doubled > 0 {
      lines.append(
        "counted once in the last 14 days: \(counted(leftOut.doubled, "item")) that another source or export states, too; 'glucoport list --left-out' lists them"
      )
    }
    if leftOut.sensorCopies > 0 {
      lines.append(
        "not counted in the last 14 days: \(counted(leftOut.sensorCopies, "finger stick")) with the own values of a sensor; 'glucoport list --left-out' lists them"
      )
    }
    lines += AttachmentText.lines(contents, for: sync.remote) + syncLines
    if let zone { lines += SourceText.statusLines(sources, in: zone) }
    if !overview.ingests.isEmpty { lines.append("last imports") }
    for ingest in overview.ingests { lines.append("  " + IngestText.line(ingest)) }
    return lines
  }

  /// The warning that the system does not know the zone of the logbook.
  ///
  /// - Parameter zone: the name of the zone that replaces the unknown one.
  static func unknown(_ name: String, zone: String) -> String {
    "  this system does not know the time zone \(displayed(name)) of the logbook and uses \(zone); update its time zone data (tzdata)"
  }

  /// The name for records of a kind that no list shows, since they describe other items.
  private static func name(ofStatements kind: String) -> String {
    switch RecordKind(rawValue: kind) {
    case .zone?: "time zones"
    case .withdrawal?: "changes of what is hidden"
    case .count?: "decisions on what counts"
    default: "records of the unknown kind \(displayed(kind))"
    }
  }

  /// The number of pending records that lists show. Deleted records are left out, since they are not counted
  /// as records.
  private var pendingRecords: Int { overview.pendingListedRecords - overview.pendingDeletions }

  private var refusedListedRecords: Int {
    overview.recordLines.filter(\.isListed).reduce(0) { $0 + $1.refused }
  }

  /// The end of a line about a device or kind: how many items are pending, and why. It is empty if one reason
  /// applies to all items of the line, and all items of the store are pending: the total shows that.
  private func reasons(_ counts: [(String, Int)], of all: Int) -> String {
    if counts.contains(where: { $0.1 == all }),
      overview.readings + overview.records == overview.pendingReadings + pendingRecords
    {
      return ""
    }
    return counts.filter { $0.1 > 0 }.map { " · \(grouped($0.1)) \($0.0)" }.joined()
  }

  private var syncLines: [String] {
    guard let remote = sync.remote else { return [] }
    if sync.activity.isRunning { return ["upload is running" + moving] }
    var line =
      remote.lastSuccess.map { "last upload \(instant($0))" }
      ?? "no upload to \(displayed(remote.access.url)) yet"
    if let oldest = sync.oldestPending { line += " · oldest pending since \(instant(oldest))" }
    line += UploadText.movedPart(
      overview.siteMoves.readings, overview.siteMoves.records, "to move on the site")
    if sync.downloads > 0 { line += " · \(counted(sync.downloads, "download")) queued" }
    // Refused contents of attachments are subtracted, since another line shows them.
    let refused = sync.refusedDownloads - contents.notFetched
    if refused > 0 { line += " · \(counted(refused, "download")) refused" }
    let missing = sync.missingHistoryEnd.map {
      ["  readings before \(day($0)) were skipped; 'glucoport upload --all' downloads them"]
    }
    let records =
      sync.leavesOutRecords ? ["  the records were skipped; 'glucoport upload --all' downloads them"] : []
    let lines = [line] + (missing ?? []) + records
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

  private func deletions(_ count: Int, after mark: String) -> String {
    count > 0 ? "\(mark)\(counted(count, "deletion")) pending" : ""
  }

  private func part(_ count: Int, _ name: String) -> String { count > 0 ? ", \(grouped(count)) \(name)" : "" }

  private func day(_ seconds: Int64) -> Substring { DeviceTime(seconds: seconds).text.prefix(10) }
}
