// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport store`: commands for a whole store.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Erase a store permanently.",
    discussion: helpText(
      examples: "glucoport store erase", "glucoport store erase --store old.db --confirm old.db"),
    subcommands: [StoreEraseCommand.self])
}
