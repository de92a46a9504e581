// SPDX-License-Identifier: Apache-2.0

/// The documents of one collection, in the order in which they came in. Nothing is unique, as in the database.
struct NightscoutCollection {
  struct Row {
    let number: Int
    var document: NightscoutDocument
    /// Until when reads see what was before the write that made `document`.
    var hidden: (until: Int64, before: NightscoutDocument?)?

    func visible(at now: Int64) -> NightscoutDocument? {
      if let hidden, hidden.until > now { hidden.before } else { document }
    }
  }

  /// What a read sees.
  struct Seen {
    let row: Int
    let document: NightscoutDocument
  }

  private static let indexed = ["_id", "identifier", "date", "created_at", "sysTime"]

  private var rows: [Row?] = []
  /// May name rows that do not match any more: who looks up compares again.
  private var index: [String: Set<Int>] = [:]

  func seen(at now: Int64) -> [Seen] {
    rows.compactMap { row in
      guard let row, let document = row.visible(at: now) else { return nil }
      return Seen(row: row.number, document: document)
    }
  }

  /// The documents whose indexed field has this value.
  func seen(_ field: String, _ value: DocumentValue, at now: Int64) -> [Seen] {
    (index[Self.key(field, value)] ?? []).sorted().compactMap { number in
      guard let document = rows[number]?.visible(at: now), document[field] == value else { return nil }
      return Seen(row: number, document: document)
    }
  }

  /// All documents, whoever sees them.
  var documents: [NightscoutDocument] { rows.compactMap { $0?.document } }

  mutating func insert(_ document: NightscoutDocument, hiddenUntil: Int64?) {
    let number = rows.count
    rows.append(Row(number: number, document: document, hidden: hiddenUntil.map { ($0, nil) }))
    note(document, number)
  }

  mutating func replace(_ row: Int, _ document: NightscoutDocument, hiddenUntil: Int64?, at now: Int64) {
    guard let old = rows[row] else { return }
    let hidden = hiddenUntil.map { (until: $0, before: old.visible(at: now)) }
    rows[row] = Row(number: row, document: document, hidden: hidden)
    note(document, row)
  }

  mutating func remove(_ row: Int) { rows[row] = nil }

  private mutating func note(_ document: NightscoutDocument, _ row: Int) {
    for field in Self.indexed {
      guard let value = document[field] else { continue }
      index[Self.key(field, value), default: []].insert(row)
    }
  }

  private static func key(_ field: String, _ value: DocumentValue) -> String { "\(field)=\(value.json)" }
}
