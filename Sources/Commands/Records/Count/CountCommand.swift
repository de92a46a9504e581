// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport count`: commands that decide what counts if two sources have the same items.
struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "count", "Decide what counts where two sources state the same.",
    """
    A dose, a meal, a finger stick or a ketone reading that two sources state within a minute counts once. \
    These commands decide otherwise; nothing is deleted, and other stores of the logbook count alike after the \
    next upload.
    """,
    examples: "glucoport count both mysugr clarity",
    "glucoport count only tandem --kind insulin --since 2026-05-01",
    subcommands: [
      CountListCommand.self, CountOnceCommand.self, CountBothCommand.self, CountOnlyCommand.self,
      CountRemoveCommand.self,
    ],
    defaultSubcommand: CountListCommand.self)
}

/// A command that decides whether two sources or two items both count.
protocol PairDecision: PrintingCommand {
  /// What the command decides for the pair.
  static var choice: CountDecision.Choice { get }
  /// The first words of the result, such as `both count`. The names of the pair follow them.
  static var meaning: String { get }
  var storeOptions: StoreOptions { get }
  var pair: CountPair { get }
}

extension PairDecision {
  static var actionClass: ActionClass { .deferrable }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    let subject = try pair.subject(store)
    let isChanged = try CountEditor(store, at: Host.now()).decide(CountDecision(subject, Self.choice))
    if !pair.quiet {
      output.line(CountText.line(isChanged, "\(Self.meaning): \(pair.names)"))
      for line in try remainingDoubts(subject, store) { output.line(line) }
    }
  }

  /// Lines about items that still cannot be summed after the decision, with the commands that make a sum
  /// possible.
  private func remainingDoubts(_ subject: CountDecision.Subject, _ store: Store) throws -> [String] {
    guard Self.choice == .once, case .sources(let first, let second) = subject else { return [] }
    return try store.sourceDoubts(first, second).flatMap(CountText.lines)
  }
}

/// `glucoport count both`: makes two sources or two items both count.
struct CountBothCommand: PairDecision {
  static let choice = CountDecision.Choice.both
  static let meaning = "both count"
  static let configuration = CommandConfiguration(
    "both", "Count both of two sources, or both of two items.",
    "One source twice is what it states a second time: in another export.",
    examples: "glucoport count both mysugr apple-health", "glucoport count both 8120 77ab")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var pair: CountPair
}

/// `glucoport count once`: makes two items count as one. For two sources, it restores the default rule: items
/// that both sources state count once. If it is uncertain which items are the same, no total is shown.
struct CountOnceCommand: PairDecision {
  static let choice = CountDecision.Choice.once
  static let meaning = "counted once"
  static let configuration = CommandConfiguration(
    "once", "Count two items once, or what two sources both state.",
    """
    Two items count once at any distance in time, with any amounts: the one of the better source stays. Two \
    sources count by the rule again. What it cannot match still has no sum, until both or only answers.
    """,
    examples: "glucoport count once 8120 77ab", "glucoport count once mysugr apple-health")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var pair: CountPair
}

/// `glucoport count only`: makes only one source count for a kind of items.
struct CountOnlyCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "only", "Count only one source for a kind, always or in a time.",
    "Of times that overlap the shorter one holds.",
    examples: "glucoport count only mysugr --kind insulin",
    "glucoport count only tandem --kind insulin --since 2026-05-01")

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

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    let name = try CountPair.sourceName(source, store)
    try requireItems(of: name, store)
    let zone = try store.timezone()
    let range = [since, until].map { $0?.placedTime(zone: zone, now: Host.now()).time }
    if let since = range[0], let until = range[1], until <= since {
      throw Failure(.usage, "--until is not after --since, so nothing is between them")
    }
    let decision = CountDecision(
      .range(kind, since: range[0], until: range[1]), .only, source: name)
    let isChanged = try CountEditor(store, at: Host.now()).decide(decision)
    if !quiet { output.line(CountText.line(isChanged, CountText.decision(decision))) }
  }

  /// Refuses a source that has no item of the kind: choosing it would leave out all items of the kind.
  ///
  /// - Throws: `Failure` of category `missingInput` for such a source.
  private func requireItems(of name: String, _ store: Store) throws {
    let sources = try store.countingSourcesByKind()[kind] ?? []
    if sources.contains(where: { $0.isNamed(name) }) { return }
    let others = sources.map(\.text).filter { !$0.isEmpty }.sorted().map(displayed)
    let noun = CountText.items(2, kind).dropFirst(2)
    throw Failure(
      .missingInput,
      "\(displayed(source)): this logbook has no \(noun) of this source, so no \(noun) would count"
        + (others.isEmpty ? "" : "; sources with \(noun): \(others.joined(separator: ", "))"))
  }
}

extension CountableItem.Kind: ExpressibleByArgument {}

/// The two arguments of a decision: the names of two sources, or the ids of two items.
struct CountPair: ParsableArguments {
  @Argument(help: "A source, as 'glucoport count list' names it, or the id of an item.")
  var first: String

  @Argument(help: "Another one.")
  var second: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  /// Both arguments as messages show them.
  var names: String { "\(displayed(first)) and \(displayed(second))" }

  /// What the decision is about: the two sources or items that the arguments name in this store.
  ///
  /// - Throws: `Failure`: `missingInput` for an unknown name, `usage` if no decision about the two is
  ///   possible.
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
      let (name, other) = (try Self.sourceName(first, store), try Self.sourceName(second, store))
      if name == other { try requireCopies(name, store) } else { try requireTwoSources(name, other, store) }
      return .sources(name, other)
    default:
      throw Failure(.usage, "\(names): one is an item, the other a source; name two items or two sources")
    }
  }

  /// Refuses two arguments that name the same source, if no second export of the source brought copies of its
  /// items. Without copies, all items of the source count, whatever is decided.
  private func requireCopies(_ name: String, _ store: Store) throws {
    var rules = CountingRules()
    try store.addCopies(to: &rules, since: nil, until: nil)
    if rules.computedMeals.sources.contains(where: { $0.isNamed(name) }) { return }
    if rules.ownCopies.sources.contains(where: { $0.isNamed(name) }) { return }
    throw Failure(.usage, "\(displayed(first)): one source; everything that it states counts")
  }

  /// Refuses two names of one source, such as a format and the only sub-source of this format. All items of
  /// one source count, whatever is decided.
  private func requireTwoSources(_ name: String, _ other: String, _ store: Store) throws {
    guard name.prefix(while: { $0 != "/" }) == other.prefix(while: { $0 != "/" }) else { return }
    let isPair = try store.countingSourcesByKind().values.contains { sources in
      let others = sources.filter { $0.isNamed(other) }
      return sources.contains { source in source.isNamed(name) && others.contains { $0 != source } }
    }
    if !isPair { throw Failure(.usage, "\(names): both name one source; everything that it states counts") }
  }

  /// The item that has this word as its id; nil if the word is not an id.
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

  /// The name under which a decision stores a source. A person can type its format, its sub-source, or both.
  ///
  /// - Throws: `Failure`: `missingInput` for an unknown source, since the decision would have no effect;
  ///   `usage` if the word names several sub-sources.
  static func sourceName(_ word: String, _ store: Store) throws -> String {
    let (sources, folded) = (try store.countingSources(), word.lowercased())
    if sources.contains(where: { $0.isNamed(folded) }) { return folded }
    let parts = sources.filter { !$0.part.isEmpty && $0.part.lowercased() == folded }
    if parts.count == 1 { return parts[0].text.lowercased() }
    let names = (parts.isEmpty ? sources : parts).map { displayed($0.text) }.joined(separator: ", ")
    if !parts.isEmpty { throw Failure(.usage, "\(displayed(word)): this names several sources: \(names)") }
    throw Failure(
      .missingInput,
      "\(displayed(word)): this logbook has no such source"
        + (names.isEmpty ? "; import something first" : "; its sources are \(names)"))
  }
}

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
