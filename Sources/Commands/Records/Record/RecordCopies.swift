// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore
import Report

/// The copies of a dose or a meal that other sources state, and that do not count as long as this one does.
///
/// If the record is edited, hidden or deleted, a copy counts instead of it or in addition to it. If the
/// record itself is a copy, its original continues to count. In both cases a person must know, since the
/// total of the day is not the expected one.
struct RecordCopies {
  private struct RecordCopy {
    let guid: String
    let source: CountingSource
  }

  private let record: StoredRecord
  private let copies: [RecordCopy]
  /// The item that counts instead of this record; nil if the record itself counts.
  private let original: RecordCopy?

  /// Finds the copies before the record is changed.
  init(of record: StoredRecord, in store: Store) throws {
    self.record = record
    guard CountingContext.recordKinds.contains(record.kind), !record.isDeleted else {
      (copies, original) = ([], nil)
      return
    }
    var (found, original): ([RecordCopy], RecordCopy?) = ([], nil)
    try Self.forEachNear(record, store) { item, verdict in
      switch verdict {
      case .repeats(let guid, let source), .otherAmount(let guid, let source), .edited(let guid, let source):
        if item.id == record.guid { original = RecordCopy(guid: guid, source: source) }
      default: break
      }
      switch verdict {
      case .repeats(record.guid, _), .otherAmount(record.guid, _), .edited(record.guid, _):
        if item.id != record.guid { found.append(RecordCopy(guid: item.id, source: item.source)) }
      default: break
      }
    }
    (copies, self.original) = (found, original)
  }

  /// Prints a line for each copy that counts after the change, and for the original that continues to count.
  func warn(_ store: Store, _ output: Output) throws {
    guard !copies.isEmpty || original != nil else { return }
    var counting: Set<String> = []
    try Self.forEachNear(record, store) { item, verdict in if verdict.counts { counting.insert(item.id) } }
    for copy in copies where counting.contains(copy.guid) { warn(copy, "counts now", output) }
    if let original, counting.contains(original.guid), !counting.contains(record.guid) {
      warn(original, "still counts", output)
    }
  }

  private func warn(_ copy: RecordCopy, _ how: String, _ output: Output) {
    let id = copy.guid.prefix(8)
    output.message(
      "\(SourceTitle.text(copy.source)) has the same \(record.kind.rawValue) as \(id), and that \(how); "
        + "to leave it out: glucoport record hide \(id)")
  }

  private static func forEachNear(
    _ record: StoredRecord, _ store: Store, _ body: (CountableItem, CountVerdict) -> Void
  ) throws {
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([], [record.kind])
    let margin = DeviceTime.largestDifference
    (filter.since, filter.until) = (record.utc - margin, record.utc + margin)
    try store.forEachCounted(filter) { _, item, verdict in body(item, verdict) }
  }
}
