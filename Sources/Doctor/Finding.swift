// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One line of a checkup. It states what was checked, the result, and the command that repairs a problem.
package struct Finding: Hashable, Sendable {
  /// The part of the installation that was checked.
  package enum Area: String, CaseIterable, Sendable {
    /// The program and its libraries.
    case program
    /// The store's folder and the files in it.
    case folders
    /// The content of the store.
    case store
    /// The clock of this computer.
    case clock
    /// The meters that are plugged in.
    case usb
    /// The paired Bluetooth meters.
    case bluetooth
    /// The rules that give people permission to open meters.
    case udev
    /// The server that the store syncs with.
    case remote
    /// The sources from which `fetch` reads.
    case sources
    /// The jobs that run glucoport regularly.
    case jobs
    /// The copies that `backup` made of the store.
    case backups
    /// Files next to the store that may no longer be needed.
    case leftovers
  }

  /// How serious a finding is, from the best to the worst state.
  package enum State: String, CaseIterable, Comparable, Sendable {
    /// Everything is as it should be.
    case ok
    /// A person should know it, but nothing needs to be done.
    case note
    /// The checked area works, but a person should do something.
    case warn
    /// The checked area does not work, or data is at risk.
    case fail

    /// Whether the left state is better.
    package static func < (left: State, right: State) -> Bool {
      guard let first = allCases.firstIndex(of: left), let second = allCases.firstIndex(of: right) else {
        return false
      }
      return first < second
    }
  }

  package let area: Area
  /// How serious the finding is.
  package let state: State
  /// What was found, and why it matters.
  package let detail: String
  /// The command that repairs the problem; nil if there is none.
  package let fix: String?
  /// The category of the failure, for the exit status; nil if no category applies.
  package let category: FailureCategory?

  /// A finding with the command that repairs it.
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

/// The text as one word of the shell, for commands that a person copies.
func quoted(_ text: String) -> String { PathText.shown(text).shellQuoted }
