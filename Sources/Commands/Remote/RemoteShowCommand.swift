// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Remotes

/// `glucoport remote show`: what the store keeps of its remote, without asking it.
struct RemoteShowCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the server and how far the store is in step with it.")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let setting = try storeOptions.open(.reader).requireRemote()
    try output.result(asJSON: json, RemoteObject(setting), orLines: RemoteText.lines(setting))
    try output.finish()
  }
}
