// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The commands of this room, in the order and by the groups of the program's help.
package enum CommandGroups {
  /// The commands that import.
  package static let importing: [any ParsableCommand.Type] = [ImportCommand.self, MeterCommand.self]

  /// The commands that take back what an import or a person did, or do it again.
  package static let undoing: [any ParsableCommand.Type] = [UndoCommand.self, RedoCommand.self]

  /// The commands that look, and need what an upload needs.
  package static let looking: [any ParsableCommand.Type] = [StatusCommand.self]

  /// The commands for servers, sites and other services.
  package static let syncing: [any ParsableCommand.Type] = [
    UploadCommand.self, VerifyCommand.self, RemoteCommand.self, FetchCommand.self, SourceCommand.self,
    ConflictCommand.self, QueueCommand.self, ServeCommand.self,
  ]

  /// The commands that change a logbook, a setting or this computer.
  package static let managing: [any ParsableCommand.Type] = [
    AddCommand.self, RecordCommand.self, ReadingCommand.self, CountCommand.self, BackupCommand.self,
    RestoreCommand.self, PersonCommand.self, StoreCommand.self, ConfigCommand.self, SetupCommand.self,
  ]
}
