// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ingest
import Logbook
import LogbookStore

/// One thing that `status --check` finds wrong.
struct StatusFinding {
  /// The sorts of findings, by the words that `--ignore` takes.
  enum Word: String, CaseIterable, ExpressibleByArgument {
    case conflicts, refused, unsendable, downloads, clock, readings, backup, upload, overdue
  }

  let word: Word
  /// The exit status of a check that finds nothing worse.
  let status: ExitStatus
  let message: String

  /// For standard error: the word goes first, since that is what `--ignore` takes.
  var line: String { "\(word.rawValue): \(message)" }
}

/// What `status --check` finds wrong, each with the status that reports it.
struct StatusCheck {
  let overview: Overview
  let sync: SyncOverview
  let contents: AttachmentBacklog
  /// Pending records that no remote takes as they are.
  let unsendable: Int
  /// The clock of each meter when it was last read.
  let clocks: [MeterClock]
  /// The zone of the logbook.
  let zone: LogbookZone
  let maxAge: Int64?
  /// When the newest reading was, and how many seconds ago it may be; nil where that is not looked at.
  let newestReading: (time: Int64, maxAge: Int64)?
  /// When the last backup was made, if ever, and how many seconds ago it may be; nil where that is not looked at.
  let lastBackup: (time: Int64?, maxAge: Int64)?
  /// What is not looked at.
  let ignored: Set<StatusFinding.Word>
  let now: Int64

  var findings: [StatusFinding] {
    var findings: [StatusFinding] = []
    func find(_ word: StatusFinding.Word, _ status: ExitStatus, _ message: String) {
      if !ignored.contains(word) {
        findings.append(StatusFinding(word: word, status: status, message: message))
      }
    }
    if overview.conflicts > 0 { find(.conflicts, .conflicts, ConflictText.pending(overview.conflicts)) }
    let refused = overview.refused + contents.refused
    if refused > 0 {
      find(
        .refused, .partial,
        counted(refused, "item is", "items are")
          + " refused by the remote; to retry: 'glucoport upload --retry-refused'")
    }
    if unsendable > 0 {
      find(
        .unsendable, .partial,
        counted(unsendable, "pending record is", "pending records are")
          + " larger than any remote accepts, or unreadable; the next upload sets such records aside: see 'glucoport queue list --refused'"
      )
    }
    if sync.refusedDownloads > 0 {
      find(
        .downloads, .partial,
        "\(counted(sync.refusedDownloads, "download")) could not be stored; 'glucoport queue list --refused' shows why; to retry: 'glucoport queue retry'"
      )
    }
    if contents.absent > 0 { find(.downloads, .partial, AttachmentText.absent(contents.absent)) }
    for clock in clocks { wrong(clock).map { find(.clock, .partial, $0) } }
    if let message = stale { find(.readings, .partial, message) }
    if let message = unsaved { find(.backup, .partial, message) }
    if let failure = sync.remote?.lastingFailure {
      find(
        .upload, ExitStatus(failure.category),
        "no upload has succeeded since \(instant(failure.since)): \(displayed(failure.message))")
    }
    if let message = late { find(.overdue, .temporary, message) }
    return findings
  }

  /// What is wrong with the clock of a meter: by the zone of the import that read it, and still by that of the logbook,
  /// which may have been corrected since.
  private func wrong(_ clock: MeterClock) -> String? {
    let judgement = ClockJudgement(clock.comparison, in: zone)
    guard judgement.isOff, abs(clock.difference) > ClockJudgement.thresholdSeconds else { return nil }
    let side = judgement.difference > 0 ? "ahead of" : "behind"
    return
      "\(displayed(deviceName(clock.meter))) was \(ClockJudgement.words(abs(judgement.difference))) \(side) the local time in \(judgement.zone) when it was read at \(instant(clock.comparison.host)); set its clock and read it again"
  }

  /// That no reading came for longer than it may take.
  private var stale: String? {
    guard let (time, maxAge) = newestReading, isOver(time, maxAge) else { return nil }
    let age = now - time
    let words =
      age < 2 * 86400 ? counted(Int(age / 3600), "hour") : counted(Int(age / 86400), "day")
    return
      "the newest reading is \(words) old, of \(instant(time)); import newer ones, or see 'glucoport log' for the last imports"
  }

  /// That no backup was made for longer than it may take.
  private var unsaved: String? {
    guard let (time, maxAge) = lastBackup else { return nil }
    guard let time else { return "no backup was made so far; 'glucoport backup FOLDER' makes one" }
    return isOver(time, maxAge)
      ? "the last backup is of \(instant(time)); 'glucoport backup FOLDER' makes one" : nil
  }

  /// What was not in step for longer than it may.
  private var late: String? {
    guard let maxAge else { return nil }
    let pending = overview.pending + contents.pending(for: sync.remote)
    let reason = (sync.remote?.lastError).map { " (\(displayed($0)))" } ?? ""
    if pending > 0, isOver(sync.oldestPending ?? 0, maxAge) {
      return counted(pending, "item is", "items are") + " pending"
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
        ? "no upload to \(url) has succeeded yet, although it was set on \(instant(since))" : nil
    }
    // Nobody kept when it was set: then it counts that something went wrong.
    return remote.lastError == nil ? nil : "no upload to \(url) has succeeded yet"
  }

  private func isOver(_ time: Int64, _ maxAge: Int64) -> Bool { now - time > maxAge }
}
