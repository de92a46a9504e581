// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport log`: the ingests, the provenance of everything in the store.
struct LogCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List the imports, newest first; with a number, one of them with its rejections.")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The number of an import.")
  var number: Int64?

  @Option(help: ArgumentHelp("The newest so many.", valueName: "number"))
  var limit = 20

  @Flag(help: "Print one JSON object a line.")
  var json = false

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit takes a number from 1.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    if let number {
      try show(number, store, output)
    } else {
      for ingest in try store.ingests(limit: limit) {
        try output.result(asJSON: json, IngestObject(ingest), orLines: [IngestText.line(ingest)])
      }
    }
    try output.finish()
  }

  private func show(_ number: Int64, _ store: Store, _ output: Output) throws {
    guard let ingest = try store.ingest(number) else {
      throw Failure(.missingInput, "there is no import \(number); 'glucoport log' lists them")
    }
    let rejections = try store.rejections(of: number)
    try output.result(
      asJSON: json, IngestDetailsObject(ingest, rejections), orLines: IngestText.details(ingest, rejections))
  }
}
