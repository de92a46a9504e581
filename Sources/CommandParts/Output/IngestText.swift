// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// An ingest (one import, download or typed entry) for `log --json`; glucoport-json(5) documents the members.
package struct IngestObject: Encodable {
  let id: Int64
  let source: String
  let format: String
  let digest: String?
  let startedAt: String
  let finishedAt: String?
  let outcome: String
  let undone: Bool
  let counts: IngestCounts
  let decisions: JSONFragment
  let meter: MeterObject?
  let clock: ClockObject?

  /// - Throws: `Failure` of category `inputOutput` if the store has counts that glucoport cannot read.
  package init(_ ingest: IngestEntry) throws {
    id = ingest.id
    source = ingest.source
    format = ingest.format
    digest = ingest.digest
    startedAt = instant(ingest.startedAt)
    finishedAt = ingest.finishedAt.map(instant)
    outcome = ingest.outcome
    undone = ingest.isUndone
    // The store has only some counts of a failed import or a download. The object has all members, so the
    // missing counts are zero.
    counts = try ingest.readCounts()
    decisions = JSONFragment(ingest.decisions)
    meter = ingest.meter.map { MeterObject($0, firmware: ingest.firmware) }
    clock = ingest.clock.map { ClockObject($0) }
  }
}

/// The texts about an ingest.
package enum IngestText {
  /// The ingest in one line, with the numbers of its readings and records.
  ///
  /// - Parameter doubled: how many items of the ingest another source has, too.
  package static func line(_ ingest: IngestEntry, doubled: DoubledCount = DoubledCount()) -> String {
    let counting =
      (doubled.doubled > 0 ? " · doubled \(grouped(doubled.doubled))" : "")
      + (doubled.sensorCopies > 0 ? " · copies of a sensor \(grouped(doubled.sensorCopies))" : "")
    let undone = ingest.isUndone ? " · undone" : ""
    let outcome = (ingest.outcome == "whole" ? "" : " · \(outcomeWords(ingest.outcome))") + undone
    return
      "\(ingest.id)  \(time(ingest.startedAt))  \(ingest.format)  \(displayed(ingest.source)): \(items(ingest)) · rejected \(grouped(ingest.rejected))\(counting)\(outcome)"
  }

  /// The numbers of readings and records. If an import had only records, the readings are left out.
  private static func items(_ ingest: IngestEntry) -> String {
    let readings = "new \(grouped(ingest.new)) · known \(grouped(ingest.known))"
    let (new, known, updated) = ingest.records
    guard new + known + updated > 0 else { return readings }
    let records =
      "records new \(grouped(new)) · known \(grouped(known))"
      + (updated > 0 ? " · updated \(grouped(updated))" : "")
    return ingest.new + ingest.known > 0 ? readings + " · " + records : records
  }

  /// All stored facts about an ingest, and its rejected rows: one line for each.
  package static func details(
    _ ingest: IngestEntry, _ rejections: [Rejection], _ doubles: ImportDoubles
  ) throws -> [String] {
    let counts = try ingest.readCounts()
    var parts: [String] = []
    if let finished = ingest.finishedAt { parts.append("finished \(time(finished))") }
    parts.append("digest \(ingest.digest ?? "unknown")")
    if let meter = ingest.meter {
      parts.append("meter \(displayed(MeterText.name(meter, firmware: ingest.firmware)))")
    }
    if let clock = ingest.clock { parts.append("clock \(MeterText.line(clock))") }
    parts += ImportSummary.lines(counts)
    let decisions = ImportSummary.decisions(try ingest.readDecisions())
    if !decisions.isEmpty { parts.append(decisions) }
    if let notTaken = ImportSummary.notTaken(counts.notTaken) { parts.append(notTaken) }
    if let skipped = ImportSummary.skipped(counts) { parts.append(skipped) }
    parts += doubles.lines
    parts += rejections.map { "line \($0.line): \(displayed($0.reason))" }
    let others = counts.rejected - rejections.count
    if others > 0 { parts.append("\(counted(others, "more rejection")), without their reasons") }
    return [line(ingest, doubled: doubles.items)] + parts.map { "  " + $0 }
  }

  private static func time(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

  /// The outcome in words. The stored outcome `running` means that the import was killed or still runs.
  private static func outcomeWords(_ outcome: String) -> String {
    outcome == "running" ? "not finished" : outcome == "truncated" ? "input truncated" : outcome
  }
}

/// The texts about a person's action on readings and records.
package enum ActionText {
  /// The action in one line, with its time in UTC. An action has no id, so a dash fills that column.
  package static func line(_ action: PersonAction) -> String {
    "-  \(DeviceTime(seconds: action.madeAt).text)Z  \(summary(action))\(action.isUndone ? " · undone" : "")"
  }

  /// What a person did in this action, with the entry that it changed.
  package static func summary(_ action: PersonAction) -> String {
    let verb =
      switch action.kind {
      case .add: "added"
      case .edit: "edited"
      case .delete: "deleted"
      case .hide: "hidden"
      case .restore: "restored"
      }
    let subjects = subjects(action)
    guard let first = subjects.first else { return verb }
    // For a deleted entry, `entry` is the entry itself, and not a record that belongs to it.
    let entry =
      subjects.first { $0.reading != nil } ?? subjects.first { $0.state.entryGuid == nil }
      ?? first
    let others = subjects.count - 1
    let what = subjects.contains { $0.reading != nil } ? "more item" : "more record"
    return "\(verb) \(summary(entry))" + (others > 0 ? ", and \(counted(others, what))" : "")
  }

  /// The readings and records that the action changed. In a corrected entry, a hidden reading is left out,
  /// since its replacement is shown.
  private static func subjects(_ action: PersonAction) -> [PersonAction.Subject] {
    action.subjects.filter { subject in
      let isReplaced = action.kind == .edit && subject.state.kind == .withdrawal && subject.reading == nil
      return subject.isChanged && !isReplaced
    }
  }

  private static func summary(_ subject: PersonAction.Subject) -> String {
    let state = subject.state
    if let reading = subject.reading { return "\(text(of: reading))  \(reading.id)" }
    if let reading = subject.target {
      return "\(text(of: reading)) \(reading.deviceTime.text.replacing("T", with: " "))  \(reading.id)"
    }
    switch Withdrawal(fields: state.fields)?.subject {
    case .reading(let identity)?: return "reading \(displayed(identity.text))"
    case .record(let guid)?: return "record \(guid.prefix(8))"
    case .device(let rule)?: return "the readings of \(displayed(rule.device))"
    case .input?, .brought?, nil: break
    }
    let content = displayed(RecordText.summary(state.kind, fields: state.fields.json))
    return "\(displayed(state.kind.rawValue)) \(content)  \(subject.guid.prefix(8))"
  }
}

extension ActionText {
  private static func text(of reading: PersonAction.TypedReading) -> String {
    let unit = reading.measurement.unit
    return "\(reading.identity.kind.name) \(value(reading.measurement, unit)) \(unit.name)"
  }
}

/// A person's action in the output of `undo --json`, `redo --json` and `log --json`; glucoport-json(5)
/// documents the members.
package struct ActionObject: Encodable {
  let action: String
  let madeAt: String
  let undone: Bool
  let records: [String]
  let readings: [String]
  let left: [String]?
  let dryRun: Bool?

  /// Copies an action for the list of `log --json`.
  package init(_ action: PersonAction) {
    self.action = action.kind.rawValue
    madeAt = instant(action.madeAt)
    undone = action.isUndone
    records = action.subjects.filter { $0.reading == nil && $0.isChanged }.map(\.guid)
    readings = action.subjects.filter(\.isChanged).compactMap { $0.reading?.id }
    (left, dryRun) = (nil, nil)
  }

  /// Copies an action that `undo` reversed or `redo` repeated, and the outcome.
  package init(
    _ action: PersonAction, _ direction: UndoDirection, _ outcome: ActionOutcome, isDryRun: Bool
  ) {
    self.action = action.kind.rawValue
    madeAt = instant(action.madeAt)
    undone = direction == .undo
    let typed = action.subjects.filter { $0.reading != nil && outcome.changed.contains($0.guid) }
    records = outcome.changed.filter { guid in !typed.contains { $0.guid == guid } }
    readings = typed.compactMap { $0.reading?.id }
    left = outcome.left
    dryRun = isDryRun
  }
}
