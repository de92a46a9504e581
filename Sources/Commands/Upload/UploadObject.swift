// SPDX-License-Identifier: Apache-2.0

import Remotes
import Sync

/// The results of an upload, as `upload --json` prints them; glucoport-json(5) documents the members.
struct UploadObject: Encodable {
  let outcome: String
  let pushedReadings: Int
  let knownReadings: Int
  let differingReadings: Int
  let disputedReadings: Int
  let pushedRecords: Int
  let pulledReadings: Int
  let pulledRecords: Int
  let notTaken: [String: Int]
  let merged: Int
  let conflicts: Int
  let refused: Int
  let setAside: Int
  let requeued: Int
  let rollbacks: Int
  let movedReadings: Int
  let movedRecords: Int
  let readingsToMove: Int
  let recordsToMove: Int
  let removedReadings: Int
  let removedRecords: Int
  let readingsToRemove: Int
  let recordsToRemove: Int
  let pushedAttachments: Int
  let pushedAttachmentBytes: Int64
  let pulledAttachments: Int
  let pulledAttachmentBytes: Int64
  let keptAttachments: Int
  let absentAttachments: Int
  let damagedAttachments: Int
  let requests: Int
  let bytesSent: Int
  let bytesReceived: Int

  init(_ ending: UploadEnding, _ summary: UploadSummary, _ traffic: Traffic) {
    outcome =
      switch ending {
      case .complete: "complete"
      case .workLeft: "work-left"
      case .failed: "failed"
      }
    pushedReadings = summary.pushedReadings
    knownReadings = summary.knownReadings
    differingReadings = summary.differingReadings
    disputedReadings = summary.disputedReadings
    pushedRecords = summary.pushedRecords
    pulledReadings = summary.pulledReadings
    pulledRecords = summary.pulledRecords
    notTaken = summary.notTaken
    merged = summary.merged
    conflicts = summary.conflicts
    refused = summary.refused
    setAside = summary.setAside
    requeued = summary.requeued
    rollbacks = summary.rollbacks
    movedReadings = summary.movedReadings
    movedRecords = summary.movedRecords
    readingsToMove = summary.readingsToMove
    recordsToMove = summary.recordsToMove
    removedReadings = summary.removedReadings
    removedRecords = summary.removedRecords
    readingsToRemove = summary.readingsToRemove
    recordsToRemove = summary.recordsToRemove
    pushedAttachments = summary.pushedAttachments
    pushedAttachmentBytes = summary.pushedAttachmentBytes
    pulledAttachments = summary.pulledAttachments
    pulledAttachmentBytes = summary.pulledAttachmentBytes
    keptAttachments = summary.keptAttachments
    absentAttachments = summary.absentAttachments
    damagedAttachments = summary.damagedAttachments
    requests = traffic.requests
    bytesSent = traffic.sent
    bytesReceived = traffic.received
  }
}

/// The pending items, as `upload --dry-run --json` prints them.
struct PendingObject: Encodable {
  let dryRun = true
  let pendingReadings: Int
  let pendingRecords: Int
  let pendingAttachments: Int
  let readingsToMove: Int
  let recordsToMove: Int
}
