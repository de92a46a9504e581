// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookAPI
import PostgresStore
import ServerStore

/// The option that keeps a server's data in a database and not in a folder.
struct DatabaseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Keep the data in this PostgreSQL database instead of a folder, as libpq names it, without a password.",
      valueName: "address"))
  var database: String?

  /// The address of the database; nil if the option is not given, so that a folder has the data.
  ///
  /// - Throws: `Failure`: `usage` if the address is invalid or has a password, `configuration` if libpq is
  ///   missing.
  var address: DatabaseAddress? {
    get throws { try database.map { try DatabaseAddress($0) } }
  }

  /// The address of the database, for a command that works only with a database.
  ///
  /// - Throws: as in `address`, and `Failure` of category `usage` if the option is missing.
  var requiredAddress: DatabaseAddress {
    get throws {
      guard let address = try address else {
        throw Failure(.usage, "--database is missing; name the database as libpq does")
      }
      return address
    }
  }
}

/// `glucoport serve database`: commands for the schema of a server's database.
struct ServeDatabaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "database", "Prepare and check a database for servers.",
    examples:
      "glucoport serve database prepare --database postgresql://owner@db/glucoport --grant-to glucoport_server",
    "glucoport serve database check --database postgresql://glucoport_server@db/glucoport",
    subcommands: [Prepare.self, Check.self, AddCluster.self])
}

extension ServeDatabaseCommand {
  /// `glucoport serve database prepare`: creates or upgrades the schema. The database role that runs it owns
  /// the schema.
  struct Prepare: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "prepare", "Create or upgrade the tables of a database.",
      """
      Run it as the role that owns the tables. Servers use another role, which can neither change nor delete \
      a reading. It can be repeated, and does nothing if the tables are up to date.
      """,
      examples:
        "glucoport serve database prepare --database postgresql://owner@db/glucoport --grant-to glucoport_server",
      "glucoport serve database prepare --database service=glucoport --dry-run")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(help: ArgumentHelp("Permit this database role to serve. It must exist.", valueName: "role"))
    var grantTo: String?

    @Flag(help: "Print the statements that would run; change nothing.")
    var dryRun = false

    func run(_ output: Output) throws {
      let statements = try PostgresDatabase(databaseOptions.requiredAddress).prepare(
        role: grantTo, isPreview: dryRun)
      if dryRun {
        for statement in statements { output.line(statement + ";") }
      } else {
        let count = statements.count
        output.line(count == 0 ? "the tables are up to date" : "prepared: \(counted(count, "statement"))")
      }
    }
  }

  /// `glucoport serve database check`: makes the checks that a server makes when it starts.
  struct Check: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "check", "Check that a database can be served by a role.",
      "It changes nothing. A server makes the same checks when it starts.",
      examples: "glucoport serve database check --database postgresql://glucoport_server@db/glucoport",
      "glucoport serve database check --database service=glucoport")

    @OptionGroup var databaseOptions: DatabaseOptions

    func run(_ output: Output) throws {
      let version = try PostgresDatabase(databaseOptions.requiredAddress).check()
      output.line("the tables have version \(version), and the role can serve them")
    }
  }
}

extension ServeDatabaseCommand {
  /// `glucoport serve database add-cluster`: adds a database to which logbooks can be moved.
  struct AddCluster: ParsableCommand, ClassifiedCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "add-cluster", "Name another database, to which logbooks can be moved.",
      """
      Prepare that database first. Servers connect to it when the first logbook is there, with the role that they \
      use for --database. An existing name gets the address.
      """,
      examples:
        "glucoport serve database add-cluster south postgresql://db4/glucoport --database postgresql://owner@db/glucoport",
      "glucoport serve database add-cluster south service=south --database service=glucoport")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Argument(help: ArgumentHelp("A name for the database.", valueName: "name"))
    var name: String

    @Argument(
      help: ArgumentHelp(
        "The database, as libpq names it, without a role and a password.", valueName: "address"))
    var address: String

    func run() throws {
      try PostgresDirectory(databaseOptions.requiredAddress).addCluster(name, at: address)
    }
  }
}

/// `glucoport serve import`: moves a server's data from a folder to a database.
struct ServeImportCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "import", "Move the data of a server from a folder to a database.",
    """
    Stop the server first, and run it as the role that owns the tables. Clients notice nothing: positions, \
    tokens and removed logbooks move too. The folder is marked with the name of the database, and servers \
    refuse it from then on.
    """,
    examples:
      "glucoport serve import --from /var/lib/glucoport --database postgresql://owner@db/glucoport",
    "glucoport serve import --from server --database service=glucoport")

  @OptionGroup var databaseOptions: DatabaseOptions

  @Option(
    help: ArgumentHelp("The data folder of the server, which does not run.", valueName: "folder"),
    completion: .directory)
  var from: PathArgument

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    let target = try PostgresTransfer(databaseOptions.requiredAddress)
    let source = try FolderSource(folder: from.path)
    let database = try target.database()
    try source.requireUnmoved(exceptTo: database)
    try target.requireCapacity(for: source.directory(), isRepeated: source.wasMarked)
    try source.mark(database)
    output.line(transferred(try source.move(to: target)))
    try source.close()
  }
}

/// `glucoport serve export`: copies a server's data from a database to a new folder.
struct ServeExportCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "export", "Copy the data of a server from a database to a new folder.",
    """
    Stop all servers of the database first, and serve the folder instead: what clients send to the database \
    after that is missing in the folder.
    """,
    examples:
      "glucoport serve export --to /var/lib/glucoport --database postgresql://owner@db/glucoport",
    "glucoport serve export --to server --database service=glucoport")

  @OptionGroup var databaseOptions: DatabaseOptions

  @Option(
    help: ArgumentHelp("The new data folder, which must not exist.", valueName: "folder"),
    completion: .directory)
  var to: PathArgument

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    let source = try PostgresTransfer(databaseOptions.requiredAddress)
    let target = try FolderTarget(folder: to.path)
    let counts = try source.move(to: target)
    try target.finish()
    output.line(transferred(counts))
  }
}

private func transferred(_ counts: TransferCounts) -> String {
  let known = counts.knownLogbooks == 0 ? "" : " (\(counts.knownLogbooks) moved already)"
  return
    "\(counted(counts.logbooks, "logbook"))\(known), \(counted(counts.readings, "reading")), \(counted(counts.records, "record")), \(grouped(Int(counts.contentBytes))) bytes of attachments"
}
