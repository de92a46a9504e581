// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The commands that only read, in the groups and the order of the program's help.
package enum LookGroups {
  /// The commands about imports: which formats exist, and what was imported.
  package static let imports: [any ParsableCommand.Type] = [FormatsCommand.self, LogCommand.self]

  /// The commands that show a logbook, and `doctor`.
  package static let logbook: [any ParsableCommand.Type] = [
    DoctorCommand.self, LatestCommand.self, ListCommand.self, ShowCommand.self, DayCommand.self,
    StatsCommand.self, ReportCommand.self, ExportCommand.self,
  ]
}
