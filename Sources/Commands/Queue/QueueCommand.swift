// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport queue`: the downloads, and the items that the remote refused.
struct QueueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "List, add, cancel and retry downloads.",
    discussion: helpText(
      "No queue command uses the network: the next upload downloads what is queued.",
      examples: "glucoport queue list",
      "glucoport queue add readings --since 2026-03-01 --until 2026-06-01"),
    subcommands: [
      QueueListCommand.self, QueueAddCommand.self, QueueCancelCommand.self, QueueRetryCommand.self,
    ])
}
