// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook
import LogbookStore

/// `glucoport person add`: gives a person a store.
struct PersonAddCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a person with a store.",
    discussion: helpText(
      """
      The first import creates the store. --store names one that is there already, such as the one \
      that was used before there were persons.
      """,
      examples: "glucoport person add anna --store ~/.local/share/glucoport/logbook.db",
      "glucoport person add ben --folder ~/Downloads/ben"))

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

  func run() throws {
    let output = Output()
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
    let isFirst = try PersonList.change { list in
      try list.add(person)
      if store == nil, try Store.exists(path: path) {
        throw Failure(
          .configuration,
          "\(displayed(path)): a store of this name is there; to use it: 'glucoport person add \(name.shellWord) --store \(path.shellWord)'; for a new one, choose another name"
        )
      }
      for folder in folders { _ = try list.assign(folder: folder, to: name) }
      return list.all.count == 1
    }
    if !quiet { output.line("added: \(displayed(name)), \(displayed(path))") }
    let former = data + "/logbook.db"
    if isFirst, path != former, try Store.exists(path: former) {
      output.message(
        "glucoport: \(displayed(former)) is the store of no person; 'glucoport person add NAME --store \(former.shellWord)' gives it one"
      )
    }
    try output.finish()
  }
}
