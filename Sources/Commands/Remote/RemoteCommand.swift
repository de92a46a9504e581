// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport remote`: the server with which the store syncs.
struct RemoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract:
      "Set, show, test, remove or purge the server that the store syncs with, or show it in a browser.",
    discussion: helpText(
      examples: "glucoport remote set https://sync.example.org --token-file ~/.config/glucoport/token",
      "glucoport remote test"),
    subcommands: [
      RemoteSetCommand.self, RemoteShowCommand.self, RemoteTestCommand.self, RemoteRemoveCommand.self,
      RemotePageCommand.self, RemotePurgeCommand.self,
    ])
}
