// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore

/// Follows an upload that runs, to its end: on a terminal in one line with a mark that moves while something is on its
/// way, else in a line for each change.
struct StatusWatch {
  /// Short enough for a person, and long enough to leave a small computer time for the upload.
  private static let pauseMicroseconds: UInt32 = 200_000
  private static let marks = ["|", "/", "-", "\\"]

  let store: Store
  let output: Output

  func run() throws {
    let isTerminal = Host.isTerminal(STDOUT_FILENO) && Host.isTerminal(STDERR_FILENO)
    var (shown, frame) = ("", 0)
    while true {
      let (activity, overview) = (try store.activity(), try store.overview(ingests: 0))
      let text = Self.text(activity, overview, try store.attachmentBacklog())
      guard activity.isRunning else {
        if isTerminal { output.progress("") }
        return output.line(text)
      }
      if isTerminal {
        output.progress(
          activity.isTransferring ? "\(Self.marks[frame % Self.marks.count]) \(text)" : "  \(text)")
        frame += 1
      } else if text != shown {
        output.line(text)
        // If the reader closed the pipe, it needs no more.
        guard output.pass() else { return }
        shown = text
      }
      usleep(Self.pauseMicroseconds)
    }
  }

  private static func text(
    _ activity: SyncActivity, _ overview: Overview, _ contents: AttachmentBacklog
  ) -> String {
    let queued = queued(overview, contents)
    guard activity.isRunning else { return queued.isEmpty ? "synced" : "queued: \(queued)" }
    let moving = Self.counts([
      (activity.readings, "reading", nil), (activity.records, "record", nil),
      (activity.attachments, "attachment", nil),
    ])
    return "syncing" + (moving.isEmpty ? "" : ": \(moving)") + (queued.isEmpty ? "" : " · queued: \(queued)")
  }

  private static func queued(_ overview: Overview, _ contents: AttachmentBacklog) -> String {
    counts([
      (overview.pendingReadings, "reading", nil), (overview.pendingRecords, "record", nil),
      (contents.toSend, "attachment", nil), (overview.conflicts, "in conflict", "in conflict"),
      (overview.refused + contents.refused, "refused", "refused"),
    ])
  }

  private static func counts(_ parts: [(count: Int, one: String, many: String?)]) -> String {
    parts.filter { $0.count > 0 }.map { counted($0.count, $0.one, $0.many) }.joined(separator: ", ")
  }
}
