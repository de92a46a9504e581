// SPDX-License-Identifier: Apache-2.0

import Foundation

/// All that a site holds, behind one lock.
struct NightscoutState {
  static let collectionNames = ["devicestatus", "entries", "food", "profile", "settings", "treatments"]

  struct Planned {
    let fault: NightscoutFault
    var times: Int
    let concerns: @Sendable (ReceivedRequest) -> Bool
  }

  var settings: NightscoutSettings
  var clock: NightscoutClock
  var access: NightscoutAccess
  var penalty = NightscoutPenalty()
  var collections: [String: NightscoutCollection]
  var counts = NightscoutCounts()
  var faults: [Planned] = []
  /// How many writes of v3 have looked for their document.
  var looks = 0
  private var lastPrune: [String: Int64] = [:]
  private var lastObject = 0

  init(_ settings: NightscoutSettings, frozenAt: Int64?) {
    self.settings = settings
    clock = NightscoutClock(frozen: frozenAt)
    access = NightscoutAccess(secret: settings.secret)
    collections = Dictionary(uniqueKeysWithValues: Self.collectionNames.map { ($0, NightscoutCollection()) })
  }

  var now: Int64 {
    clock.frozen ?? Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) + clock.ahead
  }

  func seen(_ collection: String) -> [NightscoutCollection.Seen] {
    collections[collection]?.seen(at: now) ?? []
  }

  func seen(_ collection: String, _ field: String, _ value: DocumentValue) -> [NightscoutCollection.Seen] {
    collections[collection]?.seen(field, value, at: now) ?? []
  }

  mutating func insert(_ document: NightscoutDocument, in collection: String, hiddenUntil: Int64? = nil) {
    collections[collection]?.insert(document, hiddenUntil: hiddenUntil)
  }

  mutating func replace(
    _ row: Int, _ document: NightscoutDocument, in collection: String, hiddenUntil: Int64? = nil
  ) {
    let now = now
    collections[collection]?.replace(row, document, hiddenUntil: hiddenUntil, at: now)
  }

  mutating func remove(_ row: Int, in collection: String) { collections[collection]?.remove(row) }

  /// 24 hexadecimal digits, the first 8 of which are the time, as the database makes them.
  mutating func objectID() -> DocumentValue {
    lastObject += 1
    let time = Self.padded(String(now / 1000, radix: 16), 8).suffix(8)
    return .string(time + "5ca1ab1e00" + Self.padded(String(lastObject, radix: 16), 6))
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// The first planned fault that concerns the request.
  mutating func fault(for request: ReceivedRequest) -> NightscoutFault? {
    guard let index = faults.firstIndex(where: { $0.concerns(request) }) else { return nil }
    let fault = faults[index].fault
    faults[index].times -= 1
    if faults[index].times == 0 { faults.remove(at: index) }
    return fault
  }

  /// Removes what is too old by any of its times, at most once an hour and without a tombstone.
  mutating func prune(_ collection: String) {
    guard let days = settings.autopruneDays[collection] else { return }
    if let last = lastPrune[collection], now - last < 3_600_000 { return }
    lastPrune[collection] = now
    let border = now - Int64(days * 86_400_000)
    for seen in seen(collection) where Self.isOlder(seen.document, than: border) {
      remove(seen.row, in: collection)
    }
  }

  private static func isOlder(_ document: NightscoutDocument, than border: Int64) -> Bool {
    let created = document["created_at"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
    let times = [document["srvCreated"]?.whole, document["date"]?.whole, created]
    return times.contains { ($0 ?? border) < border }
  }
}
