// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport queue list`: what is to be fetched, in the order in which that happens.
struct QueueListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what is to be fetched, the next one first, and the ranges that are pinned.")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "List what the remote refused instead: readings, records and downloads, with its words.")
  var refused = false

  @Flag(help: "Print one JSON object a line.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    if refused { try listRefused(store, output) }
    for download in try store.downloads() where (download.refusal != nil) == refused {
      try output.result(asJSON: json, DownloadObject(download), orLines: [QueueText.line(download)])
    }
    if !refused {
      for (place, range) in try store.pinnedRanges().enumerated() {
        try output.result(
          asJSON: json, PinObject(place + 1, range), orLines: [QueueText.line(pin: place + 1, range)])
      }
    }
    try output.finish()
  }

  private func listRefused(_ store: Store, _ output: Output) throws {
    try store.forEachRefused { item, reason in
      try output.result(asJSON: json, RefusedObject(item, reason), orLines: [QueueText.line(item, reason)])
    }
  }
}
