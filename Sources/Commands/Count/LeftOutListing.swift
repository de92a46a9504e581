// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The items that figures leave out, because another source states them, too, or because a person chose
/// another source.
struct LeftOutListing {
  private let store: Store
  private let writer: TableWriter

  init(_ store: Store, _ writer: TableWriter) { (self.store, self.writer) = (store, writer) }

  /// Lists those that pass the filter, oldest first, each with the item that counts instead.
  func write(_ filter: ItemFilter, _ output: Output) throws {
    var lines: [String] = []
    try store.forEachCounted(filter) { stored, _, verdict in
      try output.checkReader()
      guard let reason = Self.reason(verdict) else { return }
      lines.append("\(writer.line(stored))  \(reason)")
      // Without a range there can be many, and only the newest are needed.
      if let newest = filter.newest, lines.count >= 2 * newest { lines.removeFirst(lines.count - newest) }
    }
    for line in lines.suffix(filter.newest ?? lines.count) { output.line(line) }
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
