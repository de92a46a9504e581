// SPDX-License-Identifier: Apache-2.0

/// The documents of one collection, in the order of insertion. As in the database, no field must be unique.
struct NightscoutCollection {
  struct Row {
    let number: Int
    var document: NightscoutDocument
    /// Until this time, reads see `before` instead of `document`.
    var hidden: (until: Int64, before: NightscoutDocument?)?

    func visible(at now: Int64) -> NightscoutDocument? {
      if let hidden, hidden.until > now { hidden.before } else { document }
    }
  }

  /// A document that a read sees.
  struct Seen {
    let row: Int
    let document: NightscoutDocument
  }

  private static let indexed = ["_id", "identifier", "date", "created_at", "sysTime"]

  private var rows: [Row?] = []
  /// The numbers of rows by field and value, for the indexed fields. This index may contain rows whose value
  /// has changed, so a search compares the value again.
  private var index: [String: Set<Int>] = [:]
  private var sorted: [String: SortedRows] = [
    "date": SortedRows(), "created_at": SortedRows(), "srvModified": SortedRows(),
  ]
  /// The time from which reads see every write.
  private var hiddenUntil: Int64 = .min

  func seen(at now: Int64) -> [Seen] {
    rows.compactMap { row in
      guard let row, let document = row.visible(at: now) else { return nil }
      return Seen(row: row.number, document: document)
    }
  }

  /// The documents with this value in an indexed field.
  func seen(_ field: String, _ value: DocumentValue, at now: Int64) -> [Seen] {
    (index[Self.key(field, value)] ?? []).sorted().compactMap { number in
      guard let document = rows[number]?.visible(at: now), document[field] == value else { return nil }
      return Seen(row: number, document: document)
    }
  }

  /// One page of the documents that meet all conditions, in the given order.
  func found(
    _ conditions: [NightscoutCondition], _ order: NightscoutOrder, skip: Int, limit: Int, at now: Int64
  ) -> [NightscoutDocument] {
    let bound = conditions.lazy.compactMap { condition in
      condition.bound.flatMap { bound in
        sorted[condition.field].map { (condition.field, $0.rows(bound.comparison, bound.value)) }
      }
    }
    let ranges = now < hiddenUntil ? [] : Array(bound)
    let wanted = skip < .max - limit ? skip + limit : .max
    let isPassed = { (document: NightscoutDocument) in conditions.allSatisfy { $0.takes(document) } }
    if let range = ranges.first(where: { $0.0 == order.fields.first })?.1 {
      return Array(page(range, order, wanted, isPassed).dropFirst(skip))
    }
    let found: [NightscoutDocument] =
      if let range = ranges.min(by: { $0.1.count < $1.1.count })?.1 {
        range.map(\.row).sorted().compactMap { rows[$0]?.document }.filter(isPassed)
      } else {
        rows.compactMap { $0?.visible(at: now) }.filter(isPassed)
      }
    return Array(order.sorted(found).dropFirst(skip).prefix(limit))
  }

  /// The first `wanted` documents of a range that is sorted by one field. Documents with equal values in
  /// this field are sorted by `order`.
  private func page(
    _ range: ArraySlice<(key: DocumentValue, row: Int)>, _ order: NightscoutOrder, _ wanted: Int,
    _ isPassed: (NightscoutDocument) -> Bool
  ) -> [NightscoutDocument] {
    var page: [NightscoutDocument] = []
    var rest = range
    while page.count < wanted, let first = order.isDescending ? rest.last : rest.first {
      var equal: [Int] = []
      while let next = order.isDescending ? rest.last : rest.first,
        NightscoutCondition.order(next.key, first.key) == 0
      {
        equal.append(next.row)
        _ = order.isDescending ? rest.removeLast() : rest.removeFirst()
      }
      page += order.sorted(equal.sorted().compactMap { rows[$0]?.document }.filter(isPassed))
    }
    return Array(page.prefix(wanted))
  }

  /// The greatest visible value of a field, in the database's order of values.
  func last(_ field: String, at now: Int64) -> DocumentValue? {
    if now >= hiddenUntil, let index = sorted[field] { return index.last }
    return seen(at: now).compactMap { $0.document[field] }.max { NightscoutCondition.order($0, $1) < 0 }
  }

  /// All documents, including those that reads do not see yet.
  var documents: [NightscoutDocument] { rows.compactMap { $0?.document } }

  mutating func insert(_ document: NightscoutDocument, hiddenUntil: Int64?) {
    let number = rows.count
    rows.append(Row(number: number, document: document, hidden: hiddenUntil.map { ($0, nil) }))
    self.hiddenUntil = max(self.hiddenUntil, hiddenUntil ?? .min)
    addToIndexes(document, number)
  }

  mutating func replace(_ row: Int, _ document: NightscoutDocument, hiddenUntil: Int64?, at now: Int64) {
    guard let old = rows[row] else { return }
    let hidden = hiddenUntil.map { (until: $0, before: old.visible(at: now)) }
    self.hiddenUntil = max(self.hiddenUntil, hiddenUntil ?? .min)
    forget(old.document, row)
    rows[row] = Row(number: row, document: document, hidden: hidden)
    addToIndexes(document, row)
  }

  mutating func remove(_ row: Int) {
    if let old = rows[row] { forget(old.document, row) }
    rows[row] = nil
  }

  private mutating func addToIndexes(_ document: NightscoutDocument, _ row: Int) {
    for field in Self.indexed {
      guard let value = document[field] else { continue }
      index[Self.key(field, value), default: []].insert(row)
    }
    for field in sorted.keys {
      if let value = document[field] { sorted[field]?.insert(value, row) }
    }
  }

  private mutating func forget(_ document: NightscoutDocument, _ row: Int) {
    for field in sorted.keys {
      if let value = document[field] { sorted[field]?.remove(value, row) }
    }
  }

  private static func key(_ field: String, _ value: DocumentValue) -> String { "\(field)=\(value.json)" }
}
