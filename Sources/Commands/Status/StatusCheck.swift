// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What `status --check` finds wrong, each with the status that tells it.
struct StatusCheck {
  let overview: Overview
  let sync: SyncOverview
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
    if overview.refused > 0 {
      findings.append(
        (
          .partial,
          "\(grouped(overview.refused)) items are refused by the remote; 'glucoport upload --retry-refused' sends them once more"
        ))
    }
    if let message = late { findings.append((.temporary, message)) }
    return findings
  }

  /// What was not in step for longer than it may.
  private var late: String? {
    guard let maxAge else { return nil }
    let pending = "\(grouped(overview.pending)) items are pending"
    let reason = (sync.remote?.lastError).map { " (\(displayed($0)))" } ?? ""
    if overview.pending > 0, isOver(sync.oldestPending ?? 0, maxAge) {
      return pending + (sync.oldestPending.map { ", the oldest since \(instant($0))" } ?? "") + reason
    }
    guard let remote = sync.remote, let last = remote.lastSuccess, isOver(last, maxAge) else { return nil }
    return "no upload succeeded since \(instant(last))" + reason
  }

  private func isOver(_ time: Int64, _ maxAge: Int64) -> Bool { now - time > maxAge }
}
