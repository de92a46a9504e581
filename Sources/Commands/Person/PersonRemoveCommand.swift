// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport person remove`: removes a person from the list, and with `--erase` all data of the person.
struct PersonRemoveCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a person; the store stays, unless --erase is given.",
    discussion: helpText(
      """
      With --erase, the logbook on the server, the store, its known backups and the file of its token \
      are removed permanently, after the name was typed. What could not be reached is listed.
      """,
      examples: "glucoport person remove ben",
      "glucoport person remove ben --erase"))

  @Argument(help: ArgumentHelp("The person.", valueName: "name"), completion: .persons)
  var name: String

  @Flag(help: "Remove the data, too, permanently.")
  var erase = false

  @Option(help: ArgumentHelp("The name once more, for a run without a terminal.", valueName: "name"))
  var confirm: String?

  func validate() throws {
    if confirm != nil, !erase { throw ValidationError("--confirm needs --erase.") }
  }

  func run() async throws {
    let output = Output()
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
    try output.finish()
  }
}
