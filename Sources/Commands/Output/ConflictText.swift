// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A conflict as lines of text.
enum ConflictText {
  /// The advice for pending conflicts.
  static func pending(_ count: Int) -> String {
    counted(count, "conflict needs", "conflicts need")
      + " a decision; 'glucoport conflict list' shows \(count == 1 ? "it" : "them")"
  }

  static func line(_ conflict: RecordConflict) -> String {
    let kind = conflict.mine.kind.rawValue
    let blanks = String(repeating: " ", count: max(0, 10 - kind.count))
    return
      "\(conflict.mine.deviceTime.text.replacing("T", with: " "))  \(kind)\(blanks) \(conflict.guid.prefix(8))  \(reason(conflict))"
  }

  /// The record, when each side was edited, and each different part with its text on every side.
  static func lines(_ conflict: RecordConflict) -> [String] {
    var lines = [line(conflict), "  id      \(conflict.guid)"]
    if conflict.cause == .edited {
      lines.append("  edited  mine \(instant(conflict.mine)), theirs \(instant(conflict.theirs))")
    }
    for part in Difference.of(conflict) {
      lines.append(displayed(part.name))
      if conflict.base != nil { lines.append("  base    \(shown(part.base))") }
      lines += ["  mine    \(shown(part.mine))", "  theirs  \(shown(part.theirs))"]
    }
    return lines
  }

  private static func reason(_ conflict: RecordConflict) -> String {
    switch conflict.cause {
    case .edited: Difference.of(conflict).map { displayed($0.name) }.joined(separator: ", ")
    case .orphaned: "deleted, but records belong to it"
    }
  }

  private static func shown(_ text: String?) -> String { text.map(displayed) ?? "none" }

  private static func instant(_ state: RecordState) -> String {
    state.editedAt.map { DeviceTime(seconds: $0).text + "Z" } ?? "at an unknown time"
  }
}
