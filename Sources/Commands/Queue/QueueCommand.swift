// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `glucoport queue`: what is to be fetched, and what the remote refused.
struct QueueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "List, add, cancel or retry what is to be fetched.",
    discussion: "No queue command asks the server; the next upload works the queue off.",
    subcommands: [
      QueueListCommand.self, QueueAddCommand.self, QueueCancelCommand.self, QueueRetryCommand.self,
    ])
}
