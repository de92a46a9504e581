// SPDX-License-Identifier: Apache-2.0

/// Which connections are open, and which one is closed where there are too many: of one address the oldest silent one;
/// in all, the oldest silent one of the address that has most of them. So nobody keeps others out by silence, and nobody by
/// working on all connections at once.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
  private struct Entry {
    let address: String
    /// The order in which connections came, or became silent.
    var place: Int
    /// Whether a request is under way on it.
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

  /// Takes a connection.
  ///
  /// - Returns: the connection to close, which is in the table no longer: the new one where the others work.
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

  /// A request begins, or its answer is written.
  mutating func note(_ id: ID, isWorking: Bool) {
    last += 1
    entries[id]?.isWorking = isWorking
    entries[id]?.place = last
  }

  private static func oldestSilent(_ entries: [ID: Entry]) -> ID? {
    entries.filter { !$0.value.isWorking }.min { $0.value.place < $1.value.place }?.key
  }

  /// That of the address that has most silent ones; nil where all work.
  private static func oldestSilent(ofMost entries: [ID: Entry]) -> ID? {
    let silent = entries.filter { !$0.value.isWorking }
    var counts: [String: Int] = [:]
    for entry in silent.values { counts[entry.address, default: 0] += 1 }
    guard let most = counts.values.max() else { return nil }
    return oldestSilent(silent.filter { counts[$0.value.address] == most })
  }
}
