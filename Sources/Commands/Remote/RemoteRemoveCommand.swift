// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport remote remove`: removes the access to the server, without a request to it.
struct RemoteRemoveCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove the server's address and login from the store. Data on both sides stays.",
    discussion: helpText(
      examples: "glucoport remote remove",
      "glucoport remote remove --store anna.db"))

  @OptionGroup var storeOptions: StoreOptions

  func run() throws {
    let output = Output()
    let wasThere = try storeOptions.open(.sync).removeRemote()
    output.line(wasThere ? "the remote was removed; its data stays on the server" : "the store had no remote")
    try output.finish()
  }
}
