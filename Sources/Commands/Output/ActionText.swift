// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// An action of a person on readings and records, in one line.
enum ActionText {
  static func line(_ action: PersonAction) -> String {
    "-  \(DeviceTime(seconds: action.madeAt).text)Z  \(summary(action))\(action.isUndone ? " · undone" : "")"
  }

  static func summary(_ action: PersonAction) -> String {
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
    // For a deletion, show the entry and not the records that belonged to it.
    let entry =
      subjects.first { $0.reading != nil } ?? subjects.first { $0.state.entryGuid == nil }
      ?? first
    let others = subjects.count - 1
    let what = subjects.contains { $0.reading != nil } ? "more item" : "more record"
    return "\(verb) \(summary(entry))" + (others > 0 ? ", and \(counted(others, what))" : "")
  }

  /// The changed subjects. In a corrected entry, a hidden reading is left out if another one replaces it.
  private static func subjects(_ action: PersonAction) -> [PersonAction.Subject] {
    action.subjects.filter { subject in
      let isReplaced = action.kind == .edit && subject.state.kind == .withdrawal && subject.reading == nil
      return subject.isChanged && !isReplaced
    }
  }

  private static func summary(_ subject: PersonAction.Subject) -> String {
    let state = subject.state
    if let reading = subject.reading {
      let unit = reading.measurement.unit
      return "\(reading.identity.kind.name) \(value(reading.measurement, unit)) \(unit.name)  \(reading.id)"
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

/// An action in the output of `undo --json`, `redo --json` and `log --json`; glucoport-json(5) documents its
/// members.
struct ActionObject: Encodable {
  let action: String
  let madeAt: String
  let undone: Bool
  let records: [String]
  let readings: [String]
  let left: [String]?
  let dryRun: Bool?

  /// A listed action.
  init(_ action: PersonAction) {
    self.action = action.kind.rawValue
    madeAt = instant(action.madeAt)
    undone = action.isUndone
    records = action.subjects.filter { $0.reading == nil && $0.isChanged }.map(\.guid)
    readings = action.subjects.filter(\.isChanged).compactMap { $0.reading?.id }
    (left, dryRun) = (nil, nil)
  }

  /// An action that was undone or redone.
  init(
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
