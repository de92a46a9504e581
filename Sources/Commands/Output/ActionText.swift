// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// What a person did to records, in one line.
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
    guard let first = action.subjects.first else { return verb }
    // Of a deletion, the entry rather than what belonged to it.
    let entry = action.subjects.first { $0.state.entryGuid == nil } ?? first
    let others = action.subjects.count - 1
    return "\(verb) \(summary(entry))" + (others > 0 ? ", and \(counted(others, "more record"))" : "")
  }

  private static func summary(_ subject: PersonAction.Subject) -> String {
    let state = subject.state
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

/// What `undo --json` and `redo --json` print of an action, and `log --json` lists; glucoport-json(5) documents its members.
struct ActionObject: Encodable {
  let action: String
  let madeAt: String
  let undone: Bool
  let records: [String]
  let left: [String]?
  let dryRun: Bool?

  /// One that is listed.
  init(_ action: PersonAction) {
    self.action = action.kind.rawValue
    madeAt = instant(action.madeAt)
    undone = action.isUndone
    records = action.subjects.map(\.guid)
    (left, dryRun) = (nil, nil)
  }

  /// One that was undone or redone.
  init(
    _ action: PersonAction, _ direction: UndoDirection, _ outcome: ActionOutcome, isDryRun: Bool
  ) {
    self.action = action.kind.rawValue
    madeAt = instant(action.madeAt)
    undone = direction == .undo
    records = outcome.changed
    left = outcome.left
    dryRun = isDryRun
  }
}
