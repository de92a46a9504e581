// SPDX-License-Identifier: Apache-2.0

/// Selects the connection to close if there are too many. Above the limit of an address, it is that address's oldest
/// silent one. Above the total limit, it is the oldest silent one of the address with the most silent ones. So neither
/// silent nor busy clients can block others.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
  private struct Entry {
    let address: String
    /// The order in which connections were opened or last changed their state.
    var place: Int
    /// Whether a request is in progress.
    var isWorking = false
  }

  private let max: Int
  private let maxPerAddress: Int
  private var entries: [ID: Entry] = [:]
  private var last = 0

  init(max: Int, perAddress: Int) {
    self.max = max
    maxPerAddress = perAddress
  }

  var count: Int { entries.count }

  /// Adds a connection.
  ///
  /// - Returns: the connection to close, which is no longer in the table; it is the new one if all others are busy.
  mutating func add(_ id: ID, from address: String) -> ID? {
    last += 1
    let own = entries.filter { $0.value.address == address }
    var surplus: ID?
    if own.count >= maxPerAddress {
      surplus = Self.oldestSilent(own) ?? id
    } else if entries.count >= max {
      surplus = Self.oldestSilent(ofMost: entries) ?? id
    }
    if let surplus { entries[surplus] = nil }
    if surplus != id { entries[id] = Entry(address: address, place: last) }
    return surplus
  }

  mutating func remove(_ id: ID) { entries[id] = nil }

  /// Marks the start of a request, or the end of its answer.
  mutating func note(_ id: ID, isWorking: Bool) {
    last += 1
    entries[id]?.isWorking = isWorking
    entries[id]?.place = last
  }

  private static func oldestSilent(_ entries: [ID: Entry]) -> ID? {
    entries.filter { !$0.value.isWorking }.min { $0.value.place < $1.value.place }?.key
  }

  /// The oldest silent connection of the address with the most silent ones; nil if all are busy.
  private static func oldestSilent(ofMost entries: [ID: Entry]) -> ID? {
    let silent = entries.filter { !$0.value.isWorking }
    var counts: [String: Int] = [:]
    for entry in silent.values { counts[entry.address, default: 0] += 1 }
    guard let most = counts.values.max() else { return nil }
    return oldestSilent(silent.filter { counts[$0.value.address] == most })
  }
}
