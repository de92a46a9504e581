// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook
import LogbookStore
import Report

/// `glucoport count list`: the sources of a logbook, and the decisions.
struct CountListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sources, and what was decided about them.",
    discussion: helpText(examples: "glucoport count list", "glucoport count list --store anna.db"))

  @OptionGroup var storeOptions: StoreOptions

  func run() throws {
    let output = Output()
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
    try output.finish()
  }
}

/// `glucoport count remove`: replaces a decision by the rule.
struct CountRemoveCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove decision N of the list.",
    discussion: helpText(examples: "glucoport count remove 1", "glucoport count remove 2 --quiet"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The number of the decision, as 'glucoport count list' shows it.")
  var number: Int

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let decisions = try store.countingRules().decisions
    guard decisions.indices.contains(number - 1) else {
      throw Failure(
        .missingInput, "\(number): there is no such decision; 'glucoport count list' lists the decisions")
    }
    let decision = decisions[number - 1]
    _ = try CountEditor(store, at: Host.now()).decide(CountDecision(decision.subject, .rule))
    if !quiet { output.line("removed: \(CountText.decision(decision))") }
    try output.finish()
  }
}

/// Decisions on what counts, as text.
enum CountText {
  /// The result of a decision.
  static func line(_ isChanged: Bool, _ text: String) -> String { isChanged ? text : "unchanged: \(text)" }

  /// A decision in one line.
  static func decision(_ decision: CountDecision) -> String {
    switch decision.subject {
    case .sources(let first, let second):
      return "\(word(decision.choice)): \(displayed(first)) and \(displayed(second))"
    case .items(let first, let second):
      return "\(word(decision.choice)): items \(displayed(first)) and \(displayed(second))"
    case .range(let kind, let since, let until):
      var words = ["only \(displayed(decision.source)) counts for \(kind.rawValue)"]
      if let since { words.append("from \(since.text)") }
      if let until { words.append("until \(until.text)") }
      return words.joined(separator: " ")
    }
  }

  /// The items of one source that were left out, and the source that counts: `699 doses of Clarity: counted
  /// once, as mySugr has them`.
  static func line(_ line: DoubledItems) -> String {
    line.isSensorValue
      ? "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): the own values of \(SourceTitle.text(line.counted)), not counted"
      : "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): also in \(SourceTitle.text(line.counted)), counted once"
  }

  /// The number of doses, meals or readings.
  static func items(_ number: Int, _ kind: CountableItem.Kind) -> String {
    switch kind {
    case .insulin: counted(number, "dose")
    case .food: counted(number, "meal")
    case .smbg: counted(number, "finger stick")
    case .ketone: counted(number, "ketone reading")
    }
  }

  /// Two sources that seem to state the same, and the commands to decide.
  static func lines(_ doubt: SourceDoubt) -> [String] {
    let (name, unit) =
      switch doubt.kind {
      case .insulin:
        (doubt.unlike != nil ? "insulin" : doubt.isBasal ? "basal insulin" : "bolus insulin", " U")
      case .food: ("carbohydrates", " g")
      case .smbg, .ketone: ("finger sticks", "")
      }
    let sources = [doubt.first, doubt.second].map { amount in
      "\(SourceTitle.text(amount.source)) \(tenths(amount.perDay))\(unit)"
    }
    let what = doubt.kind == .smbg ? "values" : "amounts"
    let shift = doubt.shiftSeconds.map { seconds in
      let minutes = abs(seconds) / 60
      return ", the same \(what) \(minutes / 60) h \(minutes % 60) min apart"
    }
    let unlike =
      switch doubt.unlike {
      case .use: ", equal doses, basal insulin in one and bolus insulin in the other"
      case .part: ", the same doses, in one without the part given over time"
      case nil: ""
      }
    let words = [doubt.first.source.text, doubt.second.source.text].map(\.shellWord)
    return [
      "\(name) of two sources on \(counted(doubt.days, "day")): \(sources.joined(separator: ", ")) a day\(shift ?? unlike); both are counted, so there is no sum",
      "  count one: 'glucoport count only \(words[0]) --kind \(doubt.kind.rawValue)'; add them up: 'glucoport count both \(words[0]) \(words[1])'",
    ]
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int64((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func word(_ choice: CountDecision.Choice) -> String {
    choice == .both ? "both count" : "counted once"
  }
}
