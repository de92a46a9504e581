// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport store erase`: removes a store and everything that is known of it, permanently.
struct StoreEraseCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove the store, its logbook on the server, and its known backups permanently.",
    discussion: helpText(
      """
      The files are overwritten before they are removed. What could not be reached is listed. If the \
      server does not answer, nothing changes.
      """,
      examples: "glucoport store erase",
      "glucoport store erase --confirm logbook.db"))

  @OptionGroup var storeOptions: StoreOptions

  @Option(
    help: ArgumentHelp("The name of the store's file, for a run without a terminal.", valueName: "name"))
  var confirm: String?

  func run() async throws {
    let output = Output()
    let path = try storeOptions.path
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var erasure = StoreErasure(path: path, name: name, output: output)
    try await erasure.run(confirm: confirm)
    try output.finish()
  }
}
