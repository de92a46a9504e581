// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Ingest
import Logbook
import LogbookStore

/// One fault that `status --check` has found.
struct StatusFinding {
  /// The kinds of findings. The raw values are the words of `--ignore`.
  enum Word: String, CaseIterable, Encodable, ExpressibleByArgument {
    case conflicts, refused, unsendable, downloads, clock, readings, backup, upload, source, overdue
  }

  let word: Word
  /// The exit status of the command if no finding is worse.
  let status: ExitStatus
  let message: String

  /// The line for standard error. It begins with the word that `--ignore` takes.
  var line: String { "\(word.rawValue): \(message)" }
}

/// The finding in `status --check --json`. The members are in the order of the coding keys.
extension StatusFinding: Encodable {
  private enum CodingKeys: String, CodingKey { case word, status, message }
}

/// The facts that `status --check` examines, and the findings in them.
struct StatusCheck {
  let overview: Overview
  let sync: SyncOverview
  let contents: AttachmentBacklog
  /// The number of pending records that every remote would refuse.
  let unsendable: Int
  /// The clock of each meter at the last import from this meter.
  let clocks: [MeterClock]
  /// The zone of the logbook, with which clocks are compared.
  let zone: LogbookZone
  let maxAge: Int64?
  /// The time of the newest reading in UTC seconds, and its maximum age in seconds; nil if the age is not
  /// checked.
  let newestReading: (time: Int64, maxAge: Int64)?
  /// The time of the last backup in UTC seconds, if any, and its maximum age in seconds; nil if the age is
  /// not checked.
  let lastBackup: (time: Int64?, maxAge: Int64)?
  /// The sources of the store. Their `holes` have only the times whose sensor values the store still lacks.
  var sources: [SourceSetting] = []
  /// The kinds of findings that `--ignore` excludes.
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
    if let failure = sync.remote?.persistentFailure {
      find(
        .upload, ExitStatus(failure.category),
        "no upload has succeeded since \(instant(failure.since)): \(displayed(failure.message))\(lastAttempt(after: failure))"
      )
    }
    for (status, message) in sourceProblems { find(.source, status, message) }
    if let message = late { find(.overdue, .temporary, message) }
    return findings
  }

  /// The failure of the last attempt, if it differs from the lasting failure; otherwise an empty text.
  private func lastAttempt(after failure: PersistentFailure) -> String {
    guard let last = sync.remote?.lastError, last != failure.message else { return "" }
    return "; the last attempt failed for another reason: \(displayed(last))"
  }

  /// A message if the clock of a meter is wrong, else nil. A clock is right if it shows the local time in the
  /// logbook's zone. This can be the zone at the import or the present one, since a person may have corrected
  /// the zone in between.
  private func wrong(_ clock: MeterClock) -> String? {
    let judgement = ClockJudgement(clock.comparison, in: zone)
    guard judgement.isOff, abs(clock.difference) > ClockJudgement.thresholdSeconds else { return nil }
    let side = judgement.difference > 0 ? "ahead of" : "behind"
    return
      "\(displayed(deviceName(clock.meter))) was \(ClockJudgement.words(abs(judgement.difference))) \(side) the local time in \(judgement.zone) when it was read at \(instant(clock.comparison.host)); set its clock and read it again"
  }

  /// A message if the newest reading is older than its maximum age; nil otherwise.
  private var stale: String? {
    guard let (time, maxAge) = newestReading, isOver(time, maxAge) else { return nil }
    let advice = "import newer ones, or see 'glucoport log' for the last imports"
    guard let age = StoredAge.seconds(of: time, now: now) else {
      return "the newest reading is of \(moment(time)); \(advice)"
    }
    let words =
      age < 2 * 86400 ? counted(Int(age / 3600), "hour") : counted(Int(age / 86400), "day")
    return "the newest reading is \(words) old, of \(instant(time)); \(advice)"
  }

  /// A message if the last backup is older than its maximum age, or missing; nil otherwise.
  private var unsaved: String? {
    guard let (time, maxAge) = lastBackup else { return nil }
    guard let time else { return "no backup was made so far; 'glucoport backup FOLDER' makes one" }
    return isOver(time, maxAge)
      ? "the last backup is of \(moment(time)); 'glucoport backup FOLDER' makes one" : nil
  }

  /// Messages about sources: lasting failures, missing sensor values, and fetches that have not succeeded for
  /// longer than the maximum age.
  private var sourceProblems: [(ExitStatus, String)] {
    sources.flatMap { source -> [(ExitStatus, String)] in
      let state = source.state
      var found = state.holes.map { (ExitStatus.partial, SourceText.line($0, of: source, in: zone)) }
      if let failure = state.persistentFailure {
        let since = state.lastingSince.map { " since \(instant($0))" } ?? ""
        found.append(
          (
            ExitStatus(failure.category),
            "no fetch from \(displayed(source.name)) has succeeded\(since): \(displayed(failure.message))"
          ))
      } else if let maxAge, let last = state.lastSuccess ?? state.setAt, isOver(last, maxAge) {
        let reason = state.lastError.map { " (\(displayed($0)))" } ?? ""
        found.append(
          (.temporary, "no fetch from \(displayed(source.name)) succeeded since \(moment(last))\(reason)"))
      }
      return found
    }
  }

  /// A message if items were not synced within the maximum age; nil otherwise.
  private var late: String? {
    guard let maxAge else { return nil }
    let pending = overview.pending + contents.pending(for: sync.remote)
    let reason = (sync.remote?.lastError).map { " (\(displayed($0)))" } ?? ""
    if pending > 0, isOver(sync.oldestPending ?? 0, maxAge) {
      return counted(pending, "item is", "items are") + " pending"
        + (sync.oldestPending.map { ", the oldest since \(moment($0))" } ?? "") + reason
    }
    guard let remote = sync.remote else { return nil }
    guard let last = remote.lastSuccess else { return neverUploaded(remote, maxAge).map { $0 + reason } }
    return isOver(last, maxAge) ? "no upload succeeded since \(moment(last))" + reason : nil
  }

  /// A message about a remote with which no upload has succeeded yet; nil if it was set only recently.
  private func neverUploaded(_ remote: RemoteSetting, _ maxAge: Int64) -> String? {
    let url = displayed(remote.access.url)
    if let since = remote.since {
      return isOver(since, maxAge)
        ? "no upload to \(url) has succeeded yet, although it was set on \(moment(since))" : nil
    }
    // If it is unknown when the remote was set, there is a message only after a failed attempt.
    return remote.lastError == nil ? nil : "no upload to \(url) has succeeded yet"
  }

  /// Whether a time is older than its maximum age. A time in the future has no age, so it counts as too old:
  /// otherwise, the check would report nothing until that time.
  private func isOver(_ time: Int64, _ maxAge: Int64) -> Bool {
    StoredAge.seconds(of: time, now: now).map { $0 > maxAge } ?? true
  }

  /// A time for a message. If it is in the future, the message states that its age is unknown.
  private func moment(_ time: Int64) -> String {
    let isFuture = StoredAge.seconds(of: time, now: now) == nil
    return instant(time) + (isFuture ? ", which is in the future, so that its age is unknown" : "")
  }
}
