// SPDX-License-Identifier: Apache-2.0

import Remotes
import Sync

/// What an upload did, for people and for programs.
enum UploadText {
  static func line(_ summary: UploadSummary) -> String {
    "pushed \(grouped(summary.pushedReadings)) readings, \(grouped(summary.pushedRecords)) records"
      + " · pulled \(grouped(summary.pulledReadings)) readings, \(grouped(summary.pulledRecords)) records"
      + attachments("sent", summary.pushedAttachments, summary.pushedAttachmentBytes)
      + attachments("fetched", summary.pulledAttachments, summary.pulledAttachmentBytes)
      + part("known there", summary.knownReadings) + part("with another value", summary.differingReadings)
      + part("merged", summary.merged) + " · conflicts \(grouped(summary.conflicts))"
      + part("refused", summary.refused) + part("left for later", summary.setAside)
      + part("queued again", summary.requeued)
  }

  /// What a person may want to do now.
  static func advice(_ summary: UploadSummary) -> [String] {
    var lines: [String] = []
    if summary.conflicts > 0 {
      lines.append(
        "\(grouped(summary.conflicts)) conflicts wait for a decision; 'glucoport conflict list' shows them")
    }
    let unsent = summary.refused - summary.refusedDownloads
    if unsent > 0 {
      lines.append(
        "\(grouped(unsent)) items are refused by the remote and are not sent again; 'glucoport queue list --refused' tells why, 'glucoport upload --retry-refused' sends them once more"
      )
    }
    if summary.refusedDownloads > 0 {
      lines.append(
        "\(grouped(summary.refusedDownloads)) downloads could not be taken and are not tried again; 'glucoport queue list --refused' tells why"
      )
    }
    if summary.keptAttachments > 0 {
      lines.append(
        "\(grouped(summary.keptAttachments)) contents of attachments stay here, since this remote takes no files"
      )
    }
    if summary.damagedAttachments > 0 {
      lines.append(
        "\(grouped(summary.damagedAttachments)) contents of attachments came without their SHA-256 and were dropped"
      )
    }
    return lines
  }

  /// The object of `upload --json`; glucoport-json(5) documents its members.
  static func json(_ ending: UploadEnding, _ summary: UploadSummary, _ traffic: Traffic) -> String {
    let word =
      switch ending {
      case .complete: "complete"
      case .workLeft: "work-left"
      case .failed: "failed"
      }
    return """
      {"outcome":"\(word)","pushed_readings":\(summary.pushedReadings),"known_readings":\(summary.knownReadings),\
      "differing_readings":\(summary.differingReadings),"pushed_records":\(summary.pushedRecords),\
      "pulled_readings":\(summary.pulledReadings),"pulled_records":\(summary.pulledRecords),\
      "merged":\(summary.merged),"conflicts":\(summary.conflicts),"refused":\(summary.refused),\
      "set_aside":\(summary.setAside),"requeued":\(summary.requeued),"rollbacks":\(summary.rollbacks),\
      "pushed_attachments":\(summary.pushedAttachments),\
      "pushed_attachment_bytes":\(summary.pushedAttachmentBytes),\
      "pulled_attachments":\(summary.pulledAttachments),\
      "pulled_attachment_bytes":\(summary.pulledAttachmentBytes),\
      "kept_attachments":\(summary.keptAttachments),"damaged_attachments":\(summary.damagedAttachments),\
      "requests":\(traffic.requests),"bytes_sent":\(traffic.sent),"bytes_received":\(traffic.received)}
      """
  }

  private static func attachments(_ done: String, _ count: Int, _ bytes: Int64) -> String {
    bytes > 0 || count > 0
      ? " · \(done) \(grouped(count)) attachments (\(ByteCountArgument.rounded(bytes)))" : ""
  }

  private static func part(_ name: String, _ count: Int) -> String {
    count > 0 ? " · \(name) \(grouped(count))" : ""
  }
}
