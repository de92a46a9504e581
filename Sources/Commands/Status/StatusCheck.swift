// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What `status --check` finds wrong, each with the status that tells it.
struct StatusCheck {
  let overview: Overview
  let sync: SyncOverview
  let contents: AttachmentBacklog
  let maxAge: Int64?
  let now: Int64

  var findings: [(status: ExitStatus, message: String)] {
    var findings: [(ExitStatus, String)] = []
    if overview.conflicts > 0 {
      findings.append(
        (
          .conflicts,
          "\(grouped(overview.conflicts)) conflicts wait for a decision; 'glucoport conflict list' shows them"
        ))
    }
    let refused = overview.refused + contents.refused
    if refused > 0 {
      findings.append(
        (
          .partial,
          "\(grouped(refused)) items are refused by the remote; 'glucoport upload --retry-refused' sends them once more"
        ))
    }
    if sync.refusedDownloads > 0 {
      findings.append(
        (
          .partial,
          "\(grouped(sync.refusedDownloads)) downloads could not be taken; 'glucoport queue list --refused' tells why, and 'glucoport queue retry' has them tried once more"
        ))
    }
    if let message = late { findings.append((.temporary, message)) }
    return findings
  }

  /// What was not in step for longer than it may.
  private var late: String? {
    guard let maxAge else { return nil }
    let pending = overview.pending + contents.pending(for: sync.remote)
    let reason = (sync.remote?.lastError).map { " (\(displayed($0)))" } ?? ""
    if pending > 0, isOver(sync.oldestPending ?? 0, maxAge) {
      return "\(grouped(pending)) items are pending"
        + (sync.oldestPending.map { ", the oldest since \(instant($0))" } ?? "") + reason
    }
    guard let remote = sync.remote else { return nil }
    guard let last = remote.lastSuccess else { return neverInStep(remote, maxAge).map { $0 + reason } }
    return isOver(last, maxAge) ? "no upload succeeded since \(instant(last))" + reason : nil
  }

  /// The same of a remote with which no upload has ever ended well.
  private func neverInStep(_ remote: RemoteSetting, _ maxAge: Int64) -> String? {
    let url = displayed(remote.access.url)
    if let since = remote.since {
      return isOver(since, maxAge)
        ? "no upload to \(url) has succeeded yet, and it was set \(instant(since))" : nil
    }
    // Nobody kept when it was set: then it counts that something went wrong.
    return remote.lastError == nil ? nil : "no upload to \(url) has succeeded yet"
  }

  private func isOver(_ time: Int64, _ maxAge: Int64) -> Bool { now - time > maxAge }
}
