// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The content of a store and its pending items, as `status --json` prints them; glucoport-json(5) documents
/// the members.
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
  let attachmentContents: AttachmentBacklogObject
  let devices: [DeviceObject]
  let recordKinds: [RecordKindObject]
  let sync: SyncObject
  let sources: [SourceObject]
  let findings: [FindingObject]
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
    attachmentContents = AttachmentBacklogObject(text.contents)
    devices = overview.lines.map(DeviceObject.init)
    recordKinds = overview.recordLines.map(RecordKindObject.init)
    sync = SyncObject(text.sync)
    sources = text.sources.map(SourceObject.init)
    self.findings = findings.map(FindingObject.init)
    ingests = try overview.ingests.map { try IngestObject($0) }
  }
}

/// The readings of one device and kind.
struct DeviceObject: Encodable {
  let kind: String
  let vendor: String
  let model: String
  let serial: String
  let readings: Int
  let pending: Int
  let refused: Int
  let firstTime: String
  let lastTime: String

  init(_ line: Overview.Line) {
    kind = line.kind.name
    vendor = line.device.vendor
    model = line.device.model
    serial = line.device.serial
    readings = line.readings
    pending = line.pending
    refused = line.refused
    firstTime = DeviceTime(seconds: line.firstTime).text
    lastTime = DeviceTime(seconds: line.lastTime).text
  }
}

/// The records of one kind.
struct RecordKindObject: Encodable {
  let kind: String
  let records: Int
  let pending: Int
  let refused: Int

  init(_ line: Overview.RecordLine) {
    kind = line.kind
    records = line.records
    pending = line.pending
    refused = line.refused
  }
}

/// The remote, and the activity of uploads.
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

/// One finding of `status --check`.
struct FindingObject: Encodable {
  let word: String
  let status: Int32
  let message: String

  init(_ finding: StatusFinding) {
    word = finding.word.rawValue
    status = finding.status.rawValue
    message = finding.message
  }
}
