// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport count`: the commands that decide what counts where two sources state the same.
struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Decide what counts where two sources state the same.",
    discussion: helpText(
      """
      A dose, a meal, a finger stick or a ketone reading that two sources state within a minute counts once. \
      These commands decide otherwise; nothing is deleted, and other stores of the logbook count alike after the \
      next upload.
      """,
      examples: "glucoport count both mysugr clarity",
      "glucoport count only tandem --kind insulin --since 2026-05-01"),
    subcommands: [
      CountListCommand.self, CountOnceCommand.self, CountBothCommand.self, CountOnlyCommand.self,
      CountRemoveCommand.self,
    ],
    defaultSubcommand: CountListCommand.self)
}

/// `glucoport count both`: two sources, or two items, both count.
struct CountBothCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "both", abstract: "Count both of two sources, or both of two items.",
    discussion: helpText(
      examples: "glucoport count both mysugr apple-health", "glucoport count both 8120 77ab"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var pair: CountPair

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let subject = try pair.subject(store)
    let isChanged = try CountEditor(store, at: Host.now()).decide(CountDecision(subject, .both))
    if !pair.quiet { output.line(CountText.line(isChanged, "both count: \(pair.names)")) }
    try output.finish()
  }
}

/// `glucoport count once`: the rule for two sources, or one fact of two items.
struct CountOnceCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "once", abstract: "Count two items once, or what two sources both state.",
    discussion: helpText(
      """
      Two items count once at any distance in time, with any amounts: the one of the better source stays. Two \
      sources count by the rule again.
      """,
      examples: "glucoport count once 8120 77ab", "glucoport count once mysugr apple-health"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var pair: CountPair

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let subject = try pair.subject(store)
    // Of two sources, once is the decision that their totals may be added up.
    let isChanged = try CountEditor(store, at: Host.now()).decide(CountDecision(subject, .once))
    if !pair.quiet { output.line(CountText.line(isChanged, "counted once: \(pair.names)")) }
    try output.finish()
  }
}

/// `glucoport count only`: of a kind, one source counts.
struct CountOnlyCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "only", abstract: "Count only one source for a kind, always or in a time.",
    discussion: helpText(
      "Of times that overlap the shorter one holds.",
      examples: "glucoport count only mysugr --kind insulin",
      "glucoport count only tandem --kind insulin --since 2026-05-01"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The source, as 'glucoport count list' names it.")
  var source: String

  @Option(
    help: ArgumentHelp(
      "The kind: \(alternatives(CountableItem.Kind.allCases.map(\.rawValue))).", valueName: "kind"))
  var kind: CountableItem.Kind

  @Option(
    help: ArgumentHelp("Only from this shown time on.", valueName: "time"), transform: TimeArgument.parse)
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("Only before this shown time.", valueName: "time"), transform: TimeArgument.parse)
  var until: TimeArgument?

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    try CountPair.require(source, store)
    let zone = try store.timezone()
    let range = [since, until].map { $0?.placed(zone: zone, now: Host.now()).time }
    if let since = range[0], let until = range[1], until <= since {
      throw Failure(.usage, "--until is not after --since, so nothing is between them")
    }
    let decision = CountDecision(
      .range(kind, since: range[0], until: range[1]), .only, source: source.lowercased())
    let isChanged = try CountEditor(store, at: Host.now()).decide(decision)
    if !quiet { output.line(CountText.line(isChanged, CountText.decision(decision))) }
    try output.finish()
  }
}

extension CountableItem.Kind: ExpressibleByArgument {}

/// The two sources or the two items that a decision is about.
struct CountPair: ParsableArguments {
  @Argument(help: "A source, as 'glucoport count list' names it, or the id of an item.")
  var first: String

  @Argument(help: "Another one.")
  var second: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  /// Both, as a message names them.
  var names: String { "\(displayed(first)) and \(displayed(second))" }

  /// What they name in a store.
  ///
  /// - Throws: `Failure`: `missingInput` for a word that names nothing, `usage` for two that do not go together.
  func subject(_ store: Store) throws -> CountDecision.Subject {
    switch (try Self.item(first, store), try Self.item(second, store)) {
    case (let one?, let other?):
      guard one.id != other.id else { throw Failure(.usage, "\(displayed(first)): this is one item") }
      guard one.kind == other.kind else {
        throw Failure(
          .usage, "\(names): one is \(one.kind.rawValue), the other \(other.kind.rawValue); both count anyway"
        )
      }
      return .items(one.id, other.id)
    case (nil, nil):
      for name in [first, second] { try Self.require(name, store) }
      guard first.lowercased() != second.lowercased() else {
        throw Failure(.usage, "\(displayed(first)): one source; everything that it states counts")
      }
      return .sources(first.lowercased(), second.lowercased())
    default:
      throw Failure(.usage, "\(names): one is an item, the other a source; name two items or two sources")
    }
  }

  /// The item that an id names; nil for a word that is no id.
  private static func item(_ word: String, _ store: Store) throws -> CountableItem? {
    if let reading = try store.reading(at: word) { return try countable(CountableItem(reading), word) }
    let isGuidStart = word.count >= 4 && word.allSatisfy { $0.isHexDigit || $0 == "-" }
    guard isGuidStart else { return nil }
    let record = try store.record(named: word)
    return try countable(CountableItem(record), word)
  }

  private static func countable(_ item: CountableItem?, _ word: String) throws -> CountableItem {
    guard let item else {
      throw Failure(
        .usage,
        "\(displayed(word)): this has no amount that is counted; name a dose, a meal, a finger stick or a ketone reading"
      )
    }
    return item
  }

  /// Refuses a word that names no source of the store: a decision about a misspelt name would decide nothing.
  static func require(_ name: String, _ store: Store) throws {
    let sources = try store.countingSources()
    guard !sources.contains(where: { $0.isNamed(name) }) else { return }
    let names = sources.map { displayed($0.text) }.joined(separator: ", ")
    throw Failure(
      .missingInput,
      "\(displayed(name)): this logbook has no such source"
        + (names.isEmpty ? "; import something first" : "; its sources are \(names)"))
  }
}
