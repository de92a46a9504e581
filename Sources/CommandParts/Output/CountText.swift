// SPDX-License-Identifier: Apache-2.0

package import Logbook
import LogbookStore
package import Report

/// Decisions of people on which source counts, as text.
package enum CountText {
  /// The result of a command that makes a decision. `isChanged` is false if the decision was already stored.
  package static func line(_ isChanged: Bool, _ text: String) -> String {
    isChanged ? text : "unchanged: \(text)"
  }

  /// A decision in one line.
  package static func decision(_ decision: CountDecision) -> String {
    switch decision.subject {
    case .sources(let first, let second) where first == second:
      return "\(word(decision.choice)): what \(displayed(first)) states a second time"
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

  /// How many items of one source were left out, and the source that counts instead:
  /// `699 doses of Clarity: counted once, as mySugr has them`.
  package static func line(_ line: DoubledItems) -> String {
    if line.isEdited {
      return "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): \(edited), not counted"
    }
    if line.source == line.counted, !line.isComputed {
      return
        "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): \(secondTime), counted once"
    }
    if line.isComputed {
      return "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): \(computed), not counted"
    }
    if line.hasOtherAmount {
      return
        "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): with \(otherAmount(line.kind)) in \(SourceTitle.text(line.counted)), which counts"
    }
    return line.isSensorValue
      ? "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): the own values of \(SourceTitle.text(line.counted)), not counted"
      : "\(items(line.items, line.kind)) of \(SourceTitle.text(line.source)): also in \(SourceTitle.text(line.counted)), counted once"
  }

  /// The words for items that one source states twice.
  package static let secondTime =
    "a second time, with another form of the time, in the other unit or under another id"

  /// The words for other states of items that a person edited.
  package static let edited = "with another amount of an item that a person edited"

  /// The words for meals that a program computed.
  package static let computed = "computed from the fat and protein of meals"

  /// A number with the name of the items: doses, meals or readings.
  package static func items(_ number: Int, _ kind: CountableItem.Kind) -> String {
    switch kind {
    case .insulin: counted(number, "dose")
    case .food: counted(number, "meal")
    case .smbg: counted(number, "finger stick")
    case .ketone: counted(number, "ketone reading")
    }
  }

  /// The words for the amount of an item that two sources state with different amounts.
  package static func otherAmount(_ kind: CountableItem.Kind) -> String {
    kind == .smbg || kind == .ketone ? "another value" : "another amount"
  }

  /// Lines about a doubt whether two sources state the same items, with the commands that decide the doubt.
  package static func lines(_ doubt: SourceDoubt) -> [String] {
    let (name, unit) =
      switch doubt.kind {
      case .insulin:
        (insulinName(doubt), " U")
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
    let difference =
      switch doubt.doseDifference {
      case .use: ", equal doses, basal insulin in one and bolus insulin in the other"
      case .part: ", the same doses, in one without the part given over time"
      case nil: doubt.isAllInsulin ? ", doses of unknown use in one of them" : ""
      }
    let (first, second) = (doubt.first.source.text, doubt.second.source.text)
    let one = [first, second].map {
      quotedCommand("glucoport", "count", "only", $0, "--kind", doubt.kind.rawValue)
    }.joined(separator: " or ")
    let both = quotedCommand("glucoport", "count", "both", first, second)
    return [
      "\(name) of two sources on \(counted(doubt.days, "day")): \(sources.joined(separator: ", ")) a day\(shift ?? difference); both are counted, so there is no sum",
      "  count one: \(one); add them up: \(both)",
    ]
  }

  private static func insulinName(_ doubt: SourceDoubt) -> String {
    if doubt.doseDifference != nil || doubt.isAllInsulin { return "insulin" }
    return doubt.isBasal ? "basal insulin" : "bolus insulin"
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int64((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func word(_ choice: CountDecision.Choice) -> String {
    choice == .both ? "both count" : "counted once"
  }
}

/// The list of the items that statistics leave out, because another source has them too, or because a person
/// chose another source.
struct LeftOutListing {
  private let store: Store
  private let writer: TableWriter

  init(_ store: Store, _ writer: TableWriter) { (self.store, self.writer) = (store, writer) }

  /// Writes the left-out items that pass the filter, oldest first, each with the item that counts instead.
  func write(_ filter: ItemFilter, _ output: Output) throws {
    var lines: [String] = []
    func add(_ stored: StoredItem, _ reason: String) {
      lines.append("\(writer.line(stored))  \(reason)")
      // Without a period, very many items can be left out, so only the newest ones are kept in memory.
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
    try store.forEachCounted(filter, besides: Set(filledIn.map(\.address))) { stored, item, verdict in
      try output.requireOpenOutput()
      guard let reason = Self.reason(verdict, of: item) else { return }
      addFilledIn(before: stored.utc)
      add(stored, reason)
    }
    addFilledIn(before: .max)
    for line in lines.suffix(filter.newest ?? lines.count) { output.line(line) }
  }

  /// The finger sticks whose value a bolus calculator took from the sensor. Such finger sticks shortly before
  /// and after the filtered period are included.
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
    // Sensor values take long to read, so they are read only if the store has such finger sticks, which is
    // rare.
    guard let first else { return [] }
    sticks.since = first - FilledInSticks.reachSeconds
    (sticks.readingKinds, sticks.includesDevice) = ([.smbg, .cbg], nil)
    var (finder, found) = (FilledInSticks(), [StoredReading]())
    try store.forEachItem(sticks) { item in
      try output.requireOpenOutput()
      guard case .reading(let reading) = item, finder.isFilledIn(GlucoseReading(reading, device: 0)),
        filter.includesDevice?(reading.device) != false
      else { return }
      found.append(reading)
    }
    return found
  }

  private static func reason(_ verdict: CountVerdict, of item: CountableItem) -> String? {
    switch verdict {
    case .counts: nil
    case .repeats(let id, let source):
      "(left out: \(SourceTitle.text(source)) has it, too, as \(Guid.isValid(id) ? String(id.prefix(8)) : "a reading"))"
    case .otherAmount(let id, let source):
      "(left out: \(SourceTitle.text(source)) has it with \(CountText.otherAmount(item.kind)), as \(Guid.isValid(id) ? String(id.prefix(8)) : "a reading"))"
    case .edited(let id, _): "(left out: a person edited the item, which counts as \(id.prefix(8)))"
    case .sensorValue(let sensor): "(left out: the own value of the sensor \(SourceTitle.text(sensor)))"
    case .computed: "(left out: \(CountText.computed))"
    case .notChosen: "(left out: another source was chosen)"
    }
  }
}
