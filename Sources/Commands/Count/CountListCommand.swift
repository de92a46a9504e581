// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport count list`: lists the sources of a logbook, and what was decided about them.
struct CountListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list", "List the sources, and what was decided about them.",
    examples: "glucoport count list", "glucoport count list --store anna.db")

  @OptionGroup var storeOptions: StoreOptions

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    let sources = try store.countingSources()
    output.line(
      sources.isEmpty
        ? "no sources" : "sources: " + sources.map { displayed($0.text) }.joined(separator: ", "))
    let decisions = try store.countingRules().decisions
    for (index, decision) in decisions.enumerated() {
      output.line("  \(index + 1)  \(CountText.decision(decision))")
    }
    if decisions.isEmpty {
      output.line("nothing decided: what two sources state within a minute counts once")
    }
  }
}

/// `glucoport count remove`: removes a decision, so that the default rule applies again.
struct CountRemoveCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "remove", "Remove decision N of the list.",
    examples: "glucoport count remove 1", "glucoport count remove 2 --quiet")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The number of the decision, as 'glucoport count list' shows it.")
  var number: Int

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    let decisions = try store.countingRules().decisions
    guard decisions.indices.contains(number - 1) else {
      throw Failure(
        .missingInput, "\(number): there is no such decision; 'glucoport count list' lists the decisions")
    }
    let decision = decisions[number - 1]
    _ = try CountEditor(store, at: Host.now()).decide(CountDecision(decision.subject, .rule))
    if !quiet { output.line("removed: \(CountText.decision(decision))") }
  }
}

/// The numbers of items that statistics leave out because another source has them, too. Only the two weeks
/// that end with the newest item are counted.
struct LeftOutCount {
  /// The number of items that another source has, too.
  private(set) var doubled = 0
  /// The number of finger sticks that only repeat a sensor's values.
  private(set) var sensorCopies = 0

  /// The length of the counted period in seconds. It is the default period of `stats`.
  private static let seconds: Int64 = 14 * 86400

  init() {}

  static func recent(_ store: Store) throws -> LeftOutCount {
    var filter = ItemFilter()
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    var newest = filter
    newest.newest = 1
    var last: Int64?
    try store.forEachItem(newest) { last = $0.utc }
    var count = LeftOutCount()
    guard let last else { return count }
    filter.since = last - seconds + 1
    try store.forEachCounted(filter) { _, _, verdict in
      switch verdict {
      case .repeats, .otherAmount, .edited: count.doubled += 1
      case .sensorValue: count.sensorCopies += 1
      case .counts, .computed, .notChosen: break
      }
    }
    return count
  }
}
