// SPDX-License-Identifier: Apache-2.0

/// The data that a running site keeps in memory: the newest documents that it received, and those that its
/// page uses. Active insulin and carbs are computed only from this data, so differences from the database
/// matter.
struct NightscoutMemory {
  /// A document in the memory. Its `_id` is a text if the site read the document from the database or
  /// received it by API v1. If API v3 wrote the document, its `_id` is a database key. A deletion then does
  /// not find the document in the memory, which keeps it.
  typealias Item = NightscoutDocument

  /// The documents from which the site computes its page, insulin and carbs.
  struct Loaded {
    var treatments: [NightscoutDocument] = []
    var readings: [NightscoutDocument] = []
    var time: Int64 = 0
  }

  /// The minimum number of documents in the memory with which the site reloads only `recent` ones. With fewer
  /// documents, it reloads the whole period that the memory keeps.
  private static let minItems = 20
  private static let recent: Int64 = 15 * 60_000
  private static let retention: [String: Int64] = ["treatments": 60 * 3_600_000, "entries": 48 * 3_600_000]
  /// How long after the last write the site reads its data again.
  private static let quiet: Int64 = 1000

  private(set) var items: [String: [Item]] = ["treatments": [], "entries": []]
  private(set) var loaded = Loaded()
  private var changed: Int64?

  /// Notes a write. The site will reload its data after it.
  mutating func mark(_ now: Int64) { changed = now }

  /// Whether the site must reload its data, because the last write was longer ago than `quiet`.
  func isDue(_ now: Int64) -> Bool { changed.map { now - $0 > Self.quiet } ?? false }

  var isChanged: Bool { changed != nil }

  /// Adds documents, and removes those that they replace and those that are too old.
  mutating func update(_ kind: String, _ documents: [NightscoutDocument], now: Int64) {
    guard let old = items[kind], let retention = Self.retention[kind], !documents.isEmpty else { return }
    let fresh = documents.filter { $0["_id"] != nil && Self.age($0) >= Double(now - retention) }
    let keys = Keys(fresh)
    let identifiers = Set(fresh.compactMap { $0["identifier"]?.text })
    let kept = old.filter { item in
      Self.age(item) >= Double(now - retention) && !keys.replace(item["_id"])
        && !identifiers.contains(item["identifier"]?.text ?? "\0")
    }
    guard !fresh.isEmpty || kept.count != old.count else { return }
    items[kind] = (fresh + kept).enumerated().sorted { left, right in
      let (one, other) = (Self.age(left.element), Self.age(right.element))
      return one == other ? left.offset < right.offset : one > other
    }.map(\.element)
  }

  /// The `_id` values of documents that are added to the memory. The site compares them as JavaScript
  /// compares values. A text equals a database key with the same digits, and two database keys are never
  /// equal.
  private struct Keys {
    private var all: Set<String> = []
    private var texts: Set<String> = []

    init(_ documents: [Item]) {
      for document in documents {
        guard let key = document["_id"], let text = key.text else { continue }
        all.insert(text)
        if case .string = key { texts.insert(text) }
      }
    }

    /// Whether one of the added documents replaces a document with this `_id`.
    func replace(_ key: DocumentValue?) -> Bool {
      switch key {
      case .id(let text)?: texts.contains(text)
      case .string(let text)?: all.contains(text)
      default: false
      }
    }
  }

  /// Removes a deleted document. If one deletion found several documents, removes everything.
  mutating func remove(_ kind: String, _ documents: [NightscoutDocument]) {
    guard items[kind] != nil, let first = documents.first else { return }
    guard documents.count == 1, let id = first["_id"]?.text else { return forget() }
    remove(kind, id: id)
  }

  mutating func remove(_ kind: String, id: String) {
    guard let place = items[kind]?.firstIndex(where: { $0["_id"] == .string(id) }) else { return }
    items[kind]?.remove(at: place)
  }

  /// Removes everything, as the site does after a deletion by API v1 without an `_id`.
  mutating func forget() { for kind in items.keys { items[kind] = [] } }

  /// Starts with an empty memory, as a restart does.
  mutating func restart() {
    forget()
    loaded = Loaded()
    changed = nil
  }

  /// The length of the period whose documents the site reloads, in milliseconds.
  func window(_ kind: String) -> Int64 {
    guard (items[kind]?.count ?? 0) >= Self.minItems else {
      return kind == "treatments" ? 60 * 3_600_000 : 48 * 3_600_000
    }
    return Self.recent
  }

  /// Adds the documents that were reloaded from the database, and updates `loaded` from the whole memory.
  mutating func load(treatments: [NightscoutDocument], entries: [NightscoutDocument], now: Int64) {
    update("treatments", treatments.map(Self.processed), now: now)
    update("entries", entries.map(Self.processed), now: now)
    let known = items["treatments", default: []].enumerated().sorted { left, right in
      let (one, other) = (Self.mills(left.element), Self.mills(right.element))
      return one == other ? left.offset < right.offset : one < other
    }
    let readings = items["entries", default: []].reversed().filter {
      !JavaScriptNumber.isTruthy($0["mbg"]) && JavaScriptNumber.isTruthy($0["sgv"])
    }
    loaded = Loaded(treatments: known.map { Self.plain($0.element) }, readings: Array(readings), time: now)
    changed = nil
  }

  /// A document as the site's memory stores it: its `_id` is a text, and `mills` is the time of its event.
  static func processed(_ document: NightscoutDocument) -> NightscoutDocument {
    var item = plain(document)
    for field in ["created_at", "sysTime"] where item["mills"] == nil {
      if let time = document[field]?.text.flatMap({ NightscoutTime.parse($0) }) {
        item["mills"] = DocumentValue(time.milliseconds)
      }
    }
    let length = JavaScriptNumber.of(item["durationInMilliseconds"])
    if item["duration"] == nil, length > 0 {
      item["duration"] = .number(JavaScriptNumber.rounded(length / 60_000))
    }
    let start = JavaScriptNumber.of(item["mills"])
    guard item["endmills"] ?? .null == .null, start.isFinite else { return item }
    if item["durationInMilliseconds"] != nil {
      if length > 0 { item["endmills"] = .number(start + length) }
    } else if let minutes = item["duration"] {
      let number = JavaScriptNumber.of(minutes)
      item["endmills"] = .number(start + (number.isNaN ? 0 : number) * 60_000)
    }
    return item
  }

  /// The document with its `_id` as a text.
  private static func plain(_ document: NightscoutDocument) -> NightscoutDocument {
    var item = document
    item["_id"] = document["_id"]?.text.map(DocumentValue.string)
    return item
  }

  private static func mills(_ item: Item) -> Double {
    let mills = JavaScriptNumber.of(item["mills"])
    return mills.isNaN ? .infinity : mills
  }

  private static func age(_ item: Item) -> Double {
    let time = JavaScriptNumber.isTruthy(item["mills"]) ? item["mills"] : item["date"]
    let number = JavaScriptNumber.of(time)
    if !number.isNaN { return number }
    let created = item["created_at"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
    return created.map { Double($0) } ?? -.infinity
  }
}
