// SPDX-License-Identifier: Apache-2.0

import Foundation

/// All data of a site, protected by one lock.
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
  var memory = NightscoutMemory()
  /// Whether the server's process has ended.
  var isDown = false
  var counts = NightscoutCounts()
  var faults: [Planned] = []
  /// The number of API v3 writes that have searched their document.
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

  /// Whether a text is 24 hexadecimal digits, which can be a key of the database.
  static func isKey(_ text: String) -> Bool { text.utf8.count == 24 && text.allSatisfy(\.isHexDigit) }

  /// A key in the format of the database: its first 8 digits are the time.
  mutating func objectID() -> DocumentValue {
    lastObject += 1
    let time = Self.padded(String(now / 1000, radix: 16), 8).suffix(8)
    return .id(time + "5ca1ab1e00" + Self.padded(String(lastObject, radix: 16), 6))
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// The first planned fault that matches the request.
  mutating func fault(for request: ReceivedRequest) -> NightscoutFault? {
    guard let index = faults.firstIndex(where: { $0.concerns(request) }) else { return nil }
    let fault = faults[index].fault
    faults[index].times -= 1
    if faults[index].times == 0 { faults.remove(at: index) }
    return fault
  }
}

// MARK: Database

extension NightscoutState {
  func seen(_ collection: String) -> [NightscoutCollection.Seen] {
    collections[collection]?.seen(at: now) ?? []
  }

  func seen(_ collection: String, _ field: String, _ value: DocumentValue) -> [NightscoutCollection.Seen] {
    collections[collection]?.seen(field, value, at: now) ?? []
  }

  /// All documents that have `name` as their `identifier` or `_id`. Documents with this `identifier` come
  /// first.
  func allNamed(_ name: String, in collection: String) -> [NightscoutCollection.Seen] {
    let found = seen(collection, "identifier", .string(name))
    guard Self.isKey(name) else { return found }
    return found
      + seen(collection, "_id", .id(name.lowercased())).filter { $0.document["identifier"] != .string(name) }
  }

  /// The first document that has `name` as its `identifier` or `_id`.
  /// - Parameter byIdentifierFirst: true to prefer a document with this identifier; false for the first
  ///   inserted one.
  func named(
    _ name: String, in collection: String, byIdentifierFirst: Bool = true
  ) -> NightscoutCollection.Seen? {
    let found = allNamed(name, in: collection)
    return byIdentifierFirst ? found.first : found.min { $0.row < $1.row }
  }

  /// One page of the documents that meet all conditions, in the given order.
  func found(
    _ collection: String, _ conditions: [NightscoutCondition], _ order: NightscoutOrder, skip: Int = 0,
    limit: Int = .max
  ) -> [NightscoutDocument] {
    collections[collection]?.found(conditions, order, skip: skip, limit: limit, at: now) ?? []
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

  /// Removes documents with any time that is too old, and stores no tombstones for them. Returns their
  /// number, or nil if the last removal was less than an hour ago.
  @discardableResult
  mutating func prune(_ collection: String) -> Int? {
    guard let days = settings.autopruneDays[collection] else { return nil }
    if let last = lastPrune[collection], now - last < 3_600_000 { return nil }
    lastPrune[collection] = now
    let border = now - Int64(days * 86_400_000)
    let old = seen(collection).filter { Self.isOlder($0.document, than: border) }
    for seen in old { remove(seen.row, in: collection) }
    return old.count
  }

  private static func isOlder(_ document: NightscoutDocument, than border: Int64) -> Bool {
    let created = document["created_at"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
    let times = [document["srvCreated"]?.whole, document["date"]?.whole, created]
    return times.contains { ($0 ?? border) < border }
  }
}

// MARK: Memory

extension NightscoutState {
  /// Makes the running site reload its data, as it does within seconds after each write.
  mutating func settle() {
    let (treatments, entries) = (now - memory.window("treatments"), now - memory.window("entries"))
    let recent = NightscoutCondition(
      "created_at", [.ordered("gte", .string(NightscoutTime.iso(treatments)))])
    let read = NightscoutCondition("date", [.ordered("gte", DocumentValue(entries))])
    memory.load(
      treatments: found("treatments", [recent], NightscoutOrder(fields: ["created_at"])),
      entries: found("entries", [read], NightscoutOrder(fields: ["date"])), now: now)
  }

  /// The active insulin and the carbs that are not yet absorbed, which Nightscout calls "on board".
  var onBoard: NightscoutOnBoard {
    let profile = NightscoutProfile(seen("profile").map(\.document), at: now)
    return NightscoutOnBoard(memory.loaded.treatments, profile, at: now)
  }
}
