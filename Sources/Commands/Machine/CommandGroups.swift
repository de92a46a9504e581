// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The commands of this module, in the order and the groups of the program's help.
package enum CommandGroups {
  /// The commands that import data.
  package static let importing: [any ParsableCommand.Type] = [ImportCommand.self, MeterCommand.self]

  /// The command that reverses an import or a person's change, and the command that applies what was reversed
  /// again.
  package static let undoing: [any ParsableCommand.Type] = [UndoCommand.self, RedoCommand.self]

  /// The commands that show the state of the store and of its uploads.
  package static let looking: [any ParsableCommand.Type] = [StatusCommand.self]

  /// The commands that exchange data with servers, sites and other services.
  package static let syncing: [any ParsableCommand.Type] = [
    UploadCommand.self, VerifyCommand.self, RemoteCommand.self, FetchCommand.self, SourceCommand.self,
    ConflictCommand.self, QueueCommand.self, ServeCommand.self,
  ]

  /// The commands that change a logbook, the settings or this computer.
  package static let managing: [any ParsableCommand.Type] = [
    AddCommand.self, RecordCommand.self, ReadingCommand.self, CountCommand.self, BackupCommand.self,
    RestoreCommand.self, PersonCommand.self, StoreCommand.self, ConfigCommand.self, SetupCommand.self,
  ]
}
