// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookAPI
import PostgresStore
import ServerStore

/// `glucoport serve import`: moves the data of a server from a folder to a database.
struct ServeImportCommand: ParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Move the data of a server from a folder to a database.",
    discussion: helpText(
      """
      Stop the server first, and run it as the role that owns the tables. Clients notice nothing: positions, \
      tokens and removed logbooks move too. The folder is marked, and servers refuse it from then on.
      """,
      examples:
        "glucoport serve import --from /var/lib/glucoport --database postgresql://owner@db/glucoport",
      "glucoport serve import --from server --database service=glucoport"))

  @OptionGroup var databaseOptions: DatabaseOptions

  @Option(
    help: ArgumentHelp("The data folder of the server, which does not run.", valueName: "folder"),
    completion: .directory)
  var from: PathArgument

  func run() throws {
    let output = Output()
    Host.keepFilesPrivate()
    let target = try PostgresTransfer(databaseOptions.requiredAddress)
    let source = try FolderSource(folder: from.path)
    try target.requireRoom(for: source.directory())
    try source.mark()
    output.line(transferred(try source.move(to: target)))
    try source.close()
    try output.finish()
  }
}

/// `glucoport serve export`: copies the data of a server from a database to a new folder.
struct ServeExportCommand: ParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Copy the data of a server from a database to a new folder.",
    discussion: helpText(
      """
      Stop all servers of the database first, and serve the folder instead: what clients send to the database \
      after that is missing in the folder.
      """,
      examples:
        "glucoport serve export --to /var/lib/glucoport --database postgresql://owner@db/glucoport",
      "glucoport serve export --to server --database service=glucoport"))

  @OptionGroup var databaseOptions: DatabaseOptions

  @Option(
    help: ArgumentHelp("The new data folder, which must not exist.", valueName: "folder"),
    completion: .directory)
  var to: PathArgument

  func run() throws {
    let output = Output()
    Host.keepFilesPrivate()
    let source = try PostgresTransfer(databaseOptions.requiredAddress)
    let target = try FolderTarget(folder: to.path)
    let counts = try source.move(to: target)
    try target.finish()
    output.line(transferred(counts))
    try output.finish()
  }
}

private func transferred(_ counts: TransferCounts) -> String {
  "\(counted(counts.logbooks, "logbook")), \(counted(counts.readings, "reading")), \(counted(counts.records, "record")), \(grouped(Int(counts.contentBytes))) bytes of attachments"
}
