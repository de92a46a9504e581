// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The commands that only look, in the order and by the groups of the program's help.
package enum LookGroups {
  /// The commands that show what can be imported, and what was.
  package static let imports: [any ParsableCommand.Type] = [FormatsCommand.self, LogCommand.self]

  /// The commands that show a logbook, and what this computer lacks for it.
  package static let logbook: [any ParsableCommand.Type] = [
    DoctorCommand.self, LatestCommand.self, ListCommand.self, ShowCommand.self, DayCommand.self,
    StatsCommand.self, ReportCommand.self, ExportCommand.self,
  ]
}
