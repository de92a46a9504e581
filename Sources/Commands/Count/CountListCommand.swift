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
    let (first, second) = (doubt.first.source.text, doubt.second.source.text)
    let one = quotedCommand("glucoport", "count", "only", first, "--kind", doubt.kind.rawValue)
    let both = quotedCommand("glucoport", "count", "both", first, second)
    return [
      "\(name) of two sources on \(counted(doubt.days, "day")): \(sources.joined(separator: ", ")) a day\(shift ?? unlike); both are counted, so there is no sum",
      "  count one: \(one); add them up: \(both)",
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

/// How many items of the last two weeks with any are left out of figures because another source states them, too.
struct LeftOutCount {
  /// Items that another source states, too.
  private(set) var doubled = 0
  /// Finger sticks that are the own values of a sensor.
  private(set) var sensorCopies = 0

  /// The weeks that `stats` shows without options.
  private static let seconds: Int64 = 14 * 86400

  /// Nothing.
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
      case .repeats: count.doubled += 1
      case .sensorValue: count.sensorCopies += 1
      case .counts, .notChosen: break
      }
    }
    return count
  }
}

/// The items that figures leave out, because another source states them, too, or because a person chose
/// another source.
struct LeftOutListing {
  private let store: Store
  private let writer: TableWriter

  init(_ store: Store, _ writer: TableWriter) { (self.store, self.writer) = (store, writer) }

  /// Lists those that pass the filter, oldest first, each with the item that counts instead.
  func write(_ filter: ItemFilter, _ output: Output) throws {
    var lines: [String] = []
    func add(_ stored: StoredItem, _ reason: String) {
      lines.append("\(writer.line(stored))  \(reason)")
      // Without a range there can be many, and only the newest are needed.
      if let newest = filter.newest, lines.count >= 2 * newest { lines.removeFirst(lines.count - newest) }
    }
    let filledIn = try filledInSticks(filter, output)
    var rest = filledIn.filter { filter.holds(utc: $0.utc, shown: $0.deviceTime) }[...]
    func addFilledIn(before instant: Int64) {
      while let stick = rest.first, stick.utc <= instant {
        add(.reading(stick), "(left out: filled in from the sensor by a bolus calculator)")
        rest.removeFirst()
      }
    }
    try store.forEachCounted(filter, besides: Set(filledIn.map(\.address))) { stored, _, verdict in
      try output.checkReader()
      guard let reason = Self.reason(verdict) else { return }
      addFilledIn(before: stored.utc)
      add(stored, reason)
    }
    addFilledIn(before: .max)
    for line in lines.suffix(filter.newest ?? lines.count) { output.line(line) }
  }

  /// The finger sticks that a bolus calculator took from the sensor, also those around the range.
  private func filledInSticks(_ filter: ItemFilter, _ output: Output) throws -> [StoredReading] {
    var sticks = filter.withoutShownLimits
    (sticks.newest, sticks.recordKinds, sticks.includesWithdrawn) = (nil, [], false)
    sticks.readingKinds.formIntersection([.smbg])
    sticks.since = filter.since.map { $0 - CountingMargin.seconds }
    sticks.until = filter.until.map { $0 + CountingMargin.seconds }
    var first: Int64?
    try store.forEachItem(sticks) { item in
      guard first == nil, case .reading(let reading) = item, reading.marks.contains(.calculator) else {
        return
      }
      first = reading.utc
    }
    // Few stores have any, and only for them the values of sensors are read.
    guard let first else { return [] }
    sticks.since = first - FilledInSticks.reachSeconds
    (sticks.readingKinds, sticks.includesDevice) = ([.smbg, .cbg], nil)
    var (finder, found) = (FilledInSticks(), [StoredReading]())
    try store.forEachItem(sticks) { item in
      try output.checkReader()
      guard case .reading(let reading) = item, finder.isFilledIn(GlucoseReading(reading, device: 0)),
        filter.includesDevice?(reading.device) != false
      else { return }
      found.append(reading)
    }
    return found
  }

  private static func reason(_ verdict: CountVerdict) -> String? {
    switch verdict {
    case .counts: nil
    case .repeats(let id, let source):
      "(left out: \(SourceTitle.text(source)) has it, too, as \(Guid.isValid(id) ? String(id.prefix(8)) : "a reading"))"
    case .sensorValue(let sensor): "(left out: the own value of the sensor \(SourceTitle.text(sensor)))"
    case .notChosen: "(left out: another source was chosen)"
    }
  }
}
