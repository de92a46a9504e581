// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport queue cancel`: what is no longer wanted.
struct QueueCancelCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Take something off the queue.")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The numbers that 'queue list' shows.")
  var numbers: [Int64]

  func run() throws {
    let output = Output()
    try storeOptions.open(.editor).cancelDownloads(numbers)
    output.line("cancelled: \(grouped(numbers.count))")
    try output.finish()
  }
}
