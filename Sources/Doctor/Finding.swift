// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One line of a checkup: what was looked at, how it is, and the command that mends it.
package struct Finding: Hashable, Sendable {
  /// What is looked at.
  package enum Area: String, CaseIterable, Sendable {
    /// The program and its libraries.
    case program
    /// The store's folder and the files in it.
    case folders
    /// What is in the store.
    case store
    /// The clock of this computer.
    case clock
    /// The meters that are plugged in.
    case usb
    /// The rules that give people permission to open meters.
    case udev
    /// The server that the store syncs with.
    case remote
    /// What runs glucoport regularly.
    case jobs
    /// The copies that `backup` made of the store.
    case backups
    /// Files that were left behind.
    case leftovers
  }

  /// How it is.
  package enum State: String, CaseIterable, Comparable, Sendable {
    /// As it should be.
    case ok
    /// Worth knowing; nothing needs to be done.
    case note
    /// It works, but a person should act.
    case warn
    /// It does not work, or data is at risk.
    case fail

    /// Whether one state is better than another.
    package static func < (left: State, right: State) -> Bool {
      guard let first = allCases.firstIndex(of: left), let second = allCases.firstIndex(of: right) else {
        return false
      }
      return first < second
    }
  }

  /// What was looked at.
  package let area: Area
  /// How it is.
  package let state: State
  /// What was found, and why it matters.
  package let detail: String
  /// A command that mends it; nil where none does.
  package let fix: String?
  /// What kind of failure it is; nil for none of the kinds.
  package let category: FailureCategory?

  /// A finding with the command that mends it.
  package init(
    _ area: Area, _ state: State, _ detail: String, fix: String? = nil, _ category: FailureCategory? = nil
  ) {
    self.area = area
    self.state = state
    self.detail = detail
    self.fix = fix
    self.category = category
  }
}

/// A word for the shell that means this text, as a command to copy needs it.
func quoted(_ text: String) -> String {
  "'" + PathText.shown(text).replacing("'", with: "'\\''") + "'"
}
