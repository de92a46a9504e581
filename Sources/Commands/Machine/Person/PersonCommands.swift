// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Glibc
import Logbook
import LogbookStore

/// `glucoport person`: commands for the persons who have a store on this computer.
struct PersonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "person", "Keep the stores of several people apart.",
    """
    Each person has a store. --person, or GLUCOPORT_PERSON, chooses the store of a command. 'upload', \
    'status' and 'backup' go over all persons.
    """,
    examples: "glucoport person add anna", "glucoport person list",
    subcommands: [
      PersonAddCommand.self, PersonListCommand.self, PersonAssignCommand.self, PersonRenameCommand.self,
      PersonRemoveCommand.self,
    ])
}

/// `glucoport person add`: adds a person, with a new or an existing store.
struct PersonAddCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "add", "Add a person with a store.",
    """
    The first import creates the store. --store names one that is there already, such as the one \
    that was used before there were persons.
    """,
    examples: "glucoport person add anna --store ~/.local/share/glucoport/logbook.db",
    "glucoport person add ben --folder ~/Downloads/ben")

  @Argument(help: ArgumentHelp("The name.", valueName: "name"))
  var name: String

  @Option(help: ArgumentHelp("The store of the person. Default: one in the data folder.", valueName: "file"))
  var store: PathArgument?

  @Option(
    help: ArgumentHelp(
      "'glucoport import' imports files of this folder into the person's store.", valueName: "folder"),
    completion: .directory)
  var folder: [PathArgument] = []

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    guard let data = Host.dataFolder else {
      throw Failure(
        .configuration, "no data folder for persons; set HOME or XDG_DATA_HOME to an absolute path")
    }
    let path = store.map { Host.absolute($0.path) } ?? "\(data)/persons/\(name).db"
    if store != nil, try !Store.exists(path: path) {
      throw Failure(.missingInput, "\(displayed(path)): No such store; leave out --store for a new one")
    }
    let person = Person(name: name, store: path)
    let folders = try folder.map { try PersonFolder.path($0.path) }
    let former = data + "/logbook.db"
    try PersonList.change { list in
      // The former store was used before any person was added. Without this check, no command would use it
      // any more. Jobs of cron would import into another store and report nothing.
      if store == nil, try Store.exists(path: former), !list.all.contains(where: { $0.hasStore(former) }) {
        throw Failure(
          .usage,
          "\(displayed(former)) is the store of no person yet; first give it to its person: \(quotedCommand("glucoport", "person", "add", "NAME", "--store", former))"
        )
      }
      try list.add(person)
      if store == nil, try Store.exists(path: path) {
        throw Failure(
          .configuration,
          "\(displayed(path)): a store of this name is there; to use it: \(quotedCommand("glucoport", "person", "add", name, "--store", path)); for a new one, choose another name"
        )
      }
      for folder in folders {
        if let owner = try list.assign(folder: folder, to: name) {
          throw Failure(
            .usage,
            "\(displayed(folder)): this is a folder of \(displayed(owner)); 'glucoport person assign' gives it to another person"
          )
        }
      }
    }
    if !quiet { output.line("added: \(displayed(name)), \(displayed(path))") }
  }
}

/// `glucoport person assign`: states to whom a meter or a folder belongs.
struct PersonAssignCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "assign", "Give a meter or a folder to a person.",
    """
    'glucoport import --meter' imports a meter into the store of its person, and 'glucoport import \
    FOLDER' a folder. What is imported already stays in its store.
    """,
    examples: "glucoport person assign 7654321 anna", "glucoport person assign ~/Downloads/ben ben")

  @Argument(
    help: ArgumentHelp(
      "The serial number of a meter, the model of one without, or a folder.", valueName: "meter"),
    completion: .directory)
  var meter: PathArgument

  @Argument(help: ArgumentHelp("The person.", valueName: "name"), completion: .persons)
  var name: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    let given = meter.path
    guard !given.isEmpty else { throw Failure(.usage, "name a serial number, a model or a folder") }
    let folder = given.contains("/") ? try PersonFolder.path(given) : nil
    let earlier = try PersonList.change { list in
      if let folder { return try list.assign(folder: folder, to: name) }
      return try list.assign(meter: given, to: name)
    }
    if !quiet {
      let before = earlier.map { ", before to \(displayed($0))" } ?? ""
      output.line("assigned: \(displayed(folder ?? given)) to \(displayed(name))\(before)")
    }
  }
}

/// The path of a folder that is assigned to a person.
enum PersonFolder {
  /// The path as the list of persons stores it: absolute and without links. So all paths to a folder become
  /// the same path.
  ///
  /// - Throws: `Failure` of category `missingInput` if the path is not that of a folder.
  static func path(_ given: String) throws(Failure) -> String {
    guard Host.isFolder(given) else {
      throw Failure(.missingInput, "\(displayed(given)): No such folder")
    }
    return Host.resolved(given)
  }
}

/// `glucoport person list`: lists the persons, with the state of each store.
struct PersonListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list",
    "List the people with their newest reading, what is pending, the last backup, folders and meters.",
    examples: "glucoport person list", "glucoport person list --json")

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    let persons = try PersonList.load().all
    if persons.isEmpty, !json { output.line("no persons; 'glucoport person add NAME' adds one") }
    for person in persons {
      let object = try PersonObject(person)
      try output.result(asJSON: json, object, orLines: object.lines)
    }
  }
}

/// A person for `person list --json`; glucoport-json(5) documents the members.
struct PersonObject: Encodable {
  let name: String
  let store: String
  let newestReading: String?
  let pending: Int?
  let lastBackup: String?
  let problem: String?
  let folders: [String]
  let meters: [String]

  /// Reads the state of the person's store. If it cannot be read, only `problem` of this person states that.
  init(_ person: Person) throws {
    (name, store, folders, meters) = (person.name, person.store, person.folders, person.meters)
    do {
      lastBackup = try BackupNotes(storePath: person.store).notes().last.map { instant($0.madeAt) }
    } catch {
      (lastBackup, newestReading, pending, problem) = (nil, nil, nil, error.message)
      return
    }
    do {
      guard try Store.exists(path: person.store) else {
        (newestReading, pending, problem) = (nil, nil, nil)
        return
      }
      let store = try Store(path: person.store, role: .reader)
      let query = try StatsQuery(store: store, device: nil, zone: store.timezone(), now: Host.now())
      (newestReading, pending) = (
        try query.newestReading().map { instant($0.utc) }, try store.overview(ingests: 0).pending
      )
      problem = nil
    } catch let failure as Failure {
      (newestReading, pending, problem) = (nil, nil, failure.message)
    }
  }

  var lines: [String] {
    let state =
      problem.map(displayed)
      ?? pending.map { "newest reading \(newestReading ?? "none") · \(grouped($0)) pending" }
      ?? "no store yet"
    return [
      "\(displayed(name)): \(state) · last backup \(lastBackup ?? "none")", "  store \(displayed(store))",
    ] + folders.map { "  folder \(displayed($0))" } + meters.map { "  meter \(displayed($0))" }
  }
}

/// `glucoport person rename`: changes the name of a person.
struct PersonRenameCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "rename", "Give a person another name.",
    "The store and the backups keep their files.", examples: "glucoport person rename anna 'Anna B.'",
    "glucoport person rename ben benjamin")

  @Argument(help: ArgumentHelp("The person.", valueName: "name"), completion: .persons)
  var name: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "new-name"))
  var newName: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    try PersonList.change { try $0.rename(name, to: newName) }
    if !quiet { output.line("renamed: \(displayed(name)) to \(displayed(newName))") }
  }
}

/// `glucoport person remove`: removes a person from the list, and with `--erase` also all of the person's
/// data.
struct PersonRemoveCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "remove", "Remove a person; the store stays, unless --erase is given.",
    """
    With --erase, the logbook on the server, the store, its known backups and the file of its token \
    are removed permanently, after the name was typed. What could not be reached is listed.
    """,
    examples: "glucoport person remove ben", "glucoport person remove ben --erase")

  @Argument(help: ArgumentHelp("The person.", valueName: "name"), completion: .persons)
  var name: String

  @Flag(help: "Remove the data, too, permanently.")
  var erase = false

  @Option(help: ArgumentHelp("The name once more, for a run without a terminal.", valueName: "name"))
  var confirm: String?

  func validate() throws {
    if confirm != nil, !erase { throw ValidationError("--confirm needs --erase.") }
  }

  func run(_ output: Output) async throws {
    let persons = try PersonList.load()
    let person = try persons.person(name)
    let hasStore = try Store.exists(path: person.store)
    if erase {
      if let other = persons.owner(ofStore: person.store, besides: name) {
        throw Failure(
          .usage,
          "\(displayed(person.store)): this is the store of \(displayed(other.name)), too; nothing was removed"
        )
      }
      var erasure = StoreErasure(path: person.store, name: name, output: output)
      if erasure.hasFiles {
        try await erasure.run(confirm: confirm)
      } else {
        output.line("no store: \(displayed(person.store))")
      }
    }
    _ = try PersonList.change { try $0.remove(name) }
    let stays = !erase && hasStore ? "; the store stays at \(displayed(person.store))" : ""
    output.line("removed: \(displayed(name))\(stays)")
  }
}
