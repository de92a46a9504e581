// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import Nightscout
import Remotes
import Sync

/// The results of an upload for `upload --json`; glucoport-json(5) documents the members.
struct UploadObject: Encodable {
  private enum OutcomeKeys: String, CodingKey { case outcome }
  private enum TrafficKeys: String, CodingKey { case requests, bytesSent, bytesReceived }

  let ending: UploadEnding
  let summary: UploadSummary
  let traffic: Traffic

  func encode(to encoder: any Encoder) throws {
    var outcome = encoder.container(keyedBy: OutcomeKeys.self)
    let word =
      switch ending {
      case .complete: "complete"
      case .workLeft: "work-left"
      case .failed: "failed"
      }
    try outcome.encode(word, forKey: .outcome)
    try summary.encode(to: encoder)
    var bytes = encoder.container(keyedBy: TrafficKeys.self)
    try bytes.encode(traffic.requests, forKey: .requests)
    try bytes.encode(traffic.sent, forKey: .bytesSent)
    try bytes.encode(traffic.received, forKey: .bytesReceived)
  }
}

/// The numbers of pending items for `upload --dry-run --json`.
struct PendingObject: Encodable {
  let dryRun = true
  let pendingReadings: Int
  let pendingRecords: Int
  let pendingAttachments: Int
  let readingsToMove: Int
  let recordsToMove: Int
}

/// The texts about the results of an upload.
enum UploadText {
  /// The line for standard output; nil if the upload failed, since only the failure is printed then.
  static func result(_ ending: UploadEnding, _ summary: UploadSummary) -> String? {
    if case .failed = ending { return nil }
    return line(summary)
  }

  static func line(_ summary: UploadSummary) -> String {
    "pushed \(counted(summary.pushedReadings, "reading")), \(counted(summary.pushedRecords, "record"))"
      + " · pulled \(counted(summary.pulledReadings, "reading")), \(counted(summary.pulledRecords, "record"))"
      + attachments("sent", summary.pushedAttachments, summary.pushedAttachmentBytes)
      + attachments("fetched", summary.pulledAttachments, summary.pulledAttachmentBytes)
      + part("already on the remote", summary.knownReadings)
      + part("with another value", summary.differingReadings)
      + part("different from another program's", summary.disputedReadings)
      + part("merged", summary.merged) + " · conflicts \(grouped(summary.conflicts))"
      + part("refused", summary.refused) + part("left for the next run", summary.setAside)
      + part("queued again", summary.requeued)
      + movedPart(summary.movedReadings, summary.movedRecords, "moved on the site")
      + movedPart(summary.readingsToMove, summary.recordsToMove, "to move on the site")
      + movedPart(summary.removedReadings, summary.removedRecords, "removed from the site")
      + movedPart(summary.readingsToRemove, summary.recordsToRemove, "to remove from the site")
  }

  /// The part of a line about documents that were moved or removed on a site. It is empty if there are none.
  static func movedPart(_ readings: Int, _ records: Int, _ words: String) -> String {
    let counts = [(readings, "reading"), (records, "record")].filter { $0.0 > 0 }
      .map { counted($0.0, $0.1) }
    return counts.isEmpty ? "" : " · \(counts.joined(separator: ", ")) \(words)"
  }

  /// Lines about what a person may want to do, such as resolving conflicts.
  static func advice(_ summary: UploadSummary) -> [String] {
    var lines: [String] = []
    if summary.conflicts > 0 { lines.append(ConflictText.pending(summary.conflicts)) }
    let unsent = summary.refused - summary.refusedDownloads
    if unsent > 0 {
      lines.append(
        counted(unsent, "item is", "items are")
          + " refused by the remote and not sent again; 'glucoport queue list --refused' shows why; to retry: 'glucoport upload --retry-refused'"
      )
    }
    if summary.refusedDownloads > 0 {
      lines.append(
        "\(counted(summary.refusedDownloads, "download")) could not be stored and will not be retried; 'glucoport queue list --refused' shows why"
      )
    }
    if summary.damagedAttachments > 0 {
      lines.append(
        "\(counted(summary.damagedAttachments, "attachment")) arrived with a wrong SHA-256; the content was discarded"
      )
    }
    if summary.absentAttachments > 0 { lines.append(AttachmentText.absent(summary.absentAttachments)) }
    if let acting = summary.notTaken[NightscoutRefusal.actsAlthoughDeleted], acting > 0 {
      lines.append(
        "another program deleted "
          + counted(acting, "dose or meal that still counts", "doses and meals that still count")
          + " in the insulin and carbohydrates of the site; delete \(acting == 1 ? "it" : "them") on the site's web page as well"
      )
    }
    return lines
  }

  /// Lines about results that are not errors, but useful for a person who reads the output.
  static func remarks(_ ending: UploadEnding, _ summary: UploadSummary) -> [String] {
    let notTaken = summary.notTaken.filter { $0.key != NightscoutRefusal.actsAlthoughDeleted }
    var lines = ImportSummary.notTaken(notTaken).map { [$0] } ?? []
    if summary.keptAttachments > 0 {
      lines.append(
        "\(counted(summary.keptAttachments, "attachment is", "attachments are")) kept locally; this remote stores no files"
      )
    }
    if case .failed = ending, summary != UploadSummary() {
      lines.append("before the failure: \(line(summary))")
    }
    return lines
  }

  private static func attachments(_ done: String, _ count: Int, _ bytes: Int64) -> String {
    bytes > 0 || count > 0
      ? " · \(done) \(counted(count, "attachment")) (\(ByteCountArgument.rounded(bytes)))" : ""
  }

  private static func part(_ name: String, _ count: Int) -> String {
    count > 0 ? " · \(name) \(grouped(count))" : ""
  }
}
