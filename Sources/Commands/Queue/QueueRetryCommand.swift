// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport queue retry`: allows another attempt for refused items.
struct QueueRetryCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Let the next upload retry what the remote refused.",
    discussion: helpText(
      "Without a number: everything that was refused, including readings and records.",
      examples: "glucoport queue retry 3",
      "glucoport queue retry"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "Numbers from 'queue list --refused'.")
  var numbers: [Int64] = []

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.sync)
    let downloads = numbers.isEmpty ? try store.downloads().filter { $0.refusal != nil }.map(\.id) : numbers
    let refused = try store.retryDownloads(downloads)
    let others = numbers.isEmpty ? try store.releaseRefused() : 0
    output.line("to be retried: \(grouped(refused.count + others))")
    for number in Set(downloads).subtracting(refused).sorted() {
      output.message("glucoport: download \(number) was not refused; the next upload downloads it anyway")
    }
    try output.finish()
  }
}
