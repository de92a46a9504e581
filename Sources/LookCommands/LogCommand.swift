// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// The command `log`, which lists the imports and changes from which the store's data come.
struct LogCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "log",
    "List imports and changes, newest first; with a number, show one import.",
    "Each can be undone with 'glucoport undo', an import at any time by its number.",
    examples: "glucoport log --limit 5", "glucoport log 12")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The number of an import.")
  var number: Int64?

  @Option(help: ArgumentHelp("Show only the newest N.", valueName: "number"))
  var limit = 20

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit is a whole number, 1 or more.") }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    if let number {
      try show(number, store, output)
    } else {
      try list(store, output)
    }
  }

  /// Lists imports and actions, newest first. An action comes before the import that was the newest when the
  /// action was made.
  private func list(_ store: Store, _ output: Output) throws {
    var actions = try store.actions(limit: limit)[...]
    var shown = 0
    func listActions(after ingest: Int64) throws {
      while shown < limit, let action = actions.first, action.latestIngest >= ingest {
        try output.result(asJSON: json, ActionObject(action), orLines: [ActionText.line(action)])
        actions.removeFirst()
        shown += 1
      }
    }
    let ingests = try store.ingests(limit: limit)
    let doubled = try DoubledByImport(ingests, store)
    for ingest in ingests {
      try listActions(after: ingest.id)
      guard shown < limit else { return }
      let count = doubled[ingest.id]
      try output.result(
        asJSON: json, ListedIngestObject(ingest, doubled: count),
        orLines: [IngestText.line(ingest, doubled: count)])
      shown += 1
    }
    try listActions(after: 0)
  }

  private func show(_ number: Int64, _ store: Store, _ output: Output) throws {
    guard let ingest = try store.ingest(number) else {
      throw Failure(.missingInput, "no import has number \(number); 'glucoport log' lists the imports")
    }
    let rejections = try store.rejections(of: number)
    let doubles = try ImportDoubles(number, ingest.readCounts(), store)
    try output.result(
      asJSON: json, IngestDetailsObject(ingest, rejections, doubles),
      orLines: IngestText.details(ingest, rejections, doubles))
  }
}

/// An ingest as `log --json` lists it, with the number of its items that another source states, too.
struct ListedIngestObject: Encodable {
  private let ingest: IngestObject
  private let counting: DoubledCount

  init(_ ingest: IngestEntry, doubled: DoubledCount) throws {
    self.ingest = try IngestObject(ingest)
    counting = doubled
  }

  func encode(to encoder: any Encoder) throws {
    try ingest.encode(to: encoder)
    try counting.encode(to: encoder)
  }
}

/// An ingest with its stored rejections, as `log NUMBER --json` prints it.
struct IngestDetailsObject: Encodable {
  private struct Rejections: Encodable {
    let rejections: [RejectionObject]
  }

  private let ingest: ListedIngestObject
  private let rejections: Rejections

  init(_ ingest: IngestEntry, _ rejections: [Rejection], _ doubles: ImportDoubles) throws {
    self.ingest = try ListedIngestObject(ingest, doubled: doubles.items)
    self.rejections = Rejections(
      rejections: rejections.map { RejectionObject(line: $0.line, reason: $0.reason) })
  }

  func encode(to encoder: any Encoder) throws {
    try ingest.encode(to: encoder)
    try rejections.encode(to: encoder)
  }
}

/// One rejected item.
struct RejectionObject: Encodable {
  let line: Int64
  let reason: String
}
