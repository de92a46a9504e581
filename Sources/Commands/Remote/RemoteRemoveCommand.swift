// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport remote remove`: forgets how the server is reached, without asking it.
struct RemoteRemoveCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Forget the server. What the store and the server hold stays.")

  @OptionGroup var storeOptions: StoreOptions

  func run() throws {
    let output = Output()
    let wasThere = try storeOptions.open(.sync).removeRemote()
    output.line(wasThere ? "the remote is removed; what is there stays there" : "there was no remote")
    try output.finish()
  }
}
