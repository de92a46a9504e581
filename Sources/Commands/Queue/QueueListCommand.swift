// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport queue list`: the downloads in the order in which they run.
struct QueueListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the queued downloads in their order, and the pinned ranges.",
    discussion: helpText(
      examples: "glucoport queue list",
      "glucoport queue list --refused"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "List what the remote refused, with its reasons: readings, records and downloads.")
  var refused = false

  @Flag(help: "Print one JSON object per line.")
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
