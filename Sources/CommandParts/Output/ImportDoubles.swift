// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
package import LogbookStore
package import Report

/// The items of an import that another source has, too. The import reports them at its end.
package struct ImportDoubles {
  /// What a number of doubled items is about: their kind, their source, and the other source that has them,
  /// too.
  struct DoubledGroup: Hashable {
    let kind: CountableItem.Kind
    let source: CountingSource
    let other: CountingSource
  }

  private(set) var counts: [DoubledGroup: Int] = [:]
  /// The numbers of new items that another source states with another amount.
  private(set) var otherAmounts: [DoubledGroup: Int] = [:]
  /// The numbers of new items that are other states of items that a person edited. `other` is the source
  /// itself.
  private(set) var edited: [DoubledGroup: Int] = [:]
  /// The numbers of new finger sticks that only repeat a sensor's values. `other` is the sensor.
  private(set) var sensorCopies: [DoubledGroup: Int] = [:]
  /// The numbers of new meals that a program computed. `other` is the source itself.
  private(set) var computed: [DoubledGroup: Int] = [:]
  private(set) var doubts: [SourceDoubt] = []

  /// Finds the new items of an import that the store also has from another source in the same period. If the
  /// import stored no items that are compared, nothing is read.
  package init(_ ingest: Int64, _ ingested: IngestCounts, _ store: Store) throws {
    guard let first = ingested.firstCounted, let last = ingested.lastCounted else { return }
    // `firstCounted` and `lastCounted` are shown times, which differ from instants by less than two days. The
    // margins cover this difference.
    let period = first - CountingMargin.seconds..<last + CountingMargin.seconds
    var filter = ItemFilter()
    filter.since = period.lowerBound - CountingMargin.doubtSeconds
    filter.until = period.upperBound + CountingMargin.doubtSeconds
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    let rules = try store.countingRules(since: filter.since, until: filter.until)
    if rules.findsNothing { return }
    var options = Statistics.Options()
    options.rules = try store.countingRules()
    var statistics = Statistics(options)
    var ownCopies: [DoubledGroup: OwnCopyTally] = [:]
    try store.forEachCounted(filter, by: rules) { stored, item, verdict in
      statistics.add(stored, verdict, item, isContext: !period.contains(stored.utc))
      guard stored.ingest == ingest else { return }
      if OwnCopyTally.concernsOwnCopy(item, verdict) {
        let line = DoubledGroup(kind: item.kind, source: item.source, other: item.source)
        ownCopies[line, default: OwnCopyTally()].count(item, verdict)
      } else {
        count(item, verdict)
      }
    }
    for (line, tally) in ownCopies { counts[line] = tally.copies }
    doubts = statistics.finishDoubts()
  }

  /// The numbers of the import's items that another source or the sensor has, too.
  package var items: DoubledCount {
    DoubledCount(
      doubled: [counts, otherAmounts, edited].flatMap(\.values).reduce(0, +),
      sensorCopies: sensorCopies.values.reduce(0, +))
  }

  private mutating func count(_ item: CountableItem, _ verdict: CountVerdict) {
    let other: CountingSource?
    switch verdict {
    case .repeats(_, let source): other = source
    case .otherAmount(_, let source):
      return otherAmounts[DoubledGroup(kind: item.kind, source: item.source, other: source), default: 0] += 1
    case .edited(_, let source):
      return edited[DoubledGroup(kind: item.kind, source: item.source, other: source), default: 0] += 1
    case .counts(let others):
      if let first = others.first(where: \.hasOtherAmount) {
        otherAmounts[DoubledGroup(kind: item.kind, source: item.source, other: first.source), default: 0] += 1
      }
      other = others.first { !$0.hasOtherAmount }?.source
    case .sensorValue(let sensor):
      return sensorCopies[DoubledGroup(kind: item.kind, source: item.source, other: sensor), default: 0] += 1
    case .computed:
      return computed[DoubledGroup(kind: item.kind, source: item.source, other: item.source), default: 0] += 1
    case .notChosen: other = nil
    }
    guard let other else { return }
    counts[DoubledGroup(kind: item.kind, source: item.source, other: other), default: 0] += 1
  }
}

// MARK: - For people

extension ImportDoubles {
  /// The results as text: one line for each pair of sources, with the command that makes both count.
  package var lines: [String] {
    Self.sorted(counts).map { line, items in
      let place = line.source == line.other ? CountText.secondTime : "also in \(SourceTitle.text(line.other))"
      return "\(CountText.items(items, line.kind)) \(place): counted once; to count both: "
        + quotedCommand("glucoport", "count", "both", line.source.text, line.other.text)
    }
      + Self.sorted(otherAmounts).map { line, items in
        "\(CountText.items(items, line.kind)) with \(CountText.otherAmount(line.kind)) in \(SourceTitle.text(line.other)): counted once; see "
          + "'glucoport list --left-out'; to count both: "
          + quotedCommand("glucoport", "count", "both", line.source.text, line.other.text)
      }
      + Self.sorted(edited).map { line, items in
        "\(CountText.items(items, line.kind)) \(CountText.edited): not counted; see 'glucoport list --left-out'; "
          + "to count both: "
          + quotedCommand("glucoport", "count", "both", line.source.text, line.source.text)
      }
      + Self.sorted(computed).map { line, items in
        "\(CountText.items(items, line.kind)) \(CountText.computed): not counted; to count them: "
          + quotedCommand("glucoport", "count", "both", line.source.text, line.source.text)
      }
      + Self.sorted(sensorCopies).map { line, items in
        "\(CountText.items(items, line.kind)) with the own values of \(SourceTitle.text(line.other)): not counted; "
          + "to count them: " + quotedCommand("glucoport", "count", "both", line.source.text, line.other.text)
      } + doubts.flatMap(CountText.lines)
  }

  /// The results for JSON: one object for each pair of sources.
  var objects: [DoubledObject] {
    Self.sorted(counts).map {
      DoubledObject(kind: $0.line.kind, source: $0.line.source, other: $0.line.other, items: $0.items)
    }
      + Self.sorted(edited).map {
        DoubledObject(
          kind: $0.line.kind, source: $0.line.source, other: $0.line.other, items: $0.items, isEdited: true)
      }
  }

  /// The finger sticks that only repeat a sensor's values, as objects for JSON.
  var sensorCopyObjects: [DoubledObject] {
    Self.sorted(sensorCopies).map {
      DoubledObject(kind: $0.line.kind, source: $0.line.source, other: $0.line.other, items: $0.items)
    }
  }

  private static func sorted(_ counts: [DoubledGroup: Int]) -> [(line: DoubledGroup, items: Int)] {
    counts.map { ($0.key, $0.value) }.sorted {
      ($0.0.kind.rawValue, $0.0.source.text, $0.0.other.text) < (
        $1.0.kind.rawValue, $1.0.source.text, $1.0.other.text
      )
    }
  }
}

/// Counts the items of an import that its own source states twice. The import brought the copy, the item that
/// counts, or both. If it brought both, they count as one.
private struct OwnCopyTally {
  /// For each item that the import brought and that counts, the number of its copies. The key is the id of
  /// the item.
  private var kept: [String: Int] = [:]
  /// The number of copies that the import brought. The key is the id of the item that counts instead.
  private var brought: [String: Int] = [:]

  var copies: Int {
    kept.values.reduce(0, +) + brought.reduce(0) { $0 + (kept[$1.key] == nil ? $1.value : 0) }
  }

  /// Whether an item is a copy of another item of its source, or has such a copy.
  static func concernsOwnCopy(_ item: CountableItem, _ verdict: CountVerdict) -> Bool {
    switch verdict {
    case .repeats(_, let source): source == item.source
    case .counts(let others): others.first?.isOwnCopy ?? false
    case .otherAmount, .edited, .sensorValue, .computed, .notChosen: false
    }
  }

  mutating func count(_ item: CountableItem, _ verdict: CountVerdict) {
    switch verdict {
    case .repeats(let id, _): brought[id, default: 0] += 1
    case .counts(let others): kept[item.id] = others.count(where: \.isOwnCopy)
    case .otherAmount, .edited, .sensorValue, .computed, .notChosen: break
    }
  }
}

/// How many items of an import another source has, too.
package struct DoubledCount: Encodable {
  var doubled = 0
  /// The number of finger sticks that only repeat a sensor's values.
  var sensorCopies = 0
}

/// For each of several imports, how many of its items another source has, too.
package struct DoubledByImport {
  private var counts: [Int64: DoubledCount] = [:]

  /// Counts the items of these imports that the store also has from another source. Only items of the same
  /// period are compared.
  package init(_ ingests: [IngestEntry], _ store: Store) throws {
    let times = try ingests.map { try $0.readCounts() }.flatMap { [$0.firstCounted, $0.lastCounted] }
      .compactMap(\.self)
    guard let first = times.min(), let last = times.max() else { return }
    let numbers = Set(ingests.map(\.id))
    var filter = ItemFilter()
    // `first` and `last` are shown times, which differ from instants by less than two days. The margin covers
    // this difference.
    (filter.since, filter.until) = (first - CountingMargin.seconds, last + CountingMargin.seconds)
    filter.readingKinds = CountingContext.readingKinds
    filter.recordKinds = CountingContext.recordKinds
    var ownCopies: [Int64: OwnCopyTally] = [:]
    try store.forEachCounted(filter) { stored, item, verdict in
      guard let ingest = stored.ingest, numbers.contains(ingest) else { return }
      if OwnCopyTally.concernsOwnCopy(item, verdict) {
        return ownCopies[ingest, default: OwnCopyTally()].count(item, verdict)
      }
      switch verdict {
      case .repeats, .otherAmount, .edited: counts[ingest, default: .init()].doubled += 1
      case .counts(let others) where !others.isEmpty: counts[ingest, default: .init()].doubled += 1
      case .sensorValue: counts[ingest, default: .init()].sensorCopies += 1
      case .counts, .computed, .notChosen: break
      }
    }
    for (ingest, tally) in ownCopies { counts[ingest, default: .init()].doubled += tally.copies }
  }

  /// The numbers for one import, by its id. They are zero if the import is not among those that were read.
  package subscript(ingest: Int64) -> DoubledCount { counts[ingest] ?? DoubledCount() }
}

extension Store {
  /// The doubts whether two sources state the same items, from all items of the store.
  package func sourceDoubts(_ first: String, _ second: String) throws -> [SourceDoubt] {
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = (CountingContext.readingKinds, CountingContext.recordKinds)
    var options = Statistics.Options()
    options.rules = try countingRules()
    var statistics = Statistics(options)
    try forEachCounted(filter) { stored, item, verdict in
      statistics.add(stored, verdict, item, isContext: false)
    }
    return statistics.finishDoubts().filter { doubt in
      let (one, other) = (doubt.first.source, doubt.second.source)
      return one.isNamed(first) && other.isNamed(second) || one.isNamed(second) && other.isNamed(first)
    }
  }
}

extension Statistics {
  /// Adds the next item that can have a copy in another source, with the verdict whether it counts.
  fileprivate mutating func add(
    _ stored: StoredItem, _ verdict: CountVerdict, _ item: CountableItem, isContext: Bool
  ) {
    switch stored {
    case .reading where isContext: addContext(verdict, item)
    case .reading(let reading): add(GlucoseReading(reading, device: 0), verdict, item)
    case .record(let record):
      add(
        record.kind, record.decodedFields(), deviceTime: record.deviceTime, placement: record.placement,
        verdict, item, isContext: isContext)
    }
  }
}

extension StoredItem {
  /// The id of the import that stored the item; nil if a person typed it.
  fileprivate var ingest: Int64? {
    switch self {
    case .reading(let reading): reading.ingest
    case .record(let record): record.ingest
    }
  }
}

/// The number of items of one source that statistics leave out since another source has them, too. For JSON.
package struct DoubledObject: Encodable {
  let kind: String
  let source: String
  let also: String
  let items: Int
  /// True for other states of items that a person edited; nil for all other items.
  let edited: Bool?

  init(
    kind: CountableItem.Kind, source: CountingSource, other: CountingSource, items: Int,
    isEdited: Bool = false
  ) {
    (self.kind, self.items) = (kind.rawValue, items)
    edited = isEdited ? true : nil
    (self.source, also) = (source.text, other.text)
  }

  /// Copies a number that the statistics counted.
  package init(_ line: DoubledItems) {
    self.init(
      kind: line.kind, source: line.source, other: line.counted, items: line.items, isEdited: line.isEdited)
  }
}
