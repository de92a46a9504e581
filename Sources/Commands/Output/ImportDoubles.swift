// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore
import Report

/// What of an import another source states, too: said once, when it comes.
struct ImportDoubles {
  /// New items that count once together with those of another source.
  struct Line: Hashable {
    let kind: CountableItem.Kind
    let source: CountingSource
    let other: CountingSource
  }

  private(set) var counts: [Line: Int] = [:]
  private(set) var doubts: [SourceDoubt] = []

  /// Looks at the time of what the import brought, and at nothing else; nothing where it brought nothing that is counted.
  init(_ ingest: Int64, _ ingested: IngestCounts, _ store: Store) throws {
    guard let first = ingested.firstCounted, let last = ingested.lastCounted else { return }
    // Shown times and instants are less than two days apart.
    let margin = CountingMargin.seconds
    var filter = ItemFilter()
    (filter.since, filter.until) = (first - margin, last + margin)
    filter.readingKinds = [.smbg, .ketone]
    filter.recordKinds = [.insulin, .food]
    let rules = try store.countingRules()
    var options = Statistics.Options()
    options.rules = rules
    var (statistics, counting) = (Statistics(options), CountedOnce<StoredItem>(rules))
    func take() {
      while let (stored, item, verdict) = counting.next() {
        guard let item else { continue }
        if case .record(let record) = stored {
          statistics.add(
            record.kind, record.decodedFields(), deviceTime: record.deviceTime, placement: record.placement,
            verdict,
            item)
        }
        if stored.ingest == ingest { note(item, verdict) }
      }
    }
    try store.forEachItem(filter) { stored in
      counting.add(stored, CountableItem(stored), at: stored.utc)
      take()
    }
    counting.finish()
    take()
    doubts = statistics.sourceDoubts
  }

  private mutating func note(_ item: CountableItem, _ verdict: CountVerdict) {
    let other: CountingSource?
    switch verdict {
    case .repeats(_, let source): other = source
    case .counts(let others): other = others.first
    case .notChosen: other = nil
    }
    guard let other else { return }
    counts[Line(kind: item.kind, source: item.source, other: other), default: 0] += 1
  }
}

// MARK: - For people

extension ImportDoubles {
  /// Each with the command that decides otherwise.
  var lines: [String] {
    sorted.map { line, items in
      let words = [line.source.text, line.other.text].map(\.shellWord)
      return
        "\(CountText.items(items, line.kind)) also in \(SourceTitle.text(line.other)): counted once; to count both: "
        + "'glucoport count both \(words[0]) \(words[1])'"
    } + doubts.flatMap(CountText.lines)
  }

  /// The same for programs.
  var objects: [DoubledObject] {
    sorted.map {
      DoubledObject(kind: $0.line.kind, source: $0.line.source, other: $0.line.other, items: $0.items)
    }
  }

  private var sorted: [(line: Line, items: Int)] {
    counts.map { ($0.key, $0.value) }.sorted {
      ($0.0.kind.rawValue, $0.0.source.text, $0.0.other.text) < (
        $1.0.kind.rawValue, $1.0.source.text, $1.0.other.text
      )
    }
  }
}

extension StoredItem {
  /// The ingest that brought it; nil for what none did.
  fileprivate var ingest: Int64? {
    switch self {
    case .reading(let reading): reading.ingest
    case .record(let record): record.ingest
    }
  }
}
