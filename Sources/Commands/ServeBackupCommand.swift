// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import ServerStore

/// `glucoport serve backup`: copies the data of a server, which may run.
struct ServeBackupCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the data of a server, while it runs.",
    discussion: helpText(
      """
      The copy is a folder with the time in its name. Each logbook in it is as it was at one moment. To restore \
      it, stop the server and let --data name a copy of it.
      """,
      examples: "glucoport serve backup /backup --keep 7",
      "glucoport serve backup --data /var/lib/glucoport /backup"))

  @OptionGroup var dataOptions: DataOptions
  // Without it, the option would be taken by 'serve', and the folder copied instead.
  @OptionGroup(visibility: .hidden) var databaseOptions: DatabaseOptions

  @Argument(
    help: ArgumentHelp("An existing folder for the copy.", valueName: "folder"), completion: .directory)
  var folder: PathArgument

  @Option(help: ArgumentHelp("Keep only the newest N copies in the folder.", valueName: "number"))
  var keep: Int?

  func validate() throws {
    if let keep, keep < 1 { throw ValidationError("--keep is a whole number, 1 or more.") }
  }

  func run() throws {
    let output = Output()
    Host.keepFilesPrivate()
    guard Host.isFolder(folder.path) else {
      throw Failure(.missingInput, "\(displayed(folder.path)): No such folder; create it first")
    }
    guard databaseOptions.database == nil else {
      throw Failure(
        .usage,
        "a database is backed up with the programs of PostgreSQL, such as pg_dump; see glucoport-postgresql(7)"
      )
    }
    let (data, target) = (Host.resolved(try dataOptions.path), Host.resolved(folder.path))
    guard target != data, !target.hasPrefix(data + "/") else {
      throw Failure(
        .usage, "\(displayed(folder.path)): this is the data folder of the server; name another one")
    }
    let backup = try ServerBackup.make(of: data, in: target, stamp: BackupPlace.stamp(Host.now()))
    let removed = try keep.map { try backup.removeOlder(of: data, keeping: $0) } ?? []
    output.line(
      "\(displayed(backup.path)): \(counted(backup.logbooks, "logbook")), \(grouped(Int(backup.size))) bytes"
    )
    for path in removed { output.line("  removed \(displayed(path))") }
    try output.finish()
  }
}
