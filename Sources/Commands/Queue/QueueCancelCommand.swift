// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport queue cancel`: removes downloads from the queue.
struct QueueCancelCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Remove downloads from the queue.",
    discussion: helpText(
      examples: "glucoport queue cancel 3 4",
      "glucoport queue cancel p1"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "Numbers from 'queue list'; those of pinned ranges begin with p.")
  var numbers: [QueueNumber]

  func run() throws {
    let output = Output()
    try storeOptions.open(.editor).cancelDownloads(
      numbers.compactMap(\.download), pins: numbers.compactMap(\.pin))
    output.line("cancelled: \(grouped(numbers.count))")
    try output.finish()
  }
}

/// The number that `queue list` shows before a row: `7` for a download, `p1` for a pinned range.
enum QueueNumber: ExpressibleByArgument {
  case download(Int64)
  case pin(Int)

  init?(argument: String) {
    if argument.hasPrefix("p"), let place = Int(argument.dropFirst()), place > 0 {
      self = .pin(place)
    } else if let id = Int64(argument) {
      self = .download(id)
    } else {
      return nil
    }
  }

  var download: Int64? { if case .download(let id) = self { id } else { nil } }
  var pin: Int? { if case .pin(let place) = self { place } else { nil } }
}
