// SPDX-License-Identifier: Apache-2.0

/// The rows of a collection in the order of one field, without rows that lack it.
struct SortedRows {
  private var entries: [(key: DocumentValue, row: Int)] = []

  mutating func insert(_ key: DocumentValue, _ row: Int) {
    entries.insert((key, row), at: firstIndex { Self.precedes($0, (key, row)) })
  }

  mutating func remove(_ key: DocumentValue, _ row: Int) {
    let place = firstIndex { Self.precedes($0, (key, row)) }
    if place < entries.count, entries[place].row == row { entries.remove(at: place) }
  }

  /// The greatest value of the field; nil without rows.
  var last: DocumentValue? { entries.last?.key }

  /// The rows whose values meet a comparison, in order. Numbers are compared only with numbers, and texts
  /// only with texts.
  func rows(_ comparison: String, _ value: DocumentValue) -> ArraySlice<(key: DocumentValue, row: Int)> {
    let rank = NightscoutCondition.rank(value)
    let start = firstIndex { NightscoutCondition.rank($0.key) < rank }
    let end = firstIndex { NightscoutCondition.rank($0.key) <= rank }
    let below = firstIndex { NightscoutCondition.order($0.key, value) < 0 }
    let through = firstIndex { NightscoutCondition.order($0.key, value) <= 0 }
    switch comparison {
    case "gt": return entries[through..<end]
    case "gte": return entries[below..<end]
    case "lt": return entries[start..<below]
    default: return entries[start..<through]
    }
  }

  private static func precedes(
    _ left: (key: DocumentValue, row: Int), _ right: (key: DocumentValue, row: Int)
  ) -> Bool {
    let order = NightscoutCondition.order(left.key, right.key)
    return order == 0 ? left.row < right.row : order < 0
  }

  /// The number of entries at the start for which `isBefore` is true.
  private func firstIndex(_ isBefore: ((key: DocumentValue, row: Int)) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(entries[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
