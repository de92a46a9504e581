// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookAPI
import PostgresStore

/// `glucoport serve logbook`: commands for the logbooks in PostgreSQL, and for the databases in which they
/// are.
struct ServeLogbookCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "logbook", "List the logbooks of a database, and move them to others.",
    examples: "glucoport serve logbook list --database postgresql://owner@db/glucoport",
    "glucoport serve logbook move anna south --database postgresql://owner@db/glucoport",
    subcommands: [List.self, Move.self, Clean.self, Recover.self])
}

extension ServeLogbookCommand {
  /// `glucoport serve logbook list`: lists the logbooks, each with its cluster and the number of its items.
  struct List: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "list", "List the logbooks: name, cluster, and how much each holds.",
      "It counts the rows, which takes a moment for large logbooks.",
      examples: "glucoport serve logbook list --database postgresql://owner@db/glucoport",
      "glucoport serve logbook list --database service=glucoport --json")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run(_ output: Output) throws {
      for logbook in try PostgresDirectory(databaseOptions.requiredAddress).list() {
        let (readings, records) = (Int(logbook.readings), Int(logbook.records))
        try output.result(
          asJSON: json, logbook,
          orLines: [
            "\(displayed(logbook.name))  \(displayed(logbook.cluster))  \(counted(readings, "reading")), \(counted(records, "record")), \(grouped(Int(logbook.contentBytes))) bytes of attachments"
          ])
      }
    }
  }

  /// `glucoport serve logbook move`: moves a logbook to another database, while clients use it.
  struct Move: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "move", "Move a logbook to another database while clients use it.",
      """
      Changes are refused for a moment, and clients repeat them. After an interruption the logbook is complete in \
      one of the databases; run the command again. The old copy is kept until 'serve logbook clean'.
      """,
      examples: "glucoport serve logbook move anna south --database postgresql://owner@db/glucoport",
      "glucoport serve logbook move anna default --database service=glucoport")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Argument(help: ArgumentHelp("The logbook.", valueName: "name"))
    var name: String

    @Argument(
      help: ArgumentHelp(
        "A cluster of 'serve database add-cluster', or 'default' for the database of --database.",
        valueName: "cluster"))
    var cluster: String

    func run(_ output: Output) throws {
      let directory = try PostgresDirectory(databaseOptions.requiredAddress)
      let moved = try LogbookMove.run(name, to: cluster, in: directory)
      if let source = moved.source {
        let counts = moved.counts
        output.line(
          "\(counted(counts.readings, "reading")), \(counted(counts.records, "record")), \(grouped(Int(counts.contentBytes))) bytes of attachments; changes were refused for \(milliseconds(moved.pause)) ms"
        )
        output.line(
          "'\(displayed(source))' keeps its copy until 'glucoport serve logbook clean \(displayed(name))'")
      } else {
        output.line("the logbook is in '\(displayed(cluster))'")
      }
    }

    private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
  }

  /// `glucoport serve logbook clean`: removes the copies of logbooks that moves have left.
  struct Clean: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "clean", "Remove the copies that moves of a logbook left.",
      "The logbook itself stays. Run it when the database that has it is replicated or backed up.",
      examples: "glucoport serve logbook clean anna --database postgresql://owner@db/glucoport",
      "glucoport serve logbook clean anna --database service=glucoport")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Argument(help: ArgumentHelp("The logbook.", valueName: "name"))
    var name: String

    func run(_ output: Output) throws {
      let clusters = try PostgresDirectory(databaseOptions.requiredAddress).clean(name)
      if clusters.isEmpty { output.line("no other database has a copy") }
      for cluster in clusters { output.line("removed the copy in '\(displayed(cluster))'") }
    }
  }
}

extension ServeLogbookCommand {
  /// `glucoport serve logbook recover`: corrects the list that states which database has which logbook. The
  /// list can be wrong after a database was restored from a backup.
  struct Recover: PrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "recover", "Find logbooks again after a database was restored from a backup.",
      """
      The copy of the latest move accepts changes from then on, also if it was left for one that is lost. Clients send \
      again what it lacks. It can be repeated.
      """,
      examples: "glucoport serve logbook recover --database postgresql://owner@db/glucoport",
      "glucoport serve logbook recover anna --database service=glucoport")

    @OptionGroup var databaseOptions: DatabaseOptions

    @Argument(help: ArgumentHelp("The logbook; all without a name.", valueName: "name"))
    var name: String?

    func run(_ output: Output) throws {
      let found = try LogbookRecovery.run(name, in: PostgresDirectory(databaseOptions.requiredAddress))
      if found.isEmpty { output.line("every logbook is where the directory states it") }
      for logbook in found {
        let (name, cluster) = (displayed(logbook.name), displayed(logbook.cluster))
        output.line(
          logbook.isReactivated
            ? "\(name): the copy in '\(cluster)' accepts changes again" : "\(name): it is in '\(cluster)'")
      }
    }
  }
}
